//! Interfaces that fail while a job runs: they go down for a moment, are removed, or stop sending.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "skipping is not to be silent")]

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use inart_host_agent::{BatchedPort, Error, Options, Port, PortError, Server, Transport, Worker};
use inart_protocol_aggregation::Assignment;

use crate::support::{PEER_TIMEOUT, assignment, ip, on_a_bridge, options};

const LEN: usize = 5000;
/// Time for which an interface is down: far less than the peer timeout here.
const BOUNCE: Duration = Duration::from_millis(100);

fn long_peer_timeout() -> Options {
    Options { peer_timeout: Duration::from_secs(30), ..Options::default() }
}

fn bounce(interface: &str) {
    thread::sleep(BOUNCE);
    assert!(ip(&format!("link set {interface} down")));
    thread::sleep(BOUNCE);
    assert!(ip(&format!("link set {interface} up")));
}

/// Runs one round whose sum is the exact one. With `vote`, returns whether any worker voted to continue.
fn round(worker: &mut Worker, rank: u16, vote: bool) -> Result<bool, Error> {
    let part = |index: usize| (index % 16) as f32 / 16.0;
    let mut gradient: Vec<f32> = (0..LEN).map(|index| part(index) * f32::from(rank + 1)).collect();
    gradient[0] = if vote { 1.0 } else { 0.0 };
    worker.all_reduce(&mut gradient)?;
    let right = gradient.iter().enumerate().skip(1).all(|(index, sum)| *sum == 3.0 * part(index));
    assert!(right, "the same bits as ever");
    Ok(gradient[0] > 0.0)
}

/// Opens an interface for a test.
type Open = fn(&str) -> Box<dyn Transport>;

fn pnet(interface: &str) -> Box<dyn Transport> {
    Box::new(Port::open(interface).unwrap())
}

fn batched(interface: &str) -> Box<dyn Transport> {
    Box::new(BatchedPort::open(interface).unwrap())
}

#[cfg(feature = "xdp")]
fn xdp(interface: &str) -> Box<dyn Transport> {
    Box::new(inart_host_agent::XdpPort::open(interface).unwrap())
}

/// The server on an interface opened so.
fn server(open: Open, assignment: Assignment, options: Options) -> Server {
    Server::with_transport(assignment, 0.into(), open("s0"), options).unwrap()
}

/// Runs a test on a separate network for each kind of port to which `tc` settings apply.
fn with_shaped_ports(test: fn(Open)) {
    on_a_bridge(move || test(pnet));
    on_a_bridge(move || test(batched));
}

/// Runs a test for each kind of port.
fn with_each_port(test: fn(Open)) {
    with_shaped_ports(test);
    #[cfg(feature = "xdp")]
    on_a_bridge(move || test(xdp));
}

#[test]
fn an_interface_that_goes_down_for_a_moment_changes_no_bit() {
    with_each_port(|open| {
        thread::spawn(move || server(open, assignment(), long_peer_timeout()).run());
        let (bounced, idle) = (Arc::new(AtomicBool::new(false)), Arc::new(Barrier::new(3)));
        let start = |rank: u16| {
            let (bounced, idle) = (Arc::clone(&bounced), Arc::clone(&idle));
            thread::spawn(move || {
                let port = open(&format!("w{rank}"));
                let mut worker =
                    Worker::with_options(assignment(), rank.try_into().unwrap(), port, long_peer_timeout())
                        .unwrap();
                while round(&mut worker, rank, !bounced.load(Ordering::Relaxed)).unwrap() {}
                // Between rounds another thread monitors the interface.
                idle.wait();
                idle.wait();
                round(&mut worker, rank, false).unwrap();
            })
        };
        let workers = [0, 1].map(start);
        for interface in ["w0", "s0", "w1", "w0"] {
            bounce(interface);
        }
        bounced.store(true, Ordering::Relaxed);
        if workers.iter().all(|worker| !worker.is_finished()) {
            idle.wait();
            ["w0", "w1", "s0"].into_iter().for_each(bounce);
            idle.wait();
        }
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

#[test]
fn an_interface_that_is_removed_is_named() {
    with_each_port(|open| {
        let serve = move || server(open, assignment(), options()).run().unwrap_err().to_string();
        let server = thread::spawn(serve);
        let start = |rank: u16| {
            thread::spawn(move || {
                let port = open(&format!("w{rank}"));
                let mut worker =
                    Worker::with_options(assignment(), rank.try_into().unwrap(), port, options()).unwrap();
                loop {
                    if let Err(error) = round(&mut worker, rank, true) {
                        return error.to_string();
                    }
                }
            })
        };
        let workers = [0, 1].map(start);
        thread::sleep(BOUNCE);
        // The removal of an interface that was down is not reported.
        assert!(ip("link set w0 down"));
        thread::sleep(BOUNCE);
        assert!(ip("link del w0"));
        let [removed, other] = workers.map(|worker| worker.join().unwrap());
        assert_eq!(
            removed,
            "interface w0: it was removed while it was in use; start the job again when there is one"
        );
        assert_eq!(other, server.join().unwrap());
        assert!(other.starts_with("the job was aborted: worker 0 (w0) is silent"), "{other}");

        // A server that has nothing to send.
        let server = thread::spawn(serve);
        thread::sleep(BOUNCE);
        assert!(ip("link del s0"));
        assert!(server.join().unwrap().starts_with("interface s0: it was removed"));
    });
}

/// All that the interface sends from now on waits, but for a frame in minutes.
fn choke(interface: &str) -> bool {
    let tc = |words: &str| {
        let words = words.replace("IF", interface);
        Command::new("tc").args(words.split(' ')).status().is_ok_and(|status| status.success())
    };
    tc("qdisc add dev IF root handle 1: htb default 1")
        && tc("class add dev IF parent 1: classid 1:1 htb rate 8bit burst 1 cburst 1 quantum 1514")
        && tc("qdisc add dev IF parent 1:1 pfifo limit 100000")
}

#[test]
fn an_interface_that_stops_sending_blocks_no_host() {
    // More frames in flight than the kernel takes from one socket.
    const MANY: u32 = 2048;
    fn wide() -> Assignment {
        let mut assignment = Assignment { window_chunks: MANY, ..assignment() };
        assignment.shards[0].rate_bps = 1e9;
        assignment
    }
    with_shaped_ports(|open| {
        if !choke("br0") {
            return eprintln!("skipped: `tc` cannot limit a rate here");
        }
        let server = thread::spawn(move || server(open, wide(), options()).run().unwrap_err().to_string());
        let (ended, ends) = mpsc::channel();
        let summed = Arc::new(Barrier::new(3));
        for rank in [0u16, 1] {
            let (ended, summed) = (ended.clone(), Arc::clone(&summed));
            thread::spawn(move || {
                let port = open(&format!("w{rank}"));
                let mut worker =
                    Worker::with_options(wide(), rank.try_into().unwrap(), port, options()).unwrap();
                let mut gradient = vec![0.5; MANY as usize * 64];
                worker.all_reduce(&mut gradient).unwrap();
                summed.wait();
                summed.wait();
                ended.send(worker.all_reduce(&mut gradient).unwrap_err()).unwrap();
            });
        }
        summed.wait();
        assert!(choke("w0"));
        summed.wait();
        for _ in 0..2 {
            let error = ends.recv_timeout(100 * PEER_TIMEOUT).expect("no worker waits forever");
            assert!(matches!(error, Error::Failure(_)), "{error}");
        }
        let ended = server.join().unwrap();
        assert!(ended.starts_with("the job was aborted: worker 0 (w0) is silent"), "{ended}");
    });
}

#[test]
fn frames_longer_than_the_mtu_are_refused_with_the_fix() {
    with_each_port(|open| {
        assert!(ip("link set w0 mtu 200"));
        let error = Worker::with_options(assignment(), 0u16.try_into().unwrap(), open("w0"), options());
        let error = error.err().unwrap();
        assert!(matches!(&error, Error::Port(PortError::SmallMtu { .. })), "{error}");
        assert_eq!(
            error.to_string(),
            "interface w0: frames of 300 bytes do not fit its MTU of 200; set one of 286 or more with \
             `ip link set w0 mtu 286`, or plan with fewer values per frame"
        );
    });
}
