//! `inart topology`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Subcommand;
use inart_planner::topology::generate::{Equipment, fat_tree, leaf_spine, random_regular};
use inart_planner::topology::ranges::{Ranges, RateRange};
use inart_planner::units::{Rate, Seconds, Size};
use inart_planner::{NodeKind, Topology, TopologyError};

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
        equipment: Equip,
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
        equipment: Equip,
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
        equipment: Equip,
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

/// What the generated networks are equipped with.
#[derive(clap::Args)]
struct Equip {
    /// Parameter servers, placed by a seeded draw.
    #[arg(long, default_value_t = 4)]
    servers: usize,
    /// Workers, placed by a seeded draw.
    #[arg(long, default_value_t = 8)]
    workers: usize,
    /// Rate of every link.
    #[arg(long, default_value = "10Gbps", value_parser = positive)]
    rate: Rate,
    /// C(v) of every switch; 0 for switches that only forward.
    #[arg(long, default_value = "10Gbps", value_parser = not_negative)]
    aggregation: Rate,
    /// B(s) of every server; the links' rate if not given.
    #[arg(long, value_parser = positive)]
    ingress: Option<Rate>,
    /// Draw the rate of each link between switches from a range such as 10Mbps..30Mbps.
    #[arg(long, value_name = "LOW..HIGH")]
    link_range: Option<RateRange>,
    /// Draw the rate of each link to a host from a range.
    #[arg(long, value_name = "LOW..HIGH")]
    access_range: Option<RateRange>,
    /// Draw C(v) of each switch from a range.
    #[arg(long, value_name = "LOW..HIGH", conflicts_with = "aggregation")]
    aggregation_range: Option<RateRange>,
    /// Propagation delay of every link.
    #[arg(long, default_value = "0")]
    delay: Seconds,
    /// Size of the job's gradient.
    #[arg(long, default_value = "100MB")]
    gradient: Size,
    /// Seed of the hosts' places, of random wiring and of rates drawn from ranges.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn positive(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse()?;
    if rate.0 > 0.0 { Ok(rate) } else { Err("give a positive rate like \"20 Mbps\"".to_owned()) }
}

fn not_negative(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse()?;
    if rate.0 >= 0.0 { Ok(rate) } else { Err("give a rate, or 0 for switches that only forward".to_owned()) }
}

impl Equip {
    /// Makes a network with this equipment, and draws what is to be drawn.
    fn build(
        &self,
        make: impl FnOnce(&Equipment) -> Result<Topology, TopologyError>,
    ) -> Result<Topology, TopologyError> {
        let topology = make(&Equipment {
            servers: self.servers,
            workers: self.workers,
            rate_bps: self.rate.0,
            aggregation_bps: self.aggregation.0,
            ingress_bps: self.ingress.unwrap_or(self.rate).0,
            delay_seconds: self.delay.0,
            gradient_bytes: self.gradient.0.round() as u64,
            seed: self.seed,
        })?;
        let ranges = Ranges {
            fabric: self.link_range,
            access: self.access_range,
            aggregation: self.aggregation_range,
        };
        Ok(topology.with_drawn_rates(&ranges, self.seed))
    }
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let topology = match args.command {
        Command::FatTree { k, equipment } => equipment.build(|with| fat_tree(k, with))?,
        Command::LeafSpine { leaves, spines, ports, equipment } => {
            equipment.build(|with| leaf_spine(leaves, spines, ports, with))?
        }
        Command::Random { switches, degree, ports, equipment } => {
            equipment.build(|with| random_regular(switches, degree, ports, with))?
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
