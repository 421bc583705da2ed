//! What must arrive does, or the session ends.

use std::time::Duration;

use backspin::channel::{Delivery, MESSAGE_BYTES, QUEUE_MESSAGES};
use backspin::room::RoomEvent;
use backspin::session::EndReason;
use backspin::typed::RawMessage;
use backspin::wire::native::Role;
use backspin_sim::{LinkConfig, Partition, Preset};

use super::rules::Choir;
use super::scene::Scene;

const PLAY: [Role; 2] = [Role::Play; 2];

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// Sixty events and messages in a second.
const SIXTY: Choir = Choir {
    rate: 60,
    reliable: 1,
    len: 4,
    unreliable: 0,
    chat: backspin::chat::ChatRule::Off,
    echoes: false,
};

#[test]
fn a_client_paused_for_two_seconds_at_sixty_events_a_second_misses_none() {
    for seed in 1..=3 {
        let mut scene = Scene::new(seed, Preset::Reference.config(), SIXTY, &PLAY);
        // Its process stands still; what comes lies in its socket.
        let until = scene.world.now() + seconds(2.0);
        let (paused, other) = (scene.guests[0].host, scene.guests[1].host);
        scene.world.stall(paused, until);
        scene.run(seconds(4.0));
        // All that comes is lost, for as long.
        scene.world.set_partition(scene.server, other, Partition::Cut);
        scene.run(seconds(2.0));
        scene.world.set_partition(scene.server, other, Partition::Healed);
        scene.run(seconds(2.0));
        for guest in 0..2 {
            let behind = scene.assert_whole(guest);
            assert!(behind < 30, "seed {seed}: {behind} words behind");
            assert_eq!(scene.guests[guest].ended, None);
        }
    }
}

#[test]
fn eight_a_tick_over_the_reference_link_and_over_worse_ones_leave_no_gap() {
    let choir = Choir { reliable: 8, ..SIXTY };
    let presets = [Preset::Reference, Preset::Mobile, Preset::Lan];
    for (seed, preset) in (1..).zip(presets) {
        let mut scene = Scene::new(seed, preset.config(), choir, &[Role::Play, Role::Watch]);
        scene.run(seconds(20.0));
        for guest in 0..2 {
            let behind = scene.assert_whole(guest);
            // What is under way for a round trip, and twice as long for what was lost.
            assert!(behind < 480, "{preset}: {behind} words behind");
            assert!(scene.guests[guest].words.len() > 9_000, "{preset}");
        }
        let most = scene.room().members().map(|card| card.messages_waiting).max().unwrap();
        assert!(most < QUEUE_MESSAGES / 4, "{preset}: {most} wait");
    }
}

#[test]
fn other_tick_rates_and_longer_messages_leave_no_gap() {
    let choirs = [
        Choir { rate: 20, reliable: 24, ..SIXTY },
        Choir { rate: 120, reliable: 4, ..SIXTY },
        Choir { rate: 60, reliable: 2, len: 900, ..SIXTY },
        Choir { rate: 30, reliable: 4, len: 300, ..SIXTY },
    ];
    for (seed, choir) in (1..).zip(choirs) {
        let mut scene = Scene::new(seed, Preset::Reference.config(), choir, &PLAY);
        scene.run(seconds(10.0));
        for guest in 0..2 {
            let behind = scene.assert_whole(guest);
            assert!(behind < 300, "{choir:?}: {behind} words behind");
        }
    }
}

#[test]
fn a_dropped_player_at_sixty_a_second_comes_back_after_half_a_minute_and_misses_none() {
    let mut scene = Scene::new(1, Preset::Reference.config(), SIXTY, &PLAY);
    let away = scene.guests[0].host;
    scene.world.set_partition(scene.server, away, Partition::Cut);
    scene.run(seconds(38.0));
    assert!(!scene.room().members().next().unwrap().present, "the place is kept");
    scene.world.set_partition(scene.server, away, Partition::Healed);
    scene.run(seconds(6.0));
    assert!(scene.guests[0].breaks > 0 && scene.guests[0].ended.is_none());
    assert!(scene.assert_whole(0) < 60);
    assert!(scene.guests[0].words.len() > 2_400);
}

#[test]
fn a_queue_that_is_full_ends_the_session_with_the_reason() {
    // A screen that does not ask what has come, while its client is well.
    let choir = Choir { reliable: 8, ..SIXTY };
    let mut scene = Scene::new(1, Preset::Reference.config(), choir, &PLAY);
    let heard = scene.guests[0].words.len();
    let fills_after = QUEUE_MESSAGES as f64 / (8.0 * 60.0);
    for _ in 0..200 {
        scene.world.run_for(seconds(0.1));
        scene.listen(1);
    }
    assert!(fills_after < 19.0);
    assert_eq!(scene.client(0).ended(), Some(&EndReason::Backlog));
    assert_eq!(
        EndReason::Backlog.to_string(),
        "Your connection is too slow for this match: more was waiting for you than the server \
         keeps. Check your network, then join again."
    );
    scene.listen(0);
    scene.assert_whole(0);
    assert!(scene.guests[0].words.len() >= heard + 128, "what had come is read all the same");
    let events: Vec<_> = std::iter::from_fn(|| scene.room().poll_event()).collect();
    let overrun = events.iter().filter(|event| matches!(event, RoomEvent::Overrun(_)));
    assert_eq!(overrun.count(), 1, "{events:?}");
    assert_eq!(scene.room().message_counts().overruns, 1);
    assert_eq!(scene.room().members_here(), 1);
    // Nobody else is hurt.
    assert!(scene.assert_whole(1) < 480);
    assert_eq!(scene.guests[1].ended, None);
}

#[test]
fn who_is_away_for_so_long_that_the_queue_is_full_has_no_place_any_more() {
    let choir = Choir { reliable: 8, ..SIXTY };
    let mut scene = Scene::new(1, Preset::Reference.config(), choir, &PLAY);
    let away = scene.guests[0].host;
    scene.world.set_partition(scene.server, away, Partition::Cut);
    scene.run(seconds(15.0));
    assert_eq!(scene.room().members_here(), 1);
    scene.world.set_partition(scene.server, away, Partition::Healed);
    scene.run(seconds(5.0));
    assert_eq!(scene.guests[0].ended, Some(EndReason::PlaceGivenUp));
    scene.assert_whole(0);
}

#[test]
fn a_slow_screen_slows_the_server_down_and_misses_nothing() {
    let choir = Choir { reliable: 2, ..SIXTY };
    let mut scene = Scene::new(1, Preset::Reference.config(), choir, &PLAY[..1]);
    for _ in 0..3 {
        // Five seconds in which nobody asks the client what has come.
        scene.world.run_for(seconds(5.0));
        let waiting = scene.room().members().next().unwrap().messages_waiting;
        assert!(waiting > 400, "{waiting} wait for the screen");
        scene.run(seconds(3.0));
        assert!(scene.assert_whole(0) < 60);
    }
}

#[test]
fn what_a_player_sends_is_heard_once_and_in_order_whatever_its_length() {
    for seed in 1..=3 {
        let choir = Choir { echoes: true, ..SIXTY };
        let mut scene = Scene::new(seed, Preset::Mobile.config(), choir, &PLAY);
        let mut sent = Vec::new();
        for number in 0..600_usize {
            let len = [0, 1, 15, 16, 200, MESSAGE_BYTES][number % 6];
            // Not what a word of the choir's looks like.
            let mut message = vec![0xAB; len];
            if len > 8 {
                message[..8].copy_from_slice(&(number as u64 | 1 << 63).to_be_bytes());
            }
            scene.client(0).send(&RawMessage::from(&message), Delivery::Reliable).unwrap();
            sent.push(message);
            if number % 2 == 0 {
                scene.run(seconds(1.0 / 60.0));
            }
        }
        scene.run(seconds(5.0));
        let heard: Vec<_> =
            scene.room().world().heard.iter().map(|(_, message)| message.clone()).collect();
        assert!(heard == sent, "seed {seed}: {} of {}", heard.len(), sent.len());
        for guest in 0..2 {
            assert!(scene.guests[guest].other == sent, "seed {seed}: and is passed on");
            scene.assert_whole(guest);
        }
    }
}

#[test]
fn rules_whisper_to_one_to_some_and_to_all() {
    let roles = [Role::Play, Role::Play, Role::Play, Role::Watch];
    let mut scene = Scene::new(1, Preset::Reference.config(), SIXTY, &roles);
    let ids: Vec<u8> = (0..4).map(|guest| scene.client(guest).player().unwrap().0 as u8).collect();
    let mut whisper = |to: &[usize]| {
        let named: Vec<u8> = to.iter().map(|&guest| ids[guest]).collect();
        let message = [super::rules::WHISPER, &[to.len() as u8], &named].concat();
        scene.client(0).send(&RawMessage::from(&message), Delivery::Reliable).unwrap();
        scene.run(seconds(1.0));
        let mut told = |guest: &mut super::scene::Guest| std::mem::take(&mut guest.whispers).len();
        scene.guests.iter_mut().map(&mut told).collect::<Vec<_>>()
    };
    assert_eq!(whisper(&[0]), [1, 0, 0, 0]);
    assert_eq!(whisper(&[2]), [0, 0, 1, 0]);
    assert_eq!(whisper(&[1, 3]), [0, 1, 0, 1]);
    assert_eq!(whisper(&[0, 1, 2, 3]), [1, 1, 1, 1]);
    assert_eq!(whisper(&[]), [0, 0, 0, 0]);
    for guest in 0..4 {
        scene.assert_whole(guest);
    }
}

#[test]
fn a_perfect_link_carries_the_longest_messages_at_once() {
    let choir = Choir { reliable: 4, len: MESSAGE_BYTES, ..SIXTY };
    let link = LinkConfig { delay: Duration::from_millis(5), ..LinkConfig::PERFECT };
    let mut scene = Scene::new(1, link, choir, &PLAY);
    scene.run(seconds(5.0));
    for guest in 0..2 {
        // What one tick says, and what it says while the screen does not look.
        assert!(scene.assert_whole(guest) <= 12);
    }
}
