//! Plans change while real processes train: workers and servers follow the controller, no round is lost, and
//! the weights at the end are those of a training without changes. Needs root, and skips without.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use inart_host_agent::status::{HostStatus, ask};
use inart_tests::{document, emulate, inart, turn, workspace};
use serde_json::Value;
use tempfile::TempDir;

/// Rounds of a good half second each, on links that are slow enough for any machine.
const BASE: [&str; 6] = ["--rounds", "12", "--schemes", "atp", "--scale", "1/1000"];

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

impl Emulation {
    fn runs(&mut self) -> bool {
        self.0.as_mut().is_some_and(|process| process.try_wait().expect("a child").is_none())
    }

    fn output(mut self) -> Output {
        self.0.take().expect("once").wait_with_output().expect("ends")
    }

    /// Waits until the status socket of each of these hosts answers as wished.
    fn until(&mut self, hosts: &Path, names: &[&str], wish: impl Fn(&HostStatus) -> bool) {
        let begun = Instant::now();
        let answers = |name: &&str| {
            let socket = hosts.join(format!("{name}.1.sock"));
            let answer = ask(&socket.display().to_string(), Duration::from_secs(1));
            matches!(answer, Ok(Some(report)) if wish(&report.status))
        };
        while !names.iter().all(answers) {
            assert!(self.runs(), "the emulation ended too soon");
            assert!(begun.elapsed() < Duration::from_secs(60), "timed out");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Returns a plan of Fig. 1 in a file of `folder`; these schemes give both servers the same share.
fn plan(folder: &Path, scheme: &str) -> String {
    let topology = workspace().join("topologies/fig1.yaml");
    let mut command = Command::new(inart());
    let planned = command.arg("plan").arg(topology).args(["--scheme", scheme, "--json"]).output();
    let file = folder.join(format!("{scheme}.json"));
    std::fs::write(&file, planned.expect("runs").stdout).expect("written");
    file.display().to_string()
}

/// Makes the controller migrate the job to a plan. Returns its output.
fn change(folder: &Path, plan: &str) -> Value {
    let mut command = Command::new(inart());
    command.args(["--json", "apply", plan]).arg(workspace().join("topologies/fig1.yaml"));
    command.args(["--controller", &format!("unix:{}", folder.join("controller.sock").display())]);
    let changed: Value = document(&command.output().expect("runs"));
    changed["changes"][0].clone()
}

#[test]
fn two_changes_of_the_plan_while_workers_train_lose_no_round() {
    let Some(_turn) = turn() else { return };
    let (mut undisturbed, _folder) = emulate(&BASE);
    let undisturbed = document(&undisturbed.output().expect("runs"));

    let (mut command, folder) = emulate(&BASE);
    command.arg("--debug-dir").arg(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let plans = ["lbmm", "atp"].map(|scheme| plan(folder.path(), scheme));
    let mut emulation = Emulation(Some(command.spawn().expect("starts")));
    let hosts = folder.path().join("hosts");
    let (workers, servers) = (["w1", "w2", "w3", "w4", "w5", "w6"], ["s1", "s2"]);
    let mut plan_version = None;
    for (plan, round) in plans.iter().zip([1, 4]) {
        let reached = |status: &HostStatus| match status {
            HostStatus::Worker(worker) => worker.round.is_some_and(|at| at >= round),
            HostStatus::Server(_) => false,
        };
        emulation.until(&hosts, &workers, reached);
        let changed = change(folder.path(), plan);
        eprintln!("{changed}");
        assert_eq!((&changed["hosts"], &changed["coordinated"]), (&8.into(), &true.into()));
        let (from, to) = (changed["from"].as_u64().expect("known"), changed["to"].as_u64().expect("known"));
        assert_eq!((plan_version.unwrap_or(from), to), (from, from + 1));
        plan_version = Some(to);
        // Every host reports it.
        let is_there = |status: &HostStatus| match status {
            HostStatus::Worker(worker) => u64::from(worker.plan_version.get()) == to,
            HostStatus::Server(server) => u64::from(server.plan_version.get()) == to,
        };
        emulation.until(&hosts, &[&workers[..], &servers].concat(), is_there);
    }
    assert!(emulation.runs(), "it still trains after both changes");

    let summary = document(&emulation.output());
    assert_eq!(summary["bit_exact"], true);
    let [figures, before] = [&summary, &undisturbed].map(|summary| &summary["schemes"]["atp"]);
    assert_eq!(figures["rounds"], 12, "{figures}");
    assert_eq!(summary["sums_checked"], undisturbed["sums_checked"]);
    assert_eq!(figures["jobs"][0]["digest"], before["jobs"][0]["digest"], "the same bits");
    assert!(figures["packets_aggregated"].as_u64().is_some_and(|frames| frames > 0), "{figures}");
}

#[test]
fn plans_change_in_a_row_while_workers_train_and_the_cost_is_reported() {
    let Some(_turn) = turn() else { return };
    let folder = TempDir::new().expect("a folder");
    let run = |rounds: &str, changes: &str| {
        let mut command = Command::new(inart());
        command.arg("emulate").arg(workspace().join("topologies/fig1.yaml"));
        command.args(["--gradient", "40KB", "--scale", "1/400", "--rounds", rounds, "--changes", changes]);
        command.args(["--json", "--chart"]).arg(folder.path().join("chart.svg")).output().expect("runs")
    };
    let summary = document(&run("220", "12"));
    assert_eq!(summary["bit_exact"], true);
    assert_eq!((&summary["changes"], &summary["lost_rounds"]), (&12.into(), &0.into()));
    let ratio = summary["goodput_ratio"].as_f64().expect("a ratio");
    eprintln!("goodput ratio {ratio}, {} ms per change", summary["change_ms"]);
    assert!(ratio > 0.0 && summary["change_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    assert!(summary["schemes"]["optimized"]["packets_aggregated"].as_u64().is_some_and(|frames| frames > 0));

    // Too few rounds for the changes are a failure with a message.
    let output = run("5", "1000");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("of 1000 changes of plans were made: the training ended; give more rounds"),
        "{said}"
    );
}
