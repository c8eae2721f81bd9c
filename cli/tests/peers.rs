//! `inart plan`, `inart simulate` and `inart topology mesh` on networks of peers, through the command.
#![allow(clippy::unwrap_used)]

use crate::support;

use serde_json::Value;
use support::{Workbench, root};

fn bench() -> Workbench {
    let bench = Workbench::new();
    std::fs::copy(root().join("topologies/mesh16.yaml"), bench.path("mesh16.yaml")).unwrap();
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
    for scheme in ["optimized", "selmcast", "orpheus", "optimal"] {
        for multicast in ["switch", "hosts"] {
            let flags = ["mesh16.yaml", "--scheme", scheme, "--multicast", multicast, "--seed", "1"];
            let plan = json(&bench, &[&["plan"], &flags[..]].concat());
            let named = ["scheme", "topology", "job", "multicast"].map(|key| plan[key].as_str().unwrap());
            assert_eq!(named, [scheme, "mesh16", "lstm", multicast]);
            assert_eq!(plan["tasks"].as_array().unwrap().len(), 16);
            assert_eq!(plan["tasks"][0]["from"], "p1");
            assert!(plan["receivers_mean"].as_f64().unwrap() >= 5.0);
            let (seconds, bound) =
                (plan["seconds"].as_f64().unwrap(), plan["bounds"]["seconds"].as_f64().unwrap());
            assert!(0.0 < bound && bound <= seconds, "{scheme}");
            assert!(seconds == bound || matches!(scheme, "orpheus" | "selmcast"), "{scheme}");
            bench.write("plan-of-peers.json", plan.to_string());
            let checked = bench.inart(&["plan", "mesh16.yaml", "--check", "plan-of-peers.json"]);
            assert_eq!(String::from_utf8_lossy(&checked.stdout), "the plan holds\n");
            let run = json(&bench, &[&["simulate"], &flags[..], &["--sync", "bsp"]].concat());
            let simulated = run["seconds"].as_f64().unwrap();
            assert!((simulated - seconds).abs() < 1e-6 * seconds, "{scheme}: {simulated} {seconds}");
            assert_eq!(run["receivers_mean"], plan["receivers_mean"]);
        }
    }
}

#[test]
fn stale_synchronous_training_has_its_flags_and_figures() {
    let bench = bench();
    for scheme in ["optimized", "selmcast", "orpheus"] {
        let flags = format!(
            "simulate mesh16.yaml --scheme {scheme} --sync ssp --staleness 2 --fairness-bound 3 --finish-threshold 0.5 --duration 30s \
             --links split --seed 7"
        );
        let run = json(&bench, &flags.split_whitespace().collect::<Vec<_>>());
        let share = |key: &str| run[key].as_f64().unwrap();
        assert!(share("utilization") > 0.0 && share("utilization") < 1.0, "{run}");
        assert!(share("scale") >= 5.0 / 16.0 && share("scale") < 1.0, "{run}");
        assert!(run["rounds"].as_u64().unwrap() > 16 && run["max_gap"].as_u64().unwrap() <= 3, "{run}");
        assert!(run["longest_wait"].as_u64().unwrap() <= 3, "{run}");
    }
    let free = "simulate mesh16.yaml --scheme orpheus --draw fixed --sync ssp --staleness none --fairness-bound none";
    let free = json(&bench, &free.split_whitespace().collect::<Vec<_>>());
    assert!(free["longest_wait"].as_u64().unwrap() > 4, "{free}");
    let guarded = |more: &[&str]| {
        json(&bench, &[&["simulate", "mesh16.yaml", "--scheme", "selmcast", "--sync", "ssp"], more].concat())
    };
    assert!(guarded(&["--guard-all"])["scale"].as_f64() < guarded(&[])["scale"].as_f64());
    assert!(guarded(&["--first-pass-only"])["scale"].as_f64() < guarded(&[])["scale"].as_f64());
    let text = bench.inart(&["simulate", "mesh16.yaml", "--sync", "ssp", "--duration", "10s"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("peers computed"), "{text:?}");
    let text = bench.inart(&["simulate", "mesh16.yaml", "--rounds", "3"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("3 rounds"), "{text:?}");
}

#[test]
fn instances_are_drawn_by_command() {
    let bench = bench();
    let flags = "topology mesh --peers 6 --receivers 2 --rate-spread 0.25 --up-down-ratio 1 --seed 1";
    let output = bench.inart(&flags.split_whitespace().collect::<Vec<_>>());
    assert!(output.status.success(), "{output:?}");
    bench.write("mesh.yaml", &output.stdout);
    // The reference computation's instance of seed 1, whose time is in units of one update over the mean
    // rate.
    for (multicast, scheme, time) in [
        ("switch", "selmcast", 2.0573330361343833),
        ("switch", "orpheus", 3.0859995542015755),
        ("hosts", "optimal", 2.2402579359903534),
    ] {
        let plan = json(&bench, &["plan", "mesh.yaml", "--scheme", scheme, "--multicast", multicast]);
        let unit = 200e6 * 8.0 / 40e9;
        assert!((plan["seconds"].as_f64().unwrap() / unit - time).abs() < 1e-9, "{plan}");
    }
    let flags = "topology mesh --peers 6 --receivers 2 --compute 1s --cv 0.3 --every 100ms --changing-part 0.5 --until 2s";
    let output = bench.inart(&flags.split_whitespace().collect::<Vec<_>>());
    bench.write("mesh.yaml", &output.stdout);
    assert!(String::from_utf8_lossy(&output.stdout).contains("traces:"));
    json(&bench, &["simulate", "mesh.yaml", "--sync", "ssp", "--duration", "5s"]);
}

#[test]
fn a_plan_that_was_changed_fails_its_check_with_status_1() {
    let bench = bench();
    let mut plan = json(&bench, &["plan", "mesh16.yaml"]);
    plan["seconds"] = 1.0.into();
    bench.write("plan-of-peers.json", plan.to_string());
    let output = bench.inart(&["plan", "mesh16.yaml", "--check", "plan-of-peers.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("seconds: 1 is stated"), "{output:?}");
    let verdict = bench.inart(&["plan", "mesh16.yaml", "--check", "plan-of-peers.json", "--json"]);
    let verdict: Value = serde_json::from_slice(&verdict.stdout).unwrap();
    assert_eq!(verdict["holds"], false);
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let bench = bench();
    let text = bench.read("mesh16.yaml");
    let spoiled = |name: &str, part: &str, by: &str| {
        assert!(text.contains(part), "{part}");
        bench.write(name, text.replacen(part, by, 1));
    };
    spoiled("many.yaml", "receivers: 5", "receivers: 16");
    bench.refused(&["plan", "many.yaml"], &["many.yaml", "job lstm", "receivers is 16", "from 1 to 15"]);
    spoiled("apart.yaml", "  - {ends: [p3, s1], rate: [47.3 Gbps, 58.8 Gbps]}\n", "");
    bench.refused(&["simulate", "apart.yaml"], &["apart.yaml", "peer p3", "it has no link"]);
    spoiled("zero.yaml", "[47.3 Gbps, 58.8 Gbps]", "[0, 58.8 Gbps]");
    bench.refused(&["plan", "zero.yaml"], &["link p3-s1", "a rate is 0"]);
    spoiled("required.yaml", "receivers: 5", "receivers: 5, required_pairs: [[p1, p17]]");
    bench.refused(&["plan", "required.yaml"], &["job lstm", "unknown peer \"p17\""]);
    spoiled("untimed.yaml", ", compute: {mean: 1 s, cv: 0.57}", "");
    bench.refused(&["simulate", "untimed.yaml", "--sync", "ssp"], &["job lstm", "add `compute"]);
    bench.refused(&["plan", "mesh16.yaml", "--scheme", "atp"], &["--scheme", "selmcast"]);
    bench.refused(&["plan", "mesh16.yaml", "--job", "other"], &["--job other", "lstm"]);
    bench.refused(&["plan", "mesh16.yaml", "--check", "plan.json"], &["plan.json"]);
    bench.refused(&["plan", "mesh16.yaml", "--check", "plan.json", "--seed", "2"], &["--seed"]);
    bench.refused(
        &["simulate", "mesh16.yaml", "--scheme", "optimal", "--sync", "ssp"],
        &["scheme optimal", "selmcast"],
    );
    bench.refused(&["simulate", "mesh16.yaml", "--rounds", "0"], &["--rounds 0"]);
    bench.refused(&["simulate", "mesh16.yaml", "--sync", "ssp", "--duration", "0s"], &["--duration", "0s"]);
    bench.refused(
        &["simulate", "mesh16.yaml", "--sync", "ssp", "--duration", "100h", "--finish-threshold", "2"],
        &["--finish-threshold 2"],
    );
    bench.refused(
        &["simulate", "mesh16.yaml", "--sync", "ssp", "--staleness", "few"],
        &["--staleness", "or none"],
    );
    bench.refused(&["simulate", "mesh16.yaml", "--sync", "asp"], &["--sync", "ssp"]);
    bench.refused(
        &["apply", "plan.json", "mesh16.yaml"],
        &["PLAN is for networks of switches", "mesh16.yaml has peers"],
    );
    bench.refused(
        &["apply", "mesh16.yaml", "--window", "8"],
        &["--window is for networks of switches", "mesh16.yaml has peers"],
    );
    for flag in ["--controller", "--assignments"] {
        bench.refused(&["apply", "mesh16.yaml", flag, "x"], &[flag, "mesh16.yaml has peers"]);
    }
    for (flag, value, named) in [
        ("--controller", "127.0.0.1:1", "--peers"),
        ("--assignments", "jobs", "leave it out"),
        ("--window", "8", "mesh16.yaml: --window: it is for plans"),
    ] {
        bench.refused(&["apply", "mesh16.yaml", "fig1.yaml", flag, value], &[flag, named]);
    }
    bench.refused(
        &["topology", "mesh", "--peers", "4", "--receivers", "4"],
        &["--receivers 4", "from 1 to 3"],
    );
    bench.refused(
        &["topology", "mesh", "--peers", "4", "--receivers", "2", "--rate-spread", "1"],
        &["--rate-spread 1"],
    );
    bench.refused(
        &["topology", "mesh", "--peers", "4", "--receivers", "2", "--up-down-ratio", "0"],
        &["--up-down-ratio 0"],
    );
    bench.refused(
        &["topology", "mesh", "--peers", "4", "--receivers", "2", "--update", "0"],
        &["--update", "'0'", "at least a byte"],
    );
    bench.refused(
        &["topology", "mesh", "--peers", "4", "--receivers", "2", "--every", "1s", "--until", "1000h"],
        &["--until", "draws"],
    );
}

#[test]
fn the_figures_of_the_paper_come_with_its_numbers() {
    let bench = bench();
    let output = bench.inart(&["experiment", "selmcast-fig4", "--seeds", "2"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("(Fig. 4 of the SELMCAST paper)") && text.contains("n = 100, Orpheus"), "{text}");
    let row = text.lines().find_map(|line| line.strip_prefix("n = 100, SELMCAST")).unwrap();
    assert_eq!(row.split_whitespace().next(), Some("1.02"), "{text}");
    let chart = bench.read("out/selmcast-fig4.svg");
    assert!(chart.trim_end().ends_with("</svg>"));
    let committed = std::fs::read_to_string(root().join("experiments/results/selmcast-fig1.csv")).unwrap();
    assert!(bench.inart(&["experiment", "selmcast-fig1"]).status.success());
    assert_eq!(bench.read("out/selmcast-fig1.csv"), committed);
    let list = bench.inart(&["experiment", "list", "--json"]);
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    let ours = list.as_array().unwrap().iter().filter(|entry| entry["paper"] == "SELMCAST").count();
    assert_eq!(ours, 11);
}

/// The processes of peers and coordinator in virtual time: a round takes the planned time.
#[test]
fn the_processes_code_runs_in_virtual_time() {
    let bench = bench();
    let plan = json(&bench, &["plan", "mesh16.yaml"]);
    let flags = ["simulate", "mesh16.yaml", "--processes", "--chunks", "40", "--rounds", "2"];
    let run = json(&bench, &flags);
    let (seconds, planned) = (run["seconds"].as_f64().unwrap(), plan["seconds"].as_f64().unwrap());
    assert!((0.95..1.1).contains(&(seconds / planned)), "{run}");
    assert_eq!((run["averages_compared"].as_u64(), run["rounds"].as_u64()), (Some(32), Some(2)));
    assert_eq!(run["updates_compared"].as_f64(), run["receivers_mean"].as_f64().map(|mean| mean * 32.0));
    let flags =
        "simulate mesh16.yaml --processes --chunks 20 --sync ssp --duration 4s --multicast hosts --json";
    let run = bench.inart(&flags.split_whitespace().collect::<Vec<_>>());
    let run: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert!(run["utilization"].as_f64().is_some_and(|part| part > 0.0 && part < 1.0), "{run}");
    assert!(
        run["max_gap"].as_u64().unwrap() <= 5 && run["updates_compared"].as_u64().unwrap() > 100,
        "{run}"
    );
    for (flags, named) in [
        ("--chunks 5", &["--processes"][..]),
        ("--processes --chunks 0", &["--chunks 0", "100000"]),
        ("--processes --rounds 0", &["--rounds 0"]),
        ("--processes --draw fixed", &["--draw fixed", "--processes"]),
        ("--processes --links split", &["--links split", "--processes"]),
        ("--processes --sync ssp --finish-threshold 2", &["--finish-threshold 2"]),
        ("--processes --sync ssp --duration 0s", &["--duration", "0s", "above 0"]),
        ("--processes --sync ssp --scheme optimal", &["selmcast, orpheus or optimized"]),
    ] {
        let flags = format!("simulate mesh16.yaml {flags}");
        bench.refused(&flags.split_whitespace().collect::<Vec<_>>(), named);
    }
}
