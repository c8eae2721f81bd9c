//! `inart emulate` on networks of peers: processes in namespaces, every update compared.
#![allow(clippy::unwrap_used)]

use serde_json::Value;

use crate::support::{Workbench, root, turn};

/// Three peers, each of which sends to both others; after 300 ms a tenth is left of p1's port down.
const SLOWER: &str = "\
name: slower
nodes: [{name: s, kind: switch}, {name: p1, kind: peer}, {name: p2, kind: peer}, {name: p3, kind: peer}]
links:
  - {ends: [p1, s], rate: 40 Mbps}
  - {ends: [p2, s], rate: 40 Mbps}
  - {ends: [p3, s], rate: 40 Mbps}
traces:
  - {link: [s, p1], every: 300 ms, rates: [40 Mbps, 4 Mbps]}
jobs:
  - {name: all, receivers: 2, update: 200 KB}
";

/// A network whose links delay and lose frames, with compute times.
fn lossy() -> String {
    let lossy = SLOWER.replace("rate: 40 Mbps}", "rate: 40 Mbps, delay: 2 ms, loss: 1%}");
    let timed = lossy.replace("update: 200 KB}", "update: 200 KB, compute: {mean: 50 ms, cv: 0.5}}");
    let start = timed.find("traces:").unwrap();
    let end = timed.find("jobs:").unwrap();
    timed[..start].to_owned() + &timed[end..]
}

/// The report of an emulation; none where this process may not make namespaces.
fn emulated(bench: &Workbench, arguments: &[&str]) -> Option<Value> {
    let _turn = turn();
    let output = bench.inart(&[&["--json", "emulate"], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("run as root") {
        eprintln!("skipped: root is needed to make network namespaces");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn rounds_of_all_schemes_follow_their_ports() {
    let bench = Workbench::new();
    bench.write("slower.yaml", SLOWER);
    let arguments = ["slower.yaml", "--schemes", "optimized,orpheus", "--scale", "1", "--rounds", "8"];
    let more = ["--update", "200 KB", "--chart", "out/chart.svg"];
    let Some(report) = emulated(&bench, &[&arguments[..], &more].concat()) else { return };
    assert!(bench.read("out/chart.svg").contains("orpheus"));
    let schemes = report["schemes"].as_array().unwrap();
    assert_eq!(schemes.iter().map(|scheme| &scheme["scheme"]).collect::<Vec<_>>(), ["optimized", "orpheus"]);
    for scheme in schemes {
        assert_eq!(scheme["updates_checked"], 3 * 2 * 8, "{scheme}");
        assert_eq!(scheme["receivers_mean"], 2.0);
        assert_eq!((&scheme["given_up"], &scheme["gone"]), (&0.into(), &0.into()), "{scheme}");
        let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
        // Two copies of 1.6 Mbit over 40 Mbps, of which headers and acknowledgements take their part.
        let rounds = scheme["each_round"].as_array().unwrap();
        let planned_s = number(&rounds[0], "planned_s");
        assert!((0.08..0.09).contains(&planned_s), "{planned_s}");
        assert_eq!(rounds.len(), 8);
        assert!(number(&rounds[7], "seconds") > 4.0 * planned_s, "p1's port is not slower: {scheme}");
        // The coordinator knows the first rates only; of the trace it learns by how long copies took.
        assert!(number(&rounds[7], "planned_s") > 3.0 * planned_s, "it does not follow the trace: {scheme}");
        // All that updates have is in what ports carried, and ports carried more than that.
        let share = number(scheme, "payload_share");
        assert!((0.5..0.95).contains(&share), "{share}");
    }
}

/// Plans and simulations of updates ten times as long do not depend on the emulation's scale.
#[test]
fn times_of_peers_are_those_of_the_document() {
    let bench = Workbench::new();
    let (start, end) = (SLOWER.find("traces:").unwrap(), SLOWER.find("jobs:").unwrap());
    let steady = SLOWER[..start].to_owned() + &SLOWER[end..].replace("200 KB", "2 MB");
    bench.write("steady.yaml", steady);
    let arguments = ["steady.yaml", "--schemes", "optimized", "--rounds", "2", "--update", "200 KB"];
    let Some(report) = emulated(&bench, &[&arguments[..], &["--scale", "1/2"]].concat()) else { return };
    assert!((report["scale"]["times"].as_f64().unwrap() - 0.2).abs() < 1e-9, "{report}");
    let scheme = &report["schemes"][0];
    let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
    // Two copies of 16 Mbit over 40 Mbps, of which headers and acknowledgements take their part.
    for (of, key) in [(&scheme["each_round"][0], "planned_s"), (scheme, "simulated_s")] {
        assert!((0.8..0.9).contains(&number(of, key)), "{key}: {scheme}");
    }
    assert!(number(scheme, "planned_s") > 0.8, "{scheme}");
    for (of, key) in [(scheme, "seconds"), (scheme, "round_s"), (&scheme["each_round"][1], "whole_s")] {
        assert!(number(of, key) > 0.75, "{key}: {scheme}");
    }
    assert!(number(&scheme["each_round"][1], "start_s") > 0.75, "{scheme}");
}

#[test]
fn the_summary_says_what_became_of_plans_where_rates_change() {
    let _turn = turn();
    let bench = Workbench::new();
    bench.write("slower.yaml", SLOWER);
    bench.write("steady.yaml", SLOWER.replace("[40 Mbps, 4 Mbps]", "[40 Mbps]"));
    for (network, changes) in [("slower.yaml", true), ("steady.yaml", false)] {
        let arguments = ["emulate", network, "--schemes", "optimized", "--scale", "1", "--rounds", "4"];
        let output = bench.inart(&[&arguments[..], &["--update", "200 KB"]].concat());
        if String::from_utf8_lossy(&output.stderr).contains("run as root") {
            eprintln!("skipped: root is needed to make network namespaces");
            return;
        }
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("24 updates arrived"), "{said}");
        assert_eq!(said.contains("rates changed: optimized by hosts planned 0.08"), changes, "{said}");
    }
}

#[test]
fn stale_synchronous_peers_train_over_links_that_lose_frames() {
    let bench = Workbench::new();
    bench.write("lossy.yaml", lossy());
    let arguments =
        ["lossy.yaml", "--scheme", "selmcast", "--sync", "ssp", "--staleness", "2", "--rounds", "6"];
    let Some(report) = emulated(&bench, &[&arguments[..], &["--scale", "1", "--batch", "8"]].concat()) else {
        return;
    };
    let [scheme] = &report["schemes"].as_array().unwrap()[..] else { panic!("{report}") };
    // Everybody's update goes to both others, but what is withdrawn or comes after a newer one.
    let checked = scheme["updates_checked"].as_u64().unwrap();
    assert!((18..=3 * 2 * 6).contains(&checked), "{scheme}");
    assert!(scheme["frames_lost"].as_u64().unwrap() > 0, "{scheme}");
    assert!(scheme["max_gap"].as_u64().unwrap() <= 3, "{scheme}");
    for key in ["utilization", "scale", "accuracy", "accuracy_least"] {
        let share = scheme[key].as_f64().unwrap();
        assert!(share > 0.0 && share < 1.0, "{key}: {scheme}");
    }
    assert_eq!(scheme["simulated"]["scheme"], "selmcast");
}

#[test]
fn what_cannot_be_emulated_is_refused_in_one_line() {
    let bench = Workbench::new();
    std::fs::copy(root().join("topologies/mesh4.yaml"), bench.path("mesh4.yaml")).unwrap();
    let refused = |flags: &str, named: &[&str]| {
        let flags: Vec<&str> = flags.split_whitespace().collect();
        bench.refused(&[&["emulate"], &flags[..]].concat(), named);
    };
    refused("mesh4.yaml --multicast all", &["--multicast", "hosts", "switch"]);
    refused("mesh4.yaml --multicast switch --values 100", &["--values", "256"]);
    refused("mesh4.yaml --multicast switch --values 1024", &["--values 1024", "32, 64 or 256"]);
    refused("mesh4.yaml --rounds 0", &["--rounds 0", "from 1"]);
    refused("mesh4.yaml --sync asp", &["--sync", "ssp"]);
    refused("mesh4.yaml --sync ssp --schemes optimized,optimal", &["--schemes optimal", "--sync bsp"]);
    refused("mesh4.yaml --schemes optimized,atp", &["--schemes", "selmcast"]);
    refused("mesh4.yaml --sync ssp --chart c.svg", &["--chart", "--sync bsp"]);
    refused("mesh4.yaml --sync ssp --finish-threshold 2", &["--finish-threshold 2"]);
    refused("mesh4.yaml --sync ssp --staleness few", &["--staleness", "or none"]);
    refused("mesh4.yaml --fairness-bound few", &["--fairness-bound", "or none"]);
    refused("mesh4.yaml --scale 2", &["--scale", "at most 1"]);
    refused("mesh4.yaml --update 0B", &["--update", "0B", "from 4 B"]);
    refused("mesh4.yaml --update 1MB --batch 3", &["--update", "--batch"]);
    refused("mesh4.yaml --batch 0", &["batch"]);
    refused("mesh4.yaml --congestion reno", &["--congestion", "bbr"]);
    refused("mesh4.yaml --job other", &["--job other", "digits"]);
    let text = bench.read("mesh4.yaml");
    let pair = text.replacen("receivers: 2", "receivers: 2, required_pairs: [[p1, p2]]", 1);
    bench.write("pair.yaml", pair);
    refused("pair.yaml", &["job digits", "one round"]);
    let drawn = bench.inart(&["topology", "mesh", "--peers", "65", "--receivers", "2"]);
    bench.write("many.yaml", drawn.stdout);
    refused("many.yaml", &["65 peers", "--multicast switch", "inart simulate"]);
    refused("many.yaml --multicast hosts,switch", &["65 peers", "--multicast switch"]);
    let drawn = bench.inart(&["topology", "mesh", "--peers", "257", "--receivers", "2"]);
    bench.write("more.yaml", drawn.stdout);
    refused("more.yaml --multicast switch", &["257 peers", "256", "inart simulate"]);
}
