//! Flags, the environment and a file, in that order of weight.

use std::fs;

use crate::server::{Home, Ports, Server};

fn print(home: &Home, args: &[&str], environment: &[(&str, &str)]) -> (bool, String, String) {
    let mut command = home.command(&["serve", "--print-config"]);
    command.args(args).envs(environment.iter().copied());
    let done = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.success(), text(done.stdout), text(done.stderr))
}

#[test]
fn what_is_said_nearest_counts() {
    let home = Home::new();
    let file = home.path().join("serve.toml");
    fs::write(&file, "native-port = 1\nlan-port = 2\nrtype-port = 3\n").unwrap();
    let args = ["--config", file.to_str().unwrap(), "--native-port", "7"];
    let (good, printed, told) = print(&home, &args, &[("BACKSPIN_LAN_PORT", "8")]);
    assert!(good, "{told}");
    for line in ["native-port = 7", "lan-port = 8", "rtype-port = 3", "name = \"Backspin\""] {
        assert!(printed.lines().any(|it| it == line), "{line} is not in\n{printed}");
    }
    // What is printed is a file that says the same.
    fs::write(&file, &printed).unwrap();
    assert_eq!(print(&home, &args[..2], &[]).1, printed);
}

#[test]
fn lan_is_spoken_to_private_addresses_unless_told_otherwise() {
    let home = Home::new();
    for (args, environment, line) in [
        (&[][..], &[][..], "lan-everywhere = false"),
        (&["--lan-everywhere"], &[], "lan-everywhere = true"),
        (&[], &[("BACKSPIN_LAN_EVERYWHERE", "true")], "lan-everywhere = true"),
        (
            &["--lan-everywhere=false"],
            &[("BACKSPIN_LAN_EVERYWHERE", "true")],
            "lan-everywhere = false",
        ),
    ] {
        let (good, printed, told) = print(&home, args, environment);
        assert!(good && printed.lines().any(|it| it == line), "{line}: {printed}{told}");
    }
}

#[test]
fn a_wrong_setting_stops_the_start_and_is_named() {
    let home = Home::new();
    let file = home.path().join("serve.toml");
    for (text, named) in [
        ("native-prot = 1", "native-prot"),
        ("name = \"x\"\nlog = \"loud\"", "log"),
        ("=", "line 1"),
    ] {
        fs::write(&file, text).unwrap();
        let (good, _, told) = print(&home, &["--config", file.to_str().unwrap()], &[]);
        assert!(!good && told.contains(named), "{told}");
    }
    let (good, _, told) = print(&home, &["--config", "no/such/file.toml"], &[]);
    assert!(!good && told.contains("no/such/file.toml"), "{told}");
}

#[test]
fn the_file_is_read_again_when_asked() {
    let home = Home::new();
    let file = home.path().join("serve.toml");
    fs::write(&file, "log = \"info\"\n").unwrap();
    let server = Server::start_in(&home, Ports::native, &["--config", file.to_str().unwrap()]);
    let ask = |text: &str| {
        fs::write(&file, text).unwrap();
        server.signal("HUP");
        // Signals of one kind that wait are one.
        std::thread::sleep(std::time::Duration::from_millis(500));
    };
    ask("log = \"info\"\nplayers-per-address = 1\n");
    ask("log = \"info\"\nrtype-rooms = 5\n");
    ask("log = \"info\"\nname = 5\n");
    let target = server.native().to_string();
    let args = ["--target", &target, "--game", "pong", "--clients", "1", "--seconds", "1"];
    assert!(home.command(&["load"]).args(args).status().unwrap().success());
    server.signal("TERM");
    let (status, told) = server.wait();
    assert!(status.success(), "{told}");
    for line in ["settings reloaded", "rtype-rooms was changed", "settings are unchanged"] {
        assert!(told.contains(line), "{line} is not in\n{told}");
    }
}

#[test]
fn without_a_file_there_is_nothing_to_read_again_and_that_is_said() {
    let home = Home::new();
    let server = Server::start_in(&home, Ports::native, &[]);
    server.signal("HUP");
    std::thread::sleep(std::time::Duration::from_millis(500));
    server.signal("TERM");
    let (status, told) = server.wait();
    assert!(status.success() && told.contains("started without --config"), "{told}");
}
