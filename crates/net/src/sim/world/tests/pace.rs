//! What the world itself costs: a server and two clients, 60 datagrams a second each way.

use super::*;
use toy::Manner;

const SECONDS: u64 = 60;
const TICK: Duration = Duration::from_nanos(16_666_667);

/// A server that tells two clients, and two clients that tell the server, 60 times a second.
fn match_of_two(seed: u64) -> World<Toy> {
    let talker = |peers: &[SocketAddr]| {
        let mut toy = Toy { manner: Manner::Ignore, ..Toy::ticking(peers, TICK) };
        toy.ticker.as_mut().unwrap().len = 80;
        toy
    };
    let toys = [talker(&[at(1), at(2)]), talker(&[at(0)]), talker(&[at(0)])];
    world(seed, Preset::Reference.config(), toys).0
}

/// `cargo test --release -p backspin sixty_simulated_seconds -- --nocapture` shows the figure.
#[test]
fn sixty_simulated_seconds_of_a_match_need_few_buffers() {
    const RUNS: u32 = 10;
    let begin = std::time::Instant::now();
    for seed in 0..RUNS {
        let mut world = match_of_two(seed.into());
        world.run_until(ms(SECONDS * 1_000));
        let sent: u64 = (0..3).map(|n| world.traffic(HostId(n)).sent).sum();
        assert_eq!(sent, 4 * 60 * SECONDS);
        let timeouts: usize = (0..3).map(|n| world.node(HostId(n)).timeouts.len()).sum();
        assert_eq!(timeouts as u64, 3 * 60 * SECONDS);
        // No more than are ever under way at once: four every tick for 50 to 70 ms.
        assert!(world.flight.capacity() <= 4 * 5, "{}", world.flight.capacity());
    }
    println!("{SECONDS} simulated seconds of three hosts at 60 Hz: {:?}", begin.elapsed() / RUNS);
}
