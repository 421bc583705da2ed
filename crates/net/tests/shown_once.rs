//! What a player spawns is there at once and stays one thing when the server's comes; what
//! everyone must know reaches everyone exactly once, in order. Over a link that loses.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::{Client, ClientConfig, ClientEvent, Frame};
use backspin::endpoint::EndpointConfig;
use backspin::game::{Game, PlayerId, Reach, SpawnName};
use backspin::replication::State;
use backspin::room::{Room, RoomConfig};
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_sim::{Chance, Drift, HostId, LinkConfig, Loss, Party, Player, Preset, World};

#[path = "../examples/tag/rules.rs"]
#[allow(dead_code)]
pub mod tag;

use tag::{DASHED, TAGGED, Tag};

const PUFF: u8 = 1;
const PUFF_TICKS: u32 = 20;
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// A match, and all that is seen of it.
struct Scene {
    world: World<Party<Tag>>,
    server: HostId,
    guests: Vec<Guest>,
    /// Who became it, and in which tick, as the server's world shows it.
    tagged: Vec<(u32, u32)>,
    it: Option<u32>,
    /// What there was after each tick.
    states: BTreeMap<u32, State>,
    /// The puffs that the server's world ever had.
    puffs: BTreeMap<u32, u32>,
}

struct Guest {
    host: HostId,
    frame: Frame,
    frames: u64,
    /// In which of its frames each own puff was drawn.
    drawn: BTreeMap<u32, Vec<u64>>,
    /// In which each was to be drawn first.
    due: BTreeMap<u32, u64>,
    /// The first frame that counts.
    from: u64,
    /// The server's tick when the player was in.
    joined: Option<u32>,
    tagged: Vec<(u32, u32)>,
    dashed: Vec<u32>,
    twice_in_a_frame: u64,
    compared: u32,
    /// Ticks of which its snapshot was not the server's.
    wrong: Vec<u32>,
}

impl Scene {
    fn new(seed: u64, link: LinkConfig, players: u8) -> Self {
        let mut world = World::new(seed, link);
        let mut server = Server::new(EndpointConfig::default(), [1; 32]);
        server.open(Time::ZERO, Tag, Name::new("Room"), seed, RoomConfig::default());
        let at = SocketAddr::from(([10, 0, 0, 1], 4300));
        let server = world.add(Party::Server(Box::new(server)), &[at], Drift::NONE);
        let mut scene = Scene {
            world,
            server,
            guests: Vec::new(),
            tagged: Vec::new(),
            it: None,
            states: BTreeMap::new(),
            puffs: BTreeMap::new(),
        };
        (0..players).for_each(|_| scene.add_guest(seed));
        scene
    }

    fn add_guest(&mut self, seed: u64) {
        let i = self.guests.len() as u8;
        let server = SocketAddr::from(([10, 0, 0, 1], 4300));
        let config = ClientConfig::new(server, Name::new("Alice"));
        let now = self.world.now();
        let client = Client::new(now, Tag, config, [2 + i; 32]);
        let player = Player::new(client, Chance::new(seed, 2 + u64::from(i)));
        let own = SocketAddr::from(([10, 0, 0, 2 + i], 5000));
        let host = self.world.add(Party::Player(Box::new(player)), &[own], Drift::NONE);
        self.guests.push(Guest {
            host,
            frame: Frame::default(),
            frames: 0,
            drawn: BTreeMap::new(),
            due: BTreeMap::new(),
            from: 1,
            joined: None,
            tagged: Vec::new(),
            dashed: Vec::new(),
            twice_in_a_frame: 0,
            compared: 0,
            wrong: Vec::new(),
        });
    }

    fn room(&self) -> &Room<Tag> {
        match self.world.node(self.server) {
            Party::Server(server) => &server.rooms()[0],
            Party::Player(_) => unreachable!(),
        }
    }

    fn run(&mut self, seconds: u64) {
        for _ in 0..seconds * 60 {
            let until = self.world.now() + FRAME;
            while self.world.step_until(until).is_some() {
                self.watch_server();
                let tick = self.room().tick();
                for guest in &mut self.guests {
                    guest.listen(&mut self.world, tick);
                    guest.compare(&mut self.world, &self.states);
                }
            }
            for guest in &mut self.guests {
                guest.look(&mut self.world);
            }
        }
    }

    fn watch_server(&mut self) {
        let (world, tick) = (self.room().world(), self.room().tick());
        let it = world.runners.iter().find(|runner| runner.it.is_some());
        let it = it.map(|runner| runner.player.0);
        let puffs: Vec<u32> = world.puffs.iter().map(|puff| puff.id).collect();
        if it != self.it && it.is_some() {
            self.tagged.extend(it.map(|it| (it, tick)));
        }
        self.it = it;
        if !self.states.contains_key(&tick) {
            let mut state = State::new(tick);
            Tag.capture(self.room().world(), &mut state);
            self.states.insert(tick, state);
        }
        for puff in puffs {
            self.puffs.entry(puff).or_insert(tick);
        }
    }

    /// Server ticks for which a player's input was not there.
    fn missing(&self) -> u64 {
        self.room().members().map(|member| member.ticks_without_input).sum()
    }
}

impl Guest {
    fn client<'a>(&self, world: &'a mut World<Party<Tag>>) -> &'a mut Client<Tag> {
        match world.node_mut(self.host) {
            Party::Player(player) => &mut player.client,
            Party::Server(_) => unreachable!(),
        }
    }

    /// Forgets what was before: joining.
    fn begin(&mut self) {
        self.drawn.clear();
        self.due.clear();
        self.dashed.clear();
        self.from = self.frames + 1;
    }

    fn listen(&mut self, world: &mut World<Party<Tag>>, server_tick: u32) {
        while let Some(event) = self.client(world).poll_event() {
            match event {
                ClientEvent::Connected(_) => self.joined = Some(server_tick),
                ClientEvent::Game(event) if event.kind == TAGGED => {
                    assert_eq!(event.reach, Reach::Everyone);
                    self.tagged.push((event.entity, event.value as u32));
                }
                ClientEvent::Game(event) if event.kind == DASHED => {
                    self.dashed.push(event.entity);
                    // Stepped just now: the next frame is to show it.
                    self.due.insert(event.entity, self.frames + 1);
                }
                _ => {}
            }
        }
    }

    /// Holds its newest snapshot against what the server had.
    fn compare(&mut self, world: &mut World<Party<Tag>>, states: &BTreeMap<u32, State>) {
        let client = self.client(world);
        let (state, is_playing) = (client.state(), client.is_playing());
        if is_playing
            && self.compared != state.tick
            && let Some(right) = states.get(&state.tick)
        {
            self.compared = state.tick;
            if right != state {
                self.wrong.push(state.tick);
            }
        }
    }

    fn look(&mut self, world: &mut World<Party<Tag>>) {
        self.frames += 1;
        let now = world.local_time(self.host);
        let mut frame = std::mem::take(&mut self.frame);
        let client = self.client(world);
        client.draw(now, &mut frame);
        let player = client.player();
        let is_puff =
            |owner: Option<PlayerId>, id| owner.is_some() && SpawnName::owner(id) == owner;
        for drawn in frame.entities.iter().filter(|drawn| drawn.entity.kind == PUFF) {
            if is_puff(player, drawn.entity.id) {
                self.drawn.entry(drawn.entity.id).or_default().push(self.frames);
            }
        }
        let twice = frame.entities.windows(2).any(|two| two[0].entity.id == two[1].entity.id);
        self.twice_in_a_frame += u64::from(twice);
        self.frame = frame;
    }

    /// Every own puff is there from the frame after its step, without a gap, for as long as it
    /// lives; and nothing else is.
    fn assert_puffs_are_whole(&self, scene: &Scene) {
        assert_eq!(self.twice_in_a_frame, 0);
        for (puff, frames) in &self.drawn {
            let (first, last) = (frames[0], frames[frames.len() - 1]);
            let Some(due) = self.due.get(puff) else {
                assert_eq!(first, self.from, "puff {puff:#x} was drawn without a dash");
                continue;
            };
            assert_eq!(first, *due, "puff {puff:#x} came late");
            assert_eq!(frames.len() as u64, last - first + 1, "puff {puff:#x}: {frames:?}");
            if last == self.frames {
                continue;
            }
            // The clock that it is drawn by is bent by 5 % at most.
            let whole = PUFF_TICKS - 2..=PUFF_TICKS + 2;
            assert!(whole.contains(&(frames.len() as u32)), "puff {puff:#x}: {frames:?}");
            assert!(scene.puffs.contains_key(puff), "the server never had puff {puff:#x}");
        }
        let undrawn = self.due.iter().find(|(puff, _)| !self.drawn.contains_key(puff));
        assert!(undrawn.is_none_or(|(_, due)| *due > self.frames), "{undrawn:x?} was not drawn");
    }
}

/// The seconds that are joining.
const JOINING: u64 = 3;

#[test]
fn an_own_puff_is_drawn_at_once_and_stays_one() {
    let mut puffs = 0;
    for seed in 1..=10 {
        let mut scene = Scene::new(seed, Preset::Reference.config(), 2);
        scene.run(JOINING);
        let missing = scene.missing();
        scene.guests.iter_mut().for_each(Guest::begin);
        scene.run(16 - JOINING);
        // Where an input came too late, the server may have dashed otherwise.
        if scene.missing() > missing {
            continue;
        }
        for guest in &scene.guests {
            guest.assert_puffs_are_whole(&scene);
            // The sound of a dash is heard once, however often it is replayed.
            assert_eq!(guest.dashed.len(), guest.due.len(), "seed {seed}");
            puffs += guest.dashed.len();
        }
    }
    assert!(puffs > 50, "{puffs} puffs");
}

#[test]
fn every_puff_of_the_server_was_drawn_by_its_owner() {
    let mut puffs = 0;
    for seed in 1..=5 {
        let mut scene = Scene::new(seed, Preset::Reference.config(), 2);
        scene.run(JOINING);
        let missing = scene.missing();
        let begun = scene.room().tick();
        scene.run(16 - JOINING);
        for guest in &scene.guests {
            let own = guest.client(&mut scene.world).player();
            let of_guest = |puff: u32, tick: u32| SpawnName::owner(puff) == own && tick > begun;
            let all = scene.puffs.iter().filter(|(puff, tick)| of_guest(**puff, **tick));
            let missed: Vec<_> =
                all.clone().filter(|(puff, _)| !guest.drawn.contains_key(puff)).collect();
            assert!(missed.is_empty() || scene.missing() > missing, "seed {seed}: {missed:x?}");
            puffs += all.count();
        }
    }
    assert!(puffs > 25, "{puffs} puffs");
}

/// Three play; someone comes late, and is told what happens from then on. Says how much happened.
fn assert_told_once(link: LinkConfig, seed: u64) -> usize {
    let mut scene = Scene::new(seed, link, 3);
    scene.run(15);
    scene.add_guest(seed);
    scene.run(30);
    let sure = scene.room().tick() - 3 * 60;
    for guest in &scene.guests {
        let joined = guest.joined.unwrap_or_else(|| panic!("seed {seed}: never in"));
        let heard = &guest.tagged;
        let first = heard.first().and_then(|first| scene.tagged.iter().position(|t| t == first));
        let from = first.unwrap_or(scene.tagged.len());
        assert_eq!(scene.tagged.get(from..from + heard.len()), Some(&heard[..]), "seed {seed}");
        let must = scene.tagged.iter().filter(|(_, tick)| (joined + 1..=sure).contains(tick));
        let unheard: Vec<_> = must.filter(|tagged| !heard.contains(tagged)).collect();
        assert!(unheard.is_empty(), "seed {seed}: {unheard:?}");
    }
    scene.tagged.len()
}

#[test]
fn everyone_is_told_who_is_it_exactly_once_and_in_order() {
    let events: usize =
        (1..=5).map(|seed| assert_told_once(Preset::Reference.config(), seed)).sum();
    assert!(events > 25, "{events} events");
}

#[test]
fn bursts_and_copies_change_nothing_about_that() {
    let cruel = LinkConfig {
        loss: Loss::bursts(0.15, 3.0),
        duplicate_probability: 0.1,
        ..Preset::Reference.config()
    };
    let events: usize = (1..=5).map(|seed| assert_told_once(cruel, seed)).sum();
    assert!(events > 25, "{events} events");
}

/// One after the other comes in; what everyone has of a tick is what the server had.
#[test]
fn who_comes_late_leaves_the_others_snapshots_right() {
    for seed in 1..=3 {
        let mut scene = Scene::new(seed, Preset::Reference.config(), 1);
        scene.run(JOINING);
        for _ in 0..6 {
            scene.add_guest(seed);
            scene.run(2);
        }
        // A snapshot against something else than what the client has may not even decode.
        let wrong: Vec<_> = scene.guests.iter().map(|guest| &guest.wrong).collect();
        assert!(wrong.iter().all(|ticks| ticks.is_empty()), "seed {seed}: {wrong:?}");
        for guest in &scene.guests {
            assert_eq!(guest.client(&mut scene.world).counts().malformed, 0, "seed {seed}");
        }
    }
}
