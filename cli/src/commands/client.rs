//! Connections of client commands to a running controller.

use inart_controller::api::Client;

use crate::commands::security::ClientArgs;

/// Address of a running controller, and how to connect to it.
#[derive(clap::Args)]
pub struct ControllerArgs {
    /// Address of the controller: HOST:PORT or unix:/path.
    #[arg(value_name = "CONTROLLER", default_value = "127.0.0.1:9558")]
    controller: String,
    #[command(flatten)]
    client: ClientArgs,
}

impl ControllerArgs {
    /// Connects to the controller.
    ///
    /// # Errors
    /// A wrong TLS file, no controller at the address, or one that does not accept this client.
    pub async fn connect(&self) -> anyhow::Result<Client> {
        Ok(Client::connect(&self.controller, &self.client.security()?).await?)
    }
}
