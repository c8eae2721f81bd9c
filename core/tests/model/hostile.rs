//! Frames nobody honest sends, at any moment of a job: counted, and never a panic.

use inart_core::{Instant, ServerShard, StateMachine, WorkerFlow};
use inart_wire::{Contributors, Flags, FrameRepr, Group, HeaderRepr, Kind, MacAddr, Rank, Seat, ShardId};
use proptest::prelude::*;

use super::gradient;
use super::network::{PEER_TIMEOUT, SERVER, assignment, host};

/// A frame that gets past the first checks: of the job, to the host, with everything else as it may be.
fn frame() -> impl Strategy<Value = (HeaderRepr, Vec<i32>)> {
    let contributors = (any::<u64>(), 0..3u8, any::<bool>());
    let marks = (0..8u8, any::<u8>(), any::<i8>());
    (
        marks,
        0..6u16,
        prop_oneof![0..20u32, any::<u32>()],
        contributors,
        proptest::collection::vec(any::<i32>(), 0..=32),
    )
        .prop_map(|((kind, flags, exponent), worker, sequence, (bitmap, group, honest), values)| {
            let worker = Seat::try_from(worker).unwrap();
            let header = HeaderRepr {
                kind: Kind::from_code(kind),
                flags: Flags(flags),
                epoch: 3.into(),
                job: 7.into(),
                shard: 0.into(),
                worker,
                sequence: sequence.into(),
                contributors: if honest {
                    Contributors::one(worker)
                } else {
                    Contributors { bitmap: bitmap & 0b1111, group: Group(group) }
                },
                exponent: exponent.into(),
                length: values.len() as u16,
                incarnation: SERVER,
            };
            (header, values)
        })
}

fn drive(
    state_machine: &mut impl StateMachine,
    to: [MacAddr; 2],
    from: MacAddr,
    frames: Vec<(HeaderRepr, Vec<i32>)>,
) {
    let mut buffer = [0; 2048];
    for (step, (header, values)) in frames.into_iter().enumerate() {
        let now = Instant::from_nanos(step as u64 * 30_000_000);
        let values_per_packet = inart_wire::ValuesPerPacket::N32;
        let frame = FrameRepr { destination: to[step % 2], source: from, values_per_packet, header };
        let length = frame.emit(&values, &mut buffer).unwrap();
        state_machine.handle_frame(now, &buffer[..length]);
        // Cut short, too.
        state_machine.handle_frame(now, &buffer[..length - 1 - step % 160]);
        let mut sent = 0;
        while state_machine.poll_transmit(now, &mut buffer).is_some() {
            sent += 1;
            assert!(sent < 1000, "a frame makes a host send without end");
        }
        let _ = state_machine.next_deadline();
    }
}

/// What it sends in the next four seconds if it hears nothing.
fn four_seconds(state_machine: &mut impl StateMachine) -> Vec<Vec<u8>> {
    let mut buffer = [0; 2048];
    let mut sent = Vec::new();
    for tenth in 0..40 {
        let now = Instant::from_nanos(tenth * 100_000_000);
        while let Some(length) = state_machine.poll_transmit(now, &mut buffer) {
            sent.push(buffer[..length].to_vec());
        }
    }
    sent
}

proptest! {
    #[test]
    fn servers_bear_everything(frames in proptest::collection::vec(frame(), 1..60)) {
        let job = assignment(4, &[1.0], 8);
        let mut server = ServerShard::new(job.clone(), ShardId::from(0), SERVER, PEER_TIMEOUT).unwrap();
        drive(&mut server, [job.shards[0].mac; 2], job.workers[0].mac, frames);
    }

    #[test]
    fn workers_bear_everything(frames in proptest::collection::vec(frame(), 1..60)) {
        let job = assignment(4, &[1.0], 8);
        let rank = Rank::try_from(2u16).unwrap();
        let mut worker = WorkerFlow::new(job.clone(), rank, host(2), PEER_TIMEOUT).unwrap();
        worker.start_round(Instant::START, &gradient(2, 0, 500)).unwrap();
        let to = [job.workers[2].mac, MacAddr::results_of(job.job)];
        drive(&mut worker, to, job.shards[0].mac, frames);
    }

    /// A switch lets a host speak for its own job to anybody; this is what others' hosts make of it.
    #[test]
    fn messages_of_other_jobs_and_epochs_are_counted_and_change_nothing(
        messages in proptest::collection::vec(
            (1..5i32, any::<i32>(), 0..4i32, 0..20u32, 0..4u16, any::<i8>()), 1..20
        ),
        epoch in prop_oneof![Just(3u16), any::<u16>()],
        other_job: u16,
    ) {
        let job = assignment(4, &[1.0], 8);
        let other_job = if epoch == 3 && other_job == job.job.get() { other_job + 1 } else { other_job };
        let shard = ShardId::from(0);
        let mut server = ServerShard::new(job.clone(), shard, SERVER, PEER_TIMEOUT).unwrap();
        let rank = Rank::try_from(2u16).unwrap();
        let mut worker = WorkerFlow::new(job.clone(), rank, host(2), PEER_TIMEOUT).unwrap();
        worker.start_round(Instant::START, &gradient(2, 0, 500)).unwrap();
        let undisturbed = (server.clone(), worker.clone());
        let count = messages.len() as u64;
        let mut buffer = [0; 2048];
        for (code, first, second, sequence, speaker, exponent) in messages {
            let header = HeaderRepr {
                kind: Kind::Control,
                flags: Flags::NONE,
                epoch: epoch.into(),
                job: other_job.into(),
                shard,
                worker: Seat::try_from(speaker).unwrap(),
                sequence: sequence.into(),
                contributors: Contributors::default(),
                exponent: exponent.into(),
                length: 6,
                incarnation: SERVER,
            };
            let (as_worker, as_server) = (job.workers[usize::from(speaker)].mac, job.shards[0].mac);
            let values_per_packet = inart_wire::ValuesPerPacket::N32;
            for (source, destination) in [(as_worker, as_server), (as_server, job.workers[2].mac)] {
                let frame = FrameRepr { destination, source, values_per_packet, header };
                let words = [code, first, second, host(2).get() as i32, 0, 0];
                let length = frame.emit(&words, &mut buffer).unwrap();
                match destination == as_server {
                    true => server.handle_frame(Instant::START, &buffer[..length]),
                    false => worker.handle_frame(Instant::START, &buffer[..length]),
                }
            }
        }
        prop_assert_eq!((server.counters().foreign, worker.counters().foreign), (count, count));
        let (mut as_ever_server, mut as_ever_worker) = undisturbed;
        prop_assert!(four_seconds(&mut server) == four_seconds(&mut as_ever_server));
        prop_assert!(four_seconds(&mut worker) == four_seconds(&mut as_ever_worker));
    }
}
