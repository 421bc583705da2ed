use backspin::typed::EntityKind;

#[derive(EntityKind)]
struct Man {
    #[still]
    #[teleports]
    x: u8,
}

fn main() {}
