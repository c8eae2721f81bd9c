//! The controller's own gRPC API: what hosts are told, who runs, and how the switches are. Its messages and
//! the client are `inart-controller-api`'s.

mod server;

pub use inart_controller_api::{Client, ClientError, proto};
pub use server::{ListenError, Listener, Serving, serve};
