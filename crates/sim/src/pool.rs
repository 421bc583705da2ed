//! Many seeds of one match, taken together: a single run is an anecdote.

use std::fmt;

use super::kinds::{ContactKinds, KindRow};
use super::law::Bar;
use super::share::Share;
use super::target::{FIGURES, Figure, Rule, Seeds, Target, Verdict, WORST_OF, remark};
use super::{Quality, Report, Tally};

/// Runs over the same link that differ in their seeds. Prints as a table.
#[derive(Clone, Debug)]
pub struct Pool {
    bar: Bar,
    seeds: Vec<Quality>,
    tally: Tally,
    kinds: ContactKinds,
}

/// One line of a pool's table.
#[derive(Clone, Copy, Debug)]
pub struct PoolRow {
    figure: &'static Figure,
    bar: Bar,
    seeds: Seeds,
}

/// Which way a figure gets worse.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Worse {
    Larger,
    Smaller,
}

impl Pool {
    /// What stands above the rows.
    pub const HEADING: &'static str = "what                                   \
        \x20      pooled        median         worst        target";

    /// A pool of `reports` that is held against `bar`.
    pub fn new<'a>(bar: Bar, reports: impl IntoIterator<Item = &'a Report>) -> Self {
        let mut pool = Pool {
            bar,
            seeds: Vec::new(),
            tally: Tally::default(),
            kinds: ContactKinds::default(),
        };
        reports.into_iter().for_each(|report| pool.add(report));
        pool
    }

    /// Takes one run more.
    pub fn add(&mut self, report: &Report) {
        self.seeds.push(report.quality);
        self.tally += report.tally;
        self.kinds += &report.kinds;
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
    /// Percentiles and the recovery cannot be taken together like that: they are the means of the
    /// seeds' own.
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
        self.combine(|values, worse| {
            values[if worse == Worse::Larger { values.len() - 1 } else { 0 }]
        })
    }

    /// The same, but one seed in twenty is left out at that end.
    fn worst_but_few(&self) -> Quality {
        self.combine(|values, worse| {
            let few = values.len() / WORST_OF;
            values[if worse == Worse::Larger { values.len() - 1 - few } else { few }]
        })
    }

    /// The table, line by line.
    pub fn rows(&self) -> impl Iterator<Item = PoolRow> + use<> {
        let seeds = Seeds {
            count: self.len(),
            tally: self.tally,
            pooled: self.pooled(),
            median: self.median(),
            worst: self.worst(),
            worst_but_few: self.worst_but_few(),
        };
        let bar = self.bar.with_foresight(self.kinds.sum().foresight);
        FIGURES.iter().map(move |figure| PoolRow { figure, bar, seeds })
    }

    /// The contacts of all seeds, by kind.
    pub fn kinds(&self) -> &ContactKinds {
        &self.kinds
    }

    /// The same, line by line; [`ContactKinds::HEADING`] stands above them.
    pub fn kind_rows(&self) -> impl Iterator<Item = KindRow> {
        self.kinds.rows(self.bar, self.pooled())
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
            past_target_frames_p99: of(|seed| seed.past_target_frames_p99),
            past_target_px_p99: of(|seed| seed.past_target_px_p99),
            contact_to_burst_ms_p50: of(|seed| seed.contact_to_burst_ms_p50),
            recovery_s: of(|seed| seed.recovery_s),
            lead_back_s: of(|seed| seed.lead_back_s),
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
    /// What is judged first: all seeds together, their median or the worst, as the figure's rule
    /// says; and what it must reach.
    pub fn judged(&self) -> (Option<f64>, Option<Target>) {
        let quality = match self.figure.rule {
            Rule::Pooled => &self.seeds.pooled,
            Rule::Median | Rule::Tail => &self.seeds.median,
            Rule::Worst => &self.seeds.worst,
        };
        (self.figure.of(quality), self.figure.target(self.bar, quality))
    }

    /// Of a percentage: between which the true one lies, in 95 of 100 cases.
    pub fn bounds_pct(&self) -> Option<(f64, f64)> {
        self.figure.bounds_pct(&self.seeds.tally)
    }

    /// What a percentage was counted from, and what it may be.
    pub fn share(&self) -> Option<Share> {
        self.figure.share(self.bar, &self.seeds)
    }

    /// How the seeds stand to the figure's target.
    pub fn verdict(&self) -> Verdict {
        self.figure.judge_seeds(self.bar, &self.seeds)
    }
}

impl fmt::Display for PoolRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure = self.figure;
        let Seeds { pooled: all, median, worst, .. } = &self.seeds;
        let [pooled, median, worst] =
            [all, median, worst].map(|quality| figure.cell(figure.of(quality)));
        let target = figure.target_cell(self.bar, all);
        let verdict = self.verdict();
        let bounds = self.bounds_pct().filter(|_| verdict == Verdict::Undecided);
        let bounds = bounds.map(|(least, most)| format!("{least:.3} to {most:.3} %"));
        let notes = [bounds.unwrap_or_default(), figure.note(self.bar, all)];
        let notes: Vec<String> = notes.into_iter().filter(|note| !note.is_empty()).collect();
        let remark = remark(verdict, &notes.join(", "));
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
        self.rows().try_for_each(|row| writeln!(f, "{row}"))?;
        if self.kinds.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n{}", ContactKinds::HEADING)?;
        self.kind_rows().try_for_each(|row| writeln!(f, "{row}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Corrections, Digest};

    /// A run with so many starved frames, and a lead where there is one.
    fn run(starved_frames: u64, frames: u64, lead_ms: Option<f64>, rate: (f64, f64)) -> Report {
        let tally = Tally {
            starved_frames: starved_frames.into(),
            frames,
            player_seconds: 10,
            bytes_up: frames,
            ..Tally::default()
        };
        let quality = tally.fill(Quality {
            lead_ms_p50: lead_ms,
            playback_rate_min: Some(rate.0),
            playback_rate_max: Some(rate.1),
            ..Quality::default()
        });
        let corrections = Corrections::default();
        let (digest, kinds) = (Digest(0), ContactKinds::default());
        Report { digest, quality, corrections, tally, bar: Bar::reference(), kinds }
    }

    fn pool(runs: &[Report]) -> Pool {
        Pool::new(Bar::reference(), runs)
    }

    #[test]
    fn percentages_are_pooled_by_what_they_count() {
        // The mean of the percentages would be 50 %.
        let pool = pool(&[run(100, 100, None, (1.0, 1.0)), run(0, 900, None, (1.0, 1.0))]);
        assert_eq!(pool.pooled().starved_frames_pct, Some(10.0));
        assert_eq!(pool.median().starved_frames_pct, Some(50.0));
        assert_eq!(pool.worst().starved_frames_pct, Some(100.0));
        assert_eq!(pool.pooled().bytes_per_s_up, Some(50.0));
        assert_eq!(pool.len(), 2);
    }

    #[test]
    fn times_are_means_medians_and_the_largest() {
        let leads = [100.0, 130.0, 101.0, 105.0];
        let runs = leads.map(|ms| run(0, 1, Some(ms), (1.0, 1.0)));
        let (three, four) = (pool(&runs[..3]), pool(&runs));
        assert_eq!(four.pooled().lead_ms_p50, Some(109.0));
        assert_eq!(three.median().lead_ms_p50, Some(101.0));
        assert_eq!(four.median().lead_ms_p50, Some(103.0));
        assert_eq!(four.worst().lead_ms_p50, Some(130.0));
    }

    #[test]
    fn of_twenty_seeds_one_may_be_far_off_and_of_nineteen_none() {
        let verdict = |count: usize| {
            let lead = |which| if which == 0 { 200.0 } else { 100.0 };
            let runs: Vec<_> =
                (0..count).map(|which| run(0, 1, Some(lead(which)), (1.0, 1.0))).collect();
            let pool = pool(&runs);
            let mut rows = FIGURES.iter().zip(pool.rows());
            let is_lead =
                |(figure, _): &(&Figure, PoolRow)| figure.what.ends_with("server, median");
            rows.find(is_lead).unwrap().1.verdict()
        };
        assert_eq!([verdict(19), verdict(20)], [Verdict::Short, Verdict::Reached]);
    }

    #[test]
    fn the_slowest_playback_is_the_worst_of_the_slow_and_the_fastest_of_the_fast() {
        let pool = pool(&[run(0, 1, None, (0.97, 1.01)), run(0, 1, None, (0.99, 1.04))]);
        for quality in [pool.worst(), pool.pooled()] {
            assert_eq!(quality.playback_rate_min, Some(0.97));
            assert_eq!(quality.playback_rate_max, Some(1.04));
        }
        assert_eq!(pool.median().playback_rate_min, Some(0.98));
    }

    #[test]
    fn seeds_without_a_figure_are_left_out_of_it() {
        let pool = pool(&[run(0, 1, None, (1.0, 1.0)), run(0, 1, Some(80.0), (1.0, 1.0))]);
        assert_eq!(pool.median().lead_ms_p50, Some(80.0));
        assert_eq!(pool.median().recovery_s, None);
    }

    #[test]
    fn an_empty_pool_has_no_figures() {
        let empty = pool(&[]);
        assert!(empty.is_empty());
        assert_eq!(empty.pooled(), Quality::default());
        assert_eq!(empty.median(), Quality::default());
        assert_eq!(empty.worst(), Quality::default());
    }

    #[test]
    fn a_row_tells_the_three_figures_the_target_and_the_verdict() {
        let rate = (1.0, 1.0);
        let runs = [run(10, 10_000, Some(100.0), rate), run(0, 90_000, Some(127.0), rate)];
        let lines: Vec<String> = pool(&runs).rows().map(|row| row.to_string()).collect();
        let line = |what: &str| lines.iter().find(|line| line.starts_with(what)).unwrap();
        assert_eq!(
            line("starved frames"),
            "starved frames                               0.010 %       0.050 %       0.100 %      \
             <= 0.3 %  ok"
        );
        let few: Vec<String> =
            pool(&[run(1, 300, None, rate)]).rows().map(|row| row.to_string()).collect();
        assert!(few.iter().any(|line| line.ends_with("<= 0.3 %  not decided, 0.001 to 2.668 %")));
        assert!(line("client lead over the server, median").ends_with("<= 107.3 ms  not decided"));
        assert!(line("recovery").ends_with("<= 2 s"));
        let columns = Pool::HEADING.find("target").unwrap() + "target".len();
        assert_eq!(line("starved frames").find("  ok").unwrap(), columns);
    }
}
