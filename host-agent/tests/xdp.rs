//! AF_XDP ports: jobs next to IP on the same interfaces, queues, frames that are too long. Tests common to
//! all ports are in `each_port.rs`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "skipping is not to be silent")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use inart_ethernet::interface_index;
use inart_ethernet::xdp::{Written, XdpSocket};
use inart_host_agent::{Error, Options, PortError, Server, Transport, Worker, XdpPort};
use inart_protocol_aggregation::Assignment;
use inart_wire::{ETHER_TYPE, ValuesPerFrame};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::gettid;

use crate::support::{assignment, ip, on_a_bridge, options};

const LEN: usize = 5000;
const ROUNDS: u16 = 20;

/// Returns options with a timeout that no test reaches.
fn long_peer_timeout() -> Options {
    Options { peer_timeout: Duration::from_secs(30), ..Options::default() }
}

fn server() -> Server {
    let port = XdpPort::open("s0").unwrap();
    Server::with_transport(assignment(), 0.into(), port, long_peer_timeout()).unwrap()
}

/// Runs rounds whose sums are known bit for bit.
fn work(rank: u16) {
    let port = XdpPort::open(&format!("w{rank}")).unwrap();
    let rank_of = rank.try_into().unwrap();
    let mut worker = Worker::with_options(assignment(), rank_of, port, long_peer_timeout()).unwrap();
    let value = |round: u16, index: usize| (index % 1000) as f32 / 8.0 - f32::from(round);
    for round in 0..ROUNDS {
        let mut tensor: Vec<_> = (0..LEN).map(|index| value(round, index) * f32::from(rank + 1)).collect();
        let stats = worker.all_reduce(&mut tensor).unwrap();
        assert_eq!(stats.counters.results, (LEN.div_ceil(64) + 1) as u64);
        let wrong = tensor
            .iter()
            .enumerate()
            .find(|(index, sum)| sum.to_bits() != (3.0 * value(round, *index)).to_bits());
        assert_eq!(wrong, None, "round {round}");
    }
}

/// Echoes TCP data on a free port, until the end.
fn echo(address: &'static str) -> u16 {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut copy = stream.try_clone().unwrap();
        std::io::copy(&mut stream, &mut copy).unwrap();
    });
    port
}

/// Sends much by TCP, and has it back.
fn exchange(mut stream: TcpStream) {
    let sent: Vec<u8> = (0..1_000_000u32).map(|n| (n.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    let mut writer = stream.try_clone().unwrap();
    let copy = sent.clone();
    let written = thread::spawn(move || writer.write_all(&copy).unwrap());
    let mut came = vec![0; sent.len()];
    stream.read_exact(&mut came).unwrap();
    written.join().unwrap();
    assert!(came == sent, "the data echoed by TCP differs");
}

#[test]
fn a_job_shares_an_interface_with_ip_and_every_bit_is_right() {
    on_a_bridge(|| {
        let mut server = server();
        let stopper = server.stopper();
        let served = thread::spawn(move || {
            server.run().unwrap();
            server.counters()
        });
        assert!(ip("addr add 10.9.0.1/24 dev br0"));
        let port = echo("10.9.0.1");
        let (named, name) = mpsc::channel();
        let moved = Arc::new(Barrier::new(2));
        let arrived = Arc::clone(&moved);
        // Worker 0 acts as a separate machine: its IP traffic has to use its interface.
        let away = thread::spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).unwrap();
            named.send(gettid()).unwrap();
            arrived.wait();
            assert!(ip("addr add 10.9.0.2/24 dev w0") && ip("link set w0 up"));
            let by_ip = thread::spawn(move || exchange(TcpStream::connect(("10.9.0.1", port)).unwrap()));
            work(0);
            by_ip.join().unwrap();
        });
        assert!(ip(&format!("link set w0 netns {}", name.recv().unwrap())));
        moved.wait();
        let other = thread::spawn(|| work(1));
        away.join().unwrap();
        other.join().unwrap();
        stopper.stop();
        let counters = served.join().unwrap();
        assert_eq!(counters.chunks, u64::from(ROUNDS) * (LEN.div_ceil(64) + 1) as u64);
        assert_eq!((counters.malformed, counters.overlaps, counters.other_shapes), (0, 0, 0));
    });
}

fn has_program(interface: &str) -> bool {
    let shown = Command::new("ip").args(["link", "show", interface]).output().unwrap();
    String::from_utf8_lossy(&shown.stdout).contains("prog/xdp")
}

#[test]
fn an_interface_has_one_port_by_way_of_xdp_and_no_program_afterwards() {
    on_a_bridge(|| {
        let port = XdpPort::open("w0").unwrap();
        assert!(has_program("w0"));
        let error = XdpPort::open("w0").err().unwrap();
        assert_eq!(
            error.to_string(),
            "interface w0: another program uses XDP on it (`ip link show w0`); end that one, or use another \
             kind of port"
        );
        drop(port);
        assert!(!has_program("w0"));
        drop(XdpPort::open("w0").unwrap());
        assert!(!has_program("w0"));
    });
}

#[test]
fn frames_that_no_piece_of_memory_holds_are_refused() {
    on_a_bridge(|| {
        assert!(ip("link set w0 mtu 9000"));
        let jumbo = Assignment { values_per_frame: ValuesPerFrame::N1024, ..assignment() };
        let port = XdpPort::open("w0").unwrap();
        let error = Worker::with_options(jumbo, 0u16.try_into().unwrap(), port, options()).err().unwrap();
        assert!(matches!(&error, Error::Port(PortError::XdpFrame { .. })), "{error}");
        assert_eq!(
            error.to_string(),
            "interface w0: frames of 4140 bytes do not fit AF_XDP's buffers of 3840; plan with fewer values per \
             frame, or use another kind of port"
        );
    });
}

#[test]
fn frames_of_other_queues_come_too() {
    on_a_bridge(|| {
        let two = "numrxqueues 2 numtxqueues 2";
        assert!(ip(&format!("link add one {two} type veth peer name two {two}")));
        assert!(ip("link set one up") && ip("link set two up"));
        let mut port = XdpPort::open("one").unwrap();
        port.prepare(300).unwrap();
        for queue in [0, 1, 0, 1] {
            // A veth passes a frame to the queue of the same number.
            let mut peer = XdpSocket::open(interface_index("two").unwrap(), queue, ETHER_TYPE).unwrap();
            for number in 0..50u8 {
                let written = peer.write(300, |room| {
                    room[..100].fill(number);
                    room[12..14].copy_from_slice(&ETHER_TYPE.to_be_bytes());
                    Some(100)
                });
                assert_eq!(written, Written::Frame);
            }
            peer.send().unwrap();
            let mut numbers = Vec::new();
            let start = Instant::now();
            while numbers.len() < 50 && start.elapsed() < Duration::from_secs(10) {
                port.wait(Some(Duration::from_millis(100))).unwrap();
                port.receive(&mut |frame| {
                    assert_eq!(frame.len(), 100);
                    numbers.push(frame[20]);
                })
                .unwrap();
            }
            assert_eq!(numbers, (0..50).collect::<Vec<_>>(), "queue {queue}");
        }
    });
}
