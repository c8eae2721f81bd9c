//! `inart order-server` and `inart order-worker` by raw frames on interfaces of one bridge: what is applied is
//! compared with what workers say that they sent. Needs root, and skips without.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod support;

use std::process::Command;
use std::thread;

use inart_host_agent::{BatchedPort, Transport};
use inart_wire::{
    ChunkSeq, Contributors, Epoch, Exponent, Flags, FrameRepr, HeaderRepr, Incarnation, JobId, Kind, MacAddr,
    Seat, ShardId, ValuesPerPacket,
};
use serde_json::Value;
use support::Workbench;
use support::order::{applied, sent};
use support::processes::Running;

const WORKERS: [&str; 3] = ["w1", "w2", "w3"];
/// The host that is not in the job comes last.
const HOSTS: [&str; 5] = ["s1", "w1", "w2", "w3", "x"];
const NETWORK: &str = "\
name: three
nodes:
  - {name: v, kind: switch}
  - {name: s1, kind: server}
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
  - {name: w3, kind: worker}
links:
  - {ends: [v, s1], rate: 80 Mbps}
  - {ends: [v, w1], rate: 40 Mbps}
  - {ends: [v, w2], rate: 40 Mbps}
  - {ends: [v, w3], rate: 40 Mbps}
jobs:
  - name: digits
    workers: [w1, w2, w3]
    servers: [s1]
    gradient: 203304 B
    compute: {mean: 20 ms, cv: 0.1}
    batch: 16
";

fn run(program: &str, words: &str) {
    assert!(Command::new(program).args(words.split(' ')).status().unwrap().success(), "{program} {words}");
}

fn mac(host: &str) -> String {
    format!("02:00:00:00:00:{:02x}", HOSTS.iter().position(|name| *name == host).unwrap() + 1)
}

/// Runs a test in a network namespace of its own: hosts' interfaces are called `on-` and the host, the
/// bridge's `at-`.
fn in_namespace(mtu: u32, test: impl FnOnce() + Send + 'static) {
    let body = move || {
        if nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).is_err() {
            return eprintln!("skipped: root is needed to make a network namespace");
        }
        run("ip", "link add bridge type bridge");
        run("ip", "link set bridge up");
        for host in HOSTS {
            let address = mac(host);
            run(
                "ip",
                &format!("link add on-{host} mtu {mtu} address {address} type veth peer name at-{host}"),
            );
            run("ip", &format!("link set at-{host} mtu {mtu} master bridge up"));
            run("ip", &format!("link set on-{host} up"));
        }
        test();
    };
    thread::spawn(body).join().unwrap();
}

struct Cluster(Workbench);

impl Cluster {
    fn new() -> Self {
        let bench = Workbench::new();
        bench.write("three.yaml", NETWORK);
        Cluster(bench)
    }

    fn line(name: &str, more: &str) -> String {
        let own = format!("three.yaml --name {name} --interface on-{name} {more}");
        let workers = WORKERS.map(|worker| format!(" --worker {worker}={}", mac(worker))).concat();
        match name {
            "s1" => format!("--json order-server {own} {workers}"),
            _ => format!("--json order-worker {own} --server s1={}", mac("s1")),
        }
    }

    fn start(&self, name: &str, more: &str) -> Running {
        let line = Self::line(name, more);
        Running::start(self.0.command(&line.split_whitespace().collect::<Vec<_>>()))
    }

    fn refused(&self, line: &str, named: &[&str]) {
        self.0.refused(&line.split_whitespace().collect::<Vec<_>>(), named);
    }
}

/// The frames of a whole run are neither strangers' nor wrong.
fn are_clean(last: &Value) {
    let connections = &last["connections"];
    assert_eq!((&connections["strangers"], &connections["malformed"]), (&0.into(), &0.into()), "{last}");
    assert_eq!((&last["malformed"], &last["other_life"]), (&0.into(), &0.into()), "{last}");
}

/// Trains; the last lines of the server, and of a worker.
fn trained(cluster: &Cluster, flags: &str, of_all: &str) -> (Value, Value) {
    let server = cluster.start("s1", &format!("{flags} {of_all}"));
    let workers = WORKERS.map(|name| (name, cluster.start(name, of_all)));
    let told: Vec<_> = workers.iter().map(|(name, worker)| (*name, worker.until("iterations"))).collect();
    let said = server.until("accuracy");
    let count = applied(&said, &sent(&told));
    let last = said.last().unwrap();
    assert!(count >= 3 * 40 && last["applied_updates"] == count, "{count}: {last}");
    assert!(last["accuracy"].as_f64().unwrap() > 0.8, "{last}");
    assert_eq!(last["refused"], 0, "{last}");
    let most = said.iter().filter_map(|line| line["updates"].as_array()).flatten();
    let most = most.filter_map(|update| update["staleness"].as_u64()).max().unwrap();
    assert!(most <= 2, "{flags}: {most}");
    are_clean(last);
    (last.clone(), told[0].1.last().unwrap().clone())
}

#[test]
fn workers_learn_by_frames_and_every_update_is_applied_once() {
    in_namespace(1500, || {
        let cluster = Cluster::new();
        trained(&cluster, "--sync r2sp --iterations 40", "");
        trained(&cluster, "--sync bsp --iterations 40 --half", "--pace");
        // As InArt switches need it: frames of one length.
        trained(&cluster, "--sync r2sp --iterations 40", "--frame-values 64");
        // Frames that are longer than the interface carries.
        let line = Cluster::line("s1", "--sync bsp --frame-values 1024");
        cluster.refused(&line, &["interface on-s1", "4140 bytes", "MTU of 1500"]);
    });
}

#[test]
fn frames_are_longer_where_the_mtu_allows_it() {
    in_namespace(9000, || {
        let cluster = Cluster::new();
        let carried = || {
            // Of this thread's namespace.
            let text = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
            let line = text.lines().find(|line| line.trim_start().starts_with("on-w1:")).unwrap();
            let numbers: Vec<u64> =
                line.split_whitespace().skip(1).map(|text| text.parse().unwrap()).collect();
            (numbers[8], numbers[9])
        };
        trained(&cluster, "--sync r2sp --iterations 40", "");
        let (bytes, frames) = carried();
        // A chunk is three frames of 8236 bytes or less, and hellos and acknowledgements are short.
        assert!(bytes / frames > 2000, "{bytes} bytes in {frames} frames");
    });
}

#[test]
fn a_worker_that_is_killed_comes_back() {
    in_namespace(1500, || {
        let cluster = Cluster::new();
        let server = cluster.start("s1", "--sync r2sp --iterations 60 --absence 500ms");
        let (first, third) = (cluster.start("w1", ""), cluster.start("w3", ""));
        let killed = cluster.start("w2", "");
        let mut said = Vec::new();
        let until = |said: &mut Vec<Value>, is_it: &dyn Fn(&Value) -> bool| {
            while !said.last().is_some_and(is_it) {
                said.push(server.next());
            }
        };
        until(&mut said, &|line| line["applied"].as_u64() >= Some(15));
        // What it has said until then; a line may be lost with it.
        let mut second = killed.so_far();
        drop(killed);
        // The others go on without it.
        until(&mut said, &|line| line["gone"] == "w2");
        let version = said.iter().rev().find_map(|line| line["applied"].as_u64()).unwrap();
        until(&mut said, &|line| line["applied"].as_u64() >= Some(version + 6));
        let back = cluster.start("w2", "");
        until(&mut said, &|line| line["joined"] == "w2");
        until(&mut said, &|line| line["worker"] == "w2" && line.get("pushed").is_some());
        until(&mut said, &|line| line.get("accuracy").is_some());
        second.extend(back.until("iterations"));
        let told = [("w1", first.until("iterations")), ("w2", second), ("w3", third.until("iterations"))];
        assert!(applied(&said, &sent(&told)) > 60 * 2);
        let last = said.last().unwrap();
        assert!(last["given_up"].as_u64() >= Some(1) && last["accuracy"].as_f64() > Some(0.8), "{last}");
    });
}

#[test]
fn a_server_that_is_killed_goes_on_from_its_last_version() {
    in_namespace(1500, || {
        let cluster = Cluster::new();
        let flags = "--sync r2sp --iterations 30 --keep model.kept";
        let server = cluster.start("s1", flags);
        let workers = WORKERS.map(|name| (name, cluster.start(name, "")));
        let mut version = 0;
        while version < 20 {
            version = server.next()["applied"].as_u64().unwrap_or(version);
        }
        drop(server);
        let server = cluster.start("s1", flags);
        let said = server.until("accuracy");
        let told: Vec<_> = workers.iter().map(|(name, worker)| (*name, worker.until("iterations"))).collect();
        let first = said.iter().find_map(|line| line["applied"].as_u64()).unwrap();
        assert!(first > version, "it began anew: version {first} after {version}");
        assert!(applied(&said, &sent(&told)) > 0);
    });
}

/// A hello to the server, as this worker's of that job would be.
fn hello(source: MacAddr, seat: u16, job: u16, words: &[i32]) -> Vec<u8> {
    let header = HeaderRepr {
        kind: Kind::Control,
        flags: Flags::NONE,
        epoch: Epoch::from(1),
        job: JobId::from(job),
        shard: ShardId::from(0),
        worker: Seat::try_from(i64::from(seat)).unwrap(),
        sequence: ChunkSeq::from(0),
        contributors: Contributors::default(),
        exponent: Exponent::from(0),
        length: words.len() as u16,
        incarnation: Incarnation::from(7),
    };
    let (destination, values_per_packet) = (mac("s1").parse().unwrap(), ValuesPerPacket::N32);
    let frame = FrameRepr { destination, source, values_per_packet, header };
    let mut bytes = vec![0; frame.buffer_len()];
    frame.emit(words, &mut bytes).unwrap();
    bytes
}

#[test]
fn frames_of_strangers_and_frames_without_sense_are_dropped_and_counted() {
    in_namespace(1500, || {
        let cluster = Cluster::new();
        let server = cluster.start("s1", "--sync r2sp --iterations 40");
        let workers = WORKERS.map(|name| (name, cluster.start(name, "")));
        let mut said = vec![server.next()];
        while said.last().unwrap()["applied"].as_u64() < Some(10) {
            said.push(server.next());
        }
        let at = |name: &str| mac(name).parse::<MacAddr>().unwrap();
        let is_new = [34, 7, 0, 0];
        let mut wrong = vec![
            // Nobody's address; a worker's with another seat; with another job. Each would end a connection.
            hello(at("x"), 0, 1, &is_new),
            hello(at("w1"), 1, 1, &is_new),
            hello(at("w1"), 0, 2, &is_new),
        ];
        // No such code; a part without its bytes.
        wrong.extend([[99, 7, 7, 0], [32, 7, 7, 0]].map(|words| hello(at("w1"), 0, 1, &words)));
        // Cut; of a later version.
        wrong.push(wrong[0][..100].to_vec());
        wrong.push(
            wrong[0].iter().enumerate().map(|(at, byte)| if at == 14 { 0x35 } else { *byte }).collect(),
        );
        let count = wrong.len();
        let mut port = BatchedPort::open("on-x").unwrap();
        port.prepare(ValuesPerPacket::N256.frame_bytes()).unwrap();
        let mut left = wrong.into_iter();
        port.transmit(&mut |buffer| {
            let frame = left.next()?;
            buffer[..frame.len()].copy_from_slice(&frame);
            Some(frame.len())
        })
        .unwrap();
        said.extend(server.until("accuracy"));
        let told: Vec<_> = workers.iter().map(|(name, worker)| (*name, worker.until("iterations"))).collect();
        assert!(applied(&said, &sent(&told)) >= 120);
        let connections = &said.last().unwrap()["connections"];
        assert_eq!((&connections["strangers"], &connections["malformed"]), (&3.into(), &4.into()), "{count}");
        assert!(said.iter().all(|line| line.get("gone").is_none()), "nobody was given up");
    });
}

#[test]
fn interfaces_that_cannot_be_used_are_refused() {
    in_namespace(1500, || {
        let cluster = Cluster::new();
        let refused = |name: &str, interface: &str, named: &[&str]| {
            let line = Cluster::line(name, if name == "s1" { "--sync bsp" } else { "" });
            cluster.refused(&line.replace(&format!("on-{name}"), interface), named);
        };
        refused("s1", "eth9", &["interface eth9", "on-s1"]);
        refused("w1", "lo", &["lo", "down"]);
        run("ip", "link set lo up");
        refused("w1", "lo", &["interface lo", "no Ethernet address"]);
        run("ip", "link set on-w1 mtu 100");
        refused("w1", "on-w1", &["interface on-w1", "MTU of 100", "158"]);
        run("ip", "link set on-w2 down");
        refused("w2", "on-w2", &["interface on-w2", "down"]);
        // Its own address as the server's.
        refused("w3", "on-s1", &["s1 at 02:00:00:00:00:01", "interface on-s1"]);
    });
}

#[test]
fn flags_that_do_not_go_together_are_refused() {
    let cluster = Cluster::new();
    let server = |more: &str| format!("{} {more}", Cluster::line("s1", "--sync bsp"));
    let worker = |more: &str| format!("{} {more}", Cluster::line("w1", ""));
    let quic = ["--listen 127.0.0.1:1", "--tls-ca x", "--tls-cert x", "--tls-key x", "--congestion bbr"];
    for flag in quic {
        let name = flag.split(' ').next().unwrap();
        cluster.refused(&server(flag), &[name, "--interface on-s1", "leave out"]);
        cluster.refused(&worker(flag), &[name, "--interface on-w1", "leave out"]);
    }
    let without = |line: String| line.replace("--interface on-s1", "").replace("--interface on-w1", "");
    cluster.refused(&without(server("")), &["--listen", "QUIC", "--interface"]);
    cluster.refused(&without(worker("--listen 127.0.0.1:1")), &["--tls-ca", "QUIC", "--interface"]);
    cluster.refused(&without(worker("--frame-values 64")), &["--frame-values 64", "--interface"]);
    cluster.refused(&worker("--frame-values 65"), &["65", "32, 64, 256"]);
    let instead = |of: &str, given: &str| server("").replace(&mac(of), given);
    cluster.refused(&instead("w2", "10.0.0.1:80"), &["--worker w2=10.0.0.1:80", "MAC"]);
    cluster.refused(&instead("w2", "02:00:00:00:00"), &["--worker w2=", "02:00:00:00:00:01"]);
    cluster.refused(&instead("w2", "ff:ff:ff:ff:ff:ff"), &["w2 at ff:ff:ff:ff:ff:ff", "no host's"]);
    cluster.refused(&instead("w2", "01:00:5e:00:00:01"), &["w2 at 01:00:5e:00:00:01", "no host's"]);
    cluster.refused(&instead("w2", &mac("w1")), &["w2 at", "w1 has that address"]);
    cluster.refused(&server(&format!("--worker w1={}", mac("w1"))), &["--worker w1", "twice"]);
    cluster.refused(&server(&format!("--worker w9={}", mac("x"))), &["w9", "w1, w2, w3"]);
    cluster.refused(&server("").replace(&format!("--worker w3={}", mac("w3")), ""), &["w3", "w3=MAC"]);
    cluster.refused(&worker("").replace(&mac("s1"), "nowhere"), &["--server s1=nowhere", "MAC"]);
    cluster.refused(&worker("").replace(&format!("s1={}", mac("s1")), "s1"), &["--server", "NAME=MAC"]);
}
