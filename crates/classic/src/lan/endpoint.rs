//! The endpoint in `lan`: searches and HELLOs.

use std::net::IpAddr;

use super::{NAME, PORT};
use crate::lan::wire::{Hello, HostHere, Packet, Upgrade};
use backspin::channel::LogLine;
use backspin::dialect::{DialectId, EndpointDialect};
use backspin::endpoint::{Audience, Call, CallKind, Endpoint};
use backspin::node::Path;
use backspin::time::Time;
use backspin::wire::{Malformed, Name};

/// It keeps nothing: sessions are the endpoint's.
#[derive(Clone, Copy, Debug)]
pub(super) struct LanEndpoint {
    pub(super) id: DialectId,
}

impl EndpointDialect for LanEndpoint {
    fn detect(&self, bytes: &[u8]) -> bool {
        Packet::has_shape(bytes)
    }

    fn fault(&self, bytes: &[u8]) -> Option<Malformed> {
        // What begins like a header of `native` was meant to be that.
        match bytes {
            [1, _, ..] => None,
            [1..=6, ..] => Packet::decode(bytes).err(),
            _ => None,
        }
    }

    fn handle<'a>(
        &mut self,
        endpoint: &mut Endpoint,
        now: Time,
        path: Path,
        bytes: &'a mut [u8],
    ) -> Option<Call<'a>> {
        // A HELLO names a port: whoever has none cannot speak this dialect.
        let ip = path.remote.socket_addr().map(|address| address.ip());
        let is_reached =
            |ip: IpAddr| endpoint.config().reach == Audience::Everywhere || is_private(ip);
        if !ip.is_some_and(is_reached) {
            endpoint.counts_mut().reach += 1;
            return None;
        }
        let known = endpoint.session_at(self.id, path);
        if !endpoint.admits(now, path, known) {
            return None;
        }
        match (Packet::decode(bytes), known) {
            // Who has no place left does not call others in.
            (Ok(Packet::FindHost(_)), _) => {
                let port = endpoint.config().port_of(NAME).unwrap_or(PORT);
                if port != 0 && endpoint.takes_guest(self.id, path.remote.limit_key()) {
                    self.say_here(endpoint, path, port);
                }
                None
            }
            (Ok(Packet::Hello(hello)), _) => self.hello(endpoint, now, path, hello),
            (Ok(Packet::GuestInput(_)), Some(session)) => {
                endpoint.call(session, CallKind::Datagram(bytes))
            }
            (Ok(packet), _) => {
                endpoint.counts_mut().stray += 1;
                endpoint.note_stray(path, packet.direction(), packet.name());
                None
            }
            (Err(error), _) => {
                endpoint.note_malformed(path, bytes.len(), error);
                None
            }
        }
    }

    fn clone_box(&self) -> Box<dyn EndpointDialect> {
        Box::new(*self)
    }
}

impl LanEndpoint {
    fn say_here(&self, endpoint: &mut Endpoint, path: Path, port: u16) {
        let native_port = endpoint.config().native_port;
        let upgrade = (native_port != 0).then_some(Upgrade { native_port, flags: 0 });
        let line = LogLine::SearchAnswered { to: path.remote };
        let packet = Packet::HostHere(HostHere { port, upgrade });
        endpoint.say(path, Some(line), |out| packet.encode(out));
    }

    /// Everything goes to the port that HELLO names; inputs may come from either.
    fn hello<'a>(
        &self,
        endpoint: &mut Endpoint,
        now: Time,
        from: Path,
        hello: Hello,
    ) -> Option<Call<'a>> {
        let named = from.remote.with_port(hello.port)?;
        let path = Path { remote: named, ..from };
        if let Some(session) = endpoint.session_at(self.id, path) {
            return endpoint.call(session, CallKind::Repeat { sequence: None });
        }
        // Port 0 is nowhere; whoever is refused hears nothing: the dialect has no word for it.
        if hello.port == 0 {
            endpoint.counts_mut().malformed += 1;
            return None;
        }
        let Ok(found) = endpoint.place_guest(now, self.id, path, None) else {
            endpoint.counts_mut().guest_limit += 1;
            return None;
        };
        if from.remote != named {
            endpoint.also_at(found.session, from.remote);
        }
        Some(endpoint.admit_guest(&found, self.id, path, Name::new("Guest"), false))
    }
}

fn is_private(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_private() || ip.is_loopback() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_neighbourhood_is_private_loopback_and_link_local() {
        let private = |ip: &str| is_private(ip.parse().unwrap());
        for ip in [
            "10.1.2.3",
            "192.168.0.1",
            "172.16.0.1",
            "127.0.0.1",
            "169.254.1.1",
            "::1",
            "fd00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(private(ip), "{ip}");
        }
        for ip in ["8.8.8.8", "172.32.0.1", "2001:db8::1", "::ffff:8.8.8.8"] {
            assert!(!private(ip), "{ip}");
        }
    }
}
