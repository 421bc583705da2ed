//! CLIENT_INPUT: what a player holds, numbered.

use crate::rtype::wire::Buttons;
use backspin::wire::{Malformed, Reader, Writer};

/// Document 004's ClientInputPayload.
///
/// ```text
/// 0                 4             6           10           14
/// | sequence_number | input_flags | timestamp | delta_time |
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ClientInput {
    /// One more with every input; never 0.
    pub sequence_number: u32,
    /// What is held, with the bits of `rtype`.
    pub input_flags: Buttons,
    /// The client's clock in ms; means nothing to the server.
    pub timestamp: u32,
    /// Seconds since the input before; the server does not use it.
    pub delta_time: f32,
}

impl ClientInput {
    pub(super) const LEN: usize = 14;

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Self, Malformed> {
        let sequence_number = match r.u32_be("sequence_number")? {
            0 => return Err(Malformed::out_of_range("sequence_number", 0)),
            number => number,
        };
        let bits = r.u16_be("input_flags")?;
        let input_flags = u8::try_from(bits).ok().and_then(Buttons::from_bits);
        Ok(ClientInput {
            sequence_number,
            input_flags: input_flags.ok_or(Malformed::out_of_range("input_flags", bits))?,
            timestamp: r.u32_be("timestamp")?,
            delta_time: r.f32_be("delta_time")?,
        })
    }

    pub(super) fn encode(&self, w: &mut Writer<'_>) {
        debug_assert!(self.sequence_number != 0, "0 means none");
        w.u32_be(self.sequence_number);
        w.u16_be(self.input_flags.bits().into());
        w.u32_be(self.timestamp);
        w.f32_be(self.delta_time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::wire::Packet;
    use crate::ack::wire::testing::{check_packet, fault};
    use backspin::wire::Fault;

    const INPUT: [u8; 14] = [0, 0, 0, 42, 0, 5, 0, 0, 0x30, 0x39, 0x3C, 0x88, 0x88, 0x89];

    #[test]
    fn an_input_has_the_14_bytes_of_document_004() {
        let input = ClientInput {
            sequence_number: 42,
            input_flags: Buttons::UP | Buttons::LEFT,
            timestamp: 12345,
            delta_time: 1.0 / 60.0,
        };
        check_packet(0x10, &INPUT, Packet::ClientInput(input));
    }

    #[test]
    fn no_input_has_number_0_buttons_that_do_not_exist_or_no_finite_time() {
        let changed = |at: usize, with: &[u8]| {
            let mut payload = INPUT;
            payload[at..at + with.len()].copy_from_slice(with);
            fault(0x10, &payload)
        };
        assert_eq!(changed(0, &[0; 4]), Malformed::out_of_range("sequence_number", 0));
        for bits in [64_u16, 128, 256, 0xFFFF] {
            let error = Malformed::out_of_range("input_flags", bits);
            assert_eq!(changed(4, &bits.to_be_bytes()), error);
        }
        for time in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let error = Malformed::new("delta_time", Fault::NotFinite);
            assert_eq!(changed(10, &time.to_be_bytes()), error);
        }
    }
}
