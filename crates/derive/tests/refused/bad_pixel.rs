use backspin::typed::Entities;

#[derive(Entities)]
#[entities(pixel = "1/0")]
enum Thing {
    Man { x: u8 },
}

fn main() {}
