//! Write your own game.
//!
//! A game is its rules. You write how the world begins, what one tick does to it, and which
//! numbers of it travel; Backspin brings the sessions, the clocks, the snapshots, the prediction
//! and the drawing. This page makes a small game: pucks on ice, one for each player. A larger
//! one, with contacts, spawns and events, is `examples/tag`.
//!
//! # 1. The world and its schema
//!
//! The world is whatever you like. The **schema** says what is sent of it: kinds of entities, and
//! their fields, each with a range, a step and what becomes of it in time. Call the place `x` and
//! `y`: whoever measures and draws looks for those.
//!
//! A field is a whole count of steps. `Step::new(1, 16)` is 1/16 of a pixel. A field that follows
//! a velocity ([`Motion::Along`](crate::replication::Motion::Along)) costs next to nothing to send as
//! long as it does what its velocity says, and is drawn smoothly in between.
//!
//! ```
#![doc = include_str!("guide/world.rs")]
//! # fn main() {}
//! ```
//!
//! # 2. One tick
//!
//! A step sees the world and the [`Turn`](crate::game::Turn): which tick it is, and what everyone
//! holds. It runs on the server with everyone's input, and on every client, ahead of the server,
//! with the player's own input alone.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/world.rs"));
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/game.rs"));
#![doc = include_str!("guide/step.rs")]
//! # fn main() {}
//! ```
//!
//! # 3. The game
//!
//! [`capture`](crate::game::Game::capture) writes a world into a state,
//! [`restore`](crate::game::Game::restore) reads it back. What is predicted must come out as it
//! went in: everything that a step looks at to move a player's own things belongs in the schema,
//! also a cooldown that nobody draws.
//!
//! An entity keeps its id for as long as it lives. That of a player is the player's number, if
//! you do not say otherwise in [`entity_of`](crate::game::Game::entity_of).
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/world.rs"));
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/step.rs"));
#![doc = include_str!("guide/game.rs")]
//! # fn main() {}
//! ```
//!
//! # 4. Prove the rules
//!
//! `backspin_sim::check_rules` lets bots play, does everything twice, and says which
//! field differs where:
//!
//! ```text
//! after tick 312 (seed 5): entity 3 (puck): y is 640 after restoring, 641 before; restore must
//! bring back what capture wrote
//! ```
//!
//! It also names the limit that the game breaks, of those in docs/limits.md: too many entities, a byte budget
//! that leaves something unsent for more than a second, a message that is too long.
//!
//! Make it a test of your game.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/world.rs"));
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/step.rs"));
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/game.rs"));
//! use backspin_sim::{RuleError, check_rules};
//!
//! fn main() -> Result<(), RuleError> {
//!     println!("{}", check_rules::<Pucks>()?);
//!     Ok(())
//! }
//! ```
//!
//! # 5. Measure what players feel
//!
//! `backspin_sim::measure` plays a minute between two bots over a link with faults, in a
//! fraction of a second, and prints a table: how long an input takes to the screen, how far others
//! are drawn behind, what was corrected, what jumped, how many bytes it cost.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/world.rs"));
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/step.rs"));
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/game.rs"));
//! use backspin_sim::{Measured, Preset, Verdict, measure};
//!
//! // Where things meet, this says how contacts are drawn and judged.
//! impl Measured for Pucks {}
//!
//! fn main() {
//!     let report = measure::<Pucks>(Preset::Reference.config());
//!     println!("{report}");
//!     assert!(report.rows().all(|row| row.verdict() != Verdict::Short));
//! }
//! ```
//!
//! `backspin_sim::measure_with` takes other seeds, more players and a round trip
//! that grows in the middle.
//!
//! # 6. Play over real sockets
//!
//! The crate `backspin-udp` has the loop that owns clock and sockets. A server and a client are
//! the same objects that the simulator drives. (All of it: `crates/udp/examples/tag_online.rs`.)
//!
//! ```text
//! let mut driver = Loop::new(vec![Socket::bind("0.0.0.0:4300".parse()?)?])?;
//! let mut server = Server::new(EndpointConfig::default(), seed);     // 32 random bytes
//! server.open(driver.now(), Pucks, Name::new("Rink"), 1, RoomConfig::default());
//! loop {
//!     driver.turn(&mut server, driver.now() + Duration::from_secs(1))?;
//! }
//! ```
//!
//! ```text
//! let mut driver = Loop::new(vec![Socket::bind("0.0.0.0:0".parse()?)?])?;
//! let config = ClientConfig::new(address, Name::new("Alice"));
//! let mut client = Client::new(driver.now(), Pucks, config, seed);
//! let mut frame = Frame::default();
//! loop {
//!     client.press(keyboard());
//!     let next_frame = driver.now() + Duration::from_millis(16);
//!     while driver.now() < next_frame {
//!         driver.turn(&mut client, next_frame)?;
//!     }
//!     client.draw(driver.now(), &mut frame);                      // what is on the screen
//!     while let Some(event) = client.poll_event() { /* sounds, signs, the end */ }
//! }
//! ```
//!
//! # What to avoid
//!
//! - **Numbers that do not come back.** A position in `f32` that is sent in 1/16 px is another one
//!   after it was restored, and every snapshot corrects the player a little. Count in the field's
//!   own steps, in integers.
//! - **Chance.** Derive it from the world's seed, which [`begin`](crate::game::Game::begin) is
//!   given, and keep its state in the world. If it moves what is predicted, it must be in the
//!   schema, too.
//! - **Clocks.** The tick is all the time there is: [`Turn::tick`](crate::game::Turn::tick).
//! - **Hash maps**, wherever their order decides anything.
//! - **Allocation.** Derived `Clone` and the given
//!   [`restore_into`](crate::game::Game::restore_into) make new memory every tick. Write
//!   `clone_from` and `restore_into` so that they use the old, and a match that is under way
//!   allocates nothing.
//!
//! # Contacts
//!
//! Others are drawn a little behind the server, so a player aims at where they were. Each input
//! says which tick was on the screen, and [`Turn::rewound_for`](crate::game::Turn::rewound_for) gives the
//! world of that tick, up to 250 ms back or what
//! [`Game::rewind_limit_ms`](crate::game::Game::rewind_limit_ms) says. Take the player's own things
//! from the world as it is, the others' from the world that was seen; then what looked like a hit is
//! one. To show a hit before the server has judged it, a shot that stops at what it meets, say so in
//! [`Game::impacts`](crate::game::Game::impacts).
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/world.rs"));
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/step.rs"));
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/game.rs"));
//! /// Whom the puck touches, as its player saw it.
//! fn touched(puck: &Puck, world: &World, turn: &Turn<'_, Pucks>) -> Option<PlayerId> {
//!     let seen = turn.rewound_for(puck.player).unwrap_or(world);
//!     let mut others = seen.pucks.iter().filter(|other| other.player != puck.player);
//!     let near = |a: i32, b: i32| (a - b).abs() < 20 * 16;
//!     Some(others.find(|other| near(other.x, puck.x) && near(other.y, puck.y))?.player)
//! }
//! # fn main() {}
//! ```
//!
//! A client cannot judge this as the server will. Let it predict motion only: write
//! [`predict`](crate::game::Game::predict) as the part of `step` that moves the player's own.
//!
//! # Spawns
//!
//! A shot must be on the screen before the server has heard of it, and must be the same shot when
//! the server's arrives. So its id is made of what both sides know: player, tick and count. An
//! entity with such an id is drawn ahead for the player who spawned it, and behind for everyone
//! else.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/world.rs"));
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/step.rs"));
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/game.rs"));
//! fn shot_id(puck: &Puck, turn: &Turn<'_, Pucks>) -> u32 {
//!     SpawnName { player: puck.player, tick: turn.tick(), count: 0 }.entity_id()
//! }
//! # fn main() {}
//! ```
//!
//! Spawn it in `step` and in `predict`. A cooldown that decides whether there is a shot must be in
//! the schema, or the two sides will not agree.
//!
//! # Events
//!
//! [`Turn::raise`](crate::game::Turn::raise) says that something happened.
//! - [`Reach::Own`](crate::game::Reach::Own) is for the player who predicted it: a sound at once,
//!   and not again, however often the tick is replayed.
//! - [`Reach::Everyone`](crate::game::Reach::Everyone) is the server's word: it reaches every
//!   client exactly once and in order, whatever the link loses, or the session ends and says why.
//!
//! Both come out of [`Client::poll_event`](crate::client::Client::poll_event) as
//! [`ClientEvent::Game`](crate::client::ClientEvent::Game). What lasts (who is it, the score)
//! belongs in a field, not only in an event: who joins later has heard none.
//!
//! # Large worlds, and what is hidden
//!
//! A world that fits a datagram is sent to everyone with the same bytes. One that does not is sent to each
//! client within a byte budget ([`Game::byte_budget`](crate::game::Game::byte_budget), in bytes a second): what the
//! player steers and predicts in every snapshot, the rest by how long it has waited and how important it
//! is. You need not do anything for that.
//!
//! [`Game::visible`](crate::game::Game::visible) says what a player may know. It is asked for every snapshot, and
//! what it does not show never leaves the server. The priority says what comes first where not
//! everything fits: twice the priority is twice as often.
//!
//! ```text
//! fn visible(&self, world: &World, viewer: Viewer, view: &mut View) {
//!     let Viewer::Player(player) = viewer else { return view.everything() };
//!     for thing in world.things_near(player, 1_000) {
//!         view.show(thing.id, if thing.is_near(player, 200) { 4 * View::PLAIN } else { View::PLAIN });
//!     }
//! }
//! ```
//!
//! [`Game::send_every`](crate::game::Game::send_every) sends a snapshot only every so many ticks: rules at 60 Hz need
//! not be told 60 times a second.
