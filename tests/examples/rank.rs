//! A program of a user's own, as `inart emulate TOPOLOGY -- rank LENGTHS…` starts it once per worker: sums
//! one tensor of each length, all at the same time, and reports the sums as the Python package does.
//!
//! Every worker's tensor holds its rank + 1 everywhere, so the sum is known.

#![allow(clippy::print_stdout, reason = "a test reads the output")]

use std::env::var;
use std::path::Path;
use std::time::Duration;

use inart_controller_api::assignment_from_json;
use inart_host_agent::report::{Report, Reporter, Role, RoundReport};
use inart_host_agent::{Handle, Options, Port, Worker};
use inart_wire::Rank;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let rank = Rank::try_from(var("RANK")?.parse::<i64>()?)?;
    let assignment = assignment_from_json(&std::fs::read(var("INART_ASSIGNMENT")?)?)?;
    let lengths = std::env::args().skip(1).map(|word| Ok(word.parse()?)).collect::<Result<Vec<usize>>>()?;
    let workers = assignment.workers.len();
    let role = Role::Worker(assignment.job, rank);
    let port = Port::open(&var("INART_INTERFACE")?)?;
    let peer_timeout = Duration::try_from_secs_f64(var("INART_PEER_TIMEOUT")?.parse()?)?;
    let worker =
        Worker::with_options(assignment, rank, port, Options { peer_timeout, ..Options::default() })?;
    let mut reporter = Reporter::connect(Path::new(&var("INART_REPORT")?))?;
    reporter.send(&Report::Hello(role))?;
    reporter.wait_for_start()?;
    let started: std::result::Result<Vec<Handle<Vec<f32>>>, _> =
        lengths.iter().map(|length| worker.start(vec![rank.index() as f32 + 1.0; *length])).collect();
    let right = (workers * (workers + 1) / 2) as f32;
    for handle in started? {
        let (sum, stats) = worker.wait(handle)?;
        let record = worker.record().ok_or("no sum was recorded")?;
        reporter.send(&Report::Round(RoundReport {
            round: stats.round,
            comm_seconds: stats.communication.as_secs_f64(),
            ended_ns: 0,
            counters: stats.counters,
            sent: record.sent,
            result: record.result,
        }))?;
        if sum.iter().any(|value| *value != right) {
            return Err(format!("round {}: not every value is {right}", stats.round).into());
        }
        println!("{} values of {right}", sum.len());
    }
    reporter.send(&Report::Done { trained: None })?;
    Ok(())
}
