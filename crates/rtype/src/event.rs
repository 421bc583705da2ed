//! What the rules tell: the kinds of [`Event`](backspin::game::Event), and what they speak of.
//!
//! Those marked *everyone* reach every player reliably; the rest stay with who steps the world: the
//! server, or the player who predicted them.

/// A ship fired: the entity is the (first) shot, the value its power.
pub const FIRED: u8 = 1;
/// A ship fired a heavy shot: the entity is the shot, the value its power.
pub const FIRED_HEAVY: u8 = 2;
/// A shot hit: the entity is the shot, the value the target's entity.
pub const HIT: u8 = 3;
/// A ship was hit: the entity is the ship, the value what hit it.
pub const HURT: u8 = 4;
/// Something was destroyed: the entity is what, the value the player who did it.
pub const KILL: u8 = 5;
/// A chain of kills has ended, a boss has fallen or a level is over: the entity is the player's
/// ship, or 0 for the team, the value the score. *Everyone.*
pub const SCORE: u8 = 6;
/// A wave comes: the value is its number in the level. *Everyone.*
pub const WAVE: u8 = 7;
/// A boss comes (the value is 0), begins another stage (its number) or has fallen (-1): the entity
/// is the boss. *Everyone.*
pub const BOSS: u8 = 8;
/// A power-up was taken: the entity is the ship, the value which (see
/// [`Bonus`](crate::power_up::Bonus)). *Everyone.*
pub const POWER_UP: u8 = 9;
/// A level begins: the value is its number, from 1. *Everyone.*
pub const LEVEL: u8 = 10;
/// The match is over: the value is 0 if all are dead and 2 for a victory. *Everyone.*
pub const GAME_OVER: u8 = 11;
/// A player's lives have changed: the entity is the ship, the value how many are left. *Everyone.*
pub const LIVES: u8 = 12;
/// A player said something: the entity is the ship, the value which phrase. *Everyone.*
pub const CHAT: u8 = 13;
/// The lobby has changed: the value is the new [`Phase`](crate::mission::Phase). *Everyone.*
pub const LOBBY: u8 = 14;
