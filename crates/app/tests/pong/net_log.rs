//! `--net-log`: a match on a bad line, line by line, on both sides.

use std::collections::BTreeSet;
use std::fs;

use crate::program::{Home, Program, host, join};

/// What document 004 has a line for; # is a number, % a number of two digits or more in hex.
const CLIENT: [&str; 2] = [
    "[Client] INPUT_SENT    seq=# flags=0x% ts=#",
    "[Client] ACK_RECEIVED  seq=# (# inputs pending)",
];
const SERVER: [&str; 4] = [
    "[Server] INPUT_RECV    player=# seq=# (gap=#)",
    "[Server] INPUT_PROCESS player=# seq=# last_ack=#",
    "[Server] SNAPSHOT_SENT tick=# entities=# (player#_ack=#)",
    "Player # lost # inputs (seq #-#)",
];

/// Of document 002, for a goodbye that comes when the place is free already.
const SENDER: &str = "Invalid sender: #.#.#.#:#";

/// The numbers of a line, if it has this form: all other characters are as they are.
fn numbers(line: &str, form: &str) -> Option<Vec<u64>> {
    let (mut rest, mut numbers) = (line, Vec::new());
    for letter in form.chars() {
        let radix = match letter {
            '#' => 10,
            '%' => 16,
            _ => {
                rest = rest.strip_prefix(letter)?;
                continue;
            }
        };
        let end = rest.find(|it: char| !it.is_digit(radix)).unwrap_or(rest.len());
        let (digits, behind) = rest.split_at(end);
        let least = if radix == 16 { 2 } else { 1 };
        numbers.push(u64::from_str_radix(digits, radix).ok().filter(|_| digits.len() >= least)?);
        rest = behind;
    }
    rest.is_empty().then_some(numbers)
}

/// Which form each line has, with its numbers. There are no others.
fn read(text: &str, forms: &[&'static str]) -> Vec<(&'static str, Vec<u64>)> {
    let read = |line: &str| {
        let found = forms.iter().find_map(|form| Some((*form, numbers(line, form)?)));
        found.unwrap_or_else(|| panic!("a line of no document: {line:?}"))
    };
    text.lines().map(read).collect()
}

fn of<'a>(lines: &'a [(&str, Vec<u64>)], form: &str) -> Vec<&'a [u64]> {
    lines.iter().filter(|(its, _)| *its == form).map(|(_, numbers)| &numbers[..]).collect()
}

#[test]
fn a_match_with_losses_is_logged_in_the_form_of_document_004_on_both_sides() {
    let home = Home::new();
    let [there, here] = ["host.log", "guest.log"].map(|name| home.file(name));
    let [there_arg, here_arg] = [&there, &here].map(|path| path.to_str().unwrap());
    let (mut host, port) = host(&["--points", "9", "--net-log", there_arg]);
    let link = ["--loss", "40", "--burst", "8", "--rtt-ms", "40", "--jitter-ms", "5"];
    let (_lag, address) = Program::lag(port, &link);
    let guest = join(address.port(), &["--seconds", "8", "--net-log", here_arg]);
    assert_eq!(guest.end().code, Some(0));
    host.say("quit");
    assert_eq!(host.end().code, Some(0));

    let text = fs::read_to_string(here).unwrap();
    let guest = read(&text, &CLIENT);
    let sent: Vec<u64> = of(&guest, CLIENT[0]).iter().map(|it| it[0]).collect();
    assert!(sent.len() > 100 && sent.windows(2).all(|pair| pair[0] < pair[1]), "{sent:?}");
    let acks = of(&guest, CLIENT[1]);
    assert!(acks.len() > 50, "{} acknowledgements", acks.len());
    assert!(acks.windows(2).all(|pair| pair[0][0] < pair[1][0]), "{acks:?}");

    // Who hosts plays, too, through memory: the file has both sides.
    let text = fs::read_to_string(there).unwrap();
    let forms = [&CLIENT[..], &SERVER[..], &[SENDER]].concat();
    let host = read(&text, &forms);
    let sent: BTreeSet<u64> = sent.into_iter().collect();
    let received = of(&host, SERVER[0]);
    let from_guest = received.iter().filter(|it| it[0] == 2);
    assert!(from_guest.clone().count() > 50 && from_guest.clone().all(|it| sent.contains(&it[1])));
    for form in [CLIENT[0], CLIENT[1], SERVER[2]] {
        assert!(of(&host, form).len() > 100, "{form}");
    }
    assert!(of(&host, SERVER[2]).iter().any(|it| it[2] == 2 && it[3] > 0), "an ack of the guest");
    follow_losses(&host);
}

/// Wherever the guest's inputs jump, the line behind says which were lost, and nowhere else.
fn follow_losses(host: &[(&str, Vec<u64>)]) {
    let mut last = None;
    let mut losses = 0;
    let mut owed: Option<[u64; 3]> = None;
    for (form, numbers) in host {
        if *form == SERVER[1] && numbers[0] == 2 {
            assert_eq!(owed, None, "a loss that is not told");
            assert_eq!(numbers[1], numbers[2], "{numbers:?}");
            let seq = numbers[1];
            if let Some(last) = last.replace(seq)
                && seq > last + 1
            {
                owed = Some([seq - last - 1, last + 1, seq - 1]);
            }
        } else if *form == SERVER[3] && numbers[0] == 2 {
            assert_eq!(owed.take(), Some([numbers[1], numbers[2], numbers[3]]));
            losses += 1;
        }
    }
    assert!(losses > 3, "{losses} losses on a line that loses four in ten, in bursts");
}

#[test]
fn a_match_on_this_machine_alone_has_nothing_to_log() {
    let home = Home::new();
    let file = home.file("net.log");
    let ended = Program::start(&["local", "--net-log", file.to_str().unwrap()]).end();
    ended.failed_with("--net-log");
    assert!(!file.exists());
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_the_match() {
    let ended = Program::start(&["host", "--net-log", "/nowhere/at/all/net.log"]).end();
    ended.failed_with("/nowhere/at/all/net.log");
}
