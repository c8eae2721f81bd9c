//! `inart plan` and `inart simulate` on networks of sites, through the command.
#![allow(clippy::unwrap_used)]

use crate::support;

use serde_json::Value;
use support::{Workbench, root};

fn bench() -> Workbench {
    let bench = Workbench::new();
    for name in ["geo9.yaml", "geo9-static.yaml"] {
        std::fs::copy(root().join("topologies").join(name), bench.path(name)).unwrap();
    }
    bench
}

fn json(bench: &Workbench, arguments: &[&str]) -> Value {
    let output = bench.inart(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_scheme_is_planned_checked_and_simulated() {
    let bench = bench();
    for scheme in ["optimized", "star", "bkt", "mst", "fapt", "netstorm"] {
        let plan = json(&bench, &["plan", "geo9-static.yaml", "--scheme", scheme]);
        assert_eq!((plan["scheme"].as_str(), plan["topology"].as_str()), (Some(scheme), Some("geo9-static")));
        let (predicted, bound) =
            (plan["predicted_s"].as_f64().unwrap(), plan["bounds"]["seconds"].as_f64().unwrap());
        assert!(0.0 < bound && bound <= predicted, "{scheme}");
        bench.write("plan-of-sites.json", plan.to_string());
        let checked = bench.inart(&["plan", "geo9-static.yaml", "--check", "plan-of-sites.json"]);
        assert_eq!(String::from_utf8_lossy(&checked.stdout), "the plan holds\n");
        let run = json(&bench, &["simulate", "geo9-static.yaml", "--scheme", scheme, "--rounds", "2"]);
        assert_eq!(run["rounds"].as_array().unwrap().len(), 2);
        let mean = run["mean_s"].as_f64().unwrap();
        assert!((mean - predicted).abs() < 1e-6 * predicted, "{scheme}: {mean} {predicted}");
        assert_eq!(run["table_error"], 0.0);
    }
}

#[test]
fn flags_choose_roots_paths_and_knowledge() {
    let bench = bench();
    let one = json(&bench, &["plan", "geo9.yaml", "--scheme", "fapt", "--root", "n4"]);
    assert_eq!(one["trees"][0]["root"], "n4");
    assert_eq!(one["auxiliary"], serde_json::json!([]));
    let flags = ["plan", "geo9.yaml", "--scheme", "netstorm", "--roots", "3", "--auxiliary", "node-disjoint"];
    let three = json(&bench, &flags);
    assert_eq!(
        (three["trees"].as_array().unwrap().len(), three["auxiliary"].as_array().unwrap().len()),
        (3, 26)
    );
    let flags = "simulate geo9.yaml --scheme netstorm --duration 10min --knowledge passive --default-rate 87.5Mbps \
                 --auxiliary edge-disjoint --auxiliary-choice eager --busy-bound 2 --queue-length 1 --links fifo --seed 2";
    let run = json(&bench, &flags.split_whitespace().collect::<Vec<_>>());
    let starts: Vec<f64> =
        run["rounds"].as_array().unwrap().iter().map(|round| round["start_s"].as_f64().unwrap()).collect();
    assert!(starts.len() > 2 && starts.is_sorted() && *starts.last().unwrap() <= 600.0);
    assert!(run["table_error"].as_f64().unwrap() > 0.0);
    let text = bench.inart(&["simulate", "geo9-static.yaml", "--rounds", "1"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("sums compared bit for bit, all equal"), "{text}");
    let help = bench.inart(&["plan", "geo9.yaml", "--help"]);
    assert!(String::from_utf8_lossy(&help.stdout).contains("--auxiliary"));
}

#[test]
fn a_plan_with_auxiliary_paths_predicts_what_simulation_plays() {
    let bench = bench();
    for paths in ["edge-disjoint", "node-disjoint"] {
        let flags = ["geo9-static.yaml", "--scheme", "netstorm", "--auxiliary", paths];
        let plan = json(&bench, &[&["plan"], &flags[..]].concat());
        let run = json(&bench, &[&["simulate"], &flags[..], &["--rounds", "1"]].concat());
        assert_eq!(plan["predicted_s"], run["mean_s"], "{paths}");
    }
}

#[test]
fn a_plan_that_was_changed_fails_its_check_with_status_1() {
    let bench = bench();
    let mut plan = json(&bench, &["plan", "geo9.yaml", "--scheme", "mst"]);
    plan["trees"][0]["quality_mbps"] = 1e3.into();
    bench.write("plan-of-sites.json", plan.to_string());
    let output = bench.inart(&["plan", "geo9.yaml", "--check", "plan-of-sites.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("quality_mbps"), "{output:?}");
    let verdict = bench.inart(&["plan", "geo9.yaml", "--check", "plan-of-sites.json", "--json"]);
    let verdict: Value = serde_json::from_slice(&verdict.stdout).unwrap();
    assert_eq!(verdict["holds"], false);
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let bench = bench();
    bench.write("apart.yaml", "name: apart\nnodes: [{name: a, kind: site}, {name: b, kind: site}]\nlinks: []\njobs: [{name: j, gradient: 4 MB}]\n");
    bench.refused(&["plan", "apart.yaml"], &["apart.yaml", "job j", "site b has no way to site a"]);
    // Links in one direction only, rates of 0, and a trace that has one: whichever command reads them.
    let geo9 = bench.read("geo9.yaml");
    let other = |part: &str, by: &str| {
        assert!(geo9.contains(part), "{part}");
        bench.write("other.yaml", geo9.replacen(part, by, 1));
    };
    for command in ["plan", "simulate", "emulate"] {
        other("rate: [38 Mbps, 54 Mbps]", "rate: [38 Mbps, 0]");
        bench.refused(&[command, "other.yaml"], &["other.yaml", "link n1-n2", "one direction only"]);
        other("rate: [38 Mbps, 54 Mbps]", "rate: 0");
        bench.refused(&[command, "other.yaml"], &["other.yaml", "link n1-n2", "a rate is 0"]);
        other("rates: [38 Mbps,", "rates: [0,");
        bench.refused(&[command, "other.yaml"], &["other.yaml", "trace of n1 to n2", "a rate is 0"]);
    }
    bench.refused(
        &["plan", "geo9.yaml", "--root", "n4"],
        &["scheme optimized", "leave the root out (--root)"],
    );
    bench.refused(&["plan", "geo9.yaml", "--scheme", "fapt", "--root", "n10"], &["--root n10", "n1, n2"]);
    bench.refused(&["plan", "geo9.yaml", "--scheme", "atp"], &["--scheme", "netstorm"]);
    bench.refused(
        &["plan", "geo9.yaml", "--scheme", "netstorm", "--roots", "12"],
        &["12 roots for 9 sites", "give a number of roots (--roots) from 1 to 9"],
    );
    bench.refused(&["plan", "geo9.yaml", "--job", "other"], &["--job other", "alexnet"]);
    bench.refused(&["plan", "geo9.yaml", "--check", "plan.json"], &["plan.json"]);
    bench.refused(&["simulate", "geo9.yaml", "--rounds", "0"], &["--rounds 0"]);
    bench.refused(&["simulate", "geo9.yaml", "--duration", "soon"], &["--duration", "soon", "1h"]);
    bench.refused(&["simulate", "geo9.yaml", "--default-rate", "0"], &["--default-rate", "at least 1 bit/s"]);
    bench.refused(&["simulate", "geo9.yaml", "--rounds", "2", "--duration", "1h"], &["--duration"]);
    bench.refused(
        &["apply", "plan.json", "geo9.yaml"],
        &["geo9.yaml has sites", "networks of switches", "networks of peers"],
    );
    bench.refused(&["emulate", "geo9.yaml", "--schemes", "fast"], &["--schemes fast", "netstorm+"]);
    bench.refused(&["emulate", "geo9.yaml", "--duration", "soon"], &["--duration", "soon", "1h"]);
    bench.refused(&["emulate", "geo9.yaml", "--rounds", "0"], &["--rounds 0"]);
    bench.refused(&["emulate", "geo9.yaml", "--scale", "2"], &["--scale", "at most 1"]);
    bench.refused(&["emulate", "geo9.yaml", "--gradient", "0 B"], &["--gradient"]);
}

#[test]
fn faults_happen_in_virtual_time() {
    let bench = Workbench::new();
    let network = root().join("topologies/geo9.yaml").display().to_string();
    let faults = root().join("topologies/geo9-faults.yaml").display().to_string();
    let arguments = ["simulate", &network, "--faults", &faults, "--rounds", "8"];
    let output = bench.inart(&arguments);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    for words in ["link n1 to n3 failed at 20.000 s", "site n5 failed", "1 site joined again", "all equal"] {
        assert!(text.contains(words), "{text}");
    }
    let json = bench.inart(&[&arguments[..], &["--json"]].concat());
    let document: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let [round, later] = [0, 1].map(|at| document["faults"][0]["without_it"][at].as_u64().unwrap());
    assert!(round <= 8 && later <= 2, "{document}");
    let soak = bench.inart(&["simulate", &network, "--trials", "3", "--rounds", "3", "--scheme", "mst"]);
    let text = String::from_utf8(soak.stdout).unwrap();
    assert!(text.starts_with("3 runs with ") && text.contains("all equal"), "{text}");
}

#[test]
fn wrong_faults_are_refused() {
    let bench = Workbench::new();
    let network = root().join("topologies/geo9.yaml").display().to_string();
    bench.write("no-link.yaml", "events: [{at: 1 s, link_down: [n1, n9], duration: 1 s}]");
    bench.write("other.yaml", "events: [{at: 1 s, restart: n1, duration: 1 s}]");
    let simulate = |rest: &[&'static str]| [&["simulate", &network][..], rest].concat().join("\n");
    let cases: [(&[&'static str], &[&str]); 6] = [
        (&["--faults", "no-link.yaml"], &["--faults no-link.yaml", "events[0]", "no link between n1 and n9"]),
        (&["--faults", "other.yaml"], &["--faults other.yaml", "events[0]", "crash: n1"]),
        (&["--faults", "missing.yaml"], &["--faults missing.yaml"]),
        (&["--faults", "other.yaml", "--trials", "2"], &["--trials", "--faults"]),
        (&["--trials", "0"], &["--trials 0"]),
        (&["--trials", "1", "--knowledge", "oracle"], &["--knowledge", "static or passive"]),
    ];
    for (rest, named) in cases {
        let line = simulate(rest);
        bench.refused(&line.split('\n').collect::<Vec<_>>(), named);
    }
}
