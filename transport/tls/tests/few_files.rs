//! A server whose process may open few files. It runs in a process of its own: this test program, again.
#![allow(clippy::print_stdout, reason = "a child process prints its address")]

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use inart_tls::Security;
use inart_tls::accept::Limits;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt;

use crate::support::{besiege, call, connect, open, serve, soon};

const CHILD: &str = "INART_TLS_FEW_FILES";
const FILES: u64 = 64;

/// Marks that handshakes never time out: a client is accepted for another reason.
const PATIENT: &str = "patient";
const USUAL: &str = "usual";

/// Killed when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Seconds of processor time that a process has had: fields 14 and 15 of proc(5).
fn processor_seconds(id: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |field: usize| fields[field - 3].parse::<f64>().unwrap();
    (ticks(14) + ticks(15)) / 100.0
}

/// Seconds of processor time that this thread has had.
fn thread_seconds() -> f64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap();
    Duration::from(now).as_secs_f64()
}

impl Server {
    /// Starts this program again, with only the test [`be_the_server`]; and the server's address.
    fn start(limits: &str) -> (Self, SocketAddr) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "few_files::be_the_server", "--nocapture"]);
        let mut child = Self(command.env(CHILD, limits).stdout(Stdio::piped()).spawn().unwrap());
        let lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map_while(Result::ok);
        let address = lines.into_iter().find_map(|line| Some(line.split_once("at ")?.1.parse().unwrap()));
        (child, address.unwrap())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn be_the_server() {
    if let Some(limits) = std::env::var_os(CHILD) {
        let day = Duration::from_secs(86_400);
        let limits = match limits == PATIENT {
            true => Limits { handshake_time: day, ..Limits::default() },
            false => Limits::default(),
        };
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        setrlimit(Resource::RLIMIT_NOFILE, FILES, hard).unwrap();
        let address = serve(None, limits).await;
        println!("\nserves at {address}");
        std::future::pending().await
    }
}

const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_files_handshakes_hold_lets_a_client_in() {
    let (_server, address) = Server::start(PATIENT);
    let _siege = besiege(OTHER, address, 200, b"PRI").await;
    for _ in 0..3 {
        let mut channel = soon(connect(address, &Security::Local)).await.unwrap();
        soon(call(&mut channel)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_files_connections_hold_waits_without_work_and_serves_again() {
    let (server, address) = Server::start(USUAL);
    let mut held = Vec::new();
    for _ in 0..2 * FILES {
        let mut stream = open(OTHER, address).await;
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
        held.push(stream);
    }
    let busy = async {
        // The system accepts for it until the backlog is full; it must have met the limit by then.
        while std::fs::read_dir(format!("/proc/{}/fd", server.0.id())).unwrap().count() < FILES as usize {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    soon(busy).await;
    // A loop that spins takes as much of a processor as this one, however many others want it.
    let before = processor_seconds(server.0.id());
    let spun = tokio::task::spawn_blocking(|| {
        let (begun, own) = (std::time::Instant::now(), thread_seconds());
        while begun.elapsed() < Duration::from_secs(3) {
            std::hint::spin_loop();
        }
        thread_seconds() - own
    });
    let spun = spun.await.unwrap();
    let used = processor_seconds(server.0.id()) - before;
    assert!(used < spun / 4.0 + 0.02, "{used} s of processor time, a loop that spins has had {spun} s");
    drop(held);
    let mut channel = soon(connect(address, &Security::Local)).await.unwrap();
    soon(call(&mut channel)).await.unwrap();
}
