//! The picture: a bar for each contender, as long as its server's CPU time.

use std::fmt::Write;

use crate::contender::Contender;
use crate::report::{Report, TARGET_CPU};

const WIDTH: f64 = 720.0;
const BARS: f64 = 130.0;
const LINE: f64 = 30.0;
const TOP: f64 = 64.0;

/// An SVG that reads on a dark and on a light page.
pub(crate) fn draw(report: &Report) -> String {
    let most = report.rows.iter().map(|row| row.cpu_ratio).fold(1.0, f64::max);
    let unit = (WIDTH - BARS - 70.0) / most;
    let height = TOP + LINE * report.rows.len() as f64 + 24.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"14\">\n<style>text {{ fill: #24292f }} .quiet {{ \
         fill: #6e7781; font-size: 12px }} .bar {{ fill: #8c959f }} .ours {{ fill: #1a7f37 }} \
         .mark {{ stroke: #cf222e; stroke-dasharray: 4 3 }} @media (prefers-color-scheme: dark) \
         {{ text {{ fill: #e6edf3 }} .quiet {{ fill: #8b949e }} .bar {{ fill: #6e7681 }} .ours \
         {{ fill: #3fb950 }} .mark {{ stroke: #f85149 }} }}</style>\n"
    );
    let title = "Server CPU time per client and tick, raw sendto is 1";
    let _ = writeln!(svg, "<text x=\"0\" y=\"18\">{title}</text>");
    let _ = writeln!(svg, "<text class=\"quiet\" x=\"0\" y=\"38\">{}</text>", report.heading());
    for (i, row) in report.rows.iter().enumerate() {
        let y = TOP + LINE * i as f64;
        let class = if row.contender == Contender::Backspin { "ours" } else { "bar" };
        let (length, text_y) = (unit * row.cpu_ratio, y + 15.0);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{text_y:.1}\" text-anchor=\"end\">{}</text>\n<rect \
             class=\"{class}\" x=\"{BARS}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"20\" \
             rx=\"2\"/>\n<text x=\"{:.1}\" y=\"{text_y:.1}\">{:.2}</text>",
            BARS - 8.0,
            row.contender,
            BARS + length + 6.0,
            row.cpu_ratio
        );
    }
    let mark = BARS + unit * TARGET_CPU;
    let _ = writeln!(
        svg,
        "<line class=\"mark\" x1=\"{mark:.1}\" x2=\"{mark:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\n</svg>",
        TOP - 8.0,
        height - 20.0
    );
    svg
}
