//! Something failed or is over: why, and what to do next.

use std::path::PathBuf;

use super::launch::Launch;
use super::{List, Row, Tone};

/// The text, and the rows to choose from.
pub(super) struct Closed {
    title: &'static str,
    sentence: String,
    again: Again,
    lines: Vec<Next>,
    pub(super) selected: usize,
}

/// What can be tried again.
#[derive(Clone)]
pub(super) enum Again {
    Launch(Launch),
    Search,
    Replay(PathBuf),
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Again,
    /// Another address, or the same one without its mistake.
    Address,
    Menu,
}

impl Closed {
    /// It did not work: to try again is the first choice.
    pub(super) fn failed(again: Again, sentence: String) -> Self {
        let mut lines = vec![Next::Again];
        if let Again::Launch(launch) = &again {
            lines.extend(launch.typed().map(|_| Next::Address));
        }
        lines.push(Next::Menu);
        Closed { title: "That did not work", sentence, again, lines, selected: 0 }
    }

    /// It could not even begin: where an address is to blame, it is to be changed.
    pub(super) fn unopened(launch: Launch, sentence: String) -> Self {
        let closed = Closed::failed(Again::Launch(launch), sentence);
        let selected = closed.lines.iter().position(|line| *line == Next::Address).unwrap_or(0);
        Closed { selected, ..closed }
    }

    /// A match is over.
    pub(super) fn over(again: Again, sentence: String) -> Self {
        let lines = vec![Next::Menu, Next::Again];
        Closed { title: "The match is over", sentence, again, lines, selected: 0 }
    }

    pub(super) fn again(&self) -> &Again {
        &self.again
    }

    pub(super) fn next(&self) -> Next {
        self.lines[self.selected].clone()
    }

    pub(super) fn count(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn list(&self) -> List {
        let row = |line: &Next| {
            Row::new(match (line, &self.again) {
                (Next::Menu, _) => "Menu",
                (Next::Address, _) => "Change the address",
                (Next::Again, Again::Launch(Launch::Host(_))) => "Host again",
                (Next::Again, _) => "Try again",
            })
        };
        List {
            title: self.title.into(),
            text: vec![(self.sentence.clone(), Tone::Plain)],
            rows: self.lines.iter().map(row).collect(),
            selected: self.selected,
            ..List::default()
        }
    }
}
