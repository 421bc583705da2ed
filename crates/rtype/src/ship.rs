//! A player's ship: moving, shooting and charging, the same on the server and in prediction.
//!
//! Everything that a tick of flight looks at is in the [`Ship`] and is sent; what it fires are
//! [`Shot`]s, and beside it may fly a [`Pod`].

use backspin::game::{Buttons, Event, PlayerId, Reach};

use crate::event;
use crate::pod::Pod;
use crate::rules::RType;
use crate::shot::{Shot, Volley};
use crate::space::{Area, FIELD, Moving, PX, Size};

/// A ship in the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ship {
    /// Whose.
    pub player: PlayerId,
    /// Where.
    pub at: Moving,
    /// Ticks until it can shoot again.
    pub cooldown: i32,
    /// Ticks that it has been charging, up to [`Ship::CHARGE_TICKS`].
    pub charge: i32,
    /// Whether it charges.
    pub is_charging: bool,
    /// Ticks for which nothing can hurt it.
    pub safe: i32,
    /// What it is equipped with.
    pub gear: Gear,
    /// What is being built in, and the ticks until it works.
    pub refit: Option<(Refit, i32)>,
    /// Whether shoot and charge were both held in the last tick.
    pub(crate) both_held: bool,
}

/// What power-ups have made of a ship.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gear {
    /// How many shots it fires at once, 1 to [`Gear::WEAPON_MAX`].
    pub weapon: u8,
    /// How many engines it has beyond the first, up to [`Gear::SPEED_MAX`].
    pub speed: u8,
    /// Whether the next hit costs the shield instead of the ship.
    pub has_shield: bool,
}

/// What takes a while to build in, so that the player's own prediction knows in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refit {
    /// One more shot at once.
    Weapon,
    /// One more engine.
    Speed,
}

impl Gear {
    /// The greatest weapon.
    pub const WEAPON_MAX: u8 = 3;

    /// The most further engines.
    pub const SPEED_MAX: u8 = 3;

    /// What a ship starts with.
    pub const PLAIN: Gear = Gear { weapon: 1, speed: 0, has_shield: false };

    pub(crate) fn fit(&mut self, refit: Refit) {
        match refit {
            Refit::Weapon => self.weapon = (self.weapon + 1).min(Gear::WEAPON_MAX),
            Refit::Speed => self.speed = (self.speed + 1).min(Gear::SPEED_MAX),
        }
    }
}

impl Ship {
    /// How large it is.
    pub const SIZE: Size = Size::px(20, 12);

    /// Ticks between shots: 0.15 s.
    pub const COOLDOWN_TICKS: i32 = 9;

    /// Ticks to a full charge: 2 s.
    pub const CHARGE_TICKS: i32 = 120;

    /// A charge below this fizzles out.
    pub const CHARGE_LEAST: i32 = 30;

    /// After coming back nothing hurts it for a second.
    pub const SAFE_TICKS: i32 = 60;

    /// After losing the shield nothing hurts it for so long: longer than the server rewinds, so
    /// that what broke it cannot hit twice.
    pub const SHIELD_BREAK_TICKS: i32 = RType::REWIND_TICKS + 12;

    /// A weapon or an engine is built in so long after it was taken: 0.6 s, longer than the word of
    /// it takes to the player.
    pub const REFIT_TICKS: i32 = RType::REWIND_TICKS + 3;

    /// 150 px/s on each axis, in 1/16 px a tick.
    pub const SPEED: i32 = 40;

    /// What each engine adds: 30 px/s.
    pub const SPEED_STEP: i32 = 8;

    /// The fastest there is.
    pub(crate) const SPEED_LIMIT: i32 = Ship::SPEED + Gear::SPEED_MAX as i32 * Ship::SPEED_STEP;

    /// How much of its box is too thin to be hit.
    const GRACE: (i32, i32) = (3 * PX, 2 * PX);

    /// A plain ship where its player starts.
    pub fn new(player: PlayerId) -> Self {
        let place = (player.0.saturating_sub(1) as i32).min(7);
        Ship {
            player,
            at: Moving::still(50 * PX, (100 + 40 * place) * PX),
            cooldown: 0,
            charge: 0,
            is_charging: false,
            safe: Ship::SAFE_TICKS,
            gear: Gear::PLAIN,
            refit: None,
            both_held: false,
        }
    }

    /// The part of it that can be hurt.
    pub fn hull(at: &Moving) -> Area {
        at.area(Ship::SIZE).inset(Ship::GRACE.0, Ship::GRACE.1)
    }

    /// How fast it flies on each axis, in 1/16 px a tick.
    pub fn speed(&self) -> i32 {
        Ship::SPEED + Ship::SPEED_STEP * i32::from(self.gear.speed)
    }

    /// One tick: moves, builds in, charges and fires. What it fires goes to `fired`.
    pub(crate) fn fly(
        &mut self,
        tick: u32,
        held: Buttons,
        mut pod: Option<&mut Pod>,
        fired: &mut Volley,
    ) {
        let speed = self.speed();
        let go = |at: i32, less, more, max: i32| (at + speed * held.axis(less, more)).clamp(0, max);
        let x = go(self.at.x, Buttons::LEFT, Buttons::RIGHT, FIELD.w - Ship::SIZE.w);
        let y = go(self.at.y, Buttons::UP, Buttons::DOWN, FIELD.h - Ship::SIZE.h);
        self.at.go_to(x, y);
        self.cooldown = (self.cooldown - 1).max(0);
        self.safe = (self.safe - 1).max(0);
        self.build_in();
        let both = held.contains(Buttons::SHOOT | Buttons::CHARGE);
        if both
            && !self.both_held
            && let Some(pod) = pod.as_deref_mut()
        {
            pod.command();
        }
        self.both_held = both;
        if let Some(pod) = pod.as_deref_mut() {
            pod.fly(&self.at);
        }
        self.fire(tick, held, pod.as_deref(), fired);
    }

    fn build_in(&mut self) {
        self.refit = match self.refit {
            Some((refit, ..=1)) => {
                self.gear.fit(refit);
                None
            }
            Some((refit, ticks)) => Some((refit, ticks - 1)),
            None => None,
        };
    }

    fn fire(&mut self, tick: u32, held: Buttons, pod: Option<&Pod>, fired: &mut Volley) {
        self.is_charging = held.contains(Buttons::CHARGE) && !held.contains(Buttons::SHOOT);
        if self.is_charging {
            self.charge = (self.charge + 1).min(Ship::CHARGE_TICKS);
            return;
        }
        let charge = std::mem::take(&mut self.charge);
        if charge >= Ship::CHARGE_LEAST {
            self.cooldown = Ship::COOLDOWN_TICKS;
            fired.push(Shot::heavy(self, tick, charge));
        } else if held.contains(Buttons::SHOOT) && self.cooldown == 0 {
            self.cooldown = Ship::COOLDOWN_TICKS;
            Shot::volley(self, tick, pod, fired);
        }
    }

    /// The sound of what was fired, for the player who predicted it.
    pub(crate) fn report(&self, fired: &Volley) -> Option<Event> {
        let shot = fired.first()?;
        let kind = if shot.is_heavy { event::FIRED_HEAVY } else { event::FIRED };
        Some(Event { kind, entity: shot.id, value: i32::from(shot.power), reach: Reach::Own })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fly(ship: &mut Ship, held: Buttons, ticks: u32) -> Vec<Shot> {
        let mut all = Vec::new();
        for tick in 0..ticks {
            let mut fired = Volley::default();
            ship.fly(tick, held, None, &mut fired);
            all.extend(fired.iter());
        }
        all
    }

    #[test]
    fn it_starts_where_its_player_does_and_flies_150_px_a_second_on_each_axis() {
        let mut ship = Ship::new(PlayerId(3));
        assert_eq!((ship.at.x, ship.at.y), (50 * PX, 180 * PX));
        fly(&mut ship, Buttons::RIGHT | Buttons::DOWN, 60);
        assert_eq!((ship.at.x, ship.at.y), (200 * PX, 330 * PX));
        assert_eq!((ship.at.vx, ship.at.vy), (40, 40));
    }

    #[test]
    fn the_field_holds_it() {
        let mut ship = Ship::new(PlayerId(1));
        fly(&mut ship, Buttons::RIGHT | Buttons::DOWN, 1_000);
        assert_eq!((ship.at.x, ship.at.y), (980 * PX, 588 * PX));
        assert_eq!((ship.at.vx, ship.at.vy), (0, 0));
        fly(&mut ship, Buttons::LEFT | Buttons::UP, 1_000);
        assert_eq!((ship.at.x, ship.at.y), (0, 0));
    }

    #[test]
    fn it_shoots_every_nine_ticks() {
        let mut ship = Ship::new(PlayerId(1));
        let shots = fly(&mut ship, Buttons::SHOOT, 91);
        assert_eq!(shots.len(), 11);
        assert!(shots.iter().all(|shot| !shot.is_heavy));
    }

    #[test]
    fn a_charge_is_worth_how_long_it_was_held_up_to_two_seconds() {
        let power = |ticks| {
            let mut ship = Ship::new(PlayerId(1));
            assert!(fly(&mut ship, Buttons::CHARGE, ticks).is_empty());
            fly(&mut ship, Buttons::default(), 1).first().map(|shot| shot.power)
        };
        assert_eq!(power(29), None);
        assert_eq!(power(30), Some(6));
        assert_eq!(power(60), Some(12));
        assert_eq!(power(120), Some(24));
        assert_eq!(power(500), Some(24));
    }

    #[test]
    fn an_engine_works_0_6_s_after_it_was_taken() {
        let mut ship = Ship::new(PlayerId(1));
        ship.refit = Some((Refit::Speed, Ship::REFIT_TICKS));
        fly(&mut ship, Buttons::RIGHT, 36);
        assert_eq!((ship.at.vx, ship.gear.speed, ship.refit), (40, 1, None));
        fly(&mut ship, Buttons::RIGHT, 1);
        assert_eq!(ship.at.vx, 48);
    }

    #[test]
    fn gear_stops_at_its_greatest() {
        let mut gear = Gear::PLAIN;
        (0..9).for_each(|_| gear.fit(Refit::Weapon));
        (0..9).for_each(|_| gear.fit(Refit::Speed));
        assert_eq!((gear.weapon, gear.speed), (Gear::WEAPON_MAX, Gear::SPEED_MAX));
    }
}
