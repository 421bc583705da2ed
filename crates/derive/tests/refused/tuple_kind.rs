use backspin::typed::Entities;

#[derive(Entities)]
enum Thing {
    Man(u8, u8),
}

fn main() {}
