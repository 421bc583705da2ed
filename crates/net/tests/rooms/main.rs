//! Rooms over the seeded network: those that are always there, those that players make, how they
//! are listed, and how one goes from one to another.
//!
//! ```text
//! scene    -> a server that offers a game, and its guests
//! offered  -> open rooms: opened when they fill, closed when they are needed no more
//! made     -> rooms of players: names, passwords, limits
//! listed   -> the list, the pings, the best room
//! guests   -> rooms of guests of Networked Pong, with bots
//! moving   -> from one room to another, and back after a loss
//! large    -> 255 players, and their roster
//! admission -> what players say when they join, and whom the game lets in
//! ```

mod admission;
mod guests;
mod large;
mod listed;
mod made;
#[path = "../manned/mod.rs"]
mod manned;
mod moving;
mod offered;
mod scene;

use backspin::endpoint::EndpointConfig;
use backspin_sim::LinkConfig;
use backspin_sim::dot::Dots;

type Scene = scene::Scene<Dots>;

/// A server with at most so many open rooms of dots, four places each.
fn scene_with(seed: u64, link: LinkConfig, most: u16, config: EndpointConfig) -> Scene {
    Scene::new(seed, link, (Dots::default(), "Dots"), most, config)
}
