//! Policies of the test's own, which the crate knows nothing of, from the first frame to the last: what the
//! exchange of chunks leaves open.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::VecDeque;
use std::time::Duration;

use inart_core::audit::{Received, Sent, check_round};
use inart_core::policy::{Due, Onward, Policy, Progress, Receivers, Sum};
use inart_core::{
    Assignment, Instant, RoundRecord, ServerShard, ShardAssignment, StateMachine, WorkerAddress, WorkerFlow,
};
use inart_wire::{ChunkSeq, Exponent, Frame, Incarnation, MacAddr, Rank, ValuesPerPacket};

const PEER_TIMEOUT: Duration = Duration::from_secs(10);

/// A chunk is complete when half of the workers are in; all get the sum of those.
#[derive(Clone, Debug)]
struct Half;

impl Due for Half {
    fn is_due(&self, _contributor: usize, _receiver: usize) -> bool {
        false
    }

    fn receivers(&self) -> Receivers {
        Receivers::Job
    }
}

impl Policy for Half {
    type Reduction = Sum;

    fn cohort(&self, _rank: usize) -> usize {
        0
    }

    fn is_complete(&self, chunk: &Progress) -> bool {
        2 * chunk.present >= chunk.members
    }

    fn reduction(&self, values: usize) -> Sum {
        Sum::new(values, false)
    }

    fn complete(&mut self, _chunk: &Progress, sum: Sum, exponent: Exponent) -> (Vec<i32>, Exponent) {
        sum.result(exponent)
    }
}

/// Workers are answered one by one, in the order of their ranks: each chunk is applied to the server's model,
/// and its sender alone gets the model's values.
#[derive(Clone, Debug)]
struct InTurn {
    workers: usize,
    /// By chunk and value: what was applied so far, scaled by the first exponent.
    model: Vec<Vec<i64>>,
    /// By chunk: how many were applied.
    applied: Vec<usize>,
    /// The order in which chunks were applied: cohort and sequence.
    order: Vec<(usize, u32)>,
}

impl InTurn {
    fn new(workers: usize) -> Self {
        Self { workers, model: vec![vec![0; 32]; 64], applied: vec![0; 64], order: Vec::new() }
    }
}

impl Due for InTurn {
    fn is_due(&self, contributor: usize, receiver: usize) -> bool {
        contributor == receiver
    }

    fn receivers(&self) -> Receivers {
        Receivers::Cohort
    }
}

impl Policy for InTurn {
    type Reduction = Sum;

    fn cohort(&self, rank: usize) -> usize {
        rank
    }

    fn is_complete(&self, chunk: &Progress) -> bool {
        chunk.present == 1 && self.applied[chunk.sequence.get() as usize] == chunk.cohort
    }

    fn reduction(&self, values: usize) -> Sum {
        Sum::new(values, false)
    }

    fn complete(&mut self, chunk: &Progress, sum: Sum, exponent: Exponent) -> (Vec<i32>, Exponent) {
        let place = chunk.sequence.get() as usize;
        let (values, exponent) = sum.result(exponent);
        self.applied[place] += 1;
        self.order.push((chunk.cohort, chunk.sequence.get()));
        for (model, value) in self.model[place].iter_mut().zip(&values) {
            *model += i64::from(*value);
        }
        (self.model[place].iter().map(|value| *value as i32).collect(), exponent)
    }

    fn releases(&self, chunk: &Progress) -> Option<(usize, ChunkSeq)> {
        (chunk.cohort + 1 < self.workers).then_some((chunk.cohort + 1, chunk.sequence))
    }
}

fn assignment(workers: usize) -> Assignment {
    let mac = |number: usize| MacAddr([2, 0, 0, 0, 0, number as u8]);
    Assignment {
        job: 1.into(),
        name: "policy".into(),
        epoch: 1.into(),
        values_per_packet: ValuesPerPacket::N32,
        window_chunks: 4,
        exact_sums: false,
        workers: (0..workers)
            .map(|rank| WorkerAddress { name: format!("w{rank}"), mac: mac(rank) })
            .collect(),
        shards: vec![ShardAssignment {
            server: "s".into(),
            mac: mac(100),
            share: 1.0,
            rate_bps: 1e9,
            seats: Vec::new(),
        }],
    }
}

/// Workers and a server, one after the other; every so many frames one is lost.
struct Net<P: Policy> {
    now: Instant,
    workers: Vec<WorkerFlow<P>>,
    server: ServerShard<P>,
    macs: Vec<MacAddr>,
    under_way: VecDeque<Vec<u8>>,
    lost_every: usize,
    sent: usize,
}

impl<P: Policy> Net<P> {
    fn new(workers: usize, policy: P, lost_every: usize) -> Self {
        let job = assignment(workers);
        let life = |number: usize| Incarnation::new(1 + number as u32);
        let worker = |rank: usize| {
            let id = Rank::try_from(rank).unwrap();
            WorkerFlow::with_policy(job.clone(), id, life(rank), PEER_TIMEOUT, policy.clone()).unwrap()
        };
        Self {
            now: Instant::START,
            workers: (0..workers).map(worker).collect(),
            macs: job.workers.iter().map(|worker| worker.mac).collect(),
            server: ServerShard::with_policy(job.clone(), 0.into(), life(99), PEER_TIMEOUT, policy.clone())
                .unwrap(),
            under_way: VecDeque::new(),
            lost_every,
            sent: 0,
        }
    }

    fn poll(&mut self) {
        let mut buffer = [0; 2048];
        let mut state_machines: Vec<&mut dyn StateMachine> =
            self.workers.iter_mut().map(|worker| worker as &mut dyn StateMachine).collect();
        state_machines.push(&mut self.server);
        for state_machine in state_machines {
            while let Some(length) = state_machine.poll_transmit(self.now, &mut buffer) {
                self.sent += 1;
                if !self.sent.is_multiple_of(self.lost_every) {
                    self.under_way.push_back(buffer[..length].to_vec());
                }
            }
        }
    }

    /// Runs until these workers have ended their rounds.
    fn run(&mut self, ranks: &[usize]) {
        let end = self.now + 10 * PEER_TIMEOUT;
        while !ranks.iter().all(|rank| self.workers[*rank].is_idle()) {
            self.poll();
            let Some(frame) = self.under_way.pop_front() else {
                let state_machines = self.workers.iter().map(StateMachine::next_deadline);
                let next = state_machines.chain([self.server.next_deadline()]).flatten().min();
                self.now = next.unwrap().max(self.now + Duration::from_micros(1));
                assert!(self.now < end, "the round does not end");
                continue;
            };
            self.now = self.now + Duration::from_micros(1);
            let to = Frame::new_checked(frame.as_slice()).unwrap().destination();
            let is_for = |mac: &MacAddr| to.is_multicast() || *mac == to;
            for (worker, _) in self.workers.iter_mut().zip(&self.macs).filter(|(_, mac)| is_for(mac)) {
                worker.handle_frame(self.now, &frame);
            }
            if !to.is_multicast() && !self.macs.contains(&to) {
                self.server.handle_frame(self.now, &frame);
            }
        }
    }

    fn start(&mut self, rank: usize, gradient: &[f32]) {
        self.workers[rank].start_round(self.now, gradient).unwrap();
    }

    fn sum(&mut self, rank: usize, len: usize) -> Vec<f32> {
        let mut sum = vec![0.0; len];
        self.workers[rank].finish_round(&mut sum).unwrap();
        sum
    }
}

/// Eight chunks, the last short: two windows, which is as far as anybody may fall behind.
const LEN: usize = 250;

fn gradient(rank: usize) -> Vec<f32> {
    (0..LEN).map(|index| ((rank + 1) * (index % 7 + 1)) as f32).collect()
}

fn records<P: Policy>(net: &Net<P>) -> Vec<RoundRecord> {
    net.workers.iter().map(|worker| worker.record().unwrap()).collect()
}

#[test]
fn half_of_the_workers_complete_a_chunk_and_all_get_the_sum() {
    for lost_every in [7, 13, usize::MAX] {
        let mut net = Net::new(4, Half, lost_every);
        for round in 0..3 {
            // Two begin, and need nobody else.
            let (early, late) = if round % 2 == 0 { ([0, 1], [2, 3]) } else { ([1, 3], [0, 2]) };
            early.iter().for_each(|rank| net.start(*rank, &gradient(*rank)));
            net.run(&early);
            late.iter().for_each(|rank| net.start(*rank, &gradient(*rank)));
            net.run(&late);
            let right: Vec<f32> =
                (0..LEN).map(|index| gradient(early[0])[index] + gradient(early[1])[index]).collect();
            for rank in 0..4 {
                assert_eq!(net.sum(rank, LEN), right, "round {round}, worker {rank}");
            }
        }
        assert_eq!(net.server.aborted(), None);
    }
}

#[test]
fn who_is_gone_is_named_when_the_others_have_to_wait_for_it() {
    let mut net = Net::new(4, Half, usize::MAX);
    // Worker 3 is heard of, and no more.
    for rank in 0..4 {
        net.start(rank, &gradient(rank));
    }
    net.run(&[0, 1, 2, 3]);
    (0..4).for_each(|rank| drop(net.sum(rank, LEN)));
    net.workers.pop();
    net.macs.pop();
    // Of the second of these rounds, the first result would be forgotten.
    (0..3).for_each(|rank| net.start(rank, &gradient(rank)));
    net.run(&[0, 1, 2]);
    (0..3).for_each(|rank| drop(net.sum(rank, LEN)));
    (0..3).for_each(|rank| net.start(rank, &gradient(rank)));
    net.run(&[0, 1, 2]);
    let failure = net.workers[0].finish_round(&mut [0.0; LEN]).unwrap_err().to_string();
    assert_eq!(failure, "the job was aborted: worker 3 (w3) has not been heard from");
}

#[test]
fn workers_in_turn_get_the_model_one_by_one() {
    for lost_every in [5, 11, usize::MAX] {
        let mut net = Net::new(3, InTurn::new(3), lost_every);
        // The last of them begins first, and has to wait for its turn.
        for rank in [2, 1, 0] {
            net.start(rank, &gradient(rank));
        }
        net.run(&[0, 1, 2]);
        let mut model = vec![0.0; LEN];
        for rank in 0..3 {
            model.iter_mut().zip(gradient(rank)).for_each(|(model, value)| *model += value);
            assert_eq!(net.sum(rank, LEN), model, "worker {rank} gets what was applied before it");
        }
    }
}

/// Each worker's chunk is its own; the result is what it sent.
#[derive(Clone, Debug)]
struct Echo;

impl Due for Echo {
    fn is_due(&self, contributor: usize, receiver: usize) -> bool {
        contributor == receiver
    }

    fn receivers(&self) -> Receivers {
        Receivers::Cohort
    }
}

impl Policy for Echo {
    type Reduction = Sum;

    fn cohort(&self, rank: usize) -> usize {
        rank
    }

    fn is_complete(&self, chunk: &Progress) -> bool {
        chunk.present == chunk.members
    }

    fn reduction(&self, values: usize) -> Sum {
        Sum::new(values, false)
    }

    fn complete(&mut self, _chunk: &Progress, sum: Sum, exponent: Exponent) -> (Vec<i32>, Exponent) {
        sum.result(exponent)
    }
}

#[test]
fn the_audit_asks_the_policy_what_is_in_a_sum() {
    let mut net = Net::new(3, Echo, 9);
    for rank in 0..3 {
        net.start(rank, &gradient(rank));
    }
    net.run(&[0, 1, 2]);
    let records = records(&net);
    let bytes = |exponents: &[Exponent]| exponents.iter().map(|e| e.get()).collect::<Vec<_>>();
    let exponents: Vec<_> =
        records.iter().map(|record| (bytes(&record.exponents), bytes(&record.result_exponents))).collect();
    let sent: Vec<_> = records
        .iter()
        .zip(&exponents)
        .map(|(record, (exponents, _))| Sent { worker: "w", values: &record.sent, exponents })
        .collect();
    let received: Vec<_> = (0..3)
        .map(|rank| Received {
            rank,
            worker: "w",
            result: &records[rank].result,
            exponents: &exponents[rank].1,
        })
        .collect();
    let chunks: Vec<_> = inart_core::Split::new(&assignment(3), LEN).chunks().collect();
    assert_eq!(check_round(&Echo, 0, &sent, &received, &chunks), Ok(()));
    let lockstep = inart_core::policy::Lockstep::default();
    assert!(check_round(&lockstep, 0, &sent, &received, &chunks).is_err(), "nobody has the sum of all");
}

/// Runs until the workers wait for sums that are elsewhere.
fn run_until_all_is_out(net: &mut Net<Onward>) {
    let end = net.now + Duration::from_secs(3);
    while net.now < end {
        net.poll();
        let Some(frame) = net.under_way.pop_front() else {
            let next = net.workers.iter().filter_map(StateMachine::next_deadline).min();
            let Some(next) = next else { return };
            net.now = next.max(net.now + Duration::from_micros(1));
            continue;
        };
        net.now = net.now + Duration::from_micros(1);
        let to = Frame::new_checked(frame.as_slice()).unwrap().destination();
        match net.macs.iter().position(|mac| *mac == to) {
            Some(worker) => net.workers[worker].handle_frame(net.now, &frame),
            None if to.is_multicast() => {
                net.workers.iter_mut().for_each(|worker| worker.handle_frame(net.now, &frame));
            }
            None => net.server.handle_frame(net.now, &frame),
        }
    }
}

#[test]
fn sums_go_on_and_what_comes_back_however_late_is_the_result_at_all() {
    for lost_every in [5, 11, usize::MAX] {
        let mut net = Net::new(3, Onward::default(), lost_every);
        (0..3).for_each(|rank| net.start(rank, &gradient(rank)));
        let mut gone_on = Vec::new();
        while net.workers.iter().any(|worker| !worker.is_idle()) {
            // As long as nobody answers, no more than a window goes on, and nothing twice.
            run_until_all_is_out(&mut net);
            let sums: Vec<_> = std::iter::from_fn(|| net.server.next_sum()).collect();
            assert!(sums.len() <= 4 && net.server.aborted().is_none());
            if gone_on.is_empty() {
                assert_eq!(sums.len(), 4);
            }
            for sum in sums {
                let expected = |index: usize| (1..=3).map(|one| (one * (index % 7 + 1)) as f64).sum::<f64>();
                let scale = 2f64.powi(sum.exponent.get().into());
                for (index, value) in sum.values.iter().enumerate() {
                    let index = 32 * sum.sequence.get() as usize + index;
                    assert_eq!(f64::from(*value) * scale, expected(index));
                }
                assert_eq!(sum.last, sum.sequence.get() == 7);
                let short = sum.values[1..].to_vec();
                assert!(!net.server.sum_is_back(sum.sequence, short, sum.exponent), "another length");
                // Half as much again comes from others.
                let all: Vec<i32> = sum.values.iter().map(|value| value + value / 2).collect();
                assert!(net.server.sum_is_back(sum.sequence, all.clone(), sum.exponent));
                assert!(!net.server.sum_is_back(sum.sequence, all, sum.exponent), "it has its result");
                gone_on.push(sum.sequence.get());
            }
        }
        gone_on.sort_unstable();
        assert_eq!(gone_on, (0..8).collect::<Vec<_>>());
        let right: Vec<f32> = (0..LEN).map(|index| 9.0 * (index % 7 + 1) as f32).collect();
        (0..3).for_each(|rank| assert_eq!(net.sum(rank, LEN), right, "worker {rank}"));
    }
}

#[test]
fn a_job_that_ends_elsewhere_ends_here_with_what_was_done_there() {
    let mut net = Net::new(3, Onward::default(), 7);
    (0..3).for_each(|rank| net.start(rank, &gradient(rank)));
    run_until_all_is_out(&mut net);
    net.server.abort_elsewhere("site n2: worker w5 was told to stop");
    run_until_all_is_out(&mut net);
    for rank in 0..3 {
        let failure = net.workers[rank].finish_round(&mut [0.0; LEN]).unwrap_err().to_string();
        assert_eq!(failure, "the job was aborted: site n2: worker w5 was told to stop");
    }
}

/// It was kept, and was the result once the last worker was in, though no sum had gone on.
#[test]
fn what_comes_back_before_a_sum_went_on_is_no_result() {
    let mut net = Net::new(3, Onward::default(), usize::MAX);
    (0..2).for_each(|rank| net.start(rank, &gradient(rank)));
    run_until_all_is_out(&mut net);
    assert!(net.server.next_sum().is_none(), "a worker is missing");
    assert!(!net.server.sum_is_back(0.into(), vec![1; 32], Exponent::from(0)));
    net.start(2, &gradient(2));
    run_until_all_is_out(&mut net);
    let sums: Vec<_> = std::iter::from_fn(|| net.server.next_sum()).map(|sum| sum.sequence.get()).collect();
    assert_eq!(sums, [0, 1, 2, 3]);
}
