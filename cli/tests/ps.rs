//! `inart simulate TOPOLOGY --sync …`, through the command.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::fmt::Write as _;

use serde_json::Value;
use support::{Workbench, root};

fn bench() -> Workbench {
    let bench = Workbench::new();
    for name in ["ps16.yaml", "fl64.yaml"] {
        std::fs::copy(root().join("topologies").join(name), bench.path(name)).unwrap();
    }
    bench
}

fn json(bench: &Workbench, line: &str) -> Value {
    let arguments: Vec<_> = line.split_whitespace().chain(["--json"]).collect();
    let output = bench.inart(&arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} of {value}"))
}

#[test]
fn every_order_of_workers() {
    let bench = bench();
    let run = |flags: &str| json(&bench, &format!("simulate ps16.yaml --sync {flags} --iterations 60"));
    let bsp = run("bsp");
    // 0.7 + 2 N S/B, and the slowest of 16 draws.
    assert!((9.65..9.9).contains(&number(&bsp, "iteration_s")), "{bsp}");
    assert_eq!(bsp["staleness"]["max"], 0);
    assert!(number(&bsp, "bunched_arrivals") > 0.8);
    let r2sp = run("r2sp");
    assert!(number(&r2sp, "iteration_s") < number(&bsp, "iteration_s") / 1.4, "{r2sp}");
    assert!(number(&r2sp, "iteration_s") > 4.5 && number(&r2sp, "bunched_arrivals") < 0.02, "{r2sp}");
    assert_eq!((r2sp["staleness"]["max"].as_u64(), number(&r2sp, "relaxation")), (Some(15), 0.8));
    let quantiles = ["0.5", "0.95"].map(|name| number(&r2sp["gap_quantiles_s"], name));
    assert!(quantiles[0] > 0.2 && quantiles[0] < quantiles[1] && quantiles[1] < 0.6, "{quantiles:?}");
    assert_eq!(r2sp["batches"]["w16"], 128);
    for flags in [
        "asp",
        "ssp --staleness 2",
        "ssp --staleness 2 --block before-commit",
        "safa --fraction 0.5 --lag 3",
        "r2sp --relaxation auto",
        "r2sp --relaxation 0.5 --apply on-arrival",
        "r2sp --tune-batches",
        "r2sp --tune-batches=proportional",
    ] {
        let run = run(flags);
        assert!(number(&run, "iteration_s") > 4.4, "{flags}: {run}");
        assert!(number(&run, "blocking_s") >= 0.0 && run["staleness"]["mean"].is_number(), "{flags}: {run}");
    }
    assert_eq!(run("r2sp"), r2sp, "the same seed gives the same run");
    assert_ne!(run("r2sp --seed 2"), r2sp);
}

#[test]
fn clients_in_groups() {
    let bench = bench();
    let one = json(&bench, "simulate fl64.yaml --sync fl-r2sp --groups 1 --fraction 0.75 --rounds 12");
    let eight = json(&bench, "simulate fl64.yaml --sync fl-r2sp --groups 8 --fraction 0.75 --rounds 12");
    // 48 pull at once, or 6.
    assert!(number(&one, "pull_s") > 3.0 * number(&eight, "pull_s"), "{one} {eight}");
    assert!(number(&eight, "round_s") < number(&one, "round_s"), "{one} {eight}");
    assert!(number(&eight, "pull_s") > 0.338 && number(&eight, "push_s") > 0.338, "{eight}");
    assert!(number(&eight, "wait_s") > 0.0);
}

/// A thousand clients are a matter of seconds.
#[test]
fn a_thousand_clients() {
    let bench = bench();
    let mut text =
        "name: many\nnodes:\n  - {name: v1, kind: switch}\n  - {name: s1, kind: server}\n".to_owned();
    (0..1000).for_each(|at| writeln!(text, "  - {{name: c{at}, kind: worker}}").unwrap());
    text += "links:\n  - {ends: [v1, s1], rate: 10 Gbps}\n";
    (0..1000).for_each(|at| writeln!(text, "  - {{ends: [v1, c{at}], rate: 100 Mbps}}").unwrap());
    let names: Vec<_> = (0..1000).map(|at| format!("c{at}")).collect();
    writeln!(text, "jobs: [{{name: cnn, clients: [{}], servers: [s1], gradient: 5 MB, compute: {{mean: 7 s, cv: 0.05}}}}]", names.join(", ")).unwrap();
    bench.write("many.yaml", text);
    let run = json(&bench, "simulate many.yaml --sync fl-r2sp --groups 20 --rounds 20");
    assert_eq!(run["rounds"].as_u64().map(|rounds| rounds >= 400), Some(true));
    // 38 of a group of 50.
    assert!(number(&run, "aggregated") >= 38.0 * number(&run, "rounds"), "{run}");
}

#[test]
fn participants_vanish_and_return() {
    let bench = bench();
    let line = "simulate ps16.yaml --sync r2sp --iterations 40 --absent w3=30s..60s --absent w5=50s..";
    let run = json(&bench, line);
    assert_eq!(run["given_up"], 0);
    let found_out = json(&bench, &format!("{line} --push-timeout 20s"));
    assert_eq!(found_out["given_up"], 2, "{found_out}");
    let clients =
        "simulate fl64.yaml --sync fl-r2sp --groups 8 --rounds 10 --absent c1=20s..60s --absent c2=30s..";
    json(&bench, clients);
    assert_eq!(json(&bench, &format!("{clients} --push-timeout 40s"))["given_up"], 2);
}

#[test]
fn tables_for_people() {
    let bench = bench();
    let text = |line: &str| {
        let output = bench.inart(&line.split_whitespace().collect::<Vec<_>>());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let workers = text("simulate ps16.yaml --sync r2sp --iterations 20 --tune-batches");
    assert!(workers.contains("s per iteration, r 0.80") && workers.contains("batches: w1 "), "{workers}");
    let clients = text("simulate fl64.yaml --sync fl-r2sp --rounds 5");
    assert!(clients.contains("64 clients in 8 groups"), "{clients}");
    let help = text("simulate --sync r2sp --help");
    assert!(help.contains("--relaxation") && help.contains("--tune-batches"), "{help}");
    // InArt's own commands read the same documents.
    let plan = text("plan ps16.yaml --scheme lbmm");
    assert!(plan.contains("ps16"), "{plan}");
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let bench = bench();
    let refused =
        |line: &str, named: &[&str]| bench.refused(&line.split_whitespace().collect::<Vec<_>>(), named);
    for (flags, named) in [
        ("--sync fast", &["fast", "r2sp"][..]),
        ("--sync r2sp --relaxation 1.5", &["--relaxation", "1.5", "0 to 1"]),
        ("--sync r2sp --relaxation -0.1", &["--relaxation", "-0.1"]),
        ("--sync r2sp --relaxation NaN", &["--relaxation"]),
        ("--sync r2sp --relaxation soon", &["soon", "auto"]),
        ("--sync safa --fraction 0", &["--fraction", "above 0"]),
        ("--sync safa --fraction 1.1", &["--fraction", "1.1"]),
        ("--sync ssp --staleness 0 --block before-commit", &["--staleness", "bsp"]),
        ("--sync ssp --lag 3", &["--lag", "safa"]),
        ("--sync bsp --relaxation 0.5", &["--relaxation", "r2sp"]),
        ("--sync r2sp --groups 4", &["--groups", "fl-r2sp"]),
        ("--sync r2sp --iterations 1", &["--iterations 1", "from 2"]),
        ("--sync fl-r2sp", &["vgg16", "workers", "clients"]),
        ("--sync r2sp --absent w99=1s..2s", &["--absent w99", "vgg16"]),
        ("--sync r2sp --absent w1=2s..1s", &["NAME=FROM..UNTIL"]),
        ("--sync r2sp --push-timeout long", &["--push-timeout", "2s"]),
        ("--sync r2sp --job other", &["--job other", "vgg16"]),
    ] {
        refused(&format!("simulate ps16.yaml {flags}"), named);
    }
    for (flags, named) in [
        ("--sync r2sp", &["clients", "fl-r2sp"][..]),
        ("--sync fl-r2sp --groups 0", &["--groups 0", "64"]),
        ("--sync fl-r2sp --groups 65", &["--groups 65", "64"]),
        ("--sync fl-r2sp --fraction 0", &["--fraction", "above 0"]),
        ("--sync fl-r2sp --relaxation auto", &["--relaxation auto"]),
        ("--sync fl-r2sp --iterations 5", &["--iterations", "bsp"]),
        ("--sync fl-r2sp --rounds 3", &["--rounds 3", "from 4"]),
    ] {
        refused(&format!("simulate fl64.yaml {flags}"), named);
    }
    refused("simulate fig1.yaml --sync r2sp", &["fig1.yaml", "job digits", "compute"]);
    refused("simulate nowhere.yaml --sync r2sp", &["nowhere.yaml"]);
}

#[test]
fn tables_and_figures_of_the_paper_come_with_its_numbers() {
    let bench = bench();
    let output = bench.inart(&["experiment", "r2sp-table3", "--seeds", "1"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("(Table III of the R²SP paper)") && text.contains("g3.4xlarge"), "{text}");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.contains(&vec!["g3.4xlarge", "1264", "1264", "1264"]), "{text}");
    assert!(bench.read("out/r2sp-table3.svg").trim_end().ends_with("</svg>"));
    let committed = std::fs::read_to_string(root().join("experiments/results/r2sp-fig2.csv")).unwrap();
    assert!(bench.inart(&["experiment", "r2sp-fig2"]).status.success());
    assert_eq!(bench.read("out/r2sp-fig2.csv"), committed);
    let list = bench.inart(&["experiment", "list", "--json"]);
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    let all: Vec<&Value> = list.as_array().unwrap().iter().filter(|one| one["paper"] == "R²SP").collect();
    assert_eq!(all.len(), 24);
    assert!(all.iter().any(|one| one["name"] == "r2sp-fig18" && one["figure"] == 18), "{all:?}");
}
