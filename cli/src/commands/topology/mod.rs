//! `inart topology`.

mod equipment;
mod import;
mod mesh;
mod sketch;
mod wiring;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::Subcommand;
use inart_topologies::switched::generate::{fat_tree, leaf_spine, random_regular};
use inart_topologies::switched::{NodeKind, Topology};
use inart_topologies::units::counted;
use inart_topologies::{Network, Switched};

use self::equipment::Equip;
use self::import::Import;
use self::mesh::Mesher;
use self::sketch::Sketch;
use crate::commands::network;

/// Arguments of `inart topology`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Generate a k-ary fat-tree.
    FatTree {
        /// Ports per switch (even).
        #[arg(long)]
        k: usize,
        #[command(flatten)]
        equipment: Equip,
    },
    /// Generate a leaf-spine network: each leaf switch is linked to every spine switch.
    LeafSpine {
        /// Number of leaf switches.
        #[arg(long)]
        leaves: usize,
        /// Number of spine switches.
        #[arg(long)]
        spines: usize,
        /// Host ports per leaf switch.
        #[arg(long, default_value_t = 16)]
        ports: usize,
        #[command(flatten)]
        equipment: Equip,
    },
    /// Generate a random connected network whose switches have equally many neighbors.
    Random {
        /// Number of switches.
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
    /// Generate a network of peers at one switch with random rates (docs/reference/peers.md).
    Mesh(Mesher),
    /// Import a network: GraphML, GML, DOT, NetworkX's JSON, containerlab or Mininet.
    Import(Import),
    /// Draw a network as SVG; with a plan, also link loads and aggregating switches.
    Draw {
        /// Network (YAML or JSON).
        file: PathBuf,
        /// Plan of the network (JSON).
        #[arg(long)]
        plan: Option<PathBuf>,
    },
    /// Check a network of any kind, and print what is in it.
    Check {
        /// Network (YAML or JSON).
        file: PathBuf,
    },
    /// Print the topology inside one site (docs/how-to/switches-inside-sites.md).
    Inside {
        /// Network (YAML or JSON).
        file: PathBuf,
        /// Name of the site.
        site: String,
    },
    /// Print the ports and addresses of all cables, as the switches' tables need them.
    Wiring {
        /// Network (YAML or JSON).
        file: PathBuf,
    },
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
        Command::Mesh(args) => {
            ensure!(!json, "--json: a network of peers is written as YAML");
            crate::commands::output::print(&args.build()?.to_yaml())?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Import(args) => import::run(&args)?,
        Command::Draw { file, plan } => {
            let svg = match network::read(&file)? {
                Network::Switched(Switched { topology, .. }) => {
                    let plan = plan
                        .map(|path| crate::commands::plan::aggregation::read(&topology, &path))
                        .transpose()?;
                    inart_planner_aggregation::draw::svg(&topology, plan.as_ref())
                }
                other => {
                    ensure!(
                        plan.is_none(),
                        "--plan is for networks of switches; {} has {}",
                        file.display(),
                        other.kind()
                    );
                    sketch(&other, &file)?.svg()
                }
            };
            crate::commands::output::print(&if json {
                format!("{}\n", serde_json::json!({ "svg": svg }))
            } else {
                svg
            })?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Check { file } => {
            let text = match network::read(&file)? {
                Network::Switched(switched) => {
                    if switched.trains() {
                        switched.training().with_context(|| file.display().to_string())?;
                    }
                    summary(&switched.topology, json)
                }
                other => sketch(&other, &file)?.summary(json),
            };
            crate::commands::output::print(&text)?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Inside { file, site } => inside(&file, &site)?,
        Command::Wiring { file } => {
            let text = match network::read(&file)? {
                Network::Switched(switched) => wiring::describe(&switched.topology, json)?,
                other => sketch(&other, &file)?.wiring(json)?,
            };
            crate::commands::output::print(&text)?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    crate::commands::output::print(&if json { topology.to_json() + "\n" } else { topology.to_yaml() })?;
    Ok(ExitCode::SUCCESS)
}

fn inside(file: &Path, site: &str) -> anyhow::Result<Topology> {
    let both = network::sites(file)?;
    ensure!(!both.insides.is_empty(), "{}: nothing in it is inside a site", file.display());
    let all: Vec<&str> = both.insides.iter().map(|inside| inside.site.as_str()).collect();
    let found = both.inside_of(site);
    let found = found.with_context(|| {
        format!(
            "{}: nothing is inside site {site}; sites with an inside are {}",
            file.display(),
            all.join(", ")
        )
    })?;
    Ok(found.topology.clone())
}

fn sketch(network: &Network, path: &Path) -> anyhow::Result<Sketch> {
    let sketch = Sketch::of(network).with_context(|| path.display().to_string())?;
    sketch.with_context(|| format!("{}: networks of switches are drawn as they are", path.display()))
}

/// Reads a network of switches; errors name the file.
pub fn read(path: &Path) -> anyhow::Result<Topology> {
    Ok(network::switched(path)?.topology)
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
        "{}: {}, {}, {}, {}; jobs: {}\n",
        topology.name(),
        counted(switches, "switch"),
        counted(servers, "server"),
        counted(workers, "worker"),
        counted(topology.links().len(), "link"),
        jobs.join(", ")
    )
}
