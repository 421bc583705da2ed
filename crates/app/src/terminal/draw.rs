//! Draws a view in the terminal.

mod arena;
mod chat;
mod hud;
mod list;

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};

use crate::screen::{Look, Page, Palette, Tone, View};

/// On less than this there is nothing to be seen.
const SMALLEST: (u16, u16) = (60, 18);

/// Draws `view`; `hint` is what the player must know of this terminal's keys.
pub(crate) fn view(frame: &mut Frame<'_>, view: &View, hint: Option<&str>) {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        too_small(frame, area);
        return;
    }
    let [page, foot] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(area);
    let paint = Paint(view.palette);
    let mut keys = view.hint.clone();
    match &view.page {
        Page::List(it) => list::page(frame, page, it, paint),
        Page::Arena(it) => {
            arena::draw(frame, page, it, paint);
            if it.dialog.is_none() && it.typing.is_none() && it.persons > 0 {
                keys.extend(hint.map(|hint| format!("   {hint}")));
            }
        }
    }
    let keys = Line::styled(keys, paint.tone(Tone::Dim)).alignment(Alignment::Center);
    frame.render_widget(keys, foot);
}

fn too_small(frame: &mut Frame<'_>, area: Rect) {
    let (width, height) = SMALLEST;
    let text = format!(
        "This terminal is too small: {} x {}. Make it at least {width} x {height}.",
        area.width, area.height
    );
    frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
}

/// Which colours things have.
#[derive(Clone, Copy)]
pub(crate) struct Paint(pub(crate) Palette);

impl Paint {
    fn tone(self, tone: Tone) -> Style {
        let colour = match (tone, self.0) {
            (Tone::Plain, _) => return Style::new(),
            (Tone::Bright, _) => return Style::new().add_modifier(Modifier::BOLD),
            (Tone::Dim, _) => Color::Indexed(245),
            (Tone::Good, Palette::Usual) => Color::LightGreen,
            (Tone::Bad, Palette::Usual) => Color::LightRed,
            (Tone::Good, Palette::Safe) => Color::Indexed(75),
            (Tone::Bad, Palette::Safe) => Color::Indexed(202),
            (Tone::Fair, _) => Color::LightYellow,
        };
        Style::new().fg(colour)
    }

    /// A player's colour.
    pub(crate) fn crew(self, number: u8) -> Style {
        let colours = match self.0 {
            Palette::Usual => [117, 220, 213, 157],
            Palette::Safe => [75, 220, 175, 255],
        };
        Style::new().fg(Color::Indexed(colours[usize::from(number % 4)]))
    }

    /// The colour of a plain thing; a game's own looks have their own colours.
    pub(super) fn look(self, look: Look) -> Style {
        let colour = match (look, self.0) {
            (Look::Net, _) => Color::Indexed(240),
            (Look::Ball, _) => return Style::new().fg(Color::White).add_modifier(Modifier::BOLD),
            (Look::OwnPaddle, Palette::Usual) => Color::LightGreen,
            (Look::OtherPaddle, Palette::Usual) => Color::LightMagenta,
            (Look::OwnPaddle, Palette::Safe) => Color::Indexed(75),
            (Look::OtherPaddle, Palette::Safe) => Color::Indexed(214),
            (Look::Own(_), _) => return Style::new(),
        };
        Style::new().fg(colour)
    }
}

/// The middle of `area`, this large at most.
fn middle(area: Rect, width: u16, height: u16) -> Rect {
    area.centered(
        Constraint::Length(width.min(area.width)),
        Constraint::Length(height.min(area.height)),
    )
}

#[cfg(test)]
mod tests;
