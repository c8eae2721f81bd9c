//! Three sites in a ring and their scheduler, as processes on the loopback interface. Every link goes through
//! a relay of datagrams, which may be cut.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Workbench;
use super::loopback::loopback;
#[path = "../../../host-agent/sites/host/tests/support/certificates.rs"]
mod certificates;
pub use certificates::certify;

/// Longer than anything here takes; only a failure waits for it.
pub const TIMEOUT: Duration = Duration::from_secs(120);

pub const NETWORK: &str = "name: ring
nodes: [{name: n1, kind: site}, {name: n2, kind: site}, {name: n3, kind: site}]
links:
  - {ends: [n1, n2], rate: [8 Mbps, 4 Mbps], delay: 5 ms, loss: 0.1%}
  - {ends: [n2, n3], rate: [6 Mbps, 9 Mbps], delay: 5 ms}
  - {ends: [n1, n3], rate: 5 Mbps, delay: 5 ms}
traces:
  - {link: [n1, n2], every: 1 s, rates: [8 Mbps, 3 Mbps, 6 Mbps]}
jobs: [{name: job, sites: [n1, n2, n3], gradient: 203304 B, chunk: 16 KB}]
";

pub const SITES: [&str; 3] = ["n1", "n2", "n3"];
pub const SCHEDULER: &str = "scheduler";
/// Has a certificate, and is not in the network.
pub const STRANGER: &str = "a1";

/// A process; killed when dropped.
pub struct Running {
    pub child: Child,
    lines: Receiver<String>,
    errors: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let errors = Arc::new(Mutex::new(String::new()));
        let said = errors.clone();
        let reader = std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                *said.lock().unwrap() += &(line + "\n");
            }
        });
        Self { child, lines, errors, reader: Some(reader) }
    }

    /// Waits until it has said some words on standard error; what it has said so far.
    pub fn wait_for_words(&self, words: &str) -> String {
        let until = Instant::now() + TIMEOUT;
        loop {
            let said = self.errors.lock().unwrap().clone();
            if said.contains(words) {
                return said;
            }
            assert!(Instant::now() < until, "never says {words:?}: {said}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether it has said some words on standard error.
    pub fn has_said(&self, words: &str) -> bool {
        self.errors.lock().unwrap().contains(words)
    }

    /// The next line of standard output.
    pub fn line(&self) -> String {
        self.lines.recv_timeout(TIMEOUT).unwrap()
    }

    /// The next line, as JSON.
    pub fn next(&self) -> Value {
        super::processes::event(&self.line())
    }

    /// Skips lines up to that of a round.
    pub fn wait_for_round(&self, round: u64) {
        while self.next()["round"].as_u64().unwrap() < round {}
    }

    /// All rounds from now on, and what it says in the end.
    pub fn rest(&self) -> (Vec<Value>, Value) {
        let mut rounds = Vec::new();
        loop {
            let line = self.next();
            if line["round"].is_null() {
                return (rounds, line);
            }
            rounds.push(line);
        }
    }

    /// Waits until it ends; its status, and what it has said on standard error.
    pub fn end(mut self) -> (Option<i32>, String) {
        let until = Instant::now() + TIMEOUT;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
        self.reader.take().unwrap().join().unwrap();
        (self.child.wait().unwrap().code(), self.errors.lock().unwrap().clone())
    }
}

/// Carries datagrams of one link both ways, at its pace; loses all while it is cut.
struct Relay {
    address: SocketAddr,
    is_cut: Arc<AtomicBool>,
}

/// How a link carries.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pace {
    /// From one end to the other.
    pub delay: Duration,
    /// Time between two long datagrams.
    pub gap: Duration,
}

/// Datagrams that are shorter follow at once: acknowledgements.
const LONG: usize = 500;

impl Relay {
    /// To the end that is connected to.
    fn start(to: SocketAddr, pace: Pace) -> Self {
        let front = UdpSocket::bind("127.0.0.1:0").unwrap();
        let back = UdpSocket::bind("127.0.0.1:0").unwrap();
        back.connect(to).unwrap();
        let (address, is_cut) = (front.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let [front_out, back_out] = [&front, &back].map(|socket| socket.try_clone().unwrap());
        let (came_from, peer) = channel();
        let mut last: Option<SocketAddr> = None;
        carry(front, pace, is_cut.clone(), move |from, data| {
            if last.replace(from) != Some(from) {
                let _ = came_from.send(from); // the other way may have ended with the test
            }
            let _ = back_out.send(data); // no process may listen there
        });
        let mut front_peer = None;
        carry(back, pace, is_cut.clone(), move |_, data| {
            front_peer = peer.try_iter().last().or(front_peer);
            if let Some(peer) = front_peer {
                let _ = front_out.send_to(data, peer);
            }
        });
        Self { address, is_cut }
    }
}

/// Receives on one thread, and sends a while later on another, until the test ends.
fn carry(
    socket: UdpSocket,
    pace: Pace,
    is_cut: Arc<AtomicBool>,
    mut send: impl FnMut(SocketAddr, &[u8]) + Send + 'static,
) {
    let (held, due) = channel::<(Instant, SocketAddr, Vec<u8>)>();
    std::thread::spawn(move || {
        let mut data = vec![0; 65_536];
        loop {
            // An end that does not listen yet is reported as an error.
            let Ok((length, from)) = socket.recv_from(&mut data) else { continue };
            if held.send((Instant::now() + pace.delay, from, data[..length].to_vec())).is_err() {
                return;
            }
        }
    });
    std::thread::spawn(move || {
        let mut free_at = Instant::now();
        for (at, from, data) in due {
            let at = at.max(free_at);
            std::thread::sleep(at.saturating_duration_since(Instant::now()));
            if data.len() > LONG {
                free_at = at + pace.gap;
            }
            if !is_cut.load(Ordering::Relaxed) {
                send(from, &data);
            }
        }
    });
}

pub struct Ring {
    pub bench: Workbench,
    places: BTreeMap<&'static str, SocketAddr>,
    links: BTreeMap<(&'static str, &'static str), Relay>,
    pub rounds: u32,
}

impl Ring {
    pub fn new(rounds: u32) -> Self {
        Self::with_links(rounds, [Pace::default(); 3])
    }

    /// Rounds take some hundreds of milliseconds, and the link of n1 and n2 is slower than the others.
    pub fn with_slow_links(rounds: u32) -> Self {
        let delay = Duration::from_millis(30);
        let pace = |millis| Pace { delay, gap: Duration::from_millis(millis) };
        Self::with_links(rounds, [pace(3), pace(1), pace(1)])
    }

    /// How links carry: of n1 and n2, n2 and n3, n1 and n3.
    fn with_links(rounds: u32, paces: [Pace; 3]) -> Self {
        let bench = Workbench::new();
        let names = [SITES[0], SITES[1], SITES[2], SCHEDULER];
        certify(&bench.path(""), &[&names[..], &[STRANGER]].concat());
        bench.write("net.yaml", NETWORK);
        let sockets = names.map(|name| (name, UdpSocket::bind((loopback(), 0)).unwrap()));
        let place = |(name, socket): &(&'static str, UdpSocket)| (*name, socket.local_addr().unwrap());
        let places: BTreeMap<_, _> = sockets.iter().map(place).collect();
        // Of two sites the one whose name is less connects.
        let pairs = [(SITES[0], SITES[1]), (SITES[1], SITES[2]), (SITES[0], SITES[2])];
        let links =
            pairs.into_iter().zip(paces).map(|(pair, pace)| (pair, Relay::start(places[pair.1], pace)));
        Self { bench, links: links.collect(), places, rounds }
    }

    /// Cuts a link, or lets it carry again.
    pub fn cut(&self, link: (&'static str, &'static str), is_cut: bool) {
        self.links[&link].is_cut.store(is_cut, Ordering::Relaxed);
    }

    pub fn at(&self, name: &str) -> String {
        self.places[name].to_string()
    }

    /// A command with a network, certificates, and the ring's sites as peers.
    pub fn command(&self, network: &str, name: &str, command: &[&str]) -> Command {
        let file = |end: &str| self.bench.path(&format!("{name}.{end}"));
        let mut all = Command::new(env!("CARGO_BIN_EXE_inart"));
        all.args(command).arg(self.bench.path(network)).args(["--name", name, "--listen", &self.at(name)]);
        all.arg("--tls-ca").arg(self.bench.path("ca.pem"));
        all.arg("--tls-cert").arg(file("pem")).arg("--tls-key").arg(file("key"));
        for other in SITES.into_iter().filter(|other| *other != name) {
            let link = self.links.iter().find(|((a, b), _)| (*a, *b) == (name, other));
            let at = link.map_or_else(|| self.at(other), |(_, relay)| relay.address.to_string());
            all.args(["--peer", &format!("{other}={at}")]);
        }
        all
    }

    pub fn scheduler(&self, more: &[&str]) -> Running {
        let mut command = self.command("net.yaml", SCHEDULER, &["scheduler"]);
        command.args(more);
        Running::start(command)
    }

    pub fn site_command(&self, name: &str) -> Command {
        self.site_command_of("net.yaml", name)
    }

    /// Returns the command of a site with another network document.
    pub fn site_command_of(&self, network: &str, name: &str) -> Command {
        let mut command = self.command(network, name, &["--json", "site"]);
        let scheduler = format!("{SCHEDULER}={}", self.at(SCHEDULER));
        command.args(["--scheduler", &scheduler, "--rounds", &self.rounds.to_string(), "--batch", "64"]);
        command
    }

    pub fn site(&self, name: &str) -> Running {
        Running::start(self.site_command(name))
    }

    pub fn all_sites(&self) -> BTreeMap<&'static str, Running> {
        SITES.into_iter().map(|name| (name, self.site(name))).collect()
    }
}

/// Lines of sites about one round.
pub type Lines = BTreeMap<&'static str, Value>;

/// Lines of sites by round.
#[derive(Default)]
pub struct Reports(pub BTreeMap<u64, Lines>);

impl Reports {
    /// Takes the next round's line of a site.
    pub fn next_of(&mut self, name: &'static str, site: &Running) -> &Value {
        let line = site.next();
        let round = self.0.entry(line["round"].as_u64().unwrap()).or_default();
        round.entry(name).or_insert(line)
    }

    /// Takes all lines of a site. Returns the line of its end.
    pub fn rest_of(&mut self, name: &'static str, site: &Running) -> Value {
        let (rounds, end) = site.rest();
        for line in rounds {
            self.0.entry(line["round"].as_u64().unwrap()).or_default().insert(name, line);
        }
        end
    }

    /// Returns the digest of each round's sum, which is equal at all sites.
    pub fn sums(&self) -> Vec<String> {
        let one = |sites: &Lines| {
            let all: Vec<_> = sites.values().map(|line| line["sum"].as_str().unwrap()).collect();
            assert!(all.windows(2).all(|two| two[0] == two[1]), "{sites:?}");
            all[0].to_owned()
        };
        self.0.values().map(one).collect()
    }

    /// Returns the number of the plan of each round, which is equal at all sites.
    pub fn plans(&self) -> BTreeMap<u64, u64> {
        let one = |(round, sites): (&u64, &Lines)| {
            let all: Vec<_> = sites.values().map(|line| line["version"].as_u64().unwrap()).collect();
            assert!(all.windows(2).all(|two| two[0] == two[1]), "{sites:?}");
            (*round, all[0] >> 32)
        };
        self.0.iter().map(one).collect()
    }
}
