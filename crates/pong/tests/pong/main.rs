//! Pong from the outside: the rules against a model of Networked Pong, matches from the first to
//! the last player, what is drawn, what the old dialect shows, the bots, and who is waited for.

mod bots;
mod course;
mod guests;
mod hold;
mod lan;
mod proofs;
mod rules;
mod screen;
mod stage;
