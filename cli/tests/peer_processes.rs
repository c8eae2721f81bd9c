//! `inart peer` and `inart coordinator`, as processes: what each peer says that it received is compared with
//! what the others say that they sent.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::loopback::loopback;
use crate::support::processes::{Running, certify};
use crate::support::{Workbench, doctor, is_refusal, root, turn};

const PEERS: [&str; 4] = ["p1", "p2", "p3", "p4"];

struct Mesh {
    bench: Workbench,
    places: BTreeMap<&'static str, SocketAddr>,
}

impl Mesh {
    fn new() -> Self {
        let bench = Workbench::new();
        certify(&bench, PEERS.into_iter().chain(["c"]));
        std::fs::copy(root().join("topologies/mesh4.yaml"), bench.path("mesh4.yaml")).unwrap();
        let names = PEERS.into_iter().chain(["c"]);
        let sockets: Vec<_> = names.map(|name| (name, UdpSocket::bind((loopback(), 0)).unwrap())).collect();
        let place = |(name, socket): &(&'static str, UdpSocket)| (*name, socket.local_addr().unwrap());
        Mesh { places: sockets.iter().map(place).collect(), bench }
    }

    fn at(&self, name: &str) -> String {
        self.places[name].to_string()
    }

    /// The arguments of a peer or of the coordinator.
    fn arguments(&self, name: &str, more: &str) -> Vec<String> {
        let command = if name == "c" { "coordinator" } else { "host" };
        let tls = format!("--tls-ca ca.pem --tls-cert {name}.pem --tls-key {name}.key");
        let mut all =
            format!("--json {command} mesh4.yaml --name {name} --listen {} {tls} {more}", self.at(name));
        for other in PEERS.into_iter().filter(|other| *other != name) {
            all += &format!(" --peer {other}={}", self.at(other));
        }
        if name != "c" {
            all += &format!(" --coordinator c={}", self.at("c"));
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

/// By sender and round: the digest of what it sent.
type Sent = BTreeMap<(String, u64), String>;

fn sent(printed: &BTreeMap<&str, Vec<Value>>) -> Sent {
    let mut sent = Sent::new();
    for (name, lines) in printed {
        for line in lines.iter().filter(|line| line.get("sent").is_some()) {
            let key = ((*name).to_owned(), line["round"].as_u64().unwrap());
            let is_new = sent.insert(key, line["sent"].as_str().unwrap().to_owned()).is_none();
            assert!(is_new, "{name} has sent two updates of one round: {line}");
        }
    }
    sent
}

/// Every update that anybody received is what was sent; how many there were.
fn compare(printed: &BTreeMap<&str, Vec<Value>>, sent: &Sent) -> usize {
    let mut received = 0;
    for (name, lines) in printed {
        for line in lines.iter().filter(|line| line.get("received").is_some()) {
            let key = (line["from"].as_str().unwrap().to_owned(), line["round"].as_u64().unwrap());
            assert_eq!(line["received"].as_str(), sent.get(&key).map(String::as_str), "{name}: {line}");
            received += 1;
        }
    }
    received
}

fn run_all(mesh: &Mesh, flags: &str, coordinator: &str) -> BTreeMap<&'static str, Vec<Value>> {
    let _coordinator = mesh.start("c", coordinator);
    let peers = PEERS.map(|name| (name, mesh.start(name, flags)));
    let printed = peers.iter().map(|(name, peer)| (*name, peer.until("accuracy"))).collect();
    for (name, mut peer) in peers {
        assert!(peer.child.wait().unwrap().success(), "{name}");
    }
    printed
}

#[test]
fn every_update_arrives_as_it_was_sent_and_the_models_learn() {
    let _turn = turn();
    let mesh = Mesh::new();
    let printed = run_all(&mesh, "--rounds 40 --batch 64", "--rounds 40 --scheme selmcast");
    let sent = sent(&printed);
    assert_eq!(sent.len(), 4 * 40);
    assert!(compare(&printed, &sent) >= 4 * 40 * 2);
    for (name, lines) in &printed {
        let last = lines.last().unwrap();
        let count = |key: &str| last[key].as_u64().unwrap();
        assert!(last["accuracy"].as_f64().unwrap() > 0.7, "{name}: {last}");
        let lost = ["abandoned", "given_up", "gone", "rounds_with_previous_receivers"].map(count);
        assert_eq!(lost, [0; 4], "{name}: {last}");
        // Each round: one's own and at least one other's, all of this round.
        let averaged = lines.iter().filter(|line| line.get("averaged").is_some());
        let all_of_it = |line: &Value| {
            let mut of = line["of"].as_array().unwrap().iter();
            of.all(|from| from[1] == line["round"])
        };
        assert_eq!(averaged.filter(|line| all_of_it(line)).count(), 40, "{name}");
    }
}

#[test]
fn stale_synchronous_peers_follow_their_rule_of_k() {
    let _turn = turn();
    let mesh = Mesh::new();
    let flags = "--sync ssp --staleness 2 --fairness-bound 3 --rounds 20 --synthetic";
    let coordinator =
        "--sync ssp --staleness 2 --fairness-bound 3 --rounds 20 --scheme optimized --guard-all";
    let printed = run_all(&mesh, flags, coordinator);
    let sent = sent(&printed);
    assert!(compare(&printed, &sent) > 0);
    for (name, lines) in &printed {
        let rounds: Vec<&Value> =
            lines.iter().filter(|line| line.get("complete").is_some_and(Value::is_array)).collect();
        assert_eq!(rounds.len(), 20, "{name}");
        for other in PEERS.into_iter().filter(|other| other != name) {
            let meets = |line: &&Value| line["complete"].as_array().unwrap().contains(&other.into());
            assert!(rounds.windows(4).all(|four| four.iter().any(meets)), "{name} and {other} do not meet");
        }
    }
}

#[test]
fn a_peer_that_is_killed_is_left_out_and_one_that_is_restarted_is_taken_in() {
    let _turn = turn();
    let mesh = Mesh::new();
    // The test ends them.
    let flags = "--rounds 1000000 --synthetic --peer-timeout 3s --connect-timeout 60s";
    let _coordinator = mesh.start("c", "--rounds 1000000 --scheme orpheus --seed 3");
    let mut peers: BTreeMap<&str, Running> = PEERS.map(|name| (name, mesh.start(name, flags))).into();
    // All have averaged something before p4 is killed.
    for peer in peers.values() {
        peer.until("averaged");
    }
    let of_p4 = peers.remove("p4").unwrap().killed();
    let last = of_p4.iter().filter_map(|line| line["round"].as_u64()).max().unwrap_or(1);
    // p1 may be behind, and its average of a round may lack p4 for other reasons. The round of an update
    // tells p4's first incarnation from its second.
    let until = |what: &dyn Fn(&Value) -> bool| while !what(&peers["p1"].next()) {};
    let is_average_after =
        |line: &Value, round: u64| line["averaged"].is_string() && line["round"].as_u64() > Some(round);
    // Rounds that p4 has never begun end without it.
    until(&|line| is_average_after(line, last + 3));
    let again = mesh.start("p4", flags);
    // It begins with what the others sent it.
    let lines = again.until("averaged");
    assert!(lines.iter().all(|line| line.get("sent").is_none()), "{lines:?}");
    let first = lines.last().unwrap();
    assert!(!first["of"].as_array().unwrap().is_empty() && is_average_after(first, last + 1), "{first}");
    let first = first["round"].as_u64().unwrap();
    // The others average what it sends.
    let is_new = |from: &Value| from[0] == "p4" && from[1].as_u64() > Some(first);
    until(&|line| line["of"].as_array().is_some_and(|of| of.iter().any(is_new)));
}

#[test]
fn bad_flags_are_refused_in_one_line() {
    let mesh = Mesh::new();
    mesh.refused("p1", "--rounds 0", &["--rounds 0", "at least 1"]);
    mesh.refused("p1", "--multicast switches", &["--multicast", "hosts"]);
    mesh.refused("p1", "--multicast switch --values 100", &["--values", "256"]);
    mesh.refused("p1", "--multicast switch --interface lo", &["--peer", "leave it out"]);
    mesh.refused("p1", "--interface lo", &["--interface lo", "--multicast switch"]);
    mesh.refused("p1", "--sync asp", &["--sync", "ssp"]);
    mesh.refused("p1", "--staleness few", &["--staleness", "or none"]);
    mesh.refused("p1", "--fairness-bound few", &["--fairness-bound", "or none"]);
    mesh.refused("p1", "--batch 0 --rounds 1", &["batch"]);
    mesh.refused("p1", "--batch 3 --synthetic", &["--batch", "--synthetic"]);
    mesh.refused("p1", "--job other", &["--job other", "digits"]);
    mesh.refused("p1", "--peer-timeout 0s", &["--peer-timeout", "0s", "above 0"]);
    mesh.refused("p1", "--selection-timeout 0s", &["--selection-timeout", "0s", "above 0"]);
    mesh.refused("p1", "--connect-timeout 0s", &["--connect-timeout", "0s", "above 0"]);
    mesh.refused("p1", "--progress-timeout 0s", &["--progress-timeout", "0s", "above 0"]);
    mesh.refused("p1", "--peer p9=127.0.0.1:1", &["p9", "not another peer of job digits"]);
    mesh.refused("p1", "--peer p2=127.0.0.1:1", &["--peer p2", "twice"]);
    mesh.refused("p1", "--peer p2", &["NAME=HOST:PORT"]);
    mesh.refused("p1", "--coordinator p3=127.0.0.1:1", &["coordinator p3", "name of a peer"]);
    mesh.refused("p1", "--congestion reno", &["--congestion", "bbr"]);
    mesh.refused("c", "--join-timeout 0s", &["--join-timeout", "0s", "above 0"]);
    mesh.refused("c", "--finish-threshold 2", &["--finish-threshold 2"]);
    mesh.refused("c", "--guard all", &["--guard", "--guard-all"]);
    mesh.refused("c", "--scheme atp", &["--scheme", "selmcast"]);
    mesh.refused("c", "--scheme optimal --sync ssp", &["--scheme optimal", "selmcast"]);
    // Other files than those of mesh4.
    let others = |name: &str, from: &str, to: &str| -> Vec<String> {
        mesh.arguments(name, "--rounds 1").into_iter().map(|word| word.replace(from, to)).collect()
    };
    let refused = |arguments: Vec<String>, named: &[&str]| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        is_refusal(&mesh.bench.inart(&arguments), &arguments, named);
    };
    refused(others("p1", "p1.pem", "p2.pem"), &["TLS", "p1.key"]);
    refused(others("p1", "p1.", "p2."), &["the certificate is not for p1 but for p2"]);
    refused(others("p1", "ca.pem", "none.pem"), &["none.pem"]);
    let text = mesh.bench.read("mesh4.yaml");
    for (name, part, by, named) in [
        (
            "short.yaml",
            "203304 B",
            "100 B",
            &["job digits", "25 values", "update: 203304 B", "--synthetic"][..],
        ),
        ("half.yaml", "203304 B", "102 B", &["update of p1 is 102 bytes", "multiple of 4"]),
        (
            "two.yaml",
            "203304 B",
            "{default: 200 B, overrides: {p2: 400 B}}",
            &["update of p2 has another length"],
        ),
        (
            "one.yaml",
            "receivers: 2",
            "receivers: 2, required_pairs: [[p1, p2]]",
            &["job digits", "one round"],
        ),
    ] {
        assert!(text.contains(part));
        mesh.bench.write(name, text.replacen(part, by, 1));
        refused(others("p1", "mesh4.yaml", name), named);
    }
    mesh.bench.write("untimed.yaml", text.replace(", compute: {mean: 10 ms, cv: 0.3}", ""));
    let untimed =
        others("p1", "mesh4.yaml", "untimed.yaml").into_iter().chain(["--simulate-compute".to_owned()]);
    refused(untimed.collect(), &["--simulate-compute", "job digits", "add compute"]);
    refused(others("p1", "--peer", "--name"), &["--name"]);
    let alone = |flags: &str| -> Vec<String> {
        let words = mesh.arguments("p1", flags);
        let is_peer = |at: usize| words[at] == "--peer" || at > 0 && words[at - 1] == "--peer";
        (0..words.len()).filter(|&at| !is_peer(at)).map(|at| words[at].clone()).collect()
    };
    refused(alone("--rounds 1"), &["peer p2 has no address at p1"]);
    refused(alone("--multicast switch"), &["--multicast switch", "--interface"]);
    refused(alone("--multicast switch --interface none9"), &["interface none9", "does not exist"]);
}

#[test]
fn a_coordinator_that_is_missing_or_configured_otherwise_is_named() {
    let mesh = Mesh::new();
    let lonely = mesh.arguments("p1", "--connect-timeout 1s");
    let lonely: Vec<&str> = lonely.iter().map(String::as_str).collect();
    mesh.bench.refused(&lonely, &["peer p1", "no coordinator has admitted peer 0", "start one"]);
    let _coordinator = mesh.start("c", "--sync ssp");
    let other = mesh.arguments("p1", "--connect-timeout 60s");
    let other: Vec<&str> = other.iter().map(String::as_str).collect();
    mesh.bench
        .refused(&other, &["peer p1", "has synchronization bsp, the coordinator has synchronization ssp"]);
}

#[test]
fn the_doctor_names_a_stopped_peer_as_the_cause_for_which_the_others_wait() {
    let _turn = turn();
    let mesh = Mesh::new();
    doctor::create_folder(&mesh.bench);
    let start = |name: &str, flags: &str| {
        mesh.start(name, &format!("{flags} --rounds 1000000 --status {}", doctor::socket(&mesh.bench, name)))
    };
    let _coordinator = start("c", "--scheme orpheus");
    let peers = PEERS.map(|name| start(name, "--synthetic --peer-timeout 100s"));
    peers[0].until("sent");
    doctor::names_the_stopped(&mesh.bench, ("p3", &peers[2].child), "p1, p2, p4 wait");
}

#[test]
fn a_coordinator_without_peers_ends_with_their_names() {
    let _turn = turn();
    let mesh = Mesh::new();
    let named = ["coordinator c", "no peer is connected for 1 s", "start p1, p2, p3, p4"];
    mesh.refused("c", "--idle-timeout 1s", &named);
    // All peers are killed in the training.
    let mut coordinator = mesh.start("c", "--idle-timeout 3s --rounds 1000000");
    let peers = PEERS.map(|name| mesh.start(name, "--synthetic --rounds 1000000"));
    peers[0].until("sent");
    drop(peers);
    let until = Instant::now() + Duration::from_secs(120);
    while coordinator.child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "it waits for ever");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(coordinator.child.wait().unwrap().code(), Some(2));
}
