//! A view on the screen.

mod arena;
mod hud;
mod list;

use backspin_rtype::enemy::Species;
use backspin_rtype::power_up::Bonus;
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
            if it.dialog.is_none() && it.persons > 0 {
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
struct Paint(Palette);

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
    fn crew(self, number: u8) -> Style {
        let colours = match self.0 {
            Palette::Usual => [117, 220, 213, 157],
            Palette::Safe => [75, 220, 175, 255],
        };
        Style::new().fg(Color::Indexed(colours[usize::from(number % 4)]))
    }

    fn look(self, look: Look) -> Style {
        let colour = match (look, self.0) {
            (Look::Net, _) => Color::Indexed(240),
            (Look::Ball, _) => return Style::new().fg(Color::White).add_modifier(Modifier::BOLD),
            (Look::OwnPaddle, Palette::Usual) => Color::LightGreen,
            (Look::OtherPaddle, Palette::Usual) => Color::LightMagenta,
            (Look::OwnPaddle, Palette::Safe) => Color::Indexed(75),
            (Look::OtherPaddle, Palette::Safe) => Color::Indexed(214),
            (Look::Ship(ship), _) => return self.crew(ship.number),
            (Look::Pod { number, .. }, _) => return self.crew(number),
            (Look::Shot { own: true } | Look::HeavyShot { own: true }, _) => Color::Indexed(229),
            (Look::Shot { own: false } | Look::HeavyShot { own: false }, _) => Color::Indexed(144),
            (Look::Enemy(species), _) => enemy(species),
            (Look::Boss { look, .. }, _) => [167, 134, 179]
                .get(usize::from(look).saturating_sub(1))
                .map_or(Color::Indexed(167), |colour| Color::Indexed(*colour)),
            (Look::Bullet, Palette::Usual) => Color::Indexed(203),
            (Look::Bullet, Palette::Safe) => Color::Indexed(214),
            (Look::PowerUp(bonus), _) => {
                let style = Style::new().fg(power_up(bonus));
                return style.add_modifier(Modifier::REVERSED | Modifier::BOLD);
            }
        };
        Style::new().fg(colour)
    }
}

fn enemy(species: Species) -> Color {
    Color::Indexed(match species {
        Species::Drone => 167,
        Species::Weaver => 173,
        Species::Diver => 169,
        Species::Turret => 103,
        Species::Carrier => 97,
        Species::Mine => 71,
    })
}

fn power_up(bonus: Bonus) -> Color {
    Color::Indexed(match bonus {
        Bonus::Weapon => 203,
        Bonus::Shield => 75,
        Bonus::Speed => 227,
        Bonus::Life => 83,
        Bonus::Force => 214,
    })
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
