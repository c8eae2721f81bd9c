//! A namespace with a bridge or a switch, and processes on it.

use std::process::Command;
use std::thread;

use serde_json::Value;

use crate::support::processes::Running;
use crate::support::ps::{NETWORK, WORKERS, applied, sent};
use crate::support::{Workbench, turn};

/// The host that is not in the job comes last.
pub const HOSTS: [&str; 5] = ["s1", "w1", "w2", "w3", "x"];
pub fn run(program: &str, words: &str) {
    assert!(Command::new(program).args(words.split(' ')).status().unwrap().success(), "{program} {words}");
}

/// The address of a host's interface, as `inart apply` tells switches of it.
pub fn address(host: &str) -> String {
    format!("02:49:4e:41:00:{:02x}", HOSTS.iter().position(|name| *name == host).unwrap() + 1)
}

/// Runs a test in a network namespace of its own, where a bridge is between hosts' interfaces: those are
/// called `on-` and the host, the bridge's `at-`.
pub fn in_namespace(mtu: u32, test: impl FnOnce() + Send + 'static) {
    in_bare_namespace(mtu, || {
        run("ip", "link add bridge type bridge");
        run("ip", "link set bridge up");
        for host in HOSTS {
            run("ip", &format!("link set at-{host} master bridge"));
        }
        test();
    });
}

/// The same without the bridge.
pub fn in_bare_namespace(mtu: u32, test: impl FnOnce() + Send + 'static) {
    let _turn = turn();
    let body = move || {
        if nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).is_err() {
            return eprintln!("skipped: root is needed to make a network namespace");
        }
        run("ip", "link set lo up");
        for host in HOSTS {
            let own = format!("on-{host} mtu {mtu} address {} type veth", address(host));
            run("ip", &format!("link add {own} peer name at-{host}"));
            run("ip", &format!("link set at-{host} mtu {mtu} up"));
            run("ip", &format!("link set on-{host} up"));
        }
        test();
    };
    thread::spawn(body).join().unwrap();
}

pub struct Cluster(pub Workbench);

impl Cluster {
    pub fn new() -> Self {
        let bench = Workbench::new();
        bench.write("three.yaml", NETWORK);
        Cluster(bench)
    }

    pub fn line(name: &str, more: &str) -> String {
        let own = format!("three.yaml --name {name} --interface on-{name} {more}");
        let workers = WORKERS.map(|worker| format!(" --worker {worker}={}", address(worker))).concat();
        match name {
            "s1" => format!("--json order-server {own} {workers}"),
            _ => format!("--json order-worker {own} --server s1={}", address("s1")),
        }
    }

    pub fn start(&self, name: &str, more: &str) -> Running {
        let line = Self::line(name, more);
        Running::start(self.0.command(&line.split_whitespace().collect::<Vec<_>>()))
    }

    pub fn refused(&self, line: &str, named: &[&str]) {
        self.0.refused(&line.split_whitespace().collect::<Vec<_>>(), named);
    }
}

/// The frames of a whole run are neither strangers' nor wrong.
pub fn are_clean(last: &Value) {
    let connections = &last["connections"];
    assert_eq!(
        (&connections["unknown_senders"], &connections["malformed"]),
        (&0.into(), &0.into()),
        "{last}"
    );
    assert_eq!((&last["malformed"], &last["stale_incarnation"]), (&0.into(), &0.into()), "{last}");
}

/// Trains; the last lines of the server, and of a worker.
pub fn trained(cluster: &Cluster, flags: &str, of_all: &str) -> (Value, Value) {
    let server = cluster.start("s1", &format!("{flags} {of_all}"));
    let workers = WORKERS.map(|name| (name, cluster.start(name, of_all)));
    let printed: Vec<_> = workers.iter().map(|(name, worker)| (*name, worker.until("iterations"))).collect();
    let said = server.until("accuracy");
    let count = applied(&said, &sent(&printed));
    let last = said.last().unwrap();
    assert!(count >= 3 * 40 && last["applied_updates"] == count, "{count}: {last}");
    // Under load updates come in another order, and some runs end at 79 %.
    assert!(last["accuracy"].as_f64().unwrap() > 0.7, "{last}");
    assert_eq!(last["refused"], 0, "{last}");
    let most = said.iter().filter_map(|line| line["updates"].as_array()).flatten();
    let most = most.filter_map(|update| update["staleness"].as_u64()).max().unwrap();
    assert!(most <= 2, "{flags}: {most}");
    are_clean(last);
    (last.clone(), printed[0].1.last().unwrap().clone())
}
