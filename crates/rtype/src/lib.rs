//! R-Type: one to four ships against everything that comes from the right, and some that comes
//! from the left. This crate is the rules, the levels and the bots, and nothing else: no socket, no
//! clock, no chance of its own. The same seed and the same buttons give the same match, to the bit.
//!
//! ```
//! use backspin::game::{Game, PlayerId, PlayerInput, Turn};
//! use backspin_rtype::{Opening, RType};
//!
//! let game = RType { opening: Opening::AtOnce, ..RType::default() };
//! let (player, mut world) = (PlayerId(1), game.begin(7));
//! game.join(&mut world, player, &());
//! for tick in 1..=1_200 {
//!     let buttons = game.bot_input(&world, player).unwrap_or_default();
//!     let inputs = [PlayerInput::new(player, buttons)];
//!     game.step(&mut world, &mut Turn::new(tick, &inputs, &[], &mut Vec::new()));
//! }
//! assert!(world.mission.wave >= 3 && world.mission.team_score > 0);
//! ```
//!
//! # How it is played
//!
//! The field is 1000 x 600 px and is stepped 60 times a second. A ship is 20 x 12 px, starts at
//! (50, 100 + 40 n) and flies 150 px/s on each axis. Its outermost 3 px left and right and 2 px
//! above and below cannot be hurt.
//!
//! | hold | for |
//! |---|---|
//! | up, down, left, right | moving |
//! | shoot | a volley every 0.15 s |
//! | charge, then let go | a heavy shot: from half a second, full after 2 s; worth 6 to 24 light ones, and passes through what it destroys |
//! | shoot and charge together | sending the force pod off, or calling it back |
//!
//! A hit costs a life. For half a second what is left of the ship flies and fires on. The next
//! one comes 1.5 s after the hit, plain, and nothing hurts it for a second.
//! When nobody has a life left the match is lost; when the last boss has fallen it is won.
//!
//! # What comes
//!
//! | species | size, px | health | points | what it does |
//! |---|---|---|---|---|
//! | drone | 28 x 20 | 1 | 100 | flies straight, fires straight ahead |
//! | weaver | 28 x 24 | 2 | 150 | zigzags, fires straight ahead |
//! | diver | 32 x 18 | 2 | 200 | comes in, stops to aim, and dives at the nearest ship |
//! | turret | 28 x 28 | 4 | 250 | moves slowly, fires at the nearest ship |
//! | carrier | 72 x 44 | 18 | 1,000 | hovers for a while and lets drones out |
//! | mine | 24 x 24 | 3 | 150 | drifts, and bursts into eight splinters 90 px from a ship |
//!
//! They come in lines, columns, vees and echelons. At the end of each [level] waits a boss
//! whose health decides how it flies (hover, sweep, charge) and how it fires (aimed, fan, ring,
//! wall, drones); every further ship makes it half as strong again.
//!
//! # What is left behind
//!
//! | power-up | does |
//! |---|---|
//! | weapon | two shots at once, then three that spread |
//! | speed | 30 px/s more, three times |
//! | shield | the next hit costs the shield; nothing hurts for 0.75 s after it |
//! | life | one more, up to nine |
//! | force | an indestructible pod on the ship's nose |
//!
//! The **force pod** catches bullets, burns what it touches, and fires when the ship does. Sent off,
//! it flies to the edge of the field and waits there; called back, it rides on the side that it
//! comes from: on the tail it fires backwards. It outlives its ship.
//!
//! A weapon or an engine is built in 0.6 s after it was taken, one at a time. That is not
//! for show: the player's own machine predicts the ship, and by then it knows. So it is with a ship
//! that is hit. A power-up that is of no use is 500 points.
//!
//! # Scoring
//!
//! A kill within two seconds of the last one goes on with the **chain**, and every fifth of a chain
//! raises what a kill is worth by one, up to five times. Each point of a boss' health is 5 points, its
//! end is worth what the level says to the team. The team's score is everyone's together.
//!
//! # Difficulty
//!
//! | | enemies' health | time between shots | bullets' speed | lives |
//! |---|---|---|---|---|
//! | easy | 70 % | 170 % | 75 % | one more |
//! | normal | 100 % | 100 % | 100 % | as the room says, 1 to 6 |
//! | hard | 150 % | 65 % | 130 % | one less, at least one |
//!
//! The level's own `threat` multiplies health and rate of fire: 100, 125 and 150 %.
//!
//! # The lobby
//!
//! It is part of the world: the first player is host, [sets the match up](command::Setup) and starts
//! it when everyone else is ready; five seconds later it begins. Ships fly about meanwhile. If the
//! host leaves or drops out, the next player is host. Who comes late plays at once if the host
//! allows it, or waits for the next match. After eight seconds of victory or defeat everyone is back. Players say so with
//! [commands](command::Command), and hear of everything by [events](event).
//!
//! # Who decides, and in whose time
//!
//! A player's own ship, pod and shots are predicted exactly; everything they depend on is sent. All
//! contacts are the server's to judge, each in the time of the player it concerns: own shots hit
//! enemies where that player saw them, bullets hit the ship where that player saw them, at most
//! 550 ms ago. It does not matter whether what was seen is gone by now: a shot stops at it, and a
//! ship is hit by it. Only what the player's own pod has caught hurts nobody. Screens do not wait for
//! the server's word to show a contact: an own shot stops where it is seen to hit, and a bullet at
//! the own ship or pod. What was hit dies when the server says so.
//!
//! # Where things are
//!
//! ```text
//! rules       the game: what a tick is made of        world, mission   what there is
//! ship shot pod            predicted                   space            boxes, and whether they meet
//! enemy boss power_up      not predicted               contact          contacts as judged
//!                                                      drawn, impact    contacts as seen
//! director    who comes, who decides what              schema, view, ack  what is sent: native, rtype, ack
//! level       files                                    lobby, command   who plays, what they say
//! bot         plays                                    event            what everyone is told
//! ```

mod ack;
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
mod impact;
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
mod view;
mod world;

pub use rules::{Opening, RType};
pub use world::{Bullet, PlayerCard, World};
