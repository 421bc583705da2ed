use backspin::typed::EntityKind;

#[derive(EntityKind)]
struct Man {
    #[along(vx, every = 2)]
    x: u8,
    vx: u8,
}

fn main() {}
