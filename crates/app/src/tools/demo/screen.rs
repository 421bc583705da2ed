//! The field in a terminal, as large as fits: 72 by 18 characters in a window of 80 by 24. Each
//! character is two pixels, one above the other.

use std::io::{self, Write};

use backspin_pong::{BALL_SIZE, FIELD, PADDLE_SIZE, Phase, Post, Side, World};

use super::course::Sight;
use crate::tools::paint::Paint;

/// How large the field is, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    columns: usize,
    rows: usize,
}

impl Size {
    /// What fits into a terminal of so many columns and rows, with a frame and three lines of text.
    /// A field is twice as wide as it is high, or narrower. One that is too small is cut off.
    fn within(columns: u16, rows: u16) -> Self {
        let rows = usize::from(rows).saturating_sub(6).clamp(8, 100);
        let columns = usize::from(columns).saturating_sub(4).clamp(32, 4 * rows);
        Size { columns, rows }
    }

    /// As the terminal is now; one that does not say is taken for the smallest usual one.
    fn now() -> Self {
        let (columns, rows) = crossterm::terminal::size().unwrap_or((80, 24));
        Size::within(columns, rows)
    }

    fn pixel_rows(self) -> usize {
        2 * self.rows
    }

    fn column(self, x: i32) -> i32 {
        (x * self.columns as i32).div_euclid(FIELD.0)
    }

    /// The nearest.
    fn pixel_row(self, y: i32) -> i32 {
        (y * self.pixel_rows() as i32 + FIELD.1 / 2) / FIELD.1
    }
}

/// Another screen of the terminal, which has its own again when this is dropped: whatever ends the
/// demo, the cursor is back.
pub(super) struct Screen {
    paint: Paint,
    title: String,
    size: Size,
}

/// Another screen, cleared; no cursor, and long lines are cut off instead of wrapped.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const CLEAR: &str = "\x1b[2J";
const LEAVE: &str = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

impl Screen {
    pub(super) fn enter(paint: Paint, title: String) -> io::Result<Self> {
        let screen = Screen { paint, title, size: Size::now() };
        let mut out = io::stdout().lock();
        out.write_all(ENTER.as_bytes())?;
        out.flush()?;
        Ok(screen)
    }

    /// Draws everything in place, in one write: nothing is seen half done.
    pub(super) fn draw(&mut self, sight: &Sight) -> io::Result<()> {
        let mut text = String::new();
        let size = Size::now();
        if size != self.size {
            self.size = size;
            text += CLEAR;
        }
        let lines = Screen::lines(self.size, self.paint, &self.title, sight);
        for (i, line) in lines.iter().enumerate() {
            text += &format!("\x1b[{};1H{line}\x1b[K", i + 1);
        }
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn lines(size: Size, paint: Paint, title: &str, sight: &Sight) -> Vec<String> {
        let edge = "─".repeat(size.columns);
        let [left, right] = ["hard bot, hosts", "easy bot, guest"];
        let state = match sight.world.phase {
            Phase::Waiting | Phase::Left => "joining".to_owned(),
            Phase::Countdown => format!("serve in {}", sight.world.ticks_left / 60 + 1),
            Phase::Hold => "waiting for a player".to_owned(),
            Phase::Playing => format!("{} s", sight.seconds),
            Phase::Over => match sight.world.winner() {
                Some(Side::Left) => "hard wins".to_owned(),
                Some(Side::Right) => "easy wins".to_owned(),
                None => "over".to_owned(),
            },
        };
        let third = size.columns / 3;
        let middle = size.columns - 2 * third;
        let mut lines = vec![
            format!(" {title}"),
            format!("  {left:<third$}{state:^middle$}{right:>third$}"),
            format!(" ┌{edge}┐"),
        ];
        let canvas = Canvas::of(sight, size);
        let rows = 0..size.rows;
        lines.extend(rows.map(|row| format!(" │{}│", canvas.row(row, paint))));
        lines.push(format!(" └{edge}┘"));
        lines.push(format!("  What the guest sees: {}", figures(sight)));
        lines
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let mut out = io::stdout().lock();
        // A terminal that is gone has nothing to be put in order.
        let _ = out.write_all(LEAVE.as_bytes());
        let _ = out.flush();
    }
}

/// How the line is at the moment, in a few words.
pub(super) fn figures(sight: &Sight) -> String {
    let Sight { ping_ms, loss, lead_ms, behind_ms, .. } = sight;
    let cell = |what: &str, value: Option<f64>, unit: &str| match value {
        Some(value) => format!("{what} {value:>3.0} {unit}"),
        None => format!("{what}   - {unit}"),
    };
    [
        cell("ping", *ping_ms, "ms"),
        cell("lost", loss.map(|share| share * 100.0), "%"),
        cell("ahead", *lead_ms, "ms"),
        cell("behind", *behind_ms, "ms"),
    ]
    .join("   ")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pixel {
    Empty,
    Net,
    Digit,
    Left,
    Right,
    Ball,
}

impl Pixel {
    /// Of the 256 colours that terminals have.
    fn colour(self) -> u8 {
        match self {
            Pixel::Empty => 0,
            Pixel::Net => 240,
            Pixel::Digit => 238,
            Pixel::Left => 80,
            Pixel::Right => 215,
            Pixel::Ball => 231,
        }
    }
}

/// The field, row by row.
struct Canvas {
    size: Size,
    pixels: Vec<Pixel>,
}

/// Digits of 3 by 5 pixels, a row in three bits; drawn larger.
const DIGITS: [[u8; 5]; 10] = [
    [0b111, 0b101, 0b101, 0b101, 0b111],
    [0b010, 0b110, 0b010, 0b010, 0b111],
    [0b111, 0b001, 0b111, 0b100, 0b111],
    [0b111, 0b001, 0b111, 0b001, 0b111],
    [0b101, 0b101, 0b111, 0b001, 0b001],
    [0b111, 0b100, 0b111, 0b001, 0b111],
    [0b111, 0b100, 0b111, 0b101, 0b111],
    [0b111, 0b001, 0b001, 0b001, 0b001],
    [0b111, 0b101, 0b111, 0b101, 0b111],
    [0b111, 0b101, 0b111, 0b001, 0b111],
];

impl Canvas {
    fn of(sight: &Sight, size: Size) -> Self {
        let World { ball, paddles, score, .. } = &sight.world;
        let pixels = vec![Pixel::Empty; size.columns * size.pixel_rows()];
        let mut canvas = Canvas { size, pixels };
        let middle = size.columns as i32 / 2;
        for y in (0..size.pixel_rows() as i32).filter(|y| y % 4 < 2) {
            canvas.put(middle, y, Pixel::Net);
        }
        let scale = (size.rows as i32 / 9).max(1);
        for (points, x) in score.iter().zip([middle - 6 * scale, middle + 3 * scale]) {
            canvas.digit(*points, x, 3, scale);
        }
        for post in Post::ALL {
            let Some(paddle) = paddles[post.index()] else { continue };
            let pixel = if post.side() == Side::Left { Pixel::Left } else { Pixel::Right };
            let (x, top) = (size.column(post.x() + PADDLE_SIZE.0 / 2), size.pixel_row(paddle.y));
            // Rounded by itself, so that a paddle is as long wherever it is.
            let len = size.pixel_row(PADDLE_SIZE.1);
            (top..top + len).for_each(|y| canvas.put(x, y, pixel));
        }
        if sight.world.phase != Phase::Waiting {
            let (x, y) = (size.column(ball.x + BALL_SIZE / 2), ball.y + BALL_SIZE / 2);
            canvas.put(x, y * size.pixel_rows() as i32 / FIELD.1, Pixel::Ball);
        }
        canvas
    }

    /// What lies outside is cut off.
    fn put(&mut self, x: i32, y: i32, pixel: Pixel) {
        let Size { columns, .. } = self.size;
        if let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y))
            && x < columns
            && let Some(place) = self.pixels.get_mut(y * columns + x)
        {
            *place = pixel;
        }
    }

    fn digit(&mut self, points: u8, left: i32, top: i32, scale: i32) {
        let rows = DIGITS[usize::from(points % 10)];
        for (y, x) in (0..5 * scale).flat_map(|y| (0..3 * scale).map(move |x| (y, x))) {
            if rows[(y / scale) as usize] >> (2 - x / scale) & 1 == 1 {
                self.put(left + x, top + y, Pixel::Digit);
            }
        }
    }

    /// One line of characters.
    fn row(&self, row: usize, paint: Paint) -> String {
        let Size { columns, .. } = self.size;
        let (upper, lower) = self.pixels[2 * row * columns..].split_at(columns);
        let pairs = upper.iter().zip(lower);
        match paint {
            Paint::Plain => pairs.map(|(upper, lower)| block(*upper, *lower)).collect(),
            Paint::Coloured => {
                let mut text = String::new();
                for (upper, lower) in pairs {
                    match (upper, lower) {
                        (Pixel::Empty, Pixel::Empty) => text.push(' '),
                        (Pixel::Empty, one) => {
                            text += &format!("\x1b[38;5;{}m▄\x1b[0m", one.colour())
                        }
                        (one, Pixel::Empty) => {
                            text += &format!("\x1b[38;5;{}m▀\x1b[0m", one.colour())
                        }
                        (upper, lower) => {
                            let (upper, lower) = (upper.colour(), lower.colour());
                            text += &format!("\x1b[38;5;{upper};48;5;{lower}m▀\x1b[0m");
                        }
                    }
                }
                text
            }
        }
    }
}

fn block(upper: Pixel, lower: Pixel) -> char {
    match (upper, lower) {
        (Pixel::Empty, Pixel::Empty) => ' ',
        (Pixel::Empty, _) => '▄',
        (_, Pixel::Empty) => '▀',
        _ => '█',
    }
}

#[cfg(test)]
mod tests {
    use backspin::game::Game;
    use backspin_pong::UNITS;

    use super::super::course::GAME;
    use super::*;

    const SIZE: Size = Size { columns: 72, rows: 20 };

    fn canvas(change: impl FnOnce(&mut World)) -> Canvas {
        let mut world = GAME.begin(1);
        for post in [Post::LeftBack, Post::RightBack] {
            GAME.join(&mut world, post.player());
        }
        world.phase = Phase::Playing;
        change(&mut world);
        let score = world.score;
        let (ping_ms, loss, lead_ms, behind_ms) = (None, None, None, None);
        let sight = Sight { seconds: 0, world, score, ping_ms, loss, lead_ms, behind_ms };
        Canvas::of(&sight, SIZE)
    }

    fn count(canvas: &Canvas, pixel: Pixel) -> usize {
        canvas.pixels.iter().filter(|one| **one == pixel).count()
    }

    #[test]
    fn a_paddle_is_as_long_wherever_it_is() {
        for y in 0..=780 {
            let canvas = canvas(|world| {
                world.paddles.iter_mut().flatten().for_each(|paddle| paddle.y = y * UNITS);
            });
            let lens = [Pixel::Left, Pixel::Right].map(|side| count(&canvas, side));
            assert_eq!(lens, [5, 5], "at {y}");
        }
    }

    #[test]
    fn a_ball_is_seen_until_it_is_out() {
        let balls = |x: i32, y: i32| {
            count(
                &canvas(|world| (world.ball.x, world.ball.y) = (x * UNITS, y * UNITS)),
                Pixel::Ball,
            )
        };
        assert_eq!([balls(0, 0), balls(1420, 880), balls(710, 440)], [1, 1, 1]);
        assert_eq!([balls(-50, 440), balls(1490, 440)], [0, 0]);
    }

    #[test]
    fn colours_change_nothing_but_the_colour() {
        let canvas = canvas(|world| world.score = [4, 2]);
        for row in 0..SIZE.rows {
            let plain = canvas.row(row, Paint::Plain);
            assert_eq!(plain.chars().count(), SIZE.columns);
            let coloured = canvas.row(row, Paint::Coloured);
            let shown: String =
                coloured.split("\x1b[").map(|part| part.rsplit('m').next().unwrap_or("")).collect();
            assert_eq!(shown.replace('█', "▀"), plain.replace('█', "▀"));
        }
    }

    #[test]
    fn it_fits_a_terminal_of_80_by_24_and_grows_with_it() {
        let mut world = GAME.begin(1);
        world.phase = Phase::Playing;
        let (ping_ms, loss, lead_ms, behind_ms) = (Some(116.0), Some(0.05), Some(103.0), None);
        let sight = Sight { seconds: 7, world, score: [1, 0], ping_ms, loss, lead_ms, behind_ms };
        for (columns, rows) in [(80, 24), (120, 40), (200, 60), (400, 50)] {
            let size = Size::within(columns, rows);
            let lines = Screen::lines(size, Paint::Plain, "Backspin", &sight);
            assert!(lines.len() < rows.into(), "{} of {rows}", lines.len());
            let widest = lines.iter().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= columns.into(), "{widest} of {columns}");
        }
        assert_eq!(Size::within(80, 24), Size { columns: 72, rows: 18 });
        assert_eq!(Size::within(200, 60), Size { columns: 196, rows: 54 });
    }
}
