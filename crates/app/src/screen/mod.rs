//! What a player sees: menus, lists, matches, failures. It is decided here once; a UI only draws it.
//!
//! ```text
//! program       -> which screen is shown, and what a key does there
//! menu          -> the menus and where their rows lead
//! typing        -> a question that is answered by typing
//! closed        -> what failed or is over, and what to do next
//! launch        -> what a player starts, from the menu or the command line
//! hosts         -> the games on the local network, as a list; rooms: those of a server
//! choices       -> how the choice in a list moves
//! match_screen  -> a match in progress: who steers, what is shown, when it is over
//! stage         -> what a game must provide to be shown
//! figures       -> how good the connection is
//! bindings      -> which keys steer
//! library       -> the recorded matches; replay_screen shows one
//! settings      -> the player's settings, saved in a file
//! view          -> all of that as plain data
//! wrap          -> fits lines and columns into the room that a face has
//! ```
//!
//! A UI passes in [`Key`]s and what is [`Held`], calls [`Program::look`] as often as the [`RedrawRate`] asks, draws
//! the [`View`],
//! and may play the [`Cue`]s. Below is [`crate::play`].

mod bindings;
mod choices;
mod closed;
mod figures;
mod hosts;
mod launch;
mod library;
mod match_screen;
mod menu;
mod program;
mod replay_screen;
mod rooms;
mod settings;
pub(crate) mod stage;
#[cfg(test)]
mod tests;
mod typing;
mod view;
mod wrap;

pub(crate) use bindings::{Action, Bindings};
pub(crate) use launch::{Launch, Options, sentence};
pub(crate) use match_screen::{Hand, Lane, Steers};
pub(crate) use program::{Held, Key, Program, RedrawRate};
pub(crate) use settings::{Settings, Shelf};
pub(crate) use view::{
    Arena, Banner, Burst, BurstKind, Cell, ChatLine, Controls, Crew, Cue, Entry, Figure, Flashing,
    Hud, List, Look, Overlay, Page, Palette, Row, Scene, Side, Thing, Tone, View, bars, ping_tone,
};
pub(crate) use wrap::{columns, tail, wrap};
