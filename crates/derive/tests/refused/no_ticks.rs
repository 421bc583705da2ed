use backspin::typed::EntityKind;

#[derive(EntityKind)]
struct Man {
    #[along(vx, per_ticks = 0)]
    x: u8,
    vx: u8,
}

fn main() {}
