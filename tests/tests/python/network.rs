//! Hosts on a bridge, in a network namespace of the test's own: parameter servers as threads, ranks as Python
//! processes.

use std::io;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use inart_emulator::machine::namespace::Namespace;
use inart_host_agent::{Options, Port, Server, Stopper};
use inart_protocol_aggregation::{Assignment, ShardAssignment, WorkerAddress};
use inart_tests::workspace;
use inart_wire::{MacAddr, ShardId, ValuesPerFrame};
use serde_json::Value;
use tempfile::TempDir;

use super::package::{package, python};

/// Ranks of each job.
pub const RANKS: u16 = 3;
/// Parameter servers of each job.
const SERVERS: u8 = 2;

/// Hosts w0, w1, …, s0, … on a bridge. Its servers end with it.
pub struct Bridge {
    namespace: Namespace,
    folder: TempDir,
    servers: Mutex<Vec<(Stopper, JoinHandle<()>)>>,
}

impl Bridge {
    pub fn new() -> Self {
        let namespace = Namespace::new().expect("root may make one");
        let mut script = "link set lo up\nlink add br0 type bridge\nlink set br0 up\n".to_owned();
        let servers = (0..SERVERS).map(|server| format!("s{server}"));
        for host in (0..RANKS).map(|rank| format!("w{rank}")).chain(servers) {
            script += &format!("link add {host} type veth peer name b{host}\n");
            script += &format!("link set b{host} master br0 up\nlink set {host} up\n");
        }
        namespace.batch("ip", &script).expect("laid");
        Self { namespace, folder: TempDir::new().expect("a folder"), servers: Mutex::default() }
    }

    /// Starts the servers of a job of that number, and writes its assignment; the file's path.
    pub fn job(&self, job: u16) -> (Assignment, String) {
        let assignment = assignment(job);
        for (index, _) in assignment.shards.iter().enumerate() {
            let port = || Port::open(&format!("s{index}")).map_err(io::Error::other);
            let port = self.namespace.run(port).expect("the interface is there");
            let shard = ShardId::try_from(index).expect("small");
            // Ranks end with each other long before their servers give them up.
            let options = Options { peer_timeout: Duration::from_secs(1), ..Options::default() };
            let mut server =
                Server::with_transport(assignment.clone(), shard, port, options).expect("starts");
            let stopper = server.stopper();
            // The ranks report aborted jobs.
            let thread = thread::spawn(move || drop(server.run()));
            self.servers.lock().expect("no panic").push((stopper, thread));
        }
        let file = self.folder.path().join(format!("{}.json", assignment.name));
        std::fs::write(&file, serde_json::to_string(&assignment).expect("plain data")).expect("written");
        (assignment, file.to_str().expect("a plain name").to_owned())
    }

    /// Starts a program of `python/tests/ranks` once per rank, with more in its environment.
    pub fn start(&self, program: &[&str], assignment: &str, more: &[(&str, &str)]) -> Vec<Child> {
        (0..RANKS)
            .map(|rank| {
                let mut command = self.namespace.command(python());
                command.env("INART_ASSIGNMENT", assignment).env("INART_INTERFACE", format!("w{rank}"));
                command.envs([("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "29500")]);
                command.env("GLOO_SOCKET_IFNAME", "lo").envs(more.iter().copied());
                start_rank(command, program, rank, RANKS)
            })
            .collect()
    }
}

/// Starts a rank by a command that runs Python somewhere.
pub fn start_rank(mut command: Command, program: &[&str], rank: u16, ranks: u16) -> Child {
    let (file, arguments) = program.split_first().expect("a program");
    command.arg(workspace().join("python/tests/ranks").join(file)).args(arguments);
    command.env("PYTHONPATH", package()).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("RANK", rank.to_string()).env("WORLD_SIZE", ranks.to_string());
    // Each rank has a part of the machine, not all of it.
    command.env("OMP_NUM_THREADS", "1");
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("Python starts")
}

/// Parses the report of a rank.
///
/// # Panics
/// Panics if the rank failed.
pub fn report_of(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one line of JSON")
}

/// Waits for all ranks and returns their reports.
pub fn reports_of(ranks: Vec<Child>) -> Vec<Value> {
    // All are waited for before any is judged, so that none is left behind.
    let outputs: Vec<_> = ranks.into_iter().map(|rank| rank.wait_with_output().expect("ends")).collect();
    outputs.iter().map(report_of).collect()
}

/// Returns a fact that all ranks report with the same value.
pub fn same(reports: &[Value], fact: &str) -> Value {
    let first = reports[0][fact].clone();
    assert!(!first.is_null() && reports.iter().all(|rank| rank[fact] == first), "{fact} of {reports:?}");
    first
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let mut servers = self.servers.lock().expect("no panic");
        servers.iter().for_each(|(stopper, _)| stopper.stop());
        servers.drain(..).for_each(|(_, thread)| thread.join().expect("no panic"));
    }
}

fn assignment(job: u16) -> Assignment {
    let mac = |host| MacAddr([2, 0, 0, 0, 0, host]);
    let worker = |rank| WorkerAddress { name: format!("w{rank}"), mac: mac(rank) };
    let shard = |server| ShardAssignment {
        server: format!("s{server}"),
        mac: mac(100 + server),
        share: 1.0 / f64::from(SERVERS),
        rate_bps: 100e6,
        bitmap_indices: vec![],
    };
    Assignment {
        job: job.into(),
        name: format!("job{job}"),
        plan_version: 1.into(),
        values_per_frame: ValuesPerFrame::N256,
        window_chunks: 32,
        exact_sums: false,
        workers: (0..RANKS as u8).map(worker).collect(),
        shards: (0..SERVERS).map(shard).collect(),
    }
}
