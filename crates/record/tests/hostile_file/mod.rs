//! Files whose checksums are right and whose frames are anything: what is behind the checksums.
//!
//! A script is a byte, whose lowest bit says whether the first frame is the script's own or a good
//! one, and frames, each behind its length. Whatever is in them, it is read or refused with a
//! reason, in memory and work that its length bounds.
//!
//! ```text
//! 0       1         3
//! | first | len u16 | len bytes | ...        big-endian; the last frame may be cut short
//! ```

use backspin::client::Frame;
use backspin::endpoint::EndpointConfig;
use backspin::game::{Game, GameId};
use backspin::replication::State;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_record::log::{LogError, Verdict};
use backspin_record::replay::ReplayError;
use backspin_record::{FileKind, Recorded, Replay, ReplayWriter, Rerun};
use backspin_sim::dot::Dots;

/// What was played.
pub(crate) const GAME: Dots = Dots { swarm: 2 };

/// How many bytes of memory a byte of a replay may take, and beside them: a player of a roster
/// takes two bytes in the file.
const REPLAY_COST: (isize, isize) = (128, 32 * 1024);

/// The same for a log, and what each of its rooms may take.
const LOG_COST: (isize, isize, isize) = (64, 512 * 1024, 128 * 1024);

/// Ticks that a room may step for one timeout, however late.
const TICKS_AT_ONCE: u64 = 16;

/// Ticks of a replay that are looked at.
const LOOKS: u32 = 16;

/// The file that a script makes.
pub(crate) fn file(kind: FileKind, script: &[u8]) -> Vec<u8> {
    let (own, mut rest) = script.split_first().unwrap_or((&0, &[]));
    let good = good_start(kind);
    let mut bodies: Vec<&[u8]> = if own & 1 == 0 { vec![&good] } else { Vec::new() };
    while let [high, low, tail @ ..] = rest {
        let len = usize::from(u16::from_be_bytes([*high, *low])).min(tail.len());
        let (body, tail) = tail.split_at(len);
        bodies.push(body);
        rest = tail;
    }
    kind.seal(bodies)
}

/// The first frame of a file that someone meant.
pub(crate) fn good_start(kind: FileKind) -> Vec<u8> {
    let mut bytes = Vec::new();
    match kind {
        FileKind::Replay => ReplayWriter::new(&GAME, 5, Name::new("one")).finish(&mut bytes),
        FileKind::NodeLog => {
            let config = EndpointConfig::default();
            Recorded::<Dots>::on(Time::from_millis(3), 5, config, [3; 32]).finish_log(&mut bytes);
        }
    }
    kind.unseal(&bytes)[0].to_vec()
}

/// Opens a replay, looks at it here and there, and says how many ticks it has.
///
/// # Panics
/// If something is not as it must be.
#[allow(dead_code, reason = "each fuzz target has its part")]
pub(crate) fn replay(script: &[u8], in_use: impl Fn() -> isize) -> Result<u32, ReplayError> {
    let bytes = file(FileKind::Replay, script);
    let (len, before) = (bytes.len() as isize, in_use());
    let salvaged = Replay::salvage(GAME, bytes.clone());
    let (each, beside) = REPLAY_COST;
    let cost = in_use() - before;
    assert!(cost <= each * len + beside, "{cost} bytes of memory for {len} bytes");
    let whole = Replay::open(GAME, bytes);
    let mut replay = salvaged?;
    assert_eq!(whole.is_ok(), replay.damage().is_none());
    look_at(&mut replay);
    whole.map(|replay| replay.len_ticks())
}

/// Wherever one goes to and however, the same is there.
fn look_at(replay: &mut Replay<Dots>) {
    let (first, last) = replay.ticks().into_inner();
    let step = (replay.len_ticks() / LOOKS).max(1);
    let ticks: Vec<u32> = (first..=last).step_by(step as usize).chain([last]).collect();
    let see = |replay: &mut Replay<Dots>, tick: u32| -> State {
        let state = replay.seek(tick).clone();
        assert!(state.tick <= tick && state.tick >= first);
        assert!(state.entities().iter().all(|entity| entity.conforms(GAME.schema())));
        state
    };
    let onwards: Vec<State> = ticks.iter().map(|&tick| see(replay, tick)).collect();
    let mut frame = Frame::default();
    for (&tick, state) in ticks.iter().zip(&onwards).rev() {
        assert_eq!(see(replay, tick), *state, "tick {tick}");
        replay.draw(f64::from(tick) + 0.5, &mut frame);
        assert!(frame.entities.iter().flat_map(|drawn| &drawn.fields).all(|it| it.is_finite()));
        assert!(replay.roster_at(tick).len() <= 255);
    }
    assert!(replay.events().is_sorted_by_key(|(tick, _)| *tick));
    let shown = replay.events_between(-1.0, f64::from(u32::MAX));
    assert_eq!(shown.len(), replay.events().len());
    replay.players();
}

/// Replays a log, whole and in pieces, and as far as it is good.
///
/// # Panics
/// If something is not as it must be.
#[allow(dead_code, reason = "each fuzz target has its part")]
pub(crate) fn log(script: &[u8], in_use: impl Fn() -> isize) -> Result<Verdict, LogError> {
    let bytes = file(FileKind::NodeLog, script);
    let before = in_use();
    let (whole, salvaged) = rerun(&bytes, bytes.len().max(1), |rooms| {
        let (each, beside, room) = LOG_COST;
        let cost = in_use() - before;
        let most = each * bytes.len() as isize + beside + room * rooms as isize;
        assert!(cost <= most, "{cost} bytes of memory for {} bytes", bytes.len());
    });
    let (in_pieces, _) = rerun(&bytes, 7, |_| {});
    match (&whole, &in_pieces) {
        (Ok(whole), Ok(in_pieces)) => assert_eq!(whole.digest, in_pieces.digest),
        (whole, in_pieces) => assert_eq!(whole.as_ref().err(), in_pieces.as_ref().err()),
    }
    if let (Ok(whole), Ok(salvaged)) = (&whole, &salvaged) {
        assert_eq!((whole.digest, salvaged.damage), (salvaged.digest, None));
    }
    whole
}

type Replayed = Result<Verdict, LogError>;

/// What comes of it if only a whole log is good, and if a part is good enough.
fn rerun(bytes: &[u8], piece: usize, look: impl Fn(usize)) -> (Replayed, Replayed) {
    let rules = |id: GameId| (id == GAME.id()).then_some(GAME);
    let (mut strict, mut lenient) = (
        Rerun::new(rules).speaking(backspin_classic::dialects()),
        Rerun::new(rules).speaking(backspin_classic::dialects()),
    );
    let mut refused = None;
    for piece in bytes.chunks(piece) {
        let done = strict.handle_bytes(piece);
        assert_eq!(lenient.handle_bytes(piece), done);
        if let Err(error) = done {
            refused = Some(error);
            break;
        }
    }
    let server = strict.server();
    look(server.map_or(0, |server| server.rooms().len()));
    let ticks = server.and_then(|server| server.rooms().iter().map(|room| room.tick()).max());
    let damage = match refused {
        Some(LogError::Damage(damage)) => Some(damage),
        _ => None,
    };
    let salvaged = lenient.salvage(damage);
    if let (Ok(verdict), Some(ticks)) = (&salvaged, ticks) {
        let most = (verdict.counts.timeouts + 1) * TICKS_AT_ONCE;
        assert!(u64::from(ticks) <= most, "{ticks} ticks for {:?}", verdict.counts);
    }
    (refused.map_or_else(|| strict.finish(), Err), salvaged)
}
