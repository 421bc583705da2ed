//! Draws menus and lists: text to read, rows to choose from.

use ratatui::Frame;
use ratatui::layout::{Alignment, Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, BorderType, Clear, Padding, Paragraph};

use super::super::large::Large;
use super::{Paint, middle};
use crate::screen::{List, Row, Tone, columns, wrap};

/// Text is wrapped at this width: longer lines are hard to read.
const TEXT_WIDTH: u16 = 60;

/// Between two columns.
const GAP: usize = 3;

/// A list that fills the screen.
pub(super) fn page(frame: &mut Frame<'_>, area: Rect, list: &List, paint: Paint) {
    let logo = Large::new(&list.title, 1);
    let head = logo.as_ref().map_or(1, Large::height);
    let body = body(list, paint);
    let text = text(list, paint, TEXT_WIDTH.min(area.width));
    let lines = text.len() as u16;
    let height = head + 2 + lines + body.height() as u16;
    let width = TEXT_WIDTH.max(body.width() as u16);
    let within = middle(area, width, height);
    match logo {
        Some(logo) => {
            let at =
                Position::new(area.x + (area.width.saturating_sub(logo.width())) / 2, within.y);
            logo.draw(at, area, frame.buffer_mut(), paint.tone(Tone::Good));
        }
        None => {
            let title = Line::styled(list.title.as_str(), paint.tone(Tone::Bright));
            frame.render_widget(title.alignment(Alignment::Center), within);
        }
    }
    let below = down(within, head + 1);
    frame.render_widget(Paragraph::new(text), Rect { height: lines.min(below.height), ..below });
    let below = down(below, lines + u16::from(lines > 0));
    let place = middle(below, body.width() as u16, below.height);
    let above = body.height().saturating_sub(list.rows.len());
    let selected = (above + list.selected).min(body.height().saturating_sub(1));
    // The selected row is seen.
    let past = (selected + 1).saturating_sub(place.height.into());
    frame.render_widget(Paragraph::new(body).scroll((past as u16, 0)), place);
}

/// A list in a box over something else.
pub(super) fn dialog(frame: &mut Frame<'_>, area: Rect, list: &List, paint: Paint) {
    let body = body(list, paint);
    let lines: Vec<_> = list
        .text
        .iter()
        .map(|(text, tone)| Line::styled(text.as_str(), paint.tone(*tone)).centered())
        .collect();
    let wide =
        Text::from(lines.clone()).width().max(body.width()).max(list.title.chars().count() + 2);
    let count = lines.len() as u16;
    let height = count + u16::from(count > 0) + body.height() as u16 + 4;
    let within = middle(area, wide as u16 + 8, height);
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .padding(Padding::new(3, 3, 1, 1))
        .title(Line::styled(format!(" {} ", list.title), paint.tone(Tone::Bright)).centered());
    let inside = block.inner(within);
    frame.render_widget(Clear, within);
    frame.render_widget(block, within);
    frame.render_widget(Paragraph::new(lines), inside);
    let below = down(inside, count + u16::from(count > 0));
    let place = middle(below, body.width() as u16, below.height);
    frame.render_widget(body, place);
}

/// The text above the rows, line by line.
fn text(list: &List, paint: Paint, wide: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (text, tone) in &list.text {
        for row in wrap(text, wide.into(), wide.into(), |text| width(text) as f32) {
            lines.push(Line::styled(row.trim_end().to_owned(), paint.tone(*tone)).centered());
        }
    }
    lines
}

/// The entry and the rows, in columns where there are several.
fn body(list: &List, paint: Paint) -> Text<'static> {
    let mut lines = Vec::new();
    if let Some(entry) = &list.entry {
        let mut line = vec![
            Span::styled(format!("{}: ", entry.label), paint.tone(Tone::Dim)),
            Span::styled(entry.text.clone(), paint.tone(Tone::Bright)),
            Span::styled(" ", Style::new().add_modifier(Modifier::REVERSED)),
        ];
        if entry.text.is_empty() {
            line.push(Span::styled(entry.offer.clone(), paint.tone(Tone::Dim)));
        }
        lines.push(Line::from(line));
    }
    let widths = columns(&list.facts, width);
    for fact in &list.facts {
        lines.push(line(fact, &widths, false, paint));
    }
    if !list.facts.is_empty() {
        lines.push(Line::default());
    }
    let widths = columns(&list.rows, width);
    for (i, row) in list.rows.iter().enumerate() {
        lines.push(line(row, &widths, i == list.selected, paint));
    }
    Text::from(lines)
}

fn line(row: &Row, widths: &[usize], selected: bool, paint: Paint) -> Line<'static> {
    let mark = if selected { "> " } else { "  " };
    let mut spans = vec![Span::styled(mark, paint.tone(Tone::Good))];
    for (i, cell) in row.cells.iter().enumerate() {
        let mut style = paint.tone(cell.tone);
        if selected {
            style = style.add_modifier(Modifier::BOLD);
        }
        spans.push(Span::styled(cell.text.clone(), style));
        if i + 1 < row.cells.len() {
            let fill = widths[i].saturating_sub(width(&cell.text)) + GAP;
            spans.push(Span::raw(" ".repeat(fill)));
        }
    }
    Line::from(spans)
}

/// What is left of `area` below its first `rows`.
fn down(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect { y: area.y + rows, height: area.height - rows, ..area }
}

fn width(text: &str) -> usize {
    Line::from(text).width()
}
