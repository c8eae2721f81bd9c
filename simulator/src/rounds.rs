//! A job's rounds: what goes into each sum, and the audit of what came out.

use std::collections::BTreeMap;
use std::ops::Range;

use inart_core::audit::{Difference, Mismatch, Received, Sent, check_round};
use inart_core::{Assignment, RoundRecord, Split};

use crate::quantity::Share;

/// A round as one worker saw it.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    sent: Vec<i32>,
    exponents: Vec<i8>,
    result: Vec<i32>,
    result_exponents: Vec<i8>,
}

impl Record {
    pub fn of(record: RoundRecord) -> Self {
        let numbers = |exponents: &[inart_wire::Exponent]| exponents.iter().map(|e| e.get()).collect();
        Self {
            sent: record.sent,
            exponents: numbers(&record.exponents),
            result: record.result,
            result_exponents: numbers(&record.result_exponents),
        }
    }
}

/// The rounds of a job.
#[derive(Debug)]
pub(crate) struct Rounds {
    names: Vec<String>,
    chunks: Vec<Range<usize>>,
    /// Rounds that not every worker has ended: by round, then by rank.
    open: BTreeMap<u32, Vec<Option<Record>>>,
    /// Rounds whose sums were right at every worker.
    pub audited: u32,
    /// Sums compared: one per chunk and worker.
    pub sums_checked: u64,
    /// Of all sums of those rounds, in order: equal if they are equal bit for bit.
    pub digest: u64,
}

impl Rounds {
    pub fn new(assignment: &Assignment, gradient_len: usize) -> Self {
        Self {
            names: assignment.workers.iter().map(|worker| worker.name.clone()).collect(),
            chunks: Split::new(assignment, gradient_len).chunks().collect(),
            open: BTreeMap::new(),
            audited: 0,
            sums_checked: 0,
            digest: 0xcbf2_9ce4_8422_2325,
        }
    }

    /// Takes in that a worker has ended a round; the last one has it audited.
    pub fn end(&mut self, round: u32, rank: usize, record: RoundRecord) -> Result<(), Mismatch> {
        let records = self.open.entry(round).or_insert_with(|| vec![None; self.names.len()]);
        records[rank] = Some(Record::of(record));
        if records.iter().any(Option::is_none) {
            return Ok(());
        }
        let records: Vec<_> = self.open.remove(&round).into_iter().flatten().flatten().collect();
        self.audited += 1;
        let first = &records[0];
        let exponents = first.result_exponents.iter().map(|exponent| i32::from(*exponent));
        for value in first.result.iter().copied().chain(exponents) {
            // FNV-1a, a word at a time.
            self.digest = (self.digest ^ u64::from(value as u32)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.check(round, &records, &vec![true; records.len()])
    }

    /// Audits the rounds that only some workers have ended. `last` is each worker's present round and what it put in.
    pub fn audit_open(&mut self, last: &[(u32, Option<Record>)]) -> Result<(), Mismatch> {
        for (round, ended) in std::mem::take(&mut self.open) {
            let received: Vec<bool> = ended.iter().map(Option::is_some).collect();
            let others = last.iter().map(|(at, record)| record.clone().filter(|_| *at == round));
            let records: Option<Vec<Record>> =
                ended.into_iter().zip(others).map(|(ended, other)| ended.or(other)).collect();
            let Some(records) = records else {
                // A worker that never began the round cannot be in its sum, which then nobody may have.
                let (seen, expected) = (received.iter().filter(|ended| **ended).count(), self.names.len());
                let what = Difference::Length { items: "workers' gradients", seen, expected };
                return Err(Mismatch { round, chunk: 0, worker: self.names[0].clone(), what });
            };
            self.check(round, &records, &received)?;
        }
        Ok(())
    }

    fn check(&mut self, round: u32, records: &[Record], ended: &[bool]) -> Result<(), Mismatch> {
        let named = || self.names.iter().map(String::as_str).zip(records);
        let sent: Vec<_> = named()
            .map(|(worker, record)| Sent { worker, values: &record.sent, exponents: &record.exponents })
            .collect();
        let received: Vec<_> = named()
            .zip(ended)
            .filter(|(_, ended)| **ended)
            .map(|((worker, record), _)| Received {
                worker,
                result: &record.result,
                exponents: &record.result_exponents,
            })
            .collect();
        self.sums_checked += (received.len() * self.chunks.len()) as u64;
        check_round(round, &sent, &received, &self.chunks)
    }
}

/// A worker's gradient of a round: numbers from -1 to 1, a pure function of the arguments. A share of all gradients
/// has one value that is far larger, which does not fit the exponent that the workers agree on.
pub(crate) fn gradient(seed: u64, job: usize, rank: usize, round: u32, spikes: Share, out: &mut [f32]) {
    let mut state = seed
        ^ (job as u64).wrapping_mul(0xa076_1d64_78bd_642f)
        ^ (rank as u64).wrapping_mul(0xe703_7ed1_a0b4_28db)
        ^ u64::from(round).wrapping_mul(0x8ebc_6af0_9c88_c6e3);
    for value in out.iter_mut() {
        *value = unit(&mut state) * 2.0 - 1.0;
    }
    if spikes.get() > 0.0 && f64::from(unit(&mut state)) < spikes.get() && !out.is_empty() {
        let index = (unit(&mut state) * out.len() as f32) as usize % out.len();
        out[index] *= 2f32.powi(4 + (unit(&mut state) * 24.0) as i32);
    }
}

/// A number from 0 to 1 (SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
fn unit(state: &mut u64) -> f32 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 40) as f32 / (1u64 << 24) as f32
}
