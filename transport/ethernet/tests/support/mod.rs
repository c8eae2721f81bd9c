//! A veth pair in a network namespace of the test's own. Requires root and `ip`, and reports if they are
//! missing.

use std::os::fd::AsFd;
use std::process::Command;
use std::thread;
use std::time::Duration;

use inart_ethernet::{PacketSocket, Receiver, SocketOptions, interface_index};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};

/// IEEE local experimental 1 and 2.
pub const OURS: u16 = 0x88b5;
pub const OTHERS: u16 = 0x88b6;

pub fn run(line: &str) -> bool {
    let mut words = line.split(' ');
    let program = words.next().unwrap();
    Command::new(program).args(words).status().is_ok_and(|status| status.success())
}

fn is_up(interface: &str) -> bool {
    let shown = Command::new("ip").args(["link", "show", interface]).output().unwrap();
    String::from_utf8_lossy(&shown.stdout).contains("state UP")
}

/// Runs a test where there is a cable from `left` to `right`.
pub fn with_a_cable(test: fn()) {
    let test = thread::spawn(move || {
        if unshare(CloneFlags::CLONE_NEWNET).is_err() {
            return eprintln!("skipped: root is needed to make a network namespace");
        }
        if !run("ip link add left type veth peer name right") {
            return eprintln!("skipped: `ip link add` does not work here");
        }
        for end in ["left", "right"] {
            std::fs::write(format!("/proc/sys/net/ipv6/conf/{end}/disable_ipv6"), "1").ok();
            assert!(run(&format!("ip link set {end} up")));
        }
        // Frames sent before the kernel has seen both ends come up are lost.
        while ["left", "right"].iter().any(|end| !is_up(end)) {
            thread::sleep(Duration::from_millis(1));
        }
        test();
    });
    test.join().unwrap();
}

pub fn ours() -> SocketOptions {
    SocketOptions { ether_type: Some(OURS), ..SocketOptions::EVERYTHING }
}

pub fn open(name: &str, options: &SocketOptions) -> PacketSocket {
    PacketSocket::open(interface_index(name).unwrap(), options).unwrap()
}

/// Returns a frame of that length, to a host that does not exist; the bytes after the type identify it.
pub fn frame(ether_type: u16, number: u32, bytes: usize) -> Vec<u8> {
    let mut frame = vec![number as u8; bytes];
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
    frame[12..14].copy_from_slice(&ether_type.to_be_bytes());
    frame[14..18].copy_from_slice(&number.to_be_bytes());
    frame
}

/// With a tag of VLAN 7.
pub fn tagged(frame: &[u8]) -> Vec<u8> {
    [&frame[..12], &[0x81, 0x00, 0x00, 0x07], &frame[12..]].concat()
}

/// Returns the frames received until none has arrived for a moment; `None` for frames that were cut.
pub fn received(socket: &PacketSocket, receiver: &mut Receiver) -> Vec<Option<Vec<u8>>> {
    let mut frames = Vec::new();
    while poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)], PollTimeout::from(100u8)).unwrap() > 0 {
        for n in 0..receiver.receive(socket).unwrap() {
            frames.push(receiver.frame(n).map(<[u8]>::to_vec));
        }
    }
    frames
}
