//! What the world itself costs: a server and two clients, 60 datagrams a second each way.

use super::*;
use backspin::node::{Node, Transmit};

const SECONDS: u64 = 60;
const TICK: Duration = Duration::from_nanos(16_666_667);
const PAYLOAD_LEN: usize = 80;

/// Tells every peer something 60 times a second, and costs next to nothing itself.
#[derive(Default)]
struct Talker {
    peers: Vec<SocketAddr>,
    /// How many of them were told in this tick.
    told: usize,
    ticks: u64,
    next: Time,
}

impl Node for Talker {
    fn handle_datagram(&mut self, _: Time, _: Path, _: &mut [u8]) {}

    fn handle_timeout(&mut self, _: Time) {
        self.next += TICK;
        self.ticks += 1;
        self.told = 0;
    }

    fn poll_transmit(&mut self, _: Time, out: &mut [u8]) -> Option<Transmit> {
        let peer = *self.peers.get(self.told).filter(|_| self.ticks > 0)?;
        self.told += 1;
        out[..PAYLOAD_LEN].fill(self.ticks as u8);
        Some(Transmit { path: Path::to(peer), len: PAYLOAD_LEN })
    }

    fn poll_timeout(&self) -> Option<Time> {
        Some(self.next)
    }
}

impl StreamNode for Talker {}

#[test]
fn sixty_simulated_seconds_of_a_match_need_few_buffers() {
    const RUNS: u32 = 3;
    for seed in 0..RUNS {
        let mut world = World::new(seed.into(), Preset::Reference.config());
        let ids = [vec![at(1), at(2)], vec![at(0)], vec![at(0)]].map(|peers| {
            let address = at(world.hosts.len() as u8);
            world.add(Talker { peers, ..Talker::default() }, &[address], Drift::NONE)
        });
        world.run_until(ms(SECONDS * 1_000));
        let sent: u64 = ids.map(|id| world.traffic(id).sent).iter().sum();
        assert_eq!(sent, 4 * 60 * SECONDS);
        assert_eq!(ids.map(|id| world.node(id).ticks), [60 * SECONDS; 3]);
        // No more than are ever under way at once: four every tick for 50 to 70 ms.
        assert!(world.flight.capacity() <= 4 * 5, "{}", world.flight.capacity());
    }
}
