use backspin::typed::{Input, Int};

type Wide = Int<{ i32::MIN }, { i32::MAX }>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Input)]
struct Pad {
    a: Wide,
    b: Wide,
    c: Wide,
    d: Wide,
    fire: bool,
}

fn main() {}
