use backspin::typed::{EntityKind, Fixed};

#[derive(EntityKind)]
struct Man {
    #[along(speed)]
    x: Fixed<0, 9, 16>,
    vx: Fixed<-9, 9, 16>,
}

fn main() {}
