//! What is told of a map: for each figure how many cells miss it and which one most.

use std::fmt::Write as _;
use std::io::{self, Write};

use backspin_sim::{ContactKinds, Verdict};

use super::{Cell, Map, Mark, Played};

/// So many of the worst are told.
const WORST: usize = 20;

/// And so many of those that are not decided.
const OPEN: usize = 5;

/// One figure over all cells.
struct Line<'a> {
    what: &'a str,
    cells: usize,
    short: usize,
    open: usize,
    /// Of what is decided, if anything is; else of all.
    worst: (&'a Cell, &'a Mark),
}

/// Every figure, in the order of the table; those that only some cells have come where they do.
fn lines<'a>(map: &'a Map<'_>) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    for played in map.played {
        for mark in &played.marks {
            let worst = (&played.cell, mark);
            let at = lines.iter().position(|line| line.what == mark.what).unwrap_or_else(|| {
                lines.push(Line { what: &mark.what, cells: 0, short: 0, open: 0, worst });
                lines.len() - 1
            });
            let line = &mut lines[at];
            line.cells += 1;
            line.short += usize::from(mark.verdict == Verdict::Short);
            line.open += usize::from(mark.verdict == Verdict::Undecided);
            let rank = |mark: &Mark| (mark.verdict != Verdict::Undecided, mark.strain);
            if rank(mark) > rank(line.worst.1) {
                line.worst = worst;
            }
        }
    }
    lines
}

/// The names of all figures.
pub(super) fn figures<'a>(map: &'a Map<'_>) -> Vec<&'a str> {
    lines(map).iter().map(|line| line.what).collect()
}

/// The marks with this verdict, the worst first.
fn with_verdict<'a>(map: &'a Map<'_>, verdict: Verdict) -> Vec<(&'a Played, &'a Mark)> {
    let all = map.played.iter();
    let all = all.flat_map(|played| played.marks.iter().map(move |mark| (played, mark)));
    let mut found: Vec<_> = all.filter(|(_, mark)| mark.verdict == verdict).collect();
    found.sort_by(|(_, a), (_, b)| b.strain.total_cmp(&a.strain));
    found
}

/// How many cells have a mark among these.
fn cells_of(marks: &[(&Played, &Mark)]) -> usize {
    let mut names: Vec<String> = marks.iter().map(|(played, _)| played.cell.to_string()).collect();
    names.sort_unstable();
    names.dedup();
    names.len()
}

fn head(map: &Map<'_>) -> String {
    let Map { title, seconds, seeds: (seeds, most), left_out, played } = map;
    let seeds = match (seeds, most) {
        (1, 1) => "1 seed".to_owned(),
        (seeds, most) if seeds == most => format!("{seeds} seeds"),
        (seeds, most) => format!("{seeds} to {most} seeds"),
    };
    let all: u32 = played.iter().map(|played| played.seeds).sum();
    format!(
        "{title}: {} cells of {seconds} s and {seeds}, {all} matches; {left_out} left out whose \
         jitter is more than twice the round trip",
        played.len()
    )
}

fn mark_cell(mark: &Mark) -> String {
    let digits = if matches!(mark.unit, "%" | "x") { 3 } else { 1 };
    let value = format!("{:.digits$} {}", mark.value, mark.unit);
    let bounds = match (mark.verdict, mark.bounds_pct) {
        (Verdict::Undecided, Some((least, most))) => format!(", {least:.3} to {most:.3} in truth"),
        _ => String::new(),
    };
    format!("{} ({} allowed{bounds})", value.trim_end(), allowed(mark))
}

fn allowed(mark: &Mark) -> f64 {
    let (backspin_sim::Target::AtMost(limit) | backspin_sim::Target::AtLeast(limit)) = mark.target;
    (limit * 1e3).round() / 1e3
}

/// The contacts of all cells with the same loss together: a cell alone has too few to say much.
fn by_loss(map: &Map<'_>) -> String {
    let mut losses: Vec<(f64, f64, ContactKinds)> = Vec::new();
    for Played { cell, contacts, .. } in map.played {
        let is_same =
            |(loss, burst, _): &(f64, f64, _)| (*loss, *burst) == (cell.loss_pct, cell.burst);
        let at = losses.iter().position(is_same).unwrap_or_else(|| {
            losses.push((cell.loss_pct, cell.burst, ContactKinds::default()));
            losses.len() - 1
        });
        losses[at].2 += contacts;
    }
    let mut table = String::from(
        "| contacts of all cells with | kind | contacts | only drawn | only judged | otherwise \
         | 95 % bounds |\n|---|---|--:|--:|--:|--:|--:|\n",
    );
    for (loss, burst, kinds) in &losses {
        let bursts = if *burst > 1.0 { format!(" in bursts of {burst}") } else { String::new() };
        for kind in kinds.iter() {
            let (least, most) = kind.bounds_pct();
            // Writing to a string cannot fail.
            let _ = writeln!(
                table,
                "| {loss} % loss{bursts} | {} | {} | {} | {} | {:.2} % | {least:.2} to {most:.2} % |",
                kind.kind,
                kind.contacts(),
                kind.only_drawn,
                kind.only_judged,
                kind.disagreement_pct().unwrap_or_default()
            );
        }
    }
    table
}

/// For people at a terminal. A cell is round trip / jitter / loss @ frames a second.
pub(super) fn worst(out: &mut impl Write, map: &Map<'_>) -> io::Result<()> {
    writeln!(out, "{}\n", head(map))?;
    let (of, cell) = ("of limit", "worst cell");
    writeln!(out, "{:<38} {:>5} {:>5} {:>5}  {of:>8}  {cell}", "what", "cells", "miss", "open")?;
    for Line { what, cells, short, open, worst: (cell, mark) } in lines(map) {
        let strain = format!("{:.2}", mark.strain);
        let name = cell.to_string();
        writeln!(
            out,
            "{what:<38} {cells:>5} {short:>5} {open:>5}  {strain:>8}  {name:<16} {}",
            mark_cell(mark)
        )?;
    }
    let short = with_verdict(map, Verdict::Short);
    match short.len() {
        0 => writeln!(out, "\nNo cell misses a target.")?,
        count => {
            let cells = cells_of(&short);
            writeln!(out, "\n{count} figures of {cells} cells miss their targets; the worst:")?;
            tell(out, &short, WORST)?;
        }
    }
    let open = with_verdict(map, Verdict::Undecided);
    if !open.is_empty() {
        let (count, cells, (_, most)) = (open.len(), cells_of(&open), map.seeds);
        writeln!(
            out,
            "\n{count} figures of {cells} cells are not decided with {most} seeds: their 95 % \
             confidence bounds\nlie on both sides of the target (--max-seeds plays more). The worst:"
        )?;
        tell(out, &open, OPEN)?;
    }
    writeln!(out, "\n{}", by_loss(map))
}

fn tell(out: &mut impl Write, marks: &[(&Played, &Mark)], count: usize) -> io::Result<()> {
    for (played, mark) in marks.iter().take(count) {
        let name = played.cell.to_string();
        writeln!(out, "  {name:<16} {:<38} {}", mark.what, mark_cell(mark))?;
    }
    Ok(())
}

/// The same as a page, for the documentation.
pub(super) fn page(map: &Map<'_>) -> String {
    let mut page = format!("### {}\n\n{}.\n\n", map.title, head(map));
    page.push_str("| what | cells | miss | not decided | worst, of its limit | where | |\n");
    page.push_str("|---|--:|--:|--:|--:|---|---|\n");
    for Line { what, cells, short, open, worst: (cell, mark) } in lines(map) {
        let what = what.replace('>', "\\>");
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| {what} | {cells} | {short} | {open} | {:.2} | {cell} | {} |",
            mark.strain,
            mark_cell(mark)
        );
    }
    page + "\n" + &by_loss(map)
}
