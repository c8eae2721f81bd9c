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
    command.args(["--schemes", "inart,netstorm+", "--scale", "1", "--rounds", "3", "--duration", "30s"]);
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

#[test]
fn what_a_site_cannot_use_is_named_with_its_fix() {
    let ring = Ring::new(1);
    let refused = |name: &str, command: &[&str], more: &[&str]| {
        let output = ring.command("net.yaml", name, command).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    for (name, more, expected) in [
        (
            "n1",
            &["--peer", "n9=127.0.0.1:1"][..],
            "n9 is no neighbour of n1 in the network; neighbours are n2, n3",
        ),
        ("n1", &["--peer", "n9"], "write NAME=HOST:PORT"),
        ("scheduler", &[], "site \"scheduler\" is not in job job; name one of n1, n2, n3"),
        ("n1", &["--rounds", "0"], "--rounds 0: give at least 1"),
    ] {
        let said = refused(name, &["site"], more);
        assert!(said.contains(expected), "{said}");
    }
    let said = refused("scheduler", &["scheduler"], &["--peer", "n9=127.0.0.1:1"]);
    assert!(said.contains("--peer n9: no such site; name some of n1, n2, n3"), "{said}");
    ring.bench.write("net.yaml", NETWORK.replace("203304 B", "400 B"));
    let said = refused("n1", &["site"], &[]);
    assert!(said.contains("its gradient has 100 values and the model 50826"), "{said}");
    ring.bench.write("n1.key", "nothing");
    ring.bench.write("net.yaml", NETWORK);
    let said = refused("n1", &["site"], &[]);
    assert!(said.contains("n1.key") && said.contains("there is no key in it"), "{said}");
}
