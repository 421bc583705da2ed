//! Matchmaking by latency: over the seeded network, and against those who mean harm.

#[path = "../scripts/desk.rs"]
#[allow(dead_code, reason = "matchmakers have no streams")]
mod desk;
mod hostile;
mod regions;
mod scene;
mod servers;
