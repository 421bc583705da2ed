//! The cost of a frame in a real window, with text and macroquad's own work.
//!
//! `draw` measures its triangles alone, without a window.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use backspin::channel::Fate;
use macroquad::Window;
use macroquad::window::next_frame;
use rustix::time::{ClockId, clock_gettime};

use super::canvas::Canvas;
use super::draw::{Drawing, sample};
use super::window;
use crate::screen::{Arena, ChatLine, Figure, Flashing, Overlay, Page, Palette, Tone, View};
use crate::screen::{Cell as Words, Hud};

/// Pictures before it is measured: letters are painted when they are first written.
const FIRST: u32 = 60;

const PICTURES: u32 = 300;

const LIMIT: Duration = Duration::from_millis(2);

/// The CPU time of this thread.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What a picture took of this thread's CPU.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// Making it, up to handing it to macroquad's batches.
    drawing: Duration,
    /// And macroquad's end of it: it gives the batches to the driver, which works in this thread.
    whole: Duration,
}

/// More than is ever on the screen at once: a busy field, crew, chat, notice and overlay.
fn busy() -> View {
    let words = |text: &str, tone| Words::new(text, tone);
    let line = |number| {
        let (name, text) = ("Player".into(), "Take the left one".into());
        ChatLine { number, name, text, fade: 1.0 }
    };
    let figure = |name| Figure { name, value: "142.0 ms".into(), tone: Tone::Fair, sign: None };
    let fate = |tick: u32| if tick.is_multiple_of(5) { Fate::Lost } else { Fate::Acknowledged };
    let names = ["ping", "grade", "jitter", "loss", "lead", "delay", "corrected", "pending"];
    let overlay = Overlay {
        figures: names.into_iter().chain(["down", "up"]).map(figure).collect(),
        pings: (0..40).map(|n| Some(100.0 + (n * 37 % 90) as f32)).collect(),
        inputs: (12_300..12_316).map(|tick| (tick, fate(tick))).collect(),
        acks: (12_300..12_314).filter(|tick| fate(*tick) != Fate::Lost).collect(),
    };
    let arena = sample::busy();
    let hud = arena.hud.map(|hud| Hud {
        title: "Level 3: the long name of a level".into(),
        wave: Some((3, 9)),
        team_score: 123_456,
        ..hud
    });
    let arena = Arena {
        hud,
        status: vec![words("ping 142 ms Fair", Tone::Fair), words("8 % lost", Tone::Bad)],
        notice: Some(words("connection lost, trying again (27 s)", Tone::Fair)),
        chat: (0..4).map(line).collect(),
        overlay: Some(overlay),
        ..arena
    };
    View {
        page: Page::Arena(Box::new(arena)),
        hint: "arrows or WASD steer   space shoots   Esc menu   F3 network".into(),
        palette: Palette::Usual,
        shake: true,
        flashing: Flashing::Usual,
    }
}

/// With `LP_NO_RAST=true` Mesa's llvmpipe leaves out the pixels: what is whole then still has the
/// driver's work with corners and states, which is not ours.
#[test]
#[ignore = "opens a window: run it alone, with --release, on a display"]
fn a_busy_picture_costs_less_than_2_ms_of_cpu_in_a_window() {
    let cost = Rc::new(Cell::new(Cost::default()));
    let told = Rc::clone(&cost);
    Window::from_config(window::conf(false), async move {
        let (mut canvas, mut drawing, mut view) = (Canvas::new(), Drawing::default(), busy());
        let mut sum = Cost::default();
        for picture in 0..FIRST + PICTURES {
            if picture == FIRST {
                sum = Cost::default();
            }
            // Something bursts in every picture.
            if let Page::Arena(arena) = &mut view.page {
                arena.scene.scroll += 1.0;
                arena.scene.bursts.rotate_left(1);
                arena.scene.bursts.last_mut().expect("it is busy").number += 40;
            }
            let begin = cpu();
            canvas.begin();
            drawing.draw(&mut canvas, &view, Duration::from_millis(16));
            canvas.finish();
            sum.drawing += cpu() - begin;
            next_frame().await;
            sum.whole += cpu() - begin;
        }
        told.set(Cost { drawing: sum.drawing / PICTURES, whole: sum.whole / PICTURES });
    });
    let Cost { drawing, whole } = cost.get();
    println!("{drawing:?} a picture, {whole:?} with what the driver does ({PICTURES} pictures)");
    assert!(!drawing.is_zero() && drawing < LIMIT, "{drawing:?}");
}
