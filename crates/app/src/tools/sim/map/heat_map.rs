//! The map as an SVG: for each figure a heat map over round trip and jitter, side by side for every
//! loss and frame rate.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use backspin_sim::Verdict;

use super::show::figures;
use super::{Cell, Map, Mark};

/// Pixels.
const BOX: f64 = 9.0;
const GAP: f64 = 8.0;
const LEFT: f64 = 250.0;
const TOP: f64 = 96.0;
const BOTTOM: f64 = 74.0;

/// What a cell's colour says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shade {
    /// Within its limit, by quarters of it.
    Within(u8),
    Undecided,
    /// Beyond its limit: up to 1.5 times, 2, 3 and more.
    Beyond(u8),
    /// There is no figure.
    Nothing,
}

impl Shade {
    const ALL: [Shade; 10] = [
        Shade::Within(0),
        Shade::Within(1),
        Shade::Within(2),
        Shade::Within(3),
        Shade::Undecided,
        Shade::Beyond(0),
        Shade::Beyond(1),
        Shade::Beyond(2),
        Shade::Beyond(3),
        Shade::Nothing,
    ];

    fn of(mark: Option<&Mark>) -> Shade {
        let Some(mark) = mark else { return Shade::Nothing };
        match mark.verdict {
            Verdict::Unjudged => Shade::Nothing,
            Verdict::Undecided => Shade::Undecided,
            Verdict::Reached => Shade::Within((mark.strain.clamp(0.0, 0.99) * 4.0) as u8),
            Verdict::Short => {
                let steps = [1.5, 2.0, 3.0].iter().filter(|step| mark.strain > **step);
                Shade::Beyond(steps.count() as u8)
            }
        }
    }

    fn colour(self) -> &'static str {
        match self {
            Shade::Within(quarter) => {
                ["#dcefe2", "#b9dcc5", "#8fc4a2", "#60a878"][usize::from(quarter)]
            }
            Shade::Undecided => "#f3dd7d",
            Shade::Beyond(step) => ["#fdae61", "#f46d43", "#c2203a", "#8c001e"][usize::from(step)],
            Shade::Nothing => "#e4e4e4",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Shade::Within(quarter) => {
                ["to 0.25", "to 0.5", "to 0.75", "to 1"][usize::from(quarter)]
            }
            Shade::Undecided => "not decided",
            Shade::Beyond(step) => ["over 1", "over 1.5", "over 2", "over 3"][usize::from(step)],
            Shade::Nothing => "nothing to measure",
        }
    }

    /// Its name in the style sheet.
    fn class(self) -> usize {
        Shade::ALL.iter().position(|shade| *shade == self).unwrap_or_default()
    }
}

/// Cells of one colour that lie side by side: one dashed line for them all.
#[derive(Default)]
struct Lines(BTreeMap<Shade, String>);

impl Lines {
    /// Adds so many cells from a place on.
    fn push(&mut self, shade: Shade, (x, y): (f64, f64), cells: usize) {
        let path = self.0.entry(shade).or_default();
        let middle = y + (BOX - 1.0) / 2.0;
        let _ = write!(path, "M{x} {middle}h{}", cells as f64 * BOX - 1.0);
    }

    fn write(&self, svg: &mut String) {
        for (shade, path) in &self.0 {
            let _ = writeln!(svg, "<path class=\"c{}\" d=\"{path}\"/>", shade.class());
        }
    }
}

/// What the cells of a map have, each once and in order.
struct Axes {
    round_trips: Vec<f64>,
    jitters: Vec<f64>,
    /// Frames a second, loss and bursts.
    columns: Vec<(f64, f64, f64)>,
}

impl Axes {
    fn of(map: &Map<'_>) -> Self {
        let cells = || map.played.iter().map(|played| played.cell);
        let numbers = |of: fn(&Cell) -> f64| {
            let mut numbers: Vec<f64> = cells().map(|cell| of(&cell)).collect();
            numbers.sort_unstable_by(f64::total_cmp);
            numbers.dedup();
            numbers
        };
        let mut columns: Vec<_> =
            cells().map(|cell| (cell.frame_hz, cell.loss_pct, cell.burst)).collect();
        // The cells are in this order already.
        columns.dedup();
        Axes {
            round_trips: numbers(|cell| cell.rtt_ms),
            jitters: numbers(|cell| cell.jitter_ms),
            columns,
        }
    }
}

/// The picture of a map.
pub(super) fn draw(map: &Map<'_>) -> String {
    let figures = figures(map);
    let axes = Axes::of(map);
    let columns = &axes.columns;
    // The heads of columns need some room.
    let wide = (BOX * axes.round_trips.len() as f64).max(96.0);
    let high = (BOX * axes.jitters.len() as f64).max(16.0);
    let place = |column: usize| {
        let until = (column + 1).min(columns.len());
        let rates = columns[..until].windows(2).filter(|pair| pair[0].0 != pair[1].0).count();
        LEFT + column as f64 * (wide + GAP) + rates as f64 * 2.0 * GAP
    };
    let width = place(columns.len()) + GAP;
    let height = TOP + figures.len() as f64 * (high + GAP) + BOTTOM;
    let mut svg = head(map, width, height);
    let (mut lines, mut misses) = (Lines::default(), Vec::new());
    for (column, (hz, loss, burst)) in columns.iter().enumerate() {
        let x = place(column) + wide / 2.0;
        if column == 0 || columns[column - 1].0 != *hz {
            text(&mut svg, x - wide / 2.0, TOP - 28.0, "start", &format!("{hz} frames a second"));
        }
        let bursts = if *burst > 1.0 { format!(" x {burst}") } else { String::new() };
        text(&mut svg, x, TOP - 8.0, "middle", &format!("{loss} % loss{bursts}"));
    }
    for (row, what) in figures.iter().enumerate() {
        let y = TOP + row as f64 * (high + GAP);
        text(&mut svg, LEFT - 12.0, y + high / 2.0 + 4.0, "end", what);
        for (column, (hz, loss, burst)) in columns.iter().enumerate() {
            let x = place(column);
            for (i, jitter) in axes.jitters.iter().enumerate() {
                // Jitter grows upwards.
                let top = y + high - (i + 1) as f64 * BOX;
                let at = |j: usize| (x + j as f64 * BOX, top);
                let mut run: Option<(Shade, usize, usize)> = None;
                for (j, rtt) in axes.round_trips.iter().enumerate() {
                    let cell = Cell {
                        rtt_ms: *rtt,
                        jitter_ms: *jitter,
                        loss_pct: *loss,
                        burst: *burst,
                        frame_hz: *hz,
                    };
                    let played = map.played.iter().find(|played| played.cell == cell);
                    let mark = |what: &str| played?.marks.iter().find(|mark| mark.what == what);
                    let mark = mark(what);
                    if let Some(mark) = mark.filter(|mark| mark.verdict == Verdict::Short) {
                        misses.push((at(j), tip(&cell, mark)));
                    }
                    let shade = played.map(|_| Shade::of(mark));
                    run = match (run, shade) {
                        (Some((last, from, len)), Some(shade)) if last == shade => {
                            Some((last, from, len + 1))
                        }
                        (before, shade) => {
                            if let Some((last, from, len)) = before {
                                lines.push(last, at(from), len);
                            }
                            shade.map(|shade| (shade, j, 1))
                        }
                    };
                }
                if let Some((last, from, len)) = run {
                    lines.push(last, at(from), len);
                }
            }
        }
    }
    lines.write(&mut svg);
    for ((x, y), tip) in misses {
        let side = BOX - 1.0;
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\" fill-opacity=\"0\">\
             <title>{tip}</title></rect>"
        );
    }
    legend(&mut svg, &axes, height);
    svg.push_str("</svg>\n");
    svg
}

fn head(map: &Map<'_>, width: f64, height: f64) -> String {
    let title = format!("{}: every figure over its limit", map.title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\" \
         shape-rendering=\"crispEdges\">\n<title>{title}</title>\n{}\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
        style()
    );
    let _ = writeln!(svg, "<text x=\"16\" y=\"30\" font-size=\"18\" fill=\"#222\">{title}</text>");
    text(&mut svg, 16.0, 50.0, "start", &format!("{} s a cell, jitter is uniform", map.seconds));
    svg
}

/// What a cell says to whoever points at it.
fn tip(cell: &Cell, mark: &Mark) -> String {
    format!("{cell}: {:.3} {}, {:.2} of limit", mark.value, mark.unit, mark.strain)
}

fn legend(svg: &mut String, axes: &Axes, height: f64) {
    let y = height - BOTTOM + 18.0;
    let list = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    let axes = format!(
        "In each map: round trip to the right ({} ms), jitter upwards ({} ms). \
         x 3: in bursts of 3. White: jitter of more than twice the round trip.",
        list(&axes.round_trips),
        list(&axes.jitters)
    );
    text(svg, 16.0, y, "start", &axes);
    let mut x = 16.0;
    for shade in Shade::ALL {
        let mut lines = Lines::default();
        lines.push(shade, (x, y + 10.0), 4);
        lines.write(svg);
        text(svg, x, y + 38.0, "start", shade.label());
        x += 84.0;
    }
}

fn style() -> String {
    let mut style = format!("<style>path{{stroke-width:{0};stroke-dasharray:{0} 1}}", BOX - 1.0);
    for shade in Shade::ALL {
        let _ = write!(style, ".c{}{{stroke:{}}}", shade.class(), shade.colour());
    }
    style + "</style>"
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"#333\">{words}</text>"
    );
}

#[cfg(test)]
mod tests {
    use backspin_sim::Target;

    use super::*;

    fn mark(verdict: Verdict, strain: f64) -> Mark {
        let mark = Mark::new(String::new(), "%", strain, Target::AtMost(1.0));
        Mark { verdict, ..mark }
    }

    #[test]
    fn the_verdict_chooses_the_colour_and_the_strain_how_dark_it_is() {
        let shade = |verdict, strain| Shade::of(Some(&mark(verdict, strain)));
        assert_eq!(shade(Verdict::Reached, 0.1), Shade::Within(0));
        assert_eq!(shade(Verdict::Reached, 1.0), Shade::Within(3));
        assert_eq!(shade(Verdict::Undecided, 9.0), Shade::Undecided);
        assert_eq!(shade(Verdict::Short, 1.01), Shade::Beyond(0));
        assert_eq!(shade(Verdict::Short, 400.0), Shade::Beyond(3));
        assert_eq!(Shade::of(None), Shade::Nothing);
    }

    #[test]
    fn cells_of_one_colour_side_by_side_are_one_line() {
        let mut lines = Lines::default();
        lines.push(Shade::Undecided, (250.0, 96.0), 3);
        let mut svg = String::new();
        lines.write(&mut svg);
        assert_eq!(svg, "<path class=\"c4\" d=\"M250 100h26\"/>\n");
    }
}
