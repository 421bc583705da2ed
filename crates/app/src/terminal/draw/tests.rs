//! Views on a screen of characters.

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::screen::{
    Arena, Banner, Cell, Controls, Entry, Figure, List, Overlay, Row, Scene, Thing,
};
use backspin::channel::Fate;

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
    View { page, hint: "Esc: back".into(), palette: Palette::Usual }
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
    let entry = Some(Entry { label: "Address".into(), text: "10.0.0.7".into() });
    let list = List { title: "Join".into(), entry, ..List::default() };
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
    let figure = |name| Figure { name, value: "1234 B/s".into(), tone: Tone::Plain };
    let overlay = Overlay {
        figures: [
            "ping",
            "grade",
            "jitter",
            "loss",
            "lead",
            "delay",
            "corrected",
            "pending",
            "in",
            "out",
        ]
        .map(figure)
        .into(),
        pings: vec![Some(20.0), None, Some(80.0)],
        inputs: vec![(100, Fate::Acknowledged), (101, Fate::Lost), (102, Fate::Sent)],
    };
    let rows = vec![Row::new("Play again"), Row::new("Menu")];
    let dialog = List { title: "You win!".into(), rows, ..List::default() };
    let with = |dialog, overlay| of(Page::Arena(Box::new(Arena { dialog, overlay, ..arena() })));
    let shown = screen(&with(Some(dialog), None), 60, 18);
    for words in ["You win!", "> Play again", "Menu"] {
        assert!(shown.contains(words), "{words}:\n{shown}");
    }
    let shown = screen(&with(None, Some(overlay)), 60, 18);
    for words in
        ["corrected", "1234 B/s", "sent    [100][ X ][102]", "applied [100][   ]", " 80 ms"]
    {
        assert!(shown.contains(words), "{words}:\n{shown}");
    }
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
