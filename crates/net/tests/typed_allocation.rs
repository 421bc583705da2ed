//! A tick of a derived game allocates nothing: from the bits of an input to the counts of a state, and back.
#![cfg(feature = "derive")]

mod counting;

use std::hint::black_box;

use backspin::channel::MESSAGE_BYTES;
use backspin::game::PlayerId;
use backspin::replication::State;
use backspin::typed::{Angle, Axis2, Choice, Entities, Fixed, Input, Message};

#[derive(Clone, Copy, Debug, Default, PartialEq, Input)]
struct Pad {
    go: Axis2,
    aim: Angle<10>,
    stance: Stance,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Choice)]
enum Stance {
    #[default]
    Standing,
    Lying,
}

#[derive(Clone, Copy, Debug, PartialEq, Entities)]
enum Thing {
    Man {
        #[along(vx)]
        x: Fixed<-800, 800, 16>,
        vx: Fixed<-20, 20, 16>,
        aim: Angle<10>,
        stance: Stance,
    },
}

#[derive(Clone, Debug, Message)]
struct Killed {
    who: PlayerId,
    by: Option<PlayerId>,
}

fn tick(state: &mut State, bits: u128) {
    let pad = Pad::from_bits(bits);
    let Some(Thing::Man { mut x, aim, .. }) = state.thing(1) else { panic!("it is there") };
    let vx = Fixed::from_count(pad.go.direction(60).0 * aim.cos() / 16_384);
    x += vx;
    let aim = aim.turn_towards(Angle::towards(x.count(), vx.count()), Angle::from_count(9));
    state.clear(state.tick + 1);
    state.put(1, &Thing::Man { x, vx, aim, stance: pad.stance });
    assert_eq!(state.things::<Thing>().count(), 1);
    let mut room = [0; MESSAGE_BYTES];
    let killed = Killed { who: PlayerId(1), by: None };
    let bytes = killed.write(&mut room).expect("it fits");
    assert_eq!(Killed::read(bytes).map(|killed| (killed.who, killed.by)), Ok((PlayerId(1), None)));
    black_box(pad.to_bits());
}

#[test]
fn a_tick_allocates_nothing() {
    let mut state = State::new(0);
    let start = Fixed::default();
    let (vx, aim, stance) = (Fixed::default(), Angle::ZERO, Stance::Lying);
    state.put(1, &Thing::Man { x: start, vx, aim, stance });
    let before = counting::allocations();
    (0..1_000).for_each(|bits| tick(&mut state, bits * 7));
    assert_eq!(counting::allocations() - before, 0);
    let Some(Thing::Man { x, .. }) = state.thing(1) else { panic!("it is there") };
    assert_ne!(x, start);
}
