//! The controller watches its network while real processes train: a link, or a switch, of the plan fails, or
//! background traffic starts on it; another plan is active soon, no round is lost, and the weights at the end
//! are those of an undisturbed training. Skipped without root.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use inart_controller::Records;
use inart_tests::{document, inart, turn};
use inart_wire::JobId;
use serde_json::Value;
use tempfile::TempDir;

/// Two paths between the workers and the server, and rounds of a good second each.
const TWO_WAYS: &str = "name: ways
nodes:
  - {name: l1, kind: switch, aggregation_capacity: 8 Gbps}
  - {name: l2, kind: switch, aggregation_capacity: 8 Gbps}
  - {name: p1, kind: switch, aggregation_capacity: 8 Gbps}
  - {name: p2, kind: switch, aggregation_capacity: 8 Gbps}
  - {name: s1, kind: server, ingress_capacity: 4 Gbps}
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
  - {name: w3, kind: worker}
links:
  - {ends: [w1, l1], rate: 4 Gbps}
  - {ends: [w2, l1], rate: 4 Gbps}
  - {ends: [w3, l1], rate: 4 Gbps}
  - {ends: [s1, l2], rate: 4 Gbps}
  - {ends: [l1, p1], rate: 4 Gbps}
  - {ends: [l1, p2], rate: 4 Gbps}
  - {ends: [p1, l2], rate: 4 Gbps}
  - {ends: [p2, l2], rate: 4 Gbps}
";

/// A running emulation; killed when dropped.
struct Emulation(Option<Child>);

impl Drop for Emulation {
    fn drop(&mut self) {
        if let Some(mut process) = self.0.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Returns the network of two paths with hosts outside the job, at one of the switches in the middle and at
/// the end of its link.
fn with_others(network: &str, middle: &str) -> String {
    let hosts = "  - {name: x, kind: worker}\n  - {name: y, kind: worker}\nlinks:\n";
    let wires = format!("  - {{ends: [x, {middle}], rate: 4 Gbps}}\n  - {{ends: [y, l2], rate: 4 Gbps}}\n");
    let jobs = "jobs: [{name: ways, workers: [w1, w2, w3], servers: [s1]}]\n";
    network.replace("links:\n", hosts) + &wires + jobs
}

/// Writes the network to a file. Returns the file, and the switch in the middle that a plan uses.
fn network(folder: &Path, network: &str) -> (String, String) {
    let file = folder.join("ways.yaml");
    std::fs::write(&file, network).expect("written");
    let file = file.display().to_string();
    let planned = Command::new(inart()).args(["plan", &file, "--json"]).output().expect("runs");
    let plan: Value = serde_json::from_slice(&planned.stdout).expect("a plan");
    let paths = ["flows", "trunks"].map(|list| plan[list].as_array().expect("a list").clone()).concat();
    let nodes = paths.iter().flat_map(|leg| leg["path"].as_array().expect("a path").clone());
    let used = nodes.into_iter().find(|node| *node == "p1" || *node == "p2").expect("it goes through one");
    (file, used.as_str().expect("a name").to_owned())
}

fn emulate(network: &str, folder: &Path, faults: Option<&str>) -> Command {
    let mut command = Command::new(inart());
    command.args(["emulate", network, "--json", "--batch", "4", "--rounds", "12", "--schemes", "optimized"]);
    command.args(["--scale", "1/1000", "--chart"]).arg(folder.join("chart.svg"));
    if let Some(faults) = faults {
        let file = folder.join("faults.yaml");
        std::fs::write(&file, faults).expect("written");
        command.arg("--follow").arg("--faults").arg(file).arg("--debug-dir").arg(folder);
    }
    command
}

/// Returns the decisions of the emulation's controller so far.
fn decisions(folder: &Path) -> Vec<Value> {
    let mut command = Command::new(inart());
    let address = format!("unix:{}", folder.join("controller.sock").display());
    let output = command.args(["--json", "decisions", &address]).output().expect("runs");
    let document: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    document.and_then(|document| document["decisions"].as_array().cloned()).unwrap_or_default()
}

/// Returns the switches in the middle that the plan in force uses.
fn active_middle(folder: &Path) -> BTreeSet<String> {
    let records = Records::open(&folder.join("state"), "ways").expect("readable");
    let plan = &records.jobs[&JobId::from(1)].live().expect("active").plan;
    let legs = plan.flows.iter().map(|flow| &flow.path).chain(plan.trunks.iter().map(|trunk| &trunk.path));
    legs.flatten().filter(|node| node.starts_with('p')).cloned().collect()
}

/// Trains on a network during a failure or background traffic on the plan's path, and returns the
/// controller's change: to a plan through another switch in the middle.
fn survives(text: &str, faults: impl FnOnce(&str) -> String) -> Value {
    let folder = TempDir::new().expect("a folder");
    let (network, used) = network(folder.path(), text);
    let undisturbed = document(&emulate(&network, folder.path(), None).output().expect("runs"));
    let mut command = emulate(&network, folder.path(), Some(&faults(&used)));
    let started = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut emulation = Emulation(Some(started));
    let begun = Instant::now();
    let change = loop {
        let is_running =
            emulation.0.as_mut().is_some_and(|child| child.try_wait().expect("a child").is_none());
        let all = decisions(folder.path());
        if let Some(change) = all.iter().find(|decision| decision["outcome"]["result"] == "done") {
            break change.clone();
        }
        assert!(
            is_running,
            "the emulation ended without a change: {:?}",
            emulation.0.take().map(Child::wait_with_output)
        );
        assert!(begun.elapsed() < Duration::from_secs(60), "no change: {all:?}");
        std::thread::sleep(Duration::from_millis(50));
    };
    eprintln!("{change}");
    let middle = active_middle(folder.path());
    let summary = document(&emulation.0.take().expect("once").wait_with_output().expect("ends"));
    assert_eq!(summary["bit_exact"], true);
    let [figures, before] = [&summary, &undisturbed].map(|summary| &summary["schemes"]["optimized"]);
    assert_eq!(figures["rounds"], 12, "{figures}");
    assert_eq!(figures["jobs"][0]["digest"], before["jobs"][0]["digest"], "the same bits");
    assert!(!middle.is_empty() && !middle.contains(&used), "{middle:?} instead of {used}");
    change
}

#[test]
fn a_link_of_the_plan_fails_and_training_continues_around_it() {
    let Some(_turn) = turn() else { return };
    let faults = |used: &str| format!("events: [{{at: 2 s, link_down: [l1, {used}], duration: 3600 s}}]\n");
    let change = survives(TWO_WAYS, faults);
    assert_eq!(change["trigger"]["kind"], "lost");
    assert_eq!(change["jobs"][0]["in_force_bps"], 0.0);
    let parts = change["trigger"]["parts"].as_array().expect("a list");
    assert!(parts[0].as_str().is_some_and(|part| part.starts_with("link l1-p")), "{change}");
}

#[test]
fn a_switch_of_the_plan_fails_and_training_continues_without_it() {
    let Some(_turn) = turn() else { return };
    let faults = |used: &str| format!("events: [{{at: 2 s, restart: {used}, duration: 6 s}}]\n");
    let change = survives(TWO_WAYS, faults);
    assert_eq!(change["trigger"]["kind"], "lost");
    assert_eq!(change["jobs"][0]["in_force_bps"], 0.0);
    let parts = change["trigger"]["parts"].as_array().expect("a list");
    assert!(parts[0].as_str().is_some_and(|part| part.starts_with("switch p")), "{change}");
}

#[test]
fn background_traffic_on_the_plans_path_moves_training_to_the_other_path() {
    let Some(_turn) = turn() else { return };
    let folder = TempDir::new().expect("a folder");
    // The hosts of the other traffic are where the plan of that same network leads.
    let at = ["p1", "p2"].into_iter().find(|at| network(folder.path(), &with_others(TWO_WAYS, at)).1 == *at);
    let text = with_others(TWO_WAYS, at.expect("a plan that they share links with"));
    let traffic =
        |_: &str| "background: [{from: x, to: y, rate: 3 Gbps, at: 3 s, protocol: udp}]\n".to_owned();
    let change = survives(&text, traffic);
    let trigger = &change["trigger"];
    assert_eq!(trigger["kind"], "background", "{change}");
    // Of the links that the traffic goes over, the one on which it was seen to be most.
    let (at, resource) = (at.expect("found"), trigger["resource"].as_str().expect("a name"));
    assert!(resource.starts_with("link ") && resource.contains(at) || resource == "link l2->y", "{change}");
    let [now, planned] = ["now_bps", "planned_bps"].map(|key| trigger[key].as_f64().expect("a rate"));
    assert!(planned == 0.0 && now > 1e9, "{change}");
    let job = &change["jobs"][0];
    assert!(job["new_bps"].as_f64() > job["in_force_bps"].as_f64(), "{change}");
    assert_eq!(job["limit"], format!("link {at}->l2"), "{change}");
}
