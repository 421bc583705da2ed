//! What strangers cost: nothing that grows.

mod counting;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use backspin::endpoint::EndpointConfig;
use backspin::node::{Node, Path};
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::time::Time;
use backspin::wire::Name;
use backspin_sim::dot::Dots;

fn hello(nonce: u64) -> Vec<u8> {
    let mut bytes = vec![1, 1, 0, 0, 48, 0, 0, 0, 9, 0, 1];
    bytes.extend_from_slice(b"DOTS");
    bytes.extend_from_slice(&[0, 1]);
    bytes.extend_from_slice(&nonce.to_be_bytes());
    bytes.resize(9 + 48, 0);
    bytes
}

#[test]
fn a_hundred_thousand_hellos_take_the_memory_of_one() {
    let mut server =
        Server::new(EndpointConfig::default(), [1; 32]).speaking(backspin_classic::dialects());
    server.open(Time::ZERO, Dots::default(), Name::new("Dots"), 0, RoomConfig::default());
    let mut out = [0; 2048];
    let mut ask = |server: &mut Server<Dots>, n: u32| {
        let ip = IpAddr::V4(Ipv4Addr::from_bits(0x0B00_0000 + n));
        let path = Path::to(SocketAddr::new(ip, 5000));
        let mut bytes = hello(u64::from(n));
        let asked = bytes.len();
        server.handle_datagram(Time::from_micros(u64::from(n)), path, &mut bytes);
        drop(bytes);
        let mut answered = 0;
        while let Some(transmit) = server.poll_transmit(Time::ZERO, &mut out) {
            assert_eq!(transmit.path, path);
            answered += transmit.len;
        }
        assert!((1..=asked).contains(&answered), "{answered} bytes for {asked}");
    };
    ask(&mut server, 0);
    let after_one = counting::bytes_in_use();
    let answered = (1..100_000).map(|n| ask(&mut server, n)).count();
    assert_eq!(answered, 99_999);
    assert_eq!(counting::bytes_in_use(), after_one);
    assert_eq!(server.endpoint().sessions(), 0);
}
