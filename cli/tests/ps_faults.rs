//! `inart simulate TOPOLOGY --sync … --faults FILE` and `--trials N`, through the command.
#![allow(clippy::unwrap_used)]

use crate::support;

use serde_json::Value;
use support::{Workbench, root};

fn bench() -> Workbench {
    let bench = Workbench::new();
    for name in ["ps16.yaml", "ps16-faults.yaml", "fl64.yaml"] {
        std::fs::copy(root().join("topologies").join(name), bench.path(name)).unwrap();
    }
    bench.write("none.yaml", "{}");
    bench
}

fn printed(bench: &Workbench, line: &str) -> String {
    let arguments: Vec<_> = line.split_whitespace().collect();
    let output = bench.inart(&arguments);
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(bench: &Workbench, line: &str) -> String {
    let arguments: Vec<_> = line.split_whitespace().collect();
    let output = bench.inart(&arguments);
    assert_eq!(output.status.code(), Some(2), "{line}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn workers_under_a_schedule() {
    let bench = bench();
    let line = "simulate ps16.yaml --sync r2sp --faults ps16-faults.yaml --iterations 40";
    let run: Value = serde_json::from_str(&printed(&bench, &format!("{line} --json"))).unwrap();
    // w3 and the server are killed and start again; w5's, w9's, w3's and all connections to the server end.
    assert_eq!((run["kills"].as_u64(), run["staleness_bound"].as_u64()), (Some(2), Some(15)));
    assert!(run["staleness_most"].as_u64() <= Some(15) && run["disconnected"].as_u64() >= Some(19), "{run}");
    assert!(run["updates"].as_u64() >= Some(40 * 15) && run["lost_messages"].as_u64() > Some(100), "{run}");
    assert_eq!(run["faults"].as_array().unwrap().len(), 9, "{run}");
    let text = printed(&bench, line);
    for part in ["r2sp: 16 workers", "host s1 killed", "of 15 allowed", "compared bit for bit, all equal"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(text, printed(&bench, line), "equal seeds give equal runs");
    // Without faults the run is the predicted one, and --absent is one of the schedule's events.
    let calm = printed(
        &bench,
        "simulate ps16.yaml --sync r2sp --faults none.yaml --iterations 20 --absent w2=9s..12s",
    );
    assert!(calm.contains("host w2 killed") && calm.contains("host w2 started again"), "{calm}");
}

#[test]
fn random_schedules() {
    let bench = bench();
    let text = printed(&bench, "simulate ps16.yaml --sync r2sp --iterations 4 --trials 3 --seed 7");
    assert!(text.starts_with("3 runs, ") && text.contains("all equal"), "{text}");
    let text = printed(&bench, "simulate fl64.yaml --sync fl-r2sp --groups 4 --rounds 4 --trials 1");
    assert!(text.starts_with("1 run, "), "{text}");
}

#[test]
fn schedules_that_cannot_be_run_are_refused() {
    let bench = bench();
    let cases = [
        ("events: [{at: 1 s, crash: s1}]", "host s1 killed: the server does not restart"),
        ("events: [{at: 1 s, restart: v1, duration: 1 s}]", "switches and frames are not simulated here"),
        ("events: [{at: 1 s, slow: [w1, v1]}]", "events[0]: slow takes a rate"),
    ];
    for (faults, named) in cases {
        std::fs::write(bench.path("own.yaml"), faults).unwrap();
        let error = refused(&bench, "simulate ps16.yaml --sync bsp --faults own.yaml");
        assert!(error.contains("--faults own.yaml: ") && error.contains(named), "{error}");
    }
    let error = refused(&bench, "simulate ps16.yaml --sync bsp --chunks 5");
    assert!(error.contains("--chunks: with --faults or --trials only"), "{error}");
    let error = refused(&bench, "simulate ps16.yaml --sync bsp --trials 2 --absent w1=1s..2s");
    assert!(error.contains("--absent: --trials draws absences itself"), "{error}");
}
