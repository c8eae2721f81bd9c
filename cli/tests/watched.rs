//! `inart doctor`, and what processes print, where switches sum: groups in turn, and sites with workers
//! inside. Without a switch, on one link in a network namespace. Needs root, and skips without.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, unshare};
use serde_json::json;

use crate::support::ring::{Running, certify};
use crate::support::{Workbench, doctor, turn};

fn run(program: &str, words: &str) -> bool {
    Command::new(program).args(words.split(' ')).status().is_ok_and(|status| status.success())
}

/// Runs a test in a network namespace with a link from w0 to s0.
fn on_a_link(test: impl FnOnce(&Workbench) + Send + 'static) {
    let in_a_namespace = move || {
        let _turn = turn();
        if unshare(CloneFlags::CLONE_NEWNET).is_err() {
            return eprintln!("skipped: root is needed to make a network namespace");
        }
        assert!(run("ip", "link set lo up") && run("ip", "link add w0 type veth peer name s0"));
        assert!(run("ip", "link set w0 up") && run("ip", "link set s0 up"));
        let bench = Workbench::new();
        doctor::create_folder(&bench);
        test(&bench);
    };
    thread::spawn(in_a_namespace).join().unwrap();
}

/// Writes the assignment of a job of one worker and one server.
fn assign(bench: &Workbench, job: u16, name: &str, worker: &str, server: &str) {
    let assignment = json!({
        "job": job, "name": name, "plan_version": 1, "values_per_frame": 256, "window_chunks": 64,
        "workers": [{"name": worker, "mac": format!("02:00:00:00:00:{job:02x}")}],
        "shards": [{"server": server, "mac": "02:00:00:00:00:ff", "share": 1.0, "rate_bps": 1e8}],
    });
    bench.write(&format!("{name}.json"), assignment.to_string());
}

/// Starts the command, whose process answers the doctor under that name.
fn start(bench: &Workbench, name: &str, line: &str) -> Running {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let socket = doctor::socket(bench, name);
    words.extend(["--peer-timeout", "600s", "--status", &socket]);
    Running::start(bench.command(&words))
}

#[test]
fn a_server_of_groups_names_the_workers_that_its_turns_wait_for() {
    on_a_link(|bench| {
        assign(bench, 1, "one", "w1", "s1");
        assign(bench, 2, "two", "w2", "s1");
        let line = "group-server --assignment one.json --assignment two.json --interface s0 --shard 0 --iterations 1000000";
        let server = start(bench, "s1", line);
        server.wait_for_words("waiting for w1 (job one: it has not joined), for 2 s");
        doctor::says(
            bench,
            "w1 has no status socket here: start it, or give its socket to the doctor; s1 waits",
        );
        let worker = |name: &str, job: &str, part: &str| {
            let line = format!(
                "group-worker --assignment {job}.json --rank 0 --data-shard {part} --groups 2 --interface w0 --iterations 1000000"
            );
            start(bench, name, &line)
        };
        // The first group has its turn, and then waits for that of the second one.
        let _first = worker("w1", "one", "0/2");
        doctor::says(
            bench,
            "w2 has no status socket here: start it, or give its socket to the doctor; s1, w1 wait",
        );
        let second = worker("w2", "two", "1/2");
        doctor::names_the_stopped(bench, ("w2", &second.child), "s1, w1 wait");
    });
}

#[test]
fn a_server_of_groups_that_never_come_ends_with_their_names() {
    on_a_link(|bench| {
        assign(bench, 1, "one", "w1", "s1");
        let line = "group-server --assignment one.json --interface s0 --shard 0 --join-timeout 4s";
        let (status, said) = start(bench, "s1", line).end();
        assert!(said.contains("error: job one: no worker has joined for 4 s; start w1, and check"), "{said}");
        assert_eq!(status, Some(2));
    });
}

#[test]
fn a_server_names_the_workers_that_have_not_joined_and_ends() {
    on_a_link(|bench| {
        assign(bench, 1, "one", "w1", "s1");
        let line = "server --assignment one.json --interface s0 --shard 0 --join-timeout 11s";
        let (status, said) = start(bench, "s1", line).end();
        assert!(said.contains("0 of 1 worker active; waiting for w1 (it has not joined)"), "{said}");
        assert!(
            said.contains("error: no worker has joined for 11 s; start worker 0 (w1), and check"),
            "{said}"
        );
        assert_eq!(status, Some(2));
    });
}

const TWO_SITES: &str = "\
name: two
nodes:
  - {name: n1, kind: site}
  - {name: n2, kind: site}
  - {name: v1, kind: switch, aggregation_capacity: 1 Gbps, site: n1}
  - {name: w1, kind: worker, site: n1}
links:
  - {ends: [n1, n2], rate: 80 Mbps, delay: 1 ms}
  - {ends: [w1, v1], rate: 1 Gbps}
  - {ends: [n1, v1], rate: 1 Gbps}
jobs:
  - {name: job, sites: [n1, n2], gradient: 203304 B, chunk: 16 KB}
  - {name: n1-inside, workers: [w1], servers: [n1]}
";

#[test]
fn a_site_names_the_workers_inside_that_it_waits_for() {
    on_a_link(|bench| {
        bench.write("net.yaml", TWO_SITES);
        certify(&bench.path(""), &["n1", "n2"]);
        assign(bench, 1, "n1-inside", "w1", "n1");
        let site = |name: &str, at: u16, other: &str, more: &str| {
            let line = format!(
                "site net.yaml --name {name} --listen 127.0.0.1:{at} --peer {other} --tls-ca ca.pem --tls-cert {name}.pem \
                 --tls-key {name}.key --rounds 1000000 {more}"
            );
            start(bench, name, &line)
        };
        let inside = "--interface s0 --assignment n1-inside.json";
        let n1 = site("n1", 7401, "n2=127.0.0.1:7402", inside);
        let _n2 = site("n2", 7402, "n1=127.0.0.1:7401", "");
        n1.wait_for_words("waiting for workers inside: w1 (it has not joined) (for 2 s)");
        let missing = "w1 has no status socket here: start it, or give its socket to the doctor; n1, n2 wait";
        doctor::says(bench, missing);
        let line = "worker --assignment n1-inside.json --rank 0 --data-shard 0/2 --interface w0 --rounds 1000000 --train digits";
        let w1 = start(bench, "w1", line);
        doctor::names_the_stopped(bench, ("w1", &w1.child), "n1, n2 wait");
    });
}
