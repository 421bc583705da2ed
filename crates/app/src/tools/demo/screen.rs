//! The field in a terminal, as the game's own terminal draws it.

use std::io;

use backspin_pong::{BALL_SIZE, FIELD, PADDLE_SIZE, Phase, Position, Side, UNITS, World};
use crossterm::cursor::{Hide, Show};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use super::course::Sight;
use crate::screen::{Arena, Banner, Cell, Flashing, Look, Page, Palette, Scene, Thing, Tone, View};
use crate::terminal;

/// Another screen of the terminal, which has its own again when this is dropped: whatever ends the
/// demo, the cursor is back.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<io::Stdout>>,
    title: String,
}

impl Screen {
    pub(super) fn enter(title: String) -> io::Result<Self> {
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let screen = Screen { terminal, title };
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    pub(super) fn draw(&mut self, sight: &Sight) -> io::Result<()> {
        let view = view(&self.title, sight);
        self.terminal.draw(|frame| terminal::draw(frame, &view, None))?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone has nothing to be put in order.
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    }
}

fn view(title: &str, sight: &Sight) -> View {
    let [left, right] = sight.world.score;
    let arena = Arena {
        scene: scene(&sight.world),
        sides: vec![("Hard bot".to_owned(), left), ("Easy bot".to_owned(), right)],
        status: vec![Cell::new(title, Tone::Plain)],
        banner: banner(&sight.world),
        ..Arena::default()
    };
    View {
        page: Page::Arena(Box::new(arena)),
        hint: format!("{:>2} s   the guest has: {}", sight.seconds, figures(sight)),
        palette: Palette::Usual,
        shake: false,
        flashing: Flashing::Reduced,
    }
}

fn banner(world: &World) -> Option<Banner> {
    let (large, text) = match (world.phase, world.winner()) {
        (Phase::Playing, _) => return None,
        (Phase::Waiting | Phase::Left, _) => (String::new(), "The guest joins"),
        (Phase::Countdown, _) => ((world.ticks_left / 60 + 1).to_string(), "to the serve"),
        (Phase::Hold, _) => (String::new(), "The ball waits for a player"),
        (Phase::Over, Some(Side::Left)) => (String::new(), "The hard bot wins"),
        (Phase::Over, Some(Side::Right)) => (String::new(), "The easy bot wins"),
        (Phase::Over, None) => (String::new(), "The match is over"),
    };
    Some(Banner { large, text: vec![text.to_owned()] })
}

/// What is on the guest's screen: its own paddle is the right one.
fn scene(world: &World) -> Scene {
    let px = |units: i32| units as f32 / UNITS as f32;
    let thing = |look, (x, y), (width, height)| {
        let (x, y, width, height) = (px(x), px(y), px(width), px(height));
        Thing { look, x, y, width, height }
    };
    let mut things = vec![thing(Look::Net, (FIELD.0 / 2, 0), (0, FIELD.1))];
    for post in Position::ALL {
        let own = post.side() == Side::Right;
        let look = if own { Look::OwnPaddle } else { Look::OtherPaddle };
        let paddle = world.paddles[post.index()];
        things.extend(paddle.map(|paddle| thing(look, (post.x(), paddle.y), PADDLE_SIZE)));
    }
    if world.phase != Phase::Waiting {
        things.push(thing(Look::Ball, (world.ball.x, world.ball.y), (BALL_SIZE, BALL_SIZE)));
    }
    Scene { width: px(FIELD.0), height: px(FIELD.1), things, ..Scene::default() }
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

#[cfg(test)]
mod tests {
    use backspin::game::Game;
    use ratatui::backend::TestBackend;

    use super::super::course::GAME;
    use super::*;

    /// What is on a terminal of this size.
    fn picture(columns: u16, rows: u16, phase: Phase) -> String {
        let mut world = GAME.begin(1);
        for post in [Position::LeftBack, Position::RightBack] {
            GAME.join(&mut world, post.player(), &());
        }
        (world.phase, world.score) = (phase, [3, 1]);
        let (ping_ms, loss, lead_ms, behind_ms) = (Some(116.0), Some(0.05), Some(103.0), None);
        let sight = Sight { seconds: 7, world, score: [3, 1], ping_ms, loss, lead_ms, behind_ms };
        let title = "real UDP, 100 ms round trip, 20 ms jitter, 5 % loss";
        let view = view(title, &sight);
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| terminal::draw(frame, &view, None)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn names_link_figures_paddles_and_ball_fit_a_terminal_of_80_by_24() {
        let picture = picture(80, 24, Phase::Playing);
        for words in ["Hard bot ", " Easy bot", " real UDP, 100 ms", "5 % loss "] {
            assert!(picture.contains(words), "{words}\n{picture}");
        }
        let foot = " 7 s   the guest has: ping 116 ms   lost   5 %   ahead 103 ms   behind   - ms";
        assert!(picture.contains(foot), "{picture}");
        let full = picture.lines().filter(|line| line.matches('█').count() >= 2).count();
        assert!(full >= 2, "two paddles:\n{picture}");
        assert!(picture.contains('┊'), "{picture}");
    }

    #[test]
    fn before_a_serve_and_after_the_end_it_says_so() {
        assert!(picture(80, 24, Phase::Waiting).contains("The guest joins"));
        assert!(picture(80, 24, Phase::Countdown).contains("to the serve"));
        assert!(picture(80, 24, Phase::Over).contains("The match is over"));
    }
}
