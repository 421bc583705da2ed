//! What players write to each other, over the lower left of the field.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;

use super::Paint;
use crate::screen::{Arena, ChatLine, Tone, tail, wrap};

/// A line that fades is dim for its last part: a terminal has no half light.
const DIM_BELOW: f32 = 0.5;

/// Draws what was said, and what is being typed below it.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, arena: &Arena, paint: Paint) {
    // Beside the left paddle, where there is one.
    let indent = if arena.hud.is_some() { 0 } else { 4.min(area.width) };
    let area = Rect { x: area.x + indent, width: area.width - indent, ..area };
    let mut bottom = area.bottom();
    if let Some(text) = &arena.typing {
        bottom = bottom.saturating_sub(1);
        entry(frame, Rect { y: bottom, height: 1, ..area }, text, paint);
    }
    for line in arena.chat.iter().rev() {
        for row in rows(line, area.width.into(), paint).into_iter().rev() {
            if bottom <= area.y {
                return;
            }
            bottom -= 1;
            let width = (row.width() as u16).min(area.width);
            let place = Rect { y: bottom, height: 1, width, ..area };
            frame.render_widget(Clear, place);
            frame.render_widget(row, place);
        }
    }
}

/// Where a line is typed: its end, where it is longer than the screen is wide.
fn entry(frame: &mut Frame<'_>, row: Rect, text: &str, paint: Paint) {
    let label = " Say: ";
    let room = usize::from(row.width).saturating_sub(label.len() + 2);
    let shown = tail(text, room as f32, |text| Span::raw(text).width() as f32);
    let line = Line::from(vec![
        Span::styled(label, paint.tone(Tone::Dim)),
        Span::styled(shown.to_owned(), paint.tone(Tone::Bright)),
        Span::styled(" ", paint.tone(Tone::Plain).add_modifier(Modifier::REVERSED)),
    ]);
    frame.render_widget(Clear, row);
    frame.render_widget(line, row);
}

/// The rows of a line.
fn rows(line: &ChatLine, width: usize, paint: Paint) -> Vec<Line<'static>> {
    let name = if line.name.is_empty() { String::new() } else { format!(" {}:", line.name) };
    let tone = match (line.name.is_empty(), line.fade < DIM_BELOW) {
        (_, true) => Tone::Dim,
        (true, false) => Tone::Fair,
        (false, false) => Tone::Bright,
    };
    let columns = |text: &str| Span::raw(text).width() as f32;
    // A little air on both sides.
    let room = width.saturating_sub(2) as f32;
    let rows = wrap(&line.text, room - columns(&name), room, columns);
    let style = paint.tone(tone);
    let mut rows: Vec<_> =
        rows.into_iter().map(|row| vec![Span::styled(format!(" {row} "), style)]).collect();
    rows[0].insert(0, Span::styled(name, paint.crew(line.number)));
    rows.into_iter().map(Line::from).collect()
}
