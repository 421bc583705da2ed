use backspin::typed::Choice;

#[derive(Clone, Copy, Choice)]
enum Weapon {
    Fist,
    Bow(u8),
}

fn main() {}
