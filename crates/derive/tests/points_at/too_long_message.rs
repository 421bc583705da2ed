use backspin::typed::{Message, Text};

#[derive(Clone, Debug, Message)]
enum Word {
    Chat(Text<120>),
    Book(Text<898>),
}

fn main() {}
