//! What a player sees, decided once: menus, lists, matches, failures. A face only draws it.
//!
//! ```text
//! program   -> which screen there is, and what a key does there
//! menu      -> the menus and where their lines lead
//! typing    -> a question that is answered by typing
//! closed    -> what did not work or is over, and what can be done next
//! errand    -> what a player sets out to do, from the menu or from the command line
//! hosts     -> the games on the local network, as a list; rooms: those of a server
//! bout      -> a match in progress: who steers, what is told, when it is over
//! stage     -> what a game must say of itself to be shown
//! figures   -> what the connection is worth
//! bindings  -> which keys steer
//! library   -> the matches that were recorded; reel shows one again
//! settings  -> what a player likes, kept in a file
//! view      -> all of that as plain data
//! ```
//!
//! A face hands in [`Key`]s and what is [`Held`], calls [`Program::look`] as often as the
//! [`Pace`] asks, draws the [`View`], and may play the [`Cue`]s. Below is [`crate::play`].

mod bindings;
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

pub(crate) use bindings::{Action, Bindings};
pub(crate) use launch::{Launch, Options, sentence};
pub(crate) use match_screen::{Hand, Lane, Steers};
pub(crate) use program::{Held, Key, Pace, Program};
pub(crate) use settings::{Settings, Shelf};
pub(crate) use view::{
    Arena, Banner, Burst, BurstKind, Cell, ChatLine, Controls, Crew, Cue, Entry, Figure, Flashing,
    Hud, List, Look, Overlay, Page, Palette, Row, Scene, Side, Thing, Tone, View, bars, ping_tone,
};
