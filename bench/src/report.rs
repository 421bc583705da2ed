//! What came out: medians, as a table, as JSON, and as the page in `docs/`.

use std::fmt::Write;

use serde::Serialize;

use crate::contender::Contender;
use crate::run::{Figures, Outcome};
use crate::{Args, machine};

/// All of a run.
#[derive(Serialize)]
pub(crate) struct Report {
    date: String,
    machine: String,
    clients: usize,
    crowd: usize,
    seconds: f64,
    repeat: usize,
    own_network: bool,
    pub(crate) rows: Vec<Row>,
    outcomes: Vec<Outcome>,
}

/// One contender: medians over the repetitions. "Ratio" is to raw sendto of the same repetition.
#[derive(Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) contender: Contender,
    pub(crate) cpu_ns: f64,
    pub(crate) cpu_ratio: f64,
    /// Half of the repetitions lie between these.
    cpu_quartiles: [f64; 2],
    user_pct: f64,
    pub(crate) wire_ratio: f64,
    wire_bytes: f64,
    pub(crate) datagrams: f64,
    /// The cost per client in the crowd over that among fewer; `None` if not all was delivered.
    crowd_ratio: Option<f64>,
    /// What each client more takes from the heap.
    memory_bytes: Option<f64>,
    snapshots_per_client_s: f64,
    lost_pct: f64,
    inputs_per_tick: f64,
    delivers: bool,
}

/// What ours must reach.
pub(crate) const TARGET_CPU: f64 = 1.00;

impl Report {
    pub(crate) fn new(args: &Args, outcomes: Vec<Outcome>, own_network: bool) -> Self {
        let of = |contender, clients| {
            let fits = move |outcome: &&Outcome| {
                outcome.job.contender == contender && outcome.job.clients == clients
            };
            outcomes.iter().filter(fits).copied().collect::<Vec<_>>()
        };
        let raw = of(Contender::Sendto, args.clients);
        let row = |contender| {
            let few = of(contender, args.clients);
            let many = of(contender, args.crowd);
            Row::new(contender, &few, &raw, &many)
        };
        let rows = Contender::ALL.into_iter().filter_map(row).collect();
        Report {
            date: args.date.clone(),
            machine: machine::name(),
            clients: args.clients,
            crowd: args.crowd,
            seconds: args.seconds,
            repeat: args.repeat,
            own_network,
            rows,
            outcomes,
        }
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// A line about how it was measured.
    pub(crate) fn heading(&self) -> String {
        let Report { date, machine, clients, repeat, seconds, .. } = self;
        let date = if date.is_empty() { String::new() } else { format!("{date}, ") };
        format!("{date}{machine}; {clients} clients, median of {repeat} times {seconds} s")
    }

    pub(crate) fn table(&self) -> String {
        let mut text = format!("{}\n\n", self.heading());
        let head = ["", "CPU", "user", "wire", "datagrams", "at", "memory", "snapshots", "lost"];
        let under = [
            "",
            "to sendto",
            "share",
            "to sendto",
            "per tick",
            &self.crowd.to_string(),
            "per client",
            "per s",
            "",
        ];
        for line in [head, under] {
            write_line(&mut text, &line.map(str::to_owned));
        }
        for row in &self.rows {
            write_line(&mut text, &row.cells());
        }
        text
    }

    /// The page in `docs/`.
    pub(crate) fn page(&self) -> String {
        let Report { clients, crowd, repeat, seconds, .. } = self;
        let mut text = format!(
            "# Side by side\n\n{}. Made by\n\n```\ncargo run --release --manifest-path \
             bench/Cargo.toml -- --clients {clients} --crowd {crowd} --seconds {seconds} --repeat \
             {repeat} --write docs\n```\n\n![CPU time of the server](bench.svg)\n\n",
            self.heading()
        );
        text += "| | server CPU per client and tick | to raw `sendto` (half of the repetitions) | user share | wire bytes to \
                 raw | datagrams per client and tick | ";
        let _ = writeln!(
            text,
            "cost per client at {crowd} to {clients} | memory per client | snapshots per client \
             and s | lost |"
        );
        text += "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
        for row in &self.rows {
            let cells = row.cells();
            let [low, high] = row.cpu_quartiles;
            let _ = write!(text, "| {} | {:.2} us", cells[0], row.cpu_ns / 1000.0);
            let _ = write!(text, " | {} ({low:.2} to {high:.2})", cells[1]);
            for cell in &cells[2..] {
                let _ = write!(text, " | {cell}");
            }
            text += " |\n";
        }
        text += include_str!("page.md");
        text
    }
}

impl Row {
    /// Where the contender was measured.
    fn new(
        contender: Contender,
        few: &[Outcome],
        raw: &[Outcome],
        many: &[Outcome],
    ) -> Option<Self> {
        if few.is_empty() {
            return None;
        }
        let of = |figure: &dyn Fn(&Figures) -> f64| {
            median(few.iter().map(|outcome| figure(&outcome.figures)))
        };
        let ratios = |one: &[Outcome], other: &[Outcome], figure: &dyn Fn(&Figures) -> f64| {
            let ratio = |one: &Outcome| {
                let same = |other: &&Outcome| other.repetition == one.repetition;
                let other = other.iter().find(same)?;
                Some(figure(&one.figures) / figure(&other.figures))
            };
            one.iter().filter_map(ratio).collect::<Vec<_>>()
        };
        let ratio = |one: &[Outcome], other: &[Outcome], figure: &dyn Fn(&Figures) -> f64| {
            median(ratios(one, other, figure).into_iter())
        };
        let delivers = |outcomes: &[Outcome]| {
            let good = |outcome: &&Outcome| outcome.figures.delivers(outcome.job.clients);
            2 * outcomes.iter().filter(good).count() > outcomes.len()
        };
        let heap = |outcomes: &[Outcome]| {
            median(outcomes.iter().map(|outcome| outcome.figures.heap_bytes as f64))
        };
        let more = many.first().map(|many| many.job.clients as f64 - few[0].job.clients as f64);
        let cpu = |figures: &Figures| figures.cpu_ns_per_tick;
        Some(Row {
            contender,
            cpu_ns: of(&cpu),
            cpu_ratio: ratio(few, raw, &cpu),
            cpu_quartiles: [0.25, 0.75].map(|part| quantile(ratios(few, raw, &cpu), part)),
            user_pct: of(&|figures| figures.user_pct),
            wire_ratio: ratio(few, raw, &|figures| figures.wire_bytes_per_tick),
            wire_bytes: of(&|figures| figures.wire_bytes_per_tick),
            datagrams: of(&|figures| figures.datagrams_per_tick),
            crowd_ratio: (delivers(many) && delivers(few)).then(|| ratio(many, few, &cpu)),
            memory_bytes: more
                .filter(|_| many.iter().all(|many| many.figures.alive == many.job.clients))
                .map(|more| (heap(many) - heap(few)) / more),
            snapshots_per_client_s: of(&|figures| figures.snapshots_per_client_s),
            lost_pct: of(&|figures| figures.lost_pct),
            inputs_per_tick: of(&|figures| figures.inputs_per_tick),
            delivers: delivers(few),
        })
    }

    fn cells(&self) -> [String; 9] {
        // Without a crowd neither is known.
        let none = if self.memory_bytes.is_some() { "lossy" } else { "-" };
        let crowd = self.crowd_ratio.map_or(none.to_owned(), |ratio| format!("{ratio:.2}"));
        let memory = |bytes: f64| format!("{:.1} kB", bytes / 1000.0);
        [
            self.contender.to_string(),
            format!("{:.2}", self.cpu_ratio),
            format!("{:.1} %", self.user_pct),
            format!("{:.2}", self.wire_ratio),
            format!("{:.2}", self.datagrams),
            crowd,
            self.memory_bytes.map_or("-".to_owned(), memory),
            format!("{:.1}", self.snapshots_per_client_s),
            format!("{:.2} %", self.lost_pct),
        ]
    }
}

fn write_line(text: &mut String, cells: &[String; 9]) {
    let [first, rest @ ..] = cells;
    let _ = write!(text, "{first:<13}");
    for cell in rest {
        let _ = write!(text, "{cell:>12}");
    }
    text.push('\n');
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    quantile(numbers.collect(), 0.5)
}

/// What this part of the numbers does not exceed; between two of them, in proportion.
pub(crate) fn quantile(mut numbers: Vec<f64>, part: f64) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let Some(last) = numbers.len().checked_sub(1) else { return f64::NAN };
    let at = part * last as f64;
    let (below, above) = (numbers[at.floor() as usize], numbers[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_or_between_the_two() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
        assert!(median([].into_iter()).is_nan());
    }

    #[test]
    fn quartiles_have_a_quarter_on_their_far_side() {
        let numbers = || vec![5.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!([0.25, 0.75].map(|part| quantile(numbers(), part)), [2.0, 4.0]);
        assert_eq!(quantile(vec![1.0, 2.0], 0.25), 1.25);
        assert_eq!(quantile(vec![7.0], 0.75), 7.0);
    }
}
