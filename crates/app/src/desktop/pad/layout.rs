//! The gamepad layout that all makers share, in Linux's numbers for buttons and axes; and which pad is the first.

use super::{MAX_PADS, Report};

/// The buttons that are read, by place: South is A on one maker's pad and a cross on another's. Up to `Start` with
/// Linux's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Button {
    South = 0,
    East = 1,
    West = 2,
    North = 3,
    Select = 6,
    Start = 7,
    Up,
    Down,
    Left,
    Right,
}

/// The axes that are read, with Linux's numbers: a stick, and the d-pad where it is not made of buttons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    StickX = 0,
    StickY = 1,
    CrossX = 6,
    CrossY = 7,
}

/// A button that was pressed, or let go.
pub(super) fn pressed(button: Button, down: bool) -> Report {
    let pushed = |axis, value| moved(axis, if down { value } else { 0.0 });
    match button {
        Button::Up => pushed(Axis::CrossY, 1.0),
        Button::Down => pushed(Axis::CrossY, -1.0),
        Button::Left => pushed(Axis::CrossX, -1.0),
        Button::Right => pushed(Axis::CrossX, 1.0),
        button => Report::Button { number: button as u8, down },
    }
}

/// An axis that was moved to a place from -1 to 1: up and right are 1.
pub(super) fn moved(axis: Axis, place: f32) -> Report {
    // On Linux up is less.
    let sign = if matches!(axis, Axis::StickX | Axis::CrossX) { 1.0 } else { -1.0 };
    Report::Axis { number: axis as u8, value: (place * sign * f32::from(i16::MAX)) as i16 }
}

/// Which pad is the first, the second and so on: one that is plugged in takes the lowest free place.
#[derive(Debug, Default)]
pub(super) struct Places([Option<usize>; MAX_PADS]);

impl Places {
    /// The place of the pad with this id; `None` where too many are plugged in.
    pub(super) fn of(&mut self, id: usize) -> Option<usize> {
        let held = self.0.iter().position(|it| *it == Some(id));
        let place = held.or_else(|| self.0.iter().position(Option::is_none))?;
        self.0[place] = Some(id);
        Some(place)
    }

    /// The place that an unplugged pad had.
    pub(super) fn leave(&mut self, id: usize) -> Option<usize> {
        let place = self.0.iter().position(|it| *it == Some(id))?;
        self.0[place] = None;
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use backspin::game::Buttons;

    use super::super::Use;
    use super::super::tests::taken;
    use super::*;
    use crate::screen::Key;

    #[test]
    fn a_stick_pushed_up_is_up_and_one_at_rest_is_nothing() {
        let up = [moved(Axis::StickY, 1.0), moved(Axis::StickX, 0.3)];
        assert_eq!(taken(Use::Play, &up), (Buttons::UP, vec![Key::Up]));
        let right = [moved(Axis::StickX, 0.6), moved(Axis::StickY, -0.5)];
        assert_eq!(taken(Use::Play, &right), (Buttons::RIGHT | Buttons::DOWN, vec![Key::Down]));
        let back = [moved(Axis::StickX, -1.0), moved(Axis::StickX, -0.1)];
        assert_eq!(taken(Use::Play, &back).0, Buttons::default());
    }

    #[test]
    fn places_that_no_stick_has_are_held_to_what_one_can_have() {
        assert_eq!(moved(Axis::StickX, 9.0), Report::Axis { number: 0, value: i16::MAX });
        assert_eq!(moved(Axis::StickX, -9.0), Report::Axis { number: 0, value: i16::MIN });
        assert_eq!(moved(Axis::StickX, f32::NAN), Report::Axis { number: 0, value: 0 });
    }

    #[test]
    fn a_cross_steers_the_same_as_buttons_and_as_axes() {
        let cases = [
            (Button::Up, Axis::CrossY, 1.0, Buttons::UP),
            (Button::Down, Axis::CrossY, -1.0, Buttons::DOWN),
            (Button::Left, Axis::CrossX, -1.0, Buttons::LEFT),
            (Button::Right, Axis::CrossX, 1.0, Buttons::RIGHT),
        ];
        for (button, axis, place, held) in cases {
            assert_eq!(taken(Use::Play, &[pressed(button, true)]).0, held);
            assert_eq!(taken(Use::Play, &[moved(axis, place)]).0, held);
            let let_go = [pressed(button, true), pressed(button, false)];
            assert_eq!(taken(Use::Play, &let_go).0, Buttons::default());
        }
    }

    #[test]
    fn buttons_mean_what_they_mean_on_linux() {
        let held = |button| taken(Use::Play, &[pressed(button, true)]).0;
        assert_eq!(held(Button::South), Buttons::SHOOT);
        assert_eq!(held(Button::East), Buttons::CHARGE);
        assert_eq!(held(Button::West), Buttons::CHARGE);
        assert_eq!(held(Button::North), Buttons::SHOOT | Buttons::CHARGE);
        let key = |used, button| taken(used, &[pressed(button, true)]).1;
        assert_eq!(key(Use::Menu, Button::South), [Key::Enter]);
        assert_eq!(key(Use::Menu, Button::East), [Key::Esc]);
        assert_eq!(key(Use::Play, Button::Start), [Key::Char('p')]);
        assert_eq!(key(Use::Play, Button::Select), [Key::Esc]);
        assert_eq!(key(Use::Menu, Button::Start), [Key::Enter]);
    }

    #[test]
    fn a_pad_keeps_its_place_and_the_next_one_takes_the_lowest_that_is_free() {
        let mut places = Places::default();
        assert_eq!([7, 9, 7, 3, 4].map(|id| places.of(id)), [0, 1, 0, 2, 3].map(Some));
        assert_eq!(places.of(5), None);
        assert_eq!((places.leave(9), places.leave(9)), (Some(1), None));
        assert_eq!((places.of(12), places.of(7)), (Some(1), Some(0)));
    }
}
