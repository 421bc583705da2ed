//! The small parts of both formats: numbers, addresses, names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use backspin::game::GameId;
use backspin::node::Path;
use backspin::peer::{PeerAddr, PeerKind};
use backspin::wire::{Fault, Malformed, Name, Reader};

/// A number in groups of seven bits, lowest first; the top bit says that another group follows.
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads what [`put_varint`] wrote; a longer way to write the same is refused.
pub(super) fn varint(r: &mut Reader<'_>, field: &'static str) -> Result<u64, Malformed> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = r.u8(field)?;
        let group = u64::from(byte & 0x7F);
        if group << shift >> shift != group {
            return Err(Malformed::out_of_range(field, i64::MAX));
        }
        value |= group << shift;
        if byte & 0x80 == 0 {
            let is_long = byte == 0 && shift > 0;
            return if is_long {
                Err(Malformed::new(field, Fault::NotCanonical))
            } else {
                Ok(value)
            };
        }
    }
    Err(Malformed::out_of_range(field, i64::MAX))
}

/// A number that must not be above `max`.
pub(super) fn varint_upto(
    r: &mut Reader<'_>,
    field: &'static str,
    max: u64,
) -> Result<u64, Malformed> {
    let value = varint(r, field)?;
    match value <= max {
        true => Ok(value),
        false => Err(Malformed::out_of_range(field, i64::try_from(value).unwrap_or(i64::MAX))),
    }
}

/// A number that fits a smaller type.
pub(super) fn small<T: TryFrom<u64>>(
    r: &mut Reader<'_>,
    field: &'static str,
) -> Result<T, Malformed> {
    let value = varint(r, field)?;
    let large = i64::try_from(value).unwrap_or(i64::MAX);
    T::try_from(value).map_err(|_| Malformed::out_of_range(field, large))
}

/// Bytes behind their length.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads what [`put_bytes`] wrote. Nothing is copied, so the length cannot make anyone allocate.
pub(super) fn bytes<'a>(r: &mut Reader<'a>, field: &'static str) -> Result<&'a [u8], Malformed> {
    let len = varint_upto(r, field, u32::MAX.into())?;
    r.take(field, len as usize)
}

pub(super) fn put_name(out: &mut Vec<u8>, name: &Name) {
    put_bytes(out, name.as_bytes());
}

pub(super) fn name(r: &mut Reader<'_>, field: &'static str) -> Result<Name, Malformed> {
    Name::decode_raw(&mut Reader::new(bytes(r, field)?), field)
}

/// | 4 | four octets |, or | 6 | sixteen octets |
pub(super) fn put_game(out: &mut Vec<u8>, game: GameId) {
    out.extend_from_slice(&game.game.to_be_bytes());
    out.extend_from_slice(&game.version.to_be_bytes());
}

pub(super) fn game(r: &mut Reader<'_>) -> Result<GameId, Malformed> {
    Ok(GameId { game: r.u32_be("game")?, version: r.u16_be("version")? })
}

pub(super) fn put_ip(out: &mut Vec<u8>, ip: IpAddr) {
    match ip {
        IpAddr::V4(ip) => out.extend([4].iter().chain(&ip.octets())),
        IpAddr::V6(ip) => out.extend([6].iter().chain(&ip.octets())),
    }
}

pub(super) fn ip(r: &mut Reader<'_>, field: &'static str) -> Result<IpAddr, Malformed> {
    match r.u8(field)? {
        4 => Ok(Ipv4Addr::from(r.array::<4>(field)?).into()),
        6 => Ok(Ipv6Addr::from(r.array::<16>(field)?).into()),
        other => Err(Malformed::out_of_range(field, other)),
    }
}

/// | ip | port u16 |, and for IPv6 | flow | scope |; or | 1 | ip | id | for a connection
pub(super) fn put_peer(out: &mut Vec<u8>, peer: PeerAddr) {
    match peer.kind() {
        PeerKind::Socket(address) => {
            put_ip(out, address.ip());
            out.extend_from_slice(&address.port().to_be_bytes());
            if let SocketAddr::V6(address) = address {
                put_varint(out, address.flowinfo().into());
                put_varint(out, address.scope_id().into());
            }
        }
        PeerKind::Connection { id, ip } => {
            out.push(CONNECTION);
            put_ip(out, ip);
            put_varint(out, id);
        }
    }
}

/// Where an IP address has its family, 4 or 6.
const CONNECTION: u8 = 1;

pub(super) fn peer(r: &mut Reader<'_>, field: &'static str) -> Result<PeerAddr, Malformed> {
    let mut ahead = r.clone();
    if ahead.u8(field)? == CONNECTION {
        *r = ahead;
        let ip = ip(r, field)?;
        return Ok(PeerAddr::connection(varint(r, field)?, ip));
    }
    let (ip, port) = (ip(r, field)?, r.u16_be(field)?);
    Ok(PeerAddr::socket(match ip {
        IpAddr::V4(ip) => (ip, port).into(),
        IpAddr::V6(ip) => SocketAddrV6::new(ip, port, small(r, field)?, small(r, field)?).into(),
    }))
}

/// | socket u8 | 0, or the local ip | remote |
pub(super) fn put_path(out: &mut Vec<u8>, path: Path) {
    out.push(path.socket);
    match path.local {
        None => out.push(0),
        Some(local) => put_ip(out, local),
    }
    put_peer(out, path.remote);
}

pub(super) fn path(r: &mut Reader<'_>) -> Result<Path, Malformed> {
    let socket = r.u8("path")?;
    let mut ahead = r.clone();
    let local = match ahead.u8("path")? {
        0 => {
            *r = ahead;
            None
        }
        _ => Some(ip(r, "path")?),
    };
    Ok(Path { socket, local, remote: peer(r, "path")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_way_to_be_written() {
        for value in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX >> 1, u64::MAX]
        {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            let mut r = Reader::new(&out);
            assert_eq!(varint(&mut r, "n"), Ok(value));
            assert_eq!(r.left(), 0);
            for len in 0..out.len() {
                assert!(varint(&mut Reader::new(&out[..len]), "n").is_err());
            }
        }
        let longer = Malformed::new("n", Fault::NotCanonical);
        assert_eq!(varint(&mut Reader::new(&[0x80, 0]), "n"), Err(longer));
        // The tenth group has room for one bit; an eleventh there is not.
        let mut much = [0xFF; 11];
        much[9] = 2;
        assert!(varint(&mut Reader::new(&much), "n").is_err());
        assert!(varint(&mut Reader::new(&[0x80; 11]), "n").is_err());
    }

    #[test]
    fn a_path_comes_back_as_it_was() {
        let scoped = SocketAddrV6::new(Ipv6Addr::LOCALHOST, 9, 7, 300);
        let socket = |text: &str| PeerAddr::socket(text.parse().unwrap());
        let remotes = [
            socket("10.0.0.1:4242"),
            socket("[::1]:1"),
            PeerAddr::socket(scoped.into()),
            PeerAddr::connection(0, Ipv4Addr::LOCALHOST.into()),
            PeerAddr::connection(u64::MAX, Ipv6Addr::LOCALHOST.into()),
        ];
        let locals = [None, Some(Ipv4Addr::LOCALHOST.into()), Some(Ipv6Addr::LOCALHOST.into())];
        for (remote, local) in remotes.into_iter().flat_map(|r| locals.map(|l| (r, l))) {
            let mut out = Vec::new();
            let original = Path { socket: 3, local, remote };
            put_path(&mut out, original);
            let mut r = Reader::new(&out);
            assert_eq!(path(&mut r), Ok(original));
            assert_eq!(r.left(), 0);
            for len in 0..out.len() {
                assert!(path(&mut Reader::new(&out[..len])).is_err());
            }
        }
    }
}
