//! Switches and workers inside data centers, trees between them: real processes of `inart site` and `inart
//! worker`. Skipped with a message without root.
#![allow(clippy::unwrap_used)]

#[path = "../../../host-agent/sites/host/tests/support/certificates.rs"]
mod certificates;
mod plain_switches;
#[path = "../../../host-agent/sites/host/tests/support/three.rs"]
mod three;

use std::process::Command;

use inart_protocol_aggregation::audit::sum_of;
use inart_report::{digest, random_gradient};
use inart_sites_agent::audit::sum_of_sites;
use inart_tests::{document, inart, turn, workspace};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plain_switches::DataCenters;
use serde_json::Value;
use three::VALUES;

#[test]
fn workers_on_plain_switches_have_the_sum_of_all_data_centers() {
    let Some(_turn) = turn() else { return };
    let rounds = 3;
    let mut world = DataCenters::lay();
    world.start(rounds);
    let reports = world.reports(rounds);
    let sites = world.site_rounds(rounds);
    for round in 0..rounds as usize {
        let sent: Vec<&[f32]> = reports.iter().map(|worker| &worker[round].sent[..]).collect();
        let own = [sum_of(&sent[..3], 3, false), sum_of(&sent[3..], 2, false)];
        let bare = random_gradient(1, 5, round as u32 + 1, VALUES);
        let sum = sum_of_sites(&[&own[0], &own[1], &bare], &[VALUES]);
        for (worker, reports) in reports.iter().enumerate() {
            let read = &reports[round].result;
            assert_eq!(read.len(), VALUES, "worker {worker}, round {round}");
            for (at, (value, right)) in read.iter().zip(&sum).enumerate() {
                assert_eq!(value.to_bits(), right.to_bits(), "worker {worker}, round {round}, value {at}");
            }
        }
        for (site, rounds) in &sites {
            assert_eq!(rounds[round]["sum"], digest(&sum), "site {site}, round {round}");
        }
    }
    for (name, status, said) in world.ends() {
        assert!(status.success(), "{name}: {said}");
    }
}

#[test]
fn a_worker_that_is_killed_is_named_with_its_site_by_every_process() {
    let Some(_turn) = turn() else { return };
    let mut world = DataCenters::lay();
    world.start(1_000_000);
    world.wait_for_round("n3", 3);
    kill(Pid::from_raw(world.process("d") as i32), Signal::SIGKILL).expect("it runs");
    for (name, status, said) in world.ends() {
        if name == "d" {
            continue;
        }
        assert!(!status.success(), "{name} ends with an error");
        // Its neighbors receive the worker's name, all others its site's, too.
        let words = match name {
            "e" => "worker 0 (d) is silent",
            "n2" => "inside site n2: the job was aborted: worker 0 (d) is silent",
            _ => "site n2: worker d is silent",
        };
        assert!(said.contains(words), "{name}: {said}");
        assert_eq!(said.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{name}: {said}");
    }
}

#[test]
fn a_stopped_site_ends_the_job_for_every_process() {
    let Some(_turn) = turn() else { return };
    let mut world = DataCenters::lay();
    world.start(1_000_000);
    world.wait_for_round("n3", 2);
    kill(Pid::from_raw(world.process("n1") as i32), Signal::SIGTERM).expect("it runs");
    for (name, status, said) in world.ends() {
        assert!(!status.success() && said.contains("site n1 was stopped"), "{name}: {said}");
    }
}

/// Tests that a restarted site cannot rejoin with its workers.
#[test]
fn a_site_with_workers_that_is_killed_and_starts_again_is_named_by_every_process() {
    let Some(_turn) = turn() else { return };
    let mut world = DataCenters::lay();
    world.start(1_000_000);
    world.wait_for_round("n3", 3);
    world.restart_site("n1", 1_000_000);
    for (name, status, said) in world.ends() {
        assert!(!status.success(), "{name} ends with an error");
        assert_eq!(said.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{name}: {said}");
        // Its workers time out; the others learn from the new process why it cannot take part.
        let words = match name {
            "a" | "b" | "c" => "no frame from parameter server n1",
            "n1" => "n1.json: server-0 has run with it before",
            _ => "site n1: --assignment ",
        };
        assert!(said.contains(words), "{name}: {said}");
    }
}

fn emulated(arguments: &[&str]) -> Value {
    let mut command = Command::new(inart());
    command.arg("emulate").arg(workspace().join("topologies/two-levels.yaml")).arg("--json").args(arguments);
    document(&command.output().expect("runs"))
}

#[test]
fn both_levels_are_emulated_and_it_says_where_the_time_goes() {
    let Some(_turn) = turn() else { return };
    let report = emulated(&["--rounds", "3", "--duration", "30s", "--batch", "4", "--knowledge", "static"]);
    let scheme = &report["schemes"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    let rounds = scheme["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 3);
    for round in rounds {
        let parts = ["inside_s", "between_s", "back_s"].map(|part| number(&round[part]));
        assert!((parts.iter().sum::<f64>() - number(&round["seconds"])).abs() < 1e-6, "{round}");
        assert!(parts[0] > 0.0 && parts[1] > 0.0, "{round}");
    }
    // At six workers and three sites.
    assert_eq!(scheme["sums_checked"], 3 * (6 + 3) * 50_826);
    assert!(number(&scheme["summed_in_switches"]) > 0.0, "{scheme}");
    assert!(number(&scheme["accuracy"]) > 0.0 && number(&scheme["simulated"]["seconds"]) > 0.0, "{scheme}");
}

#[test]
fn random_gradients_and_trees_of_another_scheme_are_emulated_too() {
    let Some(_turn) = turn() else { return };
    let report =
        emulated(&["--rounds", "2", "--duration", "30s", "--gradient", "100KB", "--schemes", "netstorm+"]);
    let scheme = &report["schemes"][0];
    assert_eq!(scheme["scheme"], "netstorm+");
    assert_eq!(scheme["sums_checked"], 2 * (6 + 3) * 25_000);
    assert!(scheme["accuracy"].is_null());
}

/// Two workers inside n1, and n2 alone; the link between loses frames, and is five times slower after half a
/// second, when its trace ends.
const LOSSY: &str = "name: lossy
nodes:
  - {name: n1, kind: site}
  - {name: n2, kind: site}
  - {name: v1, kind: switch, aggregation_capacity: 1 Gbps, site: n1}
  - {name: w1, kind: worker, site: n1}
  - {name: w2, kind: worker, site: n1}
links:
  - {ends: [n1, n2], rate: 20 Mbps, delay: 5 ms, loss: 0.5%}
  - {ends: [n1, v1], rate: 200 Mbps}
  - {ends: [w1, v1], rate: 200 Mbps}
  - {ends: [w2, v1], rate: 200 Mbps}
traces:
  - {link: [n1, n2], every: 500 ms, rates: [20 Mbps, 4 Mbps]}
  - {link: [n2, n1], every: 500 ms, rates: [20 Mbps, 4 Mbps]}
jobs:
  - {name: job, gradient: 200 KB, chunk: 16 KB}
  - {name: inside, workers: [w1, w2], servers: [n1]}
";

#[test]
fn links_between_data_centers_lose_frames_and_follow_their_traces_while_workers_inside_have_every_sum() {
    let Some(_turn) = turn() else { return };
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("lossy.yaml");
    std::fs::write(&path, LOSSY).expect("written");
    let mut command = Command::new(inart());
    command.arg("emulate").arg(path).args(["--json", "--scale", "1", "--gradient", "200 KB"]);
    command.args(["--rounds", "12", "--duration", "60s", "--knowledge", "static"]);
    let report = document(&command.output().expect("runs"));
    let scheme = &report["schemes"][0];
    let rounds = scheme["rounds"].as_array().expect("rounds");
    // At both workers and both sites.
    assert_eq!((rounds.len(), &scheme["sums_checked"]), (12, &(12 * (2 + 2) * 50_000).into()));
    assert!(scheme["frames_lost"].as_u64().expect("a number") > 0, "{scheme}");
    // The first rounds take half a second at 20 Mbps; in the last ones no gradient passes faster than at 4.
    let least_s = 200e3 * 8.0 / 4e6;
    let last = &rounds[11]["seconds"];
    assert!(last.as_f64().expect("seconds") > 0.9 * least_s, "{rounds:?}");
}
