//! Who takes part, and in which life: what comes from others is dropped before a sender or a receiver sees
//! it.

use inart_wire::{Incarnation, JobId, PlanVersion, Rank};

use crate::counters::Refused;
use crate::message::Envelope;

/// The members of a job as one of them knows them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Members {
    me: Rank,
    job: JobId,
    plan_version: PlanVersion,
    /// By rank; unknown for who is not there.
    incarnations: Vec<Incarnation>,
    refused: Refused,
}

impl Members {
    /// A job of `incarnations.len()` peers. `incarnations`: each peer's incarnation, by rank, this peer's own
    /// with it; [`Incarnation::UNKNOWN`] for who is not there.
    pub fn new(me: Rank, job: JobId, plan_version: PlanVersion, incarnations: Vec<Incarnation>) -> Self {
        Members { me, job, plan_version, incarnations, refused: Refused::default() }
    }

    /// This peer.
    pub fn me(&self) -> Rank {
        self.me
    }

    /// The job.
    pub fn job(&self) -> JobId {
        self.job
    }

    /// The installed plan that frames are steered by.
    pub fn plan_version(&self) -> PlanVersion {
        self.plan_version
    }

    /// How many peers the job has.
    pub fn peers(&self) -> usize {
        self.incarnations.len()
    }

    /// A peer's incarnation; unknown if it is not there.
    pub fn incarnation(&self, rank: Rank) -> Incarnation {
        self.incarnations.get(rank.index()).copied().unwrap_or(Incarnation::UNKNOWN)
    }

    /// A peer takes part in another incarnation, or with [`Incarnation::UNKNOWN`] no longer; whether that is
    /// new.
    pub fn set_incarnation(&mut self, rank: Rank, incarnation: Incarnation) -> bool {
        match self.incarnations.get_mut(rank.index()) {
            Some(known) if *known != incarnation => {
                *known = incarnation;
                true
            }
            _ => false,
        }
    }

    /// What was dropped so far.
    pub fn refused(&self) -> Refused {
        self.refused
    }

    /// The envelope of a message from this peer.
    pub fn envelope(&self, to: Rank) -> Envelope {
        Envelope {
            from: self.me,
            incarnation: self.incarnation(self.me),
            to,
            to_incarnation: self.incarnation(to),
        }
    }

    /// Counts something that is neither a chunk nor a message.
    pub(crate) fn refuse_malformed(&mut self) {
        self.refused.malformed += 1;
    }

    /// Counts what says that it is from another peer than it came from.
    pub(crate) fn refuse_stranger(&mut self) {
        self.refused.unknown_senders += 1;
    }

    /// Counts what is for others.
    pub(crate) fn refuse_not_mine(&mut self) {
        self.refused.misdelivered += 1;
    }

    /// Whether that is this job, and steered by the plan in force; counted if not.
    pub(crate) fn admits_job(&mut self, job: JobId, plan_version: PlanVersion) -> bool {
        if job != self.job {
            self.refused.other_job += 1;
        } else if plan_version != self.plan_version {
            self.refused.other_plan_version += 1;
        }
        (job, plan_version) == (self.job, self.plan_version)
    }

    /// Whether that is another peer of the job, in the incarnation that takes part; counted if not.
    pub(crate) fn admits(&mut self, from: Rank, incarnation: Incarnation) -> bool {
        if from == self.me || from.index() >= self.incarnations.len() {
            self.refused.unknown_senders += 1;
            return false;
        }
        let is_known = incarnation != Incarnation::UNKNOWN && self.incarnation(from) == incarnation;
        self.refused.stale_incarnation += u64::from(!is_known);
        is_known
    }

    /// Whether a message is from such a peer and for this one in this incarnation; counted if not.
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
