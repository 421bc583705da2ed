use backspin::typed::Input;

#[derive(Clone, Copy, Debug, Default, PartialEq, Input)]
enum Pad {
    #[default]
    Up,
}

fn main() {}
