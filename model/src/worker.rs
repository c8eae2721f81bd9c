//! A worker: which chunks it sends, and what it makes of what it hears.

use crate::config::Config;
use crate::frame::{Contribution, Peer, Talk};
use crate::mutant::Mutant;
use crate::node::one;
use crate::run::{Life, Place, Run};
use crate::size::MAX_CHUNKS;
use crate::sum::{NEXT_TENSOR, SECOND_LIFE, SECOND_RUN};

/// What a worker has and knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Worker {
    /// Its rank.
    pub rank: u8,
    /// Its incarnation.
    pub life: Life,
    /// The run it takes part in, as far as it knows.
    pub run: Option<Run>,
    /// Whether the server says so.
    pub bound: bool,
    /// The chunks whose results it has: a bitmap.
    pub held: u8,
    /// What its values of each chunk are scaled by, in steps above the agreed exponent.
    pub used: [u8; MAX_CHUNKS as usize],
    /// What the result of chunk 0 agrees on for the chunk that continues it.
    pub agreed: u8,
    /// In which epoch it is.
    pub place: Place,
    /// Because of whom it aborted the job, if it did.
    pub failed: Option<Peer>,
}

impl Worker {
    /// A worker that has just started the round.
    pub fn new(config: &Config, rank: u8, life: Life) -> Self {
        let used = std::array::from_fn(|sequence| config.need(rank, sequence as u8));
        let known = !config.handshake();
        Self { rank, life, run: known.then_some(Run::First), bound: known, used, ..Self::default() }
    }

    /// Whether frames of that run are for it.
    fn hears(&self, run: Run) -> bool {
        self.run == Some(run) || run == Run::Moved && self.place.knows()
    }

    /// A result says in which epoch it goes on: a worker that is ready moves there.
    fn follow(&mut self, run: Run, other: bool) {
        if self.place == Place::Ready && (run == Run::Moved) != other {
            self.place = Place::After;
        }
    }

    /// Whether it has that chunk's result.
    pub fn holds(&self, sequence: u8) -> bool {
        self.held >> sequence & 1 == 1
    }

    /// Whether it has all results.
    pub fn is_done(&self, config: &Config) -> bool {
        self.held.count_ones() == u32::from(config.chunks)
    }

    /// Whether it may send that chunk: the one before it in its slot has ended, and it has the result of the
    /// one before that. It knows which chunks have `ended` at once: to hear of it later is to have the frame
    /// under way meanwhile. Windows span tensors. A chunk that continues another waits for the result that
    /// its exponent comes from.
    fn may_send(&self, config: &Config, mutant: Option<Mutant>, ended: u8, sequence: u8) -> bool {
        let window = match mutant {
            Some(Mutant::WindowTooLong) => config.window + 1,
            _ => config.window,
        };
        let has_ended = |before: u8| ended >> before & 1 == 1;
        let is_held = |before: u8| self.holds(before) || mutant == Some(Mutant::ResultsMissed);
        if config.continues(sequence).is_some_and(|before| !self.holds(before))
            && mutant != Some(Mutant::SendsUnagreed)
        {
            return false;
        }
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
        let may_begin = self.bound || self.run.is_some() && mutant == Some(Mutant::UnboundSends);
        let sent = sequence < config.chunks && self.may_send(config, mutant, ended, sequence);
        self.failed.is_none() && may_begin && sent && !self.holds(sequence)
    }

    /// The chunks that it sends, again and again, when those have `ended` in its run.
    pub fn outstanding(
        &self,
        config: &Config,
        mutant: Option<Mutant>,
        ended: u8,
    ) -> impl Iterator<Item = u8> {
        (0..config.chunks).filter(move |sequence| self.awaits(config, mutant, ended, *sequence))
    }

    /// The frame of an outstanding chunk, sent for the first time or again, with flag bypass if it is set for
    /// the chunk, or has to be.
    pub fn gradient(&self, config: &Config, sequence: u8, resend: bool, bypass: bool) -> Contribution {
        let exponent = self.used[usize::from(sequence)];
        let clipped = exponent != 0 && exponent == config.need(self.rank, sequence);
        let agreed = config.continues(sequence).map_or(0, |_| self.agreed);
        let (run, own) = (self.run.unwrap_or_default(), config.chunks_of(self.rank));
        let generation = match (run, self.life) {
            _ if sequence >= own => NEXT_TENSOR,
            (Run::Second, _) => SECOND_RUN,
            (_, Life::Second) => SECOND_LIFE,
            _ => exponent,
        };
        let run = self.place.of(run);
        let seat = config.seat_of(run, self.rank);
        Contribution {
            partial: false,
            run,
            sequence,
            worker: seat,
            contributors: one(seat),
            exponent,
            resend,
            bypass: bypass || exponent != agreed,
            // The tensor after it is longer than what of it is sent here.
            last: sequence + 1 == own,
            overflow: clipped,
            sum: config.term(generation, sequence, self.rank),
        }
    }

    /// A result comes in; whether it ends a chunk, and which.
    pub fn result(
        &mut self,
        config: &Config,
        mutant: Option<Mutant>,
        ended: u8,
        (run, other): (Run, bool),
        (sequence, exponent): (u8, u8),
    ) -> Option<u8> {
        if !self.hears(run) && mutant != Some(Mutant::AnyRunsResult) {
            return None;
        }
        self.follow(run, other);
        let chunk = match mutant {
            Some(Mutant::AnyResult) => self.outstanding(config, mutant, ended).next()?,
            _ => sequence,
        };
        let awaited = self.awaits(config, mutant, ended, chunk);
        if awaited {
            self.held |= 1 << chunk;
            let last = config.chunks - 1;
            if config.continues(last) == Some(chunk) {
                self.agreed = exponent;
                self.used[usize::from(last)] = exponent;
            }
        }
        awaited.then_some(chunk)
    }

    /// The server speaks to some life of this worker, in some run; whether it is to be listened to. A server
    /// of another run than is known was restarted.
    pub fn is_spoken_to(&mut self, mutant: Option<Mutant>, to: Talk) -> bool {
        if self.life != to.life && mutant != Some(Mutant::AnyHost) {
            return false;
        }
        if to.run == Run::Moved {
            return self.place.knows();
        }
        let run = *self.run.get_or_insert(to.run);
        if run != to.run && mutant != Some(Mutant::OtherServerUnnoticed) {
            self.failed = Some(Peer::Server);
        }
        run == to.run
    }

    /// The server wants a chunk by bypass, at that exponent; whether it will be sent.
    pub fn request(
        &mut self,
        config: &Config,
        mutant: Option<Mutant>,
        ended: u8,
        sequence: u8,
        exponent: u8,
    ) -> bool {
        let awaited = self.awaits(config, mutant, ended, sequence);
        let used = &mut self.used[usize::from(sequence)];
        if awaited && exponent > *used {
            *used = exponent.max(config.need(self.rank, sequence));
        }
        awaited
    }
}
