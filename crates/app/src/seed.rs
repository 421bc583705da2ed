//! Randomness from the operating system; everything below takes it as an argument.

use std::error::Error;

/// 32 unguessable bytes.
pub(crate) fn secret() -> Result<[u8; 32], Box<dyn Error>> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(no_chance)?;
    Ok(seed)
}

/// A seed for a world.
pub(crate) fn world() -> Result<u64, Box<dyn Error>> {
    Ok(getrandom::u64().map_err(no_chance)?)
}

fn no_chance(error: getrandom::Error) -> String {
    format!("the system provides no random numbers: {error}")
}
