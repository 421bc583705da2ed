//! What meets what. Every contact is judged in the time of the player it concerns: the player's own
//! things where they are, the rest where that player saw them, at most 550 ms ago. Whether that is
//! still there does not matter: it was seen to hit.

use backspin::game::{Event, PlayerId, Reach, Turn};

use crate::boss::Boss;
use crate::enemy::Enemy;
use crate::event;
use crate::mission::Pilot;
use crate::pod::Pod;
use crate::power_up::{Bonus, PowerUp};
use crate::rules::RType;
use crate::ship::{Gear, Refit, Ship};
use crate::shot::Shot;
use crate::space::{Area, Moving, Passage, Size, TickPart};
use crate::world::{Bullet, Caught, World};

/// What a ship does to what it rams.
const RAM: i32 = 4;

/// What a player saw during the tick that is judged: at most two stretches of it, each in a world.
///
/// ```text
/// seen         |  the world before     |  the world of the sight  |
///              ·     [------ early --------|-- late --]           ·
/// own things         |         the tick               |
/// ```
#[derive(Clone, Copy)]
struct Sight<'a> {
    early: Option<Stretch<'a>>,
    late: Stretch<'a>,
}

/// A part of the tick, and what was seen in it: what was there in a world, on its way from one part
/// of the tick after it to another.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    /// `None` is the world as it is.
    past: Option<&'a World>,
    from: TickPart,
    until: TickPart,
    /// It ends so long before the tick does.
    before_end: TickPart,
}

impl<'a> Sight<'a> {
    fn of(player: PlayerId, turn: &Turn<'a, RType>) -> Self {
        let whole = |past, until: TickPart| {
            let from = TickPart(until.0 - TickPart::WHOLE);
            Stretch { past, from, until, before_end: TickPart::default() }
        };
        let Some((world, part)) = turn.rewound_at(player) else {
            return Sight { early: None, late: whole(None, TickPart::default()) };
        };
        let part = TickPart::nearest(part);
        let late = whole(Some(world), part);
        let Some(before) = turn.rewound_before(player) else { return Sight { early: None, late } };
        let until = TickPart(TickPart::WHOLE);
        let early = Stretch { past: Some(before), from: part, until, before_end: part };
        Sight { early: Some(early), late: Stretch { from: TickPart::default(), ..late } }
    }

    fn stretches(&self) -> impl Iterator<Item = &Stretch<'a>> {
        self.early.iter().chain([&self.late])
    }

    /// The first enemy that `own` meets, of those that count.
    fn enemy(&self, now: &World, own: Passage, counts: impl Fn(u32, &Area) -> bool) -> Option<u32> {
        self.stretches().find_map(|stretch| {
            let seen = stretch.world(now);
            let enemies = seen.enemies.iter().map(|enemy| (enemy.id, enemy.at, enemy.size()));
            let boss = seen.boss.iter().map(|boss| (Boss::ID, boss.at, Boss::SIZE));
            stretch.first(own, enemies.chain(boss), &counts)
        })
    }

    /// The first bullet that `own` meets, of those that count.
    fn bullet(&self, now: &World, own: Passage, counts: impl Fn(u32) -> bool) -> Option<u32> {
        self.stretches().find_map(|stretch| {
            let bullets = stretch.world(now).bullets.iter();
            let things = bullets.map(|bullet| (bullet.id, bullet.at, Bullet::SIZE));
            stretch.first(own, things, |id, _| counts(id))
        })
    }
}

impl<'a> Stretch<'a> {
    fn world<'w>(&self, now: &'w World) -> &'w World
    where
        'a: 'w,
    {
        self.past.unwrap_or(now)
    }

    fn first(
        &self,
        own: Passage,
        mut things: impl Iterator<Item = (u32, Moving, Size)>,
        counts: impl Fn(u32, &Area) -> bool,
    ) -> Option<u32> {
        let length = TickPart(self.until.0 - self.from.0);
        let own = own.stretch(length, self.before_end);
        let meets = |&(id, at, size): &(u32, Moving, Size)| {
            let thing = at.later(self.until).passage(size);
            own.meets(&thing.stretch(length, TickPart::default())) && counts(id, &thing.area)
        };
        things.find(meets).map(|(id, ..)| id)
    }
}

impl RType {
    /// Everything that meets in a tick.
    pub(crate) fn judge(&self, world: &mut World, turn: &mut Turn<'_, RType>) {
        world.forget_caught();
        for index in 0..world.ships.len() {
            let player = world.ships[index].player;
            let sight = Sight::of(player, turn);
            take_power_ups(world, index, sight, turn);
            shield_by_pod(world, player, sight, turn);
            if let Some(thing) = thing_that_hurts(world, index, sight) {
                self.hurt(world, index, thing, turn);
            }
        }
        judge_shots(world, turn);
    }

    /// The ship is hit. If it is lost, it is a wreck from now on.
    fn hurt(&self, world: &mut World, index: usize, thing: u32, turn: &mut Turn<'_, RType>) {
        let ship = &mut world.ships[index];
        let (player, entity) = (ship.player, ship.player.0);
        let kind = event::HURT;
        turn.raise(Event { kind, entity, value: thing as i32, reach: Reach::Own });
        ship.safe = Ship::SHIELD_BREAK_TICKS;
        let survives = std::mem::take(&mut ship.gear.has_shield);
        if !survives && let Some(pilot) = world.pilot_mut(player) {
            // A swarm is there to be measured, and goes on for ever.
            pilot.lives -= i32::from(self.swarm == 0);
            pilot.away = Pilot::AWAY_TICKS;
            let (kind, value) = (event::LIVES, pilot.lives);
            turn.raise(Event { kind, entity, value, reach: Reach::Everyone });
        }
        world.bullets.retain(|bullet| bullet.id != thing);
        world.damage(thing, RAM, player, turn);
    }
}

/// What touches the ship's hull, if anything can hurt it.
fn thing_that_hurts(world: &World, index: usize, sight: Sight<'_>) -> Option<u32> {
    let ship = &world.ships[index];
    if ship.safe > 0 {
        return None;
    }
    let hull = Passage { area: Ship::hull(&ship.at), way: ship.at.way() };
    let bullet = sight.bullet(world, hull, |id| !world.has_caught(ship.player, id));
    bullet.or_else(|| sight.enemy(world, hull, |_, _| true))
}

fn take_power_ups(world: &mut World, index: usize, sight: Sight<'_>, turn: &mut Turn<'_, RType>) {
    let ship = world.ships[index];
    let reach = ship.at.area(Ship::SIZE);
    let meets = |power_up: &&PowerUp| {
        power_up.at.later(sight.late.until).area(PowerUp::SIZE).meets(&reach)
            && world.power_ups.iter().any(|now| now.id == power_up.id)
            && !world.is_wreck(ship.player)
            && !(ship.refit.is_some() && matches!(power_up.bonus, Bonus::Weapon | Bonus::Speed))
    };
    let Some(&taken) = sight.late.world(world).power_ups.iter().find(meets) else { return };
    world.power_ups.retain(|power_up| power_up.id != taken.id);
    world.equip(index, taken.bonus, turn);
    let (entity, value) = (ship.player.0, taken.bonus as i32);
    turn.raise(Event { kind: event::POWER_UP, entity, value, reach: Reach::Everyone });
}

/// The player's pod catches bullets and burns enemies.
fn shield_by_pod(
    world: &mut World,
    player: PlayerId,
    sight: Sight<'_>,
    turn: &mut Turn<'_, RType>,
) {
    let Some(&pod) = world.pod(player) else { return };
    let shape = pod.at.passage(Pod::SIZE);
    while let Some(id) = sight.bullet(world, shape, |id| !world.has_caught(player, id)) {
        world.bullets.retain(|bullet| bullet.id != id);
        if !world.catch(player, id) {
            break;
        }
    }
    if turn.tick().is_multiple_of(Pod::BURN_TICKS)
        && let Some(id) = sight.enemy(world, shape, |id, _| world.has_enemy(id))
    {
        world.damage(id, pod.burn(), player, turn);
    }
}

fn judge_shots(world: &mut World, turn: &mut Turn<'_, RType>) {
    // Few players have many shots.
    let mut sight = None;
    let mut index = 0;
    while index < world.shots.len() {
        let shot = world.shots[index];
        let owner = shot.owner();
        let (_, sight) = match sight {
            Some(known @ (player, _)) if player == owner => known,
            _ => *sight.insert((owner, Sight::of(owner, turn))),
        };
        let passage = shot.at.passage(shot.size());
        let target = sight.enemy(world, passage, |id, area| id != shot.met && area.is_in_sight());
        match target {
            Some(target) if !hit(world, index, target, turn) => {
                world.shots.remove(index);
            }
            _ => index += 1,
        }
    }
}

/// A shot meets what its player saw there; whether it flies on. What is gone by now stops it all
/// the same: it was seen to hit.
fn hit(world: &mut World, index: usize, target: u32, turn: &mut Turn<'_, RType>) -> bool {
    let Shot { id, power, is_heavy, .. } = world.shots[index];
    let owner = world.shots[index].owner();
    turn.raise(Event { kind: event::HIT, entity: id, value: target as i32, reach: Reach::Own });
    let dealt = world.damage(target, power.into(), owner, turn);
    let shot = &mut world.shots[index];
    shot.met = target;
    shot.power -= dealt as u8;
    is_heavy && shot.power > 0
}

impl World {
    /// Whether the pod of `player` caught this bullet: the player still sees it for a while.
    fn has_caught(&self, player: PlayerId, bullet: u32) -> bool {
        self.caught.iter().any(|caught| (caught.player, caught.bullet) == (player, bullet))
    }

    /// Notes that it did; whether there was room for it.
    fn catch(&mut self, player: PlayerId, bullet: u32) -> bool {
        let has_room = self.caught.len() < Caught::LIMIT;
        if has_room {
            self.caught.push(Caught { player, bullet, ticks: Caught::TICKS });
        }
        has_room
    }

    fn forget_caught(&mut self) {
        self.caught.iter_mut().for_each(|caught| caught.ticks -= 1);
        self.caught.retain(|caught| caught.ticks > 0);
    }

    fn has_enemy(&self, id: u32) -> bool {
        (id == Boss::ID && self.boss.is_some()) || self.enemies.iter().any(|enemy| enemy.id == id)
    }

    /// Harms an enemy or the boss, if it is still there; how much was dealt, at most `amount`.
    fn damage(&mut self, id: u32, amount: i32, by: PlayerId, turn: &mut Turn<'_, RType>) -> i32 {
        if id == Boss::ID {
            let Some(boss) = &mut self.boss else { return 0 };
            let dealt = amount.min(boss.health);
            boss.health -= dealt;
            self.reward(by, Boss::POINTS * dealt);
            return dealt;
        }
        let Some(index) = self.enemies.iter().position(|enemy| enemy.id == id) else { return 0 };
        let enemy = &mut self.enemies[index];
        let dealt = amount.min(enemy.health);
        enemy.health -= dealt;
        if enemy.health == 0 {
            let enemy = self.enemies.remove(index);
            self.kill(&enemy, by, turn);
        }
        dealt
    }

    fn kill(&mut self, enemy: &Enemy, by: PlayerId, turn: &mut Turn<'_, RType>) {
        let points = enemy.species.traits().points;
        let worth = self.pilot_mut(by).map_or(points, |pilot| pilot.kill(points));
        self.reward(by, worth);
        if let Some(bonus) = enemy.mind.cargo {
            self.add_power_up(bonus, enemy.at.middle(enemy.size()));
        }
        let (entity, value) = (enemy.id, by.0 as i32);
        turn.raise(Event { kind: event::KILL, entity, value, reach: Reach::Own });
    }

    /// Points for a player and the team.
    fn reward(&mut self, player: PlayerId, points: i32) {
        if let Some(pilot) = self.pilot_mut(player) {
            pilot.earn(points);
        }
        self.add_team_score(points);
    }

    fn equip(&mut self, index: usize, bonus: Bonus, turn: &mut Turn<'_, RType>) {
        let ship = &mut self.ships[index];
        let (player, gear) = (ship.player, &mut ship.gear);
        match bonus {
            Bonus::Weapon if gear.weapon < Gear::WEAPON_MAX => {
                ship.refit = Some((Refit::Weapon, Ship::REFIT_TICKS));
            }
            Bonus::Speed if gear.speed < Gear::SPEED_MAX => {
                ship.refit = Some((Refit::Speed, Ship::REFIT_TICKS));
            }
            Bonus::Shield if !gear.has_shield => gear.has_shield = true,
            Bonus::Life => {
                let Some(pilot) = self.pilot_mut(player) else { return };
                pilot.lives = (pilot.lives + 1).min(Pilot::LIVES_LIMIT);
                let (entity, value) = (player.0, pilot.lives);
                turn.raise(Event { kind: event::LIVES, entity, value, reach: Reach::Everyone });
            }
            Bonus::Force if self.pod(player).is_none() => {
                let pod = Pod::new(&self.ships[index]);
                self.pods.push(pod);
                self.pods.sort_unstable_by_key(|pod| pod.player);
            }
            _ => self.reward(player, PowerUp::POINTS),
        }
    }
}

#[cfg(test)]
mod tests;
