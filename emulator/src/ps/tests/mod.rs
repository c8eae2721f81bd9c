//! Audits against records of right runs, and of the same runs with one thing falsified.
#![allow(clippy::unwrap_used)]

mod groups;
mod record;
mod workers;
