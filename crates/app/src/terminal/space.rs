//! A scene of R-Type in characters: what is small is a sprite of a row, what is large a shape in
//! quarters of a character, behind all of it stars.

use backspin_rtype::enemy::Species;
use backspin_rtype::power_up::Bonus;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};

use super::field::QUARTERS;
use crate::screen::{Burst, BurstKind, Look, Scene, Ship, Thing};

/// Stars on a screen of the field's size, for each of the layers.
const STARS: u32 = 28;

/// Which part of the level's way a layer of stars goes, and what it looks like.
const LAYERS: [(f32, &str, u8); 3] = [(0.1, ".", 237), (0.25, "·", 240), (0.5, "·", 245)];

/// Draws a scene so that it fills `area`.
pub(super) fn draw(scene: &Scene, area: Rect, buffer: &mut Buffer, style: impl Fn(Look) -> Style) {
    let scale =
        |cells: u16, length: f32| if length > 0.0 { f32::from(cells) / length } else { 0.0 };
    let sky =
        Sky { area, scale: (scale(area.width, scene.width), scale(area.height, scene.height)) };
    sky.stars(scene, buffer);
    for thing in &scene.things {
        let style = style(thing.look);
        match thing.look {
            Look::Ship(ship) => sky.ship(thing, ship, buffer, style),
            Look::Boss { look, .. } => {
                sky.shape(thing, buffer, style, |x, y| boss(look, x, y));
            }
            Look::Enemy(Species::Carrier) => sky.shape(thing, buffer, style, carrier),
            look => {
                if let Some(sprite) = sprite(look, thing.width * sky.scale.0) {
                    sky.sprite(thing, sprite, buffer, style);
                }
            }
        }
    }
    for burst in &scene.bursts {
        sky.burst(burst, buffer);
    }
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

struct Sky {
    area: Rect,
    scale: (f32, f32),
}

impl Sky {
    fn set(&self, buffer: &mut Buffer, (x, y): (i32, i32), symbol: &str, style: Style) {
        let (Ok(x), Ok(y)) = (u16::try_from(x), u16::try_from(y)) else { return };
        if x >= self.area.width || y >= self.area.height {
            return;
        }
        if let Some(cell) = buffer.cell_mut(Position::new(self.area.x + x, self.area.y + y)) {
            cell.set_symbol(symbol).set_style(style);
        }
    }

    fn stars(&self, scene: &Scene, buffer: &mut Buffer) {
        for (layer, (speed, symbol, colour)) in (0u32..).zip(LAYERS) {
            for star in 0..STARS {
                let (x, y) = chance(layer * STARS + star);
                let x = (x - scene.scroll * speed / scene.width.max(1.0)).rem_euclid(1.0);
                let at = (x * f32::from(self.area.width), y * f32::from(self.area.height));
                let style = Style::new().fg(Color::Indexed(colour));
                self.set(buffer, (at.0 as i32, at.1 as i32), symbol, style);
            }
        }
    }

    /// A sprite around the middle of a thing.
    fn sprite(&self, thing: &Thing, sprite: &str, buffer: &mut Buffer, style: Style) {
        let (x, y) = self.middle(thing);
        let left = (x - sprite.chars().count() as f32 / 2.0).round() as i32;
        self.write((left, y.floor() as i32), sprite, buffer, style);
    }

    fn write(&self, (left, row): (i32, i32), text: &str, buffer: &mut Buffer, style: Style) {
        for (column, letter) in (left..).zip(text.chars()) {
            self.set(buffer, (column, row), letter.encode_utf8(&mut [0; 4]), style);
        }
    }

    fn middle(&self, thing: &Thing) -> (f32, f32) {
        let x = (thing.x + thing.width / 2.0) * self.scale.0;
        (x, (thing.y + thing.height / 2.0) * self.scale.1)
    }

    /// A ship: its shield around it, its charge before it.
    fn ship(&self, thing: &Thing, ship: Ship, buffer: &mut Buffer, style: Style) {
        let wide = thing.width * self.scale.0 >= 3.5;
        let hull = match (wide, ship.own) {
            (false, true) => "═▶",
            (false, false) => "─▷",
            (true, true) => "╘█═▶",
            (true, false) => "╘▒═▷",
        };
        let style = if ship.safe { style.add_modifier(Modifier::DIM) } else { style };
        let (x, y) = self.middle(thing);
        let (row, len) = (y.floor() as i32, hull.chars().count() as i32);
        let left = (x - len as f32 / 2.0).round() as i32;
        self.write((left, row), hull, buffer, style);
        if ship.shield {
            let shield = Style::new().fg(Color::Indexed(81));
            self.set(buffer, (left - 1, row), "(", shield);
            self.set(buffer, (left + len, row), ")", shield);
        }
        if let Some(glow) = glow(ship.charge) {
            let style = Style::new().fg(Color::Indexed(229)).add_modifier(Modifier::BOLD);
            self.set(buffer, (left + len, row), glow, style);
        }
    }

    /// What is large: `is_inside` says which points of a unit square belong to it.
    fn shape(
        &self,
        thing: &Thing,
        buffer: &mut Buffer,
        style: Style,
        is_inside: impl Fn(f32, f32) -> bool,
    ) {
        let cells = |at: f32, scale: f32| at * scale;
        let (left, top) = (cells(thing.x, self.scale.0), cells(thing.y, self.scale.1));
        let width = cells(thing.width, self.scale.0).max(2.0);
        let height = cells(thing.height, self.scale.1).max(1.0);
        // Nothing is larger than the screen, and little of it is beside it.
        let columns = left.floor().max(-1.0) as i32..=(left + width).ceil().min(1e4) as i32;
        for x in columns {
            for y in top.floor().max(-1.0) as i32..=(top + height).ceil().min(1e4) as i32 {
                let quarter = |dx: f32, dy: f32| {
                    let u = (x as f32 + 0.25 + dx - left) / width;
                    let v = (y as f32 + 0.25 + dy - top) / height;
                    let within = (0.0..1.0).contains(&u) && (0.0..1.0).contains(&v);
                    within && is_inside(u, v)
                };
                let corners =
                    [quarter(0.0, 0.0), quarter(0.5, 0.0), quarter(0.0, 0.5), quarter(0.5, 0.5)];
                let bits = corners.iter().rev().fold(0, |bits, on| bits << 1 | usize::from(*on));
                if bits > 0 {
                    self.set(buffer, (x, y), QUARTERS[bits], style);
                }
            }
        }
    }

    /// A cloud that grows and thins out.
    fn burst(&self, burst: &Burst, buffer: &mut Buffer) {
        let radius = match burst.kind {
            BurstKind::Spark | BurstKind::Bounce => 6.0,
            BurstKind::Taken => 22.0,
            BurstKind::Enemy => 34.0,
            BurstKind::Ship => 50.0,
            BurstKind::Boss => 140.0,
        };
        let part = (burst.age / Burst::SECONDS).clamp(0.0, 1.0);
        let small = matches!(burst.kind, BurstKind::Spark | BurstKind::Bounce);
        if small && part > 0.4 {
            return;
        }
        let (symbol, colour) = match (part, burst.kind) {
            (_, BurstKind::Taken) => ("+", 157),
            (..0.2, _) => ("▓", 230),
            (..0.45, _) => ("▒", 220),
            (..0.7, _) => ("░", 208),
            _ => ("·", 130),
        };
        let style = Style::new().fg(Color::Indexed(colour));
        let middle = (burst.x * self.scale.0, burst.y * self.scale.1);
        if small {
            self.set(buffer, (middle.0 as i32, middle.1 as i32), "*", style);
            return;
        }
        let reach = radius * (0.4 + 0.6 * part);
        let (rx, ry) = ((reach * self.scale.0).max(1.0), (reach * self.scale.1).max(0.6));
        // It is hollow in the end.
        let hollow = (part - 0.3).max(0.0);
        for x in (middle.0 - rx).floor() as i32..=(middle.0 + rx).ceil() as i32 {
            for y in (middle.1 - ry).floor() as i32..=(middle.1 + ry).ceil() as i32 {
                let (dx, dy) = (x as f32 + 0.5 - middle.0, y as f32 + 0.5 - middle.1);
                let away = (dx / rx).hypot(dy / ry);
                if (hollow..1.0).contains(&away) {
                    self.set(buffer, (x, y), symbol, style);
                }
            }
        }
    }
}

/// Two numbers from 0 to 1 that look like chance, and are the same in every picture.
fn chance(of: u32) -> (f32, f32) {
    let mut mixed = u64::from(of + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    let part = |bits: u64| (bits & 0xFFFF) as f32 / 65536.0;
    (part(mixed >> 16), part(mixed >> 40))
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
    use super::*;

    fn thing(look: Look, x: f32, y: f32, width: f32, height: f32) -> Thing {
        Thing { look, x, y, width, height }
    }

    fn ship(shield: bool, charge: u8) -> Look {
        Look::Ship(Ship { number: 0, own: true, shield, safe: false, charge, tilt: 0 })
    }

    fn picture(things: Vec<Thing>, bursts: Vec<Burst>, width: u16, height: u16) -> Vec<String> {
        let scene = Scene { width: 1000.0, height: 600.0, scroll: 0.0, things, bursts };
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        draw(&scene, area, &mut buffer, |_| Style::default());
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
