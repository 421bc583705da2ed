//! The options that choose a room on a server.

use backspin::wire::Name;

use crate::play::RoomWish;

/// Which room of a server.
#[derive(clap::Args)]
pub(crate) struct RoomArgs {
    /// The room, by name or number [default: any with a free slot]
    #[arg(long, value_name = "ROOM", value_parser = crate::parse_name, requires = "address")]
    room: Option<Name>,

    /// The room's password
    #[arg(long, value_parser = crate::parse_name, default_value = "", hide_default_value = true)]
    pub(crate) password: Name,
}

/// Whether the room is a new one.
#[derive(clap::Args)]
pub(crate) struct MakeArgs {
    /// Create the room named by --room; --password sets its password
    #[arg(long, requires = "room")]
    create: bool,
}

impl RoomArgs {
    pub(crate) fn wish(&self) -> RoomWish {
        let Some(name) = self.room else { return RoomWish::Any };
        name.to_string().parse().map_or(RoomWish::Named(name), RoomWish::Number)
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
