//! A match on the screen.

use backspin::channel::Fate;
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};

use super::super::{field, large::Large, space};
use super::{Paint, hud, list, middle};
use crate::screen::{Arena, Banner, Cell, Figure, Hud, Overlay, Tone};

/// A field with fewer rows than this has smaller digits.
const ROOMY: u16 = 18;

/// The overlay, with its frame.
const OVERLAY_WIDTH: u16 = 50;

/// Bars of the ping's graph, from low to high.
const BARS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// The graph reaches at least this far up, in ms: noise on a good line is no mountain.
const GRAPH_MS: f32 = 50.0;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, arena: &Arena, paint: Paint) {
    let inside = match &arena.hud {
        Some(crew) => space(frame, area, arena, crew, paint),
        None => court(frame, area, arena, paint),
    };
    if let Some(notice) = &arena.notice {
        let row = Rect { y: inside.bottom().saturating_sub(1), height: 1, ..inside };
        label(frame, row, notice, paint);
    }
    if let Some(it) = &arena.banner {
        banner(frame, inside, it, paint);
    }
    if let Some(it) = &arena.overlay {
        let place = if arena.hud.is_some() { Alignment::Right } else { Alignment::Center };
        overlay(frame, inside, place, it, paint);
    }
    if let Some(it) = &arena.dialog {
        list::dialog(frame, inside, it, paint);
    }
}

/// A field between two sides.
fn court(frame: &mut Frame<'_>, area: Rect, arena: &Arena, paint: Paint) -> Rect {
    let [head, rest] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
    header(frame, head, arena, paint);
    let edge = if arena.flash { Tone::Bright } else { Tone::Dim };
    let style = if arena.flash {
        Style::new().fg(Color::White)
    } else {
        Style::new().fg(Color::Indexed(240))
    };
    let block = Block::bordered()
        .border_type(BorderType::Plain)
        .border_style(style.patch(paint.tone(edge)));
    let inside = block.inner(rest);
    frame.render_widget(block, rest);
    score(frame, inside, arena, paint);
    field::draw(&arena.scene, inside, frame.buffer_mut(), |look| paint.look(look));
    inside
}

/// A field that a crew flies through: it has no edges.
fn space(frame: &mut Frame<'_>, area: Rect, arena: &Arena, crew: &Hud, paint: Paint) -> Rect {
    let rows = [Constraint::Length(hud::ROWS), Constraint::Fill(1)];
    let [head, inside] = Layout::vertical(rows).areas(area);
    hud::head(frame, head, crew, &arena.status, paint);
    space::draw(&arena.scene, inside, frame.buffer_mut(), |look| paint.look(look));
    hud::over_field(frame, inside, crew, paint);
    inside
}

/// Who plays, and what the line is worth.
fn header(frame: &mut Frame<'_>, area: Rect, arena: &Arena, paint: Paint) {
    let name =
        |at: Option<&(String, u8)>| at.map_or(String::new(), |(name, _)| format!(" {name} "));
    let own = paint.tone(Tone::Bright);
    frame.render_widget(Line::styled(name(arena.sides.first()), own), area);
    let right = Line::styled(name(arena.sides.get(1)), own).alignment(Alignment::Right);
    frame.render_widget(right, area);
    let mut spans = Vec::new();
    for cell in &arena.status {
        if !spans.is_empty() {
            spans.push(Span::raw("   "));
        }
        spans.push(Span::styled(cell.text.as_str(), paint.tone(cell.tone)));
    }
    let line = Line::from(spans);
    let width = line.width() as u16;
    frame.render_widget(line, middle(area, width, 1));
}

/// The points, large, behind everything.
fn score(frame: &mut Frame<'_>, area: Rect, arena: &Arena, paint: Paint) {
    let scale = if area.height < ROOMY { 1 } else { 2 };
    let half = area.width / 2;
    for (i, (_, points)) in arena.sides.iter().take(2).enumerate() {
        let Some(digits) = Large::new(&points.to_string(), scale) else { continue };
        let left = area.x + i as u16 * half + half.saturating_sub(digits.width()) / 2;
        let at = Position::new(left, area.y + 1);
        digits.draw(at, area, frame.buffer_mut(), paint.tone(Tone::Dim).fg(Color::Indexed(240)));
    }
}

fn banner(frame: &mut Frame<'_>, area: Rect, banner: &Banner, paint: Paint) {
    let scale = if area.height < ROOMY { 1 } else { 2 };
    let large = Large::new(&banner.large, scale).filter(|large| large.width() > 0);
    let tall = large.as_ref().map_or(0, Large::height);
    let within = middle(area, area.width, tall + 2 * banner.text.len() as u16);
    if let Some(large) = large {
        let place = middle(within, large.width() + 4, tall);
        frame.render_widget(Clear, place);
        let at = Position::new(place.x + 2, within.y);
        large.draw(at, area, frame.buffer_mut(), paint.tone(Tone::Fair));
    }
    for (i, text) in banner.text.iter().enumerate() {
        let y = within.y + tall + 2 * i as u16;
        let row = Rect { y, height: 1, ..area };
        label(frame, row, &Cell::new(text.as_str(), Tone::Fair), paint);
    }
}

/// Words over the field, with a little air.
fn label(frame: &mut Frame<'_>, row: Rect, cell: &Cell, paint: Paint) {
    let line = Line::styled(format!(" {} ", cell.text), paint.tone(cell.tone));
    let place = middle(row, line.width() as u16, 1);
    frame.render_widget(Clear, place);
    frame.render_widget(line, place);
}

fn overlay(frame: &mut Frame<'_>, area: Rect, place: Alignment, overlay: &Overlay, paint: Paint) {
    let inside_width = OVERLAY_WIDTH - 2;
    let mut lines: Vec<Line<'_>> =
        overlay.figures.chunks(2).map(|pair| figures(pair, paint)).collect();
    lines.push(graph(&overlay.pings, paint));
    if !overlay.inputs.is_empty() {
        lines.extend(timeline(&overlay.inputs, inside_width.into(), paint));
    }
    let height = (lines.len() as u16 + 2).min(area.height);
    let width = OVERLAY_WIDTH.min(area.width);
    let x = match place {
        // The paddles are at the sides.
        Alignment::Center => area.x + (area.width - width) / 2,
        // What was said is on the left.
        _ => area.right() - width,
    };
    let within = Rect { x, y: area.bottom() - height, width, height };
    let title = Line::styled(" network (F3) ", paint.tone(Tone::Dim));
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(paint.tone(Tone::Dim))
        .title(title);
    frame.render_widget(Clear, within);
    frame.render_widget(Paragraph::new(Text::from(lines)).block(block), within);
}

/// Two figures side by side.
fn figures(pair: &[Figure], paint: Paint) -> Line<'static> {
    let figure = |figure: &Figure| {
        let name = Span::styled(format!(" {:<10}", figure.name), paint.tone(Tone::Dim));
        [name, Span::styled(format!("{:<13}", figure.value), paint.tone(figure.tone))]
    };
    Line::from(pair.iter().flat_map(figure).collect::<Vec<_>>())
}

/// The ping of the last ten seconds, the newest on the right.
fn graph(pings: &[Option<f32>], paint: Paint) -> Line<'static> {
    let top = pings.iter().flatten().fold(GRAPH_MS, |top, ping| top.max(*ping));
    let bar = |ping: &Option<f32>| match ping {
        Some(ms) => BARS[((ms / top * 7.0).round() as usize).min(7)],
        None => " ",
    };
    let bars: String = pings.iter().map(bar).collect();
    Line::from(vec![
        Span::styled(format!(" {top:>3.0} ms ",), paint.tone(Tone::Dim)),
        Span::styled(format!("{bars:>40}"), paint.tone(Tone::Good)),
    ])
}

/// The last inputs as they were sent, and below as the server applied them: what was lost is
/// crossed out above and missing below.
fn timeline(inputs: &[(u32, Fate)], width: usize, paint: Paint) -> [Line<'static>; 2] {
    let (mut sent, mut applied) = (Vec::new(), Vec::new());
    let mut used = " applied ".len();
    for (tick, fate) in inputs.iter().rev() {
        let number = format!("[{tick}]");
        used += number.len();
        if used > width {
            break;
        }
        let pad = number.len() - 2;
        let (above, below, tone) = match fate {
            Fate::Sent => (number.clone(), " ".repeat(number.len()), Tone::Dim),
            Fate::Acknowledged => (number.clone(), number.clone(), Tone::Good),
            Fate::Lost => (format!("[{:^pad$}]", "X"), format!("[{}]", " ".repeat(pad)), Tone::Bad),
        };
        sent.push(Span::styled(above, paint.tone(tone)));
        applied.push(Span::styled(below, paint.tone(tone)));
    }
    let line = |name: &'static str, mut spans: Vec<Span<'static>>| {
        spans.push(Span::styled(name, paint.tone(Tone::Dim)));
        spans.reverse();
        Line::from(spans)
    };
    [line(" sent    ", sent), line(" applied ", applied)]
}
