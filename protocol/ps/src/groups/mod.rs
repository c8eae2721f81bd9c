//! Clients in groups that use the server in turn (FL-R²SP, Section IV-B and Algorithm 2).

mod average;
mod client;
mod group;
mod options;
mod outliers;
mod server;

pub use average::{cosine, mean, merge};
pub use client::{Client, ClientNo, ClientStep};
pub use options::{GroupError, GroupOptions};
pub use outliers::OutlierRule;
pub use server::{Arrival, GroupCounters, GroupOutput, GroupServer};
