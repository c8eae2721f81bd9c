//! The controller's own gRPC API: what hosts are told, who runs, and how the switches are. Its messages and
//! the client are `inart-control`'s.

mod server;

pub use inart_control::{Client, ClientError, proto};
pub use server::{ListenError, Listener, Serving, serve};
