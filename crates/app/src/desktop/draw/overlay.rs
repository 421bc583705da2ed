//! Draws the network overlay.

use backspin::channel::Fate;
use macroquad::math::{Rect, vec2};

use super::{SMALL, sign};
use crate::desktop::canvas::{Canvas, Style};
use crate::desktop::colour::{self, Paint, faint};
use crate::screen::{Overlay, Tone, ping_tone};

pub(super) const WIDE: f32 = 560.0;
const LINE: f32 = 27.0;
const GRAPH: f32 = 76.0;
const PAD: f32 = 18.0;

/// The graph reaches at least this far up, in ms: noise on a good line is no mountain.
const GRAPH_MS: f32 = 50.0;

/// Above which ping a bar is yellow, and red.
const FAIR_MS: f32 = 100.0;
const BAD_MS: f32 = 200.0;

/// Where acknowledgements are marked, between what was sent and what was applied.
const MARKS: f32 = 40.0;

/// A number of the timeline, and how many there are at most.
const NUMBER: f32 = 62.0;
const NUMBERS: usize = 7;

/// Draws the overlay above the foot of the field, around `middle`.
pub(super) fn draw(canvas: &mut Canvas, field: Rect, middle: f32, overlay: &Overlay, paint: Paint) {
    let lines = overlay.figures.len().div_ceil(2) as f32;
    let inputs = if overlay.inputs.is_empty() { 0.0 } else { 14.0 + 2.0 * LINE + MARKS };
    let height = 2.0 * PAD + LINE + lines * LINE + 10.0 + GRAPH + inputs;
    let frame = Rect::new(middle - WIDE / 2.0, field.bottom() - height - 12.0, WIDE, height);
    canvas.brush.rect(frame, faint(colour::PANEL, 0.88));
    canvas.brush.frame(frame, 1.5, colour::EDGE);
    let dim = Style::new(SMALL, paint.tone(Tone::Dim));
    let mut y = frame.y + PAD;
    canvas.write("NETWORK", vec2(frame.x + PAD, y + 20.0), dim.bold());
    canvas.write("F3", vec2(frame.right() - PAD, y + 20.0), dim.right());
    y += LINE;
    let half = (WIDE - 2.0 * PAD) / 2.0;
    for (i, figure) in overlay.figures.iter().enumerate() {
        let x = frame.x + PAD + (i % 2) as f32 * half;
        let base = y + (i / 2) as f32 * LINE + 21.0;
        canvas.write(figure.name, vec2(x, base), dim);
        let style = Style::new(SMALL, paint.tone(figure.tone));
        let at = vec2(x + (canvas.width(figure.name, dim) + 12.0).max(112.0), base);
        canvas.write(&figure.value, at, style);
        if let Some(grade) = figure.sign {
            let beside = at.x + canvas.width(&figure.value, style) + 10.0;
            sign::draw(canvas, vec2(beside, base), grade, style.colour);
        }
    }
    y += lines * LINE + 10.0;
    graph(canvas, Rect::new(frame.x + PAD, y, WIDE - 2.0 * PAD, GRAPH), &overlay.pings, paint);
    y += GRAPH + 14.0;
    if inputs > 0.0 {
        timeline(canvas, Rect::new(frame.x + PAD, y, WIDE - 2.0 * PAD, inputs), overlay, paint);
    }
}

/// The ping of the last ten seconds, the newest on the right.
fn graph(canvas: &mut Canvas, area: Rect, pings: &[Option<f32>], paint: Paint) {
    const KEPT: f32 = 40.0;
    let top = pings.iter().flatten().fold(GRAPH_MS, |top, ping| top.max(*ping));
    canvas.brush.rect(area, faint(colour::NIGHT, 0.8));
    for ms in [FAIR_MS, BAD_MS].into_iter().filter(|ms| *ms < top) {
        let y = area.bottom() - area.h * ms / top;
        canvas.brush.bar(Rect::new(area.x, y, area.w, 1.0), colour::EDGE);
    }
    let step = area.w / KEPT;
    let first = KEPT - pings.len() as f32;
    for (i, ping) in pings.iter().enumerate() {
        let x = area.x + (first + i as f32) * step;
        let Some(ms) = ping else {
            // Nothing was heard.
            let dot = Rect::new(x, area.bottom() - 3.0, step - 2.0, 3.0);
            canvas.brush.rect(dot, faint(paint.tone(Tone::Bad), 0.8));
            continue;
        };
        let h = (area.h * ms / top).max(2.0);
        let bar = Rect::new(x, area.bottom() - h, step - 2.0, h);
        let colour = paint.tone(ping_tone(*ms));
        canvas.brush.fall(bar, colour, faint(colour, 0.35));
    }
    let scale = Style::new(18.0, paint.tone(Tone::Plain));
    for (text, y) in [(format!("{top:.0} ms"), area.y), ("10 s".into(), area.bottom() - 24.0)] {
        let wide = canvas.width(&text, scale) + 12.0;
        canvas.brush.rect(Rect::new(area.x, y, wide, 24.0), faint(colour::NIGHT, 0.85));
        canvas.write(&text, vec2(area.x + 6.0, y + 18.0), scale);
    }
}

/// The last inputs as they were sent, marks below those that an acknowledgement named, and the inputs
/// as the server applied them: what was lost is crossed out above, passed over by the marks, and missing
/// below.
fn timeline(canvas: &mut Canvas, area: Rect, overlay: &Overlay, paint: Paint) {
    let dim = Style::new(SMALL, paint.tone(Tone::Dim));
    for (name, y) in [("sent", 0.0), ("ack", LINE), ("applied", LINE + MARKS)] {
        canvas.write(name, vec2(area.x, area.y + y + 19.0), dim);
    }
    let mut newest = None;
    let inputs = &overlay.inputs;
    let shown = inputs.len().min(NUMBERS);
    for (i, (tick, fate)) in inputs[inputs.len() - shown..].iter().enumerate() {
        let x = area.right() - (shown - i) as f32 * NUMBER;
        let tone = match fate {
            Fate::Sent => Tone::Dim,
            Fate::Acknowledged => Tone::Good,
            Fate::Lost => Tone::Bad,
        };
        let colour = paint.tone(tone);
        for row in 0..2 {
            let y = area.y + row as f32 * (LINE + MARKS);
            let cell = Rect::new(x, y, NUMBER - 4.0, LINE - 4.0);
            let number = match (fate, row) {
                (Fate::Sent, 1) => continue,
                (Fate::Lost, 0) => "X".to_owned(),
                (Fate::Lost, _) => String::new(),
                _ => tick.to_string(),
            };
            canvas.brush.rect(cell, faint(colour, 0.14));
            canvas.brush.frame(cell, 1.0, faint(colour, 0.8));
            let style = Style::new(18.0, colour).middle();
            canvas.write(&number, vec2(cell.center().x, cell.y + 17.0), style);
        }
        if overlay.acks.contains(tick) {
            let at = vec2(x + NUMBER / 2.0 - 2.0, area.y + LINE);
            for side in [-5.0, 5.0] {
                canvas.brush.line(at + vec2(side, 7.0), at, 2.0, paint.tone(Tone::Plain));
            }
            newest = Some((tick, at));
        }
    }
    if let Some((tick, at)) = newest {
        let style = Style::new(18.0, paint.tone(Tone::Plain));
        let text = format!("ACK({tick}) -> clears all <={tick}");
        let left = (at.x - 5.0).min(area.right() - canvas.width(&text, style));
        canvas.write(&text, vec2(left, at.y + 28.0), style);
    }
}
