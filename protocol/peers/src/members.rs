//! Members and their incarnations: arrivals from others are dropped before a sender or a receiver sees them.

use inart_wire::{Incarnation, JobId, PlanVersion, Rank};

use crate::counters::Refused;
use crate::message::Envelope;

/// The members of a job, as one of them knows them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Members {
    me: Rank,
    job: JobId,
    plan_version: PlanVersion,
    /// By rank; unknown for absent peers.
    incarnations: Vec<Incarnation>,
    refused: Refused,
}

impl Members {
    /// Creates a job of `incarnations.len()` peers. `incarnations`: each peer's incarnation, by rank,
    /// including this peer's own; [`Incarnation::UNKNOWN`] for absent peers.
    pub fn new(me: Rank, job: JobId, plan_version: PlanVersion, incarnations: Vec<Incarnation>) -> Self {
        Members { me, job, plan_version, incarnations, refused: Refused::default() }
    }

    /// Returns this peer's rank.
    pub fn me(&self) -> Rank {
        self.me
    }

    /// Returns the job.
    pub fn job(&self) -> JobId {
        self.job
    }

    /// Returns the plan version that steers frames.
    pub fn plan_version(&self) -> PlanVersion {
        self.plan_version
    }

    /// Returns the number of peers of the job.
    pub fn peers(&self) -> usize {
        self.incarnations.len()
    }

    /// Returns a peer's incarnation; unknown if the peer is absent.
    pub fn incarnation(&self, rank: Rank) -> Incarnation {
        self.incarnations.get(rank.index()).copied().unwrap_or(Incarnation::UNKNOWN)
    }

    /// Sets a peer's incarnation; [`Incarnation::UNKNOWN`] removes the peer. Returns whether this is a
    /// change.
    pub fn set_incarnation(&mut self, rank: Rank, incarnation: Incarnation) -> bool {
        match self.incarnations.get_mut(rank.index()) {
            Some(known) if *known != incarnation => {
                *known = incarnation;
                true
            }
            _ => false,
        }
    }

    /// Returns the drop counters.
    pub fn refused(&self) -> Refused {
        self.refused
    }

    /// Returns the envelope of a message from this peer.
    pub fn envelope(&self, to: Rank) -> Envelope {
        Envelope {
            from: self.me,
            incarnation: self.incarnation(self.me),
            to,
            to_incarnation: self.incarnation(to),
        }
    }

    /// Counts an arrival that is neither a chunk nor a message.
    pub(crate) fn refuse_malformed(&mut self) {
        self.refused.malformed += 1;
    }

    /// Counts an arrival with a wrong sender.
    pub(crate) fn refuse_unknown_sender(&mut self) {
        self.refused.unknown_senders += 1;
    }

    /// Counts an arrival for other peers.
    pub(crate) fn refuse_not_mine(&mut self) {
        self.refused.misdelivered += 1;
    }

    /// Returns whether a frame is of this job and the active plan version; counts it if not.
    pub(crate) fn admits_job(&mut self, job: JobId, plan_version: PlanVersion) -> bool {
        if job != self.job {
            self.refused.other_job += 1;
        } else if plan_version != self.plan_version {
            self.refused.other_plan_version += 1;
        }
        (job, plan_version) == (self.job, self.plan_version)
    }

    /// Returns whether a sender is another member, in its incarnation; counts the arrival if not.
    pub(crate) fn admits(&mut self, from: Rank, incarnation: Incarnation) -> bool {
        if from == self.me || from.index() >= self.incarnations.len() {
            self.refused.unknown_senders += 1;
            return false;
        }
        let is_known = incarnation != Incarnation::UNKNOWN && self.incarnation(from) == incarnation;
        self.refused.stale_incarnation += u64::from(!is_known);
        is_known
    }

    /// Returns whether a message is from a member and for this peer's incarnation; counts it if not.
    pub(crate) fn admits_message(&mut self, between: &Envelope) -> bool {
        if between.to != self.me {
            self.refused.misdelivered += 1;
            return false;
        }
        if between.to_incarnation != self.incarnation(self.me) {
            self.refused.stale_incarnation += 1;
            return false;
        }
        self.admits(between.from, between.incarnation)
    }
}
