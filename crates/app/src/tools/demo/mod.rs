//! `backspin demo`: a server and two bots over real UDP, on this machine and within seconds.
//!
//! `cast` is who plays, each on a thread of its own; `show` is what is seen of it; here is the
//! course of the evening and the verdict.

mod cast;
mod show;

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use cast::{Act, BOTS, BotView, Cast, Dot, ServerView, Stage};
use serde::Serialize;
use show::Show;

/// Watch the netcode at work: a server and two bots over real UDP, on this machine.
///
/// The bots play the built-in game of dots for a few seconds. A line each second tells what they
/// measure; at the end they stand still, and everyone must agree on where every dot is.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How long they play
    #[arg(long, value_name = "S", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,

    /// Print one JSON object at the end, and nothing else
    #[arg(long)]
    json: bool,
}

/// How often the stage is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long the bots may take to get in, and everyone to agree when nothing moves any more.
const JOIN_WITHIN: Duration = Duration::from_secs(6);
const AGREE_WITHIN: Duration = Duration::from_secs(2);

/// So many ticks without a move are a standstill: every input has arrived by then.
const STILL_TICKS: u32 = 15;

/// Of the 60 states a second that are sent, a machine that is busy otherwise may lose some.
const STATES_PER_S: u64 = 30;

/// What was seen, and what it comes to.
#[derive(Serialize)]
struct Outcome {
    game: &'static str,
    seconds: u32,
    passed: bool,
    /// What fell short, in sentences.
    problems: Vec<String>,
    server: ServerView,
    bots: Vec<BotView>,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let cast = Cast::assemble()?;
    let (stage, addresses) = (Stage::default(), cast.addresses);
    let outcome = thread::scope(|scope| {
        let threads = cast.enter(scope, &stage);
        let outcome = perform(args, &stage, &mut Show::new(!args.json, addresses));
        stage.set(Act::Over);
        for thread in threads {
            thread.join().map_err(|_| "a thread of the demo has panicked")??;
        }
        outcome.map_err(Box::<dyn Error>::from)
    })?;
    if args.json {
        writeln!(io::stdout(), "{}", serde_json::to_string(&outcome)?)?;
    }
    match outcome.passed {
        true => Ok(()),
        false => Err(format!("the demo fell short: {}", outcome.problems.join("; ")).into()),
    }
}

/// From the first bow to the verdict.
fn perform(args: &Args, stage: &Stage, show: &mut Show) -> io::Result<Outcome> {
    show.open(args.seconds)?;
    wait_until(JOIN_WITHIN, || stage.bots().iter().all(BotView::is_settled));
    show.introduce(&stage.bots())?;
    let mut steps = BTreeSet::new();
    let (began, before) = (Instant::now(), stage.bots());
    if before.iter().all(|bot| bot.player.is_some()) {
        for second in 1..=args.seconds {
            let end = Duration::from_secs(second.into());
            while began.elapsed() < end {
                steps.extend(stage.server().dots);
                thread::sleep(LOOK_EVERY.min(end.saturating_sub(began.elapsed())));
            }
            show.second(second, &stage.bots(), &stage.server())?;
        }
    }
    let played = stage.bots();
    stage.set(Act::Still);
    wait_until(AGREE_WITHIN, || agree(&stage.server(), &stage.bots()));
    let (server, bots) = (stage.server(), stage.bots());
    let mut problems = Vec::new();
    for i in 0..BOTS {
        let states = played[i].states - before[i].states;
        problems.extend(judge(&bots, i, &server, &steps, states / u64::from(args.seconds)));
    }
    let passed = problems.is_empty();
    let (game, seconds) = ("dots", args.seconds);
    let outcome = Outcome { game, seconds, passed, problems, server, bots: bots.into() };
    show.close(&outcome, &steps)?;
    Ok(outcome)
}

/// Whether nothing moves, and everyone has seen so.
fn agree(server: &ServerView, bots: &[BotView]) -> bool {
    let still = server.tick - server.moved_at >= STILL_TICKS;
    let seen = |bot: &BotView| bot.tick >= server.moved_at && bot.dots == server.dots;
    still && server.dots.len() == BOTS && bots.iter().all(seen)
}

/// What fell short for one bot.
fn judge(
    bots: &[BotView],
    which: usize,
    server: &ServerView,
    steps: &BTreeSet<Dot>,
    states_per_s: u64,
) -> Vec<String> {
    let bot = &bots[which];
    let name = cast::NAMES[which];
    let Some(player) = bot.player else {
        let why = bot.ended.as_deref().unwrap_or("nobody answered");
        return vec![format!("{name} was not let in: {why}")];
    };
    let mut problems = Vec::new();
    if let Some(why) = &bot.ended {
        problems.push(format!("{name} was thrown out: {why}"));
    }
    if states_per_s < STATES_PER_S {
        problems.push(format!("{name} got {states_per_s} states a second, not {STATES_PER_S}"));
    }
    if steps.iter().filter(|dot| dot.player == player).count() < 2 {
        problems.push(format!("the dot of {name} never moved"));
    }
    if bot.dots != server.dots {
        let [theirs, ours] = [&bot.dots, &server.dots].map(|dots| show::places(dots, bots));
        problems.push(format!("{name} sees {theirs}, but the server has {ours}"));
    }
    problems
}

/// Looks again and again until it is so; not for longer than `span`.
fn wait_until(span: Duration, done: impl Fn() -> bool) {
    let limit = Instant::now() + span;
    while !done() && Instant::now() < limit {
        thread::sleep(LOOK_EVERY);
    }
}
