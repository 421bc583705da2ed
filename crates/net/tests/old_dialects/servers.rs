//! Against our own server.

use backspin::game::Buttons;
use backspin_classic::Dialect;
use backspin_sim::{LinkConfig, Preset};

use super::scene::{FRAME, Held, Scene, Seen, distance};

const SEEDS: u64 = 3;

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

fn own_id(dialect: Dialect) -> u32 {
    if dialect == Dialect::Lan { 2 } else { 1 }
}

#[test]
fn others_move_steadily_and_the_own_dot_is_never_seen_to_jump() {
    for preset in [Preset::Lan, Preset::Wifi, Preset::Reference] {
        for dialect in [Dialect::Lan, Dialect::Rtype, Dialect::Ack] {
            for seed in 1..=SEEDS {
                let seen = watch(seed, preset.config(), dialect);
                let of_frames = |count: f64| 100.0 * count / seen.frames;
                let (jumps, own_jumps) = (of_frames(seen.jumps), of_frames(seen.own_jumps));
                let back = 100.0 * seen.backwards / seen.drifts;
                let [over_4, over_8] = [4.0, 8.0].map(|px| 100.0 * seen.corrected_share(px));
                let off = [0.5, 0.95, 0.99].map(|share| seen.off_at(share));
                let figures = format!(
                    "{dialect} over {preset}, seed {seed}: others jump in {jumps:.2} % of frames \
                     and go back in {back:.2} % of looks; own jumps {own_jumps:.2} %, corrected by \
                     over 4 px {over_4:.2} %, 8 px {over_8:.2} %; off by {off:.1?} px"
                );
                println!("{figures}");
                assert!(seen.frames > 1_700.0 && seen.drifts > 1_700.0, "{figures}");
                assert!(jumps <= 0.5 && back <= 0.5, "{figures}");
                assert!(own_jumps <= 0.1, "{figures}");
                // A press that lasts a tick longer on the server is a step of 5 px, or 7.1. In `ack` an input
                // that is lost or late is one: what the server repeated is replayed until the next comes.
                let most = if dialect == Dialect::Ack { [12.0, 0.6] } else { [3.0, 0.3] };
                assert!(over_4 <= most[0] && over_8 <= most[1], "{figures}");
                assert!(off[2] <= 25.0, "{figures}");
            }
        }
    }
}

#[test]
fn a_press_moves_the_own_dot_within_an_input_and_a_frame() {
    for dialect in [Dialect::Lan, Dialect::Rtype, Dialect::Ack] {
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
