//! Rounds: from a gradient to its sum.

use inart_protocol_sites::{BeginError, ChunkNo, SiteNo};

use crate::gradient::{self, ChunkSum};
use crate::message::{Body, PolicyWanted};

use super::joining::VAIN;
use super::phase::SchedulerTerms;
use super::{Driver, DriverError, Output, Peer, Phase, RoundStart};

impl Driver {
    /// Starts a round with this site's gradient, one value per parameter.
    ///
    /// # Errors
    /// A gradient of the wrong length, or before the site is ready.
    pub fn all_reduce(
        &mut self,
        mut gradient: Vec<f32>,
        now: std::time::Duration,
    ) -> Result<(), DriverError> {
        let (given, expected) = (gradient.len(), self.setup.values());
        if given != expected {
            return Err(DriverError::Length { given, expected });
        }
        let Phase::Ready { round, join } = self.phase.clone() else { return Err(DriverError::NotReady) };
        let mut rest = &mut gradient[..];
        for &tensor in &self.setup.tensors {
            gradient::round(rest.split_off_mut(..tensor).unwrap_or_default(), tensor);
        }
        match join {
            Some(policy) => {
                self.site.begin(round, policy)?;
                self.begun(now, Some(&gradient));
                // A neighbor that restarted with this site may not have found another site that knows the
                // round.
                self.say_hello_to_all();
                self.ask(0);
            }
            None => self.begin_next(Some(gradient), now)?,
        }
        self.go_on(now);
        Ok(())
    }

    /// Starts a round whose chunks this site [passes](Self::contribute) one by one, and whose sums are
    /// returned one by one.
    ///
    /// # Errors
    /// A site that is not ready, or that has restarted.
    pub fn begin(&mut self, now: std::time::Duration) -> Result<(), DriverError> {
        let Phase::Ready { join: None, .. } = self.phase else { return Err(DriverError::NotReady) };
        self.begin_next(None, now)?;
        self.go_on(now);
        Ok(())
    }

    /// Passes this site's values of a chunk of a round that was [started](Self::begin) without a gradient.
    ///
    /// # Errors
    /// A wrong number of values; a chunk that is not whole blocks of its tensor; no such round.
    pub fn contribute(
        &mut self,
        chunk: usize,
        mut values: Vec<f32>,
        now: std::time::Duration,
    ) -> Result<(), DriverError> {
        let expected = self.setup.chunk_values.get(chunk).copied().unwrap_or(0);
        if values.len() != expected {
            return Err(DriverError::Length { given: values.len(), expected });
        }
        if self.phase != Phase::Reducing || !self.is_by_chunk {
            return Err(DriverError::NotReady);
        }
        let Some(tensor) = self.setup.tensor_of_whole(chunk) else {
            return Err(DriverError::Blocks { chunk, values: expected });
        };
        gradient::round(&mut values, tensor);
        self.give_chunk(chunk, &values);
        self.go_on(now);
        Ok(())
    }

    fn give_chunk(&mut self, chunk: usize, rounded: &[f32]) {
        let sum = ChunkSum::of(rounded, self.setup.me);
        self.site.contribute(ChunkNo(chunk as u32), sum);
        // Early chunks are sent while late ones are still being prepared.
        self.take_outputs();
    }

    /// Starts the round by the agreed policy; a restarted site may have to request the policy.
    pub(super) fn begin_next(
        &mut self,
        gradient: Option<Vec<f32>>,
        now: std::time::Duration,
    ) -> Result<(), DriverError> {
        match (self.site.begin_next(), gradient) {
            (Ok(_), gradient) => {
                self.begun(now, gradient.as_deref());
                Ok(())
            }
            (Err(BeginError::NotHeld { version, .. }), Some(gradient)) => {
                self.phase = Phase::Lacks { version, gradient };
                (self.heard_at, self.attempt) = (now, 0);
                self.want_policy();
                Ok(())
            }
            (Err(other), _) => Err(other.into()),
        }
    }

    /// Requests the agreed policy from all connected neighbors. Neighbors may have restarted and lack the
    /// policy, too: those that learn it later are asked again.
    pub(super) fn want_policy(&mut self) {
        let Phase::Lacks { version, .. } = self.phase else { return };
        for peer in self.up.clone() {
            self.send(peer, Body::PolicyWanted(PolicyWanted { version }), i32::MAX);
        }
    }

    /// Starts the next round by the policy of the last one, if no neighbor holds the agreed policy and no
    /// neighbor is in the next round. Sites that hold the agreed policy make the others join them.
    pub(super) fn go_on_without(&mut self, now: std::time::Duration) {
        self.follow(now);
        let Phase::Lacks { gradient, .. } = &mut self.phase else { return };
        if self.attempt < VAIN {
            return;
        }
        let gradient = std::mem::take(gradient);
        let next = self.site.round().unwrap_or(0).saturating_add(1);
        match self.site.begin(next, self.site.policy().clone()) {
            Ok(()) => self.begun(now, Some(&gradient)),
            Err(error) => self.give_up(error.into()),
        }
    }

    /// Starts the first round, which has no values: in it, sites agree on the first plan.
    pub(super) fn begin_first(&mut self, now: std::time::Duration) {
        match self.site.begin(0, self.setup.first_policy.clone()) {
            Ok(()) => self.begun(now, Some(&[])),
            Err(error) => self.give_up(error.into()),
        }
    }

    /// Handles the start of a round; `gradient` is rounded, or `None` if it is passed chunk by chunk.
    fn begun(&mut self, now: std::time::Duration, gradient: Option<&[f32]>) {
        let round = self.site.round().unwrap_or(0);
        self.starts.push_back(RoundStart { round, policy: self.site.policy().clone() });
        if self.starts.len() > 2 {
            self.starts.pop_front();
        }
        self.phase = Phase::Reducing;
        (self.heard_at, self.attempt, self.not_finite) = (now, 0, None);
        self.progress(now);
        self.forget_states();
        self.asked.clear();
        self.is_by_chunk = gradient.is_none();
        let Some(mut rest) = gradient else { return };
        for chunk in 0..self.setup.chunk_values.len() {
            if round == 0 {
                self.site.contribute(ChunkNo(chunk as u32), ChunkSum::empty());
                self.take_outputs();
                continue;
            }
            let (values, others) = rest.split_at(self.setup.chunk_values[chunk]);
            rest = others;
            self.give_chunk(chunk, values);
        }
    }

    /// Handles the sum of a chunk.
    pub(super) fn complete(&mut self, chunk: ChunkNo, data: ChunkSum) {
        if self.site.round() == Some(0) {
            return;
        }
        let at = chunk.0 as usize;
        let first: usize = self.setup.chunk_values[..at].iter().sum();
        let sum = &mut self.sum[first..first + self.setup.chunk_values[at]];
        data.write(sum);
        self.not_finite = match (self.not_finite, data.not_finite) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let round = self.site.round().unwrap_or(0);
        if !self.is_by_chunk || self.phase == Phase::Over {
            return;
        }
        let values = self.sum[first..first + self.setup.chunk_values[at]].to_vec();
        match data.not_finite.and(self.not_finite) {
            None => self.outputs.push_back(Output::Summed { round, chunk: at, values }),
            // Workers without a sum send no more frames: the rest of the round does not arrive.
            Some(site) => self.not_finite(round, site),
        }
    }

    pub(super) fn end_round(&mut self) {
        let round = self.site.round().unwrap_or(0);
        self.report();
        if let Some(site) = self.not_finite {
            return self.not_finite(round, site);
        }
        self.phase = Phase::Ready { round: round.saturating_add(1), join: None };
        if round == 0 {
            return self.outputs.push_back(Output::Ready { round: 1, training: None });
        }
        let sum = std::mem::replace(&mut self.sum, vec![0.0; self.setup.values()]);
        self.outputs.push_back(Output::Reduced { round, sum });
    }

    /// Handles a NaN or an infinity of a site. All sites learn of it with the sums; sites that wait for
    /// something else are notified.
    fn not_finite(&mut self, round: u32, site: SiteNo) {
        self.end_for(DriverError::NotFinite { round, site: self.setup.name(site) });
    }

    pub(super) fn give_up(&mut self, error: DriverError) {
        self.phase = Phase::Over;
        self.begin_final_report(&error);
        self.outputs.push_back(Output::Failed(error));
    }

    /// Whether the scheduler's first offer has arrived, or its wait has ended.
    pub(super) fn may_begin_first(&self, waited: std::time::Duration) -> bool {
        self.has_offer
            || self.scheduler_terms == SchedulerTerms::Different
            || waited >= self.setup.offer_wait && !self.up.contains(&Peer::Scheduler)
            || waited >= 2 * self.setup.offer_wait
    }
}
