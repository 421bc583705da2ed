//! The script of an attack: bytes, read as one act after another.
//!
//! An act is a byte that names it and its operands behind it; what is cut short ends the script.
//! Every string of bytes is a script, so that a fuzzer can cut, join and change them as it likes.

/// Where a datagram claims to come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// One of the attacker's own addresses: what goes there is seen.
    Own(u8),
    /// An honest player's.
    Honest(u8),
    /// Somebody's who has nothing to do with it.
    Bystander,
}

/// What brings a player back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ticket {
    /// What an own session was given.
    Own(u8),
    /// The same with a byte changed.
    Bent(u8),
    /// An honest player's, copied from over the shoulder.
    Copied(u8),
}

/// One thing that an attacker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act<'a> {
    /// Lets so many times 25 ms pass.
    Wait(u8),
    /// The next datagram has this byte at this place, counted from its end where that is nearer.
    Bend { at: u8, to: u8 },
    /// The next datagram goes out so many times more before the server can answer.
    Flood(u8),
    /// The next datagram from there has this number.
    Count { from: Source, sequence: u32 },
    /// Hello.
    Hello(Source),
    /// Join or CreateRoom with a cookie of that age, 0 being the newest.
    Join { from: Source, cookie: u8, form: u8, room: u8 },
    /// Resume.
    Resume { from: Source, cookie: u8, ticket: Ticket, fresh: bool },
    /// Input for a tick so far from the server's, with as many older ones and messages.
    Input { from: Source, session: u8, ahead: i8, buttons: u8, history: u8, messages: u8 },
    /// So many messages of four times a length, numbered from there.
    Say { from: Source, session: u8, first: u8, count: u8, len: u8 },
    /// SnapshotAck of a tick so far back.
    Confirm { from: Source, session: u8, back: u8 },
    /// Ping or ClientPong.
    Ping { from: Source, session: u8, id: u8 },
    /// Goodbye.
    Goodbye { from: Source, session: u8 },
    /// Discover, ListRooms or EnterRoom.
    Ask { from: Source, what: u8 },
    /// Anything.
    Bytes { from: Source, bytes: &'a [u8] },
    /// A datagram that the attacker sent before, from anywhere, bent if it likes.
    Again { from: Source, which: u8 },
    /// A datagram that went over an honest player's wire, as it was.
    Replay { from: Source, whose: u8, which: u8 },
    /// A packet of `lan`.
    Lan { from: Source, what: u8, operand: u8 },
    /// A packet of `rtype`.
    Rtype { from: Source, what: u8, operand: u8 },
    /// Opens a stream for `rtype`'s TCP step.
    Open(u8),
    /// Writes to a stream: its name, in pieces of that length.
    Name { stream: u8, piece: u8 },
    /// Writes anything to a stream.
    Write { stream: u8, bytes: &'a [u8] },
    /// Closes a stream.
    Close(u8),
    /// The next datagram from there has the number that an honest player's newest has on the wire,
    /// or one so far ahead.
    Listen { from: Source, whose: u8, ahead: u8 },
}

/// How many acts there are.
pub(crate) const ACTS: u8 = 23;

/// A script, read from the front.
pub(crate) struct Script<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Script<'a> {
    type Item = Act<'a>;

    fn next(&mut self) -> Option<Act<'a>> {
        Some(match self.byte()? % ACTS {
            0 => Act::Wait(self.byte()?),
            1 => Act::Bend { at: self.byte()?, to: self.byte()? },
            2 => Act::Flood(self.byte()?),
            3 => Act::Count { from: self.source()?, sequence: self.long()? },
            4 => Act::Hello(self.source()?),
            5 => Act::Join {
                from: self.source()?,
                cookie: self.byte()?,
                form: self.byte()?,
                room: self.byte()?,
            },
            6 => Act::Resume {
                from: self.source()?,
                cookie: self.byte()?,
                ticket: self.ticket()?,
                fresh: self.byte()? & 1 == 1,
            },
            7 => Act::Input {
                from: self.source()?,
                session: self.byte()?,
                ahead: self.byte()?.cast_signed(),
                buttons: self.byte()?,
                history: self.byte()?,
                messages: self.byte()?,
            },
            8 => Act::Say {
                from: self.source()?,
                session: self.byte()?,
                first: self.byte()?,
                count: self.byte()?,
                len: self.byte()?,
            },
            9 => Act::Confirm { from: self.source()?, session: self.byte()?, back: self.byte()? },
            10 => Act::Ping { from: self.source()?, session: self.byte()?, id: self.byte()? },
            11 => Act::Goodbye { from: self.source()?, session: self.byte()? },
            12 => Act::Ask { from: self.source()?, what: self.byte()? },
            13 => Act::Bytes { from: self.source()?, bytes: self.bytes()? },
            14 => Act::Again { from: self.source()?, which: self.byte()? },
            15 => Act::Replay { from: self.source()?, whose: self.byte()?, which: self.byte()? },
            16 => Act::Lan { from: self.source()?, what: self.byte()?, operand: self.byte()? },
            17 => Act::Rtype { from: self.source()?, what: self.byte()?, operand: self.byte()? },
            18 => Act::Open(self.byte()?),
            19 => Act::Name { stream: self.byte()?, piece: self.byte()? },
            20 => Act::Write { stream: self.byte()?, bytes: self.bytes()? },
            21 => Act::Close(self.byte()?),
            _ => Act::Listen { from: self.source()?, whose: self.byte()?, ahead: self.byte()? },
        })
    }
}

impl<'a> Script<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn long(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*first))
    }

    /// InterpolationClock their number.
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::from(self.byte()?);
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    fn source(&mut self) -> Option<Source> {
        Some(match self.byte()? {
            byte if byte < 0x80 => Source::Own(byte & 3),
            byte if byte < 0xE0 => Source::Honest(byte & 3),
            _ => Source::Bystander,
        })
    }

    fn ticket(&mut self) -> Option<Ticket> {
        let byte = self.byte()?;
        let which = byte & 3;
        Some(match byte >> 2 & 3 {
            0 | 1 => Ticket::Own(which),
            2 => Ticket::Bent(which),
            _ => Ticket::Copied(which),
        })
    }
}
