//! `inart host` of parameter servers and workers of a job of clients in groups, as processes: which models
//! are merged is compared with what clients say that they sent.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::{SocketAddr, UdpSocket};

use serde_json::Value;

use crate::support::loopback::loopback;
use crate::support::processes::{Running, certify};
use crate::support::{Workbench, turn};

const CLIENTS: [&str; 6] = ["c1", "c2", "c3", "c4", "c5", "c6"];

fn network() -> String {
    let mut out =
        String::from("name: six\nnodes:\n  - {name: v, kind: switch}\n  - {name: s1, kind: server}\n");
    for name in CLIENTS {
        let _ = writeln!(out, "  - {{name: {name}, kind: worker}}");
    }
    out += "links:\n  - {ends: [v, s1], rate: 80 Mbps}\n";
    for name in CLIENTS {
        let _ = writeln!(out, "  - {{ends: [v, {name}], rate: 40 Mbps}}");
    }
    out += "jobs:\n  - name: cnn\n    clients: [c1, c2, c3, c4, c5, c6]\n    servers: [s1]\n";
    out += "    gradient: 203304 B\n    compute: {mean: 20 ms, cv: 0.1}\n";
    out + "    upload_delay: {mean: 5 ms, cv: 1}\n    batch: 16\n"
}

struct Cluster {
    bench: Workbench,
    places: BTreeMap<&'static str, SocketAddr>,
}

impl Cluster {
    fn new() -> Self {
        let bench = Workbench::new();
        bench.write("six.yaml", network());
        let names = || CLIENTS.into_iter().chain(["s1"]);
        certify(&bench, names());
        let sockets: Vec<_> = names().map(|name| (name, UdpSocket::bind((loopback(), 0)).unwrap())).collect();
        let place = |(name, socket): &(&'static str, UdpSocket)| (*name, socket.local_addr().unwrap());
        Cluster { places: sockets.iter().map(place).collect(), bench }
    }

    fn arguments(&self, name: &str, more: &str) -> Vec<String> {
        let at = |name: &str| self.places[name].to_string();
        let tls = format!("--tls-ca ca.pem --tls-cert {name}.pem --tls-key {name}.key");
        let mut all = format!("--json host six.yaml --name {name} --listen {} {tls} {more}", at(name));
        match name {
            "s1" => CLIENTS.iter().for_each(|client| all += &format!(" --worker {client}={}", at(client))),
            _ => all += &format!(" --server s1={}", at("s1")),
        }
        all.split_whitespace().map(str::to_owned).collect()
    }

    fn start(&self, name: &str, more: &str) -> Running {
        let arguments = self.arguments(name, more);
        Running::start(self.bench.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>()))
    }

    fn clients(&self, more: &str) -> Vec<Running> {
        CLIENTS.iter().map(|name| self.start(name, more)).collect()
    }

    fn refused(&self, name: &str, more: &str, named: &[&str]) {
        let arguments = self.arguments(name, more);
        self.bench.refused(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), named);
    }
}

/// Each model that the server took is one that its client sent, and counts once; a version is of one group.
fn merged(server: &[Value], clients: &[Vec<Value>], groups: usize) -> usize {
    let sent: BTreeSet<(&str, u64, &str)> = CLIENTS
        .iter()
        .zip(clients)
        .flat_map(|(name, lines)| {
            let sent =
                lines.iter().filter_map(|line| Some((line["iteration"].as_u64()?, line["sent"].as_str()?)));
            sent.map(|(round, digest)| (*name, round, digest))
        })
        .collect();
    for line in server.iter().filter(|line| line.get("pushed").is_some()) {
        let key = (
            line["worker"].as_str().unwrap(),
            line["iteration"].as_u64().unwrap(),
            line["pushed"].as_str().unwrap(),
        );
        assert!(sent.contains(&key), "{line}");
    }
    let mut all = BTreeSet::new();
    for updates in server.iter().filter_map(|line| line.get("updates")?.as_array()) {
        let of = |update: &Value| CLIENTS.iter().position(|name| update["worker"] == *name).unwrap() % groups;
        assert!(!updates.is_empty() && updates.iter().all(|update| of(update) == of(&updates[0])));
        for update in updates {
            let key = (update["worker"].as_str().unwrap().to_owned(), update["iteration"].as_u64().unwrap());
            assert!(all.insert(key), "{update} was merged twice");
        }
    }
    all.len()
}

#[test]
fn clients_with_few_digits_learn_in_groups_and_each_model_counts_once() {
    let _turn = turn();
    let cluster = Cluster::new();
    for (flags, groups) in [
        ("--sync fl-r2sp --groups 2 --fraction 0.6 --rounds 40", 2),
        ("--sync bsp --rounds 40 --dtype float16", 1),
    ] {
        let server = cluster.start("s1", flags);
        let clients = cluster.clients("--local-steps 10 --data-shards 4");
        let printed: Vec<_> = clients.iter().map(|client| client.until("iterations")).collect();
        let said = server.until("accuracy");
        let last = said.last().unwrap();
        let count = merged(&said, &printed, groups);
        assert!(last["applied_updates"] == count && count >= 40 * 2 * groups, "{count}: {last}");
        assert!(last["version"].as_u64().unwrap() >= 40 * groups as u64, "{last}");
        assert!(last["accuracy"].as_f64().unwrap() > 0.6, "{last}");
        assert_eq!((&last["refused"], &last["malformed"]), (&0.into(), &0.into()), "{last}");
    }
}

#[test]
fn groups_of_one_client_each() {
    let _turn = turn();
    let cluster = Cluster::new();
    let server = cluster.start("s1", "--sync fl-r2sp --groups 6 --fraction 0.1 --rounds 12");
    let clients = cluster.clients("");
    let printed: Vec<_> = clients.iter().map(|client| client.until("iterations")).collect();
    let said = server.until("accuracy");
    let updates = said.iter().filter_map(|line| line["updates"].as_array());
    assert!(updates.clone().all(|updates| updates.len() == 1), "each is a group of its own");
    let stale = updates.flatten().filter_map(|update| update["staleness"].as_u64()).max().unwrap();
    assert!(stale <= 5, "{stale}: groups come in turn");
    assert!(merged(&said, &printed, 6) >= 12 * 6);
}

#[test]
fn a_killed_client_stops_no_other_client_and_rejoins() {
    let _turn = turn();
    let cluster = Cluster::new();
    // The others' connections are silent for less, however busy the machine is: only c3 is evicted.
    let flags = "--sync fl-r2sp --groups 2 --fraction 1 --rounds 60 --reconnect-grace 8s";
    let server = cluster.start("s1", flags);
    let mut clients = cluster.clients("--simulate-compute");
    let mut printed = Vec::new();
    let until = |printed: &mut Vec<Value>, is_it: &dyn Fn(&Value) -> bool| {
        while !printed.last().is_some_and(is_it) {
            printed.push(server.next());
        }
    };
    until(&mut printed, &|line| line["applied"].as_u64() >= Some(10));
    clients.remove(2);
    until(&mut printed, &|line| line["gone"] == "c3");
    let gone_at = printed.len();
    clients.insert(2, cluster.start("c3", "--simulate-compute"));
    until(&mut printed, &|line| line["joined"] == "c3");
    printed.extend(server.until("accuracy"));
    let back = printed[gone_at..].iter().filter_map(|line| line["updates"].as_array()).flatten();
    assert!(back.clone().any(|update| update["worker"] == "c3"), "it counts again");
    let last = printed.last().unwrap();
    assert_eq!(last["given_up"], 1, "{last}");
    assert!(last["version"].as_u64().unwrap() >= 120, "{last}");
}

#[test]
fn a_server_that_is_killed_amid_pushes_goes_on_from_its_last_version() {
    let _turn = turn();
    let cluster = Cluster::new();
    let flags = "--sync fl-r2sp --groups 3 --fraction 1 --rounds 15 --checkpoint model.kept";
    let server = cluster.start("s1", flags);
    let clients = cluster.clients("");
    let mut version = 0;
    while version < 9 {
        version = server.next()["applied"].as_u64().unwrap_or(version);
    }
    // A model has just arrived, and its group is not whole.
    while server.next().get("pushed").is_none() {}
    drop(server);
    let server = cluster.start("s1", flags);
    let said = server.until("accuracy");
    let printed: Vec<_> = clients.iter().map(|client| client.until("iterations")).collect();
    let first = said.iter().find_map(|line| line["applied"].as_u64()).unwrap();
    assert!(first > version, "it restarted from scratch: version {first} after {version}");
    assert!(merged(&said, &printed, 3) >= 15 * 6);
}

#[test]
fn only_the_client_that_pushes_negated_updates_is_excluded() {
    let _turn = turn();
    let cluster = Cluster::new();
    // In a group of three the mean that it is compared with is too much its own.
    let flags = "--sync fl-r2sp --groups 1 --fraction 1 --rounds 25";
    let mut accuracies = Vec::new();
    for outliers in ["", "--outliers=-0.2"] {
        let server = cluster.start("s1", &format!("{flags} {outliers}"));
        let more =
            |name: &str| if name == "c5" { "--data-shards 10 --sign-flip" } else { "--data-shards 10" };
        let _clients: Vec<_> = CLIENTS.iter().map(|name| cluster.start(name, more(name))).collect();
        let said = server.until("accuracy");
        let last = said.last().unwrap();
        match outliers {
            "" => assert_eq!(last["left_out"], Value::Array(Vec::new())),
            _ => assert_eq!(last["left_out"], serde_json::json!(["c5"]), "{last}"),
        }
        accuracies.push(last["accuracy"].as_f64().unwrap());
    }
    assert!(accuracies[1] > accuracies[0], "{accuracies:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let cluster = Cluster::new();
    let cases: [(&str, &[&str]); 11] = [
        ("--sync r2sp", &["--sync r2sp", "job cnn has clients", "fl-r2sp"]),
        ("--sync fl-r2sp --groups 0", &["--groups 0", "from 1 to 6"]),
        ("--sync fl-r2sp --groups 7", &["--groups 7", "from 1 to 6"]),
        ("--sync fl-r2sp --fraction 0", &["--fraction 0", "above 0"]),
        ("--sync fl-r2sp --fraction NaN", &["--fraction NaN", "above 0"]),
        ("--sync fl-r2sp --relaxation 1.5", &["--relaxation 1.5", "from 0 to 1"]),
        ("--sync fl-r2sp --relaxation auto", &["--relaxation auto", "from 0 to 1"]),
        ("--sync fl-r2sp --rounds 0", &["--rounds 0"]),
        ("--sync fl-r2sp --outliers=2", &["--outliers", "from -1 to 1"]),
        ("--sync fl-r2sp --iterations 9", &["--iterations"]),
        ("--sync bsp --groups 2", &["--groups", "fl-r2sp"]),
    ];
    for (flags, named) in cases {
        cluster.refused("s1", flags, named);
    }
    cluster.refused("c1", "--local-steps 0", &["--local-steps 0"]);
    cluster.refused("c1", "--data-shards 0", &["0 shards"]);
    cluster.refused("c1", "--data-shards 300", &["300 shards", "239"]);
    cluster.refused("c1", "--learning-rate NaN", &["--learning-rate NaN"]);
    cluster.bench.write(
        "six.yaml",
        network().replace("clients:", "workers:").replace("    upload_delay: {mean: 5 ms, cv: 1}\n", ""),
    );
    cluster.refused("s1", "--sync fl-r2sp", &["job cnn has workers", "r2sp"]);
    cluster.refused("s1", "--sync bsp --outliers", &["--outliers", "fl-r2sp"]);
    cluster.refused("c1", "--sign-flip", &["--sign-flip", "clients"]);
    cluster.refused("c1", "--data-shards 2", &["--data-shards", "clients"]);
}

#[test]
fn an_emulation_trains_clients_in_groups_and_trains_every_model_again() {
    let _turn = turn();
    let cluster = Cluster::new();
    let line = "--json emulate six.yaml --sync bsp,fl-r2sp --groups 3 --fraction 1 --rounds 9 --data-shards 10 \
                --sign-flip c5 --outliers=-0.2 --chart out/c.svg";
    let output = cluster.bench.inart(&line.split_whitespace().collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("run as root") {
        eprintln!("skipped: root is needed to make network namespaces");
        return;
    }
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let schemes = report["schemes"].as_array().unwrap();
    assert_eq!(
        schemes.iter().map(|scheme| scheme["scheme"].as_str().unwrap()).collect::<Vec<_>>(),
        ["bsp", "fl-r2sp"]
    );
    for scheme in schemes {
        assert!(scheme["updates_checked"].as_u64().unwrap() >= 9 * 5, "{scheme}");
        assert!(scheme["simulated"]["iteration_s"].as_f64().unwrap() > 0.0, "{scheme}");
        assert!(scheme["iteration_s"].as_f64().unwrap() > 0.0, "{scheme}");
    }
    // All in one group, five of six go one way; in a group of two, no client is more than half.
    assert_eq!(schemes[0]["left_out"], serde_json::json!(["c5"]), "{}", schemes[0]);
    assert!(cluster.bench.read("out/c.svg").contains("fl-r2sp"));
    let refused =
        |line: &str, named: &[&str]| cluster.bench.refused(&line.split(' ').collect::<Vec<_>>(), named);
    refused("emulate six.yaml --sync fl-r2sp --sign-flip c9", &["--sign-flip c9", "job cnn"]);
    refused("emulate six.yaml --sync fl-r2sp --rounds 3", &["--rounds 3", "at least 4"]);
    refused("emulate six.yaml --sync fl-r2sp --data-shards 999", &["999 shards"]);
    refused("emulate six.yaml --sync bsp,fl-r2sp --fraction 0", &["--fraction 0"]);
}
