//! Draws a crew's lives, points and boss.

use macroquad::math::{Rect, vec2};

use super::arena::SIGN;
use super::{SMALL, sign};
use crate::desktop::canvas::{Canvas, Style};
use crate::desktop::colour::{self, Paint, faint};
use crate::desktop::sheet;
use crate::screen::{Arena, Crew, Hud, Tone};

/// What the crew's lines take above the field.
pub(super) const HEAD: f32 = CARD + 34.0;

/// What the crew's cards take of it.
const CARD: f32 = 76.0;

/// A player's place above the field is at most so wide.
const PLACE: f32 = 316.0;

/// More lives than this are shown as a number.
const LIVES: u8 = 4;

/// Draws it around and over the field.
pub(super) fn draw(
    canvas: &mut Canvas,
    area: Rect,
    field: Rect,
    arena: &Arena,
    hud: &Hud,
    paint: Paint,
) {
    let wide = (area.w - 24.0).min(PLACE * 4.0) / hud.crew.len().clamp(3, 4) as f32;
    let left = area.center().x - wide * hud.crew.len() as f32 / 2.0;
    for (i, crew) in hud.crew.iter().enumerate() {
        let place = Rect::new(left + i as f32 * wide + 6.0, area.y + 6.0, wide - 12.0, CARD - 8.0);
        member(canvas, place, crew, paint);
    }
    let dim = Style::new(SMALL - 2.0, paint.tone(Tone::Dim));
    // Above the field: there are turrets at its edges.
    let base = field.y - 12.0;
    let wave = hud.wave.map_or(String::new(), |(wave, of)| format!("   wave {wave}/{of}"));
    let title = format!("{}{wave}", hud.title);
    canvas.write(&title, vec2(field.x + 16.0, base), dim);
    let mut x = field.right() - 16.0;
    for cell in arena.status.iter().rev() {
        let style = Style::new(SMALL, paint.tone(cell.tone)).right();
        canvas.write(&cell.text, vec2(x, base), style);
        x -= canvas.width(&cell.text, style);
        if let Some(grade) = cell.sign {
            x -= SIGN;
            sign::draw(canvas, vec2(x, base), grade, style.colour);
        }
        x -= 24.0;
    }
    if hud.crew.len() > 1 {
        let team = format!("team {}", hud.team_score);
        let style = Style::new(SMALL, paint.tone(Tone::Plain)).right();
        canvas.write(&team, vec2(x, base), style);
    }
    if let Some(left) = hud.boss {
        boss(canvas, field, left, paint);
    }
}

fn member(canvas: &mut Canvas, place: Rect, crew: &Crew, paint: Paint) {
    let colour = paint.crew(crew.number);
    let (alpha, edge) = if crew.own { (0.9, 0.9) } else { (0.6, 0.35) };
    canvas.brush.rect(place, faint(colour::PANEL, alpha));
    canvas.brush.frame(place, 1.5, faint(colour, edge));
    canvas.brush.rect(Rect::new(place.x, place.y, 5.0, place.h), colour);
    let (left, right) = (place.x + 18.0, place.right() - 12.0);
    let (above, below) = (place.y + 27.0, place.y + 55.0);
    let score = Style::new(SMALL + 2.0, colour::WHITE).bold().right();
    let points = crew.score.to_string();
    canvas.write(&points, vec2(right, above), score);
    let name = Style::new(SMALL, colour).bold();
    let room = right - left - canvas.width(&points, score) - 16.0;
    let text = super::arena::clip(canvas, &crew.name, name, room);
    canvas.write(&text, vec2(left, above), name);
    if let Some(note) = crew.note {
        let style = Style::new(SMALL - 2.0, paint.tone(Tone::Fair));
        canvas.write(note, vec2(left, below), style);
        return;
    }
    let icons = crew.lives.min(LIVES);
    for i in 0..icons {
        let icon = Rect::new(left + f32::from(i) * 34.0, below - 17.0, 30.0, 18.0);
        canvas.brush.cell(sheet::SHIP, icon, 0.0, colour::WHITE);
        canvas.brush.cell(sheet::SHIP_TRIM, icon, 0.0, colour);
    }
    if crew.lives > LIVES {
        let more = format!("{}", crew.lives);
        let style = Style::new(SMALL - 2.0, colour::WHITE);
        canvas.write(&more, vec2(left + f32::from(LIVES) * 34.0 + 4.0, below), style);
    }
    if crew.combo > 1 {
        let style = Style::new(SMALL, paint.tone(Tone::Fair)).bold().right();
        canvas.write(&format!("x{}", crew.combo), vec2(right, below), style);
    }
    if crew.charge > 0.0 {
        let bar = Rect::new(place.x + 5.0, place.bottom() - 5.0, place.w - 5.0, 5.0);
        canvas.brush.rect(bar, faint(colour::NIGHT, 0.8));
        let full = Rect { w: bar.w * crew.charge.clamp(0.0, 1.0), ..bar };
        canvas.brush.rect(full, colour::BOLT);
    }
}

fn boss(canvas: &mut Canvas, field: Rect, left: f32, paint: Paint) {
    let wide = field.w * 0.44;
    let bar = Rect::new(field.center().x - wide / 2.0, field.y + 46.0, wide, 16.0);
    let style = Style::new(SMALL, paint.tone(Tone::Bad)).bold().middle();
    canvas.write("BOSS", vec2(bar.center().x, bar.y - 8.0), style);
    canvas.brush.rect(bar, faint(colour::NIGHT, 0.85));
    let full = Rect { w: bar.w * left.clamp(0.0, 1.0), ..bar };
    let colour = paint.tone(Tone::Bad);
    canvas.brush.halo(full, 10.0, faint(colour, 0.4));
    canvas.brush.fall(full, colour, faint(colour, 0.6));
    canvas.brush.frame(bar, 1.5, faint(colour::WHITE, 0.7));
}
