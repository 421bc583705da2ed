//! Who is in a room: who comes, who is silent, who is away and comes back, who goes.

use super::member::{Came, Keep, Member, Presence, Return};
use super::{Room, RoomEvent};
use crate::channel::LogLine;
use crate::dialect::DialectId;
use crate::endpoint::{Admission, Notice, NoticeKind, Papers};
use crate::game::{Applicant, Game, PlayerStatus, Refusal};
use crate::node::Path;
use crate::sabotage::{self, Sabotage};
use crate::session::LifeEvent;
use crate::time::Time;
use crate::typed::Message;
use crate::wire::Name;
use crate::wire::native::{CloseReason, Role};

/// What someone says of itself; nothing at all is the default.
fn read_data<G: Game>(bytes: &[u8]) -> Option<G::JoinData> {
    match bytes {
        [] => Some(G::JoinData::default()),
        _ => G::JoinData::read(bytes).ok(),
    }
}

impl<G: Game> Room<G> {
    /// Whether the game lets someone in who would play. Who only watches is not asked about, nor are guests
    /// in an old dialect: they have no way to say anything.
    pub(crate) fn judge(&self, admission: &Admission) -> Result<(), Refusal> {
        let Admission { dialect, role, name, papers, .. } = admission;
        if *role != Role::Play || *dialect != DialectId::NATIVE {
            return Ok(());
        }
        let Some(data) = read_data::<G>(&papers.data) else {
            return Err(Refusal::unreadable());
        };
        let applicant = Applicant { name: *name, token: &papers.token, data: &data };
        self.game.admit(&self.world, &applicant)
    }

    /// What whoever has a place is called, and showed when joining.
    pub(crate) fn papers_of(&self, place: u8) -> Option<(Name, Papers)> {
        let member = self.members.get(usize::from(place))?.as_ref()?;
        Some((member.name, member.papers.clone()))
    }

    pub(super) fn admit(&mut self, now: Time, place: usize, admission: Admission) {
        let places = self.board.players.len();
        if place >= places {
            return;
        }
        let at = admission.dialect.place();
        if admission.role == Role::Play {
            self.shown.is_current = false;
            let data = read_data::<G>(&admission.papers.data).unwrap_or_default();
            self.game.join(&mut self.world, admission.player, &data);
            if at.is_some() {
                self.game.on_status(&mut self.world, admission.player, PlayerStatus::Mute);
            }
        }
        let joined = RoomEvent::Joined(admission.player, admission.name);
        let spoken = at.and_then(|at| {
            let dialect = self.dialects.get(at)?;
            Some(self.spoken.get_mut(at)?.get_or_insert_with(|| dialect.room(places)))
        });
        let manners = spoken.as_ref().map(|spoken| spoken.manners());
        if let Some(spoken) = spoken {
            spoken.admit(place, admission.player, &self.game, &self.world);
        }
        let member = Member::new(now, admission, manners, self.tick, &self.config);
        if self.members.len() <= place {
            self.members.resize_with(place + 1, || None);
        }
        self.members[place] = Some(member);
        // A tick has one state only, which deltas stand on: `native` shows who is new from the next
        // tick on.
        self.show_others(false);
        self.count();
        self.note(joined);
        self.roster_changed(now);
    }

    /// The old address is not robbed while it plays.
    pub(super) fn resume(&mut self, now: Time, place: usize, path: Path, back: Return) {
        let Some(Some(member)) = self.members.get_mut(place) else { return };
        if !member.may_move(now, path) {
            return;
        }
        // Its Accept was lost, or someone else sends it again: nothing begins anew.
        if member.has_returned(path, back.nonce) {
            member.session.take_question(back.sequence);
            self.greet(now, place);
            return;
        }
        let was_away = matches!(member.presence, Presence::Away { .. });
        member.move_to(now, path, back, self.tick, &self.config);
        let (session, player, role) = (member.session.index(), member.player, member.role);
        self.greet(now, place);
        if was_away && role == Role::Play {
            self.shown.is_current = false;
            self.game.on_status(&mut self.world, player, PlayerStatus::Back);
        }
        let kind = NoticeKind::Moved { path };
        self.notices.push_back(Notice { session, kind });
        self.note(RoomEvent::Resumed(player, path));
        if was_away {
            self.roster_changed(now);
        }
    }

    /// A hello was heard again: it is answered once more.
    pub(super) fn greet(&mut self, now: Time, place: usize) {
        let Some(Some(member)) = self.members.get_mut(place) else { return };
        let spoken = member.dialect.place().and_then(|at| self.spoken.get_mut(at)?.as_mut());
        if spoken.is_some_and(|spoken| spoken.greet(place)) {
            member.roster.announce(now);
        }
        let came = member.greet(now, &self.config);
        if came != Came::Nothing {
            self.react(now, place, came);
        }
    }

    pub(super) fn react(&mut self, now: Time, place: usize, came: Came) {
        let Some(Some(member)) = self.members.get(place) else { return };
        let player = member.player;
        self.watch_at = Time::ZERO;
        match came {
            Came::Nothing | Came::Claimed => {}
            Came::Back => self.note(RoomEvent::Heard(player)),
            Came::HighLatency(ms) => self.note(RoomEvent::HighLatency(player, ms)),
            Came::Goodbye { keep } => {
                self.note(RoomEvent::Left(player));
                match keep {
                    Keep::Place => {
                        self.send_away(now, place);
                        self.roster_changed(now);
                    }
                    Keep::Nothing => self.free(now, place),
                }
            }
        }
    }

    pub(super) fn watch_over(&mut self, now: Time, place: usize) {
        let Some(Some(member)) = self.members.get_mut(place) else { return };
        let (player, kept_by_stream) = (member.player, member.kept_by_stream);
        match &mut member.presence {
            Presence::Away { .. } if sabotage::is(Sabotage::KeepPlace) => {}
            Presence::Away { until } if *until <= now => self.free(now, place),
            Presence::Away { .. } => {}
            Presence::Closing { said, .. } if *said => self.free(now, place),
            Presence::Closing { .. } => {}
            Presence::Here if kept_by_stream => {}
            Presence::Invited { until } if *until <= now => {
                self.note(RoomEvent::Dropped(player));
                self.free(now, place);
            }
            Presence::Invited { .. } => {}
            Presence::Here => match member.session.liveness.handle_timeout(now) {
                Some(LifeEvent::Warn) => {
                    let secs = self.config.liveness.warn.as_secs();
                    self.journal.note(LogLine::Inactive { player: player.0, secs });
                    self.note(RoomEvent::Quiet(player));
                }
                Some(LifeEvent::Drop) => self.drop_silent(now, place),
                _ => {}
            },
        }
    }

    pub(super) fn drop_silent(&mut self, now: Time, place: usize) {
        let Some(Some(member)) = self.members.get(place) else { return };
        let (has_way_back, hears_of_it) = (member.has_way_back(), member.hears_of_drop());
        self.note(RoomEvent::Dropped(member.player));
        match has_way_back && !sabotage::is(Sabotage::FreeAtOnce) {
            true => {
                self.send_away(now, place);
                self.say_silent(place);
                self.roster_changed(now);
            }
            false if hears_of_it && !has_way_back => {
                if let Some(Some(member)) = self.members.get_mut(place) {
                    member.close(CloseReason::Silent);
                }
            }
            false => self.free(now, place),
        }
    }

    pub(super) fn send_away(&mut self, now: Time, place: usize) {
        if let Some(Some(member)) = self.members.get_mut(place) {
            member.go_away(now + self.config.resume_for);
            if member.role == Role::Play {
                self.shown.is_current = false;
                self.game.on_status(&mut self.world, member.player, PlayerStatus::Away);
            }
        }
    }

    pub(super) fn say_silent(&mut self, place: usize) {
        if let Some(Some(member)) = self.members.get_mut(place) {
            member.say_silent();
        }
    }

    pub(super) fn free(&mut self, now: Time, place: usize) {
        if let Some(member) = self.vacate(now, place) {
            let session = member.session.index();
            self.notices.push_back(Notice { session, kind: NoticeKind::Freed });
        }
    }

    /// Gives a place up; whose it was.
    pub(super) fn vacate(&mut self, now: Time, place: usize) -> Option<Member> {
        self.check_messages(now, place);
        let member = self.members.get_mut(place)?.take()?;
        self.message_counts.lost += member.messages_lost;
        let at = member.dialect.place();
        if let Some(spoken) = at.and_then(|at| self.spoken.get_mut(at)?.as_mut()) {
            spoken.vacate(place);
        }
        if member.role == Role::Play {
            self.shown.is_current = false;
            self.game.leave(&mut self.world, member.player);
        }
        self.note(RoomEvent::Freed(member.player));
        self.count();
        if !sabotage::is(Sabotage::RosterUntold) {
            self.roster_changed(now);
        }
        Some(member)
    }

    pub(super) fn roster_changed(&mut self, now: Time) {
        self.roster_revision = self.roster_revision.wrapping_add(1);
        let everyone = self.members.iter().flatten().count() + self.bots.len();
        for member in self.members.iter_mut().flatten().filter(|member| member.is_here()) {
            match everyone > member.roster_part_len() {
                false => member.roster.announce(now),
                true => member.roster.announce_long(now),
            }
        }
    }
}
