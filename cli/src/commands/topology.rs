//! `inart topology`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Subcommand;
use inart_planner::topology::generate::{Equipment, fat_tree, leaf_spine, random_regular};
use inart_planner::units::{Rate, Seconds, Size};
use inart_planner::{NodeKind, Topology};

/// Arguments of `inart topology`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// A k-ary fat-tree.
    FatTree {
        /// Ports per switch; even.
        #[arg(long)]
        k: usize,
        #[command(flatten)]
        hosts: Hosts,
    },
    /// Top-of-rack switches, each linked to every spine.
    LeafSpine {
        #[arg(long)]
        leaves: usize,
        #[arg(long)]
        spines: usize,
        /// Host ports per leaf.
        #[arg(long, default_value_t = 16)]
        ports: usize,
        #[command(flatten)]
        hosts: Hosts,
    },
    /// A random connected network in which every switch has the same number of neighbours.
    Random {
        #[arg(long)]
        switches: usize,
        /// Links per switch to other switches.
        #[arg(long)]
        degree: usize,
        /// Host ports per switch.
        #[arg(long, default_value_t = 4)]
        ports: usize,
        #[command(flatten)]
        hosts: Hosts,
    },
    /// Draws a topology as an SVG; with a plan, how full its links are and which switches add up.
    Draw {
        /// The topology document (YAML or JSON).
        file: PathBuf,
        /// A plan for it (JSON).
        #[arg(long)]
        plan: Option<PathBuf>,
    },
    /// Reads a topology and says what is in it.
    Check {
        /// The topology document (YAML or JSON).
        file: PathBuf,
    },
}

#[derive(clap::Args)]
struct Hosts {
    #[arg(long, default_value_t = 4)]
    servers: usize,
    #[arg(long, default_value_t = 8)]
    workers: usize,
    /// Rate of every link.
    #[arg(long, default_value = "10Gbps")]
    rate: Rate,
    /// C(v) of every switch; 0 for switches that only forward.
    #[arg(long, default_value = "10Gbps")]
    aggregation: Rate,
    /// B(s) of every server; the links' rate if not given.
    #[arg(long)]
    ingress: Option<Rate>,
    /// Propagation delay of every link.
    #[arg(long, default_value = "0")]
    delay: Seconds,
    /// Size of the job's gradient.
    #[arg(long, default_value = "100MB")]
    gradient: Size,
    /// Seed of the hosts' places and of random wiring.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl From<Hosts> for Equipment {
    fn from(hosts: Hosts) -> Self {
        Equipment {
            servers: hosts.servers,
            workers: hosts.workers,
            rate_bps: hosts.rate.0,
            aggregation_bps: hosts.aggregation.0,
            ingress_bps: hosts.ingress.unwrap_or(hosts.rate).0,
            delay_seconds: hosts.delay.0,
            gradient_bytes: hosts.gradient.0.round() as u64,
            seed: hosts.seed,
        }
    }
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let topology = match args.command {
        Command::FatTree { k, hosts } => fat_tree(k, &hosts.into())?,
        Command::LeafSpine { leaves, spines, ports, hosts } => {
            leaf_spine(leaves, spines, ports, &hosts.into())?
        }
        Command::Random { switches, degree, ports, hosts } => {
            random_regular(switches, degree, ports, &hosts.into())?
        }
        Command::Draw { file, plan } => {
            let topology = read(&file)?;
            let plan = plan.map(|path| super::plan::read(&topology, &path)).transpose()?;
            let svg = inart_planner::draw::svg(&topology, plan.as_ref());
            super::output::print(&if json {
                format!("{}\n", serde_json::json!({ "svg": svg }))
            } else {
                svg
            })?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Check { file } => {
            let topology = read(&file)?;
            super::output::print(&summary(&topology, json))?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    super::output::print(&if json { topology.to_json() + "\n" } else { topology.to_yaml() })?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a topology document; errors name the file.
pub fn read(path: &Path) -> anyhow::Result<Topology> {
    let place = || path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(place)?;
    Topology::from_yaml(&text).with_context(place)
}

fn summary(topology: &Topology, json: bool) -> String {
    let count = |kind| topology.nodes().iter().filter(|node| node.kind == kind).count();
    let (switches, servers, workers) =
        (count(NodeKind::Switch), count(NodeKind::Server), count(NodeKind::Worker));
    let jobs: Vec<&str> = topology.jobs().iter().map(|job| job.name.as_str()).collect();
    if json {
        let document = serde_json::json!({
            "name": topology.name(), "switches": switches, "servers": servers, "workers": workers,
            "links": topology.links().len(), "jobs": jobs,
        });
        return format!("{document}\n");
    }
    format!(
        "{}: {switches} switches, {servers} servers, {workers} workers, {} links; jobs: {}\n",
        topology.name(),
        topology.links().len(),
        jobs.join(", ")
    )
}
