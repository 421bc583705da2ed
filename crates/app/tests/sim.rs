//! `backspin sim` as people and scripts meet it: the built binary, its output and its exit codes.

use std::process::{Command, Output};

use serde_json::Value;

const QUALITY: [&str; 24] = [
    "own_input_ms_p99",
    "ticks_without_input_pct",
    "lead_ms_p50",
    "lead_ms_p95",
    "ack_ms_p50",
    "ack_ms_p99",
    "draw_delay_ms_p50",
    "draw_delay_ms_p95",
    "starved_frames_pct",
    "corrections_over_1px_pct",
    "visible_jump_pct",
    "contact_disagreement_pct",
    "contacts",
    "past_target_frames_p99",
    "past_target_px_p99",
    "contact_to_burst_ms_p50",
    "recovery_s",
    "lead_back_s",
    "playback_rate_min",
    "playback_rate_max",
    "clock_error_ms_p99",
    "entities_mean",
    "bytes_per_s_down",
    "bytes_per_s_up",
];

fn sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_backspin")).arg("sim").args(args).output().unwrap()
}

/// The one object that `--json` prints.
#[track_caller]
fn json(args: &[&str]) -> Value {
    let output = sim(&[args, &["--json"]].concat());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn text(args: &[&str]) -> String {
    let output = sim(args);
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn one_seed_has_exactly_these_keys_in_this_order() {
    let run = json(&["--seconds", "3"]);
    let expected =
        ["game", "seed", "seconds", "frame_hz", "link", "digest", "quality", "contact_kinds"];
    assert_eq!(keys(&run), expected);
    assert_eq!(keys(&run["quality"]), QUALITY);
    assert_eq!(run["game"], "dots");
    assert_eq!(run["seed"], 1);
    assert_eq!(run["seconds"], 3);
    assert_eq!(run["link"]["rtt_ms"], 100.0);
    assert_eq!(run["link"]["jitter_ms"], 20.0);
    assert_eq!(run["link"]["loss_pct"], 5.0);
    assert!(run["quality"]["lead_ms_p50"].as_f64().unwrap() > 50.0);
    assert_eq!(run["quality"]["recovery_s"], Value::Null);
}

#[test]
fn a_slow_line_is_a_line() {
    for (game, rtt, seconds) in
        [("pong", "1300", "30"), ("rtype", "1300", "30"), ("dots", "1500", "60")]
    {
        let link = ["--rtt-ms", rtt, "--jitter-ms", "20", "--loss", "5"];
        let args = [&["--game", game, "--seconds", seconds][..], &link].concat();
        let quality = &json(&args)["quality"];
        let figure = |name: &str| quality[name].as_f64().unwrap();
        // Of all ticks, also those of the first seconds in which the clocks are set.
        assert!(figure("ticks_without_input_pct") <= 1.0, "{game} {rtt}: {quality}");
        assert!(figure("own_input_ms_p99") <= 33.4, "{game} {rtt}: {quality}");
        assert!(figure("starved_frames_pct") <= 0.5, "{game} {rtt}: {quality}");
        // Nobody is thrown out and let in again: then a clock would jump.
        assert!(figure("playback_rate_min") >= 0.95, "{game} {rtt}: {quality}");
        assert!(figure("playback_rate_max") <= 1.05, "{game} {rtt}: {quality}");
    }
}

#[test]
fn many_seeds_have_exactly_these_keys_in_this_order() {
    let run = json(&["--seconds", "2", "--seeds", "3"]);
    let expected = [
        "game",
        "seeds",
        "seconds",
        "frame_hz",
        "link",
        "pooled",
        "median",
        "worst",
        "contact_kinds",
    ];
    assert_eq!(keys(&run), expected);
    for part in ["pooled", "median", "worst"] {
        assert_eq!(keys(&run[part]), QUALITY);
    }
    assert_eq!(run["seeds"], 3);
}

#[test]
fn a_seed_replays_and_another_does_not() {
    let args = ["--seconds", "3", "--seed", "7"];
    let run = json(&args);
    assert_eq!(run, json(&args));
    assert_ne!(run["digest"], json(&["--seconds", "3", "--seed", "8"])["digest"]);
}

#[test]
fn seeds_are_those_from_the_first_on_taken_together() {
    let figure = |run: &Value, key: &str| run[key].as_f64().unwrap();
    let alone = [7, 8, 9].map(|seed: u32| {
        json(&["--seconds", "3", "--burst", "3", "--seed", &seed.to_string()])["quality"].clone()
    });
    let together = json(&["--seconds", "3", "--burst", "3", "--seed", "7", "--seeds", "3"]);
    for key in ["starved_frames_pct", "lead_ms_p50", "bytes_per_s_down"] {
        let mut of_each = alone.each_ref().map(|quality| figure(quality, key));
        of_each.sort_by(f64::total_cmp);
        assert_eq!(figure(&together["median"], key), of_each[1], "{key}");
        assert_eq!(figure(&together["worst"], key), of_each[2], "{key}");
        // All seeds have as many frames and seconds.
        let mean = of_each.iter().sum::<f64>() / 3.0;
        assert!((figure(&together["pooled"], key) - mean).abs() < 1e-9, "{key}");
    }
    let slowest = alone.iter().map(|quality| figure(quality, "playback_rate_min"));
    let slowest = slowest.min_by(f64::total_cmp).unwrap();
    assert_eq!(figure(&together["worst"], "playback_rate_min"), slowest);
}

#[test]
fn a_single_seed_may_be_a_pool() {
    let alone = json(&["--seconds", "2"]);
    let pool = json(&["--seconds", "2", "--seeds", "1"]);
    for part in ["median", "worst", "pooled"] {
        assert_eq!(pool[part], alone["quality"], "{part}");
    }
}

#[test]
fn a_swarm_is_on_the_screen() {
    let run = json(&["--seconds", "2", "--swarm", "64"]);
    let things = run["quality"]["entities_mean"].as_f64().unwrap();
    assert!((65.0..=66.0).contains(&things), "{things}");
    let alone = json(&["--seconds", "2", "--players", "1"]);
    let things = alone["quality"]["entities_mean"].as_f64().unwrap();
    assert!((0.9..=1.0).contains(&things), "{things}");
}

#[test]
fn pong_is_played_within_its_bytes_without_corrections_and_jumps() {
    for players in ["2", "4"] {
        let run = json(&["--game", "pong", "--players", players, "--seconds", "20"]);
        assert_eq!(run["game"], "pong");
        let figure = |key: &str| run["quality"][key].as_f64().unwrap();
        assert_eq!(figure("corrections_over_1px_pct"), 0.0);
        assert_eq!(figure("visible_jump_pct"), 0.0);
        assert!(figure("bytes_per_s_down") < 1_500.0, "{run}");
    }
}

#[test]
fn contacts_are_counted_by_kind_and_shots_are_followed_past_what_they_hit() {
    let run = json(&["--game", "rtype", "--seconds", "20", "--frame-hz", "59.94"]);
    assert_eq!(run["frame_hz"], 59.94);
    let kinds = run["contact_kinds"].as_array().unwrap();
    let shots = kinds.iter().find(|kind| kind["kind"] == "own shots").unwrap();
    let expected = [
        "kind",
        "contacts",
        "only_drawn",
        "only_judged",
        "disagreement_pct",
        "at_least_pct",
        "at_most_pct",
    ];
    assert_eq!(keys(shots), expected);
    let sum: u64 = kinds.iter().map(|kind| kind["contacts"].as_u64().unwrap()).sum();
    assert_eq!(run["quality"]["contacts"].as_u64(), Some(sum));
    assert!(run["quality"]["past_target_frames_p99"].as_f64().is_some(), "{run}");
    assert!(run["quality"]["contact_to_burst_ms_p50"].as_f64().is_some(), "{run}");
    let table = text(&["--game", "pong", "--seconds", "20", "--frame-hz", "144"]);
    assert!(table.starts_with("pong, 2 bots, 20 s, 144 frames a second, seed 1\n"), "{table}");
    assert!(table.contains("\nown paddle ") && table.contains("\nopponent's paddle "), "{table}");
}

#[test]
fn frames_change_what_is_seen_and_nothing_that_happens() {
    let run = |hz| json(&["--game", "pong", "--seconds", "5", "--frame-hz", hz]);
    let (slow, fast) = (run("60"), run("144"));
    assert_eq!(slow["digest"], fast["digest"]);
    for key in ["bytes_per_s_up", "ticks_without_input_pct", "ack_ms_p50"] {
        assert_eq!(slow["quality"][key], fast["quality"][key], "{key}");
    }
    assert_ne!(slow["quality"]["own_input_ms_p99"], fast["quality"]["own_input_ms_p99"]);
}

#[test]
fn a_longer_round_trip_in_mid_run_is_recovered_from() {
    let run = json(&["--seconds", "10", "--rtt-step-ms", "50"]);
    assert!(run["quality"]["recovery_s"].as_f64().is_some(), "{run}");
    assert_eq!(run["link"]["rtt_step_ms"], 50.0);
}

#[test]
fn every_change_of_the_link_is_played_and_told() {
    let run = json(&["--seconds", "6", "--change", "flap"]);
    assert_eq!(run["link"]["change"], "80 ms more or not, every 3 s from the middle on");
    assert!(run["quality"]["recovery_s"].as_f64().is_some(), "{run}");
    let table = text(&["--seconds", "4", "--changes"]);
    for name in ["step-up", "step-down", "slope-up", "slope-down", "flap", "loss", "hold", "sleep"]
    {
        assert!(table.contains(&format!("| {name}: ")), "{name}: {table}");
    }
    let (code, said) = refusal(&["--change", "earthquake"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("no change has this name: there is step-up"), "{said}");
}

#[test]
fn a_map_tells_the_worst_cells_draws_them_and_keeps_their_figures() {
    let dir = std::env::temp_dir().join(format!("backspin-map-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (svg, page, kept) = (file("map.svg"), file("map.md"), file("kept.txt"));
    let map = ["--map", "--coarse", "--seconds", "1", "--kept", &kept];
    let (code, said) = (sim(&map).status.code(), sim(&map).stderr);
    assert_eq!(code, Some(1));
    assert!(String::from_utf8_lossy(&said).contains("--bless"));
    let told = text(&[&map[..], &["--svg", &svg, "--page", &page, "--bless"]].concat());
    assert!(
        told.starts_with("dots, 2 players: 54 cells of 1 s and 1 seed, 54 matches; 18 left out"),
        "{told}"
    );
    let (svg, page) =
        (std::fs::read_to_string(svg).unwrap(), std::fs::read_to_string(page).unwrap());
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    // All cells of a shade are one path, and the legend has one more of each.
    assert!(svg.matches("<path class=").count() > 10, "{svg}");
    assert!(svg.contains("client lead over the server"), "{svg}");
    assert!(page.contains("| client lead over the server, median | 54 |"), "{page}");
    assert!(text(&map).contains("No cell is worse"));
    // A file with better figures than there are.
    let better = std::fs::read_to_string(&kept).unwrap().replace(" lead_ms=", " lead_ms=-");
    std::fs::write(&kept, better).unwrap();
    let output = sim(&map);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("54 figures are worse"));
    std::fs::remove_dir_all(dir).unwrap();
}

/// The columns of a row of `--dialects` that are numbers.
fn figures(row: &str) -> Vec<f64> {
    let cells = row.trim_matches(['|', ' ']).split('|').skip(2);
    cells.filter_map(|cell| cell.split_whitespace().next()?.parse().ok()).collect()
}

#[test]
fn guests_of_old_dialects_play_and_see_what_they_should() {
    let table = text(&["--dialects", "--seconds", "12", "--seeds", "2"]);
    // Over 40, 100 and 200 ms.
    for guest in ["`lan`, Pong", "`rtype`, R-Type", "`ack`, Pong", "`ack`, R-Type"] {
        let rows: Vec<_> = table.lines().filter(|row| row.contains(guest)).collect();
        assert_eq!(rows.len(), 3, "{table}");
        for row in rows {
            let figures = figures(row);
            let [states, delay, delay_p95, starved, corrected, jumps] = figures[..] else {
                panic!("{row}");
            };
            // Sixty are sent, and 5 % lost.
            assert!((50.0..61.0).contains(&states), "{row}");
            assert!((20.0..55.0).contains(&delay) && delay_p95 < 80.0, "{row}");
            // In `ack` an input that is lost or late is corrected, once or twice.
            let most = if guest.contains("ack") { 15.0 } else { 5.0 };
            assert!(starved < 2.0 && corrected < most && jumps < 0.5, "{row}");
        }
    }
}

#[test]
fn a_guest_who_does_not_get_in_is_an_error() {
    let output = sim(&["--dialects", "--seconds", "2", "--loss", "100"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("the `lan` guest did not get into the match"), "{stderr}");
    assert!(stderr.contains("it took 0 states"), "{stderr}");
}

#[test]
fn a_client_that_wakes_late_is_measured_like_any() {
    let [still, late] = [&["--seconds", "5"][..], &["--seconds", "5", "--late-ms", "30"]].map(json);
    assert_ne!(still["digest"], late["digest"]);
    let none = json(&["--seconds", "5", "--late-ms", "30", "--late", "0"]);
    assert_eq!(still["digest"], none["digest"]);
    assert_eq!(sim(&["--late-ms", "30", "--late", "101"]).status.code(), Some(2));
}

#[test]
fn a_link_is_a_preset_with_changes() {
    let run = json(&["--seconds", "1", "--preset", "wifi", "--loss", "2.5", "--rtt-ms", "12.5"]);
    let link = &run["link"];
    assert_eq!((&link["rtt_ms"], &link["loss_pct"]), (&12.5.into(), &2.5.into()));
    assert_eq!((&link["burst"], &link["jitter_shape"]), (&2.0.into(), &"heavy".into()));
    let all = "--rtt-ms 80 --jitter-ms 5 --jitter-shape normal --loss 1 --burst 2 --duplicate 3 \
               --reorder 4";
    let args: Vec<&str> = ["--seconds", "1"].into_iter().chain(all.split_whitespace()).collect();
    let link = &json(&args)["link"];
    assert_eq!((&link["jitter_ms"], &link["jitter_shape"]), (&5.0.into(), &"normal".into()));
    assert_eq!((&link["duplicate_pct"], &link["reorder_pct"]), (&3.0.into(), &4.0.into()));
}

#[test]
fn people_get_the_link_and_a_table_without_colours_in_a_pipe() {
    let one = text(&["--seconds", "2"]);
    let mut lines = one.lines();
    assert_eq!(lines.next(), Some("dots, 2 bots, 2 s, seed 1"));
    assert_eq!(lines.next(), Some("link: 100 ms round trip, 20 ms jitter, 5 % loss"));
    assert!(one.contains("what                                        measured        target\n"));
    assert!(one.contains("\ndigest "));
    let many = text(&["--seconds", "2", "--seeds", "2", "--burst", "3", "--seed", "5"]);
    assert!(many.starts_with("dots, 2 bots, 2 s, seeds 5 to 6\n"), "{many}");
    assert!(many.contains("pooled        median         worst        target\n"), "{many}");
    // In bursts, what a buffer that knew the link could reach stands beside the figures.
    assert_eq!(many.matches(", limit ").count(), 2, "{many}");
    assert!(!one.contains('\x1b') && !many.contains('\x1b'));
}

/// Exit code and what is said about it.
fn refusal(args: &[&str]) -> (Option<i32>, String) {
    let output = sim(args);
    assert!(output.stdout.is_empty());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn what_cannot_be_is_refused_with_a_sentence() {
    let (code, said) = refusal(&["--loss", "120"]);
    let sentence = "backspin: 120 % of datagrams cannot be lost: choose from 0 to 100 %\n";
    assert_eq!((code, said.as_str()), (Some(1), sentence));
    let (code, said) = refusal(&["--rtt-ms", "100", "--rtt-step-ms", "130000"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("too long for a link"), "{said}");
    let (code, said) = refusal(&["--seed", "18446744073709551615", "--seeds", "2"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("not that many seeds"), "{said}");
    for players in ["1", "3"] {
        let (code, said) = refusal(&["--game", "pong", "--players", players]);
        let sentence = "backspin: pong takes 2 players, or 4 in doubles\n";
        assert_eq!((code, said.as_str()), (Some(1), sentence));
    }
}

#[test]
fn what_is_not_understood_is_wrong_usage() {
    let (code, said) = refusal(&["--game", "chess"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("[possible values: dots, pong, rtype"), "{said}");
    let (code, said) = refusal(&["--preset", "dialup"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("choose one of lan, wifi"), "{said}");
    let wrong: [&[&str]; 9] = [
        &["--frame-hz", "9"],
        &["--frame-hz", "nan"],
        &["--players", "0"],
        &["--players", "5"],
        &["--seeds", "0"],
        &["--seconds", "0"],
        &["--swarm", "1001"],
        &["--jitter-shape", "square"],
        &["--rtt-ms=-5"],
    ];
    for args in wrong {
        assert_eq!(refusal(args).0, Some(2), "{args:?}");
    }
}

#[test]
fn a_chaos_seed_alone_is_told_act_by_act() {
    let told = text(&["--chaos", "--seed", "7"]);
    assert!(told.starts_with("guest 0 plays in "), "{told}");
    assert!(told.contains("every link heals, everyone lets go"), "{told}");
    assert!(told.contains("chaos, seed 7: passed"), "{told}");
    assert_eq!(text(&["--chaos", "--seeds", "2"]).lines().next(), Some(PASSED));
}

const PASSED: &str = "chaos, seeds 1 to 2: all passed";

#[test]
fn chaos_seeds_have_exactly_these_keys_in_this_order() {
    let sum = json(&["--chaos", "--seeds", "3", "--seed", "5"]);
    let names =
        ["seed", "seeds", "simulated_hours", "programs", "resumes", "acts", "wall_s", "cores"];
    assert_eq!(keys(&sum), names);
    assert_eq!((sum["seed"].as_u64(), sum["seeds"].as_u64()), (Some(5), Some(3)));
    assert!(sum["acts"]["start"].as_u64() > Some(3), "{sum}");
}

#[test]
fn chaos_has_links_of_its_own() {
    let output = sim(&["--chaos", "--loss", "5"]);
    assert_eq!(output.status.code(), Some(2));
}
