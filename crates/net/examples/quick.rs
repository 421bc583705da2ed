//! temporary
use backspin::dot::Dots;
use backspin::sim::{Loss, Preset, Setup, measure_with};
fn main() {
    let mut link = Preset::Reference.config();
    let arg: Vec<String> = std::env::args().collect();
    if arg.len() > 2 {
        link.loss = Loss::bursts(0.05, 3.0);
    }
    let setup =
        Setup { seconds: 120, ..Setup::new(link, arg.get(1).map_or(1, |a| a.parse().unwrap())) };
    println!("{}", measure_with(Dots::default(), &setup));
}
