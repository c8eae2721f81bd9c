//! The tensors of an elastic job's view: who put what into each, and whether every sum is right.

use std::collections::BTreeMap;

use inart_protocol_aggregation::audit::{Received, Sent, check_round};
use inart_protocol_aggregation::completion_rule::Lockstep;
use inart_protocol_aggregation::scale::BLOCK_VALUES;
use inart_protocol_aggregation::{Assignment, RoundRecord};
use inart_terms::fingerprint;

/// What a tensor is, as a worker sees it that starts it: the same at all workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A gradient: the rounds of the state that it is computed from, and a digest of that state.
    Gradient { rounds: u64, state: u64 },
    /// The newest state is broadcast: from that rank, with so many rounds.
    Load { newest: usize, rounds: u64 },
}

/// A worker's part in a tensor.
#[derive(Clone, Debug)]
struct Part {
    what: What,
    /// A digest of what its program passed in.
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
    /// By number of the tensor, then by rank.
    open: BTreeMap<u32, Vec<Option<Part>>>,
    /// A digest of the newest worker's state when it broadcast it last.
    pub newest_state: Option<u64>,
    /// Gradients that all workers have summed.
    pub audited: u32,
    /// Sums compared.
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

    /// Takes in what a worker has put into a tensor, and what it got if the tensor `has_ended` there; its
    /// program passed in values of the [digest] `passed_in`.
    ///
    /// # Errors
    /// What is wrong with the sums, in one line.
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

    /// The run is over: nobody may have the sum of a tensor that somebody never began.
    ///
    /// # Errors
    /// What is wrong with the sums, in one line.
    pub fn close(&mut self) -> Result<(), String> {
        for (tensor, parts) in std::mem::take(&mut self.open) {
            let ended = parts.iter().position(|part| part.as_ref().is_some_and(|part| part.has_ended));
            if let Some((ended, missing)) = ended.zip(parts.iter().position(Option::is_none)) {
                let (view, ended, missing) = (self.view, &self.names[ended], &self.names[missing]);
                return Err(format!(
                    "view {view}, tensor {tensor}: {ended} has its sum, and {missing} never began it"
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
                "view {view}, tensor {tensor}, worker {worker}: it summed something else than was passed in"
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
