//! Who comes and goes, and what players say: the lobby is part of the world.

use backspin::game::{Event, PlayerId, Reach};

use crate::command::{Command, PHRASES};
use crate::event;
use crate::mission::{Mission, Phase, Pilot};
use crate::world::World;

/// Players are counted from 1 to this, as shots are named by them.
const PLAYER_NUMBERS: std::ops::RangeInclusive<u32> = 1..=8;

impl World {
    /// A player takes a place: with a ship, or to wait for the next match.
    pub(crate) fn enter(&mut self, player: PlayerId) {
        self.exit(player);
        if self.pilots.len() >= World::PLAYER_LIMIT || !PLAYER_NUMBERS.contains(&player.0) {
            return;
        }
        let is_over = !matches!(self.mission.phase, Phase::Lobby | Phase::Countdown);
        let is_waiting =
            is_over && !(self.mission.phase.is_on() && self.mission.setup.late_joining);
        let pilot = Pilot { is_waiting, ..Pilot::new(player, self.starting_lives()) };
        let place = self.pilots.partition_point(|other| other.player < player);
        self.pilots.insert(place, pilot);
        if !is_waiting {
            self.launch(player);
        }
        self.mission.host.get_or_insert(player);
    }

    /// The player can say nothing but buttons, and so is always ready.
    pub(crate) fn mute(&mut self, player: PlayerId) {
        if let Some(pilot) = self.pilot_mut(player) {
            (pilot.is_ready, pilot.is_mute) = (true, true);
        }
    }

    /// A player gives the place up; the next becomes host.
    pub(crate) fn exit(&mut self, player: PlayerId) {
        self.pilots.retain(|pilot| pilot.player != player);
        self.ships.retain(|ship| ship.player != player);
        self.pods.retain(|pod| pod.player != player);
        self.pass_on(player);
    }

    /// A player is gone for a while: someone who is there is host meanwhile, and stays it.
    pub(crate) fn miss(&mut self, player: PlayerId) {
        if let Some(pilot) = self.pilot_mut(player) {
            pilot.is_absent = true;
            self.pass_on(player);
        }
    }

    /// The player is back.
    pub(crate) fn welcome(&mut self, player: PlayerId) {
        if let Some(pilot) = self.pilot_mut(player) {
            pilot.is_absent = false;
        }
        // While everyone was gone, nobody could take the host's part.
        if let Some(host) = self.mission.host {
            self.pass_on(host);
        }
    }

    /// If `player` is host and not there, the next who is there becomes it; if none is, the next
    /// who may come back.
    fn pass_on(&mut self, player: PlayerId) {
        let is_there = |pilot: &&Pilot| !pilot.is_absent;
        if self.mission.host != Some(player) || self.pilot(player).as_ref().is_some_and(is_there) {
            return;
        }
        let there = self.pilots.iter().filter(is_there);
        self.mission.host = next_after(player, there.map(|pilot| pilot.player))
            .or_else(|| next_after(player, self.pilots.iter().map(|pilot| pilot.player)));
    }

    /// Does what a player says, if it is theirs to say and the right time.
    pub(crate) fn obey(&mut self, player: PlayerId, command: Command, events: &mut Vec<Event>) {
        let is_host = self.mission.host == Some(player);
        let phase = self.mission.phase;
        match command {
            Command::Ready(ready) => self.mark(player, ready),
            Command::Start if is_host && phase == Phase::Lobby && self.is_everyone_ready() => {
                self.mission.enter(Phase::Countdown, Mission::COUNTDOWN_TICKS);
            }
            Command::Configure(setup) if is_host && phase == Phase::Lobby => {
                self.mission.setup = setup;
            }
            Command::Restart if is_host && phase != Phase::Lobby => self.return_to_lobby(),
            Command::Chat(phrase)
                if usize::from(phrase) < PHRASES.len() && self.pilot(player).is_some() =>
            {
                let (entity, value) = (player.0, phrase.into());
                let (kind, reach) = (event::CHAT, Reach::Everyone);
                events.push(Event { kind, entity, value, reach });
            }
            Command::Start | Command::Configure(_) | Command::Restart | Command::Chat(_) => {}
        }
    }

    /// Marks a player; who is not ready after all stops the countdown.
    fn mark(&mut self, player: PlayerId, ready: bool) {
        let Some(pilot) = self.pilot_mut(player) else { return };
        pilot.is_ready = ready;
        if !ready && self.mission.phase == Phase::Countdown {
            self.mission.enter(Phase::Lobby, 0);
        }
    }

    /// Whether all who are there are ready, but the host, who says when.
    fn is_everyone_ready(&self) -> bool {
        let host = self.mission.host;
        let is_waited_for = |pilot: &Pilot| !pilot.is_absent && Some(pilot.player) != host;
        self.pilots.iter().all(|pilot| pilot.is_ready || !is_waited_for(pilot))
    }
}

/// The next of `players`, who come in the order of their numbers; behind the last comes the first.
fn next_after(
    player: PlayerId,
    players: impl Iterator<Item = PlayerId> + Clone,
) -> Option<PlayerId> {
    players.clone().find(|next| *next > player).or(players.min())
}

#[cfg(test)]
mod tests;
