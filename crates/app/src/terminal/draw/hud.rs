//! Draws a crew's figures, above and in the field.

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use super::Paint;
use super::arena::status as status_of;
use crate::screen::{Cell, Crew, Hud, Tone};

/// Rows above the field.
pub(super) const ROWS: u16 = 2;

/// The steps of a charge.
const CHARGE_STEPS: usize = 6;

/// Level and wave on the left, the line on the right, the score in the middle; below it the crew.
pub(super) fn head(frame: &mut Frame<'_>, area: Rect, hud: &Hud, status: &[Cell], paint: Paint) {
    let [first, second] = [0, 1].map(|row| Rect { y: area.y + row, height: 1, ..area });
    let mut spans = Vec::new();
    for cell in status {
        spans.push(Span::styled(format!("{}  ", status_of(cell)), paint.tone(cell.tone)));
    }
    spans.push(Span::styled(format!("{:07} ", hud.team_score), paint.tone(Tone::Bright)));
    let right = Line::from(spans);
    let room = usize::from(first.width).saturating_sub(right.width());
    frame.render_widget(title(hud, room, paint), first);
    frame.render_widget(right.alignment(Alignment::Right), first);
    let mut spans = Vec::new();
    let brief = hud.crew.len() > 2;
    for crew in &hud.crew {
        member(crew, brief, paint, &mut spans);
    }
    frame.render_widget(Line::from(spans), second);
}

/// Level and wave, as much of it as there is room for.
fn title(hud: &Hud, room: usize, paint: Paint) -> Line<'static> {
    let wave = hud.wave.map_or(String::new(), |(wave, waves)| format!("  wave {wave}/{waves}"));
    let brief = hud.title.split(':').next().unwrap_or_default();
    let with = |title: &str, wave: &str| {
        Line::from(vec![
            Span::styled(format!(" {title}"), paint.tone(Tone::Bright)),
            Span::styled(wave.to_owned(), paint.tone(Tone::Dim)),
        ])
    };
    let fits = |line: &Line<'_>| line.width() < room;
    let all = [with(&hud.title, &wave), with(brief, &wave), with(brief, "")];
    all.into_iter().find(fits).unwrap_or_default()
}

/// One of the crew: name, lives, score, chain, charge.
fn member(crew: &Crew, brief: bool, paint: Paint, spans: &mut Vec<Span<'static>>) {
    let mut style = paint.crew(crew.number);
    if crew.own {
        style = style.add_modifier(Modifier::BOLD);
    }
    let name: String = crew.name.chars().take(if brief { 8 } else { 15 }).collect();
    spans.push(Span::styled(format!(" {name} "), style));
    if let Some(note) = crew.note {
        spans.push(Span::styled(format!("{note} "), paint.tone(Tone::Bad)));
    }
    spans.push(Span::styled(format!("♥{}", crew.lives), paint.tone(Tone::Bad)));
    spans.push(Span::styled(format!(" {}", crew.score), paint.tone(Tone::Plain)));
    if crew.combo > 1 {
        spans.push(Span::styled(format!(" x{}", crew.combo), paint.tone(Tone::Fair)));
    }
    if crew.own && crew.charge > 0.0 {
        let on = ((crew.charge * CHARGE_STEPS as f32).round() as usize).min(CHARGE_STEPS);
        let bar = "▮".repeat(on) + &"▯".repeat(CHARGE_STEPS - on);
        spans.push(Span::styled(format!(" {bar}"), paint.tone(Tone::Fair)));
    }
    spans.push(Span::raw("  "));
}

/// What is left of the boss.
pub(super) fn over_field(frame: &mut Frame<'_>, area: Rect, hud: &Hud, paint: Paint) {
    if let Some(left) = hud.boss {
        let width = area.width / 2;
        let row = Rect { x: area.x + area.width / 4, width, height: 1, ..area };
        let inner = width.saturating_sub(7);
        let on = (f32::from(inner) * left.clamp(0.0, 1.0)).ceil() as usize;
        let bar = Line::from(vec![
            Span::styled(" BOSS ", paint.tone(Tone::Bad).add_modifier(Modifier::BOLD)),
            Span::styled("█".repeat(on), paint.tone(Tone::Bad)),
            Span::styled("░".repeat(usize::from(inner) - on), Style::new().fg(Color::Indexed(238))),
            Span::raw(" "),
        ]);
        frame.render_widget(bar, row);
    }
}
