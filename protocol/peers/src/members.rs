//! Who takes part, and in which life: what comes from others is dropped before a sender or a receiver sees
//! it.

use inart_wire::{Epoch, Incarnation, JobId, Rank};

use crate::counters::Refused;
use crate::message::Envelope;

/// The members of a job as one of them knows them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Members {
    me: Rank,
    job: JobId,
    epoch: Epoch,
    /// By rank; unknown for who is not there.
    lives: Vec<Incarnation>,
    refused: Refused,
}

impl Members {
    /// A job of `lives.len()` peers. `lives`: each peer's incarnation, by rank, this peer's own with it;
    /// [`Incarnation::UNKNOWN`] for who is not there.
    pub fn new(me: Rank, job: JobId, epoch: Epoch, lives: Vec<Incarnation>) -> Self {
        Members { me, job, epoch, lives, refused: Refused::default() }
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
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// How many peers the job has.
    pub fn peers(&self) -> usize {
        self.lives.len()
    }

    /// A peer's life; unknown if it is not there.
    pub fn life(&self, rank: Rank) -> Incarnation {
        self.lives.get(rank.index()).copied().unwrap_or(Incarnation::UNKNOWN)
    }

    /// A peer takes part in another life, or with [`Incarnation::UNKNOWN`] no longer; whether that is new.
    pub fn set_life(&mut self, rank: Rank, life: Incarnation) -> bool {
        match self.lives.get_mut(rank.index()) {
            Some(known) if *known != life => {
                *known = life;
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
        Envelope { from: self.me, life: self.life(self.me), to, to_life: self.life(to) }
    }

    /// Counts something that is neither a chunk nor a message.
    pub(crate) fn refuse_malformed(&mut self) {
        self.refused.malformed += 1;
    }

    /// Counts what says that it is from another peer than it came from.
    pub(crate) fn refuse_stranger(&mut self) {
        self.refused.strangers += 1;
    }

    /// Counts what is for others.
    pub(crate) fn refuse_not_mine(&mut self) {
        self.refused.misdelivered += 1;
    }

    /// Whether that is this job, and steered by the plan in force; counted if not.
    pub(crate) fn admits_job(&mut self, job: JobId, epoch: Epoch) -> bool {
        if job != self.job {
            self.refused.other_job += 1;
        } else if epoch != self.epoch {
            self.refused.other_epoch += 1;
        }
        (job, epoch) == (self.job, self.epoch)
    }

    /// Whether that is another peer of the job, in the life that takes part; counted if not.
    pub(crate) fn admits(&mut self, from: Rank, life: Incarnation) -> bool {
        if from == self.me || from.index() >= self.lives.len() {
            self.refused.strangers += 1;
            return false;
        }
        let is_known = life != Incarnation::UNKNOWN && self.life(from) == life;
        self.refused.stale_incarnation += u64::from(!is_known);
        is_known
    }

    /// Whether a message is from such a peer and for this one in this life; counted if not.
    pub(crate) fn admits_message(&mut self, between: &Envelope) -> bool {
        if between.to != self.me {
            self.refused.misdelivered += 1;
            return false;
        }
        if between.to_life != self.life(self.me) {
            self.refused.stale_incarnation += 1;
            return false;
        }
        self.admits(between.from, between.life)
    }
}
