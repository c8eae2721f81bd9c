//! Hosts' counters of the network, and their status.

use std::time::Duration;

use inart_protocol_aggregation::{
    Assignment, Instant, ServerShard, ShardAssignment, StateMachine, WorkerAddress, WorkerFlow,
};
use inart_wire::{Flags, Frame, HeaderRepr, Incarnation, Kind, MacAddr, Rank, ValuesPerFrame};

/// Offset of the flags in a frame (`inart_wire`).
const FLAGS: usize = 15;

fn job() -> Assignment {
    Assignment {
        job: 1.into(),
        name: "marked".into(),
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

#[test]
fn marks_work_and_round_trips_are_counted_from_the_start() {
    let (rank, timeout) = (Rank::try_from(0u16).expect("0 is a rank"), Duration::from_secs(1));
    let mut worker = WorkerFlow::new(job(), rank, Incarnation::new(1), timeout).expect("a valid job");
    let mut server = ServerShard::new(job(), 0.into(), Incarnation::new(2), timeout).expect("a valid job");
    let (mut buffer, mut now, mut marked) = ([0; 2048], Instant::START, 0);
    let status = worker.status(now);
    assert_eq!((status.busy_seconds, status.shards[0].least_rtt_seconds), (0.0, None));
    let begun = Instant::from_nanos(5_000_000);
    now = now.max(begun);
    worker.start_round(now, &[1.0; 32 * 20]).expect("finite");
    let mut delay = Duration::from_micros(10);
    while !worker.is_idle() {
        now = now + delay;
        delay = delay.min(Duration::from_micros(100)) * 2;
        while let Some(length) = worker.poll_transmit(now, &mut buffer) {
            let frame = Frame::new_checked(&buffer[..length]).expect("a frame");
            let kind = HeaderRepr::parse(&frame).expect("a header").kind;
            // Every other gradient gets a congestion mark.
            if kind == Kind::Gradient && server.counters().gradients % 2 == 0 {
                buffer[FLAGS] |= Flags::CONGESTION.0;
                marked += 1;
            }
            server.handle_frame(now, &buffer[..length]);
        }
        now = now + delay;
        while let Some(length) = server.poll_transmit(now, &mut buffer) {
            worker.handle_frame(now, &buffer[..length]);
        }
    }
    // One more has the maxima of three blocks.
    assert_eq!((server.counters().gradients, worker.counters().results), (1 + 20, 1 + 20));
    assert_eq!((server.counters().marked, worker.counters().marked), (marked, marked));
    let ended = now;
    // Time after the round does not count as busy.
    let later = worker.status(ended + Duration::from_secs(9));
    assert_eq!(later.busy_seconds, ended.since(begun).as_secs_f64());
    let flow = &later.shards[0];
    assert!(flow.least_rtt_seconds > Some(0.0) && flow.least_rtt_seconds <= flow.rtt_seconds, "{flow:?}");
    assert_eq!((later.counters, server.status(ended).counters), (worker.counters(), server.counters()));
    assert_eq!((later.frame_bytes, server.status(ended).frame_bytes), (172, 172));
}
