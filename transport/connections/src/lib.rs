//! Hosts of messages: a [`Machine`] decides, and one loop connects it to a network.
//!
//! Without the feature `tokio` there is only the trait, for machines and simulators. With it, `drive` runs a
//! machine on a `Transport`: on QUIC connections, on frames inside one network, or on frames that switches
//! copy; `Handle` runs a machine on a thread for a training program.

#[cfg(feature = "tokio")]
mod addresses;
#[cfg(feature = "tokio")]
mod copies;
#[cfg(feature = "tokio")]
mod counted;
#[cfg(feature = "tokio")]
mod drive;
#[cfg(feature = "tokio")]
mod error;
#[cfg(feature = "tokio")]
mod event;
#[cfg(feature = "tokio")]
mod frames;
#[cfg(feature = "tokio")]
mod handle;
mod incarnation;
mod lane;
mod machine;
#[cfg(feature = "tokio")]
mod names;
#[cfg(feature = "tokio")]
mod options;
#[cfg(feature = "tokio")]
mod port;
#[cfg(feature = "tokio")]
mod quic;
#[cfg(feature = "tokio")]
mod sleep;
#[cfg(feature = "tokio")]
mod transport;
mod wait_watch;

#[cfg(feature = "tokio")]
pub use counted::Connections;
#[cfg(feature = "tokio")]
pub use drive::{Host, Order, drive};
#[cfg(feature = "tokio")]
pub use error::Error;
#[cfg(feature = "tokio")]
pub use handle::{Handle, Stopper};
pub use incarnation::draw;
pub use lane::{Lane, PAUSE};
pub use machine::{Machine, Output, PeerNo, Seen, Work};
#[cfg(feature = "tokio")]
pub use names::Names;
#[cfg(feature = "tokio")]
pub use options::{CopyOptions, FrameOptions, QuicOptions};
#[cfg(feature = "tokio")]
pub use transport::Transport;
pub use wait_watch::WaitWatch;
