//! `inart simulate` as people run it.
#![allow(clippy::unwrap_used)]

use crate::support;

use serde_json::Value;
use support::Workbench;

const SMALL: [&str; 7] = ["simulate", "fig1.yaml", "--rounds", "2", "--gradient", "4 KB", "--seed"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SMALL[..], &["3"], more].concat()
}

#[test]
fn a_run_repeats_event_for_event_and_tells_its_figures() {
    let bench = Workbench::new();
    bench.write(
        "faults.yaml",
        "links: [{drop: 1%, duplicate: 1%}]\nevents: [{at: 10 us, restart: v1, duration: 1 ms}]\n",
    );
    for log in ["a.log", "b.log"] {
        let output = bench.inart(&with(&["--faults", "faults.yaml", "--log", log]));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{text}");
        assert!(
            text.contains("sums compared bit for bit, all equal") && text.contains("packet-hops/s"),
            "{text}"
        );
    }
    assert_eq!(bench.read("a.log"), bench.read("b.log"));
    assert!(bench.read("a.log").contains(" v1 restarts\n"));

    let json = bench.inart(&with(&["--plan", "plan.json", "--json"]));
    let document: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&document["failure"], &document["jobs"][0]["rounds"]), (&Value::Null, &2.into()));
    assert!(document["packet_hops_per_second"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_run_that_does_not_end_is_status_1_and_says_who_waits() {
    let bench = Workbench::new();
    bench.write("faults.yaml", "links: [{link: [w1, v1], drop: 100%}]");
    let output = bench.inart(&with(&["--faults", "faults.yaml", "--limit", "1 s"]));
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.starts_with("error: hang: worker w1 of job digits") && error.lines().count() == 1,
        "{error}"
    );
}

#[test]
fn random_trials_tell_what_was_tried() {
    let bench = Workbench::new();
    let output = bench.inart(&["simulate", "--trials", "20", "--first-seed", "1", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &document["trials"]), (Some(0), &20.into()), "{document}");
    assert!(document["sums_checked"].as_u64().unwrap() > 0);
}

#[test]
fn what_makes_no_sense_is_refused_in_a_line() {
    let bench = Workbench::new();
    bench.write("name.yaml", "events: [{at: 1 ms, crash: w9}]");
    bench.write("rate.yaml", "links: [{drop: most}]");
    bench.refused(&["simulate"], &["the network is missing"]);
    bench.refused(&["simulate", "none.yaml"], &["none.yaml"]);
    bench.refused(&["simulate", "fig1.yaml", "--trials", "1"], &["--trials"]);
    bench.refused(&with(&["--faults", "none.yaml"]), &["none.yaml"]);
    bench.refused(&with(&["--faults", "name.yaml", "--log", "run.log"]), &["name.yaml", "events[0]", "w9"]);
    bench.refused(&with(&["--faults", "rate.yaml"]), &["rate.yaml", "line 1", "most"]);
    bench.refused(&with(&["--window", "3"]), &["--window", "power of two"]);
    bench.refused(&with(&["--peer-timeout", "0"]), &["--peer-timeout"]);
    bench.refused(&with(&["--limit", "soon"]), &["--limit", "soon"]);
    bench.refused(&["simulate", "fig1.yaml", "--rounds", "0"], &["--rounds", "0"]);
    bench.refused(&["simulate", "fig1.yaml", "--gradient", "1 B"], &["--gradient"]);
}

#[test]
fn switches_may_be_tofinos() {
    let bench = Workbench::new();
    for target in ["tofino", "tofino2"] {
        let output = bench.inart(&with(&["--target", target]));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains("all equal"), "{target}: {text}");
        assert!(!text.contains(" 0 frames summed in switches"), "{target}: {text}");
        let output = bench.inart(&["simulate", "--trials", "3", "--target", target, "--json"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &document["trials"]), (Some(0), &3.into()), "{target}: {document}");
    }
    let error = |more: &[&str]| {
        let output = bench.inart(&with(more));
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let none = error(&["--target", "tofino2", "--values", "256"]);
    assert!(none.starts_with("error: --values: no program for tofino2 has 256; give 64\n"), "{none}");
    let unknown = error(&["--target", "bmv2"]);
    assert!(
        unknown.contains("'bmv2' for '--target <NAME>': give one of v1model, tofino, tofino2"),
        "{unknown}"
    );
}
