//! `backspin`: the games, the server and the tools, in one binary.

mod desktop;
mod face;
mod folders;
mod games;
mod matching;
mod netlog;
mod newest;
mod play;
mod results;
mod screen;
mod script;
mod seed;
mod serve;
mod spool;
mod terminal;
mod tools;
mod utc;
mod web;

use std::error::Error;
use std::io;
use std::process::ExitCode;

use backspin::wire::Name;
use backspin::wire::native::Token;
use clap::{CommandFactory, Parser, Subcommand};

use face::Ui;
use games::command::named;
use screen::{Options, Program, Shelf};
use tools::{demo, inspect, lag, load, manual, replay, sim};

/// Multiplayer games over UDP, with the tools around them.
///
/// Without a command, the menu opens: in a window if there is a display, otherwise in the terminal. Exit
/// codes: 0 done, 1 failed (stderr says why), 2 wrong usage.
#[derive(Parser)]
#[command(name = "backspin", version, args_conflicts_with_subcommands = true)]
struct Cli {
    /// Where to show the menu [default: desktop if there is a display, otherwise terminal]
    #[arg(long, value_name = "UI", value_parser = named([Ui::Desktop, Ui::Terminal], Ui::name))]
    ui: Option<Ui>,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    #[command(flatten)]
    Game(games::GameCommand),
    Serve(serve::Args),
    Match(matching::Args),
    Inspect(inspect::Args),
    Lag(lag::Args),
    Load(load::Args),
    Sim(sim::Args),
    Replay(replay::Args),
    Results(results::Args),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let Some(command) = cli.command else { return report(menu(cli.ui)) };
    report(match command {
        Command::Demo(args) => demo::run(&args),
        Command::Game(command) => command.run(),
        Command::Serve(args) => serve::run(&args),
        Command::Match(args) => matching::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Lag(args) => lag::run(&args),
        Command::Load(args) => load::run(&args),
        Command::Sim(args) => sim::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Results(args) => results::run(&args),
        Command::Completions(args) => manual::completions(&args, Cli::command()),
        Command::Man(args) => manual::man(&args, Cli::command()),
    })
}

/// The menu, where there is a display or a terminal to show it in.
fn menu(ui: Option<Ui>) -> Result<(), Box<dyn Error>> {
    let Some(ui) = ui.or_else(Ui::usual) else {
        return Err(
            "there is no display and no terminal to show the menu in; \"backspin --help\" \
                    lists what works without one"
                .into(),
        );
    };
    face::show(Program::new(Shelf::usual(), Options::default()), ui, None)
}

fn report(done: Result<(), Box<dyn Error>>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has closed it, as `head` does.
        Err(error) if is_closed_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            spool::say(spool::stderr(), &format!("backspin: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// A name on the command line.
fn parse_name(text: &str) -> Result<Name, String> {
    match text.len() {
        0..=Name::MAX => Ok(Name::new(text)),
        len => Err(format!("a name has at most {} bytes, this one has {len}", Name::MAX)),
    }
}

/// A server's token on the command line.
fn parse_token(text: &str) -> Result<String, String> {
    match text.len() {
        0..=Token::MAX => Ok(text.to_owned()),
        len => Err(format!("a token has at most {} bytes, this one has {len}", Token::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_801_bytes_is_refused_with_a_sentence() {
        assert_eq!(parse_token(&"x".repeat(800)), Ok("x".repeat(800)));
        let told = parse_token(&"x".repeat(801)).unwrap_err();
        assert_eq!(told, "a token has at most 800 bytes, this one has 801");
    }

    #[test]
    fn the_command_line_is_in_order() {
        Cli::command().debug_assert();
    }
}
