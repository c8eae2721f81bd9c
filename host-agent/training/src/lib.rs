//! A real model on real data, to have real gradients to sum: a perceptron with two hidden layers learns
//! handwritten digits by synchronous data-parallel SGD with momentum.
//!
//! This crate uses no network. Per round, each worker calls [`Trainer::gradient`], sums the result with the
//! other workers' by any all-reduce, and passes the sum to [`Trainer::apply`]. Everything is a function of
//! the seed, in f32 with a fixed order of operations: workers that receive equal sums hold equal weights, bit
//! for bit, which [`Trainer::digest`] shows.
//!
//! At a parameter server, a [`Stepper`] returns its update to a given model. A client of federated training
//! ([`Client`]) takes some local steps, on images of few digits.

mod client;
mod digits;
mod draw;
mod mlp;
mod shards;
mod single_host;
mod stepper;
mod trainer;

pub use client::{Client, Local, Round};
pub use digits::{CLASSES, PIXELS, images_as_text};
pub use draw::Draw;
pub use mlp::PARAMETERS;
pub use single_host::{History, train_single_host};
pub use stepper::Stepper;
pub use trainer::{Config, ConfigError, Evaluation, Trainer};
