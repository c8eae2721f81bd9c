//! Tensors of one length that a worker skips: the streams fit, and the end of the job names the worker.

use std::time::Duration;

use inart_protocol_aggregation::{Failure, TensorId, TensorInput, WorkerFlow};
use inart_wire::AbortReason;

use super::network::{Network, PEER_TIMEOUT, assignment, kind_fate};
use super::trouble::{FaultRates, fate_in, rank};
use super::{check_records, gradient, gradients};

/// Longer than any time between two keep-alives.
const IDLE: Duration = Duration::from_secs(2);

/// A program at each worker: starts the tensors named by its labels one after the other, and may skip some.
struct Programs {
    network: Network,
    /// Labels that are left by worker, the last one first.
    left: Vec<Vec<String>>,
    open: Vec<Option<TensorId>>,
    ends: Vec<Option<Failure>>,
    len: usize,
}

impl Programs {
    fn new(network: Network, len: usize, labels: &[Vec<String>]) -> Self {
        let left: Vec<_> = labels.iter().map(|labels| labels.iter().rev().cloned().collect()).collect();
        let workers = labels.len();
        Self { network, left, open: vec![None; workers], ends: vec![None; workers], len }
    }

    /// Runs until every worker has failed or has no tensor left that it may start. Returns the number of sums
    /// that ended.
    fn run(&mut self, until: impl Fn(&Self) -> bool) -> usize {
        let (end, mut sums) = (self.network.now + 100 * PEER_TIMEOUT, 0);
        loop {
            for worker in 0..self.left.len() {
                let flow = &mut self.network.workers[worker];
                if let Some(id) = self.open[worker].filter(|id| flow.is_done(*id)) {
                    self.open[worker] = None;
                    match flow.finish(id) {
                        Ok(reduced) => flow.reuse(reduced),
                        Err(failure) => self.ends[worker] = Some(failure),
                    }
                    sums += 1;
                }
                if self.open[worker].is_none() && self.ends[worker].is_none() {
                    self.start(worker);
                }
            }
            if until(self) {
                return sums;
            }
            self.network.transmit();
            self.network.step();
            assert!(self.network.now < end, "neither the sums nor the job end");
        }
    }

    fn start(&mut self, worker: usize) {
        let (now, flow) = (self.network.now, &mut self.network.workers[worker]);
        if let Err(failure) = flow.check() {
            self.ends[worker] = Some(failure);
        } else if let Some(label) = self.left[worker].pop() {
            let input = TensorInput::from(gradient(worker, 0, self.len)).with_label(label);
            self.open[worker] = flow.start(now, input).ok();
        }
    }

    fn have_failed(&self) -> bool {
        self.ends.iter().all(Option::is_some)
    }

    /// Returns whether all have the sums of all their tensors, and keep-alives have passed since.
    fn are_done(&self) -> bool {
        self.left.iter().all(Vec::is_empty) && self.open.iter().all(Option::is_none)
    }
}

fn labels(count: usize) -> Vec<String> {
    (0..count).map(|label| format!("step {label}")).collect()
}

/// The labels of `count` tensors, of which the worker of rank `odd` skips one.
fn skipping(workers: usize, count: usize, (odd, skipped): (usize, usize)) -> Vec<Vec<String>> {
    let mut all = vec![labels(count); workers];
    all[odd].remove(skipped);
    all
}

/// All workers end by the same failure; returns the culprit and the range of tensors.
fn blamed(programs: &Programs) -> (usize, u32, u32) {
    let ends = programs.ends.iter().enumerate().map(|(worker, end)| match end {
        Some(Failure::OtherTensors { culprit, name, first, last, own }) => {
            assert_eq!(*name, format!("w{}", culprit.index() + 1));
            assert!(first <= last);
            (worker, (culprit.index(), *first, *last), own.clone())
        }
        other => panic!("worker {worker}: {other:?}"),
    });
    let ends: Vec<_> = ends.collect();
    assert!(ends.iter().all(|(_, end, _)| *end == ends[0].1), "{ends:?}");
    ends[0].1
}

/// Lengths of tensors: one exact chunk, scaled ones, several shards, a shard without values, none.
const LENGTHS: [usize; 4] = [40, 700, 1, 0];

#[test]
fn a_skipped_tensor_of_the_same_length_ends_the_job_by_the_workers_name() {
    for workers in [2, 3, 6] {
        for (odd, skipped) in [(0, 0), (workers - 1, 3), (1, 17)] {
            for (len, shares, aggregated) in LENGTHS.into_iter().flat_map(|len| {
                [(len, &[1.0][..], 0), (len, &[0.5, 0.5], (1 << workers) - 1), (len, &[1.0], 0b11)]
            }) {
                let network = Network::new(assignment(workers, shares, 4), aggregated, kind_fate());
                let labels = skipping(workers, 3000, (odd, skipped));
                let mut programs = Programs::new(network, len, &labels);
                programs.run(Programs::have_failed);
                let (culprit, first, last) = blamed(&programs);
                // With two workers, the first counts as right.
                assert_eq!(culprit, if workers == 2 { 1 } else { odd }, "{workers} {odd} {skipped} {len}");
                assert!((first..=last).contains(&(skipped as u32)), "{skipped}: {first} to {last}");
                for server in &programs.network.servers {
                    if let Some((reason, named)) = server.aborted() {
                        assert_eq!(
                            (reason, named),
                            (AbortReason::OtherTensors { first, last }, rank(culprit))
                        );
                    }
                }
            }
        }
    }
}

/// The last tensor that all have started is already the wrong one, and no sum follows.
#[test]
fn a_skipped_tensor_is_found_while_the_others_wait_for_the_last_sum() {
    for (count, skipped) in [(1, 0), (2, 0), (5, 4), (9, 7), (100, 98), (100, 99)] {
        let network = Network::new(assignment(3, &[0.5, 0.5], 4), 0b111, kind_fate());
        let mut programs = Programs::new(network, 300, &skipping(3, count, (2, skipped)));
        let last_is_skipped = skipped + 1 == count;
        if last_is_skipped {
            // No tensor is paired with another one: the others wait, and the error names the worker.
            programs.run(|programs| programs.open[0].is_some() && programs.left[0].is_empty());
            let now = programs.network.now;
            programs.network.run_until(now + IDLE);
            assert!(programs.network.workers.iter().all(|worker| worker.check().is_ok()));
            let waiting = programs.network.workers[0].waiting().expect("waits").to_string();
            assert!(waiting.contains("worker 2 (w3) has not started it"), "{waiting}");
        } else {
            programs.run(Programs::have_failed);
            let (culprit, first, last) = blamed(&programs);
            assert_eq!(culprit, 2);
            assert!((first..=last).contains(&(skipped as u32)), "{skipped}: {first} to {last}");
        }
    }
}

/// Every worker has all its sums, one of which is mixed: the next keep-alives end the job before the next
/// step.
#[test]
fn sums_that_all_have_are_found_to_be_mixed_between_rounds() {
    let mut all = vec![labels(20); 3];
    all[1].swap(15, 16);
    let network = Network::new(assignment(3, &[0.5, 0.5], 4), 0b111, kind_fate());
    let mut programs = Programs::new(network, 300, &all);
    programs.run(|programs| programs.are_done() || programs.have_failed());
    let now = programs.network.now;
    programs.network.run_until(now + IDLE);
    for worker in 0..3 {
        let failure = programs.network.workers[worker].check().unwrap_err().to_string();
        let (own, other) = if worker == 1 { (16, 15) } else { (15, 16) };
        assert!(failure.contains("worker 1 (w2) and its peers started different tensors as "), "{failure}");
        assert!(failure.contains("start the same tensors in the same order at all workers"), "{failure}");
        assert!(failure.contains(&format!("tensor 15: 300 values, label \"step {own}\"")), "{failure}");
        let next = format!("tensor 16: 300 values, label \"step {other}\"");
        assert!(failure.contains("as tensor 15 ") || failure.contains(&next), "{failure}");
    }
}

#[test]
fn no_fault_hides_a_skipped_tensor() {
    let faults =
        FaultRates { lost_percent: 20, duplicated_percent: 10, late_percent: 30, latest_micros: 20_000 };
    for seed in 0..20 {
        let odd = seed as usize % 3;
        let job = assignment(3, &[0.5, 0.5], 4);
        let network = Network::new(job, 0b111, fate_in(faults.clone(), seed));
        let mut programs = Programs::new(network, 300, &skipping(3, 3000, (odd, 2)));
        programs.run(Programs::have_failed);
        assert_eq!(blamed(&programs).0, odd, "{seed}");
    }
}

/// Neither order of waiting, loss, nor a tensor that all skip makes a difference.
#[test]
fn equal_labels_never_end_a_job() {
    let faults =
        FaultRates { lost_percent: 10, duplicated_percent: 10, late_percent: 30, latest_micros: 20_000 };
    for seed in 0..10 {
        let fate = fate_in(faults.clone(), seed);
        let network =
            Network::with_peer_timeout(assignment(3, &[0.5, 0.5], 4), 0b111, fate, 25 * PEER_TIMEOUT);
        let mut all = vec![labels(100); 3];
        all.iter_mut().for_each(|labels| drop(labels.remove(50)));
        let mut programs = Programs::new(network, 300, &all);
        assert_eq!(programs.run(Programs::are_done), 3 * 99);
        let now = programs.network.now;
        programs.network.run_until(now + IDLE);
        assert!(programs.network.workers.iter().all(|worker| worker.check().is_ok()));
    }
}

/// Transcripts cannot distinguish tensors with equal lengths and labels.
#[test]
fn without_labels_a_skipped_tensor_of_the_same_length_is_not_found() {
    let network = Network::new(assignment(2, &[1.0], 4), 0b11, kind_fate());
    let mut programs = Programs::new(network, 300, &[vec![String::new(); 50], vec![String::new(); 49]]);
    programs.run(|programs| programs.open[0].is_some() && programs.left[0].is_empty());
    let now = programs.network.now;
    programs.network.run_until(now + IDLE);
    assert!(programs.network.workers.iter().all(|worker| worker.check().is_ok()));
}

/// A label has no other effect: sums have equal bits, and reused memory has no old label.
#[test]
fn a_label_changes_no_sum_and_stays_with_its_tensor() {
    let mut network = Network::new(assignment(2, &[1.0], 4), 0b11, kind_fate());
    let tensors = gradients(2, 0, 300);
    for round in 0..3 {
        let now = network.now;
        let start = |flow: &mut WorkerFlow, values: &Vec<f32>| {
            let mut input = flow.room_for(values.len());
            input.copy_from(values);
            // The second round has no label, in the memory of the first one.
            let input = if round == 1 { input } else { input.with_label("same") };
            flow.start(now, input).unwrap()
        };
        let ids: Vec<_> =
            network.workers.iter_mut().zip(&tensors).map(|(flow, values)| start(flow, values)).collect();
        network.run_until_idle();
        let records: Vec<_> =
            network.workers.iter().zip(&ids).map(|(flow, id)| flow.record_of(*id).unwrap()).collect();
        check_records(&records, &tensors, false);
        for (flow, id) in network.workers.iter_mut().zip(ids) {
            let reduced = flow.finish(id).unwrap();
            if round == 0 {
                // Only one worker uses the memory again.
                flow.reuse(reduced);
            }
        }
    }
    let now = network.now;
    network.run_until(now + IDLE);
    assert!(network.workers.iter().all(|worker| worker.check().is_ok()));
}
