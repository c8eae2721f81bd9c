//! Faults of real processes and links during a real training: it continues, bit for bit, or every worker
//! reports the culprit. Never a wrong sum, never a hang. Skipped without root.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use inart_tests::{document, emulate, turn};
use serde_json::Value;

/// Five rounds of a bit more than half a second each, whatever the machine: the links are slow enough for
/// all.
const BASE: [&str; 6] = ["--rounds", "5", "--schemes", "optimized", "--scale", "1/1000"];

fn emulate_with(faults: &str, arguments: &[&str]) -> Output {
    let (mut command, folder) = emulate(&[&BASE[..], arguments].concat());
    let file = write(folder.path(), faults);
    command.args(["--faults", &file]).output().expect("runs")
}

fn write(folder: &Path, faults: &str) -> String {
    let file = folder.join("faults.yaml");
    std::fs::write(&file, faults).expect("written");
    file.display().to_string()
}

/// Returns the figures of a training that went on.
fn survives(faults: &str) -> Value {
    let summary = document(&emulate_with(faults, &[]));
    assert_eq!(summary["bit_exact"], true);
    let figures = summary["schemes"]["optimized"].clone();
    assert_eq!(figures["rounds"], 5, "{figures}");
    assert_eq!(figures["jobs"][0]["digest"], *undisturbed(), "the same bits as without faults");
    figures
}

/// Returns the weights at the end of the same training without faults.
fn undisturbed() -> &'static Value {
    static DIGEST: OnceLock<Value> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let (mut command, _folder) = emulate(&BASE);
        let summary = document(&command.output().expect("runs"));
        summary["schemes"]["optimized"]["jobs"][0]["digest"].clone()
    })
}

/// Returns the steps taken, as text.
fn done(figures: &Value) -> Vec<&str> {
    let faults = figures["faults"].as_array().expect("a list").iter();
    faults.map(|fault| fault["what"].as_str().expect("words")).collect()
}

fn count(figures: &Value, what: &str) -> u64 {
    figures["links"][what].as_u64().expect("a count")
}

#[test]
fn switches_and_the_controller_are_killed_and_training_continues() {
    let Some(_turn) = turn() else { return };
    let figures = survives(
        "events:
          - {at: 300 ms, restart: v1, duration: 300 ms}
          - {at: 1 s, restart: controller, duration: 300 ms}
          - {at: 2 s, restart: v2, duration: 200 ms}
          - {at: 2 s, restart: controller, duration: 300 ms}",
    );
    let done = done(&figures);
    assert_eq!(done.len(), 8, "{done:?}");
    assert_eq!(done[..2], ["switch v1 killed", "switch v1 started again"]);
    // Without their tables the switches would neither sum nor forward.
    assert!(figures["packets_aggregated"].as_u64().is_some_and(|frames| frames > 0), "{figures}");
}

#[test]
fn links_go_down_and_up_and_training_continues() {
    let Some(_turn) = turn() else { return };
    let figures = survives(
        "events:
          - {at: 300 ms, link_down: [v1, v2], duration: 300 ms}
          - {at: 1500 ms, partition: [w1, s2], duration: 200 ms}",
    );
    assert!(count(&figures, "cut") > 0, "{figures}");
    assert_eq!(done(&figures).len(), 6, "{figures}");
}

#[test]
fn interfaces_of_hosts_go_down_and_up_and_training_continues() {
    let Some(_turn) = turn() else { return };
    let figures = survives(
        "events:
          - {at: 400 ms, interface_down: w2, duration: 300 ms}
          - {at: 1200 ms, interface_down: s1, duration: 300 ms}
          - {at: 1300 ms, interface_down: w6, duration: 5 ms}",
    );
    let done = done(&figures);
    assert_eq!(done[..2], ["interface of host w2 down", "interface of host w2 up"], "{done:?}");
    assert_eq!(done.len(), 6, "{done:?}");
}

#[test]
fn frames_dropped_duplicated_reordered_and_delayed_change_no_bit() {
    let Some(_turn) = turn() else { return };
    let figures = survives(
        "links: [{drop: 0.5%, duplicate: 2%, corrupt: 0.2%, reorder: 2%, reorder_by: 20 ms, delay: 1%, delay_by: 10 ms}]",
    );
    for what in ["dropped", "duplicated", "reordered", "delayed"] {
        assert!(count(&figures, what) > 0, "{what}: {figures}");
    }
}

#[test]
fn a_queue_that_is_full_loses_frames_and_changes_no_bit() {
    let Some(_turn) = turn() else { return };
    // The link between the switches carries 6 Gbps, and the plan sends 5.5 of them over it.
    let figures =
        survives("{queue: 12 frames, background: [{from: w1, to: s1, rate: 1.5 Gbps, frame_bytes: 1400}]}");
    let again = figures["retransmissions"].as_u64().expect("a count");
    assert!(again > 0, "frames were lost to the queue: {figures}");
}

/// Checks the error of every worker except the culprit, and its time by the worker's own report; the culprit
/// is killed during training.
fn is_aborted(faults: &str, culprit: &str, workers: usize) {
    // Default of hosts; emulations wait longer, since their hosts share one machine.
    let output = emulate_with(faults, &["--peer-timeout", "2500ms"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let ended = document["given_up"]["ended"].as_array().unwrap_or_else(|| panic!("{document}"));
    let of_workers: Vec<_> = ended.iter().filter(|end| end["worker"] == true).collect();
    assert_eq!(of_workers.len(), workers, "{document}");
    for end in of_workers {
        assert!(end["error"].as_str().is_some_and(|error| error.contains(culprit)), "{end}");
        eprintln!("{} after {} s: {}", end["host"], end["seconds"], end["error"]);
        // Three seconds are promised; a machine that is busy to the brim gets twice that before a test fails.
        assert!(end["seconds"].as_f64().is_some_and(|seconds| seconds < 6.0), "{end}");
    }
}

#[test]
fn every_worker_hears_of_a_worker_that_was_killed() {
    let Some(_turn) = turn() else { return };
    is_aborted("events: [{at: 500 ms, crash: w4}]", "w4", 5);
}

#[test]
fn every_worker_reports_a_killed_server_even_if_it_restarts() {
    let Some(_turn) = turn() else { return };
    is_aborted("events: [{at: 500 ms, crash: s1, duration: 300 ms}]", "s1", 6);
}

#[test]
fn a_host_that_is_stopped_for_a_moment_is_waited_for() {
    let Some(_turn) = turn() else { return };
    let figures = survives(
        "events: [{at: 500 ms, pause: w2, duration: 500 ms}, {at: 1500 ms, pause: s2, duration: 500 ms}]",
    );
    assert_eq!(done(&figures), ["host w2 stopped", "host w2 resumed", "host s2 stopped", "host s2 resumed"]);
}

#[test]
fn faults_that_make_no_sense_get_one_line_and_status_2() {
    let folder = tempfile::TempDir::new().expect("a folder");
    for (faults, named) in [
        ("{events: [{at: 1 s, explode: v1}]}", "explode"),
        ("{events: [{at: 1 s, restart: v9, duration: 1 s}]}", "events[0]: topology fig1 has no node v9"),
        ("{events: [{at: 1 s, restart: v1}]}", "events[0]: for is missing"),
    ] {
        let mut command = Command::new(inart_tests::inart());
        command.arg("emulate").arg(inart_tests::workspace().join("topologies/fig1.yaml"));
        command.args(["--chart", &folder.path().join("chart.svg").display().to_string()]);
        let output = command.args(["--faults", &write(folder.path(), faults)]).output().expect("runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with("error: ") && said.lines().count() == 1 && said.contains(named), "{said}");
    }
}
