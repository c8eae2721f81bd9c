//! AF_XDP sockets on veth pairs and on the loopback interface, in network namespaces.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "skipping is not to be silent")]

use std::os::fd::AsFd;
use std::process::Command;

use inart_ethernet::xdp::{MOST_FRAME_BYTES, Written, XdpSocket};
use inart_ethernet::{Queue, Receiver, Sent, SocketOptions, interface_index};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::support::{OTHERS, OURS, frame, open, ours, received, run, tagged, with_a_cable};

fn open_xdp(name: &str, queue: u32) -> XdpSocket {
    XdpSocket::open(interface_index(name).unwrap(), queue, OURS).unwrap()
}

/// Returns whether a frame arrives within this number of milliseconds.
fn is_readable(socket: &impl AsFd, milliseconds: u16) -> bool {
    let mut sockets = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    poll(&mut sockets, PollTimeout::from(milliseconds)).unwrap() > 0
}

/// Returns the frames received until none has arrived for a moment.
fn received_by(socket: &mut XdpSocket) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while is_readable(&*socket, 100) {
        while socket.receive(|frame| frames.push(frame.to_vec())) > 0 {}
    }
    frames
}

/// Writes and sends frames, with more room than they take.
fn send(socket: &mut XdpSocket, frames: &[Vec<u8>]) {
    for frame in frames {
        let written = socket.write(MOST_FRAME_BYTES, |room| {
            room[..frame.len()].copy_from_slice(frame);
            Some(frame.len())
        });
        assert_eq!(written, Written::Frame);
    }
    assert_eq!(socket.written(), frames.len());
    socket.send().unwrap();
    assert_eq!(socket.written(), 0);
}

/// Returns whether an interface has an XDP program.
fn has_program(interface: &str) -> bool {
    let shown = Command::new("ip").args(["link", "show", interface]).output().unwrap();
    String::from_utf8_lossy(&shown.stdout).contains("prog/xdp")
}

#[test]
fn frames_go_both_ways_as_they_are_again_and_again() {
    with_a_cable(|| {
        let (mut left, right) = (open_xdp("left", 0), open("right", &ours()));
        assert!(left.is_native() && !left.is_zero_copy(), "veth copies, in its driver");
        let (mut queue, mut receiver) = (Queue::default(), Receiver::allocate());
        // More than the socket has buffers, either way; from the shortest frame to the longest.
        for round in 0..200u32 {
            let frames: Vec<_> = (0..60).map(|n| frame(OURS, round * 60 + n, 60 + 24 * n as usize)).collect();
            frames.iter().for_each(|frame| queue.push(frame));
            let bytes = frames.iter().map(|frame| frame.len() as u64).sum();
            assert_eq!(queue.flush(&right), Sent { frames: 60, bytes, refused: 0 });
            let mut came = Vec::new();
            while came.len() < 60 {
                assert!(is_readable(&left, 5000), "{} came", came.len());
                left.receive(|frame| came.push(frame.to_vec()));
            }
            assert_eq!(came, frames, "round {round}");
            send(&mut left, &frames);
            let mut came = Vec::new();
            while came.len() < 60 {
                assert!(is_readable(&right, 5000), "{} came", came.len());
                let count = receiver.receive(&right).unwrap();
                came.extend((0..count).map(|n| receiver.frame(n).unwrap().to_vec()));
            }
            assert_eq!(came, frames, "round {round}");
        }
        assert_eq!(left.write(100, |_| None), Written::Nothing);
        assert_eq!(left.written(), 0);
    });
}

#[test]
fn the_kernel_keeps_all_other_frames() {
    with_a_cable(|| {
        let (mut left, kernel) = (open_xdp("left", 0), open("left", &SocketOptions::EVERYTHING));
        let right = open("right", &ours());
        let others = [frame(OTHERS, 1, 70), tagged(&frame(OURS, 2, 80)), frame(0x0800, 3, 90)];
        let mut queue = Queue::default();
        let mine = frame(OURS, 4, 60);
        [&others[..], std::slice::from_ref(&mine)].concat().iter().for_each(|frame| queue.push(frame));
        assert_eq!(queue.flush(&right).frames, 4);
        assert_eq!(received(&kernel, &mut Receiver::allocate()), others.map(Some));
        assert_eq!(received_by(&mut left), [mine]);
    });
}

#[test]
fn each_queue_has_its_own_frames() {
    with_a_cable(|| {
        let two = "numrxqueues 2 numtxqueues 2";
        assert!(run(&format!("ip link add one {two} type veth peer name two {two}")));
        assert!(run("ip link set one up") && run("ip link set two up"));
        let (mut here, kernel) = (open_xdp("one", 0), open("one", &ours()));
        // A veth hands a frame to the queue of the same number.
        let frames = [frame(OURS, 7, 100), frame(OURS, 8, 200)];
        let mut second = open_xdp("two", 1);
        send(&mut second, &frames);
        assert_eq!(received(&kernel, &mut Receiver::allocate()), frames.clone().map(Some));
        assert_eq!(here.receive(|_| {}), 0);
        drop(second);
        send(&mut open_xdp("two", 0), &frames);
        assert_eq!(received_by(&mut here), frames);
        assert_eq!(received(&kernel, &mut Receiver::allocate()), []);
    });
}

#[test]
fn an_interface_without_xdp_in_its_driver_has_it_in_the_kernel() {
    with_a_cable(|| {
        assert!(run("ip link set lo up"));
        let mut socket = open_xdp("lo", 0);
        assert!(!socket.is_native() && !socket.is_zero_copy());
        let frames: Vec<_> = (0..100).map(|n| frame(OURS, n, 60 + n as usize)).collect();
        send(&mut socket, &frames);
        assert_eq!(received_by(&mut socket), frames);
    });
}

#[test]
fn the_program_goes_with_its_socket_and_has_the_interface_for_itself() {
    with_a_cable(|| {
        let socket = open_xdp("left", 0);
        assert!(has_program("left"));
        let error = XdpSocket::open(interface_index("left").unwrap(), 0, OTHERS).err().unwrap();
        assert!(error.is_taken() && !error.is_permission(), "{error}");
        drop(socket);
        assert!(!has_program("left"));
        drop(open_xdp("left", 0));
        let error = XdpSocket::open(4711, 0, OURS).err().unwrap();
        assert!(error.to_string().starts_with("attaching its program: "), "{error}");
        assert!(!error.is_taken() && !error.is_permission(), "{error}");
    });
}

#[test]
fn memory_for_frames_that_go_out_is_limited_and_given_back() {
    with_a_cable(|| {
        let mut socket = open_xdp("left", 0);
        let sent = frame(OURS, 1, 60);
        let write = |socket: &mut XdpSocket| {
            socket.write(100, |room| {
                room[..60].copy_from_slice(&sent);
                Some(60)
            })
        };
        let count = (0..10_000).take_while(|_| write(&mut socket) == Written::Frame).count();
        assert!((1..10_000).contains(&count));
        assert!(!socket.has_room());
        socket.send().unwrap();
        assert!(socket.has_room());
        assert_eq!((0..count).filter(|_| write(&mut socket) == Written::Frame).count(), count);
    });
}
