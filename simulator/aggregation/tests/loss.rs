//! Cost of loss: a table in virtual time, equal on every machine, so that a slowdown shows as a diff.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::fmt::Write;

use inart_planner_aggregation::schemes;
use inart_simulator_aggregation::{Options, simulate};
use inart_topologies::faults::Faults;
use support::{network, racks};

/// Goodput in Mbit/s of one job between two racks, links of 100 Mbit/s and 10 us.
fn goodput(workers: usize, window: u32, loss: &str) -> f64 {
    let network = network(&racks(workers), schemes::OPTIMIZED, window);
    let faults = Faults::from_yaml(&format!("links: [{{drop: {loss}}}]")).unwrap();
    let options = Options { rounds: 4, gradient_values: 100_000, ..Options::default() };
    let report = simulate(&network, &faults, &options, None).unwrap();
    assert_eq!(report.failure, None, "{workers} workers, window {window}, loss {loss}");
    report.jobs[0].goodput_bps / 1e6
}

/// A row of the table; goodput at one percent loss is above 85 percent of the lossless.
fn row(workers: usize, window: u32) -> String {
    let row = ["0%", "0.1%", "1%", "5%"].map(|loss| goodput(workers, window, loss));
    assert!(row[2] > 0.85 * row[0], "{workers} workers, window {window}: {row:?}");
    let row = row.map(|mbps| format!("{mbps:7.2}")).join(" ");
    format!("{workers:7} {window:6} {row}")
}

/// Three rows of the table that the test below makes whole.
#[test]
fn goodput_is_that_of_the_table() {
    let table = include_str!("snapshots/simulator_aggregation__loss__loss.snap");
    for (workers, window) in [(2, 16), (4, 64), (8, 256)] {
        let row = row(workers, window);
        assert!(table.lines().any(|line| line == row), "not in the table: {row}");
    }
}

#[test]
#[ignore = "soak: about 17 s"]
fn goodput_at_one_percent_loss_is_above_85_percent_of_the_lossless() {
    let mut table =
        String::from("goodput per worker in Mbit/s\nworkers window      0%    0.1%      1%      5%\n");
    for workers in [2, 4, 8] {
        for window in [16, 64, 256] {
            writeln!(table, "{}", row(workers, window)).unwrap();
        }
    }
    insta::assert_snapshot!("loss", table);
}
