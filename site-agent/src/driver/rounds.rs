//! Rounds: from a gradient to its sum.

use inart_sites::{BeginError, ChunkNo};

use crate::gradient::ChunkSum;
use crate::message::{Body, PolicyWanted};

use super::{Driver, DriverError, Output, Peer, Phase, RoundStart};

impl Driver {
    /// Begins a round with this site's gradient, one value per parameter.
    ///
    /// # Errors
    /// A gradient of another length, or before the site is ready.
    pub fn all_reduce(&mut self, gradient: Vec<f32>, now: std::time::Duration) -> Result<(), DriverError> {
        let (given, expected) = (gradient.len(), self.setup.values());
        if given != expected {
            return Err(DriverError::Length { given, expected });
        }
        let Phase::Ready { round, join } = self.phase.clone() else { return Err(DriverError::NotReady) };
        match join {
            Some(policy) => {
                self.site.begin(round, policy)?;
                self.begun(now, &gradient);
                self.ask(0);
            }
            None => self.begin_next(gradient, now)?,
        }
        self.go_on(now);
        Ok(())
    }

    /// Begins the round by the policy that was agreed on; a site that has restarted may have to ask for it.
    pub(super) fn begin_next(
        &mut self,
        gradient: Vec<f32>,
        now: std::time::Duration,
    ) -> Result<(), DriverError> {
        match self.site.begin_next() {
            Ok(_) => {
                self.begun(now, &gradient);
                Ok(())
            }
            Err(BeginError::NotHeld { version, .. }) => {
                self.phase = Phase::Lacks { gradient };
                for peer in self.up.clone() {
                    self.send(peer, Body::PolicyWanted(PolicyWanted { version }), i32::MAX);
                }
                Ok(())
            }
            Err(other) => Err(other.into()),
        }
    }

    /// The first round has no values: in it, sites agree on the first plan.
    pub(super) fn begin_first(&mut self, now: std::time::Duration) {
        match self.site.begin(0, self.setup.first_policy.clone()) {
            Ok(()) => self.begun(now, &[]),
            Err(error) => self.give_up(error.into()),
        }
    }

    fn begun(&mut self, now: std::time::Duration, gradient: &[f32]) {
        let round = self.site.round().unwrap_or(0);
        let (policy, exponents) = (self.site.policy().clone(), self.exponents.clone());
        self.starts.push_back(RoundStart { round, policy, exponents });
        if self.starts.len() > 2 {
            self.starts.pop_front();
        }
        self.phase = Phase::Reducing;
        (self.heard_at, self.attempt, self.not_finite) = (now, 0, None);
        self.in_stream.clear();
        let mut rest = gradient;
        for (at, chunk) in (0..).map(ChunkNo).enumerate().take(self.setup.chunk_values.len()) {
            let sum = match round {
                0 => ChunkSum::empty(),
                _ => {
                    let (values, others) = rest.split_at(self.setup.chunk_values[at]);
                    rest = others;
                    ChunkSum::of(values, self.exponents[at], self.setup.sites.len(), self.setup.me)
                }
            };
            self.site.contribute(chunk, sum);
            // Early chunks are on their way while late ones are still being prepared.
            self.take_outputs();
        }
    }

    /// The sum of a chunk is there.
    pub(super) fn complete(&mut self, chunk: ChunkNo, data: ChunkSum) {
        if self.site.round() == Some(0) {
            return;
        }
        let at = chunk.0 as usize;
        let first: usize = self.setup.chunk_values[..at].iter().sum();
        data.write(&mut self.sum[first..first + self.setup.chunk_values[at]]);
        self.next_exponents[at] = data.next_exponent(self.exponents[at], self.setup.sites.len());
        self.not_finite = match (self.not_finite, data.not_finite) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    pub(super) fn end_round(&mut self) {
        let round = self.site.round().unwrap_or(0);
        self.report();
        if let Some(site) = self.not_finite {
            return self.give_up(DriverError::NotFinite { round, site });
        }
        self.phase = Phase::Ready { round: round.saturating_add(1), join: None };
        if round == 0 {
            return self.outputs.push_back(Output::Ready { round: 1, training: None });
        }
        self.exponents.clone_from(&self.next_exponents);
        let sum = std::mem::replace(&mut self.sum, vec![0.0; self.setup.values()]);
        self.outputs.push_back(Output::Reduced { round, sum });
    }

    pub(super) fn give_up(&mut self, error: DriverError) {
        self.phase = Phase::Over;
        self.outputs.push_back(Output::Failed(error));
    }

    /// Whether the scheduler's first offer has come, or will not.
    pub(super) fn may_begin_first(&self, waited: std::time::Duration) -> bool {
        self.has_offer
            || waited >= self.setup.offer_wait && !self.up.contains(&Peer::Scheduler)
            || waited >= 2 * self.setup.offer_wait
    }
}
