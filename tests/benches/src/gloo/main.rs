//! All-reduce by InArt compared with all-reduce by Gloo (PyTorch's `torch.distributed`, a ring), on the same
//! machine, the same links and tensors of the same lengths.
//!
//! ```text
//!   workers ── switch ── parameter server      every link: HTB at the same rate in each direction
//! ```
//! Or on the network of a topology file, whose links HTB shapes as well. Both run under `inart emulate`,
//! InArt with its own workers (`--gradient`), every sum compared bit for bit, Gloo as a Python program, every
//! value compared with the expected sum. A time is that of the worker that started last, from the call to its
//! return; the median of the repeats counts.

mod chart;
mod measure;
mod network;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use inart_topologies::units::{Rate, Size};
use inart_wire::ValuesPerFrame;

use measure::{Commands, Pair};
use network::Network;

/// Compares InArt's all-reduce with Gloo's.
#[derive(Parser)]
struct Arguments {
    /// Number of workers.
    #[arg(long, value_delimiter = ',', default_values_t = [2, 6])]
    workers: Vec<usize>,
    /// Sizes of tensors, such as 1KB or 25MB.
    #[arg(long, value_delimiter = ',', default_values = ["1KB", "100KB", "1MB", "5MB"])]
    bytes: Vec<Size>,
    /// Rates of the links, which are also the plan's.
    #[arg(long, value_delimiter = ',', default_values = ["100Mbps"])]
    rate: Vec<Rate>,
    /// Networks instead of workers at one switch: topology files.
    #[arg(long, value_name = "FILE", value_delimiter = ',', conflicts_with_all = ["workers", "rate"])]
    topology: Vec<PathBuf>,
    /// The factor on the rates of those networks.
    #[arg(long, default_value = "1/100", requires = "topology")]
    scale: String,
    /// Repeats of each sum.
    #[arg(long, default_value_t = 5)]
    repeats: u32,
    /// Values per frame.
    #[arg(long, default_value_t = ValuesPerFrame::N256)]
    values: ValuesPerFrame,
    /// The `inart` command to measure.
    #[arg(long, default_value = "target/release/inart")]
    inart: String,
    /// A Python that has PyTorch.
    #[arg(long, default_value = "/usr/bin/python3")]
    python: String,
    /// Draw the ratios into this SVG file.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Print a JSON list instead of a table.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    ensure!(arguments.repeats > 0, "--repeats 0: give at least 1");
    let commands = Commands::new(&arguments.inart, &arguments.python, arguments.values, arguments.repeats)?;
    let lengths: Vec<usize> = arguments.bytes.iter().map(|bytes| (bytes.0 / 4.0) as usize).collect();
    ensure!(lengths.iter().all(|length| *length > 0), "--bytes: give 4 B or more");
    let mut pairs = Vec::new();
    for network in networks(&arguments)? {
        eprintln!("{}", network.name);
        pairs.extend(commands.measure(&network, &lengths).with_context(|| network.name.clone())?);
    }
    if let Some(path) = &arguments.chart {
        std::fs::write(path, chart::svg(&pairs)).with_context(|| format!("--chart {}", path.display()))?;
    }
    if arguments.json {
        print_json(&pairs);
    } else {
        print_table(&pairs);
    }
    Ok(())
}

fn networks(arguments: &Arguments) -> Result<Vec<Network>> {
    if !arguments.topology.is_empty() {
        return arguments.topology.iter().map(|path| Network::read(path, &arguments.scale)).collect();
    }
    let few = arguments.workers.iter().find(|workers| **workers < 2);
    ensure!(few.is_none(), "--workers {}: give 2 or more", few.unwrap_or(&0));
    let of_rate = |rate: &Rate| {
        let rate_bps = rate.0;
        arguments.workers.iter().map(move |workers| Network::star(*workers, rate_bps))
    };
    Ok(arguments.rate.iter().flat_map(of_rate).collect())
}

#[expect(clippy::print_stdout, reason = "a command's result")]
fn print_json(pairs: &[Pair]) {
    let rows = pairs.iter().map(|pair| {
        serde_json::json!({
            "network": pair.network.name,
            "workers": pair.network.workers,
            "rate_bps": pair.network.link_bps,
            "bytes": 4 * pair.values,
            "seconds": pair.seconds,
            "gloo_seconds": pair.gloo_seconds,
            "ratio": pair.gloo_seconds / pair.seconds,
            "limit_seconds": pair.limit_seconds,
            "gloo_limit_seconds": pair.network.ring_limit_seconds(pair.values),
            "sums_checked": pair.sums_checked,
            "gloo_values_checked": pair.gloo_values_checked,
        })
    });
    println!("{:#}", serde_json::Value::from_iter(rows));
}

#[expect(clippy::print_stdout, reason = "a command's result")]
fn print_table(pairs: &[Pair]) {
    println!("time of an all-reduce (median), every sum checked; limit: set by the links");
    println!(
        "{:<28} {:>10} {:>11} {:>11} {:>11} {:>11} {:>9} {:>9} {:>9}",
        "network", "bytes", "InArt", "limit", "Gloo", "limit", "Gloo/", "2(n-1)/n", "InArt/"
    );
    println!("{:>95} {:>19}", "InArt", "limit");
    let ms = |seconds: f64| format!("{:.2} ms", 1e3 * seconds);
    for pair in pairs {
        println!(
            "{:<28} {:>10} {:>11} {:>11} {:>11} {:>11} {:>9.2} {:>9.2} {:>9.2}",
            pair.network.name,
            4 * pair.values,
            ms(pair.seconds),
            ms(pair.limit_seconds),
            ms(pair.gloo_seconds),
            pair.network.ring_limit_seconds(pair.values).map_or("-".into(), ms),
            pair.gloo_seconds / pair.seconds,
            pair.network.ring_share(),
            pair.seconds / pair.limit_seconds,
        );
    }
}
