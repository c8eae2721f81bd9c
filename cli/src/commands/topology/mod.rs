//! `inart topology`.

mod equipment;
mod import;
mod sketch;
mod wiring;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::Subcommand;
use inart_cluster::Cluster;
use inart_overlay::Overlay;
use inart_peers::Mesh;
use inart_planner::topology::generate::{fat_tree, leaf_spine, random_regular};
use inart_planner::{NodeKind, Topology};

use self::equipment::Equip;
use self::import::Import;
use self::sketch::Sketch;
use super::peers::draw::Mesher;

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
    /// Peers of decentralised training at one switch, with rates drawn at random (docs/multicast.md).
    Mesh(Mesher),
    /// Read a network from GraphML or GML (Topology Zoo), DOT, NetworkX's JSON, containerlab or Mininet.
    Import(Import),
    /// Draw a network of any kind as an SVG; with a plan, how full its links are and which switches sum.
    Draw {
        /// The topology document (YAML or JSON).
        file: PathBuf,
        /// A plan for it (JSON).
        #[arg(long)]
        plan: Option<PathBuf>,
    },
    /// Check a network of any kind, and print what is in it.
    Check {
        /// The topology document (YAML or JSON).
        file: PathBuf,
    },
    /// Prints what is inside a data centre of a network of both levels, as a topology of its own: to plan and
    /// push (docs/wide-area.md).
    Inside {
        /// The network document (YAML or JSON).
        file: PathBuf,
        /// The site.
        site: String,
    },
    /// Print which cable goes where: the port numbers and addresses that the switches' tables count on.
    Wiring {
        /// The topology document (YAML or JSON).
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
            let svg = match sketch(&file)? {
                Some(sketch) => {
                    ensure!(
                        plan.is_none(),
                        "--plan: it is drawn on networks of switches and servers; leave it out"
                    );
                    sketch.svg()
                }
                None => {
                    let topology = read(&file)?;
                    let plan = plan.map(|path| crate::commands::plan::read(&topology, &path)).transpose()?;
                    inart_planner::draw::svg(&topology, plan.as_ref())
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
            let text = match sketch(&file)? {
                Some(sketch) => sketch.summary(json),
                None => summary(&read_with_times(&file)?, json),
            };
            crate::commands::output::print(&text)?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Inside { file, site } => inside(&file, &site)?,
        Command::Wiring { file } => {
            let text = match sketch(&file)? {
                Some(sketch) => sketch.wiring(json)?,
                None => wiring::describe(&read(&file)?, json)?,
            };
            crate::commands::output::print(&text)?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    crate::commands::output::print(&if json { topology.to_json() + "\n" } else { topology.to_yaml() })?;
    Ok(ExitCode::SUCCESS)
}

fn inside(file: &Path, site: &str) -> anyhow::Result<Topology> {
    let both = crate::commands::sites::both_levels::read(file)?;
    let both = both.with_context(|| format!("{}: nothing in it is inside a site", file.display()))?;
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

/// A network of sites, of peers or of both levels; `None` for one of switches and servers.
fn sketch(path: &Path) -> anyhow::Result<Option<Sketch>> {
    let text = crate::commands::document::read(path).with_context(|| path.display().to_string())?;
    Sketch::of(&text, path)
}

/// Reads a topology document; errors name the file.
pub fn read(path: &Path) -> anyhow::Result<Topology> {
    let place = || path.display().to_string();
    let text = crate::commands::document::read(path).with_context(place)?;
    ensure!(
        !Overlay::is_one(&text),
        "{}: this is a network of sites; `inart plan` and `inart simulate` take it (docs/wide-area.md)",
        place()
    );
    ensure!(
        !Mesh::is_one(&text),
        "{}: this is a network of peers; `inart plan` and `inart simulate` take it (docs/multicast.md)",
        place()
    );
    Topology::from_yaml(&text).with_context(place)
}

/// Reads a topology document with all that its jobs say, also how long participants compute.
fn read_with_times(path: &Path) -> anyhow::Result<Topology> {
    let topology = read(path)?;
    let place = || path.display().to_string();
    let text = crate::commands::document::read(path).with_context(place)?;
    if Cluster::is_one(&text) {
        Cluster::from_yaml(&text).with_context(place)?;
    }
    Ok(topology)
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
