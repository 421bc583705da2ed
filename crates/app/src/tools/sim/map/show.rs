//! What is told of a map: for each figure how many cells miss it and which one most.

use std::fmt::Write as _;
use std::io::{self, Write};

use backspin_sim::{ContactKinds, Verdict};

use super::decide::OWN_DOUBT;
use super::{Cell, Ground, Map, Mark, Played};

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
    /// Those that only their slices are sure of, and those that were suspect and heard again.
    by_slices: usize,
    again: usize,
    /// From how many times what it may be on a figure is noticed in each cell.
    noticed_from: Vec<f64>,
    /// Of what is decided, if anything is; else of all.
    worst: (&'a Cell, &'a Mark),
}

impl Line<'_> {
    /// From how many times what it may be on half of the cells notice it by themselves.
    fn noticed(&self) -> String {
        let mut from = self.noticed_from.clone();
        from.sort_unstable_by(f64::total_cmp);
        from.get(from.len() / 2).map(|times| format!("{times:.1} x")).unwrap_or_default()
    }
}

/// Every figure, in the order of the table; those that only some cells have come where they do.
fn lines<'a>(map: &'a Map<'_>) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    for played in map.played {
        for mark in &played.marks {
            let worst = (&played.cell, mark);
            let at = lines.iter().position(|line| line.what == mark.what).unwrap_or_else(|| {
                lines.push(Line {
                    what: &mark.what,
                    cells: 0,
                    short: 0,
                    open: 0,
                    by_slices: 0,
                    again: 0,
                    noticed_from: Vec::new(),
                    worst,
                });
                lines.len() - 1
            });
            let line = &mut lines[at];
            line.cells += 1;
            line.short += usize::from(mark.verdict == Verdict::Short);
            line.open += usize::from(mark.verdict == Verdict::Undecided);
            let is_by_slices = mark.verdict == Verdict::Reached && mark.ground == Ground::Slices;
            line.by_slices += usize::from(is_by_slices);
            line.again += usize::from(mark.is_again);
            if let Some(share) = mark.share.filter(|share| share.allowed_pct() > 0.0) {
                let from_pct = share.noticed_from_pct(OWN_DOUBT);
                line.noticed_from.push(from_pct / share.allowed_pct());
            }
            // What only slices are sure of says little by itself.
            let rank = |mark: &Mark| {
                let is_sure = mark.verdict == Verdict::Short
                    || mark.verdict == Verdict::Reached && mark.ground != Ground::Slices;
                (is_sure, mark.strain)
            };
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
    let all: u32 = played.iter().map(|played| played.seeds.0 + played.seeds.1).sum();
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
    writeln!(
        out,
        "{:<38} {:>5} {:>5} {:>5} {:>6} {:>5} {:>8} {:>8}  worst cell",
        "what", "cells", "miss", "open", "slices", "again", "noticed", "of limit"
    )?;
    for line in lines(map) {
        let noticed = line.noticed();
        let Line { what, cells, short, open, by_slices, again, worst: (cell, mark), .. } = line;
        let strain = format!("{:.2}", mark.strain);
        let name = cell.to_string();
        writeln!(
            out,
            "{what:<38} {cells:>5} {short:>5} {open:>5} {by_slices:>6} {again:>5} {noticed:>8} \
             {strain:>8}  {name:<16} {}",
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
            "\n{count} figures of {cells} cells are not decided with {most} seeds, neither by the cell \
             nor by\nits slices (--max-seeds plays more). The worst:"
        )?;
        tell(out, &open, OPEN)?;
    }
    writeln!(out, "\n{}", by_loss(map))
}

fn tell(out: &mut impl Write, marks: &[(&Played, &Mark)], count: usize) -> io::Result<()> {
    for (played, mark) in marks.iter().take(count) {
        let name = played.cell.to_string();
        let (seeds, again) = played.seeds;
        let seeds = if mark.is_again { again } else { seeds };
        let first = if mark.is_again { played.fresh_seed } else { played.seed };
        writeln!(
            out,
            "  {name:<16} {:<38} {}, {seeds} seeds from {first}",
            mark.what,
            mark_cell(mark)
        )?;
    }
    Ok(())
}

/// The same as a page, for the documentation.
pub(super) fn page(map: &Map<'_>) -> String {
    let mut page = format!("### {}\n\n{}.\n\n", map.title, head(map));
    page.push_str(
        "| what | cells | miss | not decided | by slices | played again | noticed from \
         | worst, of its limit | where | |\n|---|--:|--:|--:|--:|--:|--:|--:|---|---|\n",
    );
    for line in lines(map) {
        let noticed = line.noticed();
        let Line { what, cells, short, open, by_slices, again, worst: (cell, mark), .. } = line;
        let what = what.replace('>', "\\>");
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| {what} | {cells} | {short} | {open} | {by_slices} | {again} | {noticed} | {:.2} \
             | {cell} | {} |",
            mark.strain,
            mark_cell(mark)
        );
    }
    page + "\n" + &by_loss(map)
}
