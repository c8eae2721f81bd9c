//! A worker: the chunks it sends, and its reaction to received frames.

use crate::config::Config;
use crate::frame::{Contribution, Peer, Talk};
use crate::mutant::Mutant;
use crate::node::one;
use crate::run::{Generation, MigrationPhase, Run};
use crate::scale::{Exponent, NOT_FINITE};
use crate::size::MAX_TENSORS;
use crate::sum::{NEXT_TENSOR, SECOND_GENERATION, SECOND_RUN, Sum};

/// State of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Worker {
    /// Rank.
    pub rank: u8,
    /// Incarnation.
    pub generation: Generation,
    /// The run it takes part in, as far as it knows.
    pub run: Option<Run>,
    /// Whether the server has admitted this worker.
    pub bound: bool,
    /// Bitmap of the chunks with a received result.
    pub held: u8,
    /// Maximum by tensor, once the result that shows it is held.
    pub maxima: [u8; MAX_TENSORS as usize],
    /// In which plan version it is.
    pub place: MigrationPhase,
    /// Host because of which the worker aborted the job, if it did.
    pub failed: Option<Peer>,
}

impl Worker {
    /// Creates a worker that has just started the round.
    pub fn new(config: &Config, rank: u8, generation: Generation) -> Self {
        let known = !config.handshake();
        Self { rank, generation, run: known.then_some(Run::First), bound: known, ..Self::default() }
    }

    /// Returns whether frames of that run are for it.
    fn hears(&self, run: Run) -> bool {
        self.run == Some(run) || run == Run::Moved && self.place.knows()
    }

    /// Migrates if a result names the other plan version and the worker is ready.
    fn follow(&mut self, run: Run, other: bool) {
        if self.place == MigrationPhase::Ready && (run == Run::Moved) != other {
            self.place = MigrationPhase::After;
        }
    }

    /// Returns whether it has that chunk's result.
    pub fn holds(&self, sequence: u8) -> bool {
        self.held >> sequence & 1 == 1
    }

    /// Returns whether it has all results.
    pub fn is_done(&self, config: &Config) -> bool {
        self.held.count_ones() == u32::from(config.chunks)
    }

    /// Returns whether the worker may send that chunk: the one before it in its slot has ended, and the
    /// worker has the result of the one before that. It knows immediately which chunks have `ended`: a later
    /// notice is the same as a frame in flight meanwhile. Windows span tensors. Values wait for their scale,
    /// the maximum.
    fn may_send(&self, config: &Config, mutant: Option<Mutant>, ended: u8, sequence: u8) -> bool {
        let window = match mutant {
            Some(Mutant::WindowTooLong) => config.window + 1,
            _ => config.window,
        };
        let has_ended = |before: u8| ended >> before & 1 == 1;
        let is_held = |before: u8| self.holds(before) || mutant == Some(Mutant::ResultsMissed);
        let waits_for = config.maxima(sequence).filter(|maxima| *maxima < sequence);
        if waits_for.is_some_and(|maxima| !self.holds(maxima)) && mutant != Some(Mutant::ScaledBeforeMaximum)
        {
            return false;
        }
        match mutant {
            // Any single chunk that has ended advances the window by one.
            Some(Mutant::WindowAdvancesEarly) => sequence < window + ended.count_ones() as u8,
            _ => {
                sequence.checked_sub(window).is_none_or(has_ended)
                    && sequence.checked_sub(2 * window).is_none_or(is_held)
            }
        }
    }

    /// Returns whether that chunk was sent and has no result yet.
    pub(crate) fn awaits(&self, config: &Config, mutant: Option<Mutant>, ended: u8, sequence: u8) -> bool {
        let may_begin = self.bound || self.run.is_some() && mutant == Some(Mutant::UnboundSends);
        let sent = sequence < config.chunks && self.may_send(config, mutant, ended, sequence);
        self.failed.is_none() && may_begin && sent && !self.holds(sequence)
    }

    /// Returns the chunks that it sends, again and again, when those have `ended` in its run.
    pub fn outstanding(
        &self,
        config: &Config,
        mutant: Option<Mutant>,
        ended: u8,
    ) -> impl Iterator<Item = u8> {
        (0..config.chunks).filter(move |sequence| self.awaits(config, mutant, ended, *sequence))
    }

    /// Returns the own size of the tensor that a chunk is of.
    fn size(&self, config: &Config, sequence: u8) -> u8 {
        config.size(self.run.unwrap_or_default(), sequence, self.rank)
    }

    /// Returns the maximum that it scales a chunk of values by.
    fn scale(&self, config: &Config, mutant: Option<Mutant>, sequence: u8) -> u8 {
        let tensor = config.tensor(sequence);
        let maximum = |tensor: u8| self.maxima[usize::from(tensor)];
        let knows = config.maxima(sequence).is_some_and(|maxima| self.holds(maxima));
        match mutant {
            Some(Mutant::ScaledBeforeMaximum) if !knows => self.size(config, sequence),
            Some(Mutant::ScaledByTensorBefore) => maximum(tensor.saturating_sub(1)),
            _ => maximum(tensor),
        }
    }

    /// Returns the maximum by which it reads a chunk's sums.
    pub(crate) fn reads_by(&self, config: &Config, mutant: Option<Mutant>, sequence: u8) -> u8 {
        let (scale, own) = (self.scale(config, mutant, sequence), self.size(config, sequence));
        let reads_own = mutant == Some(Mutant::OthersNotFinite) && scale == NOT_FINITE && own != NOT_FINITE;
        if reads_own { own } else { scale }
    }

    /// Returns the numbers that the worker sends for a chunk.
    fn numbers(&self, config: &Config, mutant: Option<Mutant>, sequence: u8) -> (Exponent, Sum) {
        let scale = self.scale(config, mutant, sequence);
        let generation = match (self.run.unwrap_or_default(), self.generation) {
            _ if sequence >= config.chunks_of(self.rank) => NEXT_TENSOR,
            (Run::Second, _) => SECOND_RUN,
            (_, Generation::Second) => SECOND_GENERATION,
            _ => scale,
        };
        match config.exponent(sequence) {
            Exponent::Maxima => (Exponent::Maxima, Sum::of_size(sequence, self.size(config, sequence))),
            Exponent::Scaled(_) => (Exponent::Scaled(scale), config.term(generation, sequence, self.rank)),
            exact => (exact, config.term(generation, sequence, self.rank)),
        }
    }

    /// Returns the frame of an outstanding chunk, sent for the first time or again, with flag bypass if it is
    /// set for the chunk, or if it holds floats.
    pub fn gradient(
        &self,
        config: &Config,
        mutant: Option<Mutant>,
        sequence: u8,
        resend: bool,
        bypass: bool,
    ) -> Contribution {
        let (exponent, sum) = self.numbers(config, mutant, sequence);
        let run = self.run.unwrap_or_default();
        let run = self.place.of(run);
        let bitmap_index = config.bitmap_index_of(run, self.rank);
        Contribution {
            partial: false,
            run,
            sequence,
            worker: bitmap_index,
            contributors: one(bitmap_index),
            exponent,
            resend,
            bypass: bypass || exponent == Exponent::Floats && mutant != Some(Mutant::FloatsInSlots),
            // The tensor after a shorter one is longer than the part of it that is sent here.
            last: config.is_last(self.rank, sequence),
            overflow: false,
            sum,
        }
    }

    /// Handles a result. Returns the chunk that it ends, if any.
    pub fn result(
        &mut self,
        config: &Config,
        mutant: Option<Mutant>,
        ended: u8,
        (run, other): (Run, bool),
        (sequence, sum): (u8, Sum),
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
        self.held |= u8::from(awaited) << chunk;
        if config.is_of_maxima(chunk) {
            let maximum = sum.size(sequence);
            match mutant {
                Some(Mutant::LateMaximum) => self.maxima.fill(maximum),
                _ if awaited => self.maxima[usize::from(config.tensor(chunk))] = maximum,
                _ => {}
            }
        }
        awaited.then_some(chunk)
    }

    /// Returns whether the worker accepts a message of the server to some generation, in some run. A server
    /// of another run than the known one was restarted.
    pub fn accepts(&mut self, mutant: Option<Mutant>, to: Talk) -> bool {
        if self.generation != to.generation && mutant != Some(Mutant::AnyHost) {
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
}
