//! The example game over real sockets.
//!
//! ```text
//! cargo run --release -p backspin-udp --example tag_online -- serve 127.0.0.1:4300
//! cargo run --release -p backspin-udp --example tag_online -- join 127.0.0.1:4300
//! ```

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use backspin::client::{Client, ClientConfig, ClientEvent, Frame};
use backspin::endpoint::EndpointConfig;
use backspin::game::Buttons;
use backspin::room::RoomConfig;
use backspin::server::Server;
use backspin::wire::Name;
use backspin_udp::{Loop, Socket};

#[path = "../../net/examples/tag/rules.rs"]
pub mod rules;

use rules::{TAGGED, Tag};

const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    match &args[1..] {
        [verb, address] if verb == "serve" => serve(address.parse()?),
        [verb, address] if verb == "join" => join(address.parse()?),
        _ => Err("usage: tag serve ADDRESS | tag join ADDRESS".into()),
    }
}

fn serve(address: SocketAddr) -> Result<(), Box<dyn Error>> {
    let mut driver = Loop::new(vec![Socket::bind(address)?])?;
    let mut server = Server::new(EndpointConfig::default(), seed()?);
    server.open(driver.now(), Tag, Name::new("Field"), 1, RoomConfig::default());
    loop {
        driver.turn(&mut server, driver.now() + Duration::from_secs(1))?;
        while let Some(event) = server.rooms_mut()[0].poll_event() {
            println!("{event:?}");
        }
    }
}

/// Plays for ten seconds: runs in circles, and says who is it and where everyone is drawn.
fn join(address: SocketAddr) -> Result<(), Box<dyn Error>> {
    let any = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let mut driver = Loop::new(vec![Socket::bind(any.parse()?)?])?;
    let config = ClientConfig::new(address, Name::new("Alice"));
    let mut client = Client::new(driver.now(), Tag, config, seed()?);
    let mut frame = Frame::default();
    let circle = [Buttons::RIGHT, Buttons::DOWN, Buttons::LEFT, Buttons::UP];
    for count in 0..600 {
        client.press(circle[count / 30 % 4]);
        let next_frame = driver.now() + FRAME;
        while driver.now() < next_frame {
            driver.turn(&mut client, next_frame)?;
        }
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::Game(event) if event.kind == TAGGED => {
                    println!("player {} is it", event.entity);
                }
                ClientEvent::Ended(reason) => return Err(reason.to_string().into()),
                event => println!("{event:?}"),
            }
        }
        client.draw(driver.now(), &mut frame);
        if count % 60 == 59 {
            let places: Vec<_> =
                frame.entities.iter().map(|d| (d.entity.id, d.fields[0], d.fields[1])).collect();
            println!("{places:?}");
        }
    }
    client.leave();
    driver.flush(&mut client);
    Ok(())
}

fn seed() -> Result<[u8; 32], Box<dyn Error>> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| format!("no random numbers: {error}"))?;
    Ok(seed)
}
