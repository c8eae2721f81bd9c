//! A job with a server and a job of peers on one switch at the same time, as processes on veth links: the
//! sums are checked by the workers, the averages here. Then each goes on without the other. Needs root, and
//! skips without.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use inart_report::{digest, random_gradient};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::support::processes::{Running, certify};
use crate::support::{Workbench, is_refusal, turn};

const PEERS: [&str; 3] = ["p1", "p2", "p3"];
const ROUNDS: u32 = 3;
const VALUES: usize = 20_000;
/// Where hosts get the assignment that a push writes.
const PUSHED: &str = "--assignment jobs/digits.json";
const BMV2: &str = "simple_switch_grpc";
/// Ends a hang; not a bound on speed.
const LIMIT: Duration = Duration::from_secs(60);

/// One switch with all hosts; q1, w1 and w2 are in the job with a server.
const NETWORK: &str = "
name: shared
nodes:
  - {name: s, kind: switch, aggregation_capacity: 100 Mbps}
  - {name: q1, kind: server}
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
  - {name: p1, kind: worker}
  - {name: p2, kind: worker}
  - {name: p3, kind: worker}
links:
  - {ends: [q1, s], rate: 20 Mbps}
  - {ends: [w1, s], rate: 20 Mbps}
  - {ends: [w2, s], rate: 20 Mbps}
  - {ends: [p1, s], rate: 20 Mbps}
  - {ends: [p2, s], rate: 20 Mbps}
  - {ends: [p3, s], rate: 20 Mbps}
jobs:
  - {name: digits, workers: [w1, w2], servers: [q1], gradient: 80 KB}
";

/// The first peers of the same switch, each of which sends to all others.
fn mesh(peers: usize) -> String {
    let names = &PEERS[..peers];
    let nodes: String = names.iter().map(|name| format!(", {{name: {name}, kind: peer}}")).collect();
    let links: String =
        names.iter().map(|name| format!("  - {{ends: [{name}, s], rate: 20 Mbps}}\n")).collect();
    format!(
        "name: three\nnodes: [{{name: s, kind: switch}}{nodes}]\nlinks:\n{links}jobs:\n  - {{name: all, receivers: {}, \
         update: 80 KB}}\n",
        peers - 1
    )
}

fn run(program: &str, words: &str) {
    assert!(Command::new(program).args(words.split(' ')).status().unwrap().success(), "{program} {words}");
}

/// Runs the test in a network namespace of its own: hosts' interfaces `u1` to `u6`, the switch's `d1` to
/// `d6`.
fn in_namespace(test: impl FnOnce() + Send + 'static) {
    let _turn = turn();
    let body = move || {
        if nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).is_err() {
            return eprintln!("skipped: root is needed to make a network namespace");
        }
        run("ip", "link set lo up");
        for port in 1..=6 {
            // The hosts' addresses are those of the topology, whose first node is the switch.
            let address = format!("02:49:4e:41:00:{port:02x}");
            run("ip", &format!("link add u{port} address {address} type veth peer name d{port}"));
            run("ip", &format!("link set u{port} up"));
            run("ip", &format!("link set d{port} up"));
        }
        test();
    };
    thread::spawn(body).join().unwrap();
}

/// Connections to a local port in a state, as the kernel numbers states: 01 is established, 08 waits for this
/// side to close.
fn connections(port: u16, state: &str) -> usize {
    let table = std::fs::read_to_string("/proc/thread-self/net/tcp").unwrap();
    let remote = format!(":{port:04X}");
    let is_so = |line: &&str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        fields.len() > 3 && fields[2].ends_with(&remote) && fields[3] == state
    };
    table.lines().filter(is_so).count()
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LIMIT, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

struct World {
    bench: Workbench,
    switch: Running,
    /// Where the switch's server listens.
    address: String,
}

/// Starts the switch; returns where its server listens.
fn start_switch(bench: &Workbench, listen: &str) -> (Running, String) {
    let ports: String = (1..=6).map(|port| format!(" -i {port}@d{port}")).collect();
    let words = format!("switch --no-p4{ports} -- --grpc-server-addr {listen}");
    let switch = Running::start(bench.command(&words.split(' ').collect::<Vec<_>>()));
    let address = switch.line().strip_prefix("listening on ").unwrap().to_owned();
    (switch, address)
}

/// Starts bmv2's switch; returns where its server listens.
fn start_bmv2() -> (Running, String) {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let ports = (1..=6).flat_map(|port| ["-i".to_owned(), format!("{port}@d{port}")]);
    let mut command = Command::new(BMV2);
    command.args(ports).args(["--no-p4", "--log-level", "off", "--", "--grpc-server-addr", &address]);
    let switch = Running::start(command);
    let start = Instant::now();
    while TcpStream::connect(&address).is_err() {
        assert!(start.elapsed() < LIMIT, "{BMV2} does not listen");
        thread::sleep(Duration::from_millis(50));
    }
    (switch, address)
}

impl World {
    /// A switch without tables, the documents and the plan.
    fn new() -> Self {
        Self::on(|bench| start_switch(bench, "127.0.0.1:0"))
    }

    fn on(start: impl FnOnce(&Workbench) -> (Running, String)) -> Self {
        let bench = Workbench::new();
        certify(&bench, PEERS.into_iter().chain(["c"]));
        bench.write("net.yaml", NETWORK);
        bench.write("two.yaml", mesh(2));
        bench.write("three.yaml", mesh(3));
        let (switch, address) = start(&bench);
        let world = World { bench, switch, address };
        let plan = world.bench.inart(&["plan", "net.yaml", "--json"]);
        assert!(plan.status.success(), "{plan:?}");
        world.bench.write("plan.json", plan.stdout);
        world
    }

    /// A switch that serves both jobs.
    fn with_both(self) -> Self {
        let world = self;
        let pushed = format!("apply plan.json net.yaml --assignments jobs --switch s={}", world.address);
        assert!(world.updates(&pushed) > 0);
        assert!(world.updates("apply three.yaml net.yaml") > 0, "beside the other job");
        world
    }

    fn document(&self, words: &str) -> Value {
        let words = format!("--json {words} --state state");
        let output = self.bench.inart(&words.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{words}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Returns the output of a command.
    fn said(&self, words: &str) -> String {
        let output = self.bench.inart(&words.split(' ').collect::<Vec<_>>());
        assert!(output.status.success(), "{words}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// How many entries and groups a command writes.
    fn updates(&self, words: &str) -> u64 {
        self.document(words)["updates"].as_u64().unwrap()
    }

    /// How many entries and groups a command would write; `None` if it fails, as while a switch is away.
    fn tried(&self, words: &str) -> Option<u64> {
        let words = format!("--json {words} --state state");
        let output = self.bench.inart(&words.split(' ').collect::<Vec<_>>());
        serde_json::from_slice::<Value>(&output.stdout).ok()?["updates"].as_u64()
    }

    /// Starts the hosts of the job with a server; each worker checks every sum, bit for bit. `from` says
    /// where they get the assignment.
    fn sum(&self, from: &str) -> Vec<Child> {
        self.sum_for(ROUNDS, from)
    }

    /// Starts the hosts for this number of rounds.
    fn sum_for(&self, rounds: u32, from: &str) -> Vec<Child> {
        let host = |name: &str, words: &str| {
            let words = format!("host net.yaml --name {name} {from} --interface {words}");
            let words: Vec<_> = words.split_whitespace().collect();
            self.bench.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let work = format!("--all-reduce {VALUES} --rounds {rounds}");
        vec![host("w1", &format!("u2 {work}")), host("w2", &format!("u3 {work}")), host("q1", "u1")]
    }

    /// Waits until all workers have ended; the server runs until then.
    fn summed(&self, mut hosts: Vec<Child>) {
        let mut server = hosts.pop().unwrap();
        for worker in hosts {
            let output = worker.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        server.kill().unwrap();
        server.wait().unwrap();
    }

    /// Starts the coordinator and the peers, on random updates.
    fn train(&self, rounds: u32) -> Vec<Running> {
        let common = |name: &str, port: usize| {
            format!(
                "three.yaml --name {name} --multicast switch --rounds {rounds} --listen 127.0.0.1:{port} --tls-ca ca.pem \
                 --tls-cert {name}.pem --tls-key {name}.key"
            )
        };
        let start =
            |words: String| Running::start(self.bench.command(&words.split_whitespace().collect::<Vec<_>>()));
        let at: String = (1..=3).map(|peer| format!(" --peer p{peer}=127.0.0.1:{}", 7500 + peer)).collect();
        let coordinator = start(format!("--json coordinator {}{at}", common("c", 7500)));
        let peer = |peer: usize| {
            let rest = format!("--synthetic --interface u{} --coordinator c=127.0.0.1:7500", peer + 3);
            start(format!("--json host {} {rest}", common(&format!("p{peer}"), 7500 + peer)))
        };
        [coordinator].into_iter().chain((1..=3).map(peer)).collect()
    }

    /// Waits until all peers have ended, and compares every average with one that is computed here.
    fn averaged(&self, processes: Vec<Running>) {
        let lines_of: BTreeMap<&str, Vec<Value>> = PEERS
            .into_iter()
            .zip(&processes[1..])
            .map(|(name, peer)| (name, peer.until("misdelivered")))
            .collect();
        for round in 1..=ROUNDS {
            let updates: Vec<_> = (0..3).map(|rank| random_gradient(1, rank, round, VALUES)).collect();
            let mean =
                |at: usize| (updates.iter().map(|update| f64::from(update[at])).sum::<f64>() / 3.0) as f32;
            let expected = digest(&(0..VALUES).map(mean).collect::<Vec<_>>());
            for (name, lines) in &lines_of {
                let averages = lines.iter().filter(|line| line.get("averaged").is_some());
                let averages: Vec<_> = averages.filter(|line| line["round"] == round).collect();
                let [average] = averages[..] else { panic!("{name}, round {round}: {lines:?}") };
                assert_eq!(
                    average["averaged"],
                    Value::from(expected.clone()),
                    "{name}, round {round}: {average}"
                );
                assert_eq!(average["of"].as_array().unwrap().len(), 2, "{name}, round {round}: {average}");
            }
        }
    }
}

#[test]
fn a_switch_sums_for_one_job_and_copies_for_another_and_either_goes_on_alone() {
    in_namespace(|| {
        let world = World::new().with_both();
        for same in ["diff plan.json net.yaml", "diff three.yaml net.yaml", "apply three.yaml net.yaml"] {
            assert_eq!(world.updates(same), 0, "{same}");
        }
        let (hosts, peers) = (world.sum(PUSHED), world.train(ROUNDS));
        world.summed(hosts);
        world.averaged(peers);
        let same = world.said("apply plan.json net.yaml --assignments jobs --state state");
        let kept = "job all: copies of updates were installed already; its peers need --values 256\n";
        assert!(
            same.starts_with(&format!("job digits: plan version 1 was installed already\n{kept}")),
            "{same}"
        );
        let another =
            world.said("apply plan.json net.yaml --new-plan-version --assignments jobs --state state");
        let begins = format!("job digits: plan version 2 installed and read back\n{kept}");
        assert!(another.starts_with(&begins), "{another}");
        let listed = world.said("remove net.yaml --state state");
        let rows = listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows[2], "32768 all - peers 1 s none", "{listed}");
        assert!(rows[1].starts_with("1 digits has it aggregation 2 s "), "{listed}");

        let held = world.document("remove net.yaml");
        let names = |held: &Value| -> Vec<String> {
            let jobs = held["jobs"].as_array().unwrap().iter();
            jobs.map(|job| job["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(&held), ["digits", "all"]);
        // Far more rounds than the test waits for.
        let running = world.train(100_000);
        running[1].until("averaged");
        let doctor = "doctor --state state --watch 1s";
        let said = world.said(doctor);
        assert!(said.lines().any(|line| line == "job all (peers): making progress"), "{said}");
        let refused = world.bench.inart(&["remove", "all", "net.yaml", "--state", "state"]);
        is_refusal(&refused, &["remove", "all"], &["32768 (all)", "its frames are on the way"]);
        drop(running);
        let still = "job all (peers): none of its frames arrived at s meanwhile: its peers compute, wait, or do not run";
        until("the doctor sees no frame", || world.said(doctor).lines().any(|line| line == still));
        assert!(world.updates("remove digits net.yaml --force") > 0);
        // Peers alone are examined, too.
        let said = world.said(doctor);
        assert_eq!(said.lines().collect::<Vec<_>>(), [still], "{said}");
        let peers = world.train(ROUNDS);
        world.averaged(peers);

        // After the removal the plan has a new plan version, for which nothing of the peers is written.
        let again = world.said("apply plan.json net.yaml --assignments jobs --state state");
        assert!(
            again.contains("job digits: plan version 3 installed and read back\n") && again.contains(kept),
            "{again}"
        );
        assert!(world.updates("remove all net.yaml --force") > 0);
        assert_eq!(names(&world.document("remove net.yaml")), ["digits"]);
        let hosts = world.sum(PUSHED);
        world.summed(hosts);

        // Two peers instead of three, and back.
        assert!(world.updates("apply three.yaml net.yaml") > 0);
        assert!(world.updates("apply two.yaml net.yaml") > 0);
        assert!(world.updates("diff three.yaml net.yaml") > 0);
        assert!(world.updates("rollback net.yaml --job all") > 0);
        assert_eq!(world.updates("diff three.yaml net.yaml"), 0);
        assert_eq!(world.updates("diff plan.json net.yaml"), 0, "the other job has kept its entries");
    });
}

#[test]
fn bmv2_sums_for_one_job_and_copies_for_another() {
    if Command::new(BMV2).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        return eprintln!("skipped: {BMV2} is not on the PATH");
    }
    in_namespace(|| {
        let world = World::on(|_| start_bmv2()).with_both();
        for same in ["diff plan.json net.yaml", "diff three.yaml net.yaml"] {
            assert_eq!(world.updates(same), 0, "{same}");
        }
        let (hosts, peers) = (world.sum(PUSHED), world.train(ROUNDS));
        world.summed(hosts);
        world.averaged(peers);
        assert!(world.updates("remove digits net.yaml --force") > 0);
        let peers = world.train(ROUNDS);
        world.averaged(peers);
    });
}

/// The controller's lists have the jobs of both documents, with the peers' switch and number.
fn are_both_listed(said: &impl Fn(&str) -> String) {
    let mesh = inart_topologies::peers::Mesh::from_yaml(&mesh(PEERS.len())).unwrap();
    let (copied, switch) = (&mesh.jobs()[0], &mesh.switches()[0]);
    let peers = copied.peers.len();
    let listed = |document: &Value| -> Vec<Value> {
        let jobs = document["jobs"].as_array().unwrap().iter();
        let keys = ["name", "kind", "job", "plan_version", "peers", "switches"];
        jobs.map(|job| keys.map(|key| job[key].clone()).to_vec().into()).collect()
    };
    let expected = [
        serde_json::json!(["digits", "aggregation", 1, 1, 0, [switch]]),
        serde_json::json!([copied.name, "peers", mesh.job_number(0), 1, peers, [switch]]),
    ];
    for words in ["--json jobs --controller", "--json status"] {
        let document: Value = serde_json::from_str(&said(words)).unwrap();
        assert_eq!(listed(&document), expected, "{words}: {document}");
        assert!(document["jobs"][1]["active_ms_ago"].is_u64(), "{words}: {document}");
    }
    let status = said("status");
    let line = format!("  job {} (peers): plan version 1, {peers} peers, on {switch} for ", copied.name);
    assert!(
        status.contains(&line) && status.contains("  job digits (aggregation): plan version 1, "),
        "{status}"
    );
    let jobs = said("jobs --controller");
    let columns = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let row = jobs.lines().map(columns).find(|row| row[0] == copied.name);
    let row = row.unwrap_or_else(|| panic!("{jobs}"));
    assert_eq!(row[1..4], ["peers", "32768", "1"].map(str::to_owned), "{jobs}");
    assert_eq!(row[row.len() - 4..], [switch, "-", &peers.to_string(), "peers"].map(str::to_owned), "{jobs}");
}

/// A worker that was stopped ends, when it runs again, with the cause of its job's abort. The controller has
/// closed its connection meanwhile, which is no cause.
#[test]
fn a_worker_that_was_stopped_ends_with_the_cause_of_the_abort_alone() {
    in_namespace(|| {
        let world = World::new();
        let words = format!(
            "controller net.yaml --plan plan.json --switch s={} --state state --listen 127.0.0.1:0",
            world.address
        );
        let controller = Running::start(world.bench.command(&words.split_whitespace().collect::<Vec<_>>()));
        let line = controller.line();
        let address = line.strip_prefix("listening on ").unwrap();
        let mut hosts = world.sum_for(1_000_000, &format!("--controller {address}"));
        let port = address.rsplit(':').next().unwrap().parse::<u16>().unwrap();
        // Each has one connection on which it follows, and one for its reports.
        until("the hosts follow and report", || connections(port, "01") >= 2 * hosts.len());
        let signal = |child: &Child, signal| kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        signal(&hosts[0], Signal::SIGSTOP);
        // The controller has closed the connection, and the stopped process has not.
        until("the controller closes the connection", || connections(port, "08") > 0);
        until("the job is aborted", || hosts[1].try_wait().unwrap().is_some());
        signal(&hosts[0], Signal::SIGCONT);
        let mut all = hosts.drain(..);
        let stopped = all.next().unwrap().wait_with_output().unwrap();
        for mut other in all {
            let _ = (other.kill(), other.wait());
        }
        let said = String::from_utf8(stopped.stderr).unwrap();
        assert!(said.contains("the job was aborted: worker 0 (w1) is silent"), "{said}");
        assert_eq!(said.lines().filter(|line| line.contains("WARN")).count(), 0, "{said}");
    });
}

/// A switch that starts again is empty. The controller writes the entries of both jobs, which then run.
#[test]
fn a_switch_that_starts_again_gets_the_entries_of_both_jobs() {
    in_namespace(|| {
        let mut world = World::new();
        let switch = format!("s={}", world.address);
        let controller = format!(
            "controller net.yaml --plan plan.json --peers three.yaml --switch {switch} --state state --listen 127.0.0.1:0 \
             --check-every 1s"
        );
        let controller =
            Running::start(world.bench.command(&controller.split_whitespace().collect::<Vec<_>>()));
        let line = controller.line();
        let address = line.strip_prefix("listening on ").unwrap();
        let said = |words: &str| world.said(&format!("{words} {address}"));
        let is_held = |world: &World| {
            ["diff plan.json net.yaml", "diff three.yaml net.yaml"].iter().all(|diff| {
                world.tried(&format!("{diff} --switch {switch}")).is_some_and(|updates| updates == 0)
            })
        };
        let wait = |world: &World| {
            let start = Instant::now();
            while !is_held(world) {
                assert!(start.elapsed() < LIMIT, "the controller does not write the entries");
                thread::sleep(Duration::from_millis(100));
            }
        };
        wait(&world);
        are_both_listed(&said);
        world.switch.child.kill().unwrap();
        world.switch.child.wait().unwrap();
        (world.switch, _) = start_switch(&world.bench, &world.address);
        wait(&world);
        let (hosts, peers) = (world.sum(&format!("--controller {address}")), world.train(ROUNDS));
        world.summed(hosts);
        world.averaged(peers);
    });
}
