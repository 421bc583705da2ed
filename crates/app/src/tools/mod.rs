//! What is around the games: commands that look at, measure or disturb what they send.

pub(crate) mod demo;
pub(crate) mod inspect;
pub(crate) mod lag;
pub(crate) mod load;
pub(crate) mod manual;
mod paint;
pub(crate) mod replay;
pub(crate) mod sim;
