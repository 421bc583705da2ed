use backspin::typed::EntityKind;

#[derive(EntityKind)]
struct Man {
    #[along(vx)]
    x: u8,
    #[teleports]
    vx: u8,
}

fn main() {}
