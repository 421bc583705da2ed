use backspin::typed::{Entities, Input, Message};

#[derive(Clone, Copy, Debug, Default, PartialEq, Input)]
struct Pad {
    aim: f32,
}

#[derive(Clone, Debug, Message)]
struct Place {
    x: f32,
}

#[derive(Entities)]
enum Thing {
    Man { x: f32 },
    Dog(u8),
}

fn main() {}
