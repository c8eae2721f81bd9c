//! `inart apply` on a network of peers alone: the entries by which its switches copy updates.

use std::process::ExitCode;

use inart_controller::{Controller, ValuesChoice};
use inart_targets::Session;
use inart_topologies::peers::Mesh;

use crate::commands::control::{self, ControlArgs, Purpose};
use crate::line::section::{PEERS, Section};
use crate::line::{Invocation, OnNetwork};

/// How to install a network of peers, and where.
#[derive(clap::Args)]
pub struct PeersArgs {
    /// Values per frame: 32, 64, 256, 1024, 2048 or auto; selects the switches' program.
    ///
    /// auto is the installed value, else 256; on Tofino always 256.
    #[arg(long, default_value_t = ValuesChoice::Auto)]
    values: ValuesChoice,
    #[command(flatten)]
    control: ControlArgs,
}

impl PeersArgs {
    /// Connects to the switches of a network of peers.
    ///
    /// # Errors
    /// Returns the errors of [`ControlArgs::connect`].
    pub async fn prepare(
        &self,
        mesh: Mesh,
        purpose: Purpose,
    ) -> anyhow::Result<Controller<Box<dyn Session>>> {
        self.control.connect(mesh.as_topology()?, Some(mesh), self.values, purpose).await
    }
}

/// Arguments of `inart apply` on a network of peers.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    how: PeersArgs,
}

impl OnNetwork for Args {
    type Network = Mesh;
    const SECTION: &'static Section = &PEERS;

    fn run(self, network: Mesh, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        control::block_on(async {
            let mut controller = self.how.prepare(network, Purpose::Write).await?;
            let report = controller.install(&[]).await?;
            let text = if invocation.json { control::json(&report) } else { control::table(&report) };
            crate::commands::output::print(&text)?;
            Ok(ExitCode::SUCCESS)
        })
    }
}
