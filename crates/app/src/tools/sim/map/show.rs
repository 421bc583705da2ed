//! What is told of a map: for each figure how many cells miss it and which one most.

use std::fmt::Write as _;
use std::io::{self, Write};

use backspin_sim::Verdict;

use super::{Cell, Map, Mark};

/// So many of the worst are told.
const WORST: usize = 20;

/// One figure over all cells.
struct Line<'a> {
    what: &'a str,
    cells: usize,
    short: usize,
    worst: (&'a Cell, &'a Mark),
}

/// Every figure, in the order of the table; those that only some cells have come where they do.
fn lines<'a>(map: &'a Map<'_>) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    for played in map.played {
        for mark in &played.marks {
            let short = usize::from(mark.verdict == Verdict::Short);
            match lines.iter_mut().find(|line| line.what == mark.what) {
                Some(line) => {
                    line.cells += 1;
                    line.short += short;
                    if mark.strain > line.worst.1.strain {
                        line.worst = (&played.cell, mark);
                    }
                }
                None => lines.push(Line {
                    what: &mark.what,
                    cells: 1,
                    short,
                    worst: (&played.cell, mark),
                }),
            }
        }
    }
    lines
}

/// The names of all figures.
pub(super) fn figures<'a>(map: &'a Map<'_>) -> Vec<&'a str> {
    lines(map).iter().map(|line| line.what).collect()
}

/// The marks that miss their targets, the worst first.
fn short<'a>(map: &'a Map<'_>) -> Vec<(&'a Cell, &'a Mark)> {
    let all = map.played.iter();
    let all = all.flat_map(|played| played.marks.iter().map(|mark| (&played.cell, mark)));
    let mut short: Vec<_> = all.filter(|(_, mark)| mark.verdict == Verdict::Short).collect();
    short.sort_by(|(_, a), (_, b)| b.strain.total_cmp(&a.strain));
    short
}

fn head(map: &Map<'_>) -> String {
    let Map { title, seconds, seeds, left_out, played } = map;
    let seeds = if *seeds == 1 { "1 seed".to_owned() } else { format!("{seeds} seeds") };
    format!(
        "{title}: {} cells of {seconds} s and {seeds}; {left_out} left out whose jitter is more \
         than twice the round trip",
        played.len()
    )
}

fn mark_cell(mark: &Mark) -> String {
    let digits = if matches!(mark.unit, "%" | "x") { 3 } else { 1 };
    let value = format!("{:.digits$} {}", mark.value, mark.unit);
    format!("{} ({} allowed)", value.trim_end(), allowed(mark))
}

fn allowed(mark: &Mark) -> f64 {
    let (backspin_sim::Target::AtMost(limit) | backspin_sim::Target::AtLeast(limit)) = mark.target;
    (limit * 1e3).round() / 1e3
}

/// For people at a terminal. A cell is round trip / jitter / loss @ frames a second.
pub(super) fn worst(out: &mut impl Write, map: &Map<'_>) -> io::Result<()> {
    writeln!(out, "{}\n", head(map))?;
    writeln!(out, "{:<38} {:>5} {:>5}  {:>7}  worst cell", "what", "cells", "short", "of limit")?;
    for Line { what, cells, short, worst: (cell, mark) } in lines(map) {
        let strain = format!("{:.2}", mark.strain);
        let name = cell.to_string();
        writeln!(
            out,
            "{what:<38} {cells:>5} {short:>5}  {strain:>8}  {name:<16} {}",
            mark_cell(mark)
        )?;
    }
    let short = short(map);
    match short.len() {
        0 => writeln!(out, "\nEvery cell is within the law."),
        count => {
            writeln!(out, "\n{count} figures miss their targets; the worst:")?;
            for (cell, mark) in short.iter().take(WORST) {
                let name = cell.to_string();
                writeln!(out, "  {name:<16} {:<38} {}", mark.what, mark_cell(mark))?;
            }
            Ok(())
        }
    }
}

/// The same as a page, for the documentation.
pub(super) fn page(map: &Map<'_>) -> String {
    let mut page = format!("### {}\n\n{}.\n\n", map.title, head(map));
    page.push_str("| what | cells | miss | worst, of its limit | where | |\n");
    page.push_str("|---|--:|--:|--:|---|---|\n");
    for Line { what, cells, short, worst: (cell, mark) } in lines(map) {
        let what = what.replace('>', "\\>");
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| {what} | {cells} | {short} | {:.2} | {cell} | {} |",
            mark.strain,
            mark_cell(mark)
        );
    }
    page
}
