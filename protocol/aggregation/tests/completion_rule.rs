//! Completion rules of this test, unknown to the crate, in complete rounds: they show which models the
//! exchange of chunks supports.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::VecDeque;
use std::time::Duration;

use inart_protocol_aggregation::audit::{Received, Sent, check_round};
use inart_protocol_aggregation::completion_rule::{
    Answer, CompletionRule, ContributionRule, Lockstep, Onward, OwnSum, Progress, Receivers, Sum,
};
use inart_protocol_aggregation::{
    Assignment, Instant, NonFinite, RoundRecord, ServerShard, ShardAssignment, StateMachine, WorkerAddress,
    WorkerFlow,
};
use inart_wire::{ChunkSeq, Exponent, Frame, Incarnation, MacAddr, Rank, ValuesPerFrame};

const PEER_TIMEOUT: Duration = Duration::from_secs(10);

/// A chunk is complete when half of the workers are in; all get the sum of those.
#[derive(Clone, Debug)]
struct Half;

impl ContributionRule for Half {
    fn requires(&self, _contributor: usize, _receiver: usize) -> bool {
        false
    }

    fn receivers(&self) -> Receivers {
        Receivers::Job
    }
}

impl CompletionRule for Half {
    type Reduction = Sum;

    fn cohort(&self, _rank: usize) -> usize {
        0
    }

    fn is_complete(&self, chunk: &Progress) -> bool {
        2 * chunk.present >= chunk.members
    }

    fn reduction(&self, values: usize, exponent: Exponent) -> Sum {
        Sum::new(values, exponent)
    }

    fn complete(&mut self, _chunk: &Progress, sum: Sum, exponent: Exponent) -> (Vec<i32>, Exponent) {
        (sum.result(), exponent)
    }
}

/// Workers are answered one by one, in the order of their ranks: each chunk is applied to the server's model,
/// and its sender alone gets the model's values.
#[derive(Clone, Debug)]
struct InTurn {
    workers: usize,
    /// Applied updates so far as digits, by chunk and number.
    model: Vec<Vec<i64>>,
    /// Number of applied updates, by chunk.
    applied: Vec<usize>,
    /// The order in which chunks were applied: cohort and sequence.
    order: Vec<(usize, u32)>,
}

impl InTurn {
    fn new(workers: usize) -> Self {
        Self { workers, model: vec![vec![0; 32]; 64], applied: vec![0; 64], order: Vec::new() }
    }
}

impl ContributionRule for InTurn {
    fn requires(&self, contributor: usize, receiver: usize) -> bool {
        contributor == receiver
    }

    fn receivers(&self) -> Receivers {
        Receivers::Cohort
    }
}

impl CompletionRule for InTurn {
    type Reduction = Sum;

    fn cohort(&self, rank: usize) -> usize {
        rank
    }

    fn is_complete(&self, chunk: &Progress) -> bool {
        chunk.present == 1 && self.applied[chunk.sequence.get() as usize] == chunk.cohort
    }

    fn reduction(&self, values: usize, exponent: Exponent) -> Sum {
        Sum::new(values, exponent)
    }

    fn complete(&mut self, chunk: &Progress, sum: Sum, exponent: Exponent) -> (Vec<i32>, Exponent) {
        let place = chunk.sequence.get() as usize;
        let values = sum.result();
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
        plan_version: 1.into(),
        values_per_frame: ValuesPerFrame::N32,
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
            bitmap_indices: Vec::new(),
        }],
    }
}

/// Workers and a server, with a loss of one frame in every `lose` frames.
struct Net<P: CompletionRule> {
    now: Instant,
    workers: Vec<WorkerFlow<P>>,
    server: ServerShard<P>,
    macs: Vec<MacAddr>,
    under_way: VecDeque<Vec<u8>>,
    lost_every: usize,
    sent: usize,
}

impl<P: CompletionRule> Net<P> {
    fn new(workers: usize, completion_rule: P, lost_every: usize) -> Self {
        Self::of_job(assignment(workers), completion_rule, lost_every)
    }

    fn of_job(job: Assignment, completion_rule: P, lost_every: usize) -> Self {
        let workers = job.workers.len();
        let incarnation = |number: usize| Incarnation::new(1 + number as u32);
        let worker = |rank: usize| {
            let id = Rank::try_from(rank).unwrap();
            WorkerFlow::with_completion_rule(
                job.clone(),
                id,
                incarnation(rank),
                PEER_TIMEOUT,
                completion_rule.clone(),
            )
            .unwrap()
        };
        Self {
            now: Instant::START,
            workers: (0..workers).map(worker).collect(),
            macs: job.workers.iter().map(|worker| worker.mac).collect(),
            server: ServerShard::with_completion_rule(
                job.clone(),
                0.into(),
                incarnation(99),
                PEER_TIMEOUT,
                completion_rule.clone(),
            )
            .unwrap(),
            under_way: VecDeque::new(),
            lost_every,
            sent: 0,
        }
    }

    fn poll(&mut self) {
        let mut buffer = [0; ValuesPerFrame::LONGEST_FRAME_BYTES];
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

/// Eight chunks of two values as digits, the last short: two windows, the largest possible lag.
const LEN: usize = 15;
/// Equally many chunks of scaled values: one of maxima, nine of 32 values, the last short.
const LONG: usize = 270;

fn gradient(rank: usize) -> Vec<f32> {
    long_gradient(rank, LEN)
}

fn long_gradient(rank: usize, len: usize) -> Vec<f32> {
    (0..len).map(|index| ((rank + 1) * (index % 7 + 1)) as f32).collect()
}

fn records<P: CompletionRule>(net: &Net<P>) -> Vec<RoundRecord> {
    net.workers.iter().map(|worker| worker.record().unwrap()).collect()
}

#[test]
fn half_of_the_workers_complete_a_chunk_and_all_get_the_sum() {
    for lost_every in [7, 13, usize::MAX] {
        let mut net = Net::new(4, Half, lost_every);
        for round in 0..3 {
            // Two start, and need no other.
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
fn a_failed_worker_is_named_when_others_wait_for_it() {
    let mut net = Net::new(4, Half, usize::MAX);
    // Worker 3 joins, and sends nothing more.
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
    assert_eq!(failure, "the job was aborted: worker 3 (w3) is silent");
}

#[test]
fn workers_in_turn_get_the_model_one_by_one() {
    for lost_every in [5, 11, usize::MAX] {
        let mut net = Net::new(3, InTurn::new(3), lost_every);
        // The last of them starts first, and has to wait for its turn.
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

/// Rule in which each worker has separate chunks; the result is the worker's own input.
#[derive(Clone, Debug)]
struct Echo;

impl ContributionRule for Echo {
    fn requires(&self, contributor: usize, receiver: usize) -> bool {
        contributor == receiver
    }

    fn receivers(&self) -> Receivers {
        Receivers::Cohort
    }
}

impl CompletionRule for Echo {
    type Reduction = Sum;

    fn cohort(&self, rank: usize) -> usize {
        rank
    }

    fn is_complete(&self, chunk: &Progress) -> bool {
        chunk.present == chunk.members
    }

    fn reduction(&self, values: usize, exponent: Exponent) -> Sum {
        Sum::new(values, exponent)
    }

    fn complete(&mut self, _chunk: &Progress, sum: Sum, exponent: Exponent) -> (Vec<i32>, Exponent) {
        (sum.result(), exponent)
    }
}

#[test]
fn the_audit_uses_the_completion_rule() {
    for len in [LEN, LONG] {
        check_echo(len);
    }
}

fn check_echo(len: usize) {
    let mut net = Net::new(3, Echo, 9);
    for rank in 0..3 {
        net.start(rank, &long_gradient(rank, len));
    }
    net.run(&[0, 1, 2]);
    let records = records(&net);
    let sent: Vec<_> = records.iter().map(|record| Sent { worker: "w", values: &record.sent }).collect();
    let received: Vec<_> = records
        .iter()
        .enumerate()
        .map(|(rank, record)| Received { rank, worker: "w", result: &record.result })
        .collect();
    assert_eq!(check_round(&Echo, 0, &sent, &received, false), Ok(()));
    assert!(check_round(&Lockstep, 0, &sent, &received, false).is_err(), "no worker has the sum of all");
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

/// Runs a round of three workers whose sums are forwarded: each window's sums are answered by `elsewhere`.
/// Returns all forwarded sums in order, and what all workers read in place of each.
fn run_onward(
    net: &mut Net<Onward>,
    tensors: &[Vec<f32>; 3],
    elsewhere: impl Fn(&OwnSum) -> Vec<f32>,
) -> (Vec<OwnSum>, Vec<f32>) {
    (0..3).for_each(|rank| net.start(rank, &tensors[rank]));
    let (mut gone_on, mut all_read) = (Vec::new(), Vec::new());
    while net.workers.iter().any(|worker| !worker.is_idle()) {
        // Without answers, at most a window is forwarded, and nothing twice.
        run_until_all_is_out(net);
        let sums: Vec<_> = std::iter::from_fn(|| net.server.next_sum()).collect();
        assert!(sums.len() <= 4 && net.server.aborted().is_none());
        for sum in sums {
            let (answer, read) = sum.answer(&elsewhere(&sum));
            let short = Answer { numbers: answer.numbers[1..].to_vec(), ..answer.clone() };
            assert!(!net.server.sum_is_back(short), "another length");
            assert!(net.server.sum_is_back(answer.clone()));
            assert!(!net.server.sum_is_back(answer), "it has its result");
            all_read.extend(read);
            gone_on.push(sum);
        }
    }
    for rank in 0..3 {
        let sum = net.sum(rank, tensors[0].len());
        assert_eq!(bits(&sum), bits(&all_read), "worker {rank}");
    }
    (gone_on, all_read)
}

fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| float.to_bits()).collect()
}

/// Returns all forwarded values in order.
fn values_of(sums: &[OwnSum]) -> Vec<f32> {
    sums.iter().flat_map(|sum| sum.values.iter().copied()).collect()
}

#[test]
fn forwarded_sums_return_as_the_result_of_all_workers_at_any_delay() {
    for lost_every in [5, 11, usize::MAX] {
        let mut net = Net::new(3, Onward::new(3), lost_every);
        let mut first = 0;
        // The first chunk of a long tensor has maxima, which do not go on.
        for (len, chunks, maxima) in [(LEN, 8, 0), (LONG, 10, 1), (LONG, 10, 1), (1, 1, 0), (700, 23, 1)] {
            let tensors = [0, 1, 2].map(|rank| long_gradient(rank, len));
            // Others add half as much again.
            let more = |sum: &OwnSum| sum.values.iter().map(|value| 1.5 * value).collect();
            let (gone_on, read) = run_onward(&mut net, &tensors, more);
            let numbers: Vec<_> = gone_on.iter().map(|sum| sum.sequence.get()).collect();
            assert_eq!(numbers, (first + maxima..first + chunks).collect::<Vec<_>>());
            let last: Vec<_> = gone_on.iter().map(|sum| sum.last).collect();
            assert!(last.iter().rev().skip(1).all(|last| !last) && last.ends_with(&[true]));
            let own: Vec<f32> = (0..len).map(|index| 6.0 * (index % 7 + 1) as f32).collect();
            assert_eq!(values_of(&gone_on), own);
            assert_eq!(read, own.iter().map(|value| 1.5 * value).collect::<Vec<_>>());
            first += chunks;
        }
    }
}

/// Values that grow or shrink by orders of magnitude, elsewhere or next to their neighbors: the workers read
/// the returned bits.
#[test]
fn sums_of_other_sizes_return() {
    let factors = [1.0, 2f32.powi(-40), 2f32.powi(40), 1e30, 1.7e-30, 0.0, -3.3];
    // Blocks of several frames each, and several in one frame.
    let sizes = [ValuesPerFrame::N32, ValuesPerFrame::N2048];
    for (factor, values_per_frame) in factors.into_iter().flat_map(|factor| sizes.map(|size| (factor, size)))
    {
        let job = Assignment { values_per_frame, ..assignment(3) };
        let mut net = Net::of_job(job, Onward::new(3), 11);
        for len in [LEN, 700, 300] {
            let size = |index: usize| [1e3, 1e-3, 1.0][index / 256];
            let tensor = |rank| {
                let whole = long_gradient(rank, len);
                whole.iter().enumerate().map(|(index, value)| value * size(index)).collect::<Vec<f32>>()
            };
            let tensors = [0, 1, 2].map(tensor);
            let scale = |sum: &OwnSum| sum.values.iter().map(|value| factor * value).collect();
            let (gone_on, read) = run_onward(&mut net, &tensors, scale);
            let own = values_of(&gone_on);
            assert_eq!(
                own,
                inart_protocol_aggregation::audit::sum_of(
                    &tensors.each_ref().map(|tensor| &tensor[..]),
                    3,
                    false
                )
            );
            assert_eq!(bits(&read), bits(&own.iter().map(|own| factor * own + 0.0).collect::<Vec<_>>()));
        }
    }
}

/// Values that are not finite, here or elsewhere, are so at every worker.
#[test]
fn non_finite_values_return_as_such() {
    let mut net = Net::new(3, Onward::new(3), 11);
    for worker in &mut net.workers {
        *worker = worker.clone().with_non_finite(NonFinite::Pass);
    }
    let same = |sum: &OwnSum| sum.values.clone();
    let infinite = |sum: &OwnSum| vec![f32::INFINITY; sum.values.len()];
    let long = || [0, 1, 2].map(|rank| long_gradient(rank, 700));
    let mut spoilt = long();
    spoilt[1][300] = f32::NEG_INFINITY;
    let (gone_on, read) = run_onward(&mut net, &spoilt, same);
    for values in [values_of(&gone_on), read] {
        let of_block = |(index, value): (usize, &f32)| value.is_nan() == (256..512).contains(&index);
        assert!(values.iter().enumerate().all(of_block), "{values:?}");
    }
    let (_, read) = run_onward(&mut net, &long(), infinite);
    assert_eq!(read, [f32::INFINITY; 700]);
    let short = [0, 1, 2].map(gradient);
    let (_, read) = run_onward(&mut net, &short, infinite);
    assert_eq!(read, [f32::INFINITY; LEN]);
}

/// A tensor without values is a chunk that is forwarded and waited for like any other.
#[test]
fn an_empty_tensor_is_forwarded_and_returns() {
    let mut net = Net::new(3, Onward::new(3), 7);
    let nothing = [const { Vec::new() }; 3];
    for _ in 0..3 {
        let (gone_on, _) = run_onward(&mut net, &nothing, |sum| sum.values.clone());
        assert_eq!(gone_on.iter().map(|sum| sum.values.len()).collect::<Vec<_>>(), [0]);
        let tensors = [0, 1, 2].map(|rank| long_gradient(rank, 300));
        let (gone_on, _) = run_onward(&mut net, &tensors, |sum| sum.values.clone());
        assert_eq!(values_of(&gone_on).len(), 300);
    }
}

#[test]
fn a_job_that_ends_elsewhere_ends_here_with_the_reason() {
    let mut net = Net::new(3, Onward::new(3), 7);
    (0..3).for_each(|rank| net.start(rank, &gradient(rank)));
    run_until_all_is_out(&mut net);
    net.server.abort_elsewhere("site n2: worker w5 was stopped");
    run_until_all_is_out(&mut net);
    for rank in 0..3 {
        let failure = net.workers[rank].finish_round(&mut [0.0; LEN]).unwrap_err().to_string();
        assert_eq!(failure, "the job was aborted: site n2: worker w5 was stopped");
    }
}

/// An early result was kept, and became the result once the last worker contributed, though no sum was
/// forwarded.
#[test]
fn a_result_before_its_sum_was_forwarded_is_ignored() {
    let mut net = Net::new(3, Onward::new(3), usize::MAX);
    (0..2).for_each(|rank| net.start(rank, &gradient(rank)));
    run_until_all_is_out(&mut net);
    assert!(net.server.next_sum().is_none(), "a worker is missing");
    let early = Answer { sequence: 0.into(), numbers: vec![1; 24], exponent: Exponent::DIGITS };
    assert!(!net.server.sum_is_back(early));
    net.start(2, &gradient(2));
    run_until_all_is_out(&mut net);
    let sums: Vec<_> = std::iter::from_fn(|| net.server.next_sum()).map(|sum| sum.sequence.get()).collect();
    assert_eq!(sums, [0, 1, 2, 3]);
}
