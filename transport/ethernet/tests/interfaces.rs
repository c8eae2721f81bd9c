//! Batches of frames over veth pairs in network namespaces.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "skipping is not to be silent")]

use std::io;

use inart_ethernet::{Queue, Receiver, Ring, Sent, SocketOptions, interface_index, mtu};

use crate::support::{OTHERS, OURS, frame, open, ours, received, run, tagged, with_a_cable};

#[test]
fn all_frames_arrive_in_order_except_the_refused_one() {
    with_a_cable(|| {
        let (a, b) = (open("left", &SocketOptions::EVERYTHING), open("right", &ours()));
        let (mut queue, mut receiver) = (Queue::default(), Receiver::with_room(50, 300));
        // The frame of 3000 bytes is in the midst of the second batch: the MTU is 1500.
        let frames: Vec<_> = (0..200)
            .map(|number| frame(OURS, number, if number == 90 { 3000 } else { 60 + number as usize }))
            .collect();
        for round in 0..3 {
            for frame in &frames {
                if round == 0 {
                    queue.push(frame);
                } else {
                    // Written in place, with more room than it takes.
                    assert!(queue.write(4000, |room| {
                        room[..frame.len()].copy_from_slice(frame);
                        Some(frame.len())
                    }));
                }
            }
            assert!(!queue.write(100, |_| None), "no frame was written");
            assert_eq!(queue.len(), 200);
            let bytes = frames.iter().map(Vec::len).filter(|length| *length < 3000).sum::<usize>() as u64;
            assert_eq!(queue.flush(&a), Sent { frames: 199, bytes, refused: 1 });
            assert!(queue.is_empty());
            let whole = frames.iter().filter(|frame| frame.len() < 3000).cloned().map(Some);
            assert_eq!(received(&b, &mut receiver), whole.collect::<Vec<_>>());
        }
    });
}

#[test]
fn what_the_kernel_does_not_take_at_once_is_sent_later() {
    with_a_cable(|| {
        // All that leaves `left` waits, but for a frame in minutes.
        let choked = run("tc qdisc add dev left root handle 1: htb default 1")
            && run("tc class add dev left parent 1: classid 1:1 htb rate 8bit burst 1 cburst 1 quantum 1514")
            && run("tc qdisc add dev left parent 1:1 pfifo limit 1000");
        if !choked {
            return eprintln!("skipped: `tc` cannot limit a rate here");
        }
        let small = SocketOptions { send_buffer_bytes: Some(1 << 15), ..SocketOptions::EVERYTHING };
        let (a, b) = (open("left", &small), open("right", &ours()));
        let (mut queue, mut receiver) = (Queue::default(), Receiver::allocate());
        let frames: Vec<_> = (0..60).map(|number| frame(OURS, number, 1000)).collect();
        frames.iter().for_each(|frame| queue.push(frame));
        let mut taken = 0;
        let error = loop {
            match queue.send(&a) {
                Ok(count) => taken += count,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert!((1..60).contains(&taken), "{taken} were taken of 60");
        assert_eq!(queue.len(), 60 - taken);
        // Removing the queueing discipline drops its queue; no other frame is lost.
        assert!(run("tc qdisc del dev left root"));
        received(&b, &mut receiver);
        let (frames_left, bytes) =
            ((60 - taken) as u64, frames[taken..].iter().map(|it| it.len() as u64).sum());
        assert_eq!(queue.flush(&a), Sent { frames: frames_left, bytes, refused: 0 });
        let rest: Vec<_> = frames[taken..].iter().cloned().map(Some).collect();
        assert_eq!(received(&b, &mut receiver), rest);
    });
}

#[test]
fn cut_frames_differ_from_whole_ones() {
    with_a_cable(|| {
        let (a, b) = (open("left", &SocketOptions::EVERYTHING), open("right", &ours()));
        let mut queue = Queue::default();
        let frames = [60, 1400, 100].map(|bytes| frame(OURS, bytes, bytes as usize));
        frames.iter().for_each(|frame| queue.push(frame));
        assert_eq!(queue.flush(&a).frames, 3);
        let [first, _, third] = frames;
        assert_eq!(received(&b, &mut Receiver::with_room(8, 100)), [Some(first), None, Some(third)]);
    });
}

#[test]
fn a_socket_for_all_frames_hears_them_with_their_tags() {
    with_a_cable(|| {
        let (a, b, everything) =
            (open("left", &ours()), open("right", &ours()), open("right", &SocketOptions::EVERYTHING));
        let mut queue = Queue::default();
        let inner = frame(OURS, 3, 80);
        let frames = [inner.clone(), tagged(&inner), tagged(&tagged(&inner)), frame(OTHERS, 4, 70)];
        frames.iter().for_each(|frame| queue.push(frame));
        assert_eq!(queue.flush(&a).frames, 4);
        let all = received(&everything, &mut Receiver::with_room(64, 100));
        assert_eq!(all, frames.clone().map(Some), "a switch receives all of them, unchanged");
        // A socket for one type receives frames that have it behind one tag, and the kernel has removed the
        // tag.
        let plain = Some(inner);
        assert_eq!(received(&b, &mut Receiver::with_room(64, 100)), [plain.clone(), plain]);
        assert_eq!(received(&a, &mut Receiver::with_room(64, 100)), [], "its own frames");
    });
}

#[test]
fn interfaces_tell_their_mtu() {
    with_a_cable(|| {
        assert_eq!(mtu("left").unwrap(), 1500);
        assert!(run("ip link set left mtu 9000"));
        assert_eq!(mtu("left").unwrap(), 9000);
        assert_eq!(mtu("none").unwrap_err().raw_os_error(), Some(nix::errno::Errno::ENODEV as i32));
        for name in ["a name that is far too long", "", "left\0b"] {
            assert!(interface_index(name).is_err() && mtu(name).is_err(), "{name:?}");
        }
    });
}

#[test]
fn frames_wait_in_order_and_may_be_dropped() {
    let mut queue = Queue::default();
    (0..5).for_each(|number| queue.push(&[number; 20]));
    queue.drop_first(2);
    assert_eq!(queue.len(), 3);
    queue.drop_first(usize::MAX);
    assert!(queue.is_empty());
}

#[test]
fn a_ring_is_filled_again_and_again_in_order() {
    with_a_cable(|| {
        let a = open("left", &SocketOptions::EVERYTHING);
        let (all, ours) = (open("right", &SocketOptions::EVERYTHING), open("right", &ours()));
        // One block of slots, which holds fewer frames than are sent in all.
        let (mut all_ring, mut ring) = (Ring::map(&all, 1, 300).unwrap(), Ring::map(&ours, 1, 300).unwrap());
        let mut queue = Queue::default();
        for round in 0..20 {
            let plain: Vec<_> = (0..50).map(|n| frame(OURS, round * 50 + n, 60 + n as usize)).collect();
            let sent =
                [&plain[..], &[tagged(&plain[3]), frame(OURS, 0, 1400), frame(OTHERS, 1, 90)]].concat();
            sent.iter().for_each(|frame| queue.push(frame));
            let bytes = sent.iter().map(|frame| frame.len() as u64).sum();
            assert_eq!(queue.flush(&a), Sent { frames: 53, bytes, refused: 0 });
            let whole = |frame: &Vec<u8>| (frame.len() < 1000).then(|| frame.clone());
            let mut came = Vec::new();
            assert_eq!(all_ring.receive(40, |frame| came.push(frame.map(<[u8]>::to_vec))), 40);
            assert_eq!(all_ring.receive(40, |frame| came.push(frame.map(<[u8]>::to_vec))), 13);
            assert_eq!(came, sent.iter().map(whole).collect::<Vec<_>>(), "with tags; one was cut");
            came.clear();
            assert_eq!(ring.receive(64, |frame| came.push(frame.map(<[u8]>::to_vec))), 52);
            assert_eq!(came[..50], plain.iter().map(whole).collect::<Vec<_>>());
            assert_eq!(ring.receive(64, |_| {}), 0);
        }
    });
}
