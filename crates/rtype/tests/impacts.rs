//! What a player sees meet is drawn as it is judged, on links near and far and at every frame rate.

use std::time::Duration;

use backspin_rtype::{Opening, RType};
use backspin_sim::{Jitter, LinkConfig, Loss, Report, Setup, measure_with};

/// Plays two players over a link: round trip and jitter in ms, loss in percent.
fn play((rtt, jitter, loss): (f64, f64, f64), frame_hz: f64, seed: u64) -> Report {
    let game = RType { opening: Opening::AtOnce, ..RType::default() };
    let ms = |ms: f64| Duration::from_secs_f64(ms / 1e3);
    let link = LinkConfig {
        delay: ms(rtt / 2.0),
        jitter: Jitter::uniform(ms(jitter)),
        loss: Loss::independent(loss / 100.0),
        ..LinkConfig::default()
    };
    measure_with(game, &Setup { seconds: 60, frame_hz, ..Setup::new(link, seed) })
}

#[test]
fn own_shots_end_in_the_frame_in_which_they_are_seen_to_hit() {
    for link in [(0.5, 0.2, 0.0), (100.0, 20.0, 5.0), (300.0, 60.0, 5.0)] {
        for frame_hz in [60.0, 144.0] {
            let report = play(link, frame_hz, 71);
            let past = report.quality.past_target_frames_p99;
            assert!(past.is_some_and(|frames| frames <= 1.0), "{link:?}, {frame_hz} Hz: {past:?}");
        }
    }
}

#[test]
fn contacts_of_each_kind_are_drawn_as_they_are_judged_near_and_far() {
    for link in [(0.5, 0.2, 0.0), (20.0, 2.0, 0.0), (100.0, 20.0, 5.0), (300.0, 60.0, 5.0)] {
        let (mut shots, mut ships) = ((0, 0), (0, 0));
        for seed in 71..75 {
            for kind in play(link, 144.0, seed).kinds.iter() {
                let sum = if kind.kind == "own ship" { &mut ships } else { &mut shots };
                *sum = (sum.0 + kind.disagreed(), sum.1 + kind.contacts());
            }
        }
        // One in a hundred, and one that may be by chance.
        let fits = |(disagreed, all): (u64, u64)| disagreed * 100 <= all + 100;
        assert!(shots.1 >= 300 && fits(shots), "{link:?}: shots {shots:?}");
        assert!(ships.1 >= 3 && fits(ships), "{link:?}: ships {ships:?}");
    }
}

#[test]
fn nothing_jumps_on_a_lan_at_144_frames_a_second() {
    for seed in 71..74 {
        assert_eq!(
            play((0.5, 0.2, 0.0), 144.0, seed).tally.jumped_frames.count(),
            0,
            "seed {seed}"
        );
    }
}
