//! How far ahead of the server a player is drawn, over the seeded network.

use std::time::Duration;

use backspin::client::Frame;
use backspin::game::{Buttons, Game, PlayerId};
use backspin_classic::Dialect;
use backspin_sim::dot::Dots;
use backspin_sim::{Chance, Jitter, LinkConfig};

use crate::scene::{Held, Scene};

fn link(rtt_ms: u64) -> LinkConfig {
    LinkConfig { delay: Duration::from_millis(rtt_ms) / 2, ..LinkConfig::PERFECT }
}

/// Document 000, "Adaptive Quality": how far its client predicts beyond the newest state, and ours.
/// The table is in `docs/documents.md`, too.
#[test]
fn prediction_reaches_as_far_as_the_round_trip_at_30_80_and_150_ms() {
    // Round trip, the document's prediction, ours; in ms.
    let table = [(30, 0.0, 34.6), (80, 80.0, 92.9), (150, 225.0, 161.3)];
    let measured = table.map(|(rtt_ms, document, _)| {
        let mut scene = Scene::new(1, link(rtt_ms), Dialect::Native, 0);
        let (mut sum_ms, mut frames) = (0.0, 0.0);
        for frame in 0..20 * 60 {
            scene.pass(Held::AsABot, |_| {});
            if frame >= 10 * 60 {
                let now = scene.now;
                let client = scene.client();
                let newest = f64::from(client.server_tick());
                sum_ms += (client.ahead_tick(now).expect("it plays") - newest) * 1e3 / 60.0;
                frames += 1.0;
            }
        }
        let ours = sum_ms / frames;
        println!("{rtt_ms} ms: the document {document} ms, ours {ours:.1} ms");
        ours
    });
    for ((rtt_ms, _, expected), ours) in table.into_iter().zip(measured) {
        assert!((ours - expected).abs() <= 5.0, "{rtt_ms} ms: {ours} ms");
    }
}

/// Document 002, section 8.2, without what a screen takes: from the press to where the own dot is
/// predicted to be. Seed 5.
#[test]
fn on_a_lan_a_press_moves_the_own_dot_within_a_tick() {
    const STEP: Duration = Duration::from_micros(100);
    for dialect in [Dialect::Lan, Dialect::Native] {
        let jitter = Jitter::uniform(Duration::from_millis(1));
        let mut scene = Scene::new(5, LinkConfig { jitter, ..link(3) }, dialect, 0);
        let mut chance = Chance::new(5, 1);
        let mut waits_ms = Vec::new();
        for press in 0..200 {
            let way = if press % 2 == 0 { Buttons::DOWN } else { Buttons::UP };
            scene.client().press(Buttons::default());
            scene.now += Duration::from_micros(200_000 + chance.below(16_667));
            scene.world.run_until(scene.now);
            let y = |scene: &mut Scene| scene.client().predicted().expect("it plays").1[1];
            let (pressed, before) = (scene.now, y(&mut scene));
            scene.client().press(way);
            while y(&mut scene) == before {
                scene.now += STEP;
                scene.world.run_until(scene.now);
            }
            waits_ms.push(scene.now.since(pressed).as_secs_f64() * 1e3);
        }
        let mean = waits_ms.iter().sum::<f64>() / waits_ms.len() as f64;
        let most = waits_ms.iter().copied().fold(0.0, f64::max);
        println!("{dialect}, seed 5: {mean:.1} ms on average, {most:.1} ms at most");
        assert!(mean <= 10.0 && most <= 17.5, "{dialect}: mean {mean} ms, most {most} ms");
    }
}

/// The same with a screen: from the press to the first picture in which the own dot has moved, for
/// screens of 60, 144 and 1000 Hz. Drawing itself takes no time here. Seed 6.
#[test]
fn on_a_lan_a_press_is_seen_within_a_tick_and_a_frame() {
    // Frames a second, the mean and the most in ms; the page has the same.
    for (hz, mean_ms, most_ms) in [(60, 15.8, 32.9), (144, 11.9, 22.9), (1_000, 8.6, 17.3)] {
        let jitter = Jitter::uniform(Duration::from_millis(1));
        let mut scene = Scene::new(6, LinkConfig { jitter, ..link(3) }, Dialect::Native, 0);
        let (mut chance, mut picture) = (Chance::new(6, 1), Frame::default());
        let own = Dots::default().entity_of(PlayerId(1));
        // No screen keeps step with the ticks for long.
        let frame = Duration::from_nanos(1_000_000_000 / hz + 7_001);
        let mut look = |scene: &mut Scene| {
            scene.now += frame;
            scene.world.run_until(scene.now);
            let now = scene.now;
            scene.client().draw(now, &mut picture);
            let drawn = picture.entities.iter().find(|it| it.entity.id == own);
            drawn.expect("it is drawn").fields[1]
        };
        let mut waits_ms = Vec::new();
        for press in 0..200 {
            let way = if press % 2 == 0 { Buttons::DOWN } else { Buttons::UP };
            scene.client().press(Buttons::default());
            let until = scene.now + Duration::from_micros(200_000 + chance.below(16_667));
            let mut before = look(&mut scene);
            while scene.now < until {
                before = look(&mut scene);
            }
            // Somewhere between two pictures.
            let into = frame.mul_f64(chance.unit());
            let pressed = scene.now + into;
            scene.world.run_until(pressed);
            scene.client().press(way);
            while look(&mut scene) == before {}
            waits_ms.push(scene.now.since(pressed).as_secs_f64() * 1e3);
        }
        let mean = waits_ms.iter().sum::<f64>() / waits_ms.len() as f64;
        let most = waits_ms.iter().copied().fold(0.0, f64::max);
        println!("{hz} Hz, seed 6: {mean:.1} ms on average, {most:.1} ms at most");
        assert!((mean - mean_ms).abs() <= 1.0, "{hz} Hz: mean {mean} ms");
        assert!(most <= most_ms + 1.0, "{hz} Hz: most {most} ms");
    }
}
