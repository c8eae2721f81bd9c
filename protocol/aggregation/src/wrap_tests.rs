//! A job old enough for its sequence to wrap.

use std::vec;

use inart_wire::{ChunkSeq, Incarnation, MacAddr, Rank, ValuesPerFrame};

use crate::{Assignment, Instant, ServerShard, ShardAssignment, StateMachine, WorkerAddress, WorkerFlow};
use core::time::Duration;

fn job() -> Assignment {
    Assignment {
        job: 1.into(),
        name: "old".into(),
        plan_version: 1.into(),
        values_per_frame: ValuesPerFrame::N32,
        window_chunks: 4,
        exact_sums: false,
        workers: vec![WorkerAddress { name: "w1".into(), mac: MacAddr([2, 0, 0, 0, 0, 1]) }],
        shards: vec![ShardAssignment {
            server: "s1".into(),
            mac: MacAddr([2, 0, 0, 0, 0, 2]),
            share: 1.0,
            rate_bps: 1e9,
            bitmap_indices: vec![],
        }],
    }
}

/// Sums ten tensors of one length; the sequence wraps among their chunks.
fn check(len: usize, chunks: u64) {
    let peer_timeout = Duration::from_secs(1);
    let rank = Rank::try_from(0u16).expect("0 is a rank");
    let mut worker =
        WorkerFlow::new(job(), rank, Incarnation::new(1), peer_timeout).expect("the job is valid");
    let mut server =
        ServerShard::new(job(), 0.into(), Incarnation::new(2), peer_timeout).expect("the job is valid");
    let start = ChunkSeq::from(u32::MAX - 12);
    worker.start_at(start);
    server.start_at(start);

    let mut buffer = [0; 2048];
    let mut now = Instant::START;
    for round in 1..=10u16 {
        let tensor = vec![f32::from(round); len];
        worker.start_round(now, &tensor).expect("the gradient is finite");
        while !worker.is_idle() {
            now = now + Duration::from_micros(10);
            while let Some(length) = worker.poll_transmit(now, &mut buffer) {
                server.handle_frame(now, &buffer[..length]);
            }
            while let Some(length) = server.poll_transmit(now, &mut buffer) {
                worker.handle_frame(now, &buffer[..length]);
            }
        }
        let mut sum = vec![0.0; len];
        worker.finish_round(&mut sum).expect("the round succeeds");
        assert_eq!(sum, tensor);
    }
    assert_eq!((server.counters().chunks, server.counters().out_of_window), (10 * chunks, 0));
    assert_eq!((worker.counters().results, worker.counters().retransmissions), (10 * chunks, 0));
}

#[test]
fn sequences_wrap() {
    // Two values of eleven digits each in a frame, the last frame short.
    check(9, 5);
    // Maxima of two blocks, and ten frames of values, the last short.
    check(300, 11);
}
