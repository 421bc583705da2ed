//! What a game says of contacts, so that what players saw can be held against what the server judged.

use backspin::game::{Event, Frame, Game, PlayerId};

/// A game whose contacts can be measured. One without contacts needs nothing but
/// `impl Measured for MyGame {}`.
pub trait Measured: Game {
    /// The contact that the server's event speaks of, if it is about one.
    fn judged_contact(&self, _event: &Event) -> Option<Contact> {
        None
    }

    /// The contacts that `player` sees happen from one frame to the next.
    ///
    /// A contact is **drawn** when what is on the screen tells a person that two things met. Frames
    /// fall anywhere between ticks, at any rate, so nearly no contact is on a frame itself. Read it
    /// off both frames:
    ///
    /// - A thing in both frames moved evenly from one place to the other, and met whatever lay on
    ///   its way at that moment.
    /// - A thing that is only in the first frame is gone now. It moved on as it did before, until
    ///   the second frame at the latest, and may have met something on that way: this is how a shot
    ///   that hits, and what it kills, are drawn. It moves no further than a frame's time, so a
    ///   shot that vanishes well before its target was not seen to hit it.
    /// - A thing that is only in the second frame came in between, and can be met from then on.
    /// - Use the shapes and the test of the rules, on the places that are drawn, not on those that
    ///   the server has. What nobody can see (a pixel) may be forgiven; time may not be.
    ///
    /// Report a contact in every frame in which it goes on: repeats within a quarter of a second
    /// are one. Things that no player can tell apart (which of two enemies in the same place) should
    /// have the same key. Do not ask whether the server will agree: that is what is measured.
    fn drawn_contacts(
        &self,
        _before: &Frame,
        _now: &Frame,
        _player: PlayerId,
        _meet: &mut dyn FnMut(Contact),
    ) {
    }

    /// What kind of contact has this key, as `viewer` sees it: "own shot", "opponent's paddle".
    /// Each kind is counted and judged by itself, so that a rare one does not vanish among many
    /// others.
    fn contact_kind(&self, _key: u64, _viewer: PlayerId) -> &'static str {
        "contact"
    }

    /// Whether contacts of a kind can be known when they are drawn. What has to be guessed has another
    /// target.
    fn foresight(&self, _kind: &str) -> Foresight {
        Foresight::Known
    }
}

impl Measured for crate::dot::Dots {}

/// Whether it can be known in time how contacts of a kind end: [`Measured::foresight`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Foresight {
    /// It is known when they are drawn.
    #[default]
    Known,
    /// What comes before them on the screen is [`Foresight::Guessed`].
    Follows(Odds),
    /// They depend on what somebody else does, and are drawn before that can have come.
    Guessed(Odds),
}

/// How many guesses are wrong at best, in hundredths of a percent, if what others do is known 0, 1, 2 and so
/// on ticks after the own input for that tick was made.
///
/// That is what somebody reaches who knows all that has come, guesses the best of it and lets nothing leap:
/// the limit, whatever the code does. A game computes it from its rules and from players like the
/// simulator's ([`Mind`](crate::Mind)).
pub type Odds = &'static [u16];

/// Two things that met: a ball and a paddle, a shot and what it hit.
///
/// What a player saw meet is held against what the server judged. A game says
/// both, the server's half in [`Measured::judged_contact`], the screen's in [`Measured::drawn_contacts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// Which, as the game numbers them; the same may meet again a second later. A contact is drawn
    /// as it was judged if both have the same key within a second.
    pub key: u64,
    /// Whom it concerns; `None` is everyone who plays.
    pub player: Option<PlayerId>,
    /// The entity that ends with the contact: a shot, which must not be drawn any further. `None`
    /// if nothing does: a ball bounces, and a shot that pierces flies on. Looked at in what is
    /// drawn.
    pub spent: Option<u32>,
    /// The entity that was met, if a contact may be the end of it. From the contact on the screen
    /// until it is gone there is the time from contact to burst.
    pub target: Option<u32>,
}

impl Contact {
    /// A contact that ends nothing.
    pub const fn new(key: u64, player: Option<PlayerId>) -> Self {
        Contact { key, player, spent: None, target: None }
    }
}
