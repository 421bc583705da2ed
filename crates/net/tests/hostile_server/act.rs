//! The script of a hostile server: bytes, read as one act after another.
//!
//! An act is a byte that names it and its operands behind it; what is cut short ends the script.

/// One thing that happens to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act<'a> {
    /// Lets so many times 10 ms pass.
    Wait(u8),
    /// Anything as a datagram.
    Raw(&'a [u8]),
    /// Something that an honest server said, with this byte at this place.
    Bent { which: u8, at: u8, to: u8 },
    /// A packet with a good header and anything behind it.
    Payload { kind: u8, payload: &'a [u8] },
    /// A world of entities, well encoded, so many ticks on from the newest.
    World { on: i8, form: u8, entities: &'a [u8] },
    /// The numbers of datagrams go on from so much further.
    Skip(i16),
    /// The next datagram comes so many times more.
    Flood(u8),
    /// Anything in the stream.
    Stream(&'a [u8]),
    /// The stream ends, one way or the other.
    EndStream(u8),
    /// What the client asked last is answered in one of many ways.
    Answer(u8),
    /// The player does something.
    Play(u8),
}

/// How many acts there are.
#[allow(dead_code, reason = "the seeds' test counts acts, the fuzz target only plays them")]
pub(crate) const ACTS: u8 = 11;

/// A script, read from the front.
pub(crate) struct Script<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Script<'a> {
    type Item = Act<'a>;

    fn next(&mut self) -> Option<Act<'a>> {
        Some(match self.byte()? % ACTS {
            0 => Act::Wait(self.byte()?),
            1 => Act::Raw(self.bytes()?),
            2 => Act::Bent { which: self.byte()?, at: self.byte()?, to: self.byte()? },
            3 => Act::Payload { kind: self.byte()?, payload: self.bytes()? },
            4 => Act::World {
                on: self.byte()?.cast_signed(),
                form: self.byte()?,
                entities: self.bytes()?,
            },
            5 => Act::Skip(i16::from_be_bytes([self.byte()?, self.byte()?])),
            6 => Act::Flood(self.byte()?),
            7 => Act::Stream(self.bytes()?),
            8 => Act::EndStream(self.byte()?),
            9 => Act::Answer(self.byte()?),
            _ => Act::Play(self.byte()?),
        })
    }
}

impl<'a> Script<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// InterpolationClock their number; the last of a script may be fewer.
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::from(self.byte()?).min(self.0.len());
        let (bytes, rest) = self.0.split_at(len);
        self.0 = rest;
        Some(bytes)
    }
}
