//! Draws a match.

use backspin::channel::Fate;
use backspin::session::Grade;
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph};

use super::super::{field, large::Large, space};
use super::{Paint, chat, hud, list, middle};
use crate::screen::{Arena, Banner, Cell, Figure, Hud, Overlay, Tone, bars, ping_tone};

/// A field with fewer rows than this has smaller digits.
const ROOMY: u16 = 18;

/// The overlay, with its frame.
const OVERLAY_WIDTH: u16 = 50;

/// A figure of the overlay: two fit beside each other.
const FIGURE_WIDTH: usize = 24;

/// Bars of the ping's graph, from low to high.
const BARS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// The graph reaches at least this far up, in ms: noise on a good line is no mountain.
const GRAPH_MS: f32 = 50.0;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, arena: &Arena, paint: Paint) {
    let inside = match &arena.hud {
        Some(crew) => space(frame, area, arena, crew, paint),
        None => court(frame, area, arena, paint),
    };
    chat::draw(frame, inside, arena, paint);
    if let Some(notice) = &arena.notice {
        // Above what is being typed.
        let above = if arena.typing.is_some() { 2 } else { 1 };
        let row = Rect { y: inside.bottom().saturating_sub(above), height: 1, ..inside };
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
    field::draw(&arena.scene, inside, frame.buffer_mut(), paint);
    inside
}

/// A field that a crew flies through: it has no edges.
fn space(frame: &mut Frame<'_>, area: Rect, arena: &Arena, crew: &Hud, paint: Paint) -> Rect {
    let rows = [Constraint::Length(hud::ROWS), Constraint::Fill(1)];
    let [head, inside] = Layout::vertical(rows).areas(area);
    hud::head(frame, head, crew, &arena.status, paint);
    space::draw(&arena.scene, inside, frame.buffer_mut(), paint);
    hud::over_field(frame, inside, crew, paint);
    inside
}

/// The players' names and the connection grade.
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
        spans.push(Span::styled(status(cell), paint.tone(cell.tone)));
    }
    let line = Line::from(spans);
    let width = line.width() as u16;
    frame.render_widget(line, middle(area, width, 1));
}

/// A piece of the status, with its sign.
pub(super) fn status(cell: &Cell) -> String {
    cell.sign.map_or_else(|| cell.text.clone(), |grade| format!("{} {}", sign(grade), cell.text))
}

/// Four bars, of which as many are drawn as the grade is good.
fn sign(grade: Grade) -> &'static str {
    ["▂···", "▂▄··", "▂▄▆·", "▂▄▆█"][bars(grade) - 1]
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
        lines.extend(timeline(overlay, inside_width.into(), paint));
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
        let name = format!(" {:<9} ", figure.name);
        let value = match figure.sign {
            Some(grade) => format!("{} {}", figure.value, sign(grade)),
            None => figure.value.clone(),
        };
        let room = FIGURE_WIDTH.saturating_sub(name.len());
        [
            Span::styled(name, paint.tone(Tone::Dim)),
            Span::styled(format!("{value:<room$}"), paint.tone(figure.tone)),
        ]
    };
    Line::from(pair.iter().flat_map(figure).collect::<Vec<_>>())
}

/// The ping of the last ten seconds, the newest on the right.
fn graph(pings: &[Option<f32>], paint: Paint) -> Line<'static> {
    let top = pings.iter().flatten().fold(GRAPH_MS, |top, ping| top.max(*ping));
    let bar = |ping: &Option<f32>| match *ping {
        Some(ms) => {
            let bar = BARS[((ms / top * 7.0).round() as usize).min(7)];
            Span::styled(bar, paint.tone(ping_tone(ms)))
        }
        None => Span::raw(" "),
    };
    let empty = " ".repeat(40_usize.saturating_sub(pings.len()));
    let scale = Span::styled(format!(" {top:>3.0} ms {empty}"), paint.tone(Tone::Dim));
    Line::from([scale].into_iter().chain(pings.iter().map(bar)).collect::<Vec<_>>())
}

/// The last inputs as they were sent, marks below those that an acknowledgement named, and the inputs
/// as the server applied them: what was lost is crossed out above, passed over by the marks, and missing
/// below.
fn timeline(overlay: &Overlay, width: usize, paint: Paint) -> [Line<'static>; 4] {
    let width = width.saturating_sub(" applied ".len());
    let (mut sent, mut applied, mut marks) = (Vec::new(), Vec::new(), String::new());
    let mut newest = None;
    for &(tick, fate) in fitting(&overlay.inputs, width) {
        let number = format!("[{tick}]");
        let pad = number.len() - 2;
        let (above, below, tone) = match fate {
            Fate::Sent => (number.clone(), " ".repeat(number.len()), Tone::Dim),
            Fate::Acknowledged => (number.clone(), number.clone(), Tone::Good),
            Fate::Lost => (format!("[{:^pad$}]", "X"), format!("[{}]", " ".repeat(pad)), Tone::Bad),
        };
        sent.push(Span::styled(above, paint.tone(tone)));
        applied.push(Span::styled(below, paint.tone(tone)));
        let is_named = overlay.acks.contains(&tick);
        if is_named {
            newest = Some((tick, marks.len() + number.len() / 2));
        }
        let middle = number.len() / 2;
        let mark = if is_named { "^" } else { " " };
        marks.push_str(&format!("{}{mark}{}", " ".repeat(middle), " ".repeat(pad + 1 - middle)));
    }
    let label = newest.map_or(String::new(), |(tick, at)| ack_label(tick, at, width));
    let line = |name: &'static str, spans: Vec<Span<'static>>| {
        let name = Span::styled(name, paint.tone(Tone::Dim));
        Line::from([name].into_iter().chain(spans).collect::<Vec<_>>())
    };
    let plain = |text: String| vec![Span::styled(text, paint.tone(Tone::Plain))];
    [
        line(" sent    ", sent),
        line(" ack     ", plain(marks)),
        line("         ", plain(label)),
        line(" applied ", applied),
    ]
}

/// The newest inputs of which the numbers have room.
fn fitting(inputs: &[(u32, Fate)], width: usize) -> &[(u32, Fate)] {
    let mut used = 0;
    let fits = |(tick, _): &&(u32, Fate)| {
        used += tick.to_string().len() + 2;
        used <= width
    };
    let count = inputs.iter().rev().take_while(fits).count();
    &inputs[inputs.len() - count..]
}

/// What an acknowledgement does, below its mark in column `at`.
fn ack_label(tick: u32, at: usize, width: usize) -> String {
    let brief = format!("+-- ACK({tick})");
    let whole = format!("{brief} -> clears all <={tick}");
    match [whole, brief].into_iter().find(|label| at + label.len() <= width) {
        Some(label) => format!("{:at$}{label}", ""),
        None => format!("{:>end$}", format!("ACK({tick}) --+"), end = at + 1),
    }
}
