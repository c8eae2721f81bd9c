//! Throughput of one core of a worker and of a parameter server over a veth pair, for each kind of port, side
//! by side in one run: `cargo run --release -p inart-benches --bin hosts`. `--features xdp` adds AF_XDP.
//!
//! A worker sums a tensor with a parameter server behind the cable: a frame out and one in per chunk. A
//! parameter server sums the gradients of some workers, which a load generator sends, a window of chunks at
//! once: one frame in per worker, and one out per chunk. Only the processor time of the host counts, system
//! calls and the kernel's part of the cable included, so other work on the machine disturbs little. Every sum
//! is compared bit for bit.

mod gate;
mod generator;
mod job;
mod network;
mod parts;
mod turn;

use anyhow::{Result, ensure};
use clap::Parser;
use inart_host_agent::PortKind;
use inart_wire::ValuesPerFrame;

use turn::{Outcome, Role};

/// Measures the throughput of one core of a worker and of a parameter server.
#[derive(Parser)]
struct Arguments {
    /// Values per frame.
    #[arg(long, default_value_t = ValuesPerFrame::N256)]
    values: ValuesPerFrame,
    /// Chunks in flight; a power of two.
    #[arg(long, default_value_t = 64)]
    window: u32,
    /// Workers whose gradients the server sums.
    #[arg(long, default_value_t = 8)]
    workers: u16,
    /// Bytes of the worker's tensor.
    #[arg(long, default_value_t = 20_000_000)]
    bytes: usize,
    /// Turns that each port takes.
    #[arg(long, default_value_t = 5)]
    turns: usize,
    /// Seconds per turn.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Measure instead how long whole all-reduces take: two workers, an embedded switch and a parameter
    /// server, all on this machine.
    #[arg(long)]
    job: bool,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    json: bool,
}

/// The median turn of a role on a port.
struct Row {
    role: Role,
    port: PortKind,
    outcome: Outcome,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    ensure!(
        arguments.window.is_power_of_two() && arguments.window <= 4096,
        "--window {}: give a power of two up to 4096",
        arguments.window
    );
    ensure!((1..=64).contains(&arguments.workers), "--workers {}: give 1 to 64", arguments.workers);
    ensure!(arguments.bytes >= 4, "--bytes {}: give at least one value of 4 bytes", arguments.bytes);
    ensure!(arguments.turns > 0, "--turns 0: give at least 1");
    ensure!(arguments.seconds.is_finite() && arguments.seconds > 0.0, "--seconds must be positive");
    // Before any thread starts: the whole process gets a network of its own.
    network::lay(job::WORKERS + 1)?;
    if arguments.job {
        return measure_jobs(&arguments);
    }

    let mut rows = Vec::new();
    for role in Role::ALL {
        let mut outcomes: Vec<_> = PortKind::ALL.iter().map(|port| (*port, Vec::new())).collect();
        for _ in 0..arguments.turns {
            for (port, outcomes) in &mut outcomes {
                outcomes.push(turn::take(role, *port, &arguments)?);
            }
        }
        let row = |(port, outcomes)| Row { role, port, outcome: median(outcomes) };
        rows.extend(outcomes.into_iter().map(row));
    }
    match arguments.json {
        true => print_json(&arguments, &rows),
        false => {
            print_table(&arguments, &rows);
            parts::print(arguments.values);
        }
    }
    Ok(())
}

/// Prints the median time of an all-reduce for each kind of port.
#[expect(clippy::print_stdout, reason = "a command's result")]
fn measure_jobs(arguments: &Arguments) -> Result<()> {
    let mut list = Vec::new();
    for port in PortKind::ALL {
        let mut seconds = job::seconds(*port, arguments)?;
        seconds.sort_by(f64::total_cmp);
        list.push((port, seconds[seconds.len() / 2], seconds[0]));
    }
    if arguments.json {
        let list = list.iter().map(|(port, seconds, least)| {
            serde_json::json!({
                "port": port.name(), "workers": job::WORKERS, "bytes": arguments.bytes, "values": arguments.values.get(),
                "window": arguments.window, "seconds": seconds, "least_seconds": least,
            })
        });
        println!("{}", serde_json::Value::from_iter(list));
        return Ok(());
    }
    println!("all-reduce of {} bytes by {} workers, a switch and a server", arguments.bytes, job::WORKERS);
    println!("{:<9}{:>12}{:>12}", "port", "median ms", "least ms");
    for (port, seconds, least) in list {
        println!("{:<9}{:>12.3}{:>12.3}", port.name(), 1e3 * seconds, 1e3 * least);
    }
    Ok(())
}

/// Returns the median turn by rate.
fn median(mut outcomes: Vec<Outcome>) -> Outcome {
    outcomes.sort_by(|a, b| a.frames_per_second().total_cmp(&b.frames_per_second()));
    outcomes[outcomes.len() / 2]
}

fn goodput_bps(arguments: &Arguments, row: &Row) -> f64 {
    row.outcome.frames_per_second() * 32.0 * arguments.values.get() as f64
}

/// Returns how many times as much as pnet's.
fn ratio_to_pnet(rows: &[Row], row: &Row) -> f64 {
    let pnet = rows.iter().find(|other| other.role == row.role && other.port == PortKind::Pnet);
    pnet.map_or(f64::NAN, |pnet| row.outcome.frames_per_second() / pnet.outcome.frames_per_second())
}

#[expect(clippy::print_stdout, reason = "a command's result")]
fn print_table(arguments: &Arguments, rows: &[Row]) {
    println!(
        "frames of gradients per second of processor time, {} values each (median of {} turns); sums compared \
         bit for bit",
        arguments.values, arguments.turns
    );
    println!(
        "{:<8}{:<9}{:>12}{:>12}{:>14}{:>10}{:>14}",
        "role", "port", "frames/s", "us/frame", "goodput", "of pnet", "checked"
    );
    for row in rows {
        println!(
            "{:<8}{:<9}{:>12.0}{:>12.2}{:>9.2} Gb/s{:>10.2}{:>14}",
            row.role.name(),
            row.port.name(),
            row.outcome.frames_per_second(),
            1e6 / row.outcome.frames_per_second(),
            goodput_bps(arguments, row) / 1e9,
            ratio_to_pnet(rows, row),
            row.outcome.frames,
        );
    }
}

#[expect(clippy::print_stdout, reason = "a command's result")]
fn print_json(arguments: &Arguments, rows: &[Row]) {
    let list = rows.iter().map(|row| {
        serde_json::json!({
            "role": row.role.name(),
            "port": row.port.name(),
            "frames_per_second": row.outcome.frames_per_second(),
            "goodput_bps": goodput_bps(arguments, row),
            "ratio_to_pnet": ratio_to_pnet(rows, row),
            "frames_checked": row.outcome.frames,
        })
    });
    println!("{}", serde_json::Value::from_iter(list));
}
