//! A parameter server and the participants around it: topologies with training jobs (R²SP and FL-R²SP), and
//! groups of workers whose gradients switches aggregate ([`Racks`]), with a plan each.
//!
//! Pure functions without I/O and without a clock.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]
#![forbid(unsafe_code)]

mod racks;

pub use racks::{
    Choice, Considered, Group, RackError, Racks, candidate_racks, choose_racks, divide, racks_of,
};
