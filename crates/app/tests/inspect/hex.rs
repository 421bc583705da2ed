//! Bytes on the command line and on stdin.

use super::{inspect, inspect_stdin};

const PING: &str = "08 00 07 01 05 00 00 00 39 30 00 00";
const PING_JSON: &str =
    "{\"dialect\":\"rtype\",\"packet\":\"Ping\",\"fields\":{\"sequence\":5,\"timestamp\":12345}}\n";

#[test]
fn people_read_one_line() {
    let cases = [
        (PING, "rtype Ping sequence=5 timestamp=12345\n"),
        ("01", "lan FIND_HOST\n"),
        ("05 00 00 ff", "lan GUEST_INPUT tick=0 y=-1\n"),
        (
            "14 00 01 01 78 56 34 12 41 6c 69 63 65 00 00 00 00 00 00 00 00 00 00 00",
            "rtype Hello token=305419896 name=\"Alice\"\n",
        ),
        (
            "19 00 05 01 07 00 00 00 01 00 00 48 42 00 00 c8 42 00 00 16 43 00 00 00 00 ff ff aa 55",
            "rtype Spawn id=7 kind=1 x=50.0 y=100.0 vx=150.0 vy=0.0 rgba=#55aaffff\n",
        ),
        // A name that would clear the screen does not.
        ("04 00 01 01 1b 5b 32 4a", "rtype Hello name=\"\\u{1b}[2J\"\n"),
    ];
    for (hex, line) in cases {
        assert_eq!(inspect(&["--hex", hex]).done(), line);
    }
}

#[test]
fn every_way_to_write_bytes_is_read() {
    let forms = [
        "080007010500000039300000",
        "08,00,07,01,05,00,00,00,39,30,00,00",
        "0x08, 0x00, 0x07, 0x01, 0x05, 0x00, 0x00, 0x00, 0x39, 0x30, 0x00, 0x00",
        "0x080007010500000039300000",
        "08:00:07:01:05:00:00:00:39:30:00:00",
        "  08000701\n 05000000\n\t39300000\n",
    ];
    for form in forms {
        assert_eq!(inspect(&["--json", "--hex", form]).done(), PING_JSON, "{form:?}");
    }
}

#[test]
fn text_that_is_no_bytes_is_a_sentence() {
    let odd = "this is not a packet: \"0\" has an odd number of hexadecimal digits: a byte has two";
    assert_eq!(inspect(&["--hex", "08 0"]).failed(odd), "");
    let digit = "this is not a packet: 'g' is not a hexadecimal digit";
    assert_eq!(inspect(&["--hex", "08 0g"]).failed(digit), "");
    assert_eq!(
        inspect(&["--json", "--hex", "08 0g"]).failed(digit),
        "{\"dialect\":null,\"error\":\"'g' is not a hexadecimal digit\"}\n"
    );
}

#[test]
fn malformed_bytes_name_the_field() {
    let cases = [
        ("", "datagram: no dialect's packet has this shape"),
        ("ff ff ff", "datagram: no dialect's packet has this shape"),
        ("08 00 07 02 05 00 00 00 39 30 00 00", "version: 2 is not version 1"),
        ("07 00 07 01 05 00 00 00 39 30 00 00", "size: says 7, but the bytes make it 8"),
        ("00 00 63 01", "type: no packet has type 0x63"),
        ("05 00 03 01 00 00 00 00 40", "bits: 64 is out of range"),
        ("05 00 00 02", "y: 2 is out of range"),
    ];
    for (hex, error) in cases {
        let sentence = format!("this is not a packet: {error}");
        assert_eq!(inspect(&["--hex", hex]).failed(&sentence), "");
        let json = format!("{{\"dialect\":null,\"error\":\"{error}\"}}\n");
        assert_eq!(inspect(&["--json", "--hex", hex]).failed(&sentence), json);
    }
}

#[test]
fn long_lists_and_strings_are_shortened_unless_all_is_asked_for() {
    let mut state = "7f 00 04 01 05 00".to_owned();
    for id in 1..=5 {
        let rest = "02 00 00 80 3f 00 00 00 40 00 00 00 00 00 00 00 00 0f 00 00 ff";
        state.push_str(&format!("{id:02x} 00 00 00 {rest}"));
    }
    let entity = |id| format!("{{id={id} kind=2 x=1.0 y=2.0 vx=0.0 vy=0.0 rgba=#ff00000f}}");
    let short = format!("rtype State count=5 entities=[{}, {}, … 3 more]\n", entity(1), entity(2));
    assert_eq!(inspect(&["--hex", &state]).done(), short);
    let all = (1..=5).map(entity).collect::<Vec<_>>().join(", ");
    let full = format!("rtype State count=5 entities=[{all}]\n");
    assert_eq!(inspect(&["--full", "--hex", &state]).done(), full);

    let tail = "ab".repeat(20);
    let start = format!("14 00 65 01 {tail}");
    let short = format!("rtype StartGame tail=\"{}… 8 more\"\n", &tail[..32]);
    assert_eq!(inspect(&["--tcp", "--hex", &start]).done(), short);
    let full = format!("rtype StartGame tail=\"{tail}\"\n");
    assert_eq!(inspect(&["--tcp", "--full", "--hex", &start]).done(), full);
}

#[test]
fn a_tcp_stream_is_read_message_by_message() {
    let stream = "00 00 64 01  05 00 01 01 41 6c 69 63 65  06 00 02 01 92 10 78 56 34 12  00006501";
    let welcome = "{\"dialect\":\"rtype\",\"packet\":\"TcpWelcome\",\"fields\":{}}\n";
    let rest = "{\"dialect\":\"rtype\",\"packet\":\"Hello\",\"fields\":{\"name\":\"Alice\"}}\n\
        {\"dialect\":\"rtype\",\"packet\":\"HelloAck\",\"fields\":{\"udp_port\":4242,\"token\":305419896}}\n\
        {\"dialect\":\"rtype\",\"packet\":\"StartGame\",\"fields\":{}}\n";
    assert_eq!(inspect(&["--tcp", "--json", "--hex", stream]).done(), format!("{welcome}{rest}"));
    assert_eq!(
        inspect(&["--tcp", "--hex", "06 00 02 01 92 10 78 56 34 12"]).done(),
        "rtype HelloAck udp_port=4242 token=305419896\n"
    );
    let error = "payload: the bytes end before it is complete";
    let sentence = format!("this is not a packet: {error}");
    for cut in ["00 00 64 01 05 00 01 01 41", "00 00 64 01 05 00"] {
        assert_eq!(
            inspect(&["--tcp", "--json", "--hex", cut]).failed(&sentence),
            format!("{welcome}{{\"dialect\":null,\"error\":\"{error}\"}}\n")
        );
    }
    assert_eq!(inspect(&["--tcp", "--hex", ""]).failed(&sentence), "");
    // What is a datagram is no message, and the other way round.
    let ping = "this is not a packet: type: no packet has type 0x07";
    assert_eq!(inspect(&["--tcp", "--hex", PING]).failed(ping), "");
}

#[test]
fn stdin_holds_one_datagram_per_line() {
    let lines = format!("{PING}\n\n04\r\n");
    let expected =
        format!("{PING_JSON}{{\"dialect\":\"lan\",\"packet\":\"HELLO_ACK\",\"fields\":{{}}}}\n");
    assert_eq!(inspect_stdin(&["--json", "--hex", "-"], lines.as_bytes()).done(), expected);

    let stdout =
        inspect_stdin(&["--hex", "-"], b"01\nff\n0\n04\n").failed("2 of 4 lines are not packets");
    assert_eq!(
        stdout,
        "lan FIND_HOST\n\
         malformed: datagram: no dialect's packet has this shape\n\
         malformed: \"0\" has an odd number of hexadecimal digits: a byte has two\n\
         lan HELLO_ACK\n"
    );
    assert_eq!(inspect_stdin(&["--hex", "-"], b"").done(), "");
}

#[test]
fn a_line_is_so_long_and_no_longer() {
    let mut line = vec![b' '; 1024 * 1024 - 1];
    line[..2].copy_from_slice(b"01");
    assert_eq!(inspect_stdin(&["--hex", "-"], &line).done(), "lan FIND_HOST\n");
    line.push(b' ');
    let sentence = "line 1 is too long for a datagram";
    assert_eq!(inspect_stdin(&["--hex", "-"], &line).failed(sentence), "");
}

#[test]
fn wrong_usage_is_told_apart_from_failure() {
    let wrong: [&[&str]; 6] = [
        &[],
        &["--json"],
        &["--hex"],
        &["--hex", "01", "match.pcap"],
        &["--tcp", "match.pcap"],
        &["--json", "--full", "--hex", "01"],
    ];
    for args in wrong {
        let run = inspect(args);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(run.stderr.contains("For more information, try '--help'."), "{}", run.stderr);
    }
}

#[test]
fn the_examples_in_the_help_work() {
    let help = inspect(&["--help"]).done();
    let mut tried = 0;
    for example in
        help.lines().filter(|line| line.contains("--hex ") && line.starts_with("  backspin"))
    {
        let (options, bytes) = example.split_once("--hex ").expect("filtered");
        let mut args: Vec<_> = options.split_whitespace().skip(2).collect();
        let bytes = bytes.trim_matches('"');
        args.extend(["--hex", bytes]);
        inspect(&args).done();
        tried += 1;
    }
    assert_eq!(tried, 3, "{help}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    use std::io::Read;
    use std::process::{Command, Stdio};

    let mut child = Command::new(env!("CARGO_BIN_EXE_backspin"))
        .args(["inspect", "--hex", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    // More than any buffer between here and there holds.
    let _ = std::io::Write::write_all(&mut stdin, "01\n".repeat(100_000).as_bytes());
    drop(stdin);
    let mut stderr = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("reads");
    assert_eq!((child.wait().expect("ends").code(), stderr.as_str()), (Some(0), ""));
}
