//! Hosts of an elastic job are killed and restarted while real processes train: the others continue, the
//! restarted ones load the newest weights, and all end with the same weights. Skipped without root.

use inart_tests::{document, inart, turn, workspace};
use std::process::Command;
use tempfile::TempDir;

/// Rounds of a quarter of a second each. A state (weights and velocities, a byte of them per value) takes as
/// long as eight of them.
const BASE: [&str; 10] = [
    "--rounds",
    "40",
    "--schemes",
    "optimized",
    "--scale",
    "1/500",
    "--batch",
    "4",
    "--peer-timeout",
    "2500ms",
];

#[test]
fn a_worker_and_a_server_are_killed_and_rejoin() {
    let Some(_turn) = turn() else { return };
    let folder = TempDir::new().expect("a folder");
    let fig1 =
        std::fs::read_to_string(workspace().join("topologies/fig1.yaml")).expect("the topology exists");
    let topology = folder.path().join("elastic.yaml");
    let elastic = fig1.replace("gradient: ", "elastic: true, gradient: ");
    assert_ne!(elastic, fig1);
    std::fs::write(&topology, elastic).expect("written");
    let faults = folder.path().join("faults.yaml");
    let events = "events: [{at: 4 s, crash: w2, duration: 6 s}, {at: 15 s, crash: s2, duration: 4 s}]";
    std::fs::write(&faults, events).expect("written");

    let mut command = Command::new(inart());
    command.arg("emulate").arg(&topology).args(BASE).arg("--faults").arg(&faults);
    command.args(["--json", "--chart"]).arg(folder.path().join("chart.svg"));
    // Hosts listen on one status socket through all runs.
    command.arg("--debug-dir").arg(folder.path());
    let summary = document(&command.output().expect("runs"));

    assert_eq!(summary["bit_exact"], true);
    let figures = &summary["schemes"]["optimized"];
    let done: Vec<_> =
        figures["faults"].as_array().expect("a list").iter().map(|fault| fault["what"].as_str()).collect();
    assert_eq!(
        done,
        ["host w2 killed", "host w2 started again", "host s2 killed", "host s2 started again"].map(Some)
    );
    let job = &figures["jobs"][0];
    // All at first; without w2; with it; without s2; with it.
    assert_eq!(job["runs"], 5, "{job}");
    assert!(job["accuracy"].as_f64().is_some_and(|accuracy| accuracy > 0.5), "{job}");
    // All workers have the same weights, or the emulation would name the one that differs.
    assert!(job["digest"].is_string(), "{job}");
    assert!(figures["packets_aggregated"].as_u64().is_some_and(|frames| frames > 0), "{figures}");
}
