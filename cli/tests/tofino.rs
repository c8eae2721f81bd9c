//! `inart apply --target tofino` over BFRuntime, against `inart switch --bfrt`, with the built-in program.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;
use support::switches::document;
use support::{Workbench, is_refusal, root};

/// A switch without ports; killed when dropped.
struct Switch {
    process: Child,
    address: String,
}

impl Drop for Switch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn start(bench: &Workbench) -> Switch {
    let arguments = ["switch", "--no-p4", "--bfrt", "127.0.0.1:0", "--device-id", "4"];
    let mut process = bench.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    Switch { process, address }
}

#[test]
fn a_plan_is_pushed_over_bfruntime_compared_and_rolled_back() {
    let bench = Workbench::new();
    let lbmm = bench.inart(&["plan", "fig1.yaml", "--scheme", "lbmm", "--json"]);
    bench.write("lbmm.json", lbmm.stdout);
    let [one, two] = [(); 2].map(|()| start(&bench));
    let at = |name, switch: &Switch| format!("{name}={},device=4", switch.address);
    let switches = [at("v1", &one), at("v2", &two)];
    let target = ["--target", "tofino"];
    let to = ["--switch", &switches[0], "--switch", &switches[1]];
    let command = |name, plan, more: &[&str]| {
        let arguments = [&[name, plan, "fig1.yaml"], &target[..], more].concat();
        document(&bench, &arguments)
    };
    let updates = |document: &Value| document["updates"].as_u64().unwrap();

    assert!(updates(&command("apply", "plan.json", &to)) > 0);
    assert_eq!(updates(&command("apply", "plan.json", &[])), 0, "a second push changes nothing");
    assert_eq!(updates(&command("diff", "plan.json", &[])), 0);
    assert!(updates(&command("diff", "lbmm.json", &[])) > 0);
    assert!(updates(&command("apply", "lbmm.json", &[])) > 0);
    let rollback = document(&bench, &[&["rollback"], &target[..]].concat());
    assert!(updates(&rollback) > 0);
    assert_eq!(updates(&command("diff", "plan.json", &[])), 0);

    // A P4Runtime client is refused in one line: the switch serves no P4Runtime.
    let wrong = ["diff", "plan.json", "fig1.yaml", "--state", "state", "--values", "32"];
    is_refusal(&bench.inart(&wrong), &wrong, &["switch v1"]);
    let missing =
        ["diff", "plan.json", "fig1.yaml", "--target", "tofino", "--p4", "elsewhere", "--state", "state"];
    is_refusal(&bench.inart(&missing), &missing, &["elsewhere"]);
}

#[test]
fn entries_for_updates_between_peers_are_pushed_over_bfruntime() {
    let bench = Workbench::new();
    let mesh = std::fs::read(root().join("topologies/mesh4.yaml")).unwrap();
    bench.write("mesh4.yaml", mesh);
    let switch = start(&bench);
    let at = format!("s1={},device=4", switch.address);
    let push = |more: &[&str]| {
        let command = ["--json", "apply", "mesh4.yaml", "--target", "tofino", "--switch", &at];
        let output = bench.inart(&[&command[..], more].concat());
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let first = push(&[]);
    // Who sends: four peers; who is behind which port: four ports; the way of other frames: four addresses.
    assert!(first["updates"].as_u64().unwrap() >= 12, "{first}");
    assert_eq!(push(&[])["updates"], 0, "a second push changes nothing");
    let sums = ["apply", "plan.json", "fig1.yaml", "--target", "tofino", "--switch"];
    let [v1, v2] = ["v1=", "v2="].map(|name| at.replace("s1=", name));
    let arguments = [&sums[..], &[v1.as_str(), "--switch", v2.as_str()]].concat();
    is_refusal(&bench.inart(&arguments), &arguments, &["--replace-program"]);
    let wrong = ["apply", "mesh4.yaml", "--target", "tofino", "--switch", &at, "--values", "64"];
    is_refusal(&bench.inart(&wrong), &wrong, &["64 values", "give 256"]);
}

/// On Tofino sums and copies are programs of their own; the second job is refused with the names of both.
#[test]
fn a_tofino_sums_or_copies_and_says_so() {
    let bench = Workbench::new();
    bench.write(
        "mesh.yaml",
        "{name: m, nodes: [{name: v1, kind: switch}, {name: w1, kind: peer}, {name: w2, kind: peer}], links: [\
         {ends: [w1, v1], rate: 6 Gbps}, {ends: [w2, v1], rate: 6 Gbps}], \
         jobs: [{name: lstm, receivers: 1, update: 8 B}]}",
    );
    let both = "job digits is summed and job lstm copied, and on these switches that takes two programs";
    for (first, second) in [("plan.json", "mesh.yaml"), ("mesh.yaml", "plan.json")] {
        let [one, two] = [(); 2].map(|()| start(&bench));
        let at = |name, switch: &Switch| format!("{name}={},device=4", switch.address);
        let switches = [at("v1", &one), at("v2", &two)];
        let state = ["--target", "tofino", "--state", if first == "plan.json" { "summed" } else { "copied" }];
        let to = ["--switch", &switches[0], "--switch", &switches[1]];
        let pushed = bench.inart(&[&["apply", first, "fig1.yaml"], &state[..], &to].concat());
        assert!(pushed.status.success(), "{pushed:?}");
        // Without the number of values that is installed, the missing program is named first.
        let replaced: &[&[&str]] = if first == "plan.json" { &[&[], &["--replace-program"]] } else { &[&[]] };
        for &more in replaced {
            let arguments = [&["apply", second, "fig1.yaml"], &state[..], more].concat();
            is_refusal(&bench.inart(&arguments), &arguments, &[both, "inart remove lstm TOPOLOGY"]);
        }
        let same = bench.inart(&[&["--json", "diff", first, "fig1.yaml"], &state[..]].concat());
        let same: Value = serde_json::from_slice(&same.stdout).unwrap();
        assert_eq!(same["updates"], 0, "{same}");
    }
}
