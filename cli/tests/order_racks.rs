//! `inart simulate TOPOLOGY --sync r2sp --racks`: groups in turn, from the document to the figures.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

const NETWORK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../topologies/fig1-computing.yaml");

fn inart(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_inart")).args(line.split_whitespace()).output().unwrap()
}

fn simulate(flags: &str) -> serde_json::Value {
    let output = inart(&format!("simulate {NETWORK} --sync r2sp {flags} --json"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// By hand: rack 1 (w1 to w4) sums at 2.4 Gbit/s with equal shares, as `inart plan` says of it alone, and
/// rack 2 sends at its links' 6 Gbit/s.
#[test]
fn two_groups_are_the_racks() {
    let run = simulate("--racks=2 --iterations 30");
    let groups = run["groups"].as_array().unwrap();
    let workers: Vec<_> = groups.iter().map(|group| group["workers"].as_array().unwrap().len()).collect();
    assert_eq!(workers, [4, 2]);
    for (group, bps) in groups.iter().zip([2.4e9, 6e9]) {
        assert!((group["rate_bps"].as_f64().unwrap() / bps - 1.0).abs() < 1e-6, "{group}");
        assert!((group["push_s"].as_f64().unwrap() * bps / 8e8 - 1.0).abs() < 1e-6, "{group}");
    }
    assert_eq!(run["staleness"]["max"], 1);
    assert!(run["iteration_s"].as_f64().unwrap() >= run["bound_s"].as_f64().unwrap() * 0.98);
}

/// Computing leaves the network idle here, so more than one group is the rule's choice, and it is faster.
#[test]
fn the_rule_is_faster_than_all_together() {
    let run = simulate("--racks --iterations 60");
    let groups = run["groups"].as_array().unwrap().len();
    assert!((2..=6).contains(&groups), "{groups}");
    let [own, together] = ["iteration_s", "together_s"].map(|key| run[key].as_f64().unwrap());
    assert!(own < together * 0.95, "{own} {together}");
    assert_eq!(run["staleness"]["max"].as_u64().unwrap(), groups as u64 - 1);
    let text = inart(&format!("simulate {NETWORK} --sync r2sp --racks"));
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("groups, and what is predicted: 1 "), "{text}");
    assert_eq!(text.matches("\ngroup ").count(), groups, "{text}");
}

#[test]
fn what_has_no_meaning_is_refused() {
    for (flags, named) in [
        ("--sync r2sp --racks=0", "--racks=0"),
        ("--sync r2sp --racks=7", "from 1 to 6"),
        ("--sync r2sp --racks=x", "--racks=x"),
        ("--sync r2sp --racks=1e-320", "--racks=1e-320"),
        ("--sync bsp --racks", "--racks"),
        ("--sync fl-r2sp --racks", "--racks"),
        ("--sync r2sp --racks --relaxation 0.5", "--relaxation"),
        ("--sync r2sp --racks --tune-batches", "--tune-batches"),
        ("--sync r2sp --racks --apply in-turn", "--apply"),
        ("--sync r2sp --racks --absent w1=1s..2s", "--absent"),
        ("--sync r2sp --racks --patience 3s", "--patience"),
        ("--sync r2sp --racks --iterations 1", "--iterations 1"),
    ] {
        let output = inart(&format!("simulate {NETWORK} {flags}"));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{flags}: {text}");
        assert!(text.contains(named) && text.trim().lines().count() == 1, "{flags}: {text}");
    }
    let fig1 = NETWORK.replace("-computing", "");
    let output = inart(&format!("simulate {fig1} --sync r2sp --racks"));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("compute"));
}
