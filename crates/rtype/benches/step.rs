//! What a tick costs: a level with four bots, and a field with 64 things in it.
//!
//! `cargo bench -p backspin-rtype`

use backspin::game::{Game, PlayerId, PlayerInput, Turn, rewind_limit_ticks};
use backspin::replication::State;
use backspin_rtype::{Opening, RType, World};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// A room's part of a tick: the step, with everyone's sight rewound, and the copy that is kept.
struct Table {
    game: RType,
    world: World,
    past: Vec<(u32, World)>,
    inputs: Vec<PlayerInput>,
    events: Vec<backspin::game::Event>,
    tick: u32,
}

impl Table {
    fn new(game: RType) -> Self {
        let mut world = game.begin(1);
        (1..=4).for_each(|player| game.join(&mut world, PlayerId(player), &()));
        let (past, inputs, events) = (Vec::new(), Vec::new(), Vec::new());
        let mut table = Table { game, world, past, inputs, events, tick: 0 };
        (0..1_200).for_each(|_| table.step());
        table
    }

    fn step(&mut self) {
        self.tick += 1;
        // The bots decide ten times a second, as people do; that is not what is measured.
        if self.tick % 6 == 1 {
            self.inputs.clear();
            for player in (1..=4).map(PlayerId) {
                let buttons = self.game.bot_input(&self.world, player).unwrap_or_default();
                self.inputs.push(PlayerInput::new(player, buttons));
            }
        }
        for input in &mut self.inputs {
            input.drawn = Some(f64::from(self.tick.saturating_sub(9)) + 0.3);
        }
        self.events.clear();
        let rewind = rewind_limit_ticks(&self.game);
        let turn = Turn::new(self.tick, &self.inputs, &self.past, &mut self.events);
        self.game.step(&mut self.world, &mut turn.rewinding(rewind));
        match self.past.get_mut(self.tick as usize % (rewind as usize + 1)) {
            Some((tick, world)) => {
                *tick = self.tick;
                world.clone_from(&self.world);
            }
            None => self.past.push((self.tick, self.world.clone())),
        }
    }
}

fn ticks(bencher: Bencher<'_, '_>, game: RType) {
    let mut table = Table::new(game);
    bencher.counter(ItemsCount::new(1_000_u32)).bench_local(|| {
        (0..1_000).for_each(|_| table.step());
    });
}

/// A thousand ticks of levels played by four bots.
#[divan::bench]
fn level(bencher: Bencher<'_, '_>) {
    ticks(bencher, RType { opening: Opening::AtOnce, ..RType::default() });
}

/// A thousand ticks with 64 enemies and bullets, four ships and their shots.
#[divan::bench]
fn swarm_of_64(bencher: Bencher<'_, '_>) {
    ticks(bencher, RType { swarm: 64, ..RType::default() });
}

/// What a bot thinks, once.
#[divan::bench]
fn bot(bencher: Bencher<'_, '_>) {
    let table = Table::new(RType { swarm: 64, ..RType::default() });
    let Some(ship) = table.world.ships().first() else { panic!("every ship is lost") };
    bencher.bench_local(|| table.game.bot_input(&table.world, ship.player));
}

/// Everything that is sent of a tick.
#[divan::bench]
fn capture(bencher: Bencher<'_, '_>) {
    let table = Table::new(RType { swarm: 64, ..RType::default() });
    let mut state = State::default();
    bencher.bench_local(|| {
        state.clear(1);
        table.game.capture(&table.world, &mut state);
    });
}
