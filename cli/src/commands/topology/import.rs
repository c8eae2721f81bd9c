//! `inart topology import`.

use std::path::PathBuf;

use anyhow::Context;
use inart_topologies::NetworkError;
use inart_topologies::switched::import::{Format, Hosts, ImportOptions, decode, import};
use inart_topologies::switched::{DEFAULT_MTU, Topology};
use inart_topologies::units::{Rate, Seconds, Size};

use crate::commands::topology::equipment::{not_negative, positive};
use crate::commands::values::time;

/// Arguments of `inart topology import`.
#[derive(clap::Args)]
pub struct Import {
    /// File to read.
    file: PathBuf,
    /// Format: graphml, gml, dot, networkx, containerlab or mininet [default: guessed].
    #[arg(long)]
    format: Option<Format>,
    /// Parameter servers: a number, drawn by seed, or names separated by commas.
    ///
    /// A named switch becomes a host [default: the hosts that the file marks, else one].
    #[arg(long, value_name = "N|NAMES")]
    servers: Option<Hosts>,
    /// Workers: a number or names separated by commas [default: every other host].
    #[arg(long, value_name = "N|NAMES")]
    workers: Option<Hosts>,
    /// Hosts to attach to every switch [default: 1 if the file has no hosts, else 0].
    #[arg(long, value_name = "N")]
    hosts_per_switch: Option<usize>,
    /// Rate of links without one in the file, and of attached hosts' links.
    #[arg(long, default_value = "10Gbps", value_parser = positive)]
    rate: Rate,
    /// Unit of rates that have none in the file, such as 1Mbps.
    #[arg(long, default_value = "1bps", value_parser = positive)]
    unit: Rate,
    /// Aggregation capacity, C(v), of switches without one; 0 for switches that only forward.
    #[arg(long, default_value = "10Gbps", value_parser = not_negative)]
    aggregation: Rate,
    /// Ingress capacity, B(s), of servers without one [default: the rate of their links].
    #[arg(long, value_parser = positive)]
    ingress: Option<Rate>,
    /// Propagation delay of links without one in the file.
    #[arg(long, default_value = "0", value_parser = time)]
    delay: Seconds,
    /// MTU of links without one in the file, in bytes.
    #[arg(long, default_value_t = DEFAULT_MTU, value_parser = crate::commands::topology::equipment::mtu())]
    mtu: u16,
    /// Size of the job's gradient.
    #[arg(long, default_value = "100MB")]
    gradient: Size,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Reads the file. Merged, assumed and omitted parts are listed on standard error.
pub fn run(args: &Import) -> anyhow::Result<Topology> {
    let place = || args.file.display().to_string();
    let bytes = crate::commands::document::bytes_of(&args.file).with_context(place)?;
    let text = decode(&bytes).with_context(place)?;
    let format = args
        .format
        .or_else(|| Format::guess(&place(), &text))
        .with_context(|| format!("{}: its format is not clear; give --format", place()))?;
    let stem = args.file.file_stem().unwrap_or_default();
    let options = ImportOptions {
        name: stem.to_string_lossy().into_owned(),
        servers: args.servers.clone(),
        workers: args.workers.clone(),
        hosts_per_switch: args.hosts_per_switch,
        rate_bps: args.rate.0,
        unit_bps: args.unit.0,
        aggregation_bps: args.aggregation.0,
        ingress_bps: args.ingress.map(|rate| rate.0),
        delay_seconds: args.delay.0,
        mtu: args.mtu,
        gradient_bytes: args.gradient.0.round() as u64,
        seed: args.seed,
    };
    let imported = import(&text, format, &options).map_err(with_flag).with_context(place)?;
    for note in &imported.notes {
        eprintln!("note: {note}");
    }
    Ok(imported.topology)
}

/// Names the flags of settings that the import refuses.
fn with_flag(error: NetworkError) -> NetworkError {
    let place = match error.place.as_str() {
        "servers" => "--servers",
        "workers" => "--workers",
        "servers and workers" => "--servers and --workers",
        "hosts per switch" => "--hosts-per-switch",
        _ => return error,
    };
    NetworkError { place: place.to_owned(), ..error }
}
