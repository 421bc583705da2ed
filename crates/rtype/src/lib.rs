//! R-Type.

pub mod boss;
pub mod bot;
mod chance;
pub mod command;
mod contact;
pub mod difficulty;
mod director;
mod drawn;
pub mod enemy;
pub mod event;
pub mod level;
mod lobby;
pub mod mission;
pub mod pod;
pub mod power_up;
mod rules;
pub mod schema;
pub mod ship;
pub mod shot;
pub mod space;
pub mod view;
mod world;

pub use rules::{Opening, RType};
pub use world::{Bullet, PlayerCard, World};
