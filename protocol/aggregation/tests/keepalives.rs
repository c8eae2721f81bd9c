//! Keep-alives are rare while results arrive, and sums from switches show their contributors.

use std::time::Duration;

use inart_protocol_aggregation::{
    Assignment, Instant, ServerShard, ShardAssignment, StateMachine, WorkerAddress, WorkerFlow,
};
use inart_wire::{Frame, FrameRepr, Incarnation, Kind, MacAddr, Rank, ValuesPerFrame};

const PEER_TIMEOUT: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_micros(100);

fn job(workers: u8) -> Assignment {
    let worker = |number| WorkerAddress { name: format!("w{number}"), mac: MacAddr([2, 0, 0, 0, 0, number]) };
    Assignment {
        job: 1.into(),
        name: "kept".into(),
        plan_version: 1.into(),
        values_per_frame: ValuesPerFrame::N32,
        window_chunks: 4,
        exact_sums: false,
        workers: (0..workers).map(worker).collect(),
        shards: vec![ShardAssignment {
            server: "s1".into(),
            mac: MacAddr([2, 0, 0, 0, 1, 0]),
            share: 1.0,
            rate_bps: 1e6,
            bitmap_indices: vec![],
        }],
    }
}

fn worker(workers: u8, rank: u16) -> WorkerFlow {
    let rank = Rank::try_from(rank).expect("a rank");
    WorkerFlow::new(job(workers), rank, Incarnation::new(1 + u32::from(rank.get())), PEER_TIMEOUT)
        .expect("a valid job")
}

fn server(workers: u8) -> ServerShard {
    ServerShard::new(job(workers), 0.into(), Incarnation::new(9), PEER_TIMEOUT).expect("a valid job")
}

#[test]
fn keepalives_are_rare_while_results_come_and_are_there_again_when_none_do() {
    let (mut worker, mut server) = (worker(1, 0), server(1));
    let (mut buffer, mut now) = ([0; 2048], Instant::START);
    worker.start_round(now, &vec![1.0; 32 * 1000]).expect("finite");
    while server.counters().chunks < 400 {
        now = now + STEP;
        while let Some(length) = worker.poll_transmit(now, &mut buffer) {
            server.handle_frame(now, &buffer[..length]);
        }
        while let Some(length) = server.poll_transmit(now, &mut buffer) {
            worker.handle_frame(now, &buffer[..length]);
        }
    }
    let keepalives = server.counters().keepalives;
    // Without results, they would be sent each 10 ms: in 400 chunks' time 55.
    assert!((400 / 32..=400 / 32 + 6).contains(&keepalives), "{keepalives}");

    // The server becomes silent.
    let (silent, mut more) = (now, 0);
    while now.since(silent) < PEER_TIMEOUT / 2 {
        now = now + STEP;
        while let Some(length) = worker.poll_transmit(now, &mut buffer) {
            let frame = Frame::new_checked(&buffer[..length]).expect("a frame");
            more += u32::from(frame.kind() == Kind::Control);
        }
    }
    assert!(more > 20, "{more}");
}

/// Returns the next gradient frame of a worker; the server receives all others, and the worker its answers.
fn gradient(now: &mut Instant, worker: &mut WorkerFlow, server: &mut ServerShard) -> Vec<u8> {
    let mut buffer = [0; 2048];
    loop {
        *now = *now + STEP;
        while let Some(length) = worker.poll_transmit(*now, &mut buffer) {
            if Frame::new_checked(&buffer[..length]).expect("a frame").kind() == Kind::Gradient {
                return buffer[..length].to_vec();
            }
            server.handle_frame(*now, &buffer[..length]);
        }
        while let Some(length) = server.poll_transmit(*now, &mut buffer) {
            worker.handle_frame(*now, &buffer[..length]);
        }
    }
}

#[test]
fn a_partial_shows_that_all_its_contributors_are_there_when_it_is_new() {
    let (mut first, mut second, mut server) = (worker(2, 0), worker(2, 1), server(2));
    let mut now = Instant::START;
    for worker in [&mut first, &mut second] {
        // Of digits, which a switch may sum.
        worker.start_round(now, &[1.0; 40]).expect("finite");
        gradient(&mut now, worker, &mut server);
    }
    let heard = |server: &ServerShard, now| server.status(now).heard_seconds[1].expect("it was heard");
    now = now + PEER_TIMEOUT / 2;
    assert!(heard(&server, now) >= 1.0);

    // The switch summed the values of both.
    let sent = gradient(&mut now, &mut first, &mut server);
    let frame = Frame::new_checked(&sent[..]).expect("a frame");
    let mut partial = FrameRepr::parse(&frame).expect("a header");
    (partial.header.kind, partial.header.contributors.bitmap) = (Kind::Partial, 0b11);
    let length = usize::from(partial.header.length);
    let values: Vec<i32> = frame.values().take(length).map(|value| 2 * value).collect();
    let mut buffer = [0; 2048];
    let length = partial.emit(&values, &mut buffer).expect("it has room");
    server.handle_frame(now, &buffer[..length]);
    assert_eq!(heard(&server, now), 0.0);

    // The switch sends it again, long after.
    now = now + PEER_TIMEOUT / 2;
    server.handle_frame(now, &buffer[..length]);
    assert!(heard(&server, now) >= 1.0);
}

/// `inart remove` considers a job unused if switches see no frame of it for 2.5 s: a worker outside a round
/// sends several keep-alives in that time, and one that no server answers at least two.
#[test]
fn a_worker_is_seen_whatever_its_peer_timeout() {
    const LISTENED: Duration = Duration::from_millis(2500);
    for (seconds, answers) in
        [2.5, 12.0, 60.0].into_iter().flat_map(|seconds| [(seconds, true), (seconds, false)])
    {
        let peer_timeout = Duration::from_secs_f64(seconds);
        let incarnation = Incarnation::new(1);
        let mut worker =
            WorkerFlow::new(job(1), Rank::try_from(0u16).expect("a rank"), incarnation, peer_timeout)
                .expect("a valid job");
        let mut server =
            ServerShard::new(job(1), 0.into(), Incarnation::new(9), peer_timeout).expect("a valid job");
        let (mut buffer, mut now, mut sent) = ([0; 2048], Instant::START, vec![]);
        if !answers {
            worker.start_round(now, &vec![1.0; 32 * 1000]).expect("finite");
        }
        while now.since(Instant::START) < Duration::from_secs(20) {
            now = now + STEP;
            while let Some(length) = worker.poll_transmit(now, &mut buffer) {
                sent.push(now);
                server.handle_frame(now, &buffer[..length]);
            }
            while let Some(length) = server.poll_transmit(now, &mut buffer) {
                if answers {
                    worker.handle_frame(now, &buffer[..length]);
                }
            }
        }
        let least = if answers { 7 } else { 2 };
        for (first, last) in sent.iter().zip(&sent[least..]) {
            assert!(
                last.since(*first) <= LISTENED,
                "{seconds} s, answered: {answers}: {first:?} to {last:?}"
            );
        }
        let last = now.since(*sent.last().expect("some"));
        assert!(last <= LISTENED / 2, "{seconds} s, answered: {answers}: nothing for {last:?}");
    }
}
