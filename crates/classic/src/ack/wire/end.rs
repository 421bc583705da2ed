//! How it ends: LEAVE, and BYE.

use backspin::wire::field::{Big, fields};

use super::Sentence;

/// The player leaves: a header and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Leave {}

fields!(Big Leave {});

/// The server ends it.
///
/// ```text
/// 0        1
/// | reason | sentence, 0 to 64 bytes
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bye {
    /// As in `native`'s Close.
    pub reason: u8,
    /// The same in words.
    pub sentence: Sentence,
}

fields!(Big Bye { reason, sentence });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::wire::testing::{check_packet, datagram, fault};
    use crate::ack::wire::{Datagram, Packet, sentence};
    use backspin::wire::{Fault, Malformed};

    #[test]
    fn a_leave_is_a_header() {
        check_packet(0x23, &[], Packet::Leave(Leave {}));
    }

    #[test]
    fn a_bye_has_a_number_and_a_sentence() {
        let payload = [&[2][..], &[b'x'; 64]].concat();
        let bye = Bye { reason: 2, sentence: sentence(&"x".repeat(64)) };
        check_packet(0xB4, &payload, Packet::Bye(bye));
        let timeout = datagram(0xB4, b"\x02Timeout");
        let bye = Bye { reason: 2, sentence: sentence("Timeout") };
        assert_eq!(Datagram::decode(&timeout).unwrap().packet, Packet::Bye(bye));
        assert_eq!(fault(0xB4, &[]), Malformed::new("reason", Fault::Truncated));
    }
}
