//! `inart site`, `inart scheduler` and `inart emulate` on networks of sites, as processes.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::Value;
use support::Workbench;

/// Longer than anything here takes; only a failure waits for it.
const TIMEOUT: Duration = Duration::from_secs(120);

const NETWORK: &str = "name: ring
nodes: [{name: n1, kind: site}, {name: n2, kind: site}, {name: n3, kind: site}]
links:
  - {ends: [n1, n2], rate: [8 Mbps, 4 Mbps], delay: 5 ms, loss: 0.1%}
  - {ends: [n2, n3], rate: [6 Mbps, 9 Mbps], delay: 5 ms}
  - {ends: [n1, n3], rate: 5 Mbps, delay: 5 ms}
traces:
  - {link: [n1, n2], every: 1 s, rates: [8 Mbps, 3 Mbps, 6 Mbps]}
jobs: [{name: job, sites: [n1, n2, n3], gradient: 203304 B, chunk: 16 KB}]
";

const NAMES: [&str; 4] = ["n1", "n2", "n3", "scheduler"];

/// Writes `ca.pem`, and a certificate and key for every name.
fn certify(bench: &Workbench) {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.distinguished_name.push(DnType::CommonName, "authority");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    bench.write("ca.pem", ca.self_signed(&ca_key).unwrap().pem());
    let issuer = Issuer::from_params(&ca, &ca_key);
    for name in NAMES {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer);
        bench.write(&format!("{name}.pem"), certificate.unwrap().pem());
        bench.write(&format!("{name}.key"), key.serialize_pem());
    }
}

/// Killed when dropped.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (told, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if told.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    fn next(&self) -> Value {
        serde_json::from_str(&self.lines.recv_timeout(TIMEOUT).unwrap()).unwrap()
    }
}

struct Ring {
    bench: Workbench,
    ports: BTreeMap<&'static str, u16>,
    rounds: u32,
}

impl Ring {
    fn new(rounds: u32) -> Self {
        let bench = Workbench::new();
        certify(&bench);
        bench.write("net.yaml", NETWORK);
        let sockets = NAMES.map(|name| (name, UdpSocket::bind("127.0.0.1:0").unwrap()));
        let port = |(name, socket): &(&'static str, UdpSocket)| (*name, socket.local_addr().unwrap().port());
        Ring { bench, ports: sockets.iter().map(port).collect(), rounds }
    }

    fn command(&self, name: &str, command: &[&str]) -> Command {
        let at = |name: &str| format!("127.0.0.1:{}", self.ports[name]);
        let file = |end: &str| self.bench.path(&format!("{name}.{end}"));
        let mut all = Command::new(env!("CARGO_BIN_EXE_inart"));
        all.args(command).arg(self.bench.path("net.yaml")).args(["--name", name, "--listen", &at(name)]);
        all.arg("--tls-ca").arg(self.bench.path("ca.pem"));
        all.arg("--tls-cert").arg(file("pem")).arg("--tls-key").arg(file("key"));
        for other in ["n1", "n2", "n3"].into_iter().filter(|other| *other != name) {
            all.args(["--peer", &format!("{other}={}", at(other))]);
        }
        all
    }

    fn scheduler(&self) -> Running {
        Running::start(self.command("scheduler", &["scheduler"]))
    }

    fn site(&self, name: &str) -> Running {
        let mut command = self.command(name, &["--json", "site"]);
        let scheduler = format!("scheduler=127.0.0.1:{}", self.ports["scheduler"]);
        command.args(["--scheduler", &scheduler, "--rounds", &self.rounds.to_string(), "--batch", "64"]);
        Running::start(command)
    }
}

#[test]
fn a_site_that_is_killed_goes_on_where_the_others_are_and_a_scheduler_that_is_gone_stops_nobody() {
    let ring = Ring::new(60);
    let scheduler = ring.scheduler();
    let mut sites: BTreeMap<&str, Running> =
        ["n1", "n2", "n3"].into_iter().map(|name| (name, ring.site(name))).collect();
    let mut sums: BTreeMap<(&str, u64), String> = BTreeMap::new();
    let mut accuracies = BTreeMap::new();
    let mut take = |name: &'static str, line: Value| -> Option<u64> {
        let Some(round) = line["round"].as_u64() else {
            accuracies.insert(name, line["accuracy"].as_f64().unwrap());
            return None;
        };
        sums.insert((name, round), line["sum"].as_str().unwrap().to_owned());
        Some(round)
    };
    while take("n1", sites["n1"].next()) != Some(5) {}
    // Killed in the middle of whatever it does; then the scheduler, for good.
    sites.remove("n2");
    std::thread::sleep(Duration::from_millis(300));
    sites.insert("n2", ring.site("n2"));
    drop(scheduler);
    for name in ["n1", "n2", "n3"] {
        while take(name, sites[name].next()).is_some() {}
    }
    // Each round's sum is the same wherever it was told, and training came to the same.
    let mut by_round: BTreeMap<u64, Vec<&String>> = BTreeMap::new();
    sums.iter().for_each(|((_, round), sum)| by_round.entry(*round).or_default().push(sum));
    assert_eq!(by_round.len(), 60);
    assert!(by_round.values().all(|sums| sums.windows(2).all(|two| two[0] == two[1])));
    assert!(by_round[&60].len() == 3, "all ended the last round");
    assert!(accuracies.values().all(|accuracy| *accuracy == accuracies["n1"]), "{accuracies:?}");
    assert_eq!(accuracies.len(), 3);
}

#[test]
fn a_network_of_sites_is_emulated_and_every_sum_checked() {
    let bench = Workbench::new();
    bench.write("net.yaml", NETWORK);
    let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
    command.args(["--json", "emulate"]).arg(bench.path("net.yaml"));
    command.args(["--schemes", "inart,netstorm+", "--scale", "1", "--rounds", "3", "--duration", "30s"]);
    command.arg("--chart").arg(bench.path("chart.svg"));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for scheme in report["schemes"].as_array().unwrap() {
        assert_eq!(scheme["rounds"].as_array().unwrap().len(), 3);
        assert_eq!(scheme["sums_checked"], 3 * 3 * 203_304 / 4);
        assert!(scheme["mean_s"].as_f64().unwrap() >= scheme["bound_s"].as_f64().unwrap() * 0.5);
    }
    assert!(std::fs::read_to_string(bench.path("chart.svg")).unwrap().contains("netstorm+"));
}

#[test]
fn what_a_site_cannot_use_is_named_with_its_fix() {
    let ring = Ring::new(1);
    let refused = |name: &str, command: &[&str], more: &[&str]| {
        let output = ring.command(name, command).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    for (name, more, expected) in [
        (
            "n1",
            &["--peer", "n9=127.0.0.1:1"][..],
            "n9 is no neighbour of n1 in the network; neighbours are n2, n3",
        ),
        ("n1", &["--peer", "n9"], "write NAME=HOST:PORT"),
        ("scheduler", &[], "site \"scheduler\" is not in job job; name one of n1, n2, n3"),
        ("n1", &["--rounds", "0"], "--rounds 0: give at least 1"),
    ] {
        let said = refused(name, &["site"], more);
        assert!(said.contains(expected), "{said}");
    }
    let said = refused("scheduler", &["scheduler"], &["--peer", "n9=127.0.0.1:1"]);
    assert!(said.contains("--peer n9: no such site; name some of n1, n2, n3"), "{said}");
    ring.bench.write("net.yaml", NETWORK.replace("203304 B", "400 B"));
    let said = refused("n1", &["site"], &[]);
    assert!(said.contains("its gradient has 100 values and the model 50826"), "{said}");
    ring.bench.write("n1.key", "nothing");
    ring.bench.write("net.yaml", NETWORK);
    let said = refused("n1", &["site"], &[]);
    assert!(said.contains("n1.key") && said.contains("there is no key in it"), "{said}");
}
