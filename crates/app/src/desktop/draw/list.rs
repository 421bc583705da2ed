//! Draws menus and lists: text to read, rows to choose from.

use macroquad::color::Color;
use macroquad::math::{Rect, Vec2, vec2};

use super::{ROW, Spots, TEXT};
use crate::desktop::canvas::{Canvas, Style};
use crate::desktop::colour::{self, Paint, faint};
use crate::screen::{Entry, List, Row, Tone, columns};

/// Text is wrapped at this width: longer lines are hard to read.
const TEXT_WIDTH: f32 = 860.0;

/// From one line of text to the next, and from one row to the next.
const TEXT_LINE: f32 = 36.0;
const ROW_LINE: f32 = 52.0;
const FACT_LINE: f32 = 38.0;

/// Between two columns, and beside the first and the last.
const GAP: f32 = 44.0;
const PAD: f32 = 36.0;

/// The narrowest row.
const NARROWEST: f32 = 420.0;

/// How large the title of a page is, and the one of the first.
const TITLE: f32 = 60.0;
const LOGO: f32 = 124.0;

/// The page with this title is the first.
const FIRST: &str = "BACKSPIN";

/// A list that fills the screen.
pub(super) fn page(
    canvas: &mut Canvas,
    area: Rect,
    list: &List,
    paint: Paint,
    spots: &mut Spots,
    seconds: f32,
) {
    let middle = area.center().x;
    let size = if list.title == FIRST { LOGO } else { TITLE };
    let text = Text::new(canvas, list, TEXT_WIDTH.min(area.w - 80.0));
    let entry = if list.entry.is_some() { ROW_LINE * 1.4 } else { 0.0 };
    let facts = Facts::new(canvas, &list.facts);
    let head = size * 1.5;
    let fixed = head + text.height() + facts.height() + entry;
    let room = ((area.h - fixed - 40.0) / ROW_LINE).max(1.0) as usize;
    let shown = list.rows.len().min(room);
    let height = fixed + shown as f32 * ROW_LINE;
    let mut y = area.y + ((area.h - height) / 2.0).max(20.0);
    if list.title == FIRST {
        logo(canvas, vec2(middle, y + size), paint, seconds);
    } else {
        let style = Style::new(size, colour::WHITE).bold().middle();
        canvas.write(&list.title, vec2(middle, y + size), style);
        let wide = canvas.width(&list.title, style);
        let line = Rect::new(middle - wide / 2.0, y + size * 1.22, wide, 3.0);
        canvas.brush.halo(line, 12.0, faint(paint.own(), 0.4));
        canvas.brush.rect(line, paint.own());
    }
    y += head;
    y = text.write(canvas, middle, y, paint);
    y = facts.write(canvas, middle, y, paint);
    if let Some(entry) = &list.entry {
        typed(canvas, vec2(middle, y), entry, paint, seconds);
        y += ROW_LINE * 1.4;
    }
    rows(canvas, vec2(middle, y), shown, list, paint, spots);
}

/// A list in a box over something else.
pub(super) fn dialog(
    canvas: &mut Canvas,
    area: Rect,
    list: &List,
    paint: Paint,
    spots: &mut Spots,
) {
    canvas.brush.rect(canvas.area(), faint(colour::NIGHT, 0.55));
    let text = Text::new(canvas, list, TEXT_WIDTH.min(area.w - 200.0));
    let title = Style::new(52.0, colour::WHITE).bold().middle();
    let columns = Columns::new(canvas, &list.rows, Style::new(ROW, colour::WHITE).bold());
    let wide = columns.width().max(canvas.width(&list.title, title) + 80.0).max(text.width) + 100.0;
    let height = 110.0 + text.height() + list.rows.len() as f32 * ROW_LINE + 34.0;
    let middle = area.center();
    let frame = Rect::new(middle.x - wide / 2.0, middle.y - height / 2.0, wide, height);
    canvas.brush.halo(frame, 50.0, faint(paint.own(), 0.22));
    canvas.brush.rect(frame, faint(colour::PANEL, 0.96));
    canvas.brush.frame(frame, 2.0, faint(paint.own(), 0.8));
    canvas.write(&list.title, vec2(middle.x, frame.y + 72.0), title);
    let y = text.write(canvas, middle.x, frame.y + 110.0, paint);
    rows(canvas, vec2(middle.x, y), list.rows.len(), list, paint, spots);
}

/// The name of it all, with its ball.
fn logo(canvas: &mut Canvas, at: Vec2, paint: Paint, seconds: f32) {
    let style = Style::new(LOGO, colour::WHITE).bold().middle();
    let wide = canvas.width(FIRST, style);
    for (shift, colour) in [(-4.0, paint.own()), (4.0, paint.other())] {
        let style = Style { colour: faint(colour, 0.85), ..style };
        canvas.write(FIRST, at + vec2(shift, 0.0), style);
    }
    canvas.write(FIRST, at, style);
    canvas.brush.glow(at - vec2(0.0, LOGO * 0.35), wide * 0.62, faint(paint.own(), 0.13));
    // A ball that goes to and fro below the letters, with its paddles.
    let line = at.y + 38.0;
    let swing = (seconds * 0.25).fract() * 2.0;
    let part = if swing < 1.0 { swing } else { 2.0 - swing };
    let half = wide / 2.0 - 12.0;
    let x = at.x - half + 2.0 * half * part;
    let back = if swing < 1.0 { -1.0 } else { 1.0 };
    for i in 0..14 {
        let left = 1.0 - i as f32 / 14.0;
        let tail = (x + back * i as f32 * 7.0).clamp(at.x - half, at.x + half);
        canvas.brush.disc(vec2(tail, line), 6.0 * left, faint(paint.own(), 0.35 * left));
    }
    canvas.brush.disc(vec2(x, line), 6.0, colour::WHITE);
    for (x, colour) in [(at.x - half - 14.0, paint.own()), (at.x + half + 8.0, paint.other())] {
        let paddle = Rect::new(x, line - 15.0, 6.0, 30.0);
        canvas.brush.halo(paddle, 12.0, faint(colour, 0.4));
        canvas.brush.rect(paddle, colour);
    }
}

/// Paragraphs, wrapped.
struct Text {
    lines: Vec<(String, Tone)>,
    width: f32,
}

impl Text {
    fn new(canvas: &Canvas, list: &List, wide: f32) -> Self {
        let style = Style::new(TEXT, colour::WHITE);
        let wrapped = |(text, tone): &(String, Tone)| {
            let tone = *tone;
            canvas.wrap(text, style, wide).into_iter().map(move |line| (line, tone))
        };
        let lines: Vec<_> = list.text.iter().flat_map(wrapped).collect();
        let width = lines.iter().map(|(line, _)| canvas.width(line, style)).fold(0.0, f32::max);
        Text { lines, width }
    }

    fn height(&self) -> f32 {
        let air = if self.lines.is_empty() { 0.0 } else { 24.0 };
        self.lines.len() as f32 * TEXT_LINE + air
    }

    /// Where it goes on below.
    fn write(&self, canvas: &mut Canvas, middle: f32, y: f32, paint: Paint) -> f32 {
        for (i, (line, tone)) in self.lines.iter().enumerate() {
            let at = vec2(middle, y + i as f32 * TEXT_LINE + TEXT);
            canvas.write(line, at, Style::new(TEXT, paint.tone(*tone)).middle());
        }
        y + self.height()
    }
}

/// Lines in columns that cannot be chosen.
struct Facts<'a> {
    rows: &'a [Row],
    columns: Columns,
}

impl<'a> Facts<'a> {
    fn new(canvas: &Canvas, rows: &'a [Row]) -> Self {
        Facts { rows, columns: Columns::new(canvas, rows, Style::new(TEXT, colour::WHITE)) }
    }

    fn height(&self) -> f32 {
        let air = if self.rows.is_empty() { 0.0 } else { 44.0 };
        self.rows.len() as f32 * FACT_LINE + air
    }

    /// Where it goes on below.
    fn write(&self, canvas: &mut Canvas, middle: f32, y: f32, paint: Paint) -> f32 {
        if self.rows.is_empty() {
            return y;
        }
        let wide = self.columns.width();
        let height = self.rows.len() as f32 * FACT_LINE + 20.0;
        let frame = Rect::new(middle - wide / 2.0, y, wide, height);
        canvas.brush.rect(frame, faint(colour::PANEL, 0.8));
        canvas.brush.frame(frame, 1.5, colour::EDGE);
        for (i, row) in self.rows.iter().enumerate() {
            let base = y + 10.0 + (i as f32 + 0.5) * FACT_LINE + TEXT * 0.35;
            let mut x = frame.x + PAD;
            for (cell, width) in row.cells.iter().zip(&self.columns.widths) {
                let style = Style::new(TEXT, paint.tone(cell.tone));
                canvas.write(&cell.text, vec2(x, base), style);
                x += width + GAP;
            }
        }
        y + self.height()
    }
}

/// Where something is typed.
fn typed(canvas: &mut Canvas, at: Vec2, entry: &Entry, paint: Paint, seconds: f32) {
    let style = Style::new(ROW, colour::WHITE);
    let label = format!("{}  ", entry.label);
    let label_wide = canvas.width(&entry.label, style) + 18.0;
    let shown = if entry.text.is_empty() { &entry.offer } else { &entry.text };
    let wide = (label_wide + canvas.width(shown, style) + 20.0).max(NARROWEST) + 2.0 * PAD;
    let frame = Rect::new(at.x - wide / 2.0, at.y, wide, ROW_LINE);
    canvas.brush.rect(frame, faint(colour::PANEL, 0.9));
    canvas.brush.frame(frame, 2.0, paint.own());
    let line = at.y + ROW_LINE / 2.0 + ROW * 0.35;
    let left = frame.x + PAD;
    canvas.write(&label, vec2(left, line), Style { colour: paint.tone(Tone::Dim), ..style });
    let tone = if entry.text.is_empty() { paint.tone(Tone::Dim) } else { style.colour };
    canvas.write(shown, vec2(left + label_wide, line), Style { colour: tone, ..style });
    // The cursor is seen more than half of the time.
    if seconds.fract() < 0.6 {
        let x = left + label_wide + canvas.width(&entry.text, style) + 2.0;
        canvas.brush.rect(Rect::new(x, at.y + 11.0, 3.0, ROW_LINE - 22.0), paint.own());
    }
}

/// How wide each column is, for the rows that have several.
struct Columns {
    widths: Vec<f32>,
    widest: f32,
}

impl Columns {
    fn new(canvas: &Canvas, rows: &[Row], style: Style) -> Self {
        let width = |text: &str| canvas.width(text, style);
        let alone = rows.iter().filter(|row| row.cells.len() == 1);
        let widest = alone.map(|row| width(&row.cells[0].text)).fold(0.0, f32::max);
        Columns { widths: columns(rows, width), widest }
    }

    fn width(&self) -> f32 {
        let gaps = self.widths.len().saturating_sub(1) as f32 * GAP;
        let several = self.widths.iter().sum::<f32>() + gaps;
        (several.max(self.widest) + 2.0 * PAD).max(NARROWEST)
    }
}

/// The rows from `at` on, moved so that the selected one is among the `shown`.
fn rows(canvas: &mut Canvas, at: Vec2, shown: usize, list: &List, paint: Paint, spots: &mut Spots) {
    let columns = Columns::new(canvas, &list.rows, Style::new(ROW, colour::WHITE).bold());
    let wide = columns.width();
    let first = if shown == 0 { 0 } else { (list.selected + 1).saturating_sub(shown) };
    if first > 0 {
        more(canvas, vec2(at.x, at.y - 3.0), -1.0, paint);
    }
    if first + shown < list.rows.len() {
        more(canvas, vec2(at.x, at.y + shown as f32 * ROW_LINE + 5.0), 1.0, paint);
    }
    for (line, (i, row)) in list.rows.iter().enumerate().skip(first).take(shown).enumerate() {
        let y = at.y + line as f32 * ROW_LINE;
        let frame = Rect::new(at.x - wide / 2.0, y, wide, ROW_LINE);
        let selected = i == list.selected;
        if selected {
            mark(canvas, frame, paint.own());
        }
        spots.rows.push((canvas.px(frame), i));
        let base = y + ROW_LINE / 2.0 + ROW * 0.35;
        let style = |tone: Tone| {
            let colour = match tone {
                Tone::Plain if selected => colour::WHITE,
                tone => paint.tone(tone),
            };
            let style = Style::new(ROW, colour);
            if selected { style.bold() } else { style }
        };
        if let [cell] = row.cells.as_slice() {
            canvas.write(&cell.text, vec2(at.x, base), style(cell.tone).middle());
            continue;
        }
        let mut x = frame.x + PAD;
        for (cell, width) in row.cells.iter().zip(&columns.widths) {
            canvas.write(&cell.text, vec2(x, base), style(cell.tone));
            x += width + GAP;
        }
    }
}

/// Says that there are more rows above or below.
fn more(canvas: &mut Canvas, at: Vec2, towards: f32, paint: Paint) {
    let tip = at + vec2(0.0, 7.0 * towards);
    for side in [-14.0, 14.0] {
        canvas.brush.line(at + vec2(side, 0.0), tip, 3.0, paint.tone(Tone::Dim));
    }
}

/// What is chosen.
fn mark(canvas: &mut Canvas, frame: Rect, colour: Color) {
    let Rect { x, y, w, h } = frame;
    let inner = Rect::new(x, y + 3.0, w, h - 6.0);
    let (left, right) = (faint(colour, 0.34), faint(colour, 0.08));
    canvas.brush.halo(inner, 16.0, faint(colour, 0.12));
    canvas.brush.shades(inner, [left, right, right, left]);
    canvas.brush.rect(Rect::new(x, y + 3.0, 5.0, h - 6.0), colour);
}
