use super::*;

fn timeline(ticks: impl IntoIterator<Item = u32>, snapshots: &[(u32, u8)]) -> Timeline {
    let mut timeline = Timeline::new();
    ticks.into_iter().for_each(|tick| timeline.handle_sent(tick));
    snapshots.iter().for_each(|(tick, missing)| timeline.handle_snapshot(*tick, *missing));
    timeline
}

fn lines(picture: impl fmt::Display) -> Vec<String> {
    picture.to_string().lines().map(str::to_owned).collect()
}

#[test]
fn the_picture_is_that_of_document_004() {
    let timeline = timeline(100..=106, &[(101, 0), (106, 0b1000)]);
    // The document's marks stand up to two columns beside the middle; these do not.
    let picture = "\
Client Sequence Timeline:
[100][101][102][X][104][105][106]  <- X = packet lost
       ^                      ^
       +-- ACK(101)           +-- ACK(106) -> clears all <=106

Server Processed Sequence:
[100][101][102][  ][104][105][106]  <- Gap detected between 102-104
                     ^
                     +-- Server continues with seq=104";
    assert_eq!(timeline.to_string(), picture);
}

#[test]
fn without_loss_there_is_no_gap_and_what_is_pending_is_not_the_servers_yet() {
    let timeline = timeline(8..=11, &[(9, 0)]);
    let client = [
        "Client Sequence Timeline:",
        "[8][9][10][11]",
        "    ^",
        "    +-- ACK(9) -> clears all <=9",
    ];
    assert_eq!(lines(timeline.client()), client);
    assert_eq!(lines(timeline.server()), ["Server Processed Sequence:", "[8][9]"]);
    assert_eq!(timeline.fate(9), Some(Fate::Acknowledged));
    assert_eq!((timeline.fate(10), timeline.fate(12)), (Some(Fate::Sent), None));
}

#[test]
fn an_empty_picture_has_titles_only() {
    let picture = "Client Sequence Timeline:\n\n\nServer Processed Sequence:\n";
    assert_eq!(Timeline::new().to_string(), picture);
}

#[test]
fn an_acknowledgement_right_before_the_newest_gives_way() {
    let marks = |acks: &[(u32, u8)]| lines(timeline(100..=105, acks).client())[2..].to_vec();
    let newest = ["                 ^", "                 +-- ACK(103) -> clears all <=103"];
    assert_eq!(marks(&[(101, 0), (103, 0)]), newest);
    // Where the label fits, both stand.
    let both = ["  ^              ^", "  +-- ACK(100)   +-- ACK(103) -> clears all <=103"];
    assert_eq!(marks(&[(100, 0), (103, 0)]), both);
    // A late snapshot marks nothing.
    assert_eq!(marks(&[(100, 0), (103, 0), (102, 0)]), both);
}

#[test]
fn an_acknowledgement_beyond_the_picture_stands_under_its_end_or_nowhere() {
    let beyond = lines(timeline(100..=101, &[(200, 0)]).client());
    assert_eq!(beyond[2..], ["       ^", "       +-- ACK(200) -> clears all <=200"]);
    let before = lines(timeline(100..=101, &[(99, 0)]).client());
    assert_eq!(before, ["Client Sequence Timeline:", "[100][101]"]);
}

#[test]
fn the_last_of_several_gaps_is_told_whole() {
    let timeline = timeline(20..=27, &[(27, 0b0011_0010)]);
    let server = [
        "Server Processed Sequence:",
        "[20][21][  ][  ][24][25][  ][27]  <- Gap detected between 25-27",
        "                              ^",
        "                              +-- Server continues with seq=27",
    ];
    assert_eq!(lines(timeline.server()), server);
    assert_eq!(lines(timeline.client())[1], "[20][21][X][X][24][25][X][27]  <- X = packet lost");
}

#[test]
fn a_gap_at_the_end_is_not_gone_on_from_yet() {
    let timeline = timeline(20..=23, &[(22, 0b11)]);
    let server = ["Server Processed Sequence:", "[20][  ][  ]  <- Gap detected between 20-23"];
    assert_eq!(lines(timeline.server()), server);
}

#[test]
fn an_acknowledgement_that_jumps_from_100_to_103_shows_101_and_102_lost() {
    let timeline = timeline(98..=105, &[(99, 0), (100, 0), (101, 0b1), (102, 0b11), (103, 0b110)]);
    assert_eq!(timeline.acks().collect::<Vec<_>>(), [99, 100, 103]);
    let lost: Vec<_> = timeline.inputs().filter(|(_, fate)| *fate == Fate::Lost).collect();
    assert_eq!(lost, [(101, Fate::Lost), (102, Fate::Lost)]);
    let client = [
        "Client Sequence Timeline:",
        "[98][99][100][X][X][103][104][105]  <- X = packet lost",
        "                     ^",
        "                     +-- ACK(103) -> clears all <=103",
    ];
    assert_eq!(lines(timeline.client()), client);
}

#[test]
fn snapshots_that_were_lost_are_no_lost_inputs_though_the_acknowledgement_jumps() {
    let timeline = timeline(100..=104, &[(100, 0), (103, 0)]);
    assert_eq!(timeline.acks().collect::<Vec<_>>(), [100, 103]);
    assert!(timeline.inputs().all(|(_, fate)| fate != Fate::Lost));
}

#[test]
fn an_acknowledgement_stands_still_while_nothing_comes() {
    let stalled = timeline(1..=20, &[(4, 0), (12, 0xFF), (16, 0xFF)]);
    assert_eq!(stalled.acks().collect::<Vec<_>>(), [4]);
    let after = timeline(1..=200, &[(4, 0), (150, 0)]);
    assert_eq!(after.acks().collect::<Vec<_>>(), [150]);
}

#[test]
fn a_loss_is_remembered_when_later_snapshots_no_longer_tell() {
    let timeline = timeline(100..=110, &[(100, 0b1), (110, 0)]);
    assert_eq!(timeline.fate(100), Some(Fate::Lost));
    assert_eq!(timeline.fate(101), Some(Fate::Acknowledged));
}

#[test]
fn sixteen_are_in_the_picture_around_where_fates_are_decided() {
    let ticks = |timeline: Timeline| timeline.inputs().map(|(tick, _)| tick).collect::<Vec<_>>();
    // At 250 ms forty inputs are under way at sixty a second.
    assert_eq!(ticks(timeline(1..=70, &[(30, 0b100)])), (17..=32).collect::<Vec<_>>());
    assert_eq!(ticks(timeline(1..=70, &[(70, 0)])), (55..=70).collect::<Vec<_>>());
    assert_eq!(ticks(timeline(1..=70, &[])), (55..=70).collect::<Vec<_>>());
    assert_eq!(ticks(timeline(1..=10, &[(3, 0)])), (1..=10).collect::<Vec<_>>());
    let all = timeline(1..=70, &[(30, 0b100)]);
    assert_eq!((all.fate(28), all.fate(30)), (Some(Fate::Lost), Some(Fate::Acknowledged)));
    assert_eq!((all.fate(1), all.fate(70)), (Some(Fate::Acknowledged), Some(Fate::Sent)));
}

#[test]
fn as_many_as_can_wait_and_a_picture_more_are_remembered() {
    let kept = (PENDING_LIMIT + TIMELINE_LEN) as u32;
    let timeline = timeline(1..=kept + 1, &[(TIMELINE_LEN as u32, 0)]);
    assert_eq!((timeline.fate(1), timeline.fate(2)), (None, Some(Fate::Acknowledged)));
    assert_eq!(timeline.fate(kept + 1), Some(Fate::Sent));
}

#[test]
fn the_picture_wraps_past_0() {
    let timeline = timeline([u32::MAX, 1, 2], &[(2, 0b10)]);
    let server = [
        "Server Processed Sequence:",
        "[4294967295][  ][2]  <- Gap detected between 4294967295-2",
        "                 ^",
        "                 +-- Server continues with seq=2",
    ];
    assert_eq!(lines(timeline.server()), server);
}
