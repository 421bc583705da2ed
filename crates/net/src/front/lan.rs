//! The door in `lan`: one HELLO is enough, so it is spoken to the neighbourhood only.

use std::net::{IpAddr, SocketAddr};

use super::answer::Answer;
use super::{Admission, Applicant, Call, CallKind, Front, LanReach, Seat, Voice};
use crate::node::Path;
use crate::time::Time;
use crate::wire::lan::{Hello, Packet};
use crate::wire::native::Role;
use crate::wire::{Dialect, Name, Packet as AnyPacket};

impl Front {
    pub(super) fn handle_lan<'a>(
        &mut self,
        now: Time,
        path: Path,
        bytes: &'a [u8],
    ) -> Option<Call<'a>> {
        if self.config.lan_reach == LanReach::PrivateOnly && !is_private(path.remote.ip()) {
            self.counts.reach += 1;
            return None;
        }
        let known = self.routes.at_path(Dialect::Lan, path);
        if !self.admits(now, path, known) {
            return None;
        }
        match (Packet::decode(bytes), known) {
            // Who has no place left does not call others in.
            (Ok(Packet::FindHost(_)), _) => {
                if self.config.lan_port != 0 && self.takes_lan_guest(path.remote.ip()) {
                    self.answer(Answer::HostHere { path });
                }
                None
            }
            (Ok(Packet::Hello(hello)), _) => self.lan_hello(now, path, hello),
            (Ok(packet @ Packet::GuestInput(_)), Some(session)) => {
                let route = self.routes.route(session)?;
                let kind = CallKind::Packet(AnyPacket::Lan(packet));
                Some(Call { room: route.room, place: route.place, session, kind })
            }
            (Ok(packet), _) => {
                self.counts.stray += 1;
                self.note_stray(path, packet.direction(), packet.name());
                None
            }
            (Err(error), _) => {
                self.counts.malformed += 1;
                self.note_malformed(path, bytes, error);
                None
            }
        }
    }

    /// Everything goes to the port that HELLO names; inputs may come from either.
    fn lan_hello<'a>(&mut self, now: Time, from: Path, hello: Hello) -> Option<Call<'a>> {
        let named = SocketAddr::new(from.remote.ip(), hello.port);
        let path = Path { remote: named, ..from };
        if let Some(session) = self.routes.at_path(Dialect::Lan, path) {
            let route = self.routes.route(session)?;
            let (room, place) = (route.room, route.place);
            return Some(Call { room, place, session, kind: CallKind::Repeat { sequence: 0 } });
        }
        // Port 0 is nowhere; whoever is refused hears nothing: the dialect has no word for it.
        if hello.port == 0 {
            self.counts.malformed += 1;
            return None;
        }
        let applicant = Applicant::guest(Dialect::Lan, path, Seat::LanGuest);
        let Ok(found) = self.place_lan_guest(now, &applicant) else {
            self.counts.guest_limit += 1;
            return None;
        };
        if from.remote != named {
            self.routes.also_at(found.session, from.remote);
        }
        let admission = Admission::new(&found, path, Voice::Lan, Role::Play, Name::new("Guest"));
        Some(Call::admit(&found, admission))
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
