//! A worker's process whose interface stops sending: the status socket answers, and SIGTERM ends the process.
//! Needs root, and skips without.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use inart_host_agent::status::{HostStatus, StatusReport, ask};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::turn;

/// More frames in flight than the kernel takes from one socket.
const ASSIGNMENT: &str = r#"{
    "job": 1, "name": "pair", "plan_version": 3, "values_per_frame": 256, "window_chunks": 1024,
    "workers": [{"name": "w0", "mac": "02:00:00:00:00:01"}],
    "shards": [{"server": "s0", "mac": "02:00:00:00:00:02", "share": 1.0, "rate_bps": 1e8}]
}"#;

/// Far longer than anything here takes, on whatever machine.
const LONGEST: Duration = Duration::from_secs(60);

/// A process that is killed when this is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(program: &str, words: &str) -> bool {
    Command::new(program).args(words.split(' ')).status().is_ok_and(|status| status.success())
}

fn inart(folder: &Path, words: &str) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
    command.args(words.split(' ')).args(["--peer-timeout", "600s", "--assignment", "pair.json"]);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    Process(command.spawn().unwrap())
}

/// Asks the worker until its answer is as wished.
fn ask_until(socket: &Path, what: &str, wish: impl Fn(&StatusReport) -> bool) {
    let start = Instant::now();
    let mut last = None;
    while start.elapsed() < LONGEST {
        last = Some(ask(&socket.display().to_string(), LONGEST));
        if matches!(&last, Some(Ok(Some(report))) if wish(report)) {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("waited in vain for {what}: {last:?}");
}

#[test]
fn a_worker_whose_interface_sends_nothing_answers_and_stops() {
    thread::spawn(|| {
        let _turn = turn();
        if unshare(CloneFlags::CLONE_NEWNET).is_err() {
            return eprintln!("skipped: root is needed to make a network namespace");
        }
        assert!(run("ip", "link add w0 type veth peer name s0"));
        assert!(run("ip", "link set w0 up") && run("ip", "link set s0 up"));
        if !run("tc", "qdisc add dev lo root handle 1: htb") {
            return eprintln!("skipped: `tc` cannot limit a rate here");
        }
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("w0.sock");
        std::fs::write(folder.path().join("pair.json"), ASSIGNMENT).unwrap();
        let _server = inart(folder.path(), "server --shard 0 --interface s0");
        let words = "worker --rank 0 --interface w0 --rounds 1000000 --all-reduce 262144 --status w0.sock";
        let mut worker = inart(folder.path(), words);
        ask_until(
            &socket,
            "a first round",
            |report| matches!(&report.status, HostStatus::Worker(status) if status.round > Some(0)),
        );

        assert!(run("tc", "qdisc add dev w0 root handle 1: htb default 1"));
        let class = "class add dev w0 parent 1: classid 1:1 htb rate 8bit burst 1 cburst 1 quantum 1514";
        assert!(run("tc", class) && run("tc", "qdisc add dev w0 parent 1:1 pfifo limit 100000"));
        // The process is not blocked: its status is new.
        thread::sleep(Duration::from_secs(1));
        ask_until(&socket, "a status of now", |report| report.age_seconds < 0.5);
        kill(Pid::from_raw(worker.0.id() as i32), Signal::SIGTERM).unwrap();
        let start = Instant::now();
        while worker.0.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < LONGEST, "SIGTERM ends it");
            thread::sleep(Duration::from_millis(20));
        }
    })
    .join()
    .unwrap();
}
