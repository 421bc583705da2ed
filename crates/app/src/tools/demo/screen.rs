//! The field in a terminal: 72 by 20 characters, each of which is two pixels, one above the other.

use std::io::{self, Write};

use backspin_pong::{BALL_SIZE, FIELD, PADDLE_SIZE, Phase, Post, Side, World};

use super::course::Sight;
use crate::tools::paint::Paint;

const COLUMNS: usize = 72;
const ROWS: usize = 20;
const PIXEL_ROWS: usize = 2 * ROWS;

/// Another screen of the terminal, which has its own again when this is dropped: whatever ends the
/// demo, the cursor is back.
pub(super) struct Screen {
    paint: Paint,
    title: String,
}

/// Another screen, cleared; no cursor, and long lines are cut off instead of wrapped.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &str = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

impl Screen {
    pub(super) fn enter(paint: Paint, title: String) -> io::Result<Self> {
        let screen = Screen { paint, title };
        let mut out = io::stdout().lock();
        out.write_all(ENTER.as_bytes())?;
        out.flush()?;
        Ok(screen)
    }

    /// Draws everything in place, in one write: nothing is seen half done.
    pub(super) fn draw(&self, sight: &Sight) -> io::Result<()> {
        let mut text = String::new();
        for (i, line) in self.lines(sight).iter().enumerate() {
            text += &format!("\x1b[{};1H{line}\x1b[K", i + 1);
        }
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn lines(&self, sight: &Sight) -> Vec<String> {
        let edge = "─".repeat(COLUMNS);
        let [left, right] = ["hard bot, hosts", "easy bot, guest"];
        let state = match sight.world.phase {
            Phase::Waiting | Phase::Left => "joining".to_owned(),
            Phase::Countdown => format!("serve in {}", sight.world.ticks_left / 60 + 1),
            Phase::Playing => format!("{} s", sight.seconds),
            Phase::Over => match sight.world.winner() {
                Some(Side::Left) => "hard wins".to_owned(),
                Some(Side::Right) => "easy wins".to_owned(),
                None => "over".to_owned(),
            },
        };
        let mut lines = vec![
            format!(" {}", self.title),
            String::new(),
            format!("  {left:<28}{state:^16}{right:>28}"),
            format!(" ┌{edge}┐"),
        ];
        let canvas = Canvas::of(sight);
        lines.extend((0..ROWS).map(|row| format!(" │{}│", canvas.row(row, self.paint))));
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

/// The field.
struct Canvas([[Pixel; COLUMNS]; PIXEL_ROWS]);

/// Digits of 3 by 5 pixels, a row in three bits; drawn twice as large.
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
    fn of(sight: &Sight) -> Self {
        let World { ball, paddles, score, .. } = &sight.world;
        let mut canvas = Canvas([[Pixel::Empty; COLUMNS]; PIXEL_ROWS]);
        for y in (0..PIXEL_ROWS as i32).filter(|y| y % 4 < 2) {
            canvas.put(COLUMNS as i32 / 2, y, Pixel::Net);
        }
        for (points, x) in score.iter().zip([24, 42]) {
            canvas.digit(*points, x, 3);
        }
        for post in Post::ALL {
            let Some(paddle) = paddles[post.index()] else { continue };
            let pixel = if post.side() == Side::Left { Pixel::Left } else { Pixel::Right };
            let (x, top) = (column(post.x() + PADDLE_SIZE.0 / 2), pixel_row(paddle.y));
            // Rounded by itself, so that a paddle is as long wherever it is.
            let len = pixel_row(PADDLE_SIZE.1);
            (top..top + len).for_each(|y| canvas.put(x, y, pixel));
        }
        if sight.world.phase != Phase::Waiting {
            let (x, y) = (column(ball.x + BALL_SIZE / 2), ball.y + BALL_SIZE / 2);
            canvas.put(x, y * PIXEL_ROWS as i32 / FIELD.1, Pixel::Ball);
        }
        canvas
    }

    /// What lies outside is cut off.
    fn put(&mut self, x: i32, y: i32, pixel: Pixel) {
        let row = usize::try_from(y).ok().and_then(|y| self.0.get_mut(y));
        if let (Some(row), Ok(x)) = (row, usize::try_from(x))
            && let Some(place) = row.get_mut(x)
        {
            *place = pixel;
        }
    }

    fn digit(&mut self, points: u8, left: i32, top: i32) {
        let rows = DIGITS[usize::from(points % 10)];
        for (y, x) in (0..10).flat_map(|y| (0..6).map(move |x| (y, x))) {
            if rows[y as usize / 2] >> (2 - x / 2) & 1 == 1 {
                self.put(left + x, top + y, Pixel::Digit);
            }
        }
    }

    /// One line of characters.
    fn row(&self, row: usize, paint: Paint) -> String {
        let pairs = self.0[2 * row].iter().zip(&self.0[2 * row + 1]);
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

fn column(x: i32) -> i32 {
    (x * COLUMNS as i32).div_euclid(FIELD.0)
}

/// The nearest.
fn pixel_row(y: i32) -> i32 {
    (y * PIXEL_ROWS as i32 + FIELD.1 / 2) / FIELD.1
}

#[cfg(test)]
mod tests {
    use backspin::game::Game;
    use backspin_pong::UNITS;

    use super::super::course::GAME;
    use super::*;

    fn canvas(change: impl FnOnce(&mut World)) -> Canvas {
        let mut world = GAME.begin(1);
        for post in [Post::LeftBack, Post::RightBack] {
            GAME.join(&mut world, post.player());
        }
        world.phase = Phase::Playing;
        change(&mut world);
        let score = world.score;
        let (ping_ms, loss, lead_ms, behind_ms) = (None, None, None, None);
        Canvas::of(&Sight { seconds: 0, world, score, ping_ms, loss, lead_ms, behind_ms })
    }

    fn count(canvas: &Canvas, pixel: Pixel) -> usize {
        canvas.0.iter().flatten().filter(|one| **one == pixel).count()
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
        for row in 0..ROWS {
            let plain = canvas.row(row, Paint::Plain);
            assert_eq!(plain.chars().count(), COLUMNS);
            let coloured = canvas.row(row, Paint::Coloured);
            let shown: String =
                coloured.split("\x1b[").map(|part| part.rsplit('m').next().unwrap_or("")).collect();
            assert_eq!(shown.replace('█', "▀"), plain.replace('█', "▀"));
        }
    }
}
