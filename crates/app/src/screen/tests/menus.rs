//! Menus, lists, settings, questions and what to do after a failure.

use std::path::PathBuf;

use super::*;

/// A folder of its own for settings, and where they are kept in it.
struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("backspin-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Home(folder)
    }

    fn shelf(&self) -> Shelf {
        Shelf::at(self.0.join("settings.json"))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // What is left behind is in the way of nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn type_in(program: &mut Program, text: &str) {
    text.chars().for_each(|letter| program.press(Key::Char(letter)));
}

#[test]
fn a_name_is_asked_for_once_and_the_login_name_is_offered() {
    let home = Home::new("first");
    let login = settings::login_name();
    let mut one = Program::new(home.shelf(), Options::default());
    let question = shown(&mut one);
    assert!(question.contains("= Your name ="), "{question}");
    assert!(question.contains(&format!("Name: |{login}")), "{question}");
    assert!(question.contains(&format!("Enter: {login}")), "{question}");
    press(&mut one, &[Key::Enter]);
    assert!(shown(&mut one).contains("> Play"));
    let mut one = Program::new(home.shelf(), Options::default());
    assert!(shown(&mut one).contains("> Play"));
    assert_eq!(one.settings().name(), login);
    // Another home, another name; the launch of the command line waits for it.
    let home = Home::new("second");
    let local = Launch::Local(Title::Pong, Some(Level::Easy as u8));
    let mut one = Program::begin(home.shelf(), Options::default(), Some(local.clone()));
    type_in(&mut one, "Ann");
    assert_eq!(one.view().hint, "Enter: done");
    press(&mut one, &[Key::Enter]);
    wait("the match", &mut [&mut one], |all| {
        arena(all[0]).is_some_and(|arena| arena.sides[0].0 == "Ann")
    });
    assert_eq!(home.shelf().load().0.name(), "Ann");
}

#[test]
fn whoever_says_a_name_or_lets_a_bot_play_is_not_asked() {
    let home = Home::new("unasked");
    let local = || Some(Launch::Local(Title::Pong, Some(Level::Easy as u8)));
    let named = Options { name: Some(Name::new("Ann")), ..Options::default() };
    let bot = Options { bot: Some(Level::Easy as u8), ..Options::default() };
    for options in [named, bot] {
        let mut one = Program::begin(home.shelf(), options, local());
        wait("the match", &mut [&mut one], |all| arena(all[0]).is_some());
    }
    assert_eq!(home.shelf().load().0.name, None);
    // Esc is an answer, too: what was offered.
    let mut one = Program::new(home.shelf(), Options::default());
    press(&mut one, &[Key::Esc]);
    assert!(shown(&mut one).contains("> Play"));
    assert_eq!(home.shelf().load().0.name, Some(settings::login_name()));
}

#[test]
fn a_name_field_begins_empty_offers_the_old_name_and_says_when_it_is_full() {
    let mut program = program(Options::default());
    press(&mut program, &[Key::Down, Key::Down, Key::Enter, Key::Enter]);
    assert!(shown(&mut program).contains("Name: |Player"));
    assert!(shown(&mut program).contains("up to 15 letters"));
    assert!(!shown(&mut program).contains("bytes"));
    press(&mut program, &[Key::Enter]);
    assert!(shown(&mut program).contains("> Name  Player"));
    press(&mut program, &[Key::Enter]);
    press(&mut program, &[Key::Char('w'); 14]);
    assert!(!shown(&mut program).contains("no room for more"));
    press(&mut program, &[Key::Char('\u{e9}')]);
    assert!(shown(&mut program).contains("No more letters fit."));
    press(&mut program, &[Key::Char('s'), Key::Char('\u{7}')]);
    assert!(!shown(&mut program).contains("no room for more"));
    press(&mut program, &[Key::Char('x')]);
    assert!(shown(&mut program).contains("No more letters fit."));
    let name = "w".repeat(14) + "s";
    assert!(shown(&mut program).contains(&format!("Name: {name}|")));
    press(&mut program, &[Key::Enter]);
    assert!(shown(&mut program).contains(&format!("> Name  {name}")));
    press(&mut program, &[Key::Enter, Key::Char('q'), Key::Esc]);
    assert!(shown(&mut program).contains(&format!("> Name  {name}")));
}

#[test]
fn left_and_right_change_a_setting_where_it_stands() {
    let home = Home::new("sides");
    std::fs::create_dir_all(&home.0).unwrap();
    std::fs::write(home.0.join("settings.json"), r#"{"name": "Ann"}"#).unwrap();
    let mut program = Program::new(home.shelf(), Options::default());
    press(&mut program, &[Key::Down, Key::Down, Key::Enter, Key::Right]);
    assert!(shown(&mut program).contains("> Name  Ann"), "a name has no next one");
    assert!(program.view().hint.contains("Left/Right: change"));
    press(&mut program, &[Key::Down, Key::Right]);
    assert!(shown(&mut program).contains("> Colour-blind mode  on"));
    assert_eq!(program.view().palette, Palette::Safe);
    press(&mut program, &[Key::Left]);
    assert!(shown(&mut program).contains("> Colour-blind mode  off"));
    press(&mut program, &[Key::Enter]);
    assert!(shown(&mut program).contains("> Colour-blind mode  on"));
    press(&mut program, &[Key::Down; 4]);
    assert!(shown(&mut program).contains("> Volume (window)  60 %"));
    press(&mut program, &[Key::Right; 3]);
    assert!(shown(&mut program).contains("> Volume (window)  100 %"));
    press(&mut program, &[Key::Left, Key::Char('a')]);
    assert!(shown(&mut program).contains("> Volume (window)  60 %"));
    press(&mut program, &[Key::Left; 4]);
    assert!(shown(&mut program).contains("> Volume (window)  off"));
    let kept = home.shelf().load().0;
    assert_eq!((kept.volume, kept.safe_colours), (0, true));
    // In a window nothing is said of a window.
    program.in_window();
    assert!(shown(&mut program).contains("> Volume  off"));
    assert!(!shown(&mut program).contains("(window)"));
    // Without a device only who wants to hear something is told.
    program.in_silent_window();
    assert!(shown(&mut program).contains("> Volume  off"));
    press(&mut program, &[Key::Right]);
    assert!(shown(&mut program).contains("> Volume  20 %, no sound device"));
}

#[test]
fn menus_are_where_they_were_left() {
    let mut program = program(Options { rules: short(), ..Options::default() });
    press(&mut program, &[Key::Enter, Key::Down, Key::Down]);
    assert!(shown(&mut program).contains("> Pong against a hard bot"));
    press(&mut program, &[Key::Enter]);
    wait("the match", &mut [&mut program], |all| arena(all[0]).is_some());
    program.set_out(Launch::Local(Title::Pong, None));
    press(&mut program, &[Key::Esc, Key::Enter]);
    assert!(shown(&mut program).contains("> Pong against a hard bot"));
    press(&mut program, &[Key::Esc]);
    assert!(shown(&mut program).contains("> Play"));
    press(&mut program, &[Key::Down, Key::Enter, Key::Down, Key::Down, Key::Esc]);
    assert!(shown(&mut program).contains("> Online"));
    press(&mut program, &[Key::Enter]);
    assert!(shown(&mut program).contains("> Host R-Type"));
    choose(&mut program, "Watch Pong");
    press(&mut program, &[Key::Esc]);
    assert!(shown(&mut program).contains("> Watch Pong"));
    // A list that led to a question is there again behind it.
    program.search();
    press(&mut program, &[Key::Down, Key::Enter]);
    assert!(shown(&mut program).contains("= Join R-Type ="));
    press(&mut program, &[Key::Esc]);
    assert!(shown(&mut program).contains("> Type an address for R-Type"));
}

#[test]
fn a_pong_host_is_one_line_of_the_list_in_every_look() {
    let port = free_port();
    let everything = |name| Options {
        title: None,
        dialect: None,
        name: Some(Name::new(name)),
        port: Some(port),
        ..Options::default()
    };
    let mut host = program(everything("Ann"));
    host.set_out(Launch::Host(Title::Pong));
    wait_for(&mut host, "Waiting for someone to join.");
    // Each looks for every game, and a host answers so many questions from one address.
    let count = 40 / Title::ALL.len();
    let mut guests: Vec<_> = (0..count).map(|_| program(everything("Ben"))).collect();
    guests.iter_mut().for_each(Program::search);
    let mut all: Vec<_> = guests.iter_mut().collect();
    wait("the host, in every list", &mut all, |all| {
        all.iter_mut().all(|guest| shown(guest).contains("Ann  Pong  1/2"))
    });
    // What does not say that it speaks native is taken for another host half a second later.
    let until = Instant::now() + Duration::from_millis(2_500);
    wait("the late ones", &mut all, |_| Instant::now() > until);
    for guest in all {
        let list = shown(guest);
        let hosts = list.lines().filter(|line| line.contains("1/2") || line.contains("lan"));
        assert_eq!(hosts.count(), 1, "{list}");
        assert!(!list.contains("  R-Type  "), "{list}");
    }
}

#[test]
fn an_address_without_an_answer_is_kept_and_can_be_corrected() {
    // Both dialects are tried.
    let mut one = program(Options { name: Some(Name::new("Ann")), ..Options::default() });
    let address = format!("127.0.0.1:{}", free_port());
    one.set_out(Launch::Join(Title::Pong, address.clone()));
    wait_for(&mut one, "= That did not work =");
    let page = shown(&mut one);
    assert!(page.contains(&format!("No answer from {address}. Check the address")), "{page}");
    assert!(page.contains("> Try again\n  Change the address\n  Menu\n"), "{page}");
    press(&mut one, &[Key::Down, Key::Enter]);
    assert!(shown(&mut one).contains(&format!("Address: {address}|")));
    press(&mut one, &[Key::Backspace; 40]);
    type_in(&mut one, "127.0.0.1:0");
    press(&mut one, &[Key::Enter]);
    // The next question offers it.
    press(&mut one, &[Key::Esc, Key::Enter]);
    assert!(shown(&mut one).contains("Address: |127.0.0.1:0"), "{}", shown(&mut one));
}

#[test]
fn an_address_that_is_none_is_to_be_changed_first() {
    let mut one = program(Options::default());
    one.set_out(Launch::Watch(Title::Pong, "attic:0".into()));
    wait_for(&mut one, "is not a port");
    assert!(shown(&mut one).contains("> Change the address"));
    press(&mut one, &[Key::Enter]);
    assert!(shown(&mut one).contains("= Watch Pong =") && shown(&mut one).contains("attic:0|"));
}

#[test]
fn a_host_at_an_address_that_was_typed_is_joined_without_a_question() {
    for &title in Title::ALL {
        let port = free_port();
        let with = |name| Options { title: Some(title), ..options(name, Some(port)) };
        let mut host = program(with("Ann"));
        host.set_out(Launch::Host(title));
        let mut guest = program(with("Ben"));
        guest.search();
        press(&mut guest, &[Key::Up, Key::Up, Key::Enter]);
        assert!(shown(&mut guest).contains("Address: |"), "{}", shown(&mut guest));
        type_in(&mut guest, &format!("127.0.0.1:{port}"));
        press(&mut guest, &[Key::Enter]);
        wait("both", &mut [&mut host, &mut guest], |all| {
            let there = shown(all[0]).contains("Ben");
            there && (arena(all[1]).is_some() || shown(all[1]).contains("Ready"))
        });
    }
}
