//! Packets between two hosts by frames that may be lost, doubled and reordered: each packet arrives whole and
//! once, or the connection ends. What QUIC does across routed networks, inside one network
//! (docs/protocol/ps.md, "Push and pull by frames").

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]

mod link;
mod receiving;
mod sending;
mod words;

pub use link::{FrameCounters, FrameLink, LinkEvent, LinkSetup};
