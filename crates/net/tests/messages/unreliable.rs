//! What may be lost is lost by the link alone.

use std::time::Duration;

use backspin::channel::{Delivery, SendError, UNRELIABLE_MESSAGES};
use backspin::typed::RawMessage;
use backspin::wire::native::Role;
use backspin_sim::{LinkConfig, Loss, Preset};

use super::rules::Choir;
use super::scene::Scene;

fn choir(unreliable: u32) -> Choir {
    Choir { unreliable, ..Choir::default() }
}

#[test]
fn without_loss_every_unreliable_message_arrives_once() {
    let link = LinkConfig { delay: Duration::from_millis(20), ..LinkConfig::PERFECT };
    let mut scene = Scene::new(1, link, choir(3), &[Role::Play, Role::Watch]);
    scene.run(Duration::from_secs(5));
    for guest in &scene.guests {
        let first = guest.loose[0];
        assert!((first..).zip(&guest.loose).all(|(expected, came)| expected == *came));
        assert!(guest.loose.len() > 800);
    }
}

#[test]
fn what_the_link_loses_is_not_sent_again_and_nothing_comes_twice() {
    let link = LinkConfig { loss: Loss::independent(0.2), ..Preset::Reference.config() };
    let mut scene = Scene::new(1, link, choir(2), &[Role::Play]);
    scene.run(Duration::from_secs(20));
    let mut loose = scene.guests[0].loose.clone();
    let (first, last) = (loose[0], *loose.last().unwrap());
    let came = loose.len();
    loose.sort_unstable();
    loose.dedup();
    assert_eq!(loose.len(), came, "none came twice");
    let share = 1.0 - came as f64 / f64::from(last - first + 1);
    assert!((0.16..0.24).contains(&share), "{share:.3} lost");
}

#[test]
fn rules_that_say_more_than_a_tick_takes_are_told() {
    let mut scene = Scene::new(1, Preset::Lan.config(), choir(20), &[Role::Play]);
    scene.run(Duration::from_secs(1));
    let (ticks, world) = (scene.room().tick(), scene.room().world().clone());
    assert_eq!(world.next_loose, ticks * UNRELIABLE_MESSAGES as u32);
    assert_eq!(world.refused, ticks * (20 - UNRELIABLE_MESSAGES as u32));
}

#[test]
fn a_player_says_sixteen_a_tick_and_is_refused_the_seventeenth() {
    let link = LinkConfig { delay: Duration::from_millis(20), ..LinkConfig::PERFECT };
    let mut scene = Scene::new(1, link, choir(0), &[Role::Play]);
    for _ in 0..100 {
        for number in 0..UNRELIABLE_MESSAGES as u8 {
            scene.client(0).send(&RawMessage::from(&[number; 30]), Delivery::Unreliable).unwrap();
        }
        let refused = scene.client(0).send(&RawMessage::from(b"x"), Delivery::Unreliable);
        assert_eq!(refused, Err(SendError::TickMessages));
        scene.run(Duration::from_millis(40));
    }
    let heard = &scene.room().world().heard;
    assert_eq!(heard.len(), 100 * UNRELIABLE_MESSAGES);
    assert_eq!(scene.room().message_counts().lost, 0);
}
