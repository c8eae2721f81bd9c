//! `inart switch`, `inart apply`, `inart coordinator` and `inart peer --multicast switch` as processes on
//! veth links, as users start them: a peer that dies in the middle of its multicast, and frames of
//! strangers. Needs root, and skips without.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::collections::BTreeMap;
use std::process::Command;
use std::thread;
use std::time::Duration;

use inart_host_agent::{BatchedPort, Transport};
use inart_p4::Reason;
use inart_targets::{Access, DEFAULT, Endpoint, Running as Runs};
use inart_wire::{
    BitmapIndex, ChunkSeq, Contributors, Exponent, Flags, FrameRepr, Group, HeaderRepr, Kind, MacAddr,
    ShardId, ValuesPerFrame,
};
use serde_json::Value;

use crate::support::processes::{Running, certify};
use crate::support::{Workbench, turn};

const NAMES: [&str; 4] = ["p1", "p2", "p3", "p4"];
const VALUES: ValuesPerFrame = ValuesPerFrame::N256;

/// Four hosts at one switch; the job's peers, each of which sends to all others. A round takes about as long
/// as `others` updates of 1.7 Mbit at this rate.
fn document(peers: usize, rate: &str) -> String {
    let node = |name: &str| format!(", {{name: {name}, kind: peer}}");
    let link = |name: &str| format!("  - {{ends: [{name}, s], rate: {rate}}}\n");
    let nodes: String = NAMES.into_iter().map(node).collect();
    let links: String = NAMES.into_iter().map(link).collect();
    let job = NAMES[..peers].join(", ");
    format!(
        "name: four\nnodes: [{{name: s, kind: switch}}{nodes}]\nlinks:\n{links}jobs:\n  - {{name: all, peers: [{job}], \
         receivers: {}, update: 200 KB}}\n",
        peers - 1
    )
}

fn run(program: &str, words: &str) {
    assert!(Command::new(program).args(words.split(' ')).status().unwrap().success(), "{program} {words}");
}

/// Runs a test in a network namespace of its own: hosts' interfaces `u1` to `u4`, the switch's `d1` to `d4`.
fn in_namespace(test: impl FnOnce() + Send + 'static) {
    let _turn = turn();
    let body = move || {
        if nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).is_err() {
            return eprintln!("skipped: root is needed to make a network namespace");
        }
        run("ip", "link set lo up");
        for port in 1..=4 {
            let address = format!("02:49:4e:50:00:{:02x}", port - 1);
            run("ip", &format!("link add u{port} address {address} type veth peer name d{port}"));
            run("ip", &format!("link set u{port} up"));
            run("ip", &format!("link set d{port} up"));
        }
        test();
    };
    thread::spawn(body).join().unwrap();
}

struct World {
    bench: Workbench,
    switch: Running,
    address: String,
}

impl World {
    fn new(peers: usize, rate: &str) -> Self {
        let bench = Workbench::new();
        certify(&bench, NAMES.into_iter().chain(["c"]));
        bench.write("four.yaml", document(peers, rate));
        let words = "switch --no-p4 -i 1@d1 -i 2@d2 -i 3@d3 -i 4@d4 -- --grpc-server-addr 127.0.0.1:0";
        let switch = Running::start(bench.command(&words.split(' ').collect::<Vec<_>>()));
        let address = switch.line().strip_prefix("listening on ").unwrap().to_owned();
        World { bench, switch, address }
    }

    /// Writes the entries; how many.
    fn push(&self) -> u64 {
        let switch = format!("s={}", self.address);
        let output =
            self.bench.inart(&["--json", "apply", "four.yaml", "--state", "state", "--switch", &switch]);
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["updates"].as_u64().unwrap()
    }

    fn start(&self, words: &str) -> Running {
        Running::start(self.bench.command(&words.split_whitespace().collect::<Vec<_>>()))
    }

    fn coordinator(&self, peers: usize, rounds: u32) -> Running {
        let at = |peer: usize| format!(" --peer p{peer}=127.0.0.1:{}", 7500 + peer);
        let peers: String = (1..=peers).map(at).collect();
        let rest = format!("--rounds {rounds} --listen 127.0.0.1:7500 {}{peers}", common("c"));
        self.start(&format!("--json coordinator four.yaml {rest}"))
    }

    fn peer(&self, peer: usize, rounds: u32, timeout: &str) -> Running {
        let name = format!("p{peer}");
        let coordinator = "--coordinator c=127.0.0.1:7500";
        let rest = format!(
            "--synthetic --rounds {rounds} --peer-timeout {timeout} --interface u{peer} {coordinator}"
        );
        let listen = 7500 + peer;
        self.start(&format!("--json peer four.yaml --listen 127.0.0.1:{listen} {} {rest}", common(&name)))
    }

    /// Frames that the switch has dropped for a reason.
    fn drops(&self, reason: Reason) -> i64 {
        let program = DEFAULT.program(VALUES, None).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut session = program.open(Endpoint::local(&self.address, 0), Access::Read).await.unwrap();
            assert_eq!(session.running().await.unwrap(), Runs::Ours);
            session.counters().await.unwrap().drops(reason).packets
        })
    }
}

fn common(name: &str) -> String {
    format!("--name {name} --multicast switch --tls-ca ca.pem --tls-cert {name}.pem --tls-key {name}.key")
}

/// Compares updates by sender and round. Each received copy must equal the sent update and be printed once.
/// A living receiver in the list of a sender must have printed the update.
fn compare(printed: &BTreeMap<String, Vec<Value>>, alive: &[&str]) -> usize {
    let mut sent = BTreeMap::new();
    let mut received = BTreeMap::new();
    for (name, lines) in printed {
        for line in lines {
            let round = || line["round"].as_u64().unwrap();
            if let Some(digest) = line["sent"].as_str() {
                sent.insert((name.clone(), round()), digest.to_owned());
            } else if let Some(digest) = line["received"].as_str() {
                let from = line["from"].as_str().unwrap().to_owned();
                let before = received.insert((name.clone(), from, round()), digest.to_owned());
                assert_eq!(before, None, "{name} is given the same update twice: {line}");
            }
        }
    }
    for ((to, from, round), digest) in &received {
        assert_eq!(sent.get(&(from.clone(), *round)), Some(digest), "{to} received of {from} in {round}");
    }
    for (name, lines) in printed {
        for line in lines.iter().filter(|line| line.get("given_up").is_some_and(Value::is_array)) {
            let complete = line["complete"].as_array().unwrap().iter().map(|to| to.as_str().unwrap());
            for to in complete.filter(|to| alive.contains(to)) {
                let key = (to.to_owned(), name.clone(), line["round"].as_u64().unwrap());
                assert!(received.contains_key(&key), "{to} says nothing of it: {name}, {line}");
            }
        }
    }
    received.len()
}

#[test]
fn a_peer_that_dies_in_the_middle_of_its_multicast_is_named_and_the_others_go_on() {
    in_namespace(|| {
        const ROUNDS: u32 = 5;
        let world = World::new(4, "2 Mbps");
        assert!(world.push() > 0);
        assert_eq!(world.push(), 0, "a second push changes nothing");
        let _coordinator = world.coordinator(4, ROUNDS);
        let mut peers: BTreeMap<String, Running> =
            (1..=4).map(|peer| (format!("p{peer}"), world.peer(peer, ROUNDS, "5s"))).collect();
        let dying = peers.remove("p4").unwrap();
        let mut of_dying = Vec::new();
        let is_sent = |line: &Value| line.get("sent").is_some() && line["round"] == 3;
        while !of_dying.last().is_some_and(is_sent) {
            of_dying.push(dying.next());
        }
        // Its update takes 2.5 s, of which a part has left.
        thread::sleep(Duration::from_millis(300));
        of_dying.extend(dying.killed());
        // What a peer has counted is what it tells last.
        let mut printed: BTreeMap<_, _> =
            peers.iter().map(|(name, peer)| (name.clone(), peer.until("misdelivered"))).collect();
        for (name, lines) in &printed {
            let ended = |round: u32| {
                let is_it = |line: &&Value| line["round"] == round && line["complete"].is_array();
                lines.iter().find(is_it).unwrap_or_else(|| panic!("{name} has not ended round {round}"))
            };
            assert_eq!(ended(2)["complete"].as_array().unwrap().len(), 3, "{name}: {}", ended(2));
            assert_eq!(ended(3)["given_up"], serde_json::json!(["p4"]), "{name}: {}", ended(3));
            assert_eq!(ended(ROUNDS)["complete"].as_array().unwrap().len(), 2, "{name}");
            let whole =
                |line: &Value| line.get("received").is_some() && line["from"] == "p4" && line["round"] == 3;
            assert!(!lines.iter().any(whole), "{name} has an update that was never sent whole");
            let last = lines.last().unwrap();
            assert_eq!((&last["gone"], &last["misdelivered"]), (&1.into(), &0.into()), "{name}: {last}");
        }
        printed.insert("p4".to_owned(), of_dying);
        // Two rounds of four peers to three others at least, and three of three to two.
        assert!(compare(&printed, &["p1", "p2", "p3"]) >= 2 * 9 + 3 * 6);
        drop(world.switch);
    });
}

/// p4's port down carries a tenth of what goes there, and drops the rest: its chunks are sent again, after
/// all have left once. The others have their updates while it still lacks some of the same round.
#[test]
fn a_slow_receiver_slows_no_other_receiver() {
    in_namespace(|| {
        const ROUNDS: u32 = 2;
        run("tc", "qdisc add dev d4 root tbf rate 800kbit burst 4kb latency 30ms");
        let world = World::new(4, "8 Mbps");
        world.push();
        let _coordinator = world.coordinator(4, ROUNDS);
        let mut peers: BTreeMap<String, Running> =
            (1..=4).map(|peer| (format!("p{peer}"), world.peer(peer, ROUNDS, "60s"))).collect();
        let slow = peers.remove("p4").unwrap();
        let is_in = |line: &Value, round: u32| line.get("received").is_some() && line["round"] == round;
        let mut printed = BTreeMap::new();
        for (name, peer) in &peers {
            let mut lines = Vec::new();
            while lines.iter().filter(|line| is_in(line, 1)).count() < 3 {
                lines.push(peer.next());
            }
            // No peer starts the next round before all receivers have their updates.
            assert!(lines.iter().all(|line| line["round"] == 1), "{name}: {lines:?}");
            printed.insert(name.clone(), lines);
        }
        let mut lines = slow.so_far();
        let arrived = lines.iter().filter(|line| is_in(line, 1)).count();
        assert_eq!(arrived, 0, "p4 has what takes ten times as long: {lines:?}");
        lines.extend(slow.until("misdelivered"));
        printed.insert("p4".to_owned(), lines);
        for (name, peer) in &peers {
            printed.get_mut(name).unwrap().extend(peer.until("misdelivered"));
        }
        for (name, lines) in &printed {
            let ended = lines.iter().filter(|line| line["complete"].is_array());
            let whole = ended.filter(|line| line["complete"].as_array().unwrap().len() == 3);
            assert_eq!(whole.count(), ROUNDS as usize, "{name}: {lines:?}");
        }
        assert_eq!(compare(&printed, &NAMES), 4 * 3 * ROUNDS as usize);
        let again: u64 =
            printed.values().map(|lines| lines.last().unwrap()["repairs"].as_u64().unwrap()).sum();
        assert!(again > 100, "{again} chunks were sent again");
        drop(world.switch);
    });
}

fn bitmap_index(rank: u16) -> BitmapIndex {
    BitmapIndex::try_from(rank).unwrap()
}

/// A frame as p2 would send it to p1, but for what `change` does.
fn frame(change: impl FnOnce(&mut FrameRepr)) -> Vec<u8> {
    let header = HeaderRepr {
        kind: Kind::Update,
        flags: Flags::NONE,
        plan_version: 1.into(),
        job: 0x8000.into(),
        shard: ShardId::from(1),
        worker: bitmap_index(1),
        sequence: ChunkSeq::from(0),
        contributors: Contributors { bitmap: 1, group: Group(0) },
        exponent: Exponent::from(0),
        length: 256,
        incarnation: 77.into(),
    };
    let (destination, source) = (MacAddr::results_of(0x8000.into()), MacAddr([2, 0x49, 0x4e, 0x50, 0, 1]));
    let mut repr = FrameRepr { destination, source, values_per_frame: VALUES, header };
    change(&mut repr);
    let mut bytes = vec![0; repr.buffer_len()];
    repr.emit(&[7; 256], &mut bytes).unwrap();
    bytes
}

fn send(port: &mut BatchedPort, frame: &[u8], times: usize) {
    let mut left = times;
    let mut fill = |buffer: &mut [u8]| {
        left = left.checked_sub(1)?;
        buffer[..frame.len()].copy_from_slice(frame);
        Some(frame.len())
    };
    port.transmit(&mut fill).unwrap();
}

#[test]
fn frames_of_strangers_die_in_the_switch_and_what_is_unknown_is_counted_by_peers() {
    in_namespace(|| {
        const ROUNDS: u32 = 8;
        let world = World::new(3, "8 Mbps");
        world.push();
        let _coordinator = world.coordinator(3, ROUNDS);
        let peers: Vec<Running> = (1..=3).map(|peer| world.peer(peer, ROUNDS, "60s")).collect();
        let first = peers[0].next();
        // p4 is at the switch, and not in the job; the other port is p1's, behind the switch.
        let [mut stranger, mut inside] = ["u4", "d1"].map(|name| BatchedPort::open(name).unwrap());
        for port in [&mut stranger, &mut inside] {
            port.prepare(VALUES.frame_bytes()).unwrap();
        }
        send(&mut stranger, &frame(|_| {}), 11);
        send(&mut stranger, &frame(|frame| frame.header.worker = bitmap_index(3)), 2);
        send(&mut inside, &frame(|_| {}), 5);
        send(&mut inside, &frame(|frame| frame.header.job = 9.into()), 6);
        send(&mut inside, &frame(|frame| frame.header.plan_version = 2.into()), 7);
        send(&mut inside, &frame(|frame| frame.header.worker = bitmap_index(40)), 8);
        send(&mut inside, &frame(|_| {})[..200], 9);
        let mut printed: BTreeMap<String, Vec<Value>> = (1..=3)
            .zip(&peers)
            .map(|(peer, running)| (format!("p{peer}"), running.until("misdelivered")))
            .collect();
        printed.get_mut("p1").unwrap().insert(0, first);
        assert_eq!(compare(&printed, &["p1", "p2", "p3"]), 3 * 2 * ROUNDS as usize);
        let last = printed["p1"].last().unwrap();
        let of = |key: &str| last[key].as_u64().unwrap();
        assert_eq!(
            [of("other_job"), of("other_plan_version"), of("unknown"), of("malformed")],
            [6, 7, 8, 9],
            "{last}"
        );
        assert!(of("stale_incarnation") >= 5, "{last}");
        for lines in printed.values() {
            assert_eq!(lines.last().unwrap()["misdelivered"], 0);
        }
        assert_eq!(world.drops(Reason::NoUpdateRoute), 13);
    });
}
