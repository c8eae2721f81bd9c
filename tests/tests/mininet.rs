//! `mininet/run.py`: a job in a network that Mininet built, on the embedded switch, and on bmv2 where it is
//! installed. Skipped with a message without root or Mininet.

use std::process::{Command, Output};
use std::sync::MutexGuard;

use inart_tests::{inart, turn, workspace};
use serde_json::Value;

/// Debian's, which Mininet is installed for.
const PYTHON: &str = "/usr/bin/python3";

/// Leave to use Mininet, one test at a time: switches listen at fixed ports.
fn turn_with_mininet() -> Option<MutexGuard<'static, ()>> {
    let found = Command::new(PYTHON).args(["-I", "-c", "import mininet.net"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: needs Mininet (Debian's package mininet)");
        return None;
    }
    turn()
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(PYTHON);
    command.arg(workspace().join("mininet/run.py")).args(arguments).env("INART", inart());
    command.current_dir(workspace()).output().expect("python runs")
}

/// Trains for two rounds on Fig. 1 on a kind of switch.
fn train(switch: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let chart = folder.path().join("chart.svg");
    let job = ["--topology", "topologies/fig1.yaml", "--switch", switch, "--"];
    let options =
        ["--schemes", "optimized", "--rounds", "2", "--batch", "4", "--window", "8", "--json", "--chart"];
    let output = run(&[&job[..], &options, &[chart.to_str().expect("text")]].concat());
    assert!(output.status.success(), "{output:?}");
    let summary: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let scheme = &summary["schemes"]["optimized"];
    assert_eq!((&summary["bit_exact"], &scheme["bit_exact"]), (&true.into(), &true.into()), "{summary}");
    assert!(scheme["packets_aggregated"].as_u64().expect("a number") > 0, "{summary}");
    assert_eq!(scheme["switch_drops"], serde_json::json!({}), "{summary}");
    let left = Command::new("ip").args(["-o", "link"]).output().expect("ip runs");
    assert!(!String::from_utf8_lossy(&left.stdout).contains("v1-eth"), "interfaces are left behind");
}

#[test]
fn a_job_trains_on_the_embedded_switch() {
    let Some(_turn) = turn_with_mininet() else { return };
    train("embedded");
}

#[test]
fn a_job_trains_on_bmv2() {
    let Some(_turn) = turn_with_mininet() else { return };
    if Command::new("simple_switch_grpc").arg("--version").output().is_err() {
        eprintln!("skipped: simple_switch_grpc is not on the PATH");
        return;
    }
    train("bmv2");
}

#[test]
fn invalid_input_is_reported_in_one_line() {
    let Some(_turn) = turn_with_mininet() else { return };
    for (arguments, named) in [
        (&["--topology", "nowhere.yaml"][..], "nowhere.yaml"),
        (&["--topology", "topologies/fig1.yaml", "--scale", "3"], "scale 3"),
        (&["--topology", "topologies/fig1.yaml", "--scale", "1"], "a scale of at most 0.167"),
    ] {
        let output = run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with("error: ") && said.lines().count() == 1 && said.contains(named), "{said}");
    }
}
