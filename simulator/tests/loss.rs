//! What loss costs.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

mod support;

use std::fmt::Write;

use inart_planner::Scheme;
use inart_simulator::{Faults, Options, simulate};
use support::{network, racks};

/// Goodput in Mbit/s of one job between two racks, links of 100 Mbit/s and 10 us.
fn goodput(workers: usize, window: u32, loss: &str) -> f64 {
    let network = network(&racks(workers), Scheme::Inart, window);
    let faults = Faults::from_yaml(&format!("links: [{{drop: {loss}}}]")).unwrap();
    let limit = "10000 s".parse().unwrap();
    let options = Options { rounds: 4, gradient_values: 100_000, limit, ..Options::default() };
    let report = simulate(&network, &faults, &options, None).unwrap();
    assert_eq!(report.failure, None, "{workers} workers, window {window}, loss {loss}");
    report.jobs[0].goodput_bps / 1e6
}

#[test]
#[ignore = "a table for people; becomes a snapshot once loss recovery is done"]
fn table() {
    let mut table =
        String::from("goodput per worker in Mbit/s\nworkers window      0%    0.1%      1%      5%\n");
    for workers in [2, 4, 8] {
        for window in [16, 64, 256] {
            let row =
                ["0%", "0.1%", "1%", "5%"].map(|loss| format!("{:7.2}", goodput(workers, window, loss)));
            writeln!(table, "{workers:7} {window:6} {}", row.join(" ")).unwrap();
        }
    }
    println!("{table}");
}
