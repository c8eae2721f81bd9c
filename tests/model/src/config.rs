//! Configuration of an exploration.

use anyhow::{Result, ensure};

use inart_protocol_aggregation::completion_rule::{
    CompletionRule, ContributionRule, Lockstep, Onward, Progress,
};
use inart_wire::Exponent as WireExponent;

use crate::marks::Marks;
use crate::node::{Node, Ranks, one, ranks};
use crate::run::Run;
use crate::scale::{Exponent, NOT_FINITE, SIZES};
use crate::size::{MAX_CHUNKS, MAX_SWITCHES, MAX_TENSORS, MAX_WINDOW, MAX_WORKERS};
use crate::sum::{BEFORE, Sum};

/// Completion rule and contributors of a chunk, unless sums are sent to a larger job.
const COMPLETION_RULE: Lockstep = Lockstep;

/// Values of the workers, each larger than a worker's may be. The first two are more than
/// [`crate::sum::LIMITS`] hold, and all are not.
const SATURATING: [i8; MAX_WORKERS as usize] = [2, 2, -3];

/// Participants, and faults in addition to loss, duplication, reordering and delay, which are always
/// possible. With one switch, all workers are attached to it. With two, the last worker is attached to the
/// second, through which the first reaches the server:
///
/// ```text
///  workers 0.. ── switch 0 ── switch 1 ── server
///           last worker ─────────┘
/// ```
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Config {
    /// Workers: 2 or 3.
    #[arg(long, default_value_t = 2)]
    pub workers: u8,
    /// Switches: 1 or 2.
    #[arg(long, default_value_t = 1)]
    pub switches: u8,
    /// Slots of a range, and chunks in flight: 1, 2 or 4.
    #[arg(long, default_value_t = 1)]
    pub window: u8,
    /// Chunks: up to 5.
    #[arg(long, default_value_t = 3)]
    pub chunks: u8,
    /// The last worker's gradients go to the server unsummed, and the second switch only forwards, as in a
    /// plan that sums every gradient at most once. Otherwise each switch sums all gradients and partials that
    /// arrive.
    #[arg(long)]
    pub alone: bool,
    /// Switches restart, at any moment, any number of times, and lose their registers.
    #[arg(long)]
    pub restart: bool,
    /// Gradients of a previous plan version are still in flight, and the tables of both plan versions map to
    /// the same slots.
    #[arg(long)]
    pub old_plan_version: bool,
    /// Frames of an earlier run under the same plan version are still in flight: the hosts of that run have
    /// exited, and the switches are the same.
    #[arg(long)]
    pub rerun: bool,
    /// One host, at any moment, is restarted, and knows nothing of its generation before.
    #[arg(long)]
    pub reborn: bool,
    /// The last worker's tensor has a chunk less than the others', and it goes on with its next.
    #[arg(long)]
    pub shorter: bool,
    /// Tensors, 0 to 2, whose values are scaled by the maximum of the workers' sizes. All have the same
    /// number of chunks, the first of them with sizes. With 0 there is one tensor, whose sums are exact.
    #[arg(long, default_value_t = 0)]
    pub scaled: u8,
    /// The tensor with exact sums is sent as floats, which bypass the slots.
    #[arg(long)]
    pub floats: bool,
    /// Worker 0's size of the last tensor is not finite.
    #[arg(long)]
    pub not_finite: bool,
    /// Workers are broken: in the first chunk of values they send larger ones than a worker may, and the sum
    /// of two of them is more than 32 bits hold.
    #[arg(long)]
    pub saturation: bool,
    /// The state includes the workers that repeated since a partial or result last left, which decides
    /// whether a repeat is answered or covered by the answer to another worker. Otherwise no repeat is
    /// remembered.
    #[arg(long)]
    pub waves: bool,
    /// One host fails permanently, at any moment.
    #[arg(long)]
    pub crash: bool,
    /// Every host, at a moment of its own, moves to another plan version: with the bitmap indices in reverse,
    /// sums at other switches, and slots of its own. When all have, the first plan version is closed.
    #[arg(long)]
    pub moves: bool,
    /// Workers may learn of the other plan version first, and follow the server when it moves.
    #[arg(long)]
    pub led: bool,
    /// Hosts that have moved may move back, any number of times.
    #[arg(long)]
    pub undo: bool,
    /// The switches are Tofino switches; the value names the tags that their first stage cannot distinguish.
    #[arg(long)]
    pub tofino: Option<Marks>,
    /// A pass of a Tofino switch has room for half of the values: frames that use its slots pass the switch
    /// twice, and each pass has slots of its own.
    #[arg(long)]
    pub halves: bool,
    /// The server sends the sum over all workers to a larger job, and the larger job's sum is the result: it
    /// arrives at any later moment, in any order. With `crash` the larger job may end elsewhere instead.
    #[arg(long)]
    pub onward: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            workers: 2,
            switches: 1,
            window: 1,
            chunks: 3,
            alone: false,
            restart: false,
            old_plan_version: false,
            rerun: false,
            reborn: false,
            shorter: false,
            scaled: 0,
            floats: false,
            not_finite: false,
            saturation: false,
            waves: false,
            crash: false,
            moves: false,
            led: false,
            undo: false,
            tofino: None,
            halves: false,
            onward: false,
        }
    }
}

/// Action of a switch's `steer` entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Sends it on.
    Forward,
    /// Adds it; these complete the slot.
    Add {
        /// Contributors of a complete slot.
        expected: Ranks,
    },
}

impl Config {
    /// Checks the limits of the model.
    ///
    /// # Errors
    /// The first limit that is exceeded, or two settings that exclude each other.
    pub fn validate(&self) -> Result<()> {
        ensure!(
            matches!(self.workers, 2..=MAX_WORKERS),
            "workers: {}; expected 2 or {MAX_WORKERS}",
            self.workers
        );
        ensure!(
            matches!(self.switches, 1..=MAX_SWITCHES),
            "switches: {}; expected 1 or {MAX_SWITCHES}",
            self.switches
        );
        ensure!(
            matches!(self.window, 1 | 2 | MAX_WINDOW),
            "window: {}; expected 1, 2 or {MAX_WINDOW}",
            self.window
        );
        ensure!(matches!(self.chunks, 1..=MAX_CHUNKS), "chunks: {}; expected 1 to {MAX_CHUNKS}", self.chunks);
        for (first, second) in [
            (("rerun", self.rerun), ("old_plan_version", self.old_plan_version)),
            (("reborn", self.reborn), ("scaled", self.scaled > 0)),
            (("reborn", self.reborn), ("crash", self.crash)),
            (("reborn", self.reborn), ("shorter", self.shorter)),
            (("shorter", self.shorter), ("scaled", self.scaled > 0)),
            (("floats", self.floats), ("scaled", self.scaled > 0)),
            (("floats", self.floats), ("saturation", self.saturation)),
            (("floats", self.floats), ("halves", self.halves)),
            (("not_finite", self.not_finite), ("old_plan_version", self.old_plan_version)),
            (("not_finite", self.not_finite), ("rerun", self.rerun)),
            (("moves", self.moves), ("old_plan_version", self.old_plan_version)),
            (("moves", self.moves), ("rerun", self.rerun)),
            (("moves", self.moves), ("reborn", self.reborn)),
        ] {
            ensure!(!(first.1 && second.1), "{} with {}; expected one of them", first.0, second.0);
        }
        ensure!(
            !self.shorter || self.chunks > 1,
            "chunks: {}; with shorter, expected 2 or more",
            self.chunks
        );
        ensure!(self.scaled <= MAX_TENSORS, "scaled: {}; expected 0 to {MAX_TENSORS}", self.scaled);
        ensure!(
            self.scaled == 0 || self.chunks.is_multiple_of(self.scaled) && self.chunks >= 2 * self.scaled,
            "chunks: {}; with scaled {}, expected 2 or more for each tensor",
            self.chunks,
            self.scaled
        );
        ensure!(!self.not_finite || self.scaled > 0, "not_finite without scaled; expected both");
        ensure!(
            self.moves || !(self.undo || self.led),
            "undo or led without moves; expected both, or moves alone"
        );
        ensure!(
            !self.onward || self.workers < MAX_WORKERS || !(self.old_plan_version || self.rerun),
            "workers: {}; with onward and old_epoch or rerun, expected 2",
            self.workers
        );
        ensure!(!self.halves || self.tofino.is_some(), "halves without tofino; expected both");
        let (moves, halves) = (1 + u8::from(self.moves), 1 + u8::from(self.halves));
        ensure!(
            moves * halves * self.window <= MAX_WINDOW,
            "window: {}; with moves or halves, expected 1 or 2; with both, 1",
            self.window
        );
        Ok(())
    }

    /// Returns whether workers and server first learn each other's incarnations; else they know them.
    pub fn handshake(&self) -> bool {
        self.rerun || self.reborn
    }

    /// Chunks of a worker's first tensor, or of all of them if they are scaled.
    pub fn chunks_of(&self, worker: u8) -> u8 {
        self.chunks - u8::from(self.shorter && worker + 1 == self.workers)
    }

    /// Chunks of each tensor.
    pub fn chunks_of_tensor(&self) -> u8 {
        self.chunks / self.scaled.max(1)
    }

    /// Returns the tensor that a chunk is of.
    pub fn tensor(&self, sequence: u8) -> u8 {
        sequence / self.chunks_of_tensor()
    }

    /// Returns whether a worker's chunk is the last of its tensor.
    pub fn is_last(&self, worker: u8, sequence: u8) -> bool {
        let ends = (sequence + 1).is_multiple_of(self.chunks_of_tensor());
        sequence + 1 == self.chunks_of(worker) || self.scaled > 0 && ends
    }

    /// Returns the chunk of sizes of the tensor that a chunk is of; none if its sums are exact.
    pub fn maxima(&self, sequence: u8) -> Option<u8> {
        (self.scaled > 0).then(|| self.tensor(sequence) * self.chunks_of_tensor())
    }

    /// Returns whether a chunk is of sizes.
    pub fn is_of_maxima(&self, sequence: u8) -> bool {
        self.maxima(sequence) == Some(sequence)
    }

    /// Returns a worker's size of the tensor that a chunk is of. Those of a plan version or a run before are
    /// other ones.
    pub fn size(&self, run: Run, sequence: u8, worker: u8) -> u8 {
        let tensor = self.tensor(sequence);
        match run {
            Run::OldPlanVersion | Run::Former => NOT_FINITE,
            _ if self.not_finite && worker == 0 && tensor + 1 == self.scaled => NOT_FINITE,
            _ => SIZES[usize::from(tensor)][usize::from(worker)],
        }
    }

    /// Returns the greatest size of the tensor that a chunk is of; 0 if its sums are exact.
    pub fn maximum(&self, sequence: u8) -> u8 {
        let sizes = (0..self.workers).map(|worker| self.size(Run::First, sequence, worker));
        if self.scaled > 0 { sizes.max().unwrap_or(0) } else { 0 }
    }

    /// Returns the number format of a chunk.
    pub fn exponent(&self, sequence: u8) -> Exponent {
        match self.maxima(sequence) {
            None if self.floats => Exponent::Floats,
            None => Exponent::Digits,
            Some(maxima) if maxima == sequence => Exponent::Maxima,
            Some(_) => Exponent::Scaled(self.maximum(sequence)),
        }
    }

    /// Returns all workers.
    pub fn all_workers(&self) -> Ranks {
        (1 << self.workers) - 1
    }

    /// Returns the contributors that each result for a worker must have.
    pub fn due(&self, receiver: u8) -> Ranks {
        let due = |rank: &u8| COMPLETION_RULE.requires(usize::from(*rank), usize::from(receiver));
        (0..self.workers).filter(due).map(one).sum()
    }

    /// Returns whether the server completes a chunk that those are in.
    pub fn is_complete(&self, sequence: u8, have: Ranks) -> bool {
        let (present, members) = (have.count_ones() as usize, self.workers.into());
        let of_maxima = self.is_of_maxima(sequence);
        let exponent = if of_maxima { WireExponent::MAXIMA } else { WireExponent::DIGITS };
        let progress =
            Progress { cohort: 0, sequence: u32::from(sequence).into(), exponent, present, members };
        match self.onward {
            true => Onward::new(self.workers.into()).is_complete(&progress),
            false => COMPLETION_RULE.is_complete(&progress),
        }
    }

    /// Returns whether the sum of those goes on to others. Maxima do not.
    pub fn is_sent_onward(&self, sequence: u8, have: Ranks) -> bool {
        self.onward && have == self.all_workers() && !self.is_of_maxima(sequence)
    }

    /// Returns the larger job's contribution to a sum sent to it. No worker of such a network has ever sent
    /// this value.
    pub fn of_others(&self, sequence: u8) -> Sum {
        let is_sent_onward = self.is_sent_onward(sequence, self.all_workers());
        if is_sent_onward { Sum::term(BEFORE, sequence, MAX_WORKERS - 1) } else { Sum::default() }
    }

    /// Returns the switch that a worker is attached to.
    pub fn switch_of(&self, worker: u8) -> u8 {
        u8::from(self.switches == 2 && worker + 1 == self.workers)
    }

    /// Returns the node that a switch sends gradients and partials to.
    pub fn after(&self, switch: u8) -> Node {
        if switch + 1 == self.switches { Node::Server } else { Node::Switch(switch + 1) }
    }

    /// Returns the bitmap index of a worker in frames of that run, or the rank of a bitmap index.
    pub fn bitmap_index_of(&self, run: Run, worker: u8) -> u8 {
        if run == Run::Moved { self.workers - 1 - worker } else { worker }
    }

    /// Returns the bitmap indices of workers in frames of that run, or the ranks of bitmap indices.
    pub fn bitmap_indices_of(&self, run: Run, bitmap: Ranks) -> Ranks {
        ranks(bitmap).map(|worker| one(self.bitmap_index_of(run, worker))).sum()
    }

    /// Returns a switch's entry for frames of a run and a bitmap index. Its `members` never reject: only
    /// frames of the worker's own side carry its bitmap index. Under the plan version that hosts migrate to,
    /// the last worker's gradients are summed if they were not before, and the reverse.
    pub fn entry(&self, run: Run, switch: u8, bitmap_index: u8) -> Entry {
        let (last, alone) = (self.workers - 1, self.alone != (run == Run::Moved));
        if alone && (self.bitmap_index_of(run, bitmap_index) == last || switch == 1) {
            return Entry::Forward;
        }
        let all_pass = switch + 1 == self.switches && !alone;
        let expected = if all_pass { self.all_workers() } else { self.all_workers() & !one(last) };
        Entry::Add { expected: self.bitmap_indices_of(run, expected) }
    }

    /// Returns the bitmap indices that arrive at a switch by the same entry as `bitmap_index`: all that the
    /// switch before it sums, or the worker's own.
    pub fn unit(&self, run: Run, switch: u8, bitmap_index: u8) -> Ranks {
        let is_below = |worker: &u8| self.switch_of(*worker) < switch;
        if !is_below(&self.bitmap_index_of(run, bitmap_index)) {
            return one(bitmap_index);
        }
        self.bitmap_indices_of(run, (0..self.workers).filter(is_below).map(one).sum())
    }

    /// Returns the contribution of a worker to a chunk of values.
    pub fn term(&self, generation: u8, sequence: u8, worker: u8) -> Sum {
        let is_first = sequence == u8::from(self.scaled > 0);
        let value = if self.saturation && is_first { SATURATING[usize::from(worker)] } else { 0 };
        Sum::term(generation, sequence, worker).with_value(value)
    }
}
