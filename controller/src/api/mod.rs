//! The controller's own gRPC API (`proto/inart/v1/controller.proto`): what hosts are told, who runs, and how
//! the switches are.

mod client;
mod convert;
pub mod proto;
mod server;

pub use client::{Client, ClientError};
pub use server::{ListenError, Listener, Serving, serve};
