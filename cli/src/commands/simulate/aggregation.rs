//! `inart simulate`.

mod args;
mod changes;
mod follow;
mod inputs;
mod soak;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};
use inart_simulator_aggregation::simulate;
use inart_topologies::Switched;
use inart_topologies::switched::Topology;

use crate::commands::output::print;
use crate::line::section::{SWITCHES, Section};
use crate::line::{Invocation, OnNetwork};
pub use args::Args;
use args::with_flag;
use inputs::Inputs;

impl OnNetwork for Args {
    type Network = Option<Switched>;
    const SECTION: &'static Section = &SWITCHES;

    fn run(self, network: Option<Switched>, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        match (self.trials, network) {
            (Some(trials), None) => soak::run(&self, trials, invocation.json),
            (Some(trials), Some(_)) => bail!(
                "--trials {trials}: its trials draw their own networks; leave {} out",
                invocation.path.display()
            ),
            (None, Some(network)) => run(&self, network.topology, invocation.json),
            (None, None) => bail!("the network is missing; name its document (YAML or JSON)"),
        }
    }
}

/// Runs the command. A run that fails, rather than being impossible, ends with status 1.
fn run(args: &Args, topology: Topology, json: bool) -> anyhow::Result<ExitCode> {
    if args.watches() {
        return follow::run(args, topology, json);
    }
    let Inputs { network, faults, options } = Inputs::new(args, topology)?;
    if let Some(changes) = &options.changes {
        return changes::run(&network, &options, changes, json);
    }
    let mut log = match &args.log {
        Some(path) => {
            let file = File::create(path).with_context(|| format!("--log {}", path.display()))?;
            Some(BufWriter::new(file))
        }
        None => None,
    };
    let start = Instant::now();
    let report = simulate(&network, &faults, &options, log.as_mut().map(|log| log as &mut dyn Write))
        .map_err(with_flag)?;
    let hops_per_second = report.packet_hops as f64 / start.elapsed().as_secs_f64().max(1e-9);
    let logged = log.as_mut().map_or(Ok(()), Write::flush);
    if json {
        let mut document = serde_json::to_value(&report)?;
        document["packet_hops_per_second"] = hops_per_second.into();
        print(&format!("{}\n", serde_json::to_string(&document)?))?;
    } else {
        print(&format!("{report}{hops_per_second:.0} packet-hops/s\n"))?;
    }
    let late =
        |event: &&inart_topologies::faults::FaultEvent| event.at.duration().as_secs_f64() > report.seconds;
    crate::commands::late::warn("faults", faults.events.iter().filter(late).count(), report.seconds);
    logged.context("--log")?;
    Ok(match &report.failure {
        None => ExitCode::SUCCESS,
        Some(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    })
}
