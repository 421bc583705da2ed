//! Tools around the games: commands that inspect, measure or disturb the traffic.

pub(crate) mod demo;
pub(crate) mod inspect;
pub(crate) mod lag;
pub(crate) mod load;
pub(crate) mod manual;
mod paint;
pub(crate) mod replay;
pub(crate) mod sim;
