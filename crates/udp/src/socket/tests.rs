//! Both backends, on loopback.

use std::net::IpAddr;

use super::*;

const BOTH: [Backend; 2] = [Backend::Batched, Backend::Portable];

fn bind(address: &str, backend: Backend) -> (Socket, SocketAddr) {
    let socket = Socket::bind_with(address.parse().unwrap(), backend).unwrap();
    let bound = socket.local_addr().unwrap();
    (socket, bound)
}

/// Loopback addresses; IPv6 only where the machine has it.
fn loopbacks() -> Vec<&'static str> {
    let v6 = Socket::bind("[::1]:0".parse().unwrap()).is_ok();
    if v6 { vec!["127.0.0.1:0", "[::1]:0"] } else { vec!["127.0.0.1:0"] }
}

fn taken(inbox: &mut Inbox) -> Vec<(SocketAddr, Vec<u8>)> {
    inbox.datagrams().map(|(envelope, bytes)| (envelope.remote, bytes.to_vec())).collect()
}

#[test]
fn a_peer_that_is_gone_does_not_stop_the_socket() {
    for backend in BOTH {
        let (a, here) = bind("127.0.0.1:0", backend);
        let (_, gone) = bind("127.0.0.1:0", backend);
        let mut inbox = Inbox::new(16);
        for _ in 0..3 {
            a.send(gone, b"anyone?").unwrap();
            assert_eq!(a.receive(&mut inbox).unwrap(), 0);
        }
        a.send(here, b"still here").unwrap();
        assert_eq!(a.receive(&mut inbox).unwrap(), 1);
        assert_eq!(taken(&mut inbox), [(here, b"still here".to_vec())]);
    }
}

#[test]
fn a_port_that_is_taken_is_named() {
    let (_a, taken) = bind("127.0.0.1:0", Backend::Batched);
    let error = Socket::bind(taken).unwrap_err().to_string();
    assert!(error.contains("in use by another program"), "{error}");
    assert!(error.contains(&taken.to_string()), "{error}");
}

#[test]
fn an_inbox_takes_a_batch_in_order_and_leaves_the_next_one() {
    for (backend, address) in
        BOTH.into_iter().flat_map(|b| loopbacks().into_iter().map(move |a| (b, a)))
    {
        let (a, from) = bind(address, backend);
        let (b, to) = bind(address, backend);
        let letters: Vec<Vec<u8>> = (0..=BATCH).map(|n| vec![n as u8; n % 100]).collect();
        let envelope = |bytes: &Vec<u8>| Envelope { remote: to, local: None, len: bytes.len() };
        let batch = letters.iter().map(|bytes| (envelope(bytes), &bytes[..]));
        assert_eq!(a.send_all(batch), BATCH + 1);
        let mut inbox = Inbox::new(100);
        assert_eq!(b.receive(&mut inbox).unwrap(), BATCH);
        assert!(inbox.is_full());
        let expected = letters.iter().map(|bytes| (from, bytes.clone()));
        assert_eq!(taken(&mut inbox), expected.clone().take(BATCH).collect::<Vec<_>>());
        assert_eq!(b.receive(&mut inbox).unwrap(), 1);
        assert_eq!(taken(&mut inbox), expected.skip(BATCH).collect::<Vec<_>>());
        assert_eq!(b.receive(&mut inbox).unwrap(), 0);
        assert_eq!(taken(&mut inbox), []);
    }
}

#[test]
fn a_datagram_that_fits_is_whole_and_a_longer_one_is_cut() {
    for backend in BOTH {
        let (a, here) = bind("127.0.0.1:0", backend);
        let mut inbox = Inbox::new(4);
        for bytes in [&b"1234"[..], b"12345"] {
            a.send(here, bytes).unwrap();
            assert_eq!(a.receive(&mut inbox).unwrap(), 1);
            assert_eq!(taken(&mut inbox), [(here, b"1234".to_vec())]);
        }
    }
}

#[test]
fn one_that_cannot_be_sent_keeps_no_other_from_going() {
    for backend in BOTH {
        let (a, here) = bind("127.0.0.1:0", backend);
        let too_long = vec![0; 70_000];
        let letters = [&b"first"[..], &too_long, b"second", &too_long, &too_long, b"third"];
        let batch = letters
            .iter()
            .map(|&bytes| (Envelope { remote: here, local: None, len: bytes.len() }, bytes));
        assert_eq!(a.send_all(batch), 3);
        let mut inbox = Inbox::new(16);
        assert_eq!(a.receive(&mut inbox).unwrap(), 3);
        let bytes: Vec<_> = taken(&mut inbox).into_iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(bytes, [&b"first"[..], b"second", b"third"]);
    }
}

#[test]
fn a_full_buffer_is_no_reason_to_try_the_next_one() {
    assert!(is_full(&io::ErrorKind::WouldBlock.into()));
    assert!(!is_full(&io::ErrorKind::ConnectionRefused.into()));
    #[cfg(target_os = "linux")]
    assert!(is_full(&io::Error::from_raw_os_error(libc::ENOBUFS)));
}

#[test]
fn a_portable_socket_knows_no_local_addresses_and_sends_all_the_same() {
    let (a, here) = bind("127.0.0.1:0", Backend::Portable);
    let local = Some(IpAddr::from([127, 0, 0, 9]));
    a.send_from(Envelope { remote: here, local, len: 2 }, b"hi").unwrap();
    let mut inbox = Inbox::new(16);
    assert_eq!(a.receive(&mut inbox).unwrap(), 1);
    let (envelope, _) = inbox.datagrams().next().unwrap();
    assert_eq!(envelope, Envelope { remote: here, local: None, len: 2 });
}

/// Linux has all of 127.0.0.0/8 on loopback: a machine with many addresses.
#[cfg(target_os = "linux")]
mod many_addresses {
    use super::*;

    #[test]
    fn an_answer_leaves_from_the_address_that_was_asked() {
        let (server, bound) = bind("0.0.0.0:0", Backend::Batched);
        let (peer, _) = bind("127.0.0.1:0", Backend::Batched);
        for asked in [[127, 0, 0, 1], [127, 0, 0, 2], [127, 3, 4, 5]] {
            let asked = SocketAddr::new(asked.into(), bound.port());
            peer.send(asked, b"who?").unwrap();
            let mut inbox = Inbox::new(16);
            assert_eq!(server.receive(&mut inbox).unwrap(), 1);
            let (envelope, bytes) = inbox.datagrams().next().unwrap();
            assert_eq!(envelope.local, Some(asked.ip()));
            server.send_from(envelope, bytes).unwrap();
            assert_eq!(peer.receive(&mut inbox).unwrap(), 1);
            assert_eq!(taken(&mut inbox), [(asked, b"who?".to_vec())]);
        }
    }

    #[test]
    fn an_answer_over_ipv6_leaves_from_the_address_that_was_asked() {
        if loopbacks().len() < 2 {
            return;
        }
        let (server, bound) = bind("[::]:0", Backend::Batched);
        let (peer, _) = bind("[::1]:0", Backend::Batched);
        let asked = SocketAddr::new("::1".parse().unwrap(), bound.port());
        peer.send(asked, b"who?").unwrap();
        let mut inbox = Inbox::new(16);
        assert_eq!(server.receive(&mut inbox).unwrap(), 1);
        let (envelope, bytes) = inbox.datagrams().next().unwrap();
        assert_eq!(envelope.local, Some(asked.ip()));
        server.send_from(envelope, bytes).unwrap();
        assert_eq!(peer.receive(&mut inbox).unwrap(), 1);
        assert_eq!(taken(&mut inbox), [(asked, b"who?".to_vec())]);
    }

    #[test]
    fn a_broadcast_is_answered_from_an_address_of_this_machine() {
        let (server, bound) = bind("0.0.0.0:0", Backend::Batched);
        let (peer, _) = bind("0.0.0.0:0", Backend::Batched);
        let everyone = SocketAddr::new([127, 255, 255, 255].into(), bound.port());
        let local = Some(IpAddr::from([127, 0, 0, 1]));
        peer.send_from(Envelope { remote: everyone, local, len: 4 }, b"who?").unwrap();
        let mut inbox = Inbox::new(16);
        assert_eq!(server.receive(&mut inbox).unwrap(), 1);
        let (envelope, bytes) = inbox.datagrams().next().unwrap();
        assert_eq!(envelope.local, local, "not the broadcast address");
        server.send_from(envelope, bytes).unwrap();
        assert_eq!(peer.receive(&mut inbox).unwrap(), 1);
        let answered = SocketAddr::new([127, 0, 0, 1].into(), bound.port());
        assert_eq!(taken(&mut inbox), [(answered, b"who?".to_vec())]);
    }

    #[test]
    fn an_address_that_is_not_ours_sends_nothing() {
        let (a, here) = bind("127.0.0.1:0", Backend::Batched);
        let local = Some(IpAddr::from([192, 0, 2, 1]));
        assert!(a.send_from(Envelope { remote: here, local, len: 2 }, b"hi").is_err());
    }
}
