//! Plans of a user's own on processes and links: what runs is the plan that was given.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use crate::support::ring::NETWORK;
use crate::support::{Workbench, root, turn};

/// The report of an emulation; none where this process may not make namespaces.
fn emulated(bench: &Workbench, line: &str) -> Option<Value> {
    let _turn = turn();
    let output = bench.inart(&["--json", "emulate"].into_iter().chain(line.split(' ')).collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("run as root") {
        eprintln!("skipped: root is needed to make network namespaces");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// All gradients of Fig. 1 are summed at v2 and halved between the servers.
#[test]
fn routes_of_ones_own_are_emulated_and_every_sum_checked() {
    let bench = Workbench::new();
    let flow = |(server, worker): (&str, usize)| {
        let name = format!("w{worker}");
        let path = if worker <= 4 { json!([name, "v1", "v2"]) } else { json!([name, "v2"]) };
        json!({"worker": name, "server": server, "path": path})
    };
    let flows = ["s1", "s2"].into_iter().flat_map(|server| (1..=6).map(move |worker| (server, worker)));
    let trunk = |server: &str| json!({"aggregator": "v2", "server": server, "path": ["v2", server]});
    let routes = json!({"flows": flows.map(flow).collect::<Vec<_>>(), "trunks": [trunk("s1"), trunk("s2")]});
    bench.write("routes.json", routes.to_string());
    let planned = bench.inart(&["plan", "fig1.yaml", "--complete", "routes.json", "--json"]);
    let planned: Value = serde_json::from_slice(&planned.stdout).unwrap();
    let line = "fig1.yaml --plan routes.json --schemes lbmm --rounds 3 --gradient 40KB";
    let Some(report) = emulated(&bench, line) else { return };
    assert_eq!(report["schemes"].as_object().unwrap().len(), 2, "{report}");
    let own = &report["schemes"]["own"];
    assert_eq!((&report["bit_exact"], &own["planned_rate_bps"]), (&true.into(), &planned["rate_bps"]));
    // The gradients of all workers are summed at v2.
    assert!(own["packets_aggregated"].as_u64().unwrap() > 0, "{own}");
}

#[test]
fn trees_of_ones_own_are_emulated_and_every_sum_checked() {
    let bench = Workbench::new();
    bench.write("net.yaml", NETWORK);
    // Never what a scheme takes: all over the slowest link.
    let trees = json!({"trees": [{"root": "n2", "parents": {"n1": "n2", "n3": "n1"}}]});
    bench.write("trees.json", trees.to_string());
    let line = "net.yaml --plan trees.json --scale 1 --rounds 3 --duration 30s --gradient 100KB";
    let Some(report) = emulated(&bench, line) else { return };
    let [own] = &report["schemes"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!((&own["scheme"], own["rounds"].as_array().unwrap().len()), (&"own".into(), 3));
    assert_eq!(own["sums_checked"], 3 * 3 * 25_000);
    // 0.8 Mbit over n1 to n2, from 3 to 8 Mbps, up once: never less than a tenth of a second.
    assert!(own["mean_s"].as_f64().unwrap() >= 0.1, "{own}");
}

#[test]
fn receivers_of_ones_own_are_emulated_and_every_update_compared() {
    let bench = Workbench::new();
    std::fs::copy(root().join("topologies/mesh4.yaml"), bench.path("mesh4.yaml")).unwrap();
    let task = |from: &str, to: &[&str]| json!({"from": from, "to": to});
    let tasks = [
        task("p1", &["p2", "p3", "p4"]),
        task("p2", &["p3", "p4"]),
        task("p3", &["p4", "p1"]),
        task("p4", &["p1", "p2"]),
    ];
    bench.write("tasks.json", json!({ "tasks": tasks }).to_string());
    let Some(report) = emulated(&bench, "mesh4.yaml --plan tasks.json --rounds 4 --update 40KB") else {
        return;
    };
    let [own] = &report["schemes"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!((&own["scheme"], &own["updates_checked"]), (&"own".into(), &(4 * 9).into()));
    assert_eq!(own["receivers_mean"], 9.0 / 4.0);
}
