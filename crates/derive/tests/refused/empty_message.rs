use backspin::typed::Message;

#[derive(Clone, Debug, Message)]
enum Word {}

fn main() {}
