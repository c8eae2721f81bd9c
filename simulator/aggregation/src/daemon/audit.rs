//! Tensors of an elastic job's view: contributions of each worker, and whether every sum is right.

use std::collections::BTreeMap;

use inart_protocol_aggregation::audit::{Received, Sent, check_round};
use inart_protocol_aggregation::completion_rule::Lockstep;
use inart_protocol_aggregation::scale::BLOCK_VALUES;
use inart_protocol_aggregation::{Assignment, RoundRecord};
use inart_terms::fingerprint;

/// Purpose of a tensor, equal at all workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A gradient: the rounds of the state that it is computed from, and a digest of that state.
    Gradient { rounds: u64, state: u64 },
    /// Broadcast of the newest state: source rank and number of rounds.
    Load { newest: usize, rounds: u64 },
}

/// A worker's part in a tensor.
#[derive(Clone, Debug)]
struct Part {
    what: What,
    /// Digest of what its program passed in.
    passed_in: u64,
    record: RoundRecord,
    has_ended: bool,
}

/// A view's tensors.
#[derive(Clone, Debug)]
pub(crate) struct ViewAudit {
    pub view: u16,
    names: Vec<String>,
    assignment: Assignment,
    /// Contributions, by tensor number and rank.
    open: BTreeMap<u32, Vec<Option<Part>>>,
    /// A digest of the newest worker's state when it broadcast it last.
    pub newest_state: Option<u64>,
    /// Gradients that all workers have summed.
    pub audited: u32,
    /// Number of sums compared.
    pub sums_checked: u64,
}

impl ViewAudit {
    pub fn new(assignment: &Assignment) -> Self {
        Self {
            view: assignment.plan_version.get(),
            names: assignment.workers.iter().map(|worker| worker.name.clone()).collect(),
            assignment: assignment.clone(),
            open: BTreeMap::new(),
            newest_state: None,
            audited: 0,
            sums_checked: 0,
        }
    }

    /// Records a worker's contribution to a tensor, and its result if the tensor `has_ended` there. Its
    /// program passed in values with the [digest] `passed_in`.
    ///
    /// # Errors
    ///
    /// Describes the wrong sum, in one line.
    pub fn add(
        &mut self,
        tensor: u32,
        rank: usize,
        (what, passed_in): (What, u64),
        record: RoundRecord,
        has_ended: bool,
    ) -> Result<(), String> {
        let parts = self.open.entry(tensor).or_insert_with(|| vec![None; self.names.len()]);
        parts[rank] = Some(Part { what, passed_in, record, has_ended });
        if parts.iter().any(Option::is_none) {
            return Ok(());
        }
        let parts: Vec<Part> = self.open.remove(&tensor).into_iter().flatten().flatten().collect();
        self.check(tensor, &parts)
    }

    /// Closes the view: no worker may have the sum of a tensor that another worker never started.
    ///
    /// # Errors
    ///
    /// Describes the wrong sum, in one line.
    pub fn close(&mut self) -> Result<(), String> {
        for (tensor, parts) in std::mem::take(&mut self.open) {
            let ended = parts.iter().position(|part| part.as_ref().is_some_and(|part| part.has_ended));
            if let Some((ended, missing)) = ended.zip(parts.iter().position(Option::is_none)) {
                let (view, ended, missing) = (self.view, &self.names[ended], &self.names[missing]);
                return Err(format!(
                    "view {view}, tensor {tensor}: {ended} has its sum, but {missing} never started it"
                ));
            }
        }
        Ok(())
    }

    fn check(&mut self, tensor: u32, parts: &[Part]) -> Result<(), String> {
        let view = self.view;
        if !parts.iter().any(|part| part.has_ended) {
            return Ok(());
        }
        if let Some(other) = parts.iter().position(|part| part.what != parts[0].what) {
            return Err(format!(
                "view {view}, tensor {tensor}: {} sums {:?}, and {} {:?}",
                self.names[0], parts[0].what, self.names[other], parts[other].what
            ));
        }
        let named = || self.names.iter().map(String::as_str).zip(parts);
        if let Some((worker, _)) = named().find(|(_, part)| digest(&part.record.sent) != part.passed_in) {
            return Err(format!(
                "view {view}, tensor {tensor}, worker {worker}: it summed other values than its program passed in"
            ));
        }
        let sent: Vec<_> = named().map(|(worker, part)| Sent { worker, values: &part.record.sent }).collect();
        let received: Vec<_> = named()
            .enumerate()
            .filter(|(_, (_, part))| part.has_ended)
            .map(|(rank, (worker, part))| Received { rank, worker, result: &part.record.result })
            .collect();
        self.sums_checked += (received.len() * parts[0].record.sent.len().div_ceil(BLOCK_VALUES)) as u64;
        let all = received.len() == parts.len();
        self.audited += u32::from(all && matches!(parts[0].what, What::Gradient { .. }));
        check_round(&Lockstep, tensor, &sent, &received, self.assignment.exact_sums)
            .map_err(|mismatch| format!("view {view}, {mismatch}"))
    }
}

/// A digest of values: equal if they are equal bit for bit.
pub(crate) fn digest(values: &[f32]) -> u64 {
    fingerprint(values.iter().map(|value| u64::from(value.to_bits())))
}
