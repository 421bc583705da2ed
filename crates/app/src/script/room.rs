//! Which room of a server, on the command line.

use backspin::wire::Name;

use crate::play::RoomWish;

/// Which room of a server.
#[derive(clap::Args)]
pub(crate) struct RoomArgs {
    /// The room, by its name or its number [default: any with a free place]
    #[arg(long, value_name = "ROOM", value_parser = crate::parse_name, requires = "address")]
    room: Option<Name>,

    /// What the room asks for
    #[arg(long, value_parser = crate::parse_name, default_value = "", hide_default_value = true)]
    pub(crate) password: Name,
}

/// Whether the room is a new one.
#[derive(clap::Args)]
pub(crate) struct MakeArgs {
    /// Make the room that --room names; --password is what others need
    #[arg(long, requires = "room")]
    create: bool,
}

impl RoomArgs {
    pub(crate) fn wish(&self) -> RoomWish {
        let Some(name) = self.room else { return RoomWish::Any };
        match name.to_string().parse() {
            Ok(number) => RoomWish::Number(number),
            Err(_) => RoomWish::Named(name),
        }
    }
}

impl MakeArgs {
    /// The room that is wished for, new or not.
    pub(crate) fn wish(&self, room: &RoomArgs) -> RoomWish {
        match room.room {
            Some(name) if self.create => RoomWish::New(name),
            _ => room.wish(),
        }
    }
}
