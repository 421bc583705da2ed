//! What players write to each other, over the lower left of the field.

use macroquad::math::{Rect, vec2};

use super::SMALL;
use crate::desktop::canvas::{Canvas, Style};
use crate::desktop::colour::{self, Paint, faint};
use crate::screen::{Arena, ChatLine, Tone, tail, wrap};

/// From one line to the next, and from a name to what it says.
const ROW: f32 = 30.0;
const NAME_GAP: f32 = 12.0;

/// Draws what was said, and what is being typed below it.
pub(super) fn draw(canvas: &mut Canvas, field: Rect, arena: &Arena, paint: Paint) {
    // Beside the left paddle, where there is one.
    let left = field.x + if arena.hud.is_some() { 16.0 } else { field.w * 0.06 };
    let wide = field.right() - left - (left - field.x);
    let mut bottom = field.bottom() - 20.0;
    if let Some(text) = &arena.typing {
        entry(canvas, Rect::new(left - 8.0, bottom - 30.0, wide + 16.0, 42.0), text, paint);
        bottom -= 48.0;
    }
    for line in arena.chat.iter().rev() {
        let rows = rows(canvas, line, wide);
        for (i, row) in rows.iter().enumerate().rev() {
            self::line(canvas, vec2(left, bottom).into(), line, (row, i == 0), paint);
            bottom -= ROW;
        }
    }
}

/// One row of a line; the first has the name.
fn line(
    canvas: &mut Canvas,
    at: (f32, f32),
    line: &ChatLine,
    (text, is_first): (&str, bool),
    paint: Paint,
) {
    let tone = if line.name.is_empty() { Tone::Fair } else { Tone::Plain };
    let style = Style::new(SMALL, faint(paint.tone(tone), line.fade));
    let mut x = at.0;
    if is_first && !line.name.is_empty() {
        let name = Style::new(SMALL, faint(paint.crew(line.number), line.fade)).bold();
        canvas.write(&line.name, vec2(x, at.1), name);
        x += canvas.width(&line.name, name) + NAME_GAP;
    }
    canvas.write(text, vec2(x, at.1), style);
}

/// Where a line is typed.
fn entry(canvas: &mut Canvas, frame: Rect, text: &str, paint: Paint) {
    canvas.brush.rect(frame, faint(colour::PANEL, 0.92));
    canvas.brush.frame(frame, 1.5, faint(paint.own(), 0.8));
    let label = Style::new(SMALL, paint.tone(Tone::Dim));
    let at = vec2(frame.x + 12.0, frame.bottom() - 13.0);
    canvas.write("Say", at, label);
    let x = at.x + canvas.width("Say", label) + 14.0;
    let style = Style::new(SMALL, colour::WHITE);
    // The end is what is being typed.
    let shown = tail(text, frame.right() - 24.0 - x, |text| canvas.width(text, style));
    canvas.write(shown, vec2(x, at.y), style);
    let cursor = x + canvas.width(shown, style) + 3.0;
    canvas.brush.rect(Rect::new(cursor, at.y - 18.0, 3.0, 23.0), paint.own());
}

/// The rows of a line.
fn rows(canvas: &Canvas, line: &ChatLine, wide: f32) -> Vec<String> {
    let style = Style::new(SMALL, colour::WHITE);
    let name = match line.name.is_empty() {
        true => 0.0,
        false => canvas.width(&line.name, style.bold()) + NAME_GAP,
    };
    wrap(&line.text, wide - name, wide, |text| canvas.width(text, style))
}
