//! What is on the screen, as plain data. A UI draws all of it and decides nothing.

use backspin::channel::Fate;
use backspin::session::Grade;

use crate::games::OwnLook;

/// Everything that is on the screen at one moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    pub(crate) page: Page,
    /// What the keys do here, in one line.
    pub(crate) hint: String,
    pub(crate) palette: Palette,
    /// Whether the screen shakes when something hits, if the UI can do that.
    pub(crate) shake: bool,
    pub(crate) flashing: Flashing,
}

/// How much may flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flashing {
    Usual,
    Reduced,
}

/// The one thing that fills the screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Page {
    /// A menu, a list, a question, a failure: something to read and something to choose.
    List(List),
    /// A match.
    Arena(Box<Arena>),
}

/// Something to read and something to choose.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct List {
    pub(crate) title: String,
    /// Paragraphs above the rows, to be wrapped as needed.
    pub(crate) text: Vec<(String, Tone)>,
    /// Lines in columns that cannot be chosen: who is in the lobby.
    pub(crate) facts: Vec<Row>,
    /// Where something is typed.
    pub(crate) entry: Option<Entry>,
    pub(crate) rows: Vec<Row>,
    pub(crate) selected: usize,
}

/// A line of text that the player edits; the cursor is at its end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) label: String,
    pub(crate) text: String,
    /// What is taken if nothing is typed, shown in its place.
    pub(crate) offer: String,
}

/// A line that can be chosen. Cells of neighbouring rows stand in columns where they are several.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
}

/// A piece of text in one colour.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) tone: Tone,
    /// The sign of what the line is worth, before the text.
    pub(crate) sign: Option<Grade>,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>, tone: Tone) -> Self {
        Cell { text: text.into(), tone, sign: None }
    }

    /// The same with the sign of a grade before it.
    pub(crate) fn signed(self, grade: Grade) -> Self {
        Cell { sign: Some(grade), ..self }
    }
}

impl Row {
    /// A row of one cell.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Row { cells: vec![Cell::new(text, Tone::Plain)] }
    }
}

/// What a text or a figure means; the UI and the [`Palette`] choose the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Dim,
    Bright,
    /// As it should be: green.
    Good,
    /// Worth a look: yellow.
    Fair,
    /// Wrong: red.
    Bad,
}

/// Which colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Palette {
    Usual,
    /// Told apart by colour-blind eyes: blue, yellow and vermilion in place of green, yellow, red.
    Safe,
}

/// A match.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Arena {
    pub(crate) scene: Scene,
    /// The sides' names and points, from left to right; none where all play together.
    pub(crate) sides: Vec<(String, u8)>,
    /// How the crew does, where all play together.
    pub(crate) hud: Option<Hud>,
    /// One line about the connection and the match.
    pub(crate) status: Vec<Cell>,
    /// What passes: "Client connected!".
    pub(crate) notice: Option<Cell>,
    /// In the middle of the field.
    pub(crate) banner: Option<Banner>,
    /// What was said lately, the oldest first.
    pub(crate) chat: Vec<ChatLine>,
    /// A line of chat that is being typed; the cursor is at its end.
    pub(crate) typing: Option<String>,
    /// A menu over the field: pause, or what to do after the match.
    pub(crate) dialog: Option<List>,
    pub(crate) overlay: Option<Overlay>,
    /// How many persons steer at this machine.
    pub(crate) persons: usize,
    /// What they steer.
    pub(crate) controls: Controls,
    /// A point was made just now; not where flashing is reduced.
    pub(crate) flash: bool,
}

/// Words in the middle of the field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Banner {
    /// A number or a word or two, as large as it goes.
    pub(crate) large: String,
    /// Sentences below it.
    pub(crate) text: Vec<String>,
}

/// What is steered, and so which keys there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Controls {
    /// Up and down.
    #[default]
    Paddle,
    /// Up, down, left, right, shoot, charge, and both together for the pod.
    Ship,
}

/// How a crew does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hud {
    /// The level and its name.
    pub(crate) title: String,
    /// The wave that came last, and how many there are.
    pub(crate) wave: Option<(u8, u8)>,
    pub(crate) team_score: u32,
    pub(crate) crew: Vec<Crew>,
    /// What is left of the boss, from 1 to 0, while there is one.
    pub(crate) boss: Option<f32>,
}

/// One of a crew.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Crew {
    /// From 0; a player's things have the same number.
    pub(crate) number: u8,
    pub(crate) name: String,
    /// Whether it is this screen's player.
    pub(crate) own: bool,
    pub(crate) lives: u8,
    pub(crate) score: u32,
    /// By how much a kill is multiplied, 1 to 5.
    pub(crate) combo: u8,
    /// How far a heavy shot is charged, from 0 to 1.
    pub(crate) charge: f32,
    /// What else there is to say: "out", "next match".
    pub(crate) note: Option<&'static str>,
}

/// Something that was said. Nothing in it can do anything to a screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChatLine {
    /// Of the player, from 0.
    pub(crate) number: u8,
    /// Empty where the server itself says it.
    pub(crate) name: String,
    pub(crate) text: String,
    /// From 1 to 0, when it is gone.
    pub(crate) fade: f32,
}

/// The field, in the game's own unit, and what is on it, the hindmost first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scene {
    pub(crate) width: f32,
    pub(crate) height: f32,
    /// How far the level has scrolled, in the same unit: stars move by it, the distant ones less.
    pub(crate) scroll: f32,
    pub(crate) things: Vec<Thing>,
    /// What has just burst, the oldest first.
    pub(crate) bursts: Vec<Burst>,
}

/// One half of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Scene {
    /// Where the player's own paddle is; on the left where nobody's is.
    pub(crate) fn own_side(&self) -> Side {
        let own = self.things.iter().find(|thing| thing.look == Look::OwnPaddle);
        if own.is_some_and(|paddle| paddle.x > self.width / 2.0) { Side::Right } else { Side::Left }
    }
}

/// Something on the field; `x` and `y` are its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thing {
    pub(crate) look: Look,
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

/// What a thing is: one of these, which every UI knows, or a look of the game's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// A broken line from top to bottom.
    Net,
    Ball,
    /// The player's own, or of the left side where nobody's is the player's own.
    OwnPaddle,
    OtherPaddle,
    /// What a game draws itself.
    Own(OwnLook),
}

/// Something that has just burst, or was hit: worth particles. It is there for
/// [`Burst::SECONDS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Burst {
    /// Counts up, so that an event is recognised.
    pub(crate) number: u32,
    pub(crate) kind: BurstKind,
    /// Its middle.
    pub(crate) x: f32,
    pub(crate) y: f32,
    /// How old it is, in seconds.
    pub(crate) age: f32,
}

impl Burst {
    /// How long one is shown.
    pub(crate) const SECONDS: f32 = 0.6;
}

/// What has burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BurstKind {
    /// A shot or a bullet that met something.
    Spark,
    /// A ball that met a paddle or a wall.
    Bounce,
    /// A power-up that was taken.
    Taken,
    Enemy,
    Ship,
    Boss,
}

/// Something to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cue {
    /// The choice in a menu moves.
    Move,
    /// A line is chosen.
    Choose,
    /// A second of a countdown.
    Countdown,
    /// A ball meets a paddle.
    Paddle,
    /// A ball meets a wall.
    Wall,
    /// A point is made.
    Point,
    Win,
    Lose,
    /// The own ship shoots.
    Shot,
    HeavyShot,
    /// Something is hit and holds.
    Hit,
    Explosion,
    PowerUp,
    /// The own ship is lost, or its shield.
    Hurt,
    /// A boss comes.
    Boss,
    /// Someone says something.
    Chat,
}

impl Cue {
    /// Each of them.
    pub(crate) const ALL: [Cue; 16] = [
        Cue::Move,
        Cue::Choose,
        Cue::Countdown,
        Cue::Paddle,
        Cue::Wall,
        Cue::Point,
        Cue::Win,
        Cue::Lose,
        Cue::Shot,
        Cue::HeavyShot,
        Cue::Hit,
        Cue::Explosion,
        Cue::PowerUp,
        Cue::Hurt,
        Cue::Boss,
        Cue::Chat,
    ];
}

/// What the connection is worth, for those who want to know.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Overlay {
    pub(crate) figures: Vec<Figure>,
    /// The round trip in ms over the last ten seconds, the oldest first, a value each quarter of a
    /// second; `None` where there was none.
    pub(crate) pings: Vec<Option<f32>>,
    /// The last inputs and what became of them, the oldest first: document 004's timeline.
    pub(crate) inputs: Vec<(u32, Fate)>,
    /// Those of them that an acknowledgement named: where two are not neighbours, it jumped.
    pub(crate) acks: Vec<u32>,
}

/// A number with its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) tone: Tone,
    /// The sign of what the line is worth, behind the value.
    pub(crate) sign: Option<Grade>,
}

/// The colour of a round trip, as document 001 has it: green, above 100 ms yellow, above 200 red.
/// Parts of a millisecond do not count.
pub(crate) fn ping_tone(ms: f32) -> Tone {
    match ms.trunc() {
        ms if ms > 200.0 => Tone::Bad,
        ms if ms > 100.0 => Tone::Fair,
        _ => Tone::Good,
    }
}

/// How many of the four bars of a sign are lit.
pub(crate) const fn bars(grade: Grade) -> usize {
    match grade {
        Grade::Excellent => 4,
        Grade::Good => 3,
        Grade::Fair => 2,
        Grade::Poor => 1,
    }
}
