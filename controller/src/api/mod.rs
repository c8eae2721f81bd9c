//! The controller's own gRPC API (`proto/inart/v1/controller.proto`): what hosts are told, who runs, and how the
//! switches are.

mod client;
mod convert;
mod server;

pub use client::{Client, ClientError};
pub use server::{ListenError, Listener, serve};

/// The messages and the service.
#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub mod proto {
    tonic::include_proto!("inart.v1");
}
