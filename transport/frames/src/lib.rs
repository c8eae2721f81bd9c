//! Packets between two hosts, sent in frames that may be lost, duplicated and reordered: each packet arrives
//! whole and once, or the connection ends. The equivalent of QUIC across routed networks, inside one network
//! (docs/protocol/ps.md, "Push and pull by frames").

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]

mod link;
mod receiving;
mod sending;
mod words;

pub use link::{FrameCounters, FrameLink, LinkEvent, LinkSetup};
