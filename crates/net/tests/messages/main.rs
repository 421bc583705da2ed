//! Messages and chat through the whole stack, over links that lose: what is reliable arrives exactly
//! once and in order, or the session ends with a reason, or who sends it is told.

mod chat;
mod limits;
mod reliable;
mod rules;
mod scene;
mod unreliable;
