use backspin::typed::Message;

#[derive(Clone, Debug, Message)]
enum Word<T> {
    Said(T),
}

fn main() {}
