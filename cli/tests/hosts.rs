//! The host commands as processes.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use inart_protocol_aggregation::Assignment;

use crate::support::turn;

const ASSIGNMENT: &str = r#"{
    "job": 1, "name": "digits", "plan_version": 3, "values_per_frame": 32, "window_chunks": 4,
    "workers": [{"name": "w1", "mac": "02:00:00:00:00:01"}],
    "shards": [{"server": "s1", "mac": "02:00:00:00:00:02", "share": 1.0, "rate_bps": 1e6}]
}"#;

fn server(assignment: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
    command.args(["server", "--shard", "0", "--interface", "lo", "--assignment"]).arg(assignment);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Starts the server and ends it once it has noted that it runs, or has ended by itself.
fn run_until_noted(assignment: &Path, note: &Path) -> Output {
    let mut process = server(assignment).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !note.exists() && process.try_wait().unwrap().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    process.kill().unwrap();
    process.wait_with_output().unwrap()
}

/// A second run would restart its sequences, and a switch could answer with sums of the first run.
#[test]
fn an_assignment_serves_one_run() {
    let _turn = turn();
    serde_json::from_str::<Assignment>(ASSIGNMENT).unwrap();
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: raw sockets need root");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let assignment = folder.path().join("digits.json");
    let note = folder.path().join("digits.json.plan-version-3.server-0.used");
    std::fs::write(&assignment, ASSIGNMENT).unwrap();

    let first = run_until_noted(&assignment, &note);
    assert!(note.exists(), "{}", text(&first));

    let second = server(&assignment).output().unwrap();
    assert_eq!(second.status.code(), Some(2), "{}", text(&second));
    assert!(text(&second).contains("apply the plan with --new-plan-version"), "{}", text(&second));
    assert_eq!(text(&second).lines().count(), 1, "{}", text(&second));

    // The next push writes another plan version into the file.
    std::fs::write(&assignment, ASSIGNMENT.replace(r#""plan_version": 3"#, r#""plan_version": 4"#)).unwrap();
    let note = folder.path().join("digits.json.plan-version-4.server-0.used");
    let third = run_until_noted(&assignment, &note);
    assert!(note.exists(), "{}", text(&third));
}

/// Problems of the kind of port come before all other checks.
fn refused_port(kind: &str) -> String {
    let output = server(Path::new("nowhere.json")).args(["--port", kind]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    text(&output)
}

#[test]
fn a_kind_of_port_that_is_not_there_is_refused_with_what_to_do() {
    let kinds = if cfg!(feature = "xdp") { "pnet, batched, xdp" } else { "pnet, batched" };
    let unknown = refused_port("dpdk");
    assert!(unknown.contains("'dpdk'") && unknown.contains(&format!("expected one of {kinds}")), "{unknown}");
    assert_eq!(unknown.lines().count(), 1, "{unknown}");
    let xdp = refused_port("xdp");
    let not_built = "built without it; build with `cargo build --release -p inart-cli --features xdp`";
    assert_eq!(xdp.contains(not_built), !cfg!(feature = "xdp"), "{xdp}");
    assert_eq!(xdp.lines().count(), 1, "{xdp}");
    // A kind that is there: then it is the assignment that is not.
    assert!(refused_port("pnet").contains("nowhere.json"));
}
