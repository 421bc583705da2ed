//! Many seeds of one match, taken together: a single run is an anecdote.

use std::fmt;

use super::target::{Bar, FIGURES, Figure, Verdict, remark};
use super::{Quality, Report, Tally};

/// Runs over the same link that differ in their seeds. Prints as a table.
#[derive(Clone, Debug)]
pub struct Pool {
    bar: Bar,
    seeds: Vec<Quality>,
    tally: Tally,
}

/// One line of a pool's table.
#[derive(Clone, Copy, Debug)]
pub struct PoolRow {
    figure: &'static Figure,
    bar: Bar,
    pooled: Quality,
    median: Quality,
    worst: Quality,
}

/// Which way a figure gets worse.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Worse {
    Larger,
    Smaller,
}

impl Pool {
    /// What stands above the rows.
    pub const HEADING: &'static str = "what                                          pooled        median         worst        target";

    /// A pool of `reports` that is held against `bar`.
    pub fn new<'a>(bar: Bar, reports: impl IntoIterator<Item = &'a Report>) -> Self {
        let mut pool = Pool { bar, seeds: Vec::new(), tally: Tally::default() };
        reports.into_iter().for_each(|report| pool.add(report));
        pool
    }

    /// Takes one run more.
    pub fn add(&mut self, report: &Report) {
        self.seeds.push(report.quality);
        self.tally += report.tally;
    }

    /// How many runs there are.
    pub fn len(&self) -> usize {
        self.seeds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.seeds.is_empty()
    }

    /// All seeds as one run: counts over counts, the slowest and the fastest playback of all.
    ///
    /// The percentiles, the recovery and nothing else are means of the seeds' own.
    pub fn pooled(&self) -> Quality {
        let extremes = self.worst();
        self.tally.fill(Quality {
            playback_rate_min: extremes.playback_rate_min,
            playback_rate_max: extremes.playback_rate_max,
            ..self.combine(|values, _| values.iter().sum::<f64>() / values.len() as f64)
        })
    }

    /// Each figure's median over the seeds; of an even number, between the two in the middle.
    pub fn median(&self) -> Quality {
        self.combine(|values, _| {
            let mid = values.len() / 2;
            match values.len() % 2 {
                0 => f64::midpoint(values[mid - 1], values[mid]),
                _ => values[mid],
            }
        })
    }

    /// Each figure's worst over the seeds: the largest, for the slowest playback the smallest.
    pub fn worst(&self) -> Quality {
        self.combine(|values, worse| match worse {
            Worse::Larger => values[values.len() - 1],
            Worse::Smaller => values[0],
        })
    }

    /// The table, line by line.
    pub fn rows(&self) -> impl Iterator<Item = PoolRow> + use<> {
        let (pooled, median, worst) = (self.pooled(), self.median(), self.worst());
        let bar = self.bar;
        FIGURES.iter().map(move |figure| PoolRow { figure, bar, pooled, median, worst })
    }

    /// Makes one figure of the seeds' sorted ones, for every figure. Seeds without it are left out.
    fn combine(&self, pick: impl Fn(&[f64], Worse) -> f64) -> Quality {
        let towards = |worse, figure: fn(&Quality) -> Option<f64>| {
            let mut values: Vec<f64> = self.seeds.iter().filter_map(figure).collect();
            values.sort_unstable_by(f64::total_cmp);
            (!values.is_empty()).then(|| pick(&values, worse))
        };
        let of = |figure| towards(Worse::Larger, figure);
        Quality {
            own_input_ms_p99: of(|seed| seed.own_input_ms_p99),
            ticks_without_input_pct: of(|seed| seed.ticks_without_input_pct),
            lead_ms_p50: of(|seed| seed.lead_ms_p50),
            lead_ms_p95: of(|seed| seed.lead_ms_p95),
            ack_ms_p50: of(|seed| seed.ack_ms_p50),
            ack_ms_p99: of(|seed| seed.ack_ms_p99),
            draw_delay_ms_p50: of(|seed| seed.draw_delay_ms_p50),
            draw_delay_ms_p95: of(|seed| seed.draw_delay_ms_p95),
            starved_frames_pct: of(|seed| seed.starved_frames_pct),
            corrections_over_1px_pct: of(|seed| seed.corrections_over_1px_pct),
            visible_jump_pct: of(|seed| seed.visible_jump_pct),
            contact_disagreement_pct: of(|seed| seed.contact_disagreement_pct),
            contacts: of(|seed| Some(seed.contacts as f64)).map_or(0, |contacts| contacts as u64),
            recovery_s: of(|seed| seed.recovery_s),
            playback_rate_min: towards(Worse::Smaller, |seed| seed.playback_rate_min),
            playback_rate_max: of(|seed| seed.playback_rate_max),
            clock_error_ms_p99: of(|seed| seed.clock_error_ms_p99),
            entities_mean: of(|seed| seed.entities_mean),
            bytes_per_s_down: of(|seed| seed.bytes_per_s_down),
            bytes_per_s_up: of(|seed| seed.bytes_per_s_up),
        }
    }
}

impl PoolRow {
    /// How the seeds stand to the figure's target.
    pub fn verdict(&self) -> Verdict {
        self.figure.judge_seeds(self.bar, &self.pooled, &self.median, &self.worst)
    }
}

impl fmt::Display for PoolRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure = self.figure;
        let [pooled, median, worst] =
            [self.pooled, self.median, self.worst].map(|quality| figure.cell(figure.of(&quality)));
        let target = figure.target_cell(self.bar, &self.pooled);
        let remark = remark(self.verdict(), figure.note(self.bar));
        let line = format!(
            "{:<38} {pooled:>13} {median:>13} {worst:>13} {target:>13}{remark}",
            figure.what
        );
        f.write_str(line.trim_end())
    }
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", Pool::HEADING)?;
        self.rows().try_for_each(|row| writeln!(f, "{row}"))
    }
}
