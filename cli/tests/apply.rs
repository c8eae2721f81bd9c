//! `inart apply`, `diff` and `rollback` against two switches on the loopback interface.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::switches::{document, start};
use support::{Workbench, is_refusal};

#[test]
fn a_plan_is_pushed_compared_and_rolled_back() {
    let bench = Workbench::new();
    let lbmm = bench.inart(&["plan", "fig1.yaml", "--scheme", "lbmm", "--json"]);
    bench.write("lbmm.json", lbmm.stdout);
    let [one, two] = [(); 2].map(|()| start(&bench, "127.0.0.1:0"));
    let switches = [format!("v1={}", one.address), format!("v2={}", two.address)];
    let push = [
        "apply",
        "plan.json",
        "fig1.yaml",
        "--switch",
        &switches[0],
        "--switch",
        &switches[1],
        "--assignments",
        "jobs",
    ];
    let (again, other) = (["apply", "plan.json", "fig1.yaml"], ["apply", "lbmm.json", "fig1.yaml"]);
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
fn a_new_plan_version_can_be_rolled_back() {
    let bench = Workbench::new();
    let [one, two] = [(); 2].map(|()| start(&bench, "127.0.0.1:0"));
    let switches = [format!("v1={}", one.address), format!("v2={}", two.address)];
    document(
        &bench,
        &["apply", "plan.json", "fig1.yaml", "--switch", &switches[0], "--switch", &switches[1]],
    );
    let plan_version = |document: &Value| document["assignments"][0]["plan_version"].as_u64().unwrap();
    assert_eq!(
        plan_version(&document(&bench, &["apply", "plan.json", "fig1.yaml", "--new-plan-version"])),
        2
    );
    assert_eq!(plan_version(&document(&bench, &["rollback"])), 3, "the hosts' sequences restart");
}

/// `--values auto`: what fits the links at first, and what is installed from then on.
#[test]
fn frames_are_as_long_as_links_carry_and_stay_so() {
    let bench = Workbench::new();
    bench.write("jumbo.yaml", bench.read("fig1.yaml").replacen("nodes:", "mtu: 9000\nnodes:", 1));
    let [one, two] = [(); 2].map(|()| start(&bench, "127.0.0.1:0"));
    let switches = [format!("v1={}", one.address), format!("v2={}", two.address)];
    let first = ["apply", "plan.json", "fig1.yaml", "--switch", &switches[0], "--switch", &switches[1]];
    let values = |document: &Value| document["assignments"][0]["values_per_frame"].as_u64().unwrap();
    assert_eq!(values(&document(&bench, &first)), 256);
    assert_eq!(values(&document(&bench, &["apply", "plan.json", "jumbo.yaml"])), 256, "the program stays");
    document(&bench, &["remove", "digits", "jumbo.yaml"]);
    assert_eq!(values(&document(&bench, &["apply", "plan.json", "jumbo.yaml"])), 256, "even without a job");
    let replaced = ["apply", "plan.json", "jumbo.yaml", "--replace-program"];
    assert_eq!(values(&document(&bench, &replaced)), 2048);
    assert_eq!(values(&document(&bench, &["apply", "plan.json", "jumbo.yaml"])), 2048);
}

/// A host was added since the push that is returned to, at the front: ports and addresses have other numbers
/// now.
#[test]
fn a_rollback_keeps_to_the_topology_of_today() {
    let bench = Workbench::new();
    let today = bench.read("fig1.yaml");
    let today = today.replace("nodes:\n", "nodes:\n  - {name: w7, kind: worker}\n");
    let today = today.replace("links:\n", "links:\n  - {ends: [w7, v1], rate: 6 Gbps}\n");
    bench.write("today.yaml", today);
    let lbmm = bench.inart(&["plan", "today.yaml", "--scheme", "lbmm", "--json"]);
    bench.write("lbmm.json", lbmm.stdout);
    let [one, two] = [(); 2].map(|()| start(&bench, "127.0.0.1:0"));
    let switches = [format!("v1={}", one.address), format!("v2={}", two.address)];
    document(
        &bench,
        &["apply", "plan.json", "fig1.yaml", "--switch", &switches[0], "--switch", &switches[1]],
    );
    document(&bench, &["apply", "lbmm.json", "today.yaml"]);
    document(&bench, &["rollback", "--assignments", "jobs"]);
    let left = document(&bench, &["diff", "plan.json", "today.yaml"]);
    assert_eq!(left["updates"], 0, "{left}");
    let assignment: Value = serde_json::from_str(&bench.read("jobs/digits.json")).unwrap();
    assert_eq!(assignment["workers"][0]["mac"], "02:49:4e:41:00:05", "w1 is the sixth node of today");
}

/// A running controller is handed a plan; it says who does not follow, and shows what came of it.
#[test]
fn a_job_whose_hosts_do_not_follow_is_not_moved() {
    let bench = Workbench::new();
    bench.write("lbmm.json", bench.inart(&["plan", "fig1.yaml", "--scheme", "lbmm", "--json"]).stdout);
    let [one, two] = [(); 2].map(|()| start(&bench, "127.0.0.1:0"));
    let switches = [format!("v1={}", one.address), format!("v2={}", two.address)];
    let controller =
        ["controller", "fig1.yaml", "--plan", "plan.json", "--state", "state", "--change-within", "200ms"];
    let places = ["--listen", "unix:api.sock", "--switch", &switches[0], "--switch", &switches[1]];
    let mut controller = bench.command(&[&controller[..], &places].concat());
    let _controller = Killed(controller.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let push = ["apply", "lbmm.json", "fig1.yaml", "--controller", "unix:api.sock"];
    let begun = Instant::now();
    let output = loop {
        let output = bench.inart(&push);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !said.contains("nothing answers at unix:api.sock") && !said.contains("has not installed") {
            break output;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{said}");
        std::thread::sleep(Duration::from_millis(50));
    };
    let named = [
        "change 1 of job digits: refused: no acknowledgement from server-0, server-1, worker-0",
        "within 0.2 s",
    ];
    is_refusal(&output, &push, &named);
    let status = bench.inart(&["status", "unix:api.sock"]);
    let said = String::from_utf8_lossy(&status.stdout);
    assert!(said.contains("  change 1 of job digits: refused: no acknowledgement from"), "{said}");
    // What the controller decides is not for this command to say.
    bench.refused(&[&push[..], &["--window", "32"]].concat(), &["--window", "--controller"]);
}

/// A process that ends with the test.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
