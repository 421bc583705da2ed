//! What is on the screen, as plain data. A face draws all of it and decides nothing.

use backspin::channel::Fate;

/// Everything that is on the screen at one moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    pub(crate) page: Page,
    /// What the keys do here, in one line.
    pub(crate) hint: String,
    pub(crate) palette: Palette,
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
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>, tone: Tone) -> Self {
        Cell { text: text.into(), tone }
    }
}

impl Row {
    /// A row of one cell.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Row { cells: vec![Cell::new(text, Tone::Plain)] }
    }
}

/// What a text or a figure means; which colour that is, the face and the [`Palette`] decide.
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
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arena {
    pub(crate) scene: Scene,
    /// The sides' names and points, from left to right.
    pub(crate) sides: Vec<(String, u8)>,
    /// One line about the connection and the match.
    pub(crate) status: Vec<Cell>,
    /// What passes: "Client connected!".
    pub(crate) notice: Option<Cell>,
    /// In the middle of the field.
    pub(crate) banner: Option<Banner>,
    /// A menu over the field: pause, or what to do after the match.
    pub(crate) dialog: Option<List>,
    pub(crate) overlay: Option<Overlay>,
    /// How many persons steer at this machine.
    pub(crate) persons: usize,
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

/// The field, in the game's own unit, and what is on it, the hindmost first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scene {
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) things: Vec<Thing>,
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

/// What a thing is. A game adds its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// A broken line from top to bottom.
    Net,
    Ball,
    /// The player's own, or of the left side where nobody's is the player's own.
    OwnPaddle,
    OtherPaddle,
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
}

/// A number with its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) tone: Tone,
}
