//! How hosts are found: FIND_HOST, broadcast, and HOST_HERE.

use crate::Dialect;
use crate::lan::wire::Packet;
use backspin::finder::{Probe, ProbeAnswer};

/// FIND_HOST.
const FIND_HOST: &[u8] = &[1];

/// Finds hosts at this port. What a host answers does not say which game it has: for a game that is
/// played in `lan` alone.
pub fn probe(port: u16) -> Probe {
    Probe { dialect: Dialect::Lan.name(), port, question: FIND_HOST, read }
}

fn read(bytes: &[u8]) -> Option<ProbeAnswer> {
    match Packet::decode(bytes) {
        Ok(Packet::HostHere(here)) => {
            let native_port = here.upgrade.map(|upgrade| upgrade.native_port);
            Some(ProbeAnswer { port: here.port, native_port })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lan::wire::FindHost;

    #[test]
    fn the_question_is_find_host() {
        let mut out = [0; 8];
        let len = Packet::FindHost(FindHost).encode(&mut out).unwrap();
        assert_eq!(out[..len], *probe(54000).question);
    }

    #[test]
    fn the_first_program_is_found_by_three_bytes_and_ours_says_where_it_speaks_native() {
        let first = ProbeAnswer { port: 54000, native_port: None };
        assert_eq!(read(&[2, 0xD2, 0xF0]), Some(first));
        let ours = ProbeAnswer { native_port: Some(4300), ..first };
        assert_eq!(read(&[2, 0xD2, 0xF0, b'B', b'S', 0x10, 0xCC, 0]), Some(ours));
        for bytes in [&[][..], &[1], &[2, 0xD2], &[4]] {
            assert_eq!(read(bytes), None);
        }
    }
}
