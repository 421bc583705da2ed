//! Inputs, line by line as in section 5 of document 004, and what else may happen to them.

use crate::table::*;

/// Alice has flown for so many inputs, one a tick.
fn after(inputs: u32) -> Table {
    let mut table = Table::new();
    table.join(alice());
    for number in 1..=inputs {
        table.input(alice(), number, 0);
        table.tick();
    }
    table.lines();
    table
}

#[test]
fn section_5_1_normal() {
    let mut table = after(99);
    // t=0: INPUT 100 is delivered. t=16: it is processed, and the snapshot says so.
    let before = table.ship(1);
    table.input(alice(), 100, RIGHT);
    let sent = table.tick();
    assert_eq!(own(&sent, alice()).ack, 100);
    assert_eq!(table.ship(1), [before[0] + 40, before[1]], "150 px/s are 40/16 px a tick");
    // t=33: the same with 101.
    table.input(alice(), 101, RIGHT);
    assert_eq!(own(&table.tick(), alice()).ack, 101);
    let tick = table.world_tick();
    let lines = table.lines();
    let expected = [
        "[Server] INPUT_RECV    player=1 seq=101 (gap=0)".into(),
        "[Server] INPUT_PROCESS player=1 seq=101 last_ack=101".into(),
        format!("[Server] SNAPSHOT_SENT tick={tick} entities=1 (player1_ack=101)"),
    ];
    assert_eq!(lines[lines.len() - 3..], expected);
}

#[test]
fn section_5_2_packet_loss() {
    let mut table = after(199);
    // t=0: 200 is lost. t=16: no input, the last ack is unchanged.
    assert_eq!(own(&table.tick(), alice()).ack, 199);
    // t=33: 201 is delivered, processed and acknowledged; 200 is skipped, and lost for good.
    table.input(alice(), 201, RIGHT);
    assert_eq!(own(&table.tick(), alice()).ack, 201);
    let lines = table.lines();
    assert!(lines.contains(&"[Server] INPUT_RECV    player=1 seq=201 (gap=1)".into()));
    assert!(lines.contains(&"Player 1 lost 1 inputs (seq 200-200)".into()), "{lines:?}");
    let before = table.ship(1);
    table.input(alice(), 200, UP);
    table.tick();
    // The last one is repeated: to the right, and not up.
    assert_eq!(table.ship(1), [before[0] + 40, before[1]]);
}

#[test]
fn section_5_3_out_of_order() {
    let mut table = after(299);
    // t=20: 301 comes first, is processed and acknowledged.
    table.input(alice(), 301, RIGHT);
    assert_eq!(own(&table.tick(), alice()).ack, 301);
    // t=30: 300 is late, and rejected.
    table.lines();
    table.input(alice(), 300, UP);
    assert_eq!(table.lines(), [""; 0], "it is not even received");
    assert_eq!(own(&table.tick(), alice()).ack, 301);
}

#[test]
fn stale_and_doubled_inputs_change_nothing() {
    let fly = |is_doubled: bool| {
        let mut table = after(10);
        let mut seen = Vec::new();
        for number in 11..200_u32 {
            let flags = [RIGHT, UP | SHOOT, DOWN, 0][number as usize / 9 % 4];
            table.input(alice(), number, flags);
            if is_doubled {
                table.input(alice(), number, !flags & 63);
                table.input(alice(), number - 1, !flags & 63);
                table.input(alice(), number / 2, UP | SHOOT);
            }
            let sent = table.tick();
            seen.push((table.ship(1), own(&sent, alice()), table.world().shots().len()));
        }
        seen
    };
    assert_eq!(fly(false), fly(true));
}

#[test]
fn at_most_three_wait_and_a_shot_is_not_lost_with_the_input_that_held_it() {
    let mut table = after(10);
    // A burst of ten, after a stall of the line: seven are pushed out, the first of them fires.
    for number in 11..=20 {
        table.input(alice(), number, if number == 11 { SHOOT } else { 0 });
    }
    let acks = [18, 19, 20, 20].map(|expected| (expected, own(&table.tick(), alice()).ack));
    assert!(acks.iter().all(|(expected, ack)| expected == ack), "{acks:?}");
    assert_eq!(table.world().shots().len(), 1);
}

#[test]
fn the_last_input_is_repeated_for_six_ticks_and_then_nothing_is_held() {
    let mut table = after(10);
    table.input(alice(), 11, RIGHT);
    let start = table.ship(1)[0];
    let steps: Vec<_> = (0..10)
        .map(|_| {
            table.tick();
            (table.ship(1)[0] - start) / 40
        })
        .collect();
    assert_eq!(steps, [1, 2, 3, 4, 5, 6, 7, 7, 7, 7], "its own tick and six more");
    let room = &table.desk.node.rooms()[0];
    let card = room.members().next().unwrap();
    assert_eq!(card.ticks_without_input, 9, "as the operator's page shows it");
}
