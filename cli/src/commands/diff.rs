//! `inart diff`: the changes of a push, by the kind of the network.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use inart_controller::{Controller, JobPlan};
use inart_targets::Session;
use inart_topologies::peers::Mesh;
use inart_topologies::{Network, Switched};

use crate::commands::apply::aggregation::{File, PlanArgs};
use crate::commands::apply::peers::PeersArgs;
use crate::commands::control::{self, Purpose};
use crate::line::section::{self, PEERS, SWITCHES, Section};
use crate::line::{ByNetwork, Entry, Given, Invocation, OnNetwork, Words};

/// The command.
pub struct Diff;

impl ByNetwork for Diff {
    const NAME: &'static str = "diff";
    const WORDS: Words = Words::PlanAndNetwork;

    fn entries() -> Vec<Entry> {
        vec![Entry::of::<PlansDiff>(), Entry::of::<PeersDiff>()]
    }

    fn section(network: &Network, _: &Given<'_>) -> anyhow::Result<&'static Section> {
        Ok(section::of(network))
    }
}

/// Arguments of `inart diff` on a network of switches.
#[derive(clap::Args)]
struct PlansDiff {
    /// The plan or network of peers, as for `inart apply`.
    #[arg(value_name = "PLAN")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    how: PlanArgs,
}

impl OnNetwork for PlansDiff {
    type Network = Switched;
    const SECTION: &'static Section = &SWITCHES;

    fn run(self, network: Switched, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        let plan = self.plan.as_deref();
        let plan = plan
            .context("PLAN is missing; name the plan (JSON) before the network: inart diff PLAN NETWORK")?;
        control::block_on(async {
            let file = File::read(plan)?;
            let (controller, jobs) = self.how.prepare(file, network.topology, Purpose::Read).await?;
            show(controller, &jobs, invocation.json).await
        })
    }
}

/// Arguments of `inart diff` on a network of peers.
#[derive(clap::Args)]
struct PeersDiff {
    #[command(flatten)]
    how: PeersArgs,
}

impl OnNetwork for PeersDiff {
    type Network = Mesh;
    const SECTION: &'static Section = &PEERS;

    fn run(self, network: Mesh, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        control::block_on(async {
            let controller = self.how.prepare(network, Purpose::Read).await?;
            show(controller, &[], invocation.json).await
        })
    }
}

async fn show(
    mut controller: Controller<Box<dyn Session>>,
    jobs: &[JobPlan],
    json: bool,
) -> anyhow::Result<ExitCode> {
    let report = controller.preview(jobs).await?;
    let text = match json {
        true => control::lines_json(&controller, jobs, &report),
        false => control::lines(&controller, jobs, &report),
    };
    crate::commands::output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
