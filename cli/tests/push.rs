//! `inart push`, `diff` and `rollback` against two switches on the loopback interface.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;
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

fn start(bench: &Workbench, address: &str) -> Switch {
    let arguments = ["switch", "--no-p4", "--", "--grpc-server-addr", address];
    let mut process = bench.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    Switch { process, address }
}

fn document(bench: &Workbench, arguments: &[&str]) -> Value {
    let output = bench.inart(&[arguments, &["--json", "--state", "state"]].concat());
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("one document")
}

#[test]
fn a_plan_is_pushed_compared_and_rolled_back() {
    let bench = Workbench::new();
    let lbmm = bench.inart(&["plan", "fig1.yaml", "--scheme", "lbmm", "--json"]);
    bench.write("lbmm.json", lbmm.stdout);
    let [one, two] = [(); 2].map(|()| start(&bench, "127.0.0.1:0"));
    let switches = [format!("v1={}", one.address), format!("v2={}", two.address)];
    let push = [
        "push",
        "plan.json",
        "fig1.yaml",
        "--switch",
        &switches[0],
        "--switch",
        &switches[1],
        "--assignments",
        "jobs",
    ];
    let (again, other) = (["push", "plan.json", "fig1.yaml"], ["push", "lbmm.json", "fig1.yaml"]);
    let updates = |document: &Value| document["updates"].as_u64().unwrap();
    let differs = |plan| updates(&document(&bench, &["diff", plan, "fig1.yaml"])) > 0;

    assert!(updates(&document(&bench, &push)) > 0);
    assert!(bench.read("jobs/digits.json").contains("\"window_chunks\""));
    assert_eq!(
        updates(&document(&bench, &again)),
        0,
        "a second push changes nothing, and knows the addresses"
    );
    assert!(!differs("plan.json") && differs("lbmm.json"));

    assert!(updates(&document(&bench, &other)) > 0);
    assert!(differs("plan.json") && !differs("lbmm.json"));
    assert!(updates(&document(&bench, &["rollback"])) > 0);
    assert!(!differs("plan.json") && differs("lbmm.json"));
    is_refusal(&bench.inart(&["rollback", "--state", "state"]), &["rollback"], &["digits"]);

    // One switch is gone: the push fails, and the other still does what it did.
    let address = two.address.clone();
    drop(two);
    let output = bench.inart(&[&other[..], &["--state", "state"]].concat());
    is_refusal(&output, &other, &["switch v2", &address]);
    let two = start(&bench, &address);
    let preview = document(&bench, &["diff", "plan.json", "fig1.yaml"]);
    assert_eq!(preview["switches"]["v1"]["updates"].as_array().unwrap().len(), 0, "{preview}");
    // Its tables went with it; the same push puts them back.
    assert!(updates(&document(&bench, &again)) > 0);
    assert!(!differs("plan.json"));
    drop(two);
}

#[test]
fn a_new_epoch_can_be_rolled_back() {
    let bench = Workbench::new();
    let [one, two] = [(); 2].map(|()| start(&bench, "127.0.0.1:0"));
    let switches = [format!("v1={}", one.address), format!("v2={}", two.address)];
    document(&bench, &["push", "plan.json", "fig1.yaml", "--switch", &switches[0], "--switch", &switches[1]]);
    let epoch = |document: &Value| document["assignments"][0]["epoch"].as_u64().unwrap();
    assert_eq!(epoch(&document(&bench, &["push", "plan.json", "fig1.yaml", "--new-epoch"])), 2);
    assert_eq!(epoch(&document(&bench, &["rollback"])), 3, "the hosts' sequences start anew");
}
