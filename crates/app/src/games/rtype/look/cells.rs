//! R-Type in a terminal: small things are one-row sprites, large ones shapes.

use backspin_rtype::enemy::Species;
use backspin_rtype::power_up::Bonus;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use super::{Look, Ship};
use crate::screen::{Palette, Thing};
use crate::terminal::Paint;
use crate::terminal::grid::Grid;

pub(super) fn draw(look: Look, thing: &Thing, grid: &Grid, buffer: &mut Buffer, paint: Paint) {
    let style = style(look, paint);
    match look {
        Look::Ship(ship) => draw_ship(grid, thing, ship, buffer, style),
        Look::Boss { look, .. } => grid.shape(thing, buffer, style, |x, y| boss(look, x, y)),
        Look::Enemy(Species::Carrier) => grid.shape(thing, buffer, style, carrier),
        look => {
            if let Some(sprite) = sprite(look, thing.width * grid.scale.0) {
                grid.sprite(thing, sprite, buffer, style);
            }
        }
    }
}

fn style(look: Look, paint: Paint) -> Style {
    let colour = match (look, paint.0) {
        (Look::Ship(ship), _) => return paint.crew(ship.number),
        (Look::Pod { number, .. }, _) => return paint.crew(number),
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

/// What is one row high, as wide as it may be: the widest that fits, or the narrowest.
fn sprite(look: Look, width: f32) -> Option<&'static str> {
    let sizes: &[&str] = match look {
        Look::Pod { .. } => &["◉", "(◉)"],
        Look::Shot { .. } => &["─", "──", "───"],
        Look::HeavyShot { .. } => &["━◆", "━━◆", "━━━━◆"],
        Look::Bullet => &["●"],
        Look::Enemy(Species::Drone) => &["◄■", "◄■■", "◄■■■="],
        Look::Enemy(Species::Weaver) => &["◄≈", "◄≈≈", "◄≈■≈≈"],
        Look::Enemy(Species::Diver) => &["◄━", "◄━◄", "◄━■━◄"],
        Look::Enemy(Species::Turret) => &["╔█", "╔██", "═╣███"],
        Look::Enemy(Species::Mine) => &["¤", "{¤}", "-{¤}-"],
        Look::PowerUp(Bonus::Weapon) => &["[W]"],
        Look::PowerUp(Bonus::Shield) => &["[S]"],
        Look::PowerUp(Bonus::Speed) => &["[E]"],
        Look::PowerUp(Bonus::Life) => &["[+]"],
        Look::PowerUp(Bonus::Force) => &["[F]"],
        _ => return None,
    };
    let fits = |sprite: &&&str| sprite.chars().count() as f32 <= width + 0.5;
    sizes.iter().rfind(fits).or(sizes.first()).copied()
}

/// The hull of a carrier: a blunt bow to the left, bays along it.
fn carrier(x: f32, y: f32) -> bool {
    let half = 0.5 - 0.35 * (1.0 - x / 0.3).clamp(0.0, 1.0);
    let bay = (y - 0.5).abs() < 0.12 && (x * 5.0).fract() < 0.4 && x > 0.35;
    (y - 0.5).abs() <= half && !bay
}

/// A boss, one of three: a shell with an eye, a claw, a wall with teeth.
fn boss(look: u8, x: f32, y: f32) -> bool {
    let (dx, dy) = (x - 0.5, y - 0.5);
    let eye = (x - 0.3).hypot(y - 0.5);
    let body = match look {
        1 => dx.hypot(dy) <= 0.5,
        2 => {
            dy.abs() >= 0.5 - x * 0.55 - 0.05 && dy.abs() <= 0.5
                || (dx.abs() < 0.3 && dy.abs() < 0.25)
        }
        _ => x >= 0.25 || (y * 6.0).fract() < 0.5 || dy.abs() < 0.2,
    };
    body && !(0.1..0.17).contains(&eye)
}

/// A ship: its shield around it, its charge before it.
fn draw_ship(grid: &Grid, thing: &Thing, ship: Ship, buffer: &mut Buffer, style: Style) {
    let wide = thing.width * grid.scale.0 >= 3.5;
    let hull = match (wide, ship.own) {
        (false, true) => "═▶",
        (false, false) => "─▷",
        (true, true) => "╘█═▶",
        (true, false) => "╘▒═▷",
    };
    let style = if ship.safe { style.add_modifier(Modifier::DIM) } else { style };
    let (x, y) = grid.middle(thing);
    let (row, len) = (y.floor() as i32, hull.chars().count() as i32);
    let left = (x - len as f32 / 2.0).round() as i32;
    grid.write((left, row), hull, buffer, style);
    if ship.shield {
        let shield = Style::new().fg(Color::Indexed(81));
        grid.set(buffer, (left - 1, row), "(", shield);
        grid.set(buffer, (left + len, row), ")", shield);
    }
    if let Some(glow) = glow(ship.charge) {
        let style = Style::new().fg(Color::Indexed(229)).add_modifier(Modifier::BOLD);
        grid.set(buffer, (left + len, row), glow, style);
    }
}

/// How a charge looks at the nose of a ship.
fn glow(charge: u8) -> Option<&'static str> {
    match charge {
        0..=4 => None,
        5..=24 => Some("·"),
        25..=59 => Some("•"),
        60..=99 => Some("●"),
        _ => Some("◉"),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;

    use super::*;
    use crate::games::OwnLook;
    use crate::screen::{self, Burst, BurstKind, Scene};
    use crate::terminal::space;

    fn thing(look: Look, x: f32, y: f32, width: f32, height: f32) -> Thing {
        let look = screen::Look::Own(OwnLook::Rtype(look));
        Thing { look, x, y, width, height }
    }

    fn ship(shield: bool, charge: u8) -> Look {
        Look::Ship(Ship { number: 0, own: true, shield, safe: false, charge, tilt: 0 })
    }

    fn picture(things: Vec<Thing>, bursts: Vec<Burst>, width: u16, height: u16) -> Vec<String> {
        let scene = Scene { width: 1000.0, height: 600.0, scroll: 0.0, things, bursts };
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        space::draw(&scene, area, &mut buffer, Paint(Palette::Usual));
        let line =
            |y| (0..width).map(|x| buffer.cell((x, y)).unwrap().symbol()).collect::<String>();
        (0..height).map(line).collect()
    }

    #[test]
    fn a_ship_shows_its_shield_and_its_charge() {
        let at =
            |look, width| picture(vec![thing(look, 480.0, 294.0, 20.0, 12.0)], vec![], width, 21);
        assert!(at(ship(false, 0), 80)[10].contains("═▶"));
        assert!(at(ship(true, 0), 80)[10].contains("(═▶)"));
        assert!(at(ship(true, 100), 80)[10].contains("(═▶◉"));
        assert!(at(ship(false, 0), 200)[10].contains("╘█═▶"));
    }

    #[test]
    fn every_species_looks_its_own_way_at_every_size() {
        for width in [60u16, 80, 200] {
            let mut seen = Vec::new();
            for species in Species::ALL.into_iter().filter(|it| *it != Species::Carrier) {
                let traits = species.size();
                let size = traits.w as f32 / 16.0;
                let sprite = sprite(Look::Enemy(species), size * f32::from(width) / 1000.0);
                assert!(!seen.contains(&sprite), "{sprite:?} at {width}");
                seen.push(sprite);
            }
        }
    }

    #[test]
    fn bosses_are_three_and_have_an_eye() {
        let one = |look| {
            let boss = Look::Boss { look, stage: 0 };
            picture(vec![thing(boss, 500.0, 200.0, 110.0, 130.0)], vec![], 200, 46)
        };
        let [first, second, third] = [1, 2, 3].map(one);
        assert!(first != second && second != third && first != third);
        let blocks = |lines: &[String]| lines.concat().chars().filter(|it| *it == '█').count();
        for lines in [first, second, third] {
            assert!((60..220).contains(&blocks(&lines)), "{}", lines.join("\n"));
        }
    }

    #[test]
    fn nothing_leaves_the_field_and_a_burst_fades() {
        for at in [-1e9, -130.0, 990.0, 1e9] {
            let things = vec![
                thing(ship(true, 100), at, at, 20.0, 12.0),
                thing(Look::Boss { look: 1, stage: 0 }, at, at, 110.0, 130.0),
                thing(Look::Enemy(Species::Carrier), at, at, 72.0, 44.0),
            ];
            picture(things, vec![], 80, 21);
        }
        let burst = |age| Burst { number: 1, kind: BurstKind::Ship, x: 500.0, y: 300.0, age };
        let cloud =
            |age, symbol: char| picture(vec![], vec![burst(age)], 80, 21).concat().contains(symbol);
        assert!(cloud(0.0, '▓') && cloud(0.2, '▒') && cloud(0.4, '░'));
        assert!(!cloud(0.59, '░'));
    }
}
