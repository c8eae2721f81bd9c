//! Plans of a user's own, completed, checked and simulated by the command on every kind of network.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use crate::support::{Workbench, root};

/// Trees with the roots n2 and n3 over the ring of n1, n2 and n3.
const SITES: &str = "{name: ring, nodes: [{name: n1, kind: site}, {name: n2, kind: site}, {name: n3, kind: site}, \
    {name: n4, kind: site}], links: [{ends: [n1, n2], rate: 8 Mbps}, {ends: [n2, n3], rate: 8 Mbps}, \
    {ends: [n1, n3], rate: 8 Mbps}, {ends: [n3, n4], rate: 8 Mbps}], \
    jobs: [{name: job, gradient: 200 KB, chunk: 100 KB}]}";

fn trees() -> Value {
    json!({"trees": [
        {"root": "n2", "share": 0.5, "parents": {"n1": "n2", "n3": "n2", "n4": "n3"}},
        {"root": "n3", "share": 0.5, "parents": {"n1": "n3", "n2": "n3", "n4": "n3"}},
    ]})
}

fn tasks() -> Value {
    let task = |from: &str, to: [&str; 2]| json!({"from": from, "to": to});
    json!({"tasks": [task("p1", ["p2", "p3"]), task("p2", ["p3", "p4"]), task("p3", ["p4", "p1"]),
        task("p4", ["p1", "p2"])]})
}

fn bench() -> Workbench {
    let bench = Workbench::new();
    bench.write("ring.yaml", SITES);
    for name in ["mesh4.yaml", "ps16.yaml", "geo9-static.yaml"] {
        std::fs::copy(root().join("topologies").join(name), bench.path(name)).unwrap();
    }
    bench
}

fn json_of(bench: &Workbench, line: &str) -> Value {
    let arguments: Vec<&str> = line.split_whitespace().chain(["--json"]).collect();
    let output = bench.inart(&arguments);
    assert!(output.status.success(), "{line}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn trees_of_ones_own_are_completed_checked_and_simulated() {
    let bench = bench();
    bench.write("trees.json", trees().to_string());
    let whole = json_of(&bench, "plan ring.yaml --complete trees.json");
    assert_eq!((&whole["scheme"], &whole["job"]), (&"own".into(), &"job".into()));
    bench.write("whole.json", whole.to_string());
    assert_eq!(json_of(&bench, "plan ring.yaml --check whole.json")["holds"], true);
    // Trees alone and the whole plan are run alike, and as predicted.
    for file in ["trees.json", "whole.json"] {
        let run = json_of(&bench, &format!("simulate ring.yaml --plan {file} --rounds 2"));
        assert_eq!(run["scheme"], "own");
        let apart = run["mean_s"].as_f64().unwrap() / whole["predicted_s"].as_f64().unwrap() - 1.0;
        assert!(apart.abs() < 1e-9, "{run} {whole}");
    }
    // Under faults the machines of sites and their scheduler follow it.
    bench.write(
        "faults.json",
        r#"{"events": [{"at": "100 ms", "link_down": ["n1", "n2"], "duration": "5 s"}]}"#,
    );
    let run = json_of(&bench, "simulate ring.yaml --plan whole.json --rounds 4 --faults faults.json");
    assert_eq!((run["scheme"].as_str(), run["rounds"].as_array().unwrap().len()), (Some("own"), 4));
}

/// `inart simulate` runs the output of `inart plan --json` of every scheme.
#[test]
fn printed_plans_of_sites_are_read_back() {
    let bench = bench();
    for scheme in
        ["optimized", "star", "bkt", "mst", "fapt", "netstorm", "netstorm --auxiliary node-disjoint"]
    {
        let plan = json_of(&bench, &format!("plan geo9-static.yaml --scheme {scheme}"));
        bench.write("printed.json", plan.to_string());
        let run = json_of(&bench, "simulate geo9-static.yaml --plan printed.json --rounds 1");
        let apart = run["mean_s"].as_f64().unwrap() / plan["predicted_s"].as_f64().unwrap() - 1.0;
        assert!(run["scheme"] == plan["scheme"] && apart.abs() < 1e-6, "{scheme}: {run}");
    }
}

#[test]
fn receivers_of_ones_own_are_completed_checked_and_simulated() {
    let bench = bench();
    bench.write("tasks.json", tasks().to_string());
    let whole = json_of(&bench, "plan mesh4.yaml --complete tasks.json --multicast hosts");
    // Two copies of 203304 B up p3's port of 500 Mbps, and two down p2's.
    let by_hand = 2.0 * 203_304.0 * 8.0 / 500e6;
    assert!((whole["seconds"].as_f64().unwrap() / by_hand - 1.0).abs() < 1e-9, "{whole}");
    bench.write("whole.json", whole.to_string());
    assert_eq!(json_of(&bench, "plan mesh4.yaml --check whole.json")["holds"], true);
    for file in ["tasks.json", "whole.json"] {
        let line = format!("simulate mesh4.yaml --multicast hosts --plan {file} --rounds 3");
        let run = json_of(&bench, &line);
        assert_eq!((&run["scheme"], &run["receivers_mean"]), (&"own".into(), &2.0.into()));
        assert!((run["seconds"].as_f64().unwrap() / by_hand - 1.0).abs() < 1e-9, "{run}");
        for more in ["--processes", "--processes --sync ssp --duration 2s", "--sync ssp --duration 2s"] {
            assert_eq!(
                json_of(&bench, &format!("{line} {more}").replace("--rounds 3 ", ""))["scheme"],
                "own"
            );
        }
    }
}

/// Files that are not plans of the network, for every command that reads one.
#[test]
fn what_is_not_a_plan_of_the_network_is_refused_by_file_place_and_fix() {
    let bench = bench();
    let cases: [(&str, Value, &[&str]); 10] = [
        ("ring.yaml", json!([]), &["not a plan", "docs/reference/sites.md"]),
        ("ring.yaml", json!({}), &["missing field `trees`", "docs/reference/sites.md"]),
        ("ring.yaml", json!({"trees": []}), &["trees: it has 0; give from 1"]),
        ("ring.yaml", json!({"topology": "x", "trees": []}), &["topology: it is for \"x\"", "give the"]),
        (
            "ring.yaml",
            json!({"trees": [{"root": "n9", "parents": {}}]}),
            &["trees[0].root", "n9", "name some of"],
        ),
        (
            "ring.yaml",
            json!({"trees": [{"root": "n1", "parents": {"n2": "n1", "n3": "n1", "n4": "n1"}}]}),
            &["trees[0].parents: n4 to n1: no such link; n4 has links to n3"],
        ),
        (
            "ring.yaml",
            json!({"trees": [{"root": "n1", "parents": {"n2": "n3", "n3": "n2", "n4": "n3"}}]}),
            &["trees[0].parents", "circle"],
        ),
        (
            "mesh4.yaml",
            json!({"tasks": [{"from": "p9", "to": []}]}),
            &["tasks[0].from", "p9", "name some of"],
        ),
        ("mesh4.yaml", json!({"tasks": []}), &["tasks: peer p1 has none; give each peer one"]),
        ("mesh4.yaml", json!({"trees": []}), &["not a plan", "tasks", "docs/reference/peers.md"]),
    ];
    for (network, plan, named) in cases {
        bench.write("bad.json", plan.to_string());
        for (command, flag) in [("plan", "--complete"), ("simulate", "--plan"), ("emulate", "--plan")] {
            let place = format!("{flag} bad.json");
            bench.refused(&[command, network, flag, "bad.json"], &[&[&*place], named].concat());
        }
    }
    for (network, text) in
        [("ring.yaml", "{\"trees\": [{\"share\": NaN}]}"), ("mesh4.yaml", "{\"tasks\": 1e999}")]
    {
        bench.write("bad.json", text);
        bench
            .refused(&["simulate", network, "--plan", "bad.json"], &["--plan bad.json", "line 1", "write {"]);
        bench.refused(
            &["emulate", network, "--plan", "missing.json"],
            &["--plan missing.json", "no such file"],
        );
    }
}

/// Whole plans of which something does not follow.
#[test]
fn a_whole_plan_that_does_not_hold_is_refused_with_the_way_to_derive_it() {
    let bench = bench();
    bench.write("trees.json", trees().to_string());
    bench.write("tasks.json", tasks().to_string());
    let sites = json_of(&bench, "plan ring.yaml --complete trees.json");
    let peers = json_of(&bench, "plan mesh4.yaml --complete tasks.json");
    let cases: [(&str, &Value, &str, Value, &str); 6] = [
        ("ring.yaml", &sites, "/predicted_s", json!(0.9), "predicted_s is 0.9; expected"),
        ("ring.yaml", &sites, "/topology", json!("x"), "topology"),
        ("ring.yaml", &sites, "/job", json!("x"), "job: it is for \"x\""),
        ("ring.yaml", &sites, "/trees/0/share", json!(0.6), "the sum of shares"),
        ("mesh4.yaml", &peers, "/seconds", json!(9.0), "seconds: 9 is stated"),
        (
            "mesh4.yaml",
            &peers,
            "/tasks/0/to/0",
            json!("p1"),
            "tasks[0] (from p1).to: the peer sends to itself",
        ),
    ];
    for (network, whole, place, value, named) in cases {
        let mut plan = whole.clone();
        *plan.pointer_mut(place).unwrap() = value;
        bench.write("bad.json", plan.to_string());
        for command in ["simulate", "emulate"] {
            bench.refused(&[command, network, "--plan", "bad.json"], &["--plan bad.json", named]);
        }
    }
}

#[test]
fn what_does_not_go_with_a_plan_is_refused_by_name() {
    let bench = bench();
    bench.write("trees.json", trees().to_string());
    for (line, named) in [
        ("simulate ring.yaml --plan trees.json --scheme mst", &["--plan", "--scheme"][..]),
        ("simulate ring.yaml --plan trees.json --job x", &["--job x"]),
        ("plan ring.yaml --complete trees.json --check trees.json", &["--complete", "--check"]),
        ("emulate mesh4.yaml --plan trees.json --schemes optimized", &["--plan", "--schemes"]),
        ("emulate fig1.yaml --plan plan.json --follow", &["--follow", "off your plans"]),
        ("emulate fig1.yaml --plan plan.json --jobs 2", &["--plan", "--jobs"]),
        ("emulate fig1.yaml --plan plan.json --aggregation-depth 2", &["--aggregation-depth", "--schemes"]),
        ("emulate fig1.yaml --plan plan.json --changes 2 --schemes atp", &["--changes: plans of one scheme"]),
        ("emulate fig1.yaml --plan trees.json", &["--plan trees.json", "flows"]),
        ("emulate ps16.yaml --sync bsp --plan trees.json", &["--plan", "follows no plan", "--sync"]),
        ("simulate ps16.yaml --sync r2sp --plan trees.json", &["--plan", "follows no plan", "--sync"]),
        (
            "emulate ps16.yaml --sync r2sp --aggregated-groups=2 --plan trees.json",
            &["--plan", "--aggregated-groups"],
        ),
    ] {
        bench.refused(&line.split_whitespace().collect::<Vec<_>>(), named);
    }
}
