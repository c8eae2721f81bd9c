//! `inart host` of parameter servers and workers, as processes: what is applied is compared with what workers
//! say that they sent. `inart emulate --sync` compares more.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};

use serde_json::Value;

use crate::support::loopback::loopback;
use crate::support::processes::{Running, certify};
use crate::support::ps::{NETWORK, WORKERS, applied, sent, server_is_killed};
use crate::support::{Workbench, doctor, root, turn};

struct Cluster {
    bench: Workbench,
    workers: &'static [&'static str],
    places: BTreeMap<&'static str, SocketAddr>,
}

impl Cluster {
    fn new() -> Self {
        Self::of(&WORKERS)
    }

    /// With these of the workers.
    fn of(workers: &'static [&'static str]) -> Self {
        let bench = Workbench::new();
        bench.write("three.yaml", NETWORK.replace("[w1, w2, w3]", &format!("[{}]", workers.join(", "))));
        certify(&bench, WORKERS.into_iter().chain(["s1"]));
        let names = WORKERS.into_iter().chain(["s1"]);
        let sockets: Vec<_> = names.map(|name| (name, UdpSocket::bind((loopback(), 0)).unwrap())).collect();
        let place = |(name, socket): &(&'static str, UdpSocket)| (*name, socket.local_addr().unwrap());
        Cluster { places: sockets.iter().map(place).collect(), bench, workers }
    }

    fn at(&self, name: &str) -> String {
        self.places[name].to_string()
    }

    fn arguments(&self, name: &str, more: &str) -> Vec<String> {
        let tls = format!("--tls-ca ca.pem --tls-cert {name}.pem --tls-key {name}.key");
        let mut all = format!("--json host three.yaml --name {name} --listen {} {tls} {more}", self.at(name));
        match name {
            "s1" => {
                let at = |worker| format!(" --worker {worker}={}", self.at(worker));
                all += &self.workers.iter().copied().map(at).collect::<String>();
            }
            _ => all += &format!(" --server s1={}", self.at("s1")),
        }
        all.split_whitespace().map(str::to_owned).collect()
    }

    fn start(&self, name: &str, more: &str) -> Running {
        let arguments = self.arguments(name, more);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Running::start(self.bench.command(&arguments))
    }

    fn refused(&self, name: &str, more: &str, named: &[&str]) {
        let arguments = self.arguments(name, more);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        self.bench.refused(&arguments, named);
    }
}

#[test]
fn workers_learn_in_turn_and_every_update_is_applied_once() {
    let _turn = turn();
    let cluster = Cluster::new();
    for flags in ["--sync r2sp --iterations 40", "--sync bsp --iterations 40 --dtype float16"] {
        let server = cluster.start("s1", flags);
        let workers = WORKERS.map(|name| (name, cluster.start(name, "--learning-rate 0.3")));
        let printed = workers.iter().map(|(name, worker)| (*name, worker.until("iterations")));
        let printed: Vec<_> = printed.collect();
        let said = server.until("accuracy");
        let count = applied(&said, &sent(&printed));
        let last = said.last().unwrap();
        assert!(count >= 3 * 40 && last["applied_updates"] == count, "{count}: {last}");
        // Under load updates come in another order, and some runs end at 79 %.
        assert!(last["accuracy"].as_f64().unwrap() > 0.7, "{last}");
        assert_eq!((&last["refused"], &last["malformed"]), (&0.into(), &0.into()), "{last}");
        let most = said.iter().filter_map(|line| line["updates"].as_array()).flatten();
        let most = most.filter_map(|update| update["staleness"].as_u64()).max().unwrap();
        assert!(most <= 2, "{flags}: {most}");
    }
}

#[test]
fn one_worker_meets_the_server_alone_under_every_order() {
    let _turn = turn();
    let cluster = Cluster::of(&["w1"]);
    let orders =
        ["bsp", "asp", "ssp --staleness 1", "safa --fraction 1 --lag 1", "r2sp", "r2sp --relaxation auto"];
    for order in orders {
        let server = cluster.start("s1", &format!("--sync {order} --iterations 8"));
        let worker = cluster.start("w1", "");
        let printed = [("w1", worker.until("iterations"))];
        let said = server.until("accuracy");
        assert!(applied(&said, &sent(&printed)) >= 8, "{order}: {said:?}");
        let updates = said.iter().filter_map(|line| line["updates"].as_array()).flatten();
        assert!(updates.into_iter().all(|update| update["staleness"] == 0), "{order}: {said:?}");
    }
}

#[test]
fn a_server_that_is_killed_goes_on_from_its_last_version() {
    let _turn = turn();
    let cluster = Cluster::new();
    let flags = server_is_killed(&|name, flags| cluster.start(name, flags));
    cluster.bench.write("model.kept", "x");
    cluster.refused("s1", flags, &["model.kept", "delete"]);
}

#[test]
fn a_kept_model_is_resumed_aloud_and_by_its_own_training_only() {
    let _turn = turn();
    let cluster = Cluster::of(&["w1"]);
    let train = |flags: &str, step: &str| {
        let server = cluster.start("s1", &format!("--sync bsp --checkpoint model.kept {flags}"));
        let worker = cluster.start("w1", step);
        (server, worker)
    };
    let (server, worker) = train("--iterations 3", "--learning-rate 0.3");
    worker.until("iterations");
    server.until("accuracy");
    [server, worker].into_iter().for_each(Running::ended);
    // Another seed, which its own process knows; more iterations are no other training.
    cluster.refused(
        "s1",
        "--sync bsp --checkpoint model.kept --seed 2",
        &["model.kept", "it has seed 1", "seed 2"],
    );
    cluster.refused(
        "s1",
        "--sync asp --checkpoint model.kept",
        &["model.kept", "it has order bsp", "order asp"],
    );
    let (server, worker) = train("--iterations 5", "--learning-rate 0.3");
    worker.until("iterations");
    let said = server.until("accuracy");
    let resumed = said.iter().find(|line| line["resumed"].is_string()).expect("it says so");
    assert_eq!((&resumed["from_version"], &resumed["updates"]), (&3.into(), &3.into()), "{resumed}");
    let last = said.last().unwrap();
    assert_eq!((&last["applied_updates"], &last["resumed_from_version"]), (&2.into(), &3.into()), "{last}");
    [server, worker].into_iter().for_each(Running::ended);
    // Another step, which only the worker knows: the file has it.
    let server = cluster.start("s1", "--sync bsp --checkpoint model.kept --iterations 9");
    server.until("resumed");
    cluster.refused("w1", "--learning-rate 0.05", &["w1 has step 0.05", "s1 has step 0.3"]);
}

#[test]
fn what_cannot_be_is_refused() {
    let cluster = Cluster::new();
    cluster.refused("s1", "--sync asp --staleness 3", &["--staleness", "ssp"]);
    cluster.refused("s1", "--sync r2sp --relaxation 2", &["--relaxation", "from 0 to 1"]);
    cluster.refused("s1", "--sync bsp --worker w1=127.0.0.1:1", &["--worker w1", "twice"]);
    cluster.refused("s1", "--sync bsp --worker w9=127.0.0.1:1", &["w9", "w1, w2, w3"]);
    cluster.refused("s1", "--sync bsp --join-timeout 0s", &["--join-timeout", "0s", "above 0"]);
    cluster.refused("w1", "--learning-rate 0", &["--learning-rate 0", "above 0"]);
    cluster.refused("w1", "--server-timeout 10ms", &["worker w1", "no server"]);
    cluster.bench.write("three.yaml", NETWORK.replace("203304 B", "1 MB"));
    cluster.refused("s1", "--sync bsp", &["job digits", "203304 B"]);
    cluster.refused("w1", "", &["job digits", "203304 B"]);
    cluster.bench.write("three.yaml", NETWORK.replace("203304 B", "203303 B"));
    cluster.refused("w1", "", &["job digits", "203303", "4 B"]);
}

/// The report of an emulation; none where this process may not make namespaces.
fn emulated(bench: &Workbench, arguments: &[&str]) -> Option<Value> {
    let _turn = turn();
    let output = bench.inart(&[&["--json", "emulate"], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("run as root") {
        eprintln!("skipped: root is needed to make network namespaces");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn an_emulation_trains_under_every_order_and_computes_every_update_again() {
    let cluster = Cluster::new();
    let bench = &cluster.bench;
    let orders = "bsp,asp,ssp,safa,r2sp";
    let arguments =
        ["three.yaml", "--sync", orders, "--iterations", "12", "--staleness", "2", "--chart", "out/c.svg"];
    let Some(report) = emulated(bench, &arguments) else { return };
    assert!(bench.read("out/c.svg").contains("r2sp"));
    let schemes = report["schemes"].as_array().unwrap();
    assert_eq!(
        schemes.iter().map(|scheme| scheme["scheme"].as_str().unwrap()).collect::<Vec<_>>().join(","),
        orders
    );
    for scheme in schemes {
        assert!(scheme["updates_checked"].as_u64().unwrap() >= 3 * 12, "{scheme}");
        assert!(scheme["accuracy"].as_f64().unwrap() > 0.5, "{scheme}");
        assert!(scheme["utilization_in"].as_f64().unwrap() > 0.05, "{scheme}");
        let stale = scheme["staleness_max"].as_u64().unwrap();
        match scheme["scheme"].as_str().unwrap() {
            "bsp" => assert_eq!(stale, 0),
            "r2sp" => assert!(stale <= 2, "{scheme}"),
            _ => {}
        }
    }
    let arguments =
        ["three.yaml", "--sync", "r2sp", "--iterations", "6", "--dtype", "float16", "--tune-batches"];
    let half = emulated(bench, &arguments).unwrap();
    assert!(half["schemes"][0]["updates_checked"].as_u64().unwrap() >= 18);
}

#[test]
fn an_emulation_that_cannot_be_is_refused() {
    let bench = Workbench::new();
    for name in ["ps16.yaml", "fl64.yaml"] {
        std::fs::copy(root().join("topologies").join(name), bench.path(name)).unwrap();
    }
    let refused = |line: &str, named: &[&str]| bench.refused(&line.split(' ').collect::<Vec<_>>(), named);
    refused("emulate fl64.yaml --sync r2sp", &["job cnn has clients", "fl-r2sp"]);
    refused("emulate ps16.yaml --sync r2sp --iterations 1", &["--iterations 1"]);
    refused("emulate ps16.yaml --sync r2sp --batch 0", &["--batch", "'0'", "from 1 to 1000"]);
    refused("emulate ps16.yaml --sync r2sp --learning-rate -1", &["--learning-rate -1"]);
    refused("emulate ps16.yaml --sync bsp --relaxation 0.5", &["--relaxation", "r2sp"]);
    refused("emulate ps16.yaml --sync fl-r2sp", &["fl-r2sp"]);
}

#[test]
fn the_doctor_names_a_stopped_worker_as_the_cause_for_which_the_server_and_the_others_wait() {
    let _turn = turn();
    let cluster = Cluster::new();
    doctor::create_folder(&cluster.bench);
    let start = |name: &str, flags: &str| {
        cluster.start(name, &format!("{flags} --status {}", doctor::socket(&cluster.bench, name)))
    };
    let _server = start("s1", "--sync bsp --push-timeout 200s --reconnect-grace 200s");
    let workers = WORKERS.map(|name| start(name, ""));
    workers[0].until("sent");
    doctor::names_the_stopped(&cluster.bench, ("w2", &workers[1].child), "s1, w1, w3 wait");
}
