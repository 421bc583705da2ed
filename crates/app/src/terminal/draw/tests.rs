//! Views drawn as characters.

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::games::OwnLook;
use crate::games::rtype::{self, Ship};
use crate::screen::{
    Arena, Banner, Cell, ChatLine, Controls, Crew, Entry, Figure, Flashing, Hud, List, Overlay,
    Row, Scene, Thing,
};
use backspin::channel::Fate;
use backspin::session::Grade;
use backspin_rtype::enemy::Species;
use backspin_rtype::power_up::Bonus;

/// The screen as lines of text.
fn lines(shown: &View, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view(frame, shown, Some("Space: stop"))).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| (0..width).map(|x| buffer.cell((x, y)).unwrap().symbol()).collect::<String>();
    (0..height).map(line).collect()
}

fn screen(shown: &View, width: u16, height: u16) -> String {
    lines(shown, width, height).join("\n")
}

fn of(page: Page) -> View {
    View {
        page,
        hint: "Esc: back".into(),
        palette: Palette::Usual,
        shake: true,
        flashing: Flashing::Usual,
    }
}

fn arena() -> Arena {
    let thing = |look, x, y, width, height| Thing { look, x, y, width, height };
    Arena {
        scene: Scene {
            width: 1440.0,
            height: 900.0,
            things: vec![
                thing(Look::Net, 718.0, 0.0, 4.0, 900.0),
                thing(Look::OwnPaddle, 50.0, 390.0, 20.0, 120.0),
                thing(Look::OtherPaddle, 1370.0, 390.0, 20.0, 120.0),
                thing(Look::Ball, 710.0, 440.0, 20.0, 20.0),
            ],
            ..Scene::default()
        },
        sides: vec![("Ann".into(), 3), ("Ben".into(), 10)],
        status: vec![Cell::new("ping 12 ms Excellent", Tone::Good)],
        notice: Some(Cell::new("Client connected!", Tone::Good)),
        hud: None,
        banner: None,
        chat: Vec::new(),
        typing: None,
        dialog: None,
        overlay: None,
        persons: 1,
        controls: Controls::Paddle,
        flash: false,
    }
}

#[test]
fn a_menu_stands_in_the_middle_with_its_choice_marked() {
    let rows = vec![Row::new("Play"), Row::new("Exit")];
    let list = List { title: "BACKSPIN".into(), rows, selected: 1, ..List::default() };
    let shown = lines(&of(Page::List(list)), 80, 24);
    let row = |words: &str| shown.iter().position(|line| line.contains(words)).unwrap();
    assert_eq!(row("> Exit"), row("  Play") + 1);
    assert!((8..16).contains(&row("> Exit")), "{shown:#?}");
    let column = shown[row("> Exit")].find("> Exit").unwrap();
    assert!((30..44).contains(&column), "{column}");
    assert!(shown.iter().any(|line| line.contains("█▀▀▄")), "{shown:#?}");
    assert!(shown[23].contains("Esc: back"));
}

#[test]
fn columns_of_a_list_stand_one_below_the_other() {
    let row = |name: &str, ping: &str| Row {
        cells: vec![Cell::new(name, Tone::Plain), Cell::new(ping, Tone::Good)],
    };
    let rows = vec![row("Ann", "1 ms"), row("Bartholomew", "20 ms"), Row::new("Back")];
    let list = List { title: "Join".into(), rows, ..List::default() };
    let shown = lines(&of(Page::List(list)), 80, 24);
    let column = |words| shown.iter().find_map(|line| line.find(words)).unwrap();
    assert_eq!(column("1 ms"), column("20 ms"));
    assert_eq!(column("Ann"), column("Back"));
}

#[test]
fn a_long_sentence_is_wrapped_and_nothing_of_it_is_lost() {
    let sentence = "No answer from 192.0.2.1:4300. Check the address and that a server is running \
                    there, and that no firewall is in the way.";
    let text = vec![(sentence.to_owned(), Tone::Plain)];
    let rows = vec![Row::new("Menu"), Row::new("Try again")];
    let list = List { title: "That did not work".into(), text, rows, ..List::default() };
    for (width, height) in [(60, 18), (80, 24), (200, 60)] {
        let shown = screen(&of(Page::List(list.clone())), width, height);
        for word in sentence.split(' ').chain(["> Menu", "Try again"]) {
            assert!(shown.contains(word), "{word} at {width} x {height}:\n{shown}");
        }
    }
}

#[test]
fn a_list_longer_than_the_screen_shows_what_is_selected() {
    let rows = (0..64).map(|i| Row::new(format!("host {i}"))).collect();
    let list = List { title: "Join".into(), rows, selected: 63, ..List::default() };
    let shown = screen(&of(Page::List(list)), 80, 24);
    assert!(shown.contains("> host 63"), "{shown}");
}

#[test]
fn what_is_typed_is_seen_with_its_cursor() {
    let entry =
        Some(Entry { label: "Address".into(), text: "10.0.0.7".into(), offer: "10.0.0.9".into() });
    let text = vec![("An address or a host name.".to_owned(), Tone::Dim)];
    let list = List { title: "Join".into(), text, entry, ..List::default() };
    assert!(screen(&of(Page::List(list)), 80, 24).contains("Address: 10.0.0.7"));
}

#[test]
fn a_match_shows_field_names_score_and_ping_at_every_size() {
    for (width, height) in [(60, 18), (80, 24), (100, 30), (213, 60)] {
        let shown = lines(&of(Page::Arena(Box::new(arena()))), width, height);
        let all = shown.join("\n");
        assert!(shown[0].starts_with(" Ann ") && shown[0].ends_with(" Ben "), "{all}");
        assert!(shown[0].contains("ping 12 ms Excellent"), "{all}");
        assert!(all.contains("Client connected!") && all.contains('┊'), "{all}");
        assert!(all.contains("Space: stop"), "{all}");
        let paddle = |columns: std::ops::Range<usize>| {
            shown[1..].iter().any(|line| {
                line.chars()
                    .skip(columns.start)
                    .take(columns.len())
                    .any(|it| "▁▂▃▄▅▆▇█".contains(it))
            })
        };
        let width = usize::from(width);
        assert!(paddle(2..width / 10) && paddle(width - width / 10..width - 2), "{all}");
    }
}

#[test]
fn a_countdown_is_large_and_words_are_over_the_field() {
    let banner =
        Banner { large: "3".into(), text: vec!["connection lost, trying again (27 s)".into()] };
    let shown =
        screen(&of(Page::Arena(Box::new(Arena { banner: Some(banner), ..arena() }))), 80, 24);
    assert!(shown.contains(" connection lost, trying again (27 s) "), "{shown}");
    assert!(shown.contains("██████"), "{shown}");
}

#[test]
fn a_dialog_and_the_overlay_fit_the_smallest_screen() {
    let grade =
        Figure { name: "grade", value: "Fair".into(), tone: Tone::Fair, sign: Some(Grade::Fair) };
    let figure = |name| Figure { name, value: "1234 B/s".into(), tone: Tone::Plain, sign: None };
    let overlay = Overlay {
        figures: [
            "ping",
            "min",
            "jitter",
            "average",
            "loss",
            "max",
            "packet_loss_rate",
            "lead",
            "delay",
            "corrected",
            "pending",
            "in",
            "out",
        ]
        .map(figure)
        .into_iter()
        .chain([grade])
        .collect(),
        pings: vec![Some(20.0), None, Some(80.0)],
        inputs: vec![
            (100, Fate::Acknowledged),
            (101, Fate::Lost),
            (102, Fate::Lost),
            (103, Fate::Acknowledged),
            (104, Fate::Sent),
        ],
        acks: vec![100, 103],
    };
    let rows = vec![Row::new("Play again"), Row::new("Menu")];
    let dialog = List { title: "You win!".into(), rows, ..List::default() };
    let with = |dialog, overlay| of(Page::Arena(Box::new(Arena { dialog, overlay, ..arena() })));
    let shown = screen(&with(Some(dialog), None), 60, 18);
    for words in ["You win!", "> Play again", "Menu"] {
        assert!(shown.contains(words), "{words}:\n{shown}");
    }
    let shown = screen(&with(None, Some(overlay)), 60, 18);
    for words in [
        "corrected",
        "1234 B/s",
        " packet_loss_rate 1234 B/s",
        "grade     Fair ▂▄··",
        " sent    [100][ X ][ X ][103][104]",
        " ack       ^              ^      ",
        "                          +-- ACK(103)",
        " applied [100][   ][   ][103]",
        " 80 ms",
    ] {
        assert!(shown.contains(words), "{words}:\n{shown}");
    }
}

#[test]
fn the_sign_of_the_line_is_before_the_ping_with_as_many_bars_as_it_is_good() {
    let signs = [
        (Grade::Excellent, "▂▄▆█"),
        (Grade::Good, "▂▄▆·"),
        (Grade::Fair, "▂▄··"),
        (Grade::Poor, "▂···"),
    ];
    for (grade, sign) in signs {
        let status = vec![Cell::new(format!("ping 9 ms {grade}"), Tone::Good).signed(grade)];
        let shown = screen(&of(Page::Arena(Box::new(Arena { status, ..arena() }))), 80, 24);
        assert!(shown.contains(&format!("{sign} ping 9 ms {grade}")), "{shown}");
    }
}

#[test]
fn an_acknowledgement_at_the_right_edge_has_its_label_on_the_left() {
    let inputs = (12_340..12_356).map(|tick| (tick, Fate::Acknowledged)).collect();
    let overlay = Overlay { inputs, acks: (12_340..12_356).collect(), ..Overlay::default() };
    let shown =
        screen(&of(Page::Arena(Box::new(Arena { overlay: Some(overlay), ..arena() }))), 80, 24);
    assert!(shown.contains(" sent    [12351][12352][12353][12354][12355]"), "{shown}");
    assert!(shown.contains(" ack        ^      ^      ^      ^      ^"), "{shown}");
    assert!(shown.contains("ACK(12355) --+"), "{shown}");
}

#[test]
fn a_terminal_that_is_too_small_is_told_so() {
    let page = || of(Page::Arena(Box::new(arena())));
    assert!(!screen(&page(), 60, 18).contains("too small"));
    for (width, height) in [(59, 18), (60, 17)] {
        assert!(screen(&page(), width, height).contains("too small"));
    }
    screen(&page(), 1, 1);
}

/// A busy field of R-Type.
fn crew() -> Arena {
    let thing = |look, x, y, width, height| {
        let look = Look::Own(OwnLook::Rtype(look));
        Thing { look, x, y, width, height }
    };
    let ship = |number, own| {
        rtype::Look::Ship(Ship { number, own, shield: own, safe: false, charge: 80, tilt: 0 })
    };
    let member = |number, name: &str, own| Crew {
        number,
        name: name.into(),
        own,
        lives: 3,
        score: 4_300,
        combo: 2,
        charge: 0.5,
        note: (!own).then_some("lost"),
    };
    let said = |name: &str, text: &str| ChatLine {
        number: 1,
        name: name.into(),
        text: text.into(),
        fade: 1.0,
    };
    Arena {
        scene: Scene {
            width: 1000.0,
            height: 600.0,
            scroll: 120.0,
            things: vec![
                thing(rtype::Look::Boss { look: 1, stage: 0 }, 830.0, 200.0, 110.0, 130.0),
                thing(rtype::Look::Enemy(Species::Drone), 600.0, 100.0, 28.0, 20.0),
                thing(rtype::Look::PowerUp(Bonus::Force), 500.0, 400.0, 20.0, 20.0),
                thing(rtype::Look::Bullet, 300.0, 300.0, 8.0, 8.0),
                thing(ship(1, false), 60.0, 400.0, 20.0, 12.0),
                thing(ship(0, true), 50.0, 200.0, 20.0, 12.0),
            ],
            bursts: Vec::new(),
        },
        sides: Vec::new(),
        hud: Some(Hud {
            title: "Level 1: Outer Belt".into(),
            wave: Some((3, 20)),
            team_score: 8_600,
            crew: vec![member(0, "Ann", true), member(1, "Ben", false)],
            boss: Some(0.5),
        }),
        chat: vec![said("Ben", "Help me!")],
        controls: Controls::Ship,
        ..arena()
    }
}

#[test]
fn a_crew_sees_level_wave_score_lives_boss_and_chat_at_every_size() {
    for (width, height) in [(60, 18), (80, 24), (200, 50)] {
        let shown = lines(&of(Page::Arena(Box::new(crew()))), width, height);
        let all = shown.join("\n");
        let title =
            if width < 80 { " Level 1  wave 3/20 " } else { " Level 1: Outer Belt  wave 3/20 " };
        assert!(shown[0].starts_with(title), "{all}");
        assert!(shown[0].ends_with("0008600 "), "{all}");
        for words in ["Ann ♥3 4300 x2 ▮▮▮▯▯▯", "Ben lost ♥3", "BOSS █", "Ben: Help me!"]
        {
            assert!(all.contains(words), "{words} at {width} x {height}:\n{all}");
        }
        for sprite in ["▶", "◄■", "[F]", "●"] {
            assert!(all.contains(sprite), "{sprite} at {width} x {height}:\n{all}");
        }
    }
}

#[test]
fn a_lobby_lists_who_is_there_above_what_can_be_chosen() {
    let row = |name: &str, mark: &str| Row {
        cells: vec![Cell::new(name, Tone::Plain), Cell::new(mark, Tone::Good)],
    };
    let facts = vec![row("Ann", "host"), row("Bartholomew", "ready")];
    let rows = vec![Row::new("Start the match"), Row::new("Menu")];
    let list = List { title: "Lobby".into(), facts, rows, ..List::default() };
    let shown = lines(&of(Page::List(list)), 80, 24);
    let row = |words: &str| shown.iter().position(|line| line.contains(words)).unwrap();
    assert!(row("Bartholomew") < row("> Start the match"));
    let column = |words| shown.iter().find_map(|line| line.find(words)).unwrap();
    assert_eq!(column("host"), column("ready"));
}

#[test]
fn a_long_line_of_chat_is_broken_between_words_and_what_is_typed_is_below_it() {
    let text = "Nice shot! This is one of the longest lines that there are, and so it goes on in the next row";
    let line = ChatLine { number: 1, name: "Ben".into(), text: text.into(), fade: 1.0 };
    let typing = Some("so what".to_owned());
    let chat =
        vec![line.clone(), ChatLine { name: String::new(), text: "Not so fast.".into(), ..line }];
    for (width, height) in [(60, 18), (80, 24)] {
        let shown = lines(
            &of(Page::Arena(Box::new(Arena {
                chat: chat.clone(),
                typing: typing.clone(),
                ..arena()
            }))),
            width,
            height,
        );
        let all = shown.join("\n");
        let row = |words: &str| {
            shown
                .iter()
                .position(|line| line.contains(words))
                .unwrap_or_else(|| panic!("{words}\n{all}"))
        };
        assert!(row("Ben: Nice shot!") < row("row"), "{all}");
        assert!(row("next row") < row("Not so fast."), "{all}");
        assert_eq!(row("Say: so what"), row("Not so fast.") + 1, "{all}");
    }
}
