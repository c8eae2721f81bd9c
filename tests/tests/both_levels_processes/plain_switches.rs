//! Three data centers in one namespace: a plain switch (a bridge of the kernel) connects the workers of two
//! of them to their site, and QUIC connects the sites.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use inart_host_agent::report::{Report, Reports, RoundReport, start};
use inart_tests::inart;
use nix::sched::{CloneFlags, unshare};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::certificates::certify;
use super::three::{NETWORK, SITES, VALUES};

/// Values of a frame.
const FRAME: usize = 64;
/// Longer than anything here takes; only a failure waits for it.
const TIMEOUT: Duration = Duration::from_secs(60);

struct Process {
    child: Child,
    lines: Receiver<Value>,
    errors: JoinHandle<String>,
}

/// Running processes; killed when dropped.
pub struct DataCenters {
    folder: TempDir,
    ports: BTreeMap<&'static str, u16>,
    processes: Vec<(&'static str, Process)>,
    /// By worker.
    reports: Vec<Receiver<Report>>,
}

impl Drop for DataCenters {
    fn drop(&mut self) {
        for (_, process) in &mut self.processes {
            let _ = process.child.kill(); // it may have ended
            let _ = process.child.wait();
        }
    }
}

fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status().expect("ip runs");
    assert!(status.success(), "ip {arguments}");
}

fn mac(site: usize, host: usize) -> String {
    format!("02:00:00:00:{site:02x}:{host:02x}")
}

impl DataCenters {
    /// In a namespace that this thread moves to.
    pub fn lay() -> Self {
        unshare(CloneFlags::CLONE_NEWNET).expect("root may");
        ip("link set dev lo up");
        let folder = TempDir::new().expect("a folder");
        let sockets = SITES.map(|(name, _)| (name, UdpSocket::bind("127.0.0.1:0").expect("a port")));
        let port =
            |(name, socket): &(&'static str, UdpSocket)| (*name, socket.local_addr().expect("bound").port());
        let world = Self {
            ports: sockets.iter().map(port).collect(),
            folder,
            processes: Vec::new(),
            reports: Vec::new(),
        };
        // Workers sum their gradient as one tensor.
        let one_tensor = NETWORK.replace("tensors: [80 kB, 480 B]", &format!("gradient: {} B", 4 * VALUES));
        world.write("net.yaml", &one_tensor);
        certify(world.folder.path(), &SITES.map(|(name, _)| name));
        for (at, (site, workers)) in SITES.iter().enumerate().filter(|(_, (_, workers))| !workers.is_empty())
        {
            ip(&format!("link add name sw{at} type bridge"));
            ip(&format!("link set dev sw{at} up"));
            for (host, name) in [site].into_iter().chain(*workers).enumerate() {
                ip(&format!("link add name h-{name} address {} type veth peer name p-{name}", mac(at, host)));
                ip(&format!("link set dev p-{name} master sw{at} up"));
                ip(&format!("link set dev h-{name} up"));
            }
            let members: Vec<Value> = workers
                .iter()
                .enumerate()
                .map(|(rank, name)| json!({"name": name, "mac": mac(at, rank + 1)}))
                .collect();
            let assignment = json!({
                "job": 1, "name": format!("{site}-inside"), "plan_version": 1, "values_per_frame": FRAME,
                "window_chunks": 128, "workers": members,
                "shards": [{"server": site, "mac": mac(at, 0), "share": 1.0, "rate_bps": 1e8}],
            });
            world.write(&format!("{site}.json"), &assignment.to_string());
        }
        world
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("written");
    }

    /// Starts all sites and workers, for `rounds` rounds.
    pub fn start(&mut self, rounds: u32) {
        for (name, workers) in SITES {
            self.start_site(name, workers, rounds);
        }
        self.start_workers(rounds);
    }

    /// Kills the process of a site, and starts it again with the same command.
    pub fn restart_site(&mut self, name: &'static str, rounds: u32) {
        let at = self.processes.iter().position(|(other, _)| *other == name).expect("it runs");
        let (_, mut process) = self.processes.remove(at);
        process.child.kill().expect("it runs");
        process.child.wait().expect("it ends");
        let (_, workers) = SITES.into_iter().find(|(other, _)| *other == name).expect("a site");
        self.start_site(name, workers, rounds);
    }

    fn start_site(&mut self, name: &'static str, workers: &[&str], rounds: u32) {
        let mut command = Command::new(inart());
        let at = |name: &str| format!("127.0.0.1:{}", self.ports[name]);
        command.args(["--json", "site"]).arg(self.path("net.yaml"));
        command.args(["--name", name, "--listen", &at(name)]);
        command.arg("--tls-ca").arg(self.path("ca.pem"));
        command.arg("--tls-cert").arg(self.path(&format!("{name}.pem")));
        command.arg("--tls-key").arg(self.path(&format!("{name}.key")));
        for (other, _) in SITES.iter().filter(|(other, _)| *other != name) {
            command.args(["--peer", &format!("{other}={}", at(other))]);
        }
        command.args(["--rounds", &rounds.to_string()]);
        match workers.is_empty() {
            true => command.arg("--synthetic"),
            false => {
                command.args(["--interface", &format!("h-{name}")]);
                command.arg("--assignment").arg(self.path(&format!("{name}.json")))
            }
        };
        self.spawn(name, command);
    }

    fn start_workers(&mut self, rounds: u32) {
        let mut part = 0;
        for (site, workers) in SITES {
            for (rank, name) in workers.iter().enumerate() {
                let socket = self.path(&format!("{name}.sock"));
                let listener = UnixListener::bind(&socket).expect("a socket");
                let (sender, reports) = channel();
                thread::spawn(move || {
                    let Ok((stream, _)) = listener.accept() else { return };
                    let writer = stream.try_clone().expect("a socket");
                    for report in Reports::new(stream).map_while(Result::ok) {
                        if matches!(report, Report::Hello(_)) {
                            start(&writer).expect("it waits");
                        }
                        if sender.send(report).is_err() {
                            return;
                        }
                    }
                });
                let mut command = Command::new(inart());
                command.args(["worker", "--interface", &format!("h-{name}"), "--rank", &rank.to_string()]);
                command.arg("--assignment").arg(self.path(&format!("{site}.json")));
                command.args(["--all-reduce", &VALUES.to_string(), "--rounds", &rounds.to_string()]);
                command.args(["--data-shard", &format!("{part}/6")]).arg("--report").arg(&socket);
                self.reports.push(reports);
                self.spawn(name, command);
                part += 1;
            }
        }
    }

    fn spawn(&mut self, name: &'static str, mut command: Command) {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("XDG_STATE_HOME", self.folder.path());
        let mut child = command.spawn().expect("it starts");
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().expect("piped"));
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = serde_json::from_str(&line).map(|line| sender.send(line)); // may be dropped
            }
        });
        let mut stderr = child.stderr.take().expect("piped");
        let errors = thread::spawn(move || {
            let mut said = String::new();
            let _ = stderr.read_to_string(&mut said); // what was read counts
            said
        });
        self.processes.push((name, Process { child, lines, errors }));
    }

    fn of(&self, name: &str) -> &Process {
        &self.processes.iter().find(|(other, _)| *other == name).expect("it runs").1
    }

    /// Returns the process of a host.
    pub fn process(&self, name: &str) -> u32 {
        self.of(name).child.id()
    }

    /// Returns the workers' reports of their rounds, by worker.
    pub fn reports(&self, rounds: u32) -> Vec<Vec<RoundReport>> {
        let of = |reports: &Receiver<Report>| {
            let mut all = Vec::new();
            while all.len() < rounds as usize {
                match reports.recv_timeout(TIMEOUT).expect("a report") {
                    Report::Round(report) => all.push(report),
                    Report::Failed { error } => panic!("{error}"),
                    _ => {}
                }
            }
            all
        };
        self.reports.iter().map(of).collect()
    }

    /// Returns the sites' reports of their rounds.
    pub fn site_rounds(&self, rounds: u32) -> BTreeMap<&'static str, Vec<Value>> {
        let lines = |name| {
            let next = || self.of(name).lines.recv_timeout(TIMEOUT).expect("a line");
            (0..rounds).map(|_| next()).collect()
        };
        SITES.iter().map(|(name, _)| (*name, lines(name))).collect()
    }

    /// Waits until a site has ended a round.
    pub fn wait_for_round(&self, name: &str, round: u64) {
        while self.of(name).lines.recv_timeout(TIMEOUT).expect("a line")["round"] != round {}
    }

    /// Returns the exit status of all processes, and their error output.
    pub fn ends(mut self) -> Vec<(&'static str, ExitStatus, String)> {
        let until = Instant::now() + TIMEOUT;
        for (name, process) in &mut self.processes {
            while process.child.try_wait().expect("it runs").is_none() {
                assert!(Instant::now() < until, "{name} does not end");
                thread::sleep(Duration::from_millis(20));
            }
        }
        let mut ends = Vec::new();
        for (name, mut process) in std::mem::take(&mut self.processes) {
            let status = process.child.wait().expect("it ends");
            ends.push((name, status, process.errors.join().expect("read")));
        }
        ends
    }
}
