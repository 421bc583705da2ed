//! Draws a match.

use macroquad::math::{Rect, Vec2, vec2};

use super::{SMALL, TEXT, chat, field, hud, overlay, sign};
use crate::desktop::brush::Brush;
use crate::desktop::canvas::{Canvas, Style};
use crate::desktop::colour::{self, Paint, faint};
use crate::desktop::effects::Effects;
use crate::desktop::stars::{self, Sky};
use crate::screen::{Arena, Banner, Cell, Flashing, Look, Scene, Tone};

/// Above the field.
const HEAD: f32 = 62.0;

/// Beside and below the field.
const MARGIN: f32 = 14.0;

/// What goes on at the moment beside the match itself.
pub(super) struct Moment<'a> {
    pub(super) effects: &'a Effects,
    pub(super) shake: Vec2,
    pub(super) flashing: Flashing,
    pub(super) sky: Sky,
}

pub(super) fn draw(
    canvas: &mut Canvas,
    area: Rect,
    arena: &Arena,
    paint: Paint,
    moment: &Moment<'_>,
) {
    let head = if arena.hud.is_some() { hud::HEAD } else { HEAD };
    let room = Rect::new(area.x + MARGIN, area.y + head, area.w - 2.0 * MARGIN, area.h - head);
    let (field, scale) = fit(room, &arena.scene);
    let field = field.offset(moment.shake);
    let outer = canvas.brush.place;
    canvas.brush.place = outer.within(field.point(), scale);
    ground(&mut canvas.brush, arena);
    score(canvas, arena);
    canvas.layer();
    scene(&mut canvas.brush, arena, paint, moment);
    canvas.brush.place = outer;
    if arena.hud.is_some() {
        // What flies in from far away is not seen before it is there.
        let whole = canvas.area();
        stars::draw_around(&mut canvas.brush, whole, field, moment.sky);
    }
    edge(&mut canvas.brush, field, arena, paint);
    match &arena.hud {
        Some(it) => hud::draw(canvas, area, field, arena, it, paint),
        None => header(canvas, area, field, arena, paint),
    }
    chat::draw(canvas, field, arena, paint);
    if let Some(notice) = &arena.notice {
        // Where the overlay is not, nor what is being typed.
        let is_below = arena.overlay.is_none() && arena.typing.is_none();
        let y = if is_below { field.bottom() - 40.0 } else { field.y + 34.0 };
        label(canvas, vec2(field.center().x, y), notice, paint);
    }
    if let Some(it) = &arena.banner {
        // Over the overlay, where there is one.
        let part = if arena.overlay.is_some() { 0.17 } else { 0.5 };
        banner(canvas, vec2(field.center().x, field.y + field.h * part), it, paint);
    }
    if let Some(it) = &arena.overlay {
        canvas.layer();
        // The paddles are at the sides; what a crew says is on the left.
        let right = field.right() - 12.0 - overlay::WIDE / 2.0;
        let middle = if arena.hud.is_some() { right } else { field.center().x };
        overlay::draw(canvas, field, middle, it, paint);
    }
}

/// All that moves.
fn scene(brush: &mut Brush, arena: &Arena, paint: Paint, moment: &Moment<'_>) {
    moment.effects.draw_trail(brush, ball_size(&arena.scene), paint);
    field::things(brush, &arena.scene, paint, moment.sky.seconds);
    moment.effects.draw_sparks(brush, moment.flashing);
}

/// Where the field is, as large as it goes, and how many units one of its own has.
fn fit(room: Rect, scene: &Scene) -> (Rect, f32) {
    let scale = (room.w / scene.width.max(1.0)).min(room.h / scene.height.max(1.0));
    let (w, h) = (scene.width * scale, scene.height * scale);
    let at = room.center() - vec2(w, h) / 2.0;
    (Rect::new(at.x, at.y, w, h), scale)
}

fn ball_size(scene: &Scene) -> f32 {
    let ball = scene.things.iter().find(|thing| thing.look == Look::Ball);
    ball.map_or(0.0, |ball| ball.height)
}

/// The field itself.
fn ground(brush: &mut Brush, arena: &Arena) {
    let Scene { width, height, .. } = arena.scene;
    let field = Rect::new(0.0, 0.0, width, height);
    // Among the stars nothing is in the way of them.
    let dark = if arena.hud.is_some() { 0.2 } else { 0.5 };
    brush.rect(field, faint(colour::NIGHT, dark));
}

/// The field's edge, which is lit when a point is made.
fn edge(brush: &mut Brush, field: Rect, arena: &Arena, paint: Paint) {
    let edge = if arena.flash { colour::WHITE } else { colour::EDGE };
    let light = if arena.flash { faint(colour::WHITE, 0.35) } else { faint(paint.own(), 0.10) };
    let Rect { x, y, w, h } = field;
    brush.halo(field, 26.0, light);
    brush.frame(Rect::new(x - 3.0, y - 3.0, w + 6.0, h + 6.0), 3.0, edge);
}

/// The points, large, behind everything.
fn score(canvas: &mut Canvas, arena: &Arena) {
    let Scene { width, height, .. } = arena.scene;
    for (i, (_, points)) in arena.sides.iter().take(2).enumerate() {
        let x = width * (0.25 + 0.5 * i as f32);
        let style = Style::new(field_text(canvas, height * 0.34), faint(colour::EDGE, 0.75));
        canvas.write(&points.to_string(), vec2(x, height * 0.36), style.bold().middle());
    }
}

/// The size of a text that is `units` of the field high.
fn field_text(canvas: &Canvas, units: f32) -> f32 {
    let px = canvas.brush.place.px(vec2(0.0, units)).y - canvas.brush.place.px(Vec2::ZERO).y;
    px / canvas.px(Rect::new(0.0, 0.0, 1.0, 1.0)).w
}

/// A sign and the space behind it.
pub(super) const SIGN: f32 = sign::WIDE + 10.0;

/// The players' names and the connection grade.
fn header(canvas: &mut Canvas, area: Rect, field: Rect, arena: &Arena, paint: Paint) {
    let base = area.y + HEAD / 2.0 + TEXT * 0.4;
    let name = Style::new(TEXT + 3.0, colour::WHITE).bold();
    let mut status: Vec<(&Cell, f32)> = Vec::new();
    let small = Style::new(SMALL, colour::WHITE);
    for cell in &arena.status {
        let sign = if cell.sign.is_some() { SIGN } else { 0.0 };
        status.push((cell, sign + canvas.width(&cell.text, small)));
    }
    const APART: f32 = 26.0;
    let wide = status.iter().map(|(_, wide)| wide + APART).sum::<f32>() - APART;
    let middle = field.center().x;
    let places = [
        (true, field.x + 6.0, field.x + 26.0, name),
        (false, field.right() - 14.0, field.right() - 26.0, name.right()),
    ];
    for ((side, _), (is_left, bar, at, style)) in arena.sides.iter().zip(places) {
        let colour = paint.side(arena.scene.own_side(), is_left);
        canvas.brush.rect(Rect::new(bar, base - 22.0, 8.0, 26.0), colour);
        let text = clip(canvas, side, name, (field.w - wide.max(0.0)) / 2.0 - 60.0);
        canvas.write(&text, vec2(at, base), style);
    }
    let mut x = middle - wide / 2.0;
    for (cell, wide) in status {
        let colour = paint.tone(cell.tone);
        let mut left = x;
        if let Some(grade) = cell.sign {
            sign::draw(canvas, vec2(x, base), grade, colour);
            left += SIGN;
        }
        canvas.write(&cell.text, vec2(left, base), Style::new(SMALL, colour));
        x += wide + APART;
    }
}

/// As much of a text as fits.
pub(super) fn clip(canvas: &Canvas, text: &str, style: Style, wide: f32) -> String {
    let mut text = text.to_owned();
    if canvas.width(&text, style) <= wide {
        return text;
    }
    while !text.is_empty() && canvas.width(&format!("{text}..."), style) > wide {
        text.pop();
    }
    text + "..."
}

fn banner(canvas: &mut Canvas, middle: Vec2, banner: &Banner, paint: Paint) {
    let mut y = middle.y;
    if !banner.large.is_empty() {
        let style = Style::new(190.0, paint.tone(Tone::Fair)).bold().middle();
        canvas.brush.glow(middle, 210.0, faint(colour::NIGHT, 0.85));
        canvas.brush.glow(middle, 170.0, faint(paint.tone(Tone::Fair), 0.16));
        canvas.write(&banner.large, vec2(middle.x, middle.y + 64.0), style);
        y += 130.0;
    }
    for (i, text) in banner.text.iter().enumerate() {
        let at = vec2(middle.x, y + i as f32 * 56.0);
        label(canvas, at, &Cell::new(text.as_str(), Tone::Fair), paint);
    }
}

/// Words over the field, with a little air.
fn label(canvas: &mut Canvas, at: Vec2, cell: &Cell, paint: Paint) {
    let style = Style::new(TEXT, paint.tone(cell.tone)).middle();
    let wide = canvas.width(&cell.text, style) + 48.0;
    let frame = Rect::new(at.x - wide / 2.0, at.y - 24.0, wide, 48.0);
    canvas.brush.rect(frame, faint(colour::PANEL, 0.9));
    canvas.brush.frame(frame, 1.5, faint(paint.tone(cell.tone), 0.7));
    canvas.write(&cell.text, vec2(at.x, at.y + TEXT * 0.35), style);
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::super::sample;
    use super::*;
    use crate::screen::Palette;

    /// The CPU time of this thread, where the system tells it.
    fn cpu() -> Option<Duration> {
        let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let nanos = told.split_whitespace().next()?.parse().ok()?;
        Some(Duration::from_nanos(nanos))
    }

    /// Everything of a picture that is ours but its text: sky, things, sparks, as triangles.
    #[test]
    fn a_busy_scene_costs_less_than_2_ms_of_cpu_a_picture() {
        const PICTURES: u32 = 200;
        // Without optimisation it is some twenty times as slow.
        let limit = Duration::from_millis(if cfg!(debug_assertions) { 30 } else { 2 });
        let (arena, paint) = (sample::busy(), Paint(Palette::Usual));
        let mut effects = Effects::default();
        effects.follow(&arena, paint, Duration::from_millis(16));
        let mut brush = Brush::default();
        let area = Rect::new(0.0, 0.0, 1280.0, 720.0);
        let field = Rect::new(140.0, 80.0, 1000.0, 600.0);
        let begin = cpu();
        for i in 0..PICTURES {
            let sky = Sky { far: i as f32, seconds: i as f32 / 60.0 };
            let flashing = Flashing::Usual;
            let moment = Moment { effects: &effects, shake: Vec2::ZERO, flashing, sky };
            brush.clear();
            stars::draw(&mut brush, area, sky);
            ground(&mut brush, &arena);
            scene(&mut brush, &arena, paint, &moment);
            stars::draw_around(&mut brush, area, field, sky);
            edge(&mut brush, field, &arena, paint);
        }
        let spent = cpu().zip(begin).map(|(end, begin)| end - begin);
        let Some(spent) = spent.filter(|spent| !spent.is_zero()) else {
            eprintln!("skipped: this system does not tell a thread's CPU time");
            return;
        };
        let each = spent / PICTURES;
        let quads: usize = brush.batches().iter().map(|it| it.indices.len() / 6).sum();
        println!("{quads} quads of {} things in {each:?}", arena.scene.things.len());
        assert!(quads > 1_500 && each < limit, "{quads} quads in {each:?}");
    }

    #[test]
    fn the_field_is_as_large_as_it_goes_and_in_the_middle() {
        let scene = Scene { width: 1440.0, height: 900.0, ..Scene::default() };
        let (field, scale) = fit(Rect::new(0.0, 60.0, 1280.0, 620.0), &scene);
        assert!((field.h - 620.0).abs() < 0.01 && (scale - 620.0 / 900.0).abs() < 1e-5);
        assert!((field.center().x - 640.0).abs() < 0.01);
        let (field, _) = fit(Rect::new(0.0, 60.0, 1280.0, 900.0), &scene);
        assert!((field.w - 1280.0).abs() < 0.01 && (field.h - 800.0).abs() < 0.01);
    }
}
