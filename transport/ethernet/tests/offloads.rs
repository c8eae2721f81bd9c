//! Offloads of hosts to their devices: checksums, and the segmentation of long frames.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "skipping is not to be silent")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use inart_ethernet::{PacketSocket, Queue, Receiver, SocketOptions, interface_index};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};

use crate::support::{open, run, with_a_cable};

fn finishing() -> SocketOptions {
    SocketOptions { finish_offloads: true, ..SocketOptions::EVERYTHING }
}

/// Returns whether a checksum is valid: the sum in one's complement of the covered fields and the checksum is
/// all ones.
fn has_valid_checksum(parts: &[&[u8]]) -> bool {
    let mut sum = 0u32;
    for part in parts {
        for pair in part.chunks(2) {
            sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum == 0xffff
}

/// Returns the UDP payload of a frame with valid checksums.
fn payload(frame: &[u8]) -> Vec<u8> {
    let network = &frame[14..];
    assert!(has_valid_checksum(&[&network[..20]]), "the IPv4 header's checksum");
    let transport = &network[20..];
    let length = (transport.len() as u16).to_be_bytes();
    assert_eq!(transport[4..6], length, "the UDP length");
    assert_eq!(network[2..4], (network.len() as u16).to_be_bytes(), "the IPv4 length");
    assert!(has_valid_checksum(&[&network[12..20], &[0, 17], &length, transport]), "the UDP checksum");
    transport[8..].to_vec()
}

fn received(socket: &PacketSocket) -> Vec<Vec<u8>> {
    let (mut frames, mut receiver) = (Vec::new(), Receiver::allocate());
    while poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)], PollTimeout::from(200u8)).unwrap() > 0 {
        for n in 0..receiver.receive(socket).unwrap() {
            assert!(receiver.take(n, |frame| frames.push(frame.to_vec())));
        }
    }
    frames.retain(|frame| frame[12..14] == [8, 0] && frame[23] == 17);
    frames
}

/// Gives `left` an address, and its neighbor an address that needs no ARP.
fn address_left() {
    assert!(run("ip address add 10.9.0.1/24 dev left"));
    assert!(run("ip neighbor add 10.9.0.2 lladdr 02:00:00:00:00:02 dev left nud permanent"));
}

#[test]
fn checksums_that_a_host_left_out_are_filled_in() {
    with_a_cable(|| {
        address_left();
        let socket = open("right", &finishing());
        let host = UdpSocket::bind("10.9.0.1:5000").unwrap();
        let sent: Vec<Vec<u8>> = [1usize, 2, 333, 1400].map(|bytes| vec![bytes as u8; bytes]).to_vec();
        sent.iter().for_each(|bytes| assert!(host.send_to(bytes, "10.9.0.2:5001").unwrap() > 0));
        let payloads: Vec<_> = received(&socket).iter().map(|frame| payload(frame)).collect();
        assert_eq!(payloads, sent);
    });
}

#[test]
fn a_long_frame_is_cut_as_a_device_would() {
    with_a_cable(|| {
        address_left();
        let socket = open("right", &finishing());
        let host = UdpSocket::bind("10.9.0.1:5000").unwrap();
        let segment: libc::c_int = 1000;
        // SAFETY: the value is valid through the call and has the length given.
        let set = unsafe {
            let value = (&raw const segment).cast();
            libc::setsockopt(host.as_raw_fd(), libc::SOL_UDP, libc::UDP_SEGMENT, value, 4)
        };
        assert_eq!(set, 0);
        let sent: Vec<u8> = (0..9_500u32).map(|n| (n / 7) as u8).collect();
        host.send_to(&sent, "10.9.0.2:5001").unwrap();
        let payloads: Vec<_> = received(&socket).iter().map(|frame| payload(frame)).collect();
        assert_eq!(payloads.iter().map(Vec::len).collect::<Vec<_>>(), [vec![1000; 9], vec![500]].concat());
        assert_eq!(payloads.concat(), sent);
    });
}

/// Runs `work` in a thread with a network namespace of its own, in which the interface is that end of a
/// cable and has an address.
fn host<T: Send + 'static>(
    cable: &str,
    address: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    let (say, said) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let (name, address) = (format!("{cable}h"), address.to_owned());
    let moved = name.clone();
    let thread = thread::spawn(move || {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        say.send(nix::unistd::gettid()).unwrap();
        gone.recv().unwrap();
        assert!(
            run(&format!("ip address add {address}/24 dev {name}")) && run(&format!("ip link set {name} up"))
        );
        work()
    });
    let id = said.recv().unwrap();
    assert!(run(&format!("ip link add {cable} type veth peer name {moved} netns {id}")));
    assert!(run(&format!("ip link set {cable} up")));
    go.send(()).unwrap();
    thread
}

/// Passes frames on between two interfaces, as a switch does, until `stop`.
fn relay(stop: &AtomicBool) {
    let sockets =
        ["one", "two"].map(|name| PacketSocket::open(interface_index(name).unwrap(), &finishing()).unwrap());
    let (mut receiver, mut queue) = (Receiver::allocate(), Queue::default());
    while !stop.load(Ordering::Relaxed) {
        let mut fds = [0, 1].map(|n| PollFd::new(sockets[n].as_fd(), PollFlags::POLLIN));
        poll(&mut fds, PollTimeout::from(50u8)).unwrap();
        for (from, to) in [(0, 1), (1, 0)] {
            // An interface goes when its host has ended.
            let received = receiver.receive(&sockets[from]);
            let is_gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NetworkDown;
            if received.as_ref().is_err_and(is_gone) {
                continue;
            }
            for n in 0..received.unwrap() {
                assert!(receiver.take(n, |frame| queue.push(frame)));
            }
            queue.flush(&sockets[to]);
        }
    }
}

#[test]
fn tcp_of_two_hosts_passes_a_relay_of_frames() {
    let test = thread::spawn(|| {
        if unshare(CloneFlags::CLONE_NEWNET).is_err() {
            return eprintln!("skipped: root is needed to make a network namespace");
        }
        const BYTES: usize = 5 << 20;
        let (say, said) = mpsc::channel();
        let server = host("two", "10.9.0.2", move || {
            let listener = TcpListener::bind("10.9.0.2:5000").unwrap();
            say.send(()).unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            all
        });
        said.recv().unwrap();
        let client = host("one", "10.9.0.1", || {
            let server = SocketAddr::from(([10, 9, 0, 2], 5000));
            let mut stream = TcpStream::connect_timeout(&server, Duration::from_secs(60)).unwrap();
            stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
            stream.write_all(&(0..BYTES).map(|n| (n / 11) as u8).collect::<Vec<_>>()).unwrap();
            // Data in flight would be lost with this namespace.
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        });
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| relay(&stop));
            // A server without a client waits for ever: it is not joined then.
            let got = client.join().and_then(|()| server.join());
            stop.store(true, Ordering::Relaxed);
            assert!(got.unwrap() == (0..BYTES).map(|n| (n / 11) as u8).collect::<Vec<_>>());
        });
    });
    test.join().unwrap();
}
