//! What is too much is refused to the one who sends it.

use std::net::SocketAddr;
use std::time::Duration;

use backspin::channel::{Delivery, MESSAGE_BYTES, QUEUE_BYTES, QUEUE_MESSAGES, SendError};
use backspin::client::{Client, ClientConfig};
use backspin::room::HEARD_PER_TICK;
use backspin::time::Time;
use backspin::typed::RawMessage;
use backspin::wire::Name;
use backspin::wire::native::Role;
use backspin_sim::{LinkConfig, Partition, Preset};

use super::rules::Choir;
use super::scene::{SERVER, Scene};

#[test]
fn a_client_is_told_why_a_message_is_not_taken() {
    let config = ClientConfig::new(SERVER, Name::new("Ann"));
    let mut asking = Client::new(Time::ZERO, Choir::default(), config, [1; 32]);
    assert_eq!(
        asking.send(&RawMessage::from(b"x"), Delivery::Reliable),
        Err(SendError::NotConnected)
    );

    let roles = [Role::Play, Role::Watch];
    let mut scene = Scene::new(1, Preset::Reference.config(), Choir::default(), &roles);
    assert_eq!(
        scene.client(1).send(&RawMessage::from(b"x"), Delivery::Reliable),
        Err(SendError::Watching)
    );
    let long = [0; MESSAGE_BYTES + 1];
    for delivery in [Delivery::Reliable, Delivery::Unreliable] {
        assert_eq!(
            scene.client(0).send(&RawMessage::from(&long), delivery),
            Err(SendError::TooLong)
        );
        assert_eq!(scene.client(0).send(&RawMessage::from(&long[1..]), delivery), Ok(()));
    }
    scene.run(Duration::from_secs(2));
    assert_eq!(scene.room().world().heard.len(), 2);

    scene.client(0).leave();
    assert_eq!(
        scene.client(0).send(&RawMessage::from(b"x"), Delivery::Reliable),
        Err(SendError::NotConnected)
    );
}

#[test]
fn a_clients_full_queue_refuses_and_takes_again_when_the_server_has_heard() {
    let mut scene = Scene::new(1, Preset::Reference.config(), Choir::default(), &[Role::Play]);
    let guest = scene.guests[0].host;
    scene.world.set_partition(scene.server, guest, Partition::Cut);
    let send = |scene: &mut Scene, message: &[u8], most: usize| {
        (0..most)
            .take_while(|_| {
                scene.client(0).send(&RawMessage::from(message), Delivery::Reliable).is_ok()
            })
            .count()
    };
    assert_eq!(send(&mut scene, b"word", 9_999), QUEUE_MESSAGES);
    let refused = scene.client(0).send(&RawMessage::from(b"word"), Delivery::Reliable);
    assert_eq!(refused, Err(SendError::QueueMessages));
    scene.world.set_partition(scene.server, guest, Partition::Healed);
    scene.run(Duration::from_secs(20));
    assert_eq!(scene.room().world().heard.len(), QUEUE_MESSAGES);

    assert_eq!(send(&mut scene, &[7; MESSAGE_BYTES], 9_999), QUEUE_BYTES / MESSAGE_BYTES);
    let refused = scene.client(0).send(&RawMessage::from(&[7; MESSAGE_BYTES]), Delivery::Reliable);
    assert_eq!(refused, Err(SendError::QueueBytes));
    scene.run(Duration::from_secs(5));
    let heard = QUEUE_MESSAGES + QUEUE_BYTES / MESSAGE_BYTES;
    assert_eq!(scene.room().world().heard.len(), heard);
    assert!(scene.guests[0].ended.is_none());
}

#[test]
fn a_player_who_says_too_much_is_heard_so_often_in_a_tick_and_no_more() {
    let link = LinkConfig { delay: Duration::from_millis(5), ..LinkConfig::PERFECT };
    let mut scene = Scene::new(1, link, Choir::default(), &[Role::Play]);
    for _ in 0..QUEUE_MESSAGES {
        scene.client(0).send(&RawMessage::from(b"flood"), Delivery::Reliable).unwrap();
    }
    let (mut before, mut most) = (0, 0);
    let mut tick = scene.room().tick();
    while before < QUEUE_MESSAGES {
        scene.run(Duration::from_millis(1));
        let heard = scene.room().world().heard.len();
        let ticks =
            (scene.room().tick() - std::mem::replace(&mut tick, scene.room().tick())) as usize;
        assert!(heard - before <= ticks * HEARD_PER_TICK, "{} at once", heard - before);
        most = most.max(heard - before);
        before = heard;
    }
    assert_eq!(most, HEARD_PER_TICK);
}

#[test]
fn messages_keep_to_what_a_server_takes_from_a_player() {
    let link = LinkConfig { delay: Duration::from_millis(5), ..LinkConfig::PERFECT };
    for rate in [60, 120] {
        let choir = Choir { rate, ..Choir::default() };
        let mut scene = Scene::new(1, link, choir, &[Role::Play]);
        for _ in 0..30 {
            while scene
                .client(0)
                .send(&RawMessage::from(&[7; MESSAGE_BYTES]), Delivery::Reliable)
                .is_ok()
            {}
            scene.run(Duration::from_millis(100));
        }
        assert_eq!(scene.server().endpoint().counts().player_limit, 0, "{rate} Hz");
        assert!(scene.room().world().heard.len() > 200, "{rate} Hz");
    }
}

/// An address that nobody has: what is sent there is lost.
#[test]
fn a_client_that_asks_somebody_who_is_not_there_says_so_when_it_sends() {
    let nobody = SocketAddr::from(([10, 0, 0, 99], 4300));
    let config = ClientConfig::new(nobody, Name::new("Ann"));
    let mut client = Client::new(Time::ZERO, Choir::default(), config, [1; 32]);
    let error = client.send(&RawMessage::from(b"x"), Delivery::Unreliable).unwrap_err();
    assert_eq!(error.to_string(), "The player is in no room. Join one first.");
}
