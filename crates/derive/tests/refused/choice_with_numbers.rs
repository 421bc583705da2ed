use backspin::typed::Choice;

#[derive(Clone, Copy, Choice)]
enum Weapon {
    Fist = 1,
    Bow = 2,
}

fn main() {}
