//! Bad requests to the controller's API: unknown roles, unlimited changes, silent connections.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use inart_controller::api::{Client, ClientError};
use inart_controller_api::Joining;
use inart_planner_aggregation::{Options, plan, schemes};
use inart_targets::memory::InMemory;
use inart_tls::Security;
use inart_wire::{Incarnation, ValuesPerFrame};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use support::daemon::{Daemon, config};
use support::{LIMITS, fig1, job};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn daemon(folder: &TempDir) -> Daemon {
    let topology = fig1();
    let first = plan(&topology, &topology.jobs()[0], &Options::new(schemes::ATP)).unwrap();
    let target = InMemory::new(ValuesPerFrame::N64, LIMITS);
    Daemon::start(config(&target, folder.path(), topology, vec![job(1, &first)]), folder.path()).await
}

#[tokio::test]
async fn only_roles_of_the_assignment_are_granted_and_recorded() {
    let folder = TempDir::new().unwrap();
    let daemon = daemon(&folder).await;
    let given = daemon.api.assignment("digits").await.unwrap();
    let records = || std::fs::read(folder.path().join("fig1.json")).unwrap();
    let (before, incarnation) = (records(), Incarnation::from(4711));
    let long = "x".repeat(600_000);
    for role in ["unknown", "worker-6", "worker-01", "worker-", "server-2", "", &long] {
        let refused = daemon
            .api
            .register_host(given.job, given.plan_version, role, incarnation)
            .await
            .unwrap_err()
            .to_string();
        assert!(refused.contains("it has worker-0 to worker-5 and server-0 to server-1"), "{refused:.300}");
        assert!(refused.len() < 2000, "{}", refused.len());
        // No instructions either.
        assert!(daemon.api.watch_instructions(given.job, role, incarnation).await.is_err(), "{role:.20}");
    }
    assert_eq!(records(), before, "nothing is recorded about them");
    for role in ["worker-0", "worker-5", "server-1"] {
        daemon.api.register_host(given.job, given.plan_version, role, incarnation).await.unwrap();
    }
    assert_ne!(records(), before);
}

#[tokio::test]
async fn names_that_no_job_can_have_are_refused_with_their_length() {
    let folder = TempDir::new().unwrap();
    let daemon = daemon(&folder).await;
    let long = "x".repeat(600_000);
    let said = [
        daemon.api.assignment(&long).await.unwrap_err(),
        daemon.api.delete_job(&long, false).await.unwrap_err(),
        daemon.api.pause_job(&long).await.unwrap_err(),
        daemon.api.resume_job(&long).await.unwrap_err(),
    ];
    for error in said.map(|error| error.to_string()) {
        let expected = "the name \"xxxxxxxxxxxxxxxx...\" of a job has 600000 bytes; names have up to 63";
        assert!(error.contains(expected) && error.len() < 500, "{error:.500}");
    }
}

/// Names of hosts and jobs have up to 63 bytes, as labels of domain names.
#[tokio::test]
async fn a_name_of_64_bytes_is_refused_and_one_of_63_is_looked_up() {
    let (folder, incarnation) = (TempDir::new().unwrap(), Incarnation::from(4711));
    let daemon = daemon(&folder).await;
    let joining = |host: String| Joining {
        host,
        incarnation,
        last: None,
        stop_point: None,
        rounds: 0,
        must_load_state: false,
    };
    // The limit is on bytes, not letters.
    let names = ["ü".repeat(32), "x".repeat(64), "ü".repeat(31) + "x", "x".repeat(63)];
    for (name, is_usable) in names.into_iter().zip([false, false, true, true]) {
        let of_host = [
            daemon.api.join("digits", &joining(name.clone())).await.map(drop).unwrap_err(),
            daemon.api.leave("digits", &name, incarnation, 0, true).await.unwrap_err(),
        ];
        let of_job = [
            daemon.api.join(&name, &joining("w1".to_owned())).await.map(drop).unwrap_err(),
            daemon.api.assignment(&name).await.map(drop).unwrap_err(),
        ];
        for (what, errors) in [("host", &of_host[..]), ("job", &of_job[..])] {
            for error in errors.iter().map(ToString::to_string) {
                let refused = format!("of a {what} has 64 bytes; names have up to 63");
                assert_eq!(error.contains(&refused), !is_usable, "{error}");
                assert_eq!(error.lines().count(), 1, "{error}");
            }
        }
    }
    let submitted =
        daemon.api.create_job(fig1().to_yaml(), &"x".repeat(64), None).await.unwrap_err().to_string();
    assert!(submitted.contains("of a job has 64 bytes; names have up to 63"), "{submitted}");
}

#[tokio::test]
async fn waiting_changes_are_bounded() {
    let (folder, topology) = (TempDir::new().unwrap(), fig1());
    let daemon = daemon(&folder).await;
    let other = plan(&topology, &topology.jobs()[0], &Options::new(schemes::LBMM)).unwrap();
    let other = serde_json::to_string(&other).unwrap();
    // No host watches, so the first change waits for hosts, and the others for the first.
    for number in 1..=64 {
        assert_eq!(daemon.api.update_plan(other.clone()).await.unwrap(), number);
    }
    let refused = daemon.api.update_plan(other).await.unwrap_err();
    assert!(
        matches!(&refused, ClientError::Refused { message, .. } if message.contains("64 changes")),
        "{refused}"
    );
    let deleted = daemon.api.delete_job("digits", true).await.unwrap_err().to_string();
    assert!(deleted.contains("try again after some have ended"), "{deleted}");
    let status = tokio::time::timeout(Duration::from_secs(60), daemon.api.status()).await.unwrap().unwrap();
    assert_eq!(status.changes.len(), 64);
}

/// Starts a daemon whose API listens on a port. Returns its address, too.
async fn at_a_port(folder: &TempDir) -> Daemon {
    let topology = fig1();
    let first = plan(&topology, &topology.jobs()[0], &Options::new(schemes::ATP)).unwrap();
    let target = InMemory::new(ValuesPerFrame::N64, LIMITS);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    Daemon::at(config(&target, folder.path(), topology, vec![job(1, &first)]), free).await
}

/// Longer than any step here; only a failure waits for it.
const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_silent_connection_is_closed_without_competing_connections() {
    let folder = TempDir::new().unwrap();
    let daemon = at_a_port(&folder).await;
    let mut silent = tokio::net::TcpStream::connect(&daemon.address).await.unwrap();
    let closed = tokio::time::timeout(LONG, silent.read(&mut [0])).await.expect("the handshake times out");
    assert_eq!(closed.unwrap_or(0), 0);
}

/// The limit of calls is a setting that a server announces (RFC 9113, section 6.5.2: number 3).
#[tokio::test]
async fn a_connection_may_have_256_calls() {
    let folder = TempDir::new().unwrap();
    let daemon = at_a_port(&folder).await;
    let mut client = tokio::net::TcpStream::connect(&daemon.address).await.unwrap();
    client.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut head = [0; 9];
    tokio::time::timeout(LONG, client.read_exact(&mut head)).await.unwrap().unwrap();
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    assert_eq!((head[3], length % 6), (4, 0), "SETTINGS: {head:?}");
    let mut settings = vec![0; length];
    tokio::time::timeout(LONG, client.read_exact(&mut settings)).await.unwrap().unwrap();
    let calls: Vec<u32> = settings
        .chunks(6)
        .filter(|setting| setting[..2] == [0, 3])
        .map(|setting| u32::from_be_bytes(setting[2..].try_into().unwrap()))
        .collect();
    assert_eq!(calls, [256]);
}

/// Limit per address: connected clients stay, and another address gets in.
#[tokio::test]
async fn no_more_than_512_connections_are_served() {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    // Both ends of the connections, and other files of the tests.
    setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(4096)), hard).unwrap();
    let folder = TempDir::new().unwrap();
    let daemon = at_a_port(&folder).await;
    let mut served = vec![daemon.api.clone()];
    let mut refused = 0;
    for _ in 1..512 + 3 {
        let client = match Client::connect(&daemon.address, &Security::Local).await {
            Ok(client) => client.status().await.is_ok().then_some(client),
            Err(_) => None,
        };
        refused += usize::from(client.is_none());
        served.extend(client);
    }
    assert_eq!((served.len(), refused), (512, 3));
    for client in [&served[0], &served[511]] {
        assert!(client.status().await.unwrap().installed);
    }
}

/// Silent connections are closed for each other and for clients, so that they cannot use up the files.
#[tokio::test]
async fn silent_connections_do_not_use_up_the_api() {
    let folder = TempDir::new().unwrap();
    let daemon = at_a_port(&folder).await;
    let free = daemon.address.clone();
    let silent: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(&free).unwrap()).collect();
    silent.iter().for_each(|stream| stream.set_nonblocking(true).unwrap());
    let client = Client::connect(&free, &Security::Local).await.unwrap();
    assert!(client.status().await.unwrap().installed && daemon.api.status().await.unwrap().installed);
    let is_open = |mut stream: &TcpStream| {
        let read = stream.read(&mut [0]);
        read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    };
    for tries in 0.. {
        let open = silent.iter().filter(|stream| is_open(stream)).count();
        if open <= 128 {
            break;
        }
        assert!(tries < 6000, "{open} of 200 are still open");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
