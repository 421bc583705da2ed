//! In singles the ball waits for a player who has gone quiet: nobody loses points to a dead line.
//!
//! ```text
//!            nothing heard for 1 s          heard again, 30 s are over,
//!            (the room says so)             or the other says GO_ON
//! Playing ------------------------> Hold -------------------------------> Countdown --> Playing
//!    ^                                                                     2 s           |
//!    +-----------------------------------------------------------------------------------+
//! ```
//!
//! Each player has [`Pong::LONGEST_HOLD`] ticks of waiting in a match, and each return costs the
//! countdown as well: whoever goes quiet again and again stalls a match for 33 s at most. After
//! that, and when the other would rather go on, a bot plays until the player is back.

use backspin::game::{Buttons, PlayerId, PlayerInput};

use crate::Pong;
use crate::bot;
use crate::field::Position;
use crate::world::{Attendance, Phase, World};

impl World {
    /// What is held at each post: a quiet player's paddle rests, or is a bot's.
    pub(crate) fn held(&self, inputs: &[PlayerInput]) -> [Buttons; 4] {
        Position::ALL.map(|post| {
            let player = post.player();
            match self.attendance[post.side().index()] {
                Attendance::Quiet => Buttons::default(),
                Attendance::Replaced => bot::bot_input(self, player),
                Attendance::Here => {
                    let input = inputs.iter().find(|input| input.player == player);
                    input.map_or(Buttons::default(), |input| input.input.read())
                }
            }
        })
    }

    /// A player is no longer heard.
    pub(crate) fn miss(&mut self, player: PlayerId) {
        let Some(side) = self.side_in_singles(player) else { return };
        let attendance = &mut self.attendance[side];
        if *attendance == Attendance::Here {
            *attendance = match self.patience[side] {
                0 => Attendance::Replaced,
                _ => Attendance::Quiet,
            };
        }
    }

    /// A player is heard again.
    pub(crate) fn hear_again(&mut self, player: PlayerId) {
        let Some(side) = self.side_in_singles(player) else { return };
        let was = std::mem::take(&mut self.attendance[side]);
        if self.phase == Phase::Hold && was == Attendance::Quiet {
            let patience = &mut self.patience[side];
            *patience = patience.saturating_sub(Pong::HOLD_COUNTDOWN);
            self.end_hold();
        }
    }

    /// A player would rather go on against a bot. Only one who is heard can say so.
    pub(crate) fn go_on_without(&mut self, player: PlayerId) {
        let speaks = self.side_in_singles(player).is_some_and(|side| {
            self.attendance[side] == Attendance::Here && self.phase == Phase::Hold
        });
        if speaks {
            let quiet = |it: &&mut Attendance| **it == Attendance::Quiet;
            self.attendance.iter_mut().filter(quiet).for_each(|it| *it = Attendance::Replaced);
            self.end_hold();
        }
    }

    /// Stops the ball if someone is to be waited for. Whether it waits now.
    pub(crate) fn begin_hold(&mut self) -> bool {
        if self.quiet_sides().next().is_none() {
            return false;
        }
        self.phase = Phase::Hold;
        self.heading = self.ball.stop();
        self.ticks_left = self.longest_wait();
        true
    }

    /// A tick of waiting.
    pub(crate) fn wait(&mut self) {
        for side in 0..self.attendance.len() {
            if self.attendance[side] == Attendance::Quiet {
                self.patience[side] = self.patience[side].saturating_sub(1);
                if self.patience[side] == 0 {
                    self.attendance[side] = Attendance::Replaced;
                }
            }
        }
        self.ticks_left = self.longest_wait();
        self.end_hold();
    }

    /// Lets the ball fly on, soon, if nobody is waited for any more.
    fn end_hold(&mut self) {
        if self.quiet_sides().next().is_none() {
            self.phase = Phase::Countdown;
            self.ticks_left = Pong::HOLD_COUNTDOWN;
        }
    }

    /// How much longer the ball waits if nobody comes back.
    fn longest_wait(&self) -> u16 {
        self.quiet_sides().map(|side| self.patience[side.index()]).max().unwrap_or(0)
    }

    /// The side of a player of a match of two.
    fn side_in_singles(&self, player: PlayerId) -> Option<usize> {
        let post = Position::of(player).filter(|post| self.paddles[post.index()].is_some())?;
        (!self.doubles).then(|| post.side().index())
    }
}
