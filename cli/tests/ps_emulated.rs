//! `inart emulate --sync`: processes that vanish and return, links with delay and losses, frames, tuning. The
//! command computes every update again itself, and fails if one is lost, doubled or wrong. Needs root, and
//! skips without.
#![allow(clippy::unwrap_used)]

use serde_json::Value;

use crate::support::{Workbench, turn};

/// w1 computes in a sixth of the time of w3. All names are w1 and so on; kind: workers or clients.
fn network(kind: &str, count: usize, link: &str) -> String {
    let names: Vec<_> = (1..=count).map(|at| format!("w{at}")).collect();
    let each = |line: &dyn Fn(&String) -> String| names.iter().map(line).collect::<String>();
    let nodes = each(&|name| format!("  - {{name: {name}, kind: worker}}\n"));
    let links = each(&|name| format!("  - {{ends: [v, {name}], rate: 40 Mbps{link}}}\n"));
    format!(
        "name: small\nnodes:\n  - {{name: v, kind: switch}}\n  - {{name: s1, kind: server}}\n{nodes}\
         links:\n  - {{ends: [v, s1], rate: 80 Mbps}}\n{links}\
         jobs:\n  - name: digits\n    {kind}: [{}]\n    servers: [s1]\n    gradient: 203304 B\n    \
         compute: {{default: {{mean: 20 ms, cv: 0.1}}, overrides: {{w3: {{mean: 120 ms}}}}}}\n    batch: 16\n",
        names.join(", ")
    )
}

/// The report of an emulation; none where this process may not make namespaces.
fn emulated(bench: &Workbench, line: &str) -> Option<Vec<Value>> {
    let _turn = turn();
    let line = format!("--json emulate {line}");
    let output = bench.inart(&line.split_whitespace().collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("run as root") {
        eprintln!("skipped: root is needed to make network namespaces");
        return None;
    }
    assert!(output.status.success(), "{line}: {said}");
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
    Some(std::mem::take(report["schemes"].as_array_mut().unwrap()))
}

fn bench() -> Workbench {
    let bench = Workbench::new();
    bench.write("three.yaml", network("workers", 3, ""));
    bench.write("delayed.yaml", network("workers", 3, ", delay: 2 ms"));
    bench.write("clients.yaml", network("clients", 6, ""));
    bench.write("server.yaml", "events: [{at: 1500 ms, crash: s1, duration: 500 ms}]");
    bench.write("pause.yaml", "events: [{at: 1 s, pause: w1, duration: 1 s}]");
    bench
}

fn count(scheme: &Value, key: &str) -> u64 {
    scheme[key].as_u64().unwrap_or_else(|| panic!("{key} of {scheme}"))
}

#[test]
fn workers_and_the_server_are_killed_and_come_back() {
    let bench = bench();
    let line = "three.yaml --sync r2sp,bsp --iterations 24 --push-timeout 2s --absent w2=800ms..1500ms \
                --absent s1=2s..2500ms --absent w3=3s..";
    let Some(schemes) = emulated(&bench, line) else { return };
    for scheme in &schemes {
        assert_eq!((count(scheme, "killed"), count(scheme, "returned")), (2, 1), "{scheme}");
        assert_eq!(count(scheme, "server_restarts"), 1, "{scheme}");
        // w3 is given up, and the others go on to the end: two times 24, and what w3 had done.
        assert!(count(scheme, "given_up") >= 1, "{scheme}");
        assert!(count(scheme, "updates_checked") >= 48, "{scheme}");
        assert!(count(scheme, "wasted_updates") + count(scheme, "lost") >= 1, "{scheme}");
    }
}

#[test]
fn clients_and_their_server_are_killed_and_come_back() {
    let bench = bench();
    let line = "clients.yaml --sync bsp,fl-r2sp --groups 3 --rounds 10 --data-shards 10 --push-timeout 2s \
                --absent w1=700ms..1500ms --absent w5=1s.. --absent s1=2s..2500ms";
    let Some(schemes) = emulated(&bench, line) else { return };
    for scheme in &schemes {
        assert_eq!((count(scheme, "killed"), count(scheme, "server_restarts")), (2, 1), "{scheme}");
        assert!(count(scheme, "updates_checked") >= 40, "{scheme}");
    }
}

#[test]
fn batches_fill_the_time_of_fast_workers_and_r_is_tuned() {
    let bench = bench();
    let line = "three.yaml --sync bsp,r2sp --iterations 24 --relaxation auto --tune-batches";
    let Some(schemes) = emulated(&bench, line) else { return };
    for scheme in &schemes {
        // The audit has compared that an update counts by its batch over the first one.
        let batch = |name: &str| count(&scheme["batches"], name);
        assert!(batch("w1") > 16 && batch("w3") == 16, "{scheme}");
        assert!(count(scheme, "updates_checked") >= 72, "{scheme}");
    }
    let r = schemes[1]["relaxation"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&r) && r != 0.8, "{r}");
    let _turn = turn();
    let table = bench.inart(
        &"emulate three.yaml --sync r2sp --iterations 6 --tune-batches".split(' ').collect::<Vec<_>>(),
    );
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("r2sp, at the end: r 0.80; batches w1 "), "{table}");
}

#[test]
fn links_have_delays_and_losses_by_quic_and_by_frames() {
    let bench = bench();
    for transport in ["quic", "frames"] {
        let line = format!("delayed.yaml --sync bsp,r2sp --iterations 8 --drop 0.5% --transport {transport}");
        let Some(schemes) = emulated(&bench, &line) else { return };
        for scheme in &schemes {
            assert!(count(scheme, "frames_lost") > 0, "{transport}: {scheme}");
            assert!(count(scheme, "updates_checked") >= 24, "{transport}: {scheme}");
        }
        // Six delays are in each iteration of virtual time; w3 gains one of them back, as the others have
        // pulled a part of their models when it begins.
        let near = format!("three.yaml --sync bsp --iterations 8 --transport {transport}");
        let near = emulated(&bench, &near).unwrap();
        assert_eq!(count(&near[0], "frames_lost"), 0);
        let simulated = |scheme: &Value| scheme["simulated"]["iteration_s"].as_f64().unwrap();
        let longer = simulated(&schemes[0]) - simulated(&near[0]);
        assert!((longer - 5.0 * 0.002).abs() < 1e-6, "{transport}: {longer}");
    }
}

/// A model of 2 MB, of which a tenth is sent at half of the rates.
#[test]
fn times_of_orders_are_those_of_the_document() {
    let bench = bench();
    bench.write("long.yaml", bench.read("three.yaml").replace("203304 B", "2033040 B"));
    let Some(half) = emulated(&bench, "long.yaml --sync bsp --iterations 4 --scale 1/2") else { return };
    let quarter = emulated(&bench, "long.yaml --sync bsp --iterations 4 --scale 1/4").unwrap();
    let simulated = |schemes: &[Value]| schemes[0]["simulated"]["iteration_s"].as_f64().unwrap();
    // Virtual time is exact: the scale makes no difference.
    assert!((simulated(&half) / simulated(&quarter) - 1.0).abs() < 1e-6, "{half:?} {quarter:?}");
    for schemes in [&half, &quarter] {
        let scheme = &schemes[0];
        let number = |key: &str| scheme[key].as_f64().unwrap_or_else(|| panic!("{key} of {scheme}"));
        // The model comes and its update goes, at 40 Mbps each.
        let least_s = 2.0 * 8.0 * 2_033_040.0 / 40e6;
        assert!(number("iteration_s") > 0.9 * least_s, "{scheme}");
        assert!(simulated(schemes) > least_s, "{scheme}");
        assert!(number("seconds") > 3.0 * least_s, "{scheme}");
        let evaluations = scheme["evaluations"].as_array().unwrap();
        assert!(evaluations.last().unwrap()["at_s"].as_f64().unwrap() > 3.0 * least_s, "{scheme}");
    }
}

#[test]
fn frames_serve_every_order_and_clients_while_processes_are_killed() {
    let bench = bench();
    let line = "three.yaml --sync bsp,asp,ssp,safa,r2sp --iterations 8 --transport frames --dtype float16";
    let Some(schemes) = emulated(&bench, line) else { return };
    for scheme in &schemes {
        assert!(count(scheme, "updates_checked") >= 24, "{scheme}");
    }
    let line = "clients.yaml --sync fl-r2sp --groups 2 --rounds 10 --data-shards 10 --transport frames --push-timeout 2s \
                --absent w1=700ms..1200ms --faults server.yaml";
    let schemes = emulated(&bench, line).unwrap();
    assert_eq!(count(&schemes[0], "server_restarts"), 1, "{schemes:?}");
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let bench = bench();
    let refused = |flags: &str, named: &[&str]| {
        let line = format!("emulate three.yaml --sync r2sp {flags}");
        bench.refused(&line.split_whitespace().collect::<Vec<_>>(), named);
    };
    refused("--absent w9=1s..2s", &["--absent w9", "digits"]);
    refused("--absent w1=2s..1s", &["NAME=FROM..UNTIL"]);
    refused("--absent w1=1s..3s --absent w1=2s..5s", &["--absent w1", "overlap"]);
    refused("--absent w1=1s.. --absent w1=2s..5s", &["--absent w1", "overlap"]);
    refused("--absent s1=1s..", &["--absent s1", "time of its restart"]);
    refused("--faults pause.yaml", &["--faults", "pause.yaml", "host w1 stopped", "crash: w1"]);
    refused("--faults none.yaml", &["--faults", "none.yaml"]);
    refused("--push-timeout soon", &["--push-timeout", "soon", "2s"]);
    refused("--drop 100%", &["--drop", "1%"]);
    refused("--transport tcp", &["tcp", "frames"]);
    refused("--transport frames --congestion bbr", &["--congestion", "QUIC"]);
}
