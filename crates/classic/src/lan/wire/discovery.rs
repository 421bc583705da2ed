//! Finding a host: FIND_HOST and HOST_HERE.

use backspin::wire::field::fields;
use backspin::wire::{Fault, Malformed};
use backspin::wire::{Reader, Writer};

/// Broadcast by a guest that looks for hosts.
///
/// ```text
/// 0      1
/// | 0x01 |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FindHost;

fields!(Lan FindHost {});

/// A host's answer. The first program reads three bytes and ignores the rest; ours sends eight.
///
/// ```text
/// 0      1      3      5             7       8
/// | 0x02 | port | "BS" | native_port | flags |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HostHere {
    /// Where the host takes HELLO.
    pub port: u16,
    /// What a Backspin host adds.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub upgrade: Option<Upgrade>,
}

/// Where the same host speaks `native`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Upgrade {
    /// Its UDP port for `native`.
    pub native_port: u16,
    /// None are defined yet; kept as they came.
    pub flags: u8,
}

impl Upgrade {
    pub(super) const MAGIC: [u8; 2] = *b"BS";
}

impl HostHere {
    pub(super) const UPGRADE_LEN: usize = 8;

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let port = r.u16_be("port")?;
        if r.left() == 0 {
            return Ok(HostHere { port, upgrade: None });
        }
        if r.array("upgrade")? != Upgrade::MAGIC {
            return Err(Malformed::new("upgrade", Fault::NotCanonical));
        }
        let upgrade = Upgrade { native_port: r.u16_be("native_port")?, flags: r.u8("flags")? };
        Ok(HostHere { port, upgrade: Some(upgrade) })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        w.u16_be(self.port);
        if let Some(upgrade) = self.upgrade {
            w.bytes(&Upgrade::MAGIC);
            w.u16_be(upgrade.native_port);
            w.u8(upgrade.flags);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lan::wire::Packet;
    use crate::testing::check;

    #[test]
    fn find_host_is_one_byte() {
        check(&[1], &Packet::FindHost(FindHost));
    }

    #[test]
    fn host_here_names_the_port_big_endian() {
        check(&[2, 0xD2, 0xF0], &Packet::HostHere(HostHere { port: 54000, upgrade: None }));
    }

    #[test]
    fn host_here_keeps_the_upgrade_to_native() {
        let upgrade = Some(Upgrade { native_port: 4300, flags: 0x80 });
        let bytes = [2, 0xD2, 0xF0, b'B', b'S', 0x10, 0xCC, 0x80];
        check(&bytes, &Packet::HostHere(HostHere { port: 54000, upgrade }));
        assert!(Packet::decode(&[2, 0xD2, 0xF0, b'B', b'T', 0x10, 0xCC, 0]).is_err());
    }
}
