//! gRPC server of the controller: assignments, registered hosts, and the state of the switches. Messages
//! and client are in `inart-controller-api`.

mod server;

pub use inart_controller_api::{Client, ClientError, proto};
pub use server::{ListenError, Listener, Serving, serve};
