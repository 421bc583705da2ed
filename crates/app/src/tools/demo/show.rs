//! What the audience sees: plain lines, a table, and a picture of where the dots went.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::net::SocketAddr;

use backspin::dot::Dots;

use super::Outcome;
use super::cast::{BOTS, BotView, Dot, NAMES, ServerView};

/// The picture, in characters.
const COLUMNS: usize = 60;
const ROWS: usize = 15;

/// Prints, or keeps quiet.
pub(super) struct Show {
    loud: bool,
    addresses: [SocketAddr; 1 + BOTS],
    /// How many states each bot had a second ago.
    states: [u64; BOTS],
}

impl Show {
    pub(super) fn new(loud: bool, addresses: [SocketAddr; 1 + BOTS]) -> Self {
        Show { loud, addresses, states: [0; BOTS] }
    }

    pub(super) fn open(&self, seconds: u32) -> io::Result<()> {
        let server = self.addresses[0];
        self.say(&format!(
            "A server and two bots play dots for {seconds} s, over real UDP on this machine.\n\n\
             \x20 server  {server}  decides where every dot is, 60 times a second",
        ))
    }

    pub(super) fn introduce(&mut self, bots: &[BotView]) -> io::Result<()> {
        for (i, bot) in bots.iter().enumerate() {
            let how = match (bot.player, bot.joined_ms) {
                (Some(player), Some(ms)) => format!("is player {player}, let in after {ms:.1} ms"),
                _ => "was not let in".to_owned(),
            };
            self.say(&format!("  {:<6}  {}  {how}", NAMES[i], self.addresses[1 + i]))?;
            self.states[i] = bot.states;
        }
        let [ann, ben] = NAMES;
        self.say(&format!("\n        {ann:<30}{ben:<30}where the dots are"))?;
        let columns = "round trip          states";
        self.say(&format!("  time  {columns:<30}{columns:<30}on the server"))
    }

    pub(super) fn second(
        &mut self,
        second: u32,
        bots: &[BotView],
        server: &ServerView,
    ) -> io::Result<()> {
        let mut line = format!("{second:>4} s  ");
        for (i, bot) in bots.iter().enumerate() {
            let grade = bot.grade.as_deref().unwrap_or("-");
            let ms = bot.round_trip_ms.unwrap_or(f64::NAN);
            let states = bot.states - std::mem::replace(&mut self.states[i], bot.states);
            let cell = format!("{ms:.2} ms {grade}");
            line += &format!("{cell:<20}{:<10}", format!("{states}/s"));
        }
        self.say(&(line + &places(&server.dots, bots)))
    }

    pub(super) fn close(&self, outcome: &Outcome, steps: &BTreeSet<Dot>) -> io::Result<()> {
        self.say("\nWhere they went (small letters) and where they stand now (large ones):")?;
        self.say(&picture(steps, outcome))?;
        let Outcome { server, bots, .. } = outcome;
        let seen = |bot: &BotView| format!("\n  {:<6}  {}", bot.name, places(&bot.dots, bots));
        let sights: String = bots.iter().map(seen).collect();
        let truth = places(&server.dots, bots);
        self.say(&format!("Nobody presses a button any more:\n  server  {truth}{sights}\n"))?;
        match outcome.passed {
            true => self.say("PASS: the server and both bots agree on where everything is."),
            false => self.say(&format!("FAIL: {}.", outcome.problems.join("; "))),
        }
    }

    fn say(&self, text: &str) -> io::Result<()> {
        match self.loud {
            true => writeln!(io::stdout(), "{text}"),
            false => Ok(()),
        }
    }
}

/// Dots in words.
pub(super) fn places(dots: &[Dot], bots: &[BotView]) -> String {
    let place = |dot: &Dot| format!("{:<14}", format!("{} {},{}", name(dot, bots), dot.x, dot.y));
    match dots {
        [] => "no dots".to_owned(),
        dots => dots.iter().map(place).collect::<String>().trim_end().to_owned(),
    }
}

/// Whose dot it is: either bot may have been the first to get in.
fn name(dot: &Dot, bots: &[BotView]) -> &'static str {
    let owner = bots.iter().find(|bot| bot.player == Some(dot.player));
    owner.map_or("nobody", |bot| bot.name)
}

fn picture(steps: &BTreeSet<Dot>, outcome: &Outcome) -> String {
    let mut field = [[' '; COLUMNS]; ROWS];
    let (width, height) = Dots::FIELD;
    let scale = |at: i32, span: i32, cells: usize| {
        (at.max(0) as usize * cells / (span as usize + 1)).min(cells - 1)
    };
    let mut put = |dot: &Dot, letter| {
        field[scale(dot.y, height, ROWS)][scale(dot.x, width, COLUMNS)] = letter;
    };
    let initial = |dot: &Dot| name(dot, &outcome.bots).chars().next().unwrap_or('?');
    steps.iter().for_each(|dot| put(dot, initial(dot).to_ascii_lowercase()));
    outcome.server.dots.iter().for_each(|dot| put(dot, initial(dot)));
    let edge = format!("  +{}+", "-".repeat(COLUMNS));
    let rows = field.iter().map(|row| format!("  |{}|\n", row.iter().collect::<String>()));
    format!("{edge}\n{}{edge}\n", rows.collect::<String>())
}
