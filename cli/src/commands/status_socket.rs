//! Status sockets of sites, peers and parameter servers.

use anyhow::Context;
use inart_host_agent::status::{AnyStatus, StatusSocket};

/// Flag of a status socket.
#[derive(clap::Args)]
pub struct StatusArgs {
    /// Address of the status socket: a path, or 127.0.0.1:PORT.
    ///
    /// `inart status --socket` and `inart doctor` read it.
    #[arg(long, value_name = "ADDRESS")]
    status: Option<String>,
}

impl StatusArgs {
    /// Listens on the socket; `None` without the flag.
    pub fn listen(&self) -> anyhow::Result<Option<StatusSocket<AnyStatus>>> {
        self.status.as_deref().map(listen).transpose()
    }
}

/// Listens at the address of a `--status`.
pub fn listen(address: &str) -> anyhow::Result<StatusSocket<AnyStatus>> {
    StatusSocket::listen(address).with_context(|| format!("--status {address}: cannot listen there"))
}
