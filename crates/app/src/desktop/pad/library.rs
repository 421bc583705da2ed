//! Gamepads on Windows and macOS, where a library knows the makers' layouts.

use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use gilrs::{Event, EventType, GilrsBuilder};

use super::layout::{Axis, Button, Places, moved, pressed};
use super::{ANYONE, EVERY, Word};

/// A library whose own thread has ended returns at once, with nothing.
const NAP: Duration = Duration::from_millis(10);

/// Reports pad events while someone listens.
pub(super) fn watch(words: &Sender<Word>) {
    // Its filters would add a dead zone to ours.
    let builder = GilrsBuilder::new().with_default_filters(false).with_force_feedback(false);
    let Ok(mut gilrs) = builder.build() else { return };
    let mut places = Places::default();
    for (id, _) in gilrs.gamepads() {
        places.of(id.into());
    }
    loop {
        let word = match gilrs.next_event_blocking(Some(EVERY)) {
            Some(event) => word(&event, &mut places),
            None => {
                thread::sleep(NAP);
                Some(ANYONE)
            }
        };
        if let Some(word) = word
            && words.send(word).is_err()
        {
            return;
        }
    }
}

/// The report of an event, if it is about a known button or axis.
fn word(event: &Event, places: &mut Places) -> Option<Word> {
    let id = event.id.into();
    let report = match event.event {
        EventType::Disconnected => return Some((places.leave(id)?, None)),
        EventType::Connected => {
            places.of(id);
            return None;
        }
        EventType::ButtonPressed(it, _) => pressed(button(it)?, true),
        EventType::ButtonReleased(it, _) => pressed(button(it)?, false),
        EventType::AxisChanged(it, place, _) => moved(axis(it)?, place),
        _ => return None,
    };
    Some((places.of(id)?, Some(report)))
}

fn button(it: gilrs::Button) -> Option<Button> {
    Some(match it {
        gilrs::Button::South => Button::South,
        gilrs::Button::East => Button::East,
        gilrs::Button::West => Button::West,
        gilrs::Button::North => Button::North,
        gilrs::Button::Select => Button::Select,
        gilrs::Button::Start => Button::Start,
        gilrs::Button::DPadUp => Button::Up,
        gilrs::Button::DPadDown => Button::Down,
        gilrs::Button::DPadLeft => Button::Left,
        gilrs::Button::DPadRight => Button::Right,
        _ => return None,
    })
}

fn axis(it: gilrs::Axis) -> Option<Axis> {
    Some(match it {
        gilrs::Axis::LeftStickX => Axis::StickX,
        gilrs::Axis::LeftStickY => Axis::StickY,
        gilrs::Axis::DPadX => Axis::CrossX,
        gilrs::Axis::DPadY => Axis::CrossY,
        _ => return None,
    })
}
