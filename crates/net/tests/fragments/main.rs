//! Worlds whose snapshots do not fit one datagram.

mod budget;
mod links;
mod swarm;
