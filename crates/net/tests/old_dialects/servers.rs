//! Against our own server.

use backspin::game::Buttons;
use backspin::sim::{LinkConfig, Preset};
use backspin::wire::Dialect;

use super::scene::{FRAME, Held, Scene, Seen, distance};

/// 30 s of two bots, after two of joining.
fn watch(seed: u64, link: LinkConfig, dialect: Dialect) -> Seen {
    let mut scene = Scene::new(seed, link, dialect, 4);
    let own = own_id(dialect);
    let mut seen = Seen::default();
    let mut told = Vec::new();
    for frame in 0..32 * 60 {
        let mut settled = std::mem::take(&mut seen);
        let drawn = scene.pass(Held::AsABot, |client| settled.see_event(client.predicted()));
        settled.see_frame(drawn, own);
        if frame == 120 {
            settled = Seen::default();
        }
        seen = settled;
        let predicted = scene.client().predicted().map(|(_, at)| at);
        told.push((predicted, scene.truth()));
    }
    // The server has taken the newest input about one way later.
    let way = (link.delay.as_secs_f64() / FRAME.as_secs_f64()).round() as usize + 1;
    for (i, (predicted, _)) in told.iter().enumerate().skip(120) {
        if let (Some(predicted), Some((_, truth))) = (predicted, told.get(i + way)) {
            let x = if dialect == Dialect::Lan { truth[0] } else { predicted[0] };
            seen.off_px.push(distance([x, predicted[1]], *truth));
        }
    }
    seen
}

fn own_id(dialect: Dialect) -> u16 {
    if dialect == Dialect::Lan { 2 } else { 1 }
}

#[test]
fn figures() {
    for (name, preset) in
        [("lan", Preset::Lan), ("wifi", Preset::Wifi), ("reference", Preset::Reference)]
    {
        for dialect in [Dialect::Lan, Dialect::Rtype] {
            for seed in 1..4 {
                let s = watch(seed, preset.config(), dialect);
                println!(
                    "{name} {dialect:?} {seed}: frames {} jumps {:.2}% own jumps {:.2}% back {:.2}% of {} corr>1 {:.2}% >4 {:.2}% >8 {:.2}% max {:.1} off p50 {:.1} p95 {:.1} p99 {:.1}",
                    s.frames,
                    s.jumps / s.frames * 100.0,
                    s.own_jumps / s.frames * 100.0,
                    s.backwards / s.drifts * 100.0,
                    s.drifts,
                    s.corrected_share(1.0) * 100.0,
                    s.corrected_share(5.1) * 100.0,
                    s.corrected_share(8.0) * 100.0,
                    s.corrections.iter().copied().fold(0.0, f32::max),
                    s.off_at(0.5),
                    s.off_at(0.95),
                    s.off_at(0.99),
                );
            }
        }
    }
}

#[test]
fn a_press_moves_the_own_dot_within_an_input_and_a_frame() {
    for dialect in [Dialect::Lan, Dialect::Rtype] {
        let mut scene = Scene::new(3, Preset::Reference.config(), dialect, 0);
        let mut seen = Seen::default();
        let still = Held::Only(Buttons::default());
        for _ in 0..120 {
            seen.see_frame(scene.pass(still, |_| {}), 2);
        }
        let before = seen.spot(own_id(dialect)).expect("it is drawn").at;
        let moved: Vec<f32> = (0..3)
            .map(|_| {
                seen.see_frame(scene.pass(Held::Only(Buttons::DOWN), |_| {}), 2);
                seen.spot(own_id(dialect)).expect("it is drawn").at[1] - before[1]
            })
            .collect();
        assert!(moved[1] > 0.0, "{dialect:?}: {moved:?}");
        assert!(moved[2] > 4.9, "{dialect:?}: {moved:?}");
    }
}
