//! A question that is answered by typing.

use backspin::wire::Name;

use super::menu::Question;
use super::{Entry, Key, List, Tone};

/// Longer addresses are none.
const ADDRESS_LIMIT: usize = 64;

/// What is typed, and what it is for.
pub(super) struct Typing {
    pub(super) question: Question,
    text: String,
    /// What is taken if nothing is typed; empty if there is no such thing.
    offer: String,
    /// Why it is asked again.
    note: Option<&'static str>,
    /// The last letter did not fit.
    full: bool,
}

/// What becomes of the question after a key.
pub(super) enum Typed {
    Stay,
    Back,
    Done(String),
}

impl Typing {
    pub(super) fn new(question: Question, offer: String) -> Self {
        Typing { question, text: String::new(), offer, note: None, full: false }
    }

    /// With something typed already, to be corrected.
    pub(super) fn beginning_with(self, text: String) -> Self {
        Typing { text, ..self }
    }

    /// With a sentence about what was wrong.
    pub(super) fn because(self, note: &'static str) -> Self {
        Typing { note: Some(note), ..self }
    }

    /// What is taken if nothing is typed.
    pub(super) fn offer(&self) -> &str {
        &self.offer
    }

    pub(super) fn edit(&mut self, key: Key) -> Typed {
        let limit = match self.question {
            Question::JoinAddress(_) | Question::WatchAddress(_) => ADDRESS_LIMIT,
            _ => Name::MAX,
        };
        match key {
            Key::Char(letter) if !letter.is_control() => {
                self.full = self.text.len() + letter.len_utf8() > limit;
                if !self.full {
                    self.text.push(letter);
                }
            }
            Key::Backspace => {
                self.full = false;
                self.text.pop();
            }
            Key::Esc => return Typed::Back,
            Key::Enter => {
                let typed = self.text.trim();
                let answer = if typed.is_empty() { &self.offer } else { typed };
                if !answer.is_empty() {
                    return Typed::Done(answer.to_owned());
                }
            }
            _ => {}
        }
        Typed::Stay
    }

    /// What the keys do.
    pub(super) fn hint(&self) -> String {
        let enter = match (self.text.is_empty(), self.offer.as_str()) {
            (false, _) | (_, "") => "done",
            (true, offer) => offer,
        };
        let back = if self.question == Question::FirstName { "" } else { "   Esc: back" };
        format!("Enter: {enter}{back}")
    }

    pub(super) fn list(&self) -> List {
        let question = self.question;
        let mut text = Vec::new();
        text.extend(self.note.map(|note| (note.to_owned(), Tone::Fair)));
        text.push((question.advice().to_owned(), Tone::Dim));
        if self.full {
            text.push(("No more letters fit.".to_owned(), Tone::Fair));
        }
        let (label, typed) = (question.label().into(), self.text.clone());
        List {
            title: question.title(),
            text,
            entry: Some(Entry { label, text: typed, offer: self.offer.clone() }),
            ..List::default()
        }
    }
}
