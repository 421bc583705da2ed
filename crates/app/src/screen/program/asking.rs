//! Questions and what leads to and from them: addresses, rooms, names.

use backspin::wire::Name;
use backspin::wire::native::RoomFlags;
use backspin_classic::Dialect;

use super::super::closed::{Again, Next};
use super::super::hosts::Choice;
use super::super::launch::Launch;
use super::super::menu::{Menu, Question};
use super::super::rooms::{self, Rooms};
use super::super::settings::login_name;
use super::super::typing::{Typed, Typing};
use super::{Key, Program, Screen};
use crate::games::Title;
use crate::play::RoomWish;

impl Program {
    pub(super) fn ask(&mut self, question: Question) {
        let offer = match question {
            Question::FirstName => login_name(),
            Question::Name => self.settings.name().to_owned(),
            Question::JoinAddress(_) | Question::WatchAddress(_) => self.typed.clone(),
            Question::RoomName | Question::RoomPassword => String::new(),
        };
        self.screen = Screen::Typing(Typing::new(question, offer));
    }

    pub(super) fn edit(&mut self, key: Key) {
        let Screen::Typing(typing) = &mut self.screen else { return };
        let question = typing.question;
        match typing.edit(key) {
            Typed::Stay => {}
            Typed::Done(text) => self.answer(question, text),
            // It is asked once.
            Typed::Back if question == Question::FirstName => {
                let offer = typing.offer().to_owned();
                self.answer(question, offer);
            }
            Typed::Back => self.turn_from(question),
        }
    }

    /// Goes back to where the question came from.
    pub(super) fn turn_from(&mut self, question: Question) {
        match (question, self.door.take()) {
            (Question::JoinAddress(title), _) => self.search_at(Choice::TypeAddress(title)),
            (
                Question::RoomPassword | Question::RoomName,
                Some(Launch::Enter { title, address, .. }),
            ) => {
                let join = Launch::Join(title, address.clone());
                self.screen = Screen::Rooms(Rooms::start(title, address, join));
            }
            (Question::Name | Question::FirstName, _) => self.open(Menu::Settings),
            _ => self.open(Menu::Online),
        }
    }

    pub(super) fn answer(&mut self, question: Question, text: String) {
        match question {
            Question::JoinAddress(title) => {
                self.typed.clone_from(&text);
                self.knock(title, text.clone(), Launch::Join(title, text));
            }
            Question::WatchAddress(title) => {
                self.typed.clone_from(&text);
                self.set_out(Launch::Watch(title, text));
            }
            Question::RoomPassword => {
                let Some(mut launch) = self.door.take() else { return };
                match &mut launch {
                    Launch::Enter { password, .. } => *password = Name::new(&text),
                    // The command line has named the room.
                    _ => self.options.password = Name::new(&text),
                }
                self.set_out(launch);
            }
            Question::RoomName => {
                let Some(mut launch) = self.door.take() else { return };
                if let Launch::Enter { room, .. } = &mut launch {
                    *room = RoomWish::New(Name::new(&text));
                }
                self.set_out(launch);
            }
            Question::Name => {
                self.settings.name = Some(text);
                self.open(Menu::Settings);
                self.keep_settings();
            }
            Question::FirstName => {
                self.settings.name = Some(text);
                self.keep_settings();
                self.start();
            }
        }
    }

    /// What comes after something did not work, or was over.
    pub(super) fn go_on(&mut self, next: Next, again: Again) {
        match (next, again) {
            (Next::Menu, _) => self.leave(),
            (Next::Address, Again::Launch(launch)) => {
                let Some((question, address)) = launch.typed() else { return };
                let typing = Typing::new(question, String::new());
                self.screen = Screen::Typing(typing.beginning_with(address.to_owned()));
            }
            (_, Again::Launch(launch)) => self.set_out(launch),
            (_, Again::Search) => self.search(),
            (_, Again::Replay(path)) => self.show_replay(path),
        }
    }

    /// Asks a server for its rooms, unless the command line has named one.
    pub(super) fn knock(&mut self, title: Title, address: String, join: Launch) {
        let speaks_native = self.options.dialect.is_none_or(|only| only == Dialect::Native);
        match self.options.room {
            RoomWish::Any if speaks_native => {
                self.screen = Screen::Rooms(Rooms::start(title, address, join));
            }
            _ => self.set_out(join),
        }
    }

    /// Goes to a room, or asks for what is missing.
    pub(super) fn enter(
        &mut self,
        choice: rooms::Choice,
        title: Title,
        address: String,
        join: Launch,
    ) {
        let into = |room| Launch::Enter { title, address, room, password: Name::default() };
        match choice {
            rooms::Choice::Room(room) if room.flags.contains(RoomFlags::LOCKED) => {
                self.door = Some(into(RoomWish::Number(room.room)));
                self.ask(Question::RoomPassword);
            }
            rooms::Choice::Room(room) => self.set_out(into(RoomWish::Number(room.room))),
            rooms::Choice::Any => self.set_out(join),
            rooms::Choice::New => {
                self.door = Some(into(RoomWish::Any));
                self.ask(Question::RoomName);
            }
            rooms::Choice::Back => self.back(),
        }
    }
}
