//! `inart order-server` and `inart order-worker` by raw frames on interfaces of one bridge or one InArt
//! switch: what is applied is compared with what workers say that they sent. Needs root, and skips without.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod cluster;
mod faults;
mod refused;
mod strangers;
mod training;
