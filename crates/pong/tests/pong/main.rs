//! Pong from the outside: the rules against a model of Networked Pong, matches from the first to
//! the last player, what is drawn, what the old dialect shows, and the bots.

mod bots;
mod course;
mod guests;
mod lan;
mod proofs;
mod rules;
mod screen;
mod stage;
