//! A worker: which chunks it sends, and what it makes of results.

use crate::config::{Config, MAX_CHUNKS};
use crate::frame::{Contribution, Peer, one};
use crate::mutant::Mutant;
use crate::sum::Sum;

/// What a worker has and knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Worker {
    /// The chunks whose results it has: a bitmap.
    pub held: u8,
    /// What its values of each chunk are scaled by, in steps above the agreed exponent.
    pub used: [u8; MAX_CHUNKS as usize],
    /// Because of whom it gave the job up, if it did.
    pub failed: Option<Peer>,
}

impl Worker {
    /// A worker that has just started the round.
    pub fn new(config: &Config, rank: u8) -> Self {
        let used = std::array::from_fn(|sequence| config.need(rank, sequence as u8));
        Self { used, ..Self::default() }
    }

    /// Whether it has that chunk's result.
    pub fn holds(&self, sequence: u8) -> bool {
        self.held >> sequence & 1 == 1
    }

    /// Whether it has all results.
    pub fn is_done(&self, config: &Config) -> bool {
        self.held.count_ones() == u32::from(config.chunks)
    }

    /// Whether it may send that chunk: the one before it in its slot has ended, and it has the result of the one before that. It
    /// knows which chunks have `ended` at once: to hear of it later is to have the frame under way meanwhile.
    fn may_send(&self, config: &Config, mutant: Option<Mutant>, ended: u8, sequence: u8) -> bool {
        let window = match mutant {
            Some(Mutant::WindowTooLong) => config.window + 1,
            _ => config.window,
        };
        let has_ended = |before: u8| ended >> before & 1 == 1;
        let is_held = |before: u8| self.holds(before) || mutant == Some(Mutant::ResultsMissed);
        match mutant {
            // One chunk that has ended, whichever, lets the window go on by one.
            Some(Mutant::WindowAdvancesEarly) => sequence < window + ended.count_ones() as u8,
            _ => {
                sequence.checked_sub(window).is_none_or(has_ended)
                    && sequence.checked_sub(2 * window).is_none_or(is_held)
            }
        }
    }

    /// Whether that chunk was sent and has no result yet.
    fn awaits(&self, config: &Config, mutant: Option<Mutant>, ended: u8, sequence: u8) -> bool {
        let sent = sequence < config.chunks && self.may_send(config, mutant, ended, sequence);
        self.failed.is_none() && sent && !self.holds(sequence)
    }

    /// The chunks that it sends, again and again.
    pub fn outstanding(
        &self,
        config: &Config,
        mutant: Option<Mutant>,
        ended: u8,
    ) -> impl Iterator<Item = u8> {
        (0..config.chunks).filter(move |sequence| self.awaits(config, mutant, ended, *sequence))
    }

    /// The frame of an outstanding chunk, sent for the first time or again, with flag bypass if it is set for the chunk, or has
    /// to be.
    pub fn gradient(
        &self,
        config: &Config,
        rank: u8,
        sequence: u8,
        resend: bool,
        bypass: bool,
    ) -> Contribution {
        let exponent = self.used[usize::from(sequence)];
        let clipped = exponent != 0 && exponent == config.need(rank, sequence);
        Contribution {
            partial: false,
            old_epoch: false,
            sequence,
            worker: rank,
            contributors: one(rank),
            exponent,
            resend,
            bypass: bypass || exponent != 0,
            overflow: clipped,
            sum: Sum::term(false, exponent, sequence, rank),
        }
    }

    /// A result comes in; whether it ends a chunk, and which.
    pub fn result(&mut self, config: &Config, mutant: Option<Mutant>, ended: u8, sequence: u8) -> Option<u8> {
        let chunk = match mutant {
            Some(Mutant::AnyResult) => self.outstanding(config, mutant, ended).next()?,
            _ => sequence,
        };
        let awaited = self.awaits(config, mutant, ended, chunk);
        if awaited {
            self.held |= 1 << chunk;
        }
        awaited.then_some(chunk)
    }

    /// The server wants a chunk by bypass, at that exponent; whether it will be sent.
    pub fn request(
        &mut self,
        config: &Config,
        mutant: Option<Mutant>,
        ended: u8,
        rank: u8,
        sequence: u8,
        exponent: u8,
    ) -> bool {
        let awaited = self.awaits(config, mutant, ended, sequence);
        let used = &mut self.used[usize::from(sequence)];
        if awaited && exponent > *used {
            *used = exponent.max(config.need(rank, sequence));
        }
        awaited
    }
}
