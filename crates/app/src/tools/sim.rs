//! `backspin sim`: a match over a simulated link, measured.

use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use backspin::dot::Dots;
use backspin::sim::{Jitter, LinkConfig, Loss, Preset, Quality, Reorder, Report, measure};
use clap::Parser;
use serde::Serialize;

/// Play a match between two bots over a simulated link, and measure it.
///
/// Nothing is sent anywhere: time is simulated too, and the same seed gives the same digest on
/// every machine.
#[derive(Parser)]
#[command(after_help = "\
Examples:
  backspin sim --preset reference
  backspin sim --rtt-ms 100 --jitter-ms 20 --loss 5 --burst 3 --seed 7 --seconds 120
  backspin sim --preset mobile --json")]
pub(crate) struct Args {
    /// What is played: dots, the built-in game
    #[arg(long, default_value = "dots", value_parser = ["dots"])]
    game: String,
    /// A named link: lan, wifi, broadband, reference, transatlantic, mobile or awful
    #[arg(long, default_value = "reference")]
    preset: Preset,
    /// The round trip, half of it each way
    #[arg(long, value_name = "MS")]
    rtt_ms: Option<u64>,
    /// 0 to MS more for each datagram
    #[arg(long, value_name = "MS")]
    jitter_ms: Option<u64>,
    /// Datagrams lost each way
    #[arg(long, value_name = "PCT")]
    loss: Option<f64>,
    /// How many are lost in a row, on average
    #[arg(long, value_name = "LEN")]
    burst: Option<f64>,
    /// Datagrams that come twice
    #[arg(long, value_name = "PCT")]
    duplicate: Option<f64>,
    /// Datagrams held back until later ones have passed
    #[arg(long, value_name = "PCT")]
    reorder: Option<f64>,
    /// Everything that is left to chance follows from it
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How long the match is, after two seconds of joining
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json<'a> {
    game: &'a str,
    seed: u64,
    seconds: u32,
    link: LinkJson,
    digest: String,
    quality: Quality,
}

/// The link in the words of the command line.
#[derive(Serialize)]
struct LinkJson {
    rtt_ms: f64,
    jitter_ms: f64,
    loss_pct: f64,
    burst: f64,
    duplicate_pct: f64,
    reorder_pct: f64,
}

pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let link = args.link();
    link.check()?;
    let report = measure(Dots, link, args.seed, args.seconds);
    let mut out = io::stdout().lock();
    if args.json {
        let json = Json {
            game: &args.game,
            seed: args.seed,
            seconds: args.seconds,
            link: LinkJson::new(&link),
            digest: report.digest.to_string(),
            quality: report.quality,
        };
        writeln!(out, "{}", serde_json::to_string(&json)?)?;
    } else {
        print(&mut out, args, &link, &report)?;
    }
    Ok(())
}

impl Args {
    fn link(&self) -> LinkConfig {
        let mut link = self.preset.config();
        if let Some(ms) = self.rtt_ms {
            link = link.with_rtt(Duration::from_millis(ms));
        }
        if let Some(ms) = self.jitter_ms {
            link.jitter = Jitter { span: Duration::from_millis(ms), ..link.jitter };
        }
        let share = |percent: f64| percent / 100.0;
        if let Some(percent) = self.loss {
            link.loss = Loss { probability: share(percent), ..link.loss };
        }
        if let Some(burst_len) = self.burst {
            link.loss = Loss { burst_len, ..link.loss };
        }
        if let Some(percent) = self.duplicate {
            link.duplicate_probability = share(percent);
        }
        if let Some(percent) = self.reorder {
            link.reorder = Reorder::often(share(percent));
        }
        link
    }
}

impl LinkJson {
    fn new(link: &LinkConfig) -> Self {
        let ms = |span: Duration| span.as_secs_f64() * 1e3;
        LinkJson {
            rtt_ms: ms(link.delay) * 2.0,
            jitter_ms: ms(link.jitter.span),
            loss_pct: link.loss.probability * 100.0,
            burst: link.loss.burst_len,
            duplicate_pct: link.duplicate_probability * 100.0,
            reorder_pct: link.reorder.probability * 100.0,
        }
    }
}

/// One line of the table: what, its figure, the target and whether it is kept.
struct Row {
    what: &'static str,
    value: Option<f64>,
    unit: &'static str,
    at_most: Option<f64>,
}

fn rows(quality: &Quality) -> Vec<Row> {
    let row = |what, value, unit, at_most| Row { what, value, unit, at_most };
    vec![
        row("own input to own screen", None, "ms", Some(33.4)),
        row("server ticks without a real input", None, "%", Some(0.1)),
        row("client lead over the server, median", quality.lead_ms_p50, "ms", Some(105.0)),
        row("client lead over the server, p95", quality.lead_ms_p95, "ms", None),
        row("input to acknowledgement, median", quality.ack_ms_p50, "ms", Some(168.0)),
        row("input to acknowledgement, p99", quality.ack_ms_p99, "ms", Some(195.0)),
        row("drawing delay of others", None, "ms", Some(54.0)),
        row("starved frames", None, "%", Some(0.3)),
        row("own position corrected by > 1 px", None, "%", Some(0.05)),
        row("visible jumps", None, "%", Some(0.05)),
        row("contacts drawn otherwise than judged", None, "%", Some(1.0)),
        row("clock error, p99", None, "ms", Some(8.4)),
        row("bytes a second down", quality.bytes_per_s_down, "B/s", None),
        row("bytes a second up", quality.bytes_per_s_up, "B/s", Some(2_000.0)),
    ]
}

fn print(out: &mut impl Write, args: &Args, link: &LinkConfig, report: &Report) -> io::Result<()> {
    let json = LinkJson::new(link);
    writeln!(
        out,
        "{}, {} s over a link of {} ms round trip, {} ms jitter, {} % loss in bursts of {}, seed {}",
        args.game, args.seconds, json.rtt_ms, json.jitter_ms, json.loss_pct, json.burst, args.seed
    )?;
    writeln!(out, "\n{:<38} {:>12} {:>12}", "what", "measured", "target")?;
    for Row { what, value, unit, at_most } in rows(&report.quality) {
        let measured = value.map_or("not yet".to_owned(), |value| format!("{value:.1} {unit}"));
        let target = at_most.map_or(String::new(), |most| format!("<= {most} {unit}"));
        let verdict = match (value, at_most) {
            (Some(value), Some(most)) if value > most => "  short of it",
            _ => "",
        };
        writeln!(out, "{what:<38} {measured:>12} {target:>12}{verdict}")?;
    }
    writeln!(out, "\ndigest {}", report.digest)
}
