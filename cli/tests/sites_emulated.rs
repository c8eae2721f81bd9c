//! `inart site`, `inart scheduler` and `inart emulate` on networks of sites, as processes.
#![allow(clippy::unwrap_used)]

use std::process::Command;

use serde_json::Value;

use crate::support::ring::{NETWORK, Ring};
use crate::support::{Workbench, turn};

#[test]
fn a_network_of_sites_is_emulated_and_every_sum_checked() {
    let _turn = turn();
    let bench = Workbench::new();
    bench.write("net.yaml", NETWORK);
    let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
    command.args(["--json", "emulate"]).arg(bench.path("net.yaml"));
    command.args(["--schemes", "optimized,netstorm+", "--scale", "1", "--rounds", "3", "--duration", "30s"]);
    command.arg("--chart").arg(bench.path("chart.svg"));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("run as root") {
        eprintln!("skipped: root is needed to make network namespaces");
        return;
    }
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for scheme in report["schemes"].as_array().unwrap() {
        assert_eq!(scheme["rounds"].as_array().unwrap().len(), 3);
        assert_eq!(scheme["sums_checked"], 3 * 3 * 203_304 / 4);
        assert!(scheme["mean_s"].as_f64().unwrap() >= scheme["bound_s"].as_f64().unwrap() * 0.5);
    }
    assert!(std::fs::read_to_string(bench.path("chart.svg")).unwrap().contains("netstorm+"));
}

/// The ring with a gradient that takes fifteen times as long as what is emulated of it.
#[test]
fn times_of_sites_are_those_of_the_document() {
    let _turn = turn();
    let bench = Workbench::new();
    let long = [("203304 B", "20 MB"), ("chunk: 16 KB", "chunk: 1600 KB"), ("delay: 5 ms", "delay: 150 ms")];
    let long = long.iter().fold(NETWORK.to_owned(), |text, (short, long)| text.replace(short, long));
    bench.write("net.yaml", long);
    let plan = bench.inart(&["--json", "plan", "net.yaml"]);
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    let bound_s = plan["bounds"]["seconds"].as_f64().unwrap();
    let run = ["emulate", "net.yaml", "--schemes", "optimized", "--scale", "1/4", "--rounds", "2"];
    let output = bench.inart(&[&["--json"], &run[..], &["--knowledge", "static"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("run as root") {
        eprintln!("skipped: root is needed to make network namespaces");
        return;
    }
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let times = report["scale"]["times"].as_f64().unwrap();
    assert!((times - 203_304.0 / 20e6 * 4.0).abs() < 1e-9, "{report}");
    let scheme = &report["schemes"][0];
    let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
    // The plan's own bound, but for a chunk that is a little longer in proportion.
    assert!((number(scheme, "bound_s") / bound_s - 1.0).abs() < 0.02, "{bound_s}: {scheme}");
    // Links never carry more than their rates, whatever the machine is at.
    for seconds in [&scheme["mean_s"], &scheme["simulated"]["mean_s"], &scheme["rounds"][0]["seconds"]] {
        assert!(seconds.as_f64().unwrap() > 0.8 * bound_s, "{bound_s}: {scheme}");
    }
    assert!(number(&scheme["rounds"][1], "start_s") > 0.8 * bound_s, "{scheme}");
}

#[test]
fn what_a_site_cannot_use_is_named_with_its_fix() {
    let ring = Ring::new(1);
    let refused = |name: &str, command: &[&str], more: &[&str]| {
        let output = ring.command("net.yaml", name, command).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    for (name, more, expected) in [
        ("n1", &["--peer", "n9=127.0.0.1:1"][..], "n9 is not a neighbor of n1; name one of n2, n3"),
        ("n1", &["--peer", "n9"], "write NAME=HOST:PORT"),
        ("scheduler", &[], "--name scheduler: network ring has no such host; name one of n1, n2, n3"),
        ("n1", &["--rounds", "0"], "--rounds 0: give at least 1"),
    ] {
        let said = refused(name, &["host"], more);
        assert!(said.contains(expected), "{said}");
    }
    let said = refused("scheduler", &["scheduler"], &["--peer", "n9=127.0.0.1:1"]);
    assert!(said.contains("--peer n9: no such site; name some of n1, n2, n3"), "{said}");
    ring.bench.write("net.yaml", NETWORK.replace("203304 B", "400 B"));
    let said = refused("n1", &["host"], &[]);
    assert!(said.contains("its gradient has 100 values and the model 50826"), "{said}");
    ring.bench.write("n1.key", "nothing");
    ring.bench.write("net.yaml", NETWORK);
    let said = refused("n1", &["host"], &[]);
    assert!(said.contains("n1.key") && said.contains("it has no key"), "{said}");
}
