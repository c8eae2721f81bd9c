//! Hostile frames at any moment of a job: counted, and never a panic.

use std::time::Duration;

use inart_protocol_aggregation::completion_rule::Onward;
use inart_protocol_aggregation::exact_sum::Digits;
use inart_protocol_aggregation::scale::{exponent_of, largest_addend, largest_size};
use inart_protocol_aggregation::{Chunk, Failure, Instant, ServerShard, Split, StateMachine, WorkerFlow};
use inart_wire::{
    AbortReason, BitmapIndex, Contributors, Exponent, Flags, FrameRepr, Group, HeaderRepr, Kind, MacAddr,
    Rank, ShardId,
};
use proptest::prelude::*;

use super::network::{Forge, Network, PEER_TIMEOUT, SERVER, assignment, host, kind_fate};
use super::trouble::rank;
use super::{gradient, gradients, run_round};

/// Returns a frame that passes the first checks: of the job, to the host, with all other fields random.
fn frame() -> impl Strategy<Value = (HeaderRepr, Vec<i32>)> {
    let contributors = (any::<u64>(), 0..3u8, any::<bool>());
    let exponent = prop_oneof![2 => any::<i8>(), 1 => Just(i8::MIN), 1 => Just(i8::MAX), 1 => Just(0)];
    let marks = (0..8u8, any::<u8>(), exponent);
    (
        marks,
        0..6u16,
        prop_oneof![0..20u32, any::<u32>()],
        contributors,
        proptest::collection::vec(any::<i32>(), 0..=32),
    )
        .prop_map(|((kind, flags, exponent), worker, sequence, (bitmap, group, honest), values)| {
            let worker = BitmapIndex::try_from(worker).unwrap();
            let header = HeaderRepr {
                kind: Kind::from_code(kind),
                flags: Flags(flags),
                plan_version: 3.into(),
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

/// Deviation of a frame from the values that follow from its chunk: now and then another exponent, length,
/// position in the tensor, or any numbers.
#[derive(Clone, Copy, Debug)]
struct Oddity {
    exponent: Option<i8>,
    longer: i32,
    is_last: bool,
    has_any_numbers: bool,
}

fn oddity() -> impl Strategy<Value = Oddity> {
    let exponent = prop_oneof![
        20 => Just(None::<i8>),
        1 => any::<i8>().prop_map(Some),
        2 => proptest::sample::select(vec![i8::MIN, i8::MAX, 0]).prop_map(Some),
    ];
    let longer = prop_oneof![12 => Just(0i32), 1 => -2..=2i32];
    let [is_last, has_any_numbers] = [20, 60].map(|times| prop_oneof![times => Just(false), 1 => Just(true)]);
    (exponent, longer, is_last, has_any_numbers).prop_map(|(exponent, longer, is_last, has_any_numbers)| {
        Oddity { exponent, longer, is_last, has_any_numbers }
    })
}

/// Returns no flag, or any of them.
fn flags() -> impl Strategy<Value = u8> {
    prop_oneof![3 => Just(0u8), 1 => any::<u8>()]
}

/// The header of a chunk's frame, honest but for the oddity.
fn header(
    kind: Kind,
    flags: u8,
    sequence: u32,
    (exponent, length, last): (Exponent, usize, bool),
    odd: Oddity,
) -> HeaderRepr {
    HeaderRepr {
        kind,
        flags: Flags(flags & !Flags::LAST.0).with_if(Flags::LAST, last != odd.is_last),
        plan_version: 3.into(),
        job: 7.into(),
        shard: 0.into(),
        worker: BitmapIndex::try_from(0u16).unwrap(),
        sequence: sequence.into(),
        contributors: Contributors::default(),
        exponent: odd.exponent.map_or(exponent, Exponent::from),
        length: (length as i32 + odd.longer).clamp(0, 32) as u16,
        incarnation: SERVER,
    }
}

/// The shape of a chunk of tensors of nine: maxima of two blocks, their values, digits and floats of tensors
/// of their own, and a placeholder.
fn shape(sequence: u32) -> (Exponent, usize, bool) {
    match sequence % 9 {
        0 => (Exponent::MAXIMA, 2, false),
        place @ 1..=5 => (Exponent::from(3), 32, place == 5),
        6 => (Exponent::DIGITS, 2 * Digits::for_workers(4).per_float(), true),
        7 => (Exponent::FLOATS, 30, true),
        _ => (Exponent::from(0), 1, false),
    }
}

/// Returns a gradient or partial that passes the first checks, usually like that of all other workers, with
/// valid numbers.
fn contribution() -> impl Strategy<Value = (HeaderRepr, Vec<i32>)> {
    let largest = largest_addend(4);
    let sequence = prop_oneof![8 => 0..10u32, 4 => 0..20u32, 1 => any::<u32>()];
    let kind = prop_oneof![3 => Just(Kind::Gradient), 1 => Just(Kind::Partial)];
    let numbers = proptest::collection::vec((-largest..=largest, any::<i32>()), 32);
    ((kind, flags(), sequence), 0..4u16, 0..16u64, oddity(), numbers).prop_map(
        |((kind, flags, sequence), worker, bitmap, odd, numbers)| {
            let worker = BitmapIndex::try_from(worker).unwrap();
            let one = Contributors::one(worker);
            let contributors = match kind {
                Kind::Partial => Contributors { bitmap: one.bitmap | bitmap, ..one },
                _ => one,
            };
            let header = header(kind, flags, sequence, shape(sequence), odd);
            let header = HeaderRepr { worker, contributors, ..header };
            let is_placeholder = header.exponent == Exponent::from(0) && header.length == 1;
            let number = |(number, any): &(i32, i32)| {
                if odd.has_any_numbers {
                    *any
                } else if header.exponent == Exponent::MAXIMA {
                    number.abs()
                } else if is_placeholder {
                    0
                } else {
                    *number
                }
            };
            (header, numbers.iter().take(header.length.into()).map(number).collect::<Vec<_>>())
        },
    )
}

/// The largest size in each block of four workers' tensors of `len` values.
fn maxima(len: usize) -> Vec<i32> {
    let tensors = gradients(4, 0, len);
    let of_block = |start: usize| {
        let own = |tensor: &Vec<f32>| largest_size(&tensor[start..(start + 256).min(len)]);
        tensors.iter().map(own).max().unwrap()
    };
    (0..len).step_by(256).map(of_block).collect()
}

/// Returns a result for a worker that sums tensors of `len` values, usually of a chunk that it may have sent
/// and like the right one, with any sums.
fn result(len: usize) -> impl Strategy<Value = (HeaderRepr, Vec<i32>)> {
    let maxima = maxima(len);
    let shape = |chunk: Chunk| match chunk {
        Chunk::Maxima(blocks) => (Exponent::MAXIMA, blocks.len()),
        Chunk::Scaled(values) => (exponent_of(maxima[values.start / 256]).unwrap(), values.len()),
        Chunk::Floats(values) => (Exponent::FLOATS, values.len()),
        Chunk::Digits(values) => (Exponent::DIGITS, values.len() * Digits::for_workers(4).per_float()),
    };
    let split = Split::new(&assignment(4, &[1.0], 8), len);
    let shapes: Vec<(Exponent, usize)> = split.chunks().map(shape).collect();
    let sequence = prop_oneof![4 => 0..4u32, 4 => 0..20u32, 1 => any::<u32>()];
    let feedback = prop_oneof![2 => Just(0u64), 1 => any::<u64>()];
    let numbers = proptest::collection::vec(any::<i32>(), 32);
    ((flags(), sequence, feedback), oddity(), numbers).prop_map(
        move |((flags, sequence, bitmap), odd, numbers)| {
            let right = shapes.get(sequence as usize).copied();
            let (exponent, length) = right.unwrap_or((Exponent::from(0), 1));
            let shape = (exponent, length, sequence as usize + 1 == shapes.len());
            let header = header(Kind::Result, flags, sequence, shape, odd);
            let header =
                HeaderRepr { contributors: Contributors { bitmap, ..Contributors::default() }, ..header };
            let is_right = header.exponent == Exponent::MAXIMA && !odd.has_any_numbers;
            let number = |(place, number): (usize, &i32)| {
                maxima.get(place).filter(|_| is_right).copied().unwrap_or(*number)
            };
            (header, numbers.iter().take(header.length.into()).enumerate().map(number).collect::<Vec<_>>())
        },
    )
}

/// Returns the tensor's length, and frames to a worker.
fn results() -> impl Strategy<Value = (usize, Vec<(HeaderRepr, Vec<i32>)>)> {
    prop_oneof![Just(500usize), Just(20usize), Just(100usize)].prop_flat_map(|len| {
        let frame = prop_oneof![8 => result(len), 1 => frame()];
        (Just(len), proptest::collection::vec(frame, 1..200))
    })
}

/// Returns frames to a server.
fn contributions() -> impl Strategy<Value = Vec<(HeaderRepr, Vec<i32>)>> {
    proptest::collection::vec(prop_oneof![12 => contribution(), 1 => frame()], 1..200)
}

/// Lets the server bind the worker to its run, whose first frames it receives.
fn bind(worker: &mut WorkerFlow, server: &mut ServerShard) {
    let mut buffer = [0; 2048];
    for _ in 0..4 {
        while let Some(length) = worker.poll_transmit(Instant::START, &mut buffer) {
            server.handle_frame(Instant::START, &buffer[..length]);
        }
        while let Some(length) = server.poll_transmit(Instant::START, &mut buffer) {
            worker.handle_frame(Instant::START, &buffer[..length]);
        }
    }
    assert!(server.counters().gradients > 0, "it sends, so it is bound");
}

/// Passes the frames to the state machine, and checks it after each.
fn drive<S: StateMachine>(
    state_machine: &mut S,
    to: [MacAddr; 2],
    from: MacAddr,
    frames: Vec<(HeaderRepr, Vec<i32>)>,
    mut look: impl FnMut(&mut S),
) {
    let mut buffer = [0; 2048];
    for (step, (header, values)) in frames.into_iter().enumerate() {
        let now = Instant::from_nanos(step as u64 * 30_000_000);
        let values_per_frame = inart_wire::ValuesPerFrame::N32;
        let frame = FrameRepr { destination: to[step % 2], source: from, values_per_frame, header };
        let length = frame.emit(&values, &mut buffer).unwrap();
        state_machine.handle_frame(now, &buffer[..length]);
        // Also a truncated copy.
        state_machine.handle_frame(now, &buffer[..length - 1 - step % 160]);
        look(state_machine);
        let mut sent = 0;
        while state_machine.poll_transmit(now, &mut buffer).is_some() {
            sent += 1;
            assert!(sent < 1000, "a frame makes a host send without end");
        }
        let _ = state_machine.next_deadline();
    }
}

/// Returns the frames that it sends in the next four seconds without input.
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
    fn servers_bear_everything(frames in contributions()) {
        let job = assignment(4, &[1.0], 8);
        let mut server = ServerShard::new(job.clone(), ShardId::from(0), SERVER, PEER_TIMEOUT).unwrap();
        drive(&mut server, [job.shards[0].mac; 2], job.workers[0].mac, frames, |_| ());
    }

    #[test]
    fn servers_with_forwarded_sums_wait_as_well(frames in contributions()) {
        let job = assignment(4, &[1.0], 8);
        let shard = ShardId::from(0);
        let server =
            ServerShard::with_completion_rule(job.clone(), shard, SERVER, PEER_TIMEOUT, Onward::new(4));
        let mut server = server.unwrap();
        drive(&mut server, [job.shards[0].mac; 2], job.workers[0].mac, frames, |server| {
            while let Some(sum) = server.next_sum() {
                let (answer, _) = sum.answer(&sum.values);
                server.sum_is_back(answer);
            }
        });
    }

    #[test]
    fn workers_bear_everything((len, frames) in results()) {
        let job = assignment(4, &[1.0], 8);
        let rank = Rank::try_from(2u16).unwrap();
        let mut worker = WorkerFlow::new(job.clone(), rank, host(2), PEER_TIMEOUT).unwrap();
        let mut server = ServerShard::new(job.clone(), ShardId::from(0), SERVER, PEER_TIMEOUT).unwrap();
        worker.start_round(Instant::START, &gradient(2, 0, len)).unwrap();
        bind(&mut worker, &mut server);
        let to = [job.workers[2].mac, MacAddr::results_of(job.job)];
        drive(&mut worker, to, job.shards[0].mac, frames, |_| ());
    }

    /// A switch lets a host send frames of its own job to any host; hosts of other jobs must ignore them.
    #[test]
    fn messages_of_other_jobs_and_plan_versions_are_counted_and_change_nothing(
        messages in proptest::collection::vec(
            (1..5i32, any::<i32>(), 0..4i32, 0..20u32, 0..4u16, any::<i8>()), 1..20
        ),
        plan_version in prop_oneof![Just(3u16), any::<u16>()],
        other_job: u16,
    ) {
        let job = assignment(4, &[1.0], 8);
        let is_ours = plan_version == 3 && other_job == job.job.get();
        let other_job = if is_ours { other_job + 1 } else { other_job };
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
                plan_version: plan_version.into(),
                job: other_job.into(),
                shard,
                worker: BitmapIndex::try_from(speaker).unwrap(),
                sequence: sequence.into(),
                contributors: Contributors::default(),
                exponent: exponent.into(),
                length: 6,
                incarnation: SERVER,
            };
            let (as_worker, as_server) = (job.workers[usize::from(speaker)].mac, job.shards[0].mac);
            let values_per_frame = inart_wire::ValuesPerFrame::N32;
            for (source, destination) in [(as_worker, as_server), (as_server, job.workers[2].mac)] {
                let frame = FrameRepr { destination, source, values_per_frame, header };
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

/// Runs a round in which a host writes other values into its frames: every worker learns at once that they
/// are invalid, and the culprit's rank.
fn check_named(network: &mut Network, gradients: &[Vec<f32>], culprit: usize) {
    let start = network.now;
    for result in network.all_reduce(gradients) {
        let (culprit, name) = (rank(culprit), format!("w{}", culprit + 1));
        assert_eq!(result, Err(Failure::Aborted { culprit, name, reason: AbortReason::OtherNumbers }));
    }
    assert!(network.now.since(start) < Duration::from_secs(1), "at once, not by the peer timeout");
}

/// Writes `value` into every gradient of that worker that has numbers of that kind.
fn forge(worker: usize, kind: fn(Exponent) -> bool, value: i32) -> Option<Forge> {
    Some(Box::new(move |header, values| {
        if header.kind == Kind::Gradient
            && header.worker == rank(worker).bitmap_index()
            && kind(header.exponent)
        {
            values.fill(value);
        }
    }))
}

fn is_scaled(exponent: Exponent) -> bool {
    exponent >= Exponent::MIN && exponent <= Exponent::MAX
}

fn is_exact(exponent: Exponent) -> bool {
    exponent == Exponent::DIGITS
}

fn is_maxima(exponent: Exponent) -> bool {
    exponent == Exponent::MAXIMA
}

/// Values that leave no room for those of the others, at the server or in a switch's sum.
#[test]
fn a_sender_of_values_above_the_largest_addend_is_named() {
    let largest = largest_addend(4);
    let beyond = [(0b0000, largest + 1), (0b0000, -largest - 1), (0b1111, i32::MAX), (0b0011, i32::MIN)];
    for (aggregated, value) in beyond {
        for (len, kind) in [(500, is_scaled as fn(Exponent) -> bool), (20, is_exact)] {
            for culprit in [0, 1, 3] {
                let mut network = Network::new(assignment(4, &[0.6, 0.4], 4), aggregated, kind_fate());
                run_round(&mut network, &gradients(4, 0, len));
                network.forge = forge(culprit, kind, value);
                check_named(&mut network, &gradients(4, 1, len), culprit);
            }
        }
    }
}

/// Values up to the largest addend are valid, and no sum of such values saturates.
#[test]
fn the_largest_addend_itself_is_added() {
    for sign in [1, -1] {
        let mut network = Network::new(assignment(4, &[1.0], 4), 0b0111, kind_fate());
        network.forge = Some(Box::new(move |header, values| {
            if header.kind == Kind::Gradient && is_scaled(header.exponent) {
                values.fill(sign * largest_addend(4));
            }
        }));
        // The unit of its integers is 2^(127 - 157 + 2).
        let sums = network.all_reduce(&vec![vec![1.0; 300]; 4]);
        let right = sign as f32 * 4.0 * largest_addend(4) as f32 * 2f32.powi(-28);
        assert!(sums.iter().all(|sum| *sum == Ok(vec![right; 300])));
        assert_eq!((network.switch.saturated, network.servers[0].counters().overflows), (0, 0));
    }
}

#[test]
fn a_sender_of_negative_maxima_is_named() {
    for value in [-1, i32::MIN, (-f32::MAX).to_bits() as i32] {
        for culprit in [0, 2] {
            let mut network = Network::new(assignment(3, &[0.5, 0.5], 4), 0b111, kind_fate());
            network.forge = forge(culprit, is_maxima, value);
            check_named(&mut network, &gradients(3, 0, 500), culprit);
            assert!(network.servers.iter().all(|server| server.counters().chunks == 0));
        }
    }
}

/// A server or a switch that forgets a worker's maximum would have it send values that do not fit.
#[test]
fn a_maximum_below_a_workers_own_ends_the_job() {
    let tensors = gradients(3, 0, 700);
    let of_blocks = |tensor: &Vec<f32>| tensor.chunks(256).map(largest_size).collect::<Vec<_>>();
    let own: Vec<_> = tensors.iter().map(of_blocks).collect();
    for block in 0..3 {
        let [first, second] = {
            let mut ranks = [0, 1, 2];
            ranks.sort_by_key(|rank| std::cmp::Reverse(own[*rank][block]));
            [ranks[0], ranks[1]]
        };
        assert_ne!(own[first][block], own[second][block]);
        for forged in [own[first][block] - 1, own[second][block]] {
            let mut network = Network::new(assignment(3, &[1.0], 4), 0b111, kind_fate());
            network.forge = Some(Box::new(move |header, values| {
                if header.kind == Kind::Result && header.exponent == Exponent::MAXIMA {
                    values[block] = forged;
                }
            }));
            // That worker detects it.
            check_named(&mut network, &tensors, first);
            assert_eq!(network.servers[0].counters().chunks, 1, "no value has a sum");
        }
    }
    let mut network = Network::new(assignment(3, &[1.0], 4), 0b111, kind_fate());
    network.forge = Some(Box::new(|header, values| {
        if header.kind == Kind::Result && header.exponent == Exponent::MAXIMA {
            values.fill(-1);
        }
    }));
    for result in network.all_reduce(&tensors) {
        assert!(
            matches!(result, Err(Failure::Aborted { reason: AbortReason::OtherNumbers, .. })),
            "{result:?}"
        );
    }
}
