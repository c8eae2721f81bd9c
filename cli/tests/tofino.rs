//! `inart push --target tofino` over BFRuntime, against `inart switch --bfrt`, with the built-in program.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;
use support::switches::document;
use support::{Workbench, is_refusal};

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

    assert!(updates(&command("push", "plan.json", &to)) > 0);
    assert_eq!(updates(&command("push", "plan.json", &[])), 0, "a second push changes nothing");
    assert_eq!(updates(&command("diff", "plan.json", &[])), 0);
    assert!(updates(&command("diff", "lbmm.json", &[])) > 0);
    assert!(updates(&command("push", "lbmm.json", &[])) > 0);
    let rollback = document(&bench, &[&["rollback"], &target[..]].concat());
    assert!(updates(&rollback) > 0);
    assert_eq!(updates(&command("diff", "plan.json", &[])), 0);

    // A P4Runtime client finds no P4Runtime there, and is told so in one line.
    let wrong = ["diff", "plan.json", "fig1.yaml", "--state", "state", "--values", "32"];
    is_refusal(&bench.inart(&wrong), &wrong, &["switch v1"]);
    let missing =
        ["diff", "plan.json", "fig1.yaml", "--target", "tofino", "--p4", "elsewhere", "--state", "state"];
    is_refusal(&bench.inart(&missing), &missing, &["elsewhere"]);
}
