//! Whether a game's byte budget is enough for what its players may see, over a link that loses nothing.

use backspin::game::{Game, PlayerId};
use backspin::replication::view::{ClientView, Snapshot};
use backspin::replication::{Entity, History, State, View, Viewer, delta};
use backspin::room::LeftOut;
use backspin::wire::native::MIN_BUDGET;

use super::{Breach, Crowd, Match};

/// So many players are looked after; what others see is about as much.
const VIEWERS: u8 = 4;

/// What a datagram has beside the body of a snapshot, and more.
const HEAD_LEN: usize = 48;

/// For so many seconds a world may take its time: at first all of it is new.
const FIRST_SECONDS: u32 = 5;

/// Plays one seed, and sends every viewer as much as the budget allows.
pub(super) fn check_budget<G: Game>(
    game: &G,
    seed: u64,
    ticks: u32,
    tick: &mut u32,
) -> Result<(), Breach> {
    let every = u32::from(game.send_every()).max(1);
    let mut crowd = Crowd::new::<G::Input>(seed, game.capacity());
    let mut server = Match::<G>::new(game.begin(seed));
    let mut history = History::every(every);
    let mut views: Vec<_> = (1..=game.capacity().min(VIEWERS))
        .map(|number| Seen { player: PlayerId(number.into()), view: None, sequence: 0 })
        .collect();
    for next in 1..=ticks {
        *tick = next;
        for change in crowd.turn(next) {
            change.apply(game, &mut server.world);
        }
        server.step(game, next, crowd.inputs());
        if !next.is_multiple_of(every) {
            continue;
        }
        let before = history.at(next.wrapping_sub(every)).cloned();
        game.capture(&server.world, history.begin(next));
        let fits_one = fits_one(game, before.as_ref(), history.newest());
        for seen in &mut views {
            seen.send(game, &server.world, &history, fits_one)?;
        }
    }
    Ok(())
}

/// Whether a whole world fits a datagram, against the one before.
fn fits_one<G: Game>(game: &G, before: Option<&State>, state: Option<&State>) -> bool {
    let mut out = [0; MIN_BUDGET as usize - HEAD_LEN];
    state.is_some_and(|state| delta::encode(game.schema(), before, state, &mut out).is_ok())
}

/// What one player was sent.
struct Seen {
    player: PlayerId,
    view: Option<ClientView>,
    sequence: u32,
}

impl Seen {
    fn send<G: Game>(
        &mut self,
        game: &G,
        world: &G::World,
        history: &History,
        fits_one: bool,
    ) -> Result<(), Breach> {
        let Some(state) = history.newest() else { return Ok(()) };
        let mut shown = View::default();
        game.visible(world, Viewer::Player(self.player), &mut shown);
        if shown.is_everything() && fits_one {
            self.view = None;
            return Ok(());
        }
        shown.finish();
        let (every, rate) = (history.ticks(), u32::from(game.tick_rate()).max(1));
        let snapshot = Snapshot { schema: game.schema(), history, state, every };
        let budget = u64::from(game.byte_budget()) * u64::from(every) / u64::from(rate);
        let is_own = |entity: &Entity| game.is_ahead(entity, self.player);
        let view = self.view.get_or_insert_with(|| ClientView::new(1));
        view.plan(snapshot, &shown, budget as u32, is_own);
        let mut out = [0; MIN_BUDGET as usize - HEAD_LEN];
        while view.poll(snapshot, self.sequence, HEAD_LEN, &mut out).is_some() {
            view.handle_acks(self.sequence, 0, history, every);
            self.sequence = self.sequence.wrapping_add(1);
        }
        let counts = view.counts();
        if state.tick > FIRST_SECONDS * rate && counts.oldest_ticks > rate {
            return Err(Breach::Budget(LeftOut::View {
                player: self.player,
                others: 0,
                budget: game.byte_budget(),
                unsent: counts.unsent,
                waited_ms: (u64::from(counts.oldest_ticks) * 1_000 / u64::from(rate)) as u32,
            }));
        }
        Ok(())
    }
}
