//! The map as an SVG: for each figure a heat map over round trip and jitter, side by side for every
//! loss and frame rate.

use std::fmt::Write as _;

use super::show::figures;
use super::{Cell, Map};

/// Pixels.
const BOX: f64 = 9.0;
const GAP: f64 = 8.0;
const LEFT: f64 = 250.0;
const TOP: f64 = 96.0;
const BOTTOM: f64 = 74.0;

/// From so many times the limit on, the colour is no darker.
const DARKEST: f64 = 4.0;

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
                for (j, rtt) in axes.round_trips.iter().enumerate() {
                    let cell = Cell {
                        rtt_ms: *rtt,
                        jitter_ms: *jitter,
                        loss_pct: *loss,
                        burst: *burst,
                        frame_hz: *hz,
                    };
                    // Jitter grows upwards.
                    let top = y + high - (i + 1) as f64 * BOX;
                    dot(&mut svg, map, what, &cell, (x + j as f64 * BOX, top));
                }
            }
        }
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
         shape-rendering=\"crispEdges\">\n<title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    let _ = writeln!(svg, "<text x=\"16\" y=\"30\" font-size=\"18\" fill=\"#222\">{title}</text>");
    text(&mut svg, 16.0, 50.0, "start", &format!("{} s a cell, jitter is uniform", map.seconds));
    svg
}

fn dot(svg: &mut String, map: &Map<'_>, what: &str, cell: &Cell, (x, y): (f64, f64)) {
    let played = map.played.iter().find(|played| played.cell == *cell);
    let mark = played.and_then(|played| played.marks.iter().find(|mark| mark.what == what));
    let (fill, title) = match mark {
        Some(mark) => {
            let title =
                format!("{cell}: {:.3} {}, {:.2} of limit", mark.value, mark.unit, mark.strain);
            (colour(mark.strain), title)
        }
        None if played.is_some() => ("#e4e4e4".to_owned(), format!("{cell}: nothing to measure")),
        None => return,
    };
    let side = BOX - 1.0;
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\" fill=\"{fill}\">\
         <title>{title}</title></rect>"
    );
}

/// Greens up to the limit, from orange to dark red beyond it.
fn colour(strain: f64) -> String {
    let (from, to, part) = match strain <= 1.0 {
        true => ([226, 240, 230], [96, 168, 120], strain.max(0.0)),
        false => ([253, 174, 97], [140, 0, 30], ((strain - 1.0) / (DARKEST - 1.0)).min(1.0)),
    };
    let mix = |a: i32, b: i32| (f64::from(a) + f64::from(b - a) * part).round() as u8;
    let [r, g, b] = [0, 1, 2].map(|i| mix(from[i], to[i]));
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn legend(svg: &mut String, axes: &Axes, height: f64) {
    let y = height - BOTTOM + 18.0;
    let list = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    let axes = format!(
        "In each map: round trip to the right ({} ms), jitter upwards ({} ms). \
         x 3: in bursts of 3. White: jitter of more than twice the round trip. Grey: nothing to \
         measure.",
        list(&axes.round_trips),
        list(&axes.jitters)
    );
    text(svg, 16.0, y, "start", &axes);
    let mut x = 16.0;
    for strain in [0.0, 0.25, 0.5, 0.75, 1.0, 1.01, 1.5, 2.0, 3.0, 4.0] {
        let fill = colour(strain);
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{}\" width=\"34\" height=\"14\" fill=\"{fill}\"/>",
            y + 10.0
        );
        let label = match strain {
            1.01 => "over".to_owned(),
            4.0 => "4 and more".to_owned(),
            strain => strain.to_string(),
        };
        text(svg, x, y + 38.0, "start", &label);
        x += 38.0;
    }
    text(svg, x + 60.0, y + 22.0, "start", "times its limit");
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
    use super::*;

    #[test]
    fn the_limit_is_where_green_ends() {
        assert_eq!(colour(0.0), "#e2f0e6");
        assert_eq!(colour(1.0), "#60a878");
        assert_eq!(colour(1.000_001), "#fdae61");
        assert_eq!(colour(4.0), "#8c001e");
        assert_eq!(colour(400.0), "#8c001e");
    }
}
