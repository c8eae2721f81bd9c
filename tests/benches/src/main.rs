//! Gradients per second through the embedded switch and through `simple_switch_grpc`, side by side: the same
//! veth pairs, bmv2 JSON, entries and frames; every output sum is compared bit for bit.
//!
//! ```text
//!                 ┌────────┐
//!  8 workers ── 1 │ switch │ 2 ── server
//!                 └────────┘
//! ```
//! The workers send chunk by chunk, at most `--window` chunks ahead of the partials, so that no queue
//! overflows; a chunk that does not return is retransmitted, as real workers would. The two switches take
//! turns, `--turns` times each.

mod load;
mod network;
mod reference;

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use inart_wire::ValuesPerFrame;

use load::{Load, Outcome};
use reference::ReferenceSwitch;

/// Compares the embedded switch with bmv2's simple_switch_grpc.
#[derive(Parser)]
struct Arguments {
    /// Values per frame; may be repeated.
    #[arg(long, default_values_t = [32, 64, 256])]
    values: Vec<u16>,
    /// Chunks in flight; a power of two. With 8 workers, 8 chunks are the 64 frames that bmv2's queues hold.
    #[arg(long, default_value_t = 8)]
    window: u32,
    /// Turns each switch takes.
    #[arg(long, default_value_t = 3)]
    turns: usize,
    /// Seconds per turn.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// The `inart` command to measure.
    #[arg(long, default_value = "target/release/inart")]
    inart: String,
    /// Print one JSON document instead of a table.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    ensure!(
        arguments.window.is_power_of_two() && arguments.window <= 512,
        "--window {}: give a power of two up to 512",
        arguments.window
    );
    ensure!(arguments.seconds.is_finite() && arguments.seconds > 0.0, "--seconds must be positive");
    ensure!(arguments.turns > 0, "--turns must be at least 1");
    // Before any thread starts: the whole process and its children get a network of their own.
    network::enter_new().context("cannot make a network namespace; run as root")?;
    network::build()?;

    let bmv2 = reference::on_path("simple_switch_grpc");
    if !bmv2 {
        eprintln!("simple_switch_grpc is not on the PATH: only the embedded switch is measured");
    }
    let mut rows = Vec::new();
    for &values in &arguments.values {
        let values = ValuesPerFrame::try_from(i64::from(values)).context("--values")?;
        let mut contestants = vec![("embedded", arguments.inart.as_str(), Vec::new())];
        if bmv2 {
            contestants.push(("bmv2", "simple_switch_grpc", Vec::new()));
        }
        for _ in 0..arguments.turns {
            for (name, program, outcomes) in &mut contestants {
                let reference = ReferenceSwitch::start(name, program, values, arguments.window)?;
                let load = Load::new(values, arguments.window)?;
                let outcome = load.run(Duration::from_secs_f64(arguments.seconds));
                drop(reference);
                outcomes.push(outcome.with_context(|| format!("{name}, {values} values per frame"))?);
            }
        }
        let [embedded, bmv2] =
            [0, 1].map(|index| contestants.get(index).map(|contestant| summary(&contestant.2)));
        rows.push((values, embedded.expect("always measured"), bmv2));
    }
    if arguments.json {
        print_json(&rows)
    } else {
        print_table(&rows)
    }
    Ok(())
}

/// Returns the median turn by rate, and all turns' repeats.
fn summary(outcomes: &[Outcome]) -> Outcome {
    let mut sorted = outcomes.to_vec();
    sorted.sort_by(|a, b| a.frames_per_second().total_cmp(&b.frames_per_second()));
    let median = sorted[sorted.len() / 2];
    Outcome { repeats: outcomes.iter().map(|outcome| outcome.repeats).sum(), ..median }
}

type Row = (ValuesPerFrame, Outcome, Option<Outcome>);

#[expect(clippy::print_stdout, reason = "a command's result")]
fn print_table(rows: &[Row]) {
    println!("gradient frames summed per second (median turn), every sum compared bit for bit");
    println!("{:>7} {:>12} {:>12} {:>7}   repeats embedded / bmv2", "values", "embedded", "bmv2", "ratio");
    for (values, embedded, bmv2) in rows {
        let rate = |outcome: &Outcome| format!("{:.0}", outcome.frames_per_second());
        let ratio =
            bmv2.map(|bmv2| format!("{:.1}", embedded.frames_per_second() / bmv2.frames_per_second()));
        println!(
            "{values:>7} {:>12} {:>12} {:>7}   {} / {}",
            rate(embedded),
            bmv2.as_ref().map_or("-".into(), rate),
            ratio.unwrap_or("-".into()),
            embedded.repeats,
            bmv2.map_or("-".into(), |bmv2| bmv2.repeats.to_string()),
        );
    }
}

#[expect(clippy::print_stdout, reason = "a command's result")]
fn print_json(rows: &[Row]) {
    let rows = rows.iter().map(|(values, embedded, bmv2)| {
        let side = |outcome: &Outcome| {
            serde_json::json!({
                "frames_per_second": outcome.frames_per_second(),
                "sums_checked": outcome.sums,
                "repeats": outcome.repeats,
            })
        };
        serde_json::json!({
            "values": values.get(),
            "inart": side(embedded),
            "bmv2": bmv2.as_ref().map(side),
            "ratio": bmv2.map(|bmv2| embedded.frames_per_second() / bmv2.frames_per_second()),
        })
    });
    println!("{}", serde_json::json!({ "rows": rows.collect::<Vec<_>>() }));
}
