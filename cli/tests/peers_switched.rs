//! `inart emulate --multicast switch`: peers whose updates the embedded switch copies, every update compared
//! and no copy at a host that was not chosen.
#![allow(clippy::unwrap_used)]

use serde_json::Value;

use crate::support::{Workbench, root, turn};

/// Peers at one switch, p1 with a narrow port down; `extra` is about every link.
fn mesh(peers: usize, receivers: usize, extra: &str) -> String {
    let names = || (1..=peers).map(|peer| format!("p{peer}"));
    let nodes: String = names().map(|name| format!(", {{name: {name}, kind: peer}}")).collect();
    let rate = |name: &str| if name == "p1" { "[40 Mbps, 20 Mbps]" } else { "40 Mbps" };
    let link = |name: String| format!("  - {{ends: [{name}, s], rate: {}{extra}}}\n", rate(&name));
    let links: String = names().map(link).collect();
    format!(
        "name: switched\nnodes: [{{name: s, kind: switch}}{nodes}]\nlinks:\n{links}jobs:\n  - {{name: all, receivers: \
         {receivers}, update: 200 KB}}\n"
    )
}

/// The only scheme of an emulation; none where this process may not make namespaces.
fn emulated(bench: &Workbench, flags: &str) -> Option<Value> {
    let _turn = turn();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let output =
        bench.inart(&[&["--json", "emulate", "--multicast", "switch", "--scale", "1"], &flags[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("run as root") {
        eprintln!("skipped: root is needed to make network namespaces");
        return None;
    }
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["multicast"], "switch");
    let [scheme] = &report["schemes"].as_array().unwrap()[..] else { panic!("{report}") };
    Some(scheme.clone())
}

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("{key}: {of}"))
}

#[test]
fn an_update_leaves_once_and_reaches_whom_it_is_for() {
    let bench = Workbench::new();
    bench.write("three.yaml", mesh(3, 2, ""));
    let Some(scheme) = emulated(&bench, "three.yaml --scheme optimized --rounds 5 --update 200KB") else {
        return;
    };
    assert_eq!(scheme["updates_checked"], 3 * 2 * 5, "{scheme}");
    assert_eq!(number(&scheme, "receivers_mean"), 2.0);
    assert_eq!((&scheme["given_up"], &scheme["gone"]), (&0.into(), &0.into()), "{scheme}");
    assert_eq!(scheme["dropped"], serde_json::json!({}), "{scheme}");
    // Two updates of 196 frames of 1068 bytes through p1's port down, beside three notices of two others and
    // two words back.
    let planned_s = number(&scheme["each_round"][0], "planned_s");
    assert!((planned_s - (2.0 * 196.0 + 8.0) * 1068.0 * 8.0 / 20e6).abs() < 1e-3, "{planned_s}");
    // Of what ports down carried, nearly all is updates: where hosts copy, it is less, and none goes up
    // twice.
    assert!(number(&scheme, "payload_share") > 0.8, "{scheme}");
}

#[test]
fn what_links_lose_is_asked_for_and_sent_again() {
    let bench = Workbench::new();
    bench.write("lossy.yaml", mesh(4, 2, ", delay: 1 ms, loss: 2%"));
    let Some(scheme) = emulated(&bench, "lossy.yaml --scheme selmcast --rounds 6 --update 200KB") else {
        return;
    };
    assert!(number(&scheme, "updates_checked") >= (4 * 2 * 6) as f64, "{scheme}");
    assert_eq!(scheme["given_up"], 0, "{scheme}");
    // Of 4 · 6 · 196 chunks two in a hundred are lost on the way up, and more on the way down.
    assert!(number(&scheme, "frames_lost") > 100.0, "{scheme}");
    assert!(number(&scheme, "sent_again") > 50.0, "{scheme}");
}

/// The program for Tofino that copies updates, its entries written by BFRuntime.
#[test]
fn switches_of_other_kinds_copy_as_well() {
    let bench = Workbench::new();
    bench.write("four.yaml", mesh(4, 2, ""));
    for target in ["tofino", "tofino2"] {
        let flags = format!("four.yaml --scheme orpheus --rounds 4 --update 200KB --target {target}");
        let Some(scheme) = emulated(&bench, &flags) else { return };
        assert_eq!(scheme["updates_checked"], 4 * 2 * 4, "{target}: {scheme}");
        assert_eq!((&scheme["given_up"], &scheme["gone"]), (&0.into(), &0.into()), "{target}: {scheme}");
        let [switch] = &scheme["switches"].as_array().unwrap()[..] else { panic!("{scheme}") };
        // Every chunk of every update goes to three ports, of which two are to have it.
        assert!(number(switch, "unwanted") >= (4 * 4 * 196) as f64, "{target}: {switch}");
        assert_eq!(switch["dropped"], serde_json::json!({}), "{target}: {switch}");
    }
    bench.refused(
        &["emulate", "four.yaml", "--multicast", "switch", "--target", "tofino", "--values", "64"],
        &["--target tofino, --values 64", "give 256"],
    );
    bench.refused(&["emulate", "four.yaml", "--target", "tofino"], &["give --multicast switch"]);
}

/// After a second, other traffic takes three quarters of p1's port down. The coordinator does not read the
/// document's trace: peers report which chunks they lacked, and when.
#[test]
fn the_coordinator_follows_other_traffic_by_what_peers_measure() {
    let bench = Workbench::new();
    let trace = "traces:\n  - {link: [s, p1], every: 1 s, rates: [40 Mbps, 10 Mbps]}\njobs:";
    let slower = mesh(3, 1, "").replace("[40 Mbps, 20 Mbps]", "40 Mbps").replace("jobs:", trace);
    let slower = slower.replace("200 KB", "800 KB");
    bench.write("slower.yaml", slower);
    let Some(scheme) = emulated(&bench, "slower.yaml --scheme optimized --update 800KB --rounds 14") else {
        return;
    };
    let rounds = scheme["each_round"].as_array().unwrap();
    let planned_s: Vec<f64> = rounds.iter().map(|round| number(round, "planned_s")).collect();
    assert!(planned_s[0] < 0.18, "{planned_s:?}");
    // Another one's update instead of p1's, or p1's slower: what was planned of old holds no more.
    assert!(planned_s[13] > 1.4 * planned_s[0], "{planned_s:?}");
    assert_eq!(scheme["given_up"], 0, "{scheme}");
}

#[test]
fn stale_synchronous_peers_train_through_a_switch() {
    let bench = Workbench::new();
    let timed = mesh(3, 1, "").replace("200 KB", "203304 B, compute: {mean: 30 ms, cv: 0.5}");
    bench.write("timed.yaml", timed);
    let Some(scheme) = emulated(&bench, "timed.yaml --scheme optimized --sync ssp --staleness 2 --rounds 8")
    else {
        return;
    };
    assert!(number(&scheme, "updates_checked") >= 16.0, "{scheme}");
    assert!(number(&scheme, "max_gap") <= 3.0, "{scheme}");
    assert!(number(&scheme, "accuracy") > 0.1, "{scheme}");
}

#[test]
fn both_ways_are_run_one_after_the_other() {
    let _turn = turn();
    let bench = Workbench::new();
    bench.write("three.yaml", mesh(3, 2, ""));
    let flags = "--json emulate three.yaml --multicast hosts,switch --scale 1 --scheme optimized --rounds 3 --update 200KB \
                 --chart both.svg";
    let output = bench.inart(&flags.split_whitespace().collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("run as root") {
        return;
    }
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["multicast"], "hosts,switch");
    let [hosts, switch] = &report["schemes"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!((&hosts["multicast"], &switch["multicast"]), (&"hosts".into(), &"switch".into()));
    // Where hosts copy, two updates leave by each port up, and one where the switch does.
    assert!(
        number(switch, "port_load") * number(switch, "round_s")
            < number(hosts, "port_load") * number(hosts, "round_s")
    );
    assert!(bench.read("both.svg").contains("optimized by switch"));
}

#[test]
fn several_switches_copy_and_no_copy_crosses_a_link_without_a_receiver() {
    let _turn = turn();
    let bench = Workbench::new();
    std::fs::copy(root().join("topologies/mesh8-two-switches.yaml"), bench.path("two.yaml")).unwrap();
    let flags = "--json emulate two.yaml --multicast hosts,switch --scheme orpheus --rounds 4 --update 60KB";
    let output = bench.inart(&flags.split_whitespace().collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("run as root") {
        eprintln!("skipped: root is needed to make network namespaces");
        return;
    }
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [hosts, switch] = &report["schemes"].as_array().unwrap()[..] else { panic!("{report}") };
    for scheme in [hosts, switch] {
        // Orpheus draws two receivers of each update, no more.
        assert_eq!(scheme["updates_checked"], 8 * 2 * 4, "{scheme}");
        assert_eq!((&scheme["given_up"], &scheme["gone"]), (&0.into(), &0.into()), "{scheme}");
        assert_eq!(scheme["dropped"], serde_json::json!({}), "{scheme}");
    }
    assert_eq!(hosts["switches"], serde_json::json!([]));
    let switches = switch["switches"].as_array().unwrap();
    assert_eq!(switches.iter().map(|switch| &switch["switch"]).collect::<Vec<_>>(), ["s1", "s2"]);
    let chunks = 60_000_u64.div_ceil(4 * 256);
    for switch in switches {
        // A chunk leaves by all ports but its input port; at most two of seven have a receiver.
        let unwanted = switch["unwanted"].as_u64().unwrap();
        assert!(unwanted >= 2 * 4 * 4 * chunks, "{switch}");
        let kept_off = switch["pruned_at_trunks"].as_u64().unwrap();
        assert!(kept_off < unwanted, "{switch}");
    }
    // Of 32 updates one in seven is for two peers behind the sender's own switch.
    let kept_off: u64 = switches.iter().map(|switch| switch["pruned_at_trunks"].as_u64().unwrap()).sum();
    assert!(kept_off >= chunks, "{switches:?}");
}
