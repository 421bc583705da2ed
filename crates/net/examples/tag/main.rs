//! A game of one's own in one file of rules: `cargo run --release --example tag`.
//!
//! Proves the rules, then plays a minute of them between two bots over the reference link and
//! prints what the players felt.

pub mod rules;

use backspin_sim::{Measured, Preset, check_rules, measure};

use rules::Tag;

impl Measured for Tag {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}\n", check_rules::<Tag>()?);
    println!("{}", measure::<Tag>(Preset::Reference.config()));
    Ok(())
}
