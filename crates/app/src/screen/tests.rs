//! The program without a UI: keys go in, views come out. Menus and questions are in `menus`.

mod menus;

use std::any::Any;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use backspin::game::Buttons;
use backspin::matching::{
    FORGET_AFTER, Families, MatchKey, MatchLimits, Matchmaker, MatchmakerConfig,
};
use backspin::wire::Name;
use backspin::wire::native::ServerAddress;
use backspin_classic::Dialect;
use backspin_pong::{Level, Pong};
use backspin_udp::{Loop, Socket};

use super::*;
use crate::games::{OwnLook, Title, rtype};
use crate::play::NodeThread;

/// Longer than anything here takes, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(40);

fn program(options: Options) -> Program {
    Program::new(Shelf::nowhere(), options)
}

/// A match that ends with its first point.
fn short() -> Option<Arc<dyn Any + Send + Sync>> {
    Some(Arc::new(Pong { points: 1, countdown: 30, ..Pong::default() }))
}

fn options(name: &str, port: Option<u16>) -> Options {
    let name = Some(Name::new(name));
    let title = Some(Title::Pong);
    let dialect = Some(Dialect::Native);
    Options { rules: short(), title, port, dialect, name, ..Options::default() }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    UdpSocket::bind("0.0.0.0:0").unwrap().local_addr().unwrap().port()
}

/// Everything that is written on the screen.
fn text(view: &View) -> String {
    let mut out = view.hint.clone() + "\n";
    let mut list = |list: &List| {
        out += &format!("= {} =\n", list.title);
        list.text.iter().for_each(|(text, _)| out += &format!("{text}\n"));
        let cells = |row: &Row| {
            let cells: Vec<_> = row.cells.iter().map(|cell| cell.text.as_str()).collect();
            cells.join("  ")
        };
        list.facts.iter().for_each(|row| out += &format!("{}\n", cells(row)));
        list.entry.iter().for_each(|it| match it.text.as_str() {
            "" => out += &format!("{}: |{}\n", it.label, it.offer),
            text => out += &format!("{}: {text}|\n", it.label),
        });
        for (i, row) in list.rows.iter().enumerate() {
            let mark = if i == list.selected { ">" } else { " " };
            out += &format!("{mark} {}\n", cells(row));
        }
    };
    match &view.page {
        Page::List(it) => list(it),
        Page::Arena(arena) => {
            arena.dialog.iter().for_each(&mut list);
            let status = arena.status.iter().chain(&arena.notice);
            status.for_each(|cell| out += &format!("{}\n", cell.text));
            arena
                .banner
                .iter()
                .for_each(|it| out += &format!("{}\n{}\n", it.large, it.text.join("\n")));
            arena.chat.iter().for_each(|it| out += &format!("{}: {}\n", it.name, it.text));
            arena.typing.iter().for_each(|it| out += &format!("Say: {it}|\n"));
            out += &format!("{:?} {:?}\n", arena.sides, arena.hud);
        }
    }
    out
}

fn shown(program: &mut Program) -> String {
    text(&program.view())
}

fn press(program: &mut Program, keys: &[Key]) {
    keys.iter().for_each(|key| program.press(*key));
}

/// Moves the choice down to the line that begins so, and takes it.
fn choose(program: &mut Program, line: &str) {
    while !shown(program).contains(&format!("> {line}")) {
        press(program, &[Key::Down]);
    }
    press(program, &[Key::Enter]);
}

fn arena(program: &mut Program) -> Option<Arena> {
    match program.view().page {
        Page::Arena(arena) => Some(*arena),
        Page::List(_) => None,
    }
}

/// Polls all programs as their UIs would, until `done`.
fn wait(
    what: &str,
    programs: &mut [&mut Program],
    mut done: impl FnMut(&mut [&mut Program]) -> bool,
) {
    let began = Instant::now();
    loop {
        programs.iter_mut().for_each(|program| program.look());
        if done(programs) {
            return;
        }
        if began.elapsed() > PATIENCE {
            let screens: Vec<_> = programs.iter_mut().map(|it| shown(it)).collect();
            panic!("{what} did not come:\n{}", screens.join("----\n"));
        }
        std::thread::sleep(Duration::from_millis(4));
    }
}

fn wait_for(program: &mut Program, words: &str) {
    wait(words, &mut [program], |all| shown(all[0]).contains(words));
}

/// A host and a guest who have met.
fn met(port: u16) -> (Program, Program) {
    let mut host = program(options("Ann", Some(port)));
    host.set_out(Launch::Host(Title::Pong));
    wait_for(&mut host, "Waiting for someone to join.");
    assert_eq!(host.pace(), RedrawRate::Slow);
    let mut guest = program(options("Ben", None));
    guest.set_out(Launch::Join(Title::Pong, format!("127.0.0.1:{port}")));
    wait("a match", &mut [&mut host, &mut guest], |all| {
        all.iter_mut().all(|program| arena(program).is_some())
    });
    (host, guest)
}

/// Leaves a match as a person does: pause, "Leave the match", "Leave".
fn leave(program: &mut Program) {
    press(program, &[Key::Esc, Key::Up, Key::Enter]);
    let asked = shown(program);
    assert!(asked.contains("= Leave the match? =") && asked.contains("> Stay"), "{asked}");
    press(program, &[Key::Up, Key::Enter]);
    assert!(shown(program).contains("= BACKSPIN ="), "{}", shown(program));
}

#[test]
fn the_menu_is_walked_with_either_hand_and_around_its_ends() {
    let mut program = program(Options::default());
    assert!(shown(&mut program).contains("> Play"));
    press(&mut program, &[Key::Down, Key::Char('s')]);
    assert!(shown(&mut program).contains("> Settings"));
    press(&mut program, &[Key::Char('w'), Key::Up, Key::Up]);
    assert!(shown(&mut program).contains("> Exit"));
    press(&mut program, &[Key::Down, Key::Enter]);
    assert!(shown(&mut program).contains("> Pong against an easy bot"));
    press(&mut program, &[Key::Esc, Key::Esc]);
    assert!(shown(&mut program).contains("> Exit"));
    assert_eq!(program.pace(), RedrawRate::Still);
    assert!(!program.is_over());
    press(&mut program, &[Key::Enter]);
    assert!(program.is_over());
}

#[test]
fn a_key_is_asked_for_refused_taken_and_named_in_the_hint() {
    let mut program = program(Options { rules: short(), ..Options::default() });
    program.in_window();
    press(&mut program, &[Key::Down, Key::Down, Key::Enter, Key::Up, Key::Up, Key::Enter]);
    assert!(shown(&mut program).contains("> Up  W"));
    press(&mut program, &[Key::Enter]);
    assert!(program.awaits_key());
    program.bind("P");
    assert!(shown(&mut program).contains("already used"));
    program.bind("Home");
    assert!(shown(&mut program).contains("> Up  Home"));
    assert_eq!(program.settings().keys.key(Action::Up), "Home");
    press(&mut program, &[Key::Enter, Key::Esc]);
    assert!(shown(&mut program).contains("> Up  Home"));
    program.set_out(Launch::Local(Title::Pong, None));
    wait_for(&mut program, "Home/S: left   arrows: right");
    // The menus are where they were left: at Settings, at Keys, at the first key.
    leave(&mut program);
    press(&mut program, &[Key::Enter, Key::Enter]);
    press(&mut program, &[Key::Up, Key::Up, Key::Enter]);
    assert_eq!(program.settings().keys, Bindings::default());
}

#[test]
fn a_pointer_chooses_as_the_keys_do() {
    let mut program = program(Options::default());
    program.point(2);
    assert!(shown(&mut program).contains("> Settings"));
    program.point(99);
    assert!(shown(&mut program).contains("> Exit"));
    program.point(1);
    program.choose();
    assert!(shown(&mut program).contains("= Online ="));
}

#[test]
fn a_match_against_a_bot_is_played_paused_lost_and_played_again() {
    let mut program = program(Options { rules: short(), ..Options::default() });
    program.set_out(Launch::Local(Title::Pong, Some(Level::Hard as u8)));
    wait("the ball", &mut [&mut program], |all| {
        arena(all[0]).is_some_and(|arena| arena.banner.is_none())
    });
    assert_eq!(program.pace(), RedrawRate::Smooth);
    let ball = |program: &mut Program| {
        let scene = arena(program).unwrap().scene;
        *scene.things.iter().find(|thing| thing.look == Look::Ball).unwrap()
    };
    press(&mut program, &[Key::Char('p')]);
    assert!(shown(&mut program).contains("= Paused ="));
    let (one, two) = (ball(&mut program), ball(&mut program));
    assert_eq!(one, two);
    press(&mut program, &[Key::Enter]);
    assert!(!shown(&mut program).contains("= Paused ="));
    // Out of the ball's way.
    program.hold(Held { left: Buttons::DOWN, right: Buttons::default() });
    wait_for(&mut program, "= You lose =");
    assert!(shown(&mut program).contains("0 : 1"));
    assert!(shown(&mut program).contains("> Play again"));
    press(&mut program, &[Key::Enter]);
    wait("another match", &mut [&mut program], |all| {
        arena(all[0]).is_some_and(|arena| arena.dialog.is_none() && arena.sides[1].1 == 0)
    });
    leave(&mut program);
}

#[test]
fn two_at_one_keyboard_steer_a_paddle_each() {
    let mut program = program(Options { rules: short(), ..Options::default() });
    program.set_out(Launch::Local(Title::Pong, None));
    wait("the field", &mut [&mut program], |all| arena(all[0]).is_some());
    assert!(shown(&mut program).contains("W/S: left   arrows: right"));
    program.hold(Held { left: Buttons::UP, right: Buttons::DOWN });
    wait("both paddles", &mut [&mut program], |all| {
        let scene = arena(all[0]).unwrap().scene;
        let y = |look| scene.things.iter().find(|thing| thing.look == look).map(|it| it.y);
        y(Look::OwnPaddle).unwrap() < 300.0 && y(Look::OtherPaddle).unwrap() > 450.0
    });
}

#[test]
fn a_hosted_match_is_played_to_its_end_and_again_with_the_ping_on_screen() {
    let (mut host, mut guest) = met(free_port());
    assert!(shown(&mut host).contains("Client connected! It is Ben"));
    wait("a ping on both sides", &mut [&mut host, &mut guest], |all| {
        all.iter_mut().all(|it| shown(it).contains("ms Excellent"))
    });
    press(&mut guest, &[Key::Network]);
    let overlay = arena(&mut guest).unwrap().overlay.unwrap();
    let names: Vec<_> = overlay.figures.iter().map(|figure| figure.name).collect();
    for name in ["ping", "jitter", "loss", "grade", "lead", "delay", "corrected", "in", "out"] {
        assert!(names.contains(&name), "{name}");
    }
    assert!(!overlay.inputs.is_empty() && !overlay.pings.is_empty());
    // The host keeps out of the ball's way.
    host.hold(Held { left: Buttons::DOWN, right: Buttons::default() });
    wait("the end", &mut [&mut host, &mut guest], |all| {
        shown(all[0]).contains("= You lose =") && shown(all[1]).contains("= You win! =")
    });
    // Each reads the own points first.
    assert!(shown(&mut host).contains("\nAnn 0 : 1 Ben\n"), "{}", shown(&mut host));
    assert!(shown(&mut guest).contains("\nBen 1 : 0 Ann\n"), "{}", shown(&mut guest));
    press(&mut guest, &[Key::Enter]);
    wait("the wish", &mut [&mut host, &mut guest], |all| {
        shown(all[0]).contains("The other side wants to play again.")
            && shown(all[1]).contains("Waiting for the other side")
    });
    // Impatience does no harm.
    press(&mut guest, &[Key::Enter, Key::Char(' ')]);
    assert!(arena(&mut guest).is_some());
    press(&mut host, &[Key::Enter]);
    wait("another match", &mut [&mut host, &mut guest], |all| {
        all.iter_mut().all(|it| arena(it).is_some_and(|arena| arena.dialog.is_none()))
    });
}

#[test]
fn who_leaves_is_in_the_menu_and_the_other_side_is_told_why() {
    let port = free_port();
    let (mut host, mut guest) = met(port);
    leave(&mut guest);
    wait_for(&mut host, "Ben has left the match.");
    assert!(shown(&mut host).contains("= The match is over ="));
    press(&mut host, &[Key::Enter]);
    assert!(shown(&mut host).contains("= BACKSPIN ="));
    // The port is free again, and the other way round it is the same.
    let (mut host, mut guest) = met(port);
    press(&mut host, &[Key::Esc, Key::Up, Key::Enter]);
    assert!(shown(&mut host).contains("You are the host: it ends for everyone."));
    press(&mut host, &[Key::Up, Key::Enter]);
    assert!(shown(&mut host).contains("= BACKSPIN ="));
    wait_for(&mut guest, "Ann ended the match.");
    assert!(shown(&mut guest).contains("= The match is over ="));
    press(&mut guest, &[Key::Enter]);
    assert!(shown(&mut guest).contains("= BACKSPIN ="));
}

#[test]
fn esc_opens_and_closes_the_pause_panel_and_leaving_asks() {
    let (mut host, mut guest) = met(free_port());
    for (program, hint) in [(&mut host, "Esc: menu"), (&mut guest, "Esc: menu")] {
        assert!(program.view().hint.ends_with(hint), "{}", program.view().hint);
        press(program, &[Key::Esc]);
        let paused = shown(program);
        assert!(
            paused.contains("= The match goes on =") && paused.contains("> Continue"),
            "{paused}"
        );
        assert!(paused.contains("Esc: back to the match"), "{paused}");
        press(program, &[Key::Esc]);
        assert!(arena(program).unwrap().dialog.is_none());
        // The question goes back to the panel, "Stay" to the match.
        press(program, &[Key::Esc, Key::Down, Key::Enter]);
        assert!(shown(program).contains("= Leave the match? ="), "{}", shown(program));
        press(program, &[Key::Esc]);
        assert!(shown(program).contains("= The match goes on ="), "{}", shown(program));
        press(program, &[Key::Down, Key::Enter, Key::Enter]);
        assert!(arena(program).unwrap().dialog.is_none());
    }
    wait("both to play on", &mut [&mut host, &mut guest], |all| {
        all.iter_mut().all(|it| arena(it).is_some())
    });
}

#[test]
fn a_local_match_stands_still_while_it_is_paused_and_asked_about() {
    let mut one = program(Options { rules: short(), ..Options::default() });
    one.set_out(Launch::Local(Title::Pong, Some(Level::Hard as u8)));
    wait("a match", &mut [&mut one], |all| arena(all[0]).is_some());
    press(&mut one, &[Key::Esc]);
    assert!(shown(&mut one).contains("= Paused ="));
    let still = arena(&mut one).unwrap().scene.things;
    press(&mut one, &[Key::Down, Key::Enter]);
    one.look();
    assert!(shown(&mut one).contains("The match ends."));
    assert_eq!(arena(&mut one).unwrap().scene.things, still);
    press(&mut one, &[Key::Down, Key::Enter]);
    assert!(shown(&mut one).contains("= BACKSPIN ="));
}

fn type_in(program: &mut Program, text: &str) {
    text.chars().for_each(|letter| program.press(Key::Char(letter)));
}

#[test]
fn a_line_is_typed_sent_and_read_by_both_and_no_key_steers_meanwhile() {
    let (mut host, mut guest) = met(free_port());
    assert!(guest.view().hint.contains("T: chat"), "{}", guest.view().hint);
    press(&mut guest, &[Key::Char('t')]);
    let paddle = |program: &mut Program| {
        let arena = arena(program).unwrap();
        arena.scene.things.iter().find(|it| it.look == Look::OwnPaddle).map(|it| it.y)
    };
    let before = paddle(&mut guest);
    guest.hold(Held { left: Buttons::UP, right: Buttons::default() });
    type_in(&mut guest, "hi, wasd <b>t</b>");
    assert!(shown(&mut guest).contains("Say: hi, wasd <b>t</b>|"), "{}", shown(&mut guest));
    assert_eq!(guest.view().hint, "Enter: send   Esc: cancel");
    let began = Instant::now();
    wait("some time", &mut [&mut host, &mut guest], |_| {
        began.elapsed() > Duration::from_millis(300)
    });
    assert_eq!(paddle(&mut guest), before, "the paddle stays where it was");
    guest.hold(Held::default());
    press(&mut guest, &[Key::Backspace, Key::Enter]);
    wait("the line", &mut [&mut host, &mut guest], |all| {
        all.iter_mut().all(|it| shown(it).contains("Ben: hi, wasd <b>t</b"))
    });
    assert!(arena(&mut guest).unwrap().typing.is_none());
    // Esc cancels, and does not leave.
    press(&mut guest, &[Key::Char('T'), Key::Char('x'), Key::Esc]);
    let arena = arena(&mut guest).unwrap();
    assert!(arena.typing.is_none() && arena.dialog.is_none());
    // What is too much is refused with a sentence, and stays to be sent later.
    for _ in 0..4 {
        press(&mut guest, &[Key::Char('t'), Key::Char('x'), Key::Enter]);
    }
    let refused = shown(&mut guest);
    assert!(refused.contains("Not so fast."), "{refused}");
    assert!(refused.contains("Say: x|"), "{refused}");
}

#[test]
fn the_ball_waits_for_a_guest_who_is_killed_and_the_host_may_go_on_against_a_bot() {
    let (mut host, mut guest) = met(free_port());
    guest.fall_silent();
    wait_for(&mut host, "Ben is not responding. The ball waits (");
    let waiting = shown(&mut host);
    assert!(waiting.contains("G: continue against a bot"), "{waiting}");
    assert!(host.view().hint.starts_with("G: continue against a bot"), "{}", host.view().hint);
    let ball = |arena: &Arena| {
        let ball = arena.scene.things.iter().find(|it| it.look == Look::Ball);
        ball.map_or((0.0, 0.0), |ball| (ball.x, ball.y))
    };
    let is_near = |a: (f32, f32), b: (f32, f32)| (a.0 - b.0).abs() + (a.1 - b.1).abs() < 2.0;
    // A prediction that went too far is eased back.
    let (mut seen, mut looks) = ((0.0, 0.0), 0);
    wait("a ball that stands still", &mut [&mut host], |all| {
        let now = ball(&arena(all[0]).unwrap());
        looks = if is_near(now, seen) { looks + 1 } else { 0 };
        seen = if looks == 0 { now } else { seen };
        looks == 30
    });
    let score = arena(&mut host).unwrap().sides;
    for _ in 0..50 {
        std::thread::sleep(Duration::from_millis(10));
        host.look();
        let now = ball(&arena(&mut host).unwrap());
        // A ball that flies goes 200 px in this time; one that is eased back goes a few.
        let moved = (now.0 - seen.0).abs() + (now.1 - seen.1).abs();
        assert!(moved < 20.0, "{now:?}, was {seen:?}");
    }
    assert_eq!(arena(&mut host).unwrap().sides, score);
    // In the panel it is a line, for who has no keys.
    press(&mut host, &[Key::Esc, Key::Down]);
    assert!(shown(&mut host).contains("> Continue against a bot"), "{}", shown(&mut host));
    press(&mut host, &[Key::Esc, Key::Char('g')]);
    wait_for(&mut host, "A bot plays for Ben.");
    wait("play", &mut [&mut host], |all| arena(all[0]).unwrap().banner.is_none());
}

#[test]
fn a_host_is_found_in_the_list_and_joined_from_it() {
    let port = free_port();
    let mut guest = program(options("Ben", Some(port)));
    guest.search();
    assert!(shown(&mut guest).contains("> Type an address"));
    let mut host = program(options("Ann", Some(port)));
    host.set_out(Launch::Host(Title::Pong));
    wait("the host", &mut [&mut host, &mut guest], |all| shown(all[1]).contains("> Ann  1/2"));
    // The choice stays where it is put, whoever comes.
    press(&mut guest, &[Key::Up]);
    assert!(shown(&mut guest).contains("> Back"));
    press(&mut guest, &[Key::Down, Key::Enter]);
    wait("a match", &mut [&mut host, &mut guest], |all| {
        all.iter_mut().all(|program| arena(program).is_some())
    });
}

#[test]
fn a_watcher_sees_the_match_and_steers_nothing() {
    let port = free_port();
    let (mut host, mut guest) = met(port);
    let mut watcher = program(options("Eve", None));
    watcher.set_out(Launch::Watch(Title::Pong, format!("127.0.0.1:{port}")));
    wait("a third screen", &mut [&mut host, &mut guest, &mut watcher], |all| {
        shown(all[0]).contains("Eve watches") && shown(all[2]).contains("watching")
    });
    // Nobody misses a watcher: that is not asked about.
    press(&mut watcher, &[Key::Esc, Key::Up, Key::Enter]);
    assert!(shown(&mut watcher).contains("= BACKSPIN ="));
    assert!(arena(&mut host).is_some());
}

#[test]
fn every_failure_is_a_sentence_with_a_way_back() {
    let taken = UdpSocket::bind("0.0.0.0:0").unwrap();
    let mut one = program(options("Ann", Some(taken.local_addr().unwrap().port())));
    one.set_out(Launch::Host(Title::Pong));
    wait_for(&mut one, "is in use by another program; stop it or choose another port.");
    assert!(shown(&mut one).contains("> Host again"));
    drop(taken);
    press(&mut one, &[Key::Enter]);
    wait_for(&mut one, "Waiting for someone to join.");

    let mut one = program(options("Ann", None));
    one.set_out(Launch::Join(Title::Pong, "attic:0".into()));
    wait_for(&mut one, "\"0\" is not a port; ports are numbers from 1 to 65535.");
    press(&mut one, &[Key::Down, Key::Enter]);
    assert!(shown(&mut one).contains("= BACKSPIN ="));

    one.set_out(Launch::Join(Title::Pong, format!("127.0.0.1:{}", free_port())));
    wait_for(&mut one, "= Joining =");
    wait_for(&mut one, "No answer from 127.0.0.1:");
    assert!(shown(&mut one).contains("= That did not work ="));
}

#[test]
fn whoever_gives_up_waiting_is_in_the_menu() {
    let mut one = program(options("Ann", None));
    one.set_out(Launch::Join(Title::Pong, "127.0.0.1:9".into()));
    press(&mut one, &[Key::Esc]);
    assert!(shown(&mut one).contains("= BACKSPIN ="));
    one.search();
    press(&mut one, &[Key::Esc]);
    assert!(shown(&mut one).contains("= Online ="));
    choose(&mut one, "Watch Pong");
    assert!(shown(&mut one).contains("Address: |"));
    press(&mut one, &[Key::Char('w'), Key::Esc]);
    assert!(shown(&mut one).contains("= Online ="));
}

#[test]
fn a_host_that_gives_up_waiting_is_in_the_menu_and_its_port_is_free() {
    let port = free_port();
    let mut host = program(options("Ann", Some(port)));
    for _ in 0..2 {
        host.set_out(Launch::Host(Title::Pong));
        wait_for(&mut host, "Waiting for someone to join.");
        press(&mut host, &[Key::Esc]);
        assert!(shown(&mut host).contains("= BACKSPIN ="));
    }
    UdpSocket::bind(("0.0.0.0", port)).unwrap();
}

#[test]
fn r_type_is_played_alone_with_everything_in_sight() {
    let mut program = program(Options { bot: Some(Level::Normal as u8), ..Options::default() });
    program.set_out(Launch::Local(Title::Rtype, Some(0)));
    wait("the countdown", &mut [&mut program], |all| {
        arena(all[0]).is_some_and(|arena| arena.banner.is_some_and(|it| it.large == "1"))
    });
    wait("the level", &mut [&mut program], |all| {
        shown(all[0]).contains("Level 1: Outer Belt") && arena(all[0]).is_some()
    });
    let mut cues = Vec::new();
    wait("a kill", &mut [&mut program], |all| {
        cues.extend(std::iter::from_fn(|| all[0].poll_cue()));
        let arena = arena(all[0]).unwrap();
        let looks = |look: fn(&Look) -> bool| arena.scene.things.iter().any(|it| look(&it.look));
        let hud = arena.hud.unwrap();
        hud.team_score > 0
            && arena.scene.bursts.iter().any(|burst| burst.kind == BurstKind::Enemy)
            && looks(
                |look| matches!(look, Look::Own(OwnLook::Rtype(rtype::Look::Ship(ship))) if ship.own),
            )
            && looks(|look| {
                matches!(look, Look::Own(OwnLook::Rtype(rtype::Look::Shot { own: true })))
            })
    });
    cues.extend(std::iter::from_fn(|| program.poll_cue()));
    for cue in [Cue::Countdown, Cue::Shot, Cue::Explosion] {
        assert!(cues.contains(&cue), "{cue:?} in {cues:?}");
    }
    let hud = arena(&mut program).unwrap().hud.unwrap();
    assert_eq!((hud.crew.len(), hud.crew[0].own, hud.crew[0].lives), (1, true, 4));
    assert!(hud.wave.is_some_and(|(wave, waves)| wave >= 1 && wave < waves));
    press(&mut program, &[Key::Char('p')]);
    assert!(shown(&mut program).contains("= Paused ="));
    press(&mut program, &[Key::Esc]);
    leave(&mut program);
}

#[test]
fn the_last_ship_is_seen_to_burst_before_the_panel_comes() {
    // Nobody steers: it ends soon.
    let mut program = program(Options::default());
    program.set_out(Launch::Local(Title::Rtype, Some(2)));
    let (mut last, mut notes) = (0, Vec::new());
    let began = Instant::now();
    loop {
        program.look();
        let arena = arena(&mut program);
        if let Some(arena) = &arena {
            let hud = arena.hud.as_ref().unwrap();
            notes.extend(hud.crew.iter().filter_map(|crew| crew.note));
            let is_out = hud.crew.iter().all(|crew| crew.lives == 0);
            let bursts = arena.scene.bursts.iter();
            let burst = bursts.filter(|it| is_out && it.kind == BurstKind::Ship && it.age < 0.1);
            last += burst.count();
            if arena.dialog.is_some() {
                break;
            }
        }
        assert!(began.elapsed() < 6 * PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(4));
    }
    assert!(shown(&mut program).contains("= Defeat ="), "{}", shown(&mut program));
    assert!(last > 0, "the last ship goes without a burst");
    assert!(notes.contains(&"shot down") && !notes.contains(&"lost"), "{notes:?}");
}

fn rtype_options(name: &str, port: Option<u16>) -> Options {
    let name = Some(Name::new(name));
    let (title, dialect) = (Some(Title::Rtype), Some(Dialect::Native));
    Options { title, port, dialect, name, ..Options::default() }
}

#[test]
fn a_crew_meets_in_the_lobby_talks_and_starts_when_everyone_is_ready() {
    let port = free_port();
    let mut host = program(rtype_options("Ann", Some(port)));
    host.set_out(Launch::Host(Title::Rtype));
    wait_for(&mut host, "> Start the match");
    let mut guest = program(rtype_options("Ben", Some(port)));
    guest.search();
    wait("the host", &mut [&mut host, &mut guest], |all| shown(all[1]).contains("> Ann  1/4"));
    press(&mut guest, &[Key::Enter]);
    wait("the lobby", &mut [&mut host, &mut guest], |all| {
        shown(all[0]).contains("Ben  not ready")
            && shown(all[0]).contains("> Waiting for everyone to be ready ...")
            && shown(all[1]).contains("Ann  host")
            && shown(all[1]).contains("normal, 3 lives")
            // The first that is seen of the lobby may be without oneself.
            && shown(all[1]).contains("Ben  not ready")
    });
    let hint = guest.view().hint;
    assert!(hint.contains("R: ready   1-8: say   T: chat"), "{hint}");
    // The host makes it harder, and gives more lives.
    press(&mut host, &[Key::Down, Key::Enter]);
    wait("hard", &mut [&mut host, &mut guest], |all| shown(all[0]).contains("> Difficulty  hard"));
    press(&mut host, &[Key::Down, Key::Enter]);
    press(&mut guest, &[Key::Char('2')]);
    wait("what was said", &mut [&mut host, &mut guest], |all| {
        shown(all[1]).contains("hard, 4 lives") && shown(all[0]).contains("Ben: Ready?")
    });
    press(&mut guest, &[Key::Char('t')]);
    type_in(&mut guest, "r u there?");
    assert!(shown(&mut guest).contains("Say: r u there?|"), "{}", shown(&mut guest));
    press(&mut guest, &[Key::Enter]);
    wait("a line in the lobby", &mut [&mut host, &mut guest], |all| {
        all.iter_mut().all(|it| shown(it).contains("Ben: r u there?"))
    });
    press(&mut guest, &[Key::Char('r')]);
    wait("readiness", &mut [&mut host, &mut guest], |all| {
        shown(all[0]).contains("Start the match") && shown(all[1]).contains("Not ready")
    });
    assert!(host.view().hint.contains("G: start"), "{}", host.view().hint);
    press(&mut host, &[Key::Char('g')]);
    wait("the countdown", &mut [&mut host, &mut guest], |all| {
        all.iter_mut().all(|it| arena(it).is_some_and(|arena| arena.banner.is_some()))
    });
    wait("the level", &mut [&mut host, &mut guest], |all| {
        all.iter_mut().all(|it| shown(it).contains("Level 1: Outer Belt"))
    });
    let crew = arena(&mut guest).unwrap().hud.unwrap().crew;
    let crew: Vec<_> = crew.iter().map(|it| (it.name.as_str(), it.own, it.lives)).collect();
    assert_eq!(crew, [("Ann", false, 3), ("Ben", true, 3)]);
    // Who leaves is missed, and the other flies on.
    leave(&mut guest);
    wait_for(&mut host, "Ben has left the match.");
    assert!(arena(&mut host).is_some());
}

#[test]
fn matches_of_both_games_are_recorded_on_wish_and_shown_again() {
    let folder = std::env::temp_dir().join(format!("backspin-reel-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let options = Options { rules: short(), bot: Some(Level::Hard as u8), ..Options::default() };
    let mut program = program(options).with_library(library::Library::at(folder.clone()));
    press(&mut program, &[Key::Down, Key::Down, Key::Enter]);
    press(&mut program, &[Key::Down; 4]);
    press(&mut program, &[Key::Enter]);
    assert!(shown(&mut program).contains("> Record matches  on"));
    program.set_out(Launch::Local(Title::Pong, Some(Level::Easy as u8)));
    wait("the end", &mut [&mut program], |all| {
        arena(all[0]).is_some_and(|arena| arena.dialog.is_some())
    });
    program.set_out(Launch::Local(Title::Rtype, None));
    wait_for(&mut program, "Level 1: Outer Belt");
    leave(&mut program);
    press(&mut program, &[Key::Up, Key::Up, Key::Enter]);
    choose(&mut program, "Replays");
    let list = shown(&mut program);
    assert!(list.contains("Pong  Player") && list.contains("R-Type  Player"), "{list}");
    // The newest is the first; it is shown from its beginning.
    press(&mut program, &[Key::Enter]);
    wait("a ship", &mut [&mut program], |all| {
        let arena = arena(all[0]).unwrap();
        let hud = arena.hud.unwrap();
        hud.crew.len() == 1 && arena.status.iter().any(|cell| cell.text.starts_with("0:00 / 0:0"))
    });
    press(&mut program, &[Key::Right, Key::Right, Key::Char('p')]);
    wait_for(&mut program, "The end of the replay");
    press(&mut program, &[Key::Esc]);
    press(&mut program, &[Key::Down, Key::Enter]);
    wait("a ball", &mut [&mut program], |all| {
        let things = arena(all[0]).unwrap().scene.things;
        things.iter().any(|thing| thing.look == Look::Ball)
    });
    press(&mut program, &[Key::Char('p')]);
    assert!(shown(&mut program).contains("paused"));
    let still = arena(&mut program).unwrap().scene;
    program.look();
    assert_eq!(arena(&mut program).unwrap().scene.things, still.things);
    press(&mut program, &[Key::Enter, Key::Up, Key::Up]);
    assert!(shown(&mut program).contains("x4"));
    wait_for(&mut program, "The end of the replay");
    // The one that was shown is still chosen. Damage is told, with a way back.
    press(&mut program, &[Key::Esc]);
    let list = shown(&mut program);
    assert!(list.lines().any(|line| line.starts_with("> ") && line.contains("Pong")), "{list}");
    for file in std::fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        std::fs::write(&path, b"nothing of the kind").unwrap();
    }
    press(&mut program, &[Key::Enter]);
    assert!(shown(&mut program).contains("cannot be shown"), "{}", shown(&mut program));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A matchmaker with a server that nobody has started.
fn matchmaker() -> (NodeThread<Matchmaker>, String) {
    let socket = Socket::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let server = (Ipv4Addr::LOCALHOST, free_port()).into();
    let config = MatchmakerConfig {
        servers: ServerAddress::new(server).into_iter().collect(),
        key: MatchKey([0; 16]),
        games: vec![(Title::Pong.id(), 2)],
        families: Families { v4: Some(0), v6: None },
        limits: MatchLimits::default(),
    };
    let driver = Loop::new(vec![socket]).unwrap();
    let node = Matchmaker::new(driver.now(), config, [1; 32]);
    (NodeThread::new(driver, node).unwrap(), address)
}

#[test]
fn a_search_for_others_that_is_cancelled_leaves_the_matchmaker_at_once() {
    let (matchmaker, address) = matchmaker();
    let mut guest = program(options("Ann", None));
    guest.set_out(Launch::Quick(Title::Pong, vec![address]));
    wait("a place in the queue", &mut [&mut guest], |_| matchmaker.seat().kept() == 1);
    press(&mut guest, &[Key::Esc]);
    let cancelled = Instant::now();
    wait("an empty queue", &mut [&mut guest], |_| matchmaker.seat().kept() == 0);
    // Silence alone would take ten seconds.
    assert!(cancelled.elapsed() < FORGET_AFTER / 2, "{:?}", cancelled.elapsed());
}

#[test]
fn a_guest_whom_nobody_answers_reads_that_it_still_tries() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut guest = program(options("Ann", None));
    guest.set_out(Launch::Join(Title::Pong, silent.local_addr().unwrap().to_string()));
    wait_for(&mut guest, "Asking 127.0.0.1");
    wait_for(&mut guest, "No answer yet, still trying.");
}
