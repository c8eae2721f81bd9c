//! The six invariants, and that of sums that go on, as checks of one step each that know nothing of how the
//! step was made.

use crate::config::{Config, Entry};
use crate::frame::Contribution;
use crate::node::{Ranks, one, ranks};
use crate::onward;
use crate::run::{Generation, Run};
use crate::scale::Exponent;
use crate::server::{Chunk, Verdict};
use crate::slot::{Slot, second_pass, slot_of};
use crate::sum::{BEFORE, NEXT_TENSOR, SECOND_GENERATION, SECOND_RUN, Sum, digit};

/// An invariant of docs/protocol/reliability.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// 1. In particular, values are scaled by the maximum of all workers' sizes of their tensor, and sums are
    ///    read by this maximum.
    Once,
    /// 2.
    Disjoint,
    /// 3.
    OwnSlot,
    /// 4.
    NewerWins,
    /// 5.
    RepeatsHeal,
    /// 6.
    Ends,
    /// Invariant of sums sent to a larger job.
    Onward,
}

impl Invariant {
    /// All: the six of the protocol in their order, then that of sums that go on.
    pub const ALL: [Self; 7] = [
        Self::Once,
        Self::Disjoint,
        Self::OwnSlot,
        Self::NewerWins,
        Self::RepeatsHeal,
        Self::Ends,
        Self::Onward,
    ];

    /// Returns the words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Once => {
                "Once: in every result, every worker of the job is counted exactly once, bit for bit."
            }
            Self::Disjoint => {
                "Disjoint: the PS adds a packet only if its contributors are disjoint from those it has; \
                 a subset of what it has is a repeat, anything else is refused and counted."
            }
            Self::OwnSlot => {
                "Own slot: a slot belongs to one (job, shard, sequence) at a time; the controller gives each \
                 (job, shard, switch) its own range of slots, so that jobs never collide; \
                 slot = base + sequence mod window."
            }
            Self::NewerWins => {
                "Newer wins: a packet with a newer sequence takes the slot over (the sender's window proves that \
                 the older one has been answered); an older one passes through to the PS unsummed."
            }
            Self::RepeatsHeal => {
                "Repeats heal: a repeat for a complete slot sends the complete partial again; a repeat for an \
                 incomplete one changes nothing. After K timeouts the worker sets bypass, and its packet \
                 goes to the PS alone."
            }
            Self::Ends => {
                "Ends: under fair loss every round ends; when a peer is gone for good, the round ends in a named \
                 error at every worker, never in a wrong sum and never in silence."
            }
            Self::Onward => {
                "Onward: the sum of all workers goes on once; there is no result before the sum of all is \
                 back, and that is the result."
            }
        }
    }
}

/// Invariants broken on the way to a state; *Ends* is decided for every state separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Broken(u8);

impl Broken {
    /// Returns whether that one is.
    pub fn contains(self, invariant: Invariant) -> bool {
        self.0 >> invariant as u8 & 1 == 1
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    fn unless(holds: bool, invariant: Invariant) -> Self {
        Self(u8::from(!holds) << invariant as u8)
    }
}

/// Returns the sum of the contributions of `contributors` to a chunk in a run, each in its generation in
/// `like`; or the greatest of their sizes.
fn right_sum(config: &Config, run: Run, sequence: u8, contributors: Ranks, like: Sum) -> Sum {
    if config.exponent(sequence) == Exponent::Maxima {
        let size = |worker| Sum::of_size(sequence, config.size(run, sequence, worker));
        return ranks(contributors).map(size).max().unwrap_or_default();
    }
    let scale = config.maximum(sequence);
    let generations = match run {
        Run::OldPlanVersion | Run::Former => [BEFORE; 2],
        Run::First if config.reborn => [scale, SECOND_GENERATION],
        Run::First | Run::Moved if config.shorter => [scale, NEXT_TENSOR],
        Run::First | Run::Moved => [scale; 2],
        Run::Second => [SECOND_RUN; 2],
    };
    let term = |worker| {
        let is_in = |generation: &u8| like.digit(digit(*generation, sequence, worker)) > 0;
        let generation = generations.into_iter().find(is_in).unwrap_or(scale);
        config.term(generation, sequence, worker)
    };
    ranks(contributors).fold(Sum::default(), |sum, worker| sum + term(worker))
}

/// Returns a result of `sequence` in `run` was sent, or is taken for that of `chunk`.
pub fn result(config: &Config, run: Run, chunk: u8, sequence: u8, sum: Sum) -> Broken {
    // From the last chunk of the shortest gradient on, there is nothing to be summed.
    let differ = config.shorter && sequence + 2 >= config.chunks;
    // Every worker gets it.
    let is_due = |receiver| {
        let due = config.due(receiver);
        sum == right_sum(config, run, sequence, due, sum) + config.of_others(sequence)
    };
    let right = (0..config.workers).all(is_due);
    let now = matches!(run, Run::First | Run::Second | Run::Moved);
    Broken::unless(now && chunk == sequence && right && !differ, Invariant::Once)
}

/// Returns a worker reads the result of a chunk as one that is scaled by that maximum.
pub fn read(config: &Config, sequence: u8, scale: u8) -> Broken {
    let is_scaled = matches!(config.exponent(sequence), Exponent::Scaled(_));
    Broken::unless(!is_scaled || scale == config.maximum(sequence), Invariant::Once)
}

/// Returns the sum of a chunk goes on because of a frame of that run.
pub fn is_sent_onward(
    config: &Config,
    onward: &[onward::Onward],
    run: Run,
    sequence: u8,
    sum: Sum,
) -> Broken {
    let is_first = onward.get(usize::from(sequence)) == Some(&onward::Onward::Here);
    let right = right_sum(config, run, sequence, config.all_workers(), sum);
    Broken::unless(is_first && sum == right, Invariant::Onward)
}

/// Returns a result of a chunk was sent, or is taken for it; nothing to check of maxima, and where no sums go
/// on.
pub fn received_onward(config: &Config, onward: &[onward::Onward], sequence: u8, sum: Sum) -> Broken {
    let back = onward.get(usize::from(sequence)).filter(|_| !config.is_of_maxima(sequence));
    Broken::unless(back.is_none_or(|back| *back == onward::Onward::Back(sum)), Invariant::Onward)
}

/// Returns a result was sent in the run of the server's first generation: a worker that was restarted is
/// another than was counted before.
pub fn one_generation(config: &Config, sequence: u8, sum: Sum, counted: &mut [Option<Generation>]) -> Broken {
    let generation = |worker| match sum.digit(digit(SECOND_GENERATION, sequence, worker)) {
        0 => Generation::First,
        _ => Generation::Second,
    };
    let same = (0..config.workers)
        .zip(counted)
        .all(|(worker, counted)| *counted.get_or_insert(generation(worker)) == generation(worker));
    Broken::unless(same, Invariant::Once)
}

/// Checks a frame that changed its chunk at the server.
pub fn server_step(
    config: &Config,
    before: Option<Chunk>,
    frame: &Contribution,
    verdict: Verdict,
    after: Option<Chunk>,
) -> Broken {
    let what = |chunk: Option<Chunk>| chunk.map_or(Default::default(), |chunk| (chunk.have, chunk.sum));
    let (had, sum) = what(before);
    let unchanged = what(after) == (had, sum);
    let contributors = config.bitmap_indices_of(frame.run, frame.contributors);
    let here = had & contributors;
    let holds = if here == 0 {
        unchanged || what(after) == (had | contributors, frame.exponent.combined(sum, frame.sum))
    } else if here == contributors {
        let repeat = matches!(verdict, Verdict::Repeat | Verdict::Resend | Verdict::Answered);
        let refused = matches!(verdict, Verdict::Foreign | Verdict::OtherRun | Verdict::Mismatch);
        unchanged && (repeat || refused || verdict == Verdict::GaveUp)
    } else {
        unchanged && verdict != Verdict::Added && verdict != Verdict::Repeat
    };
    Broken::unless(holds, Invariant::Disjoint)
}

/// Pass of a switch that a frame was in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Only pass.
    Only,
    /// First of two: complete slots do not send a partial here.
    First,
    /// Second of two: a frame leaves only if it was complete in the first and is not rejected here.
    Second {
        /// Whether it was complete in the first.
        complete: bool,
    },
}

/// A frame was at a switch.
pub struct SwitchStep<'a> {
    /// The slot before.
    pub before: &'a Slot,
    /// The run and chunk of the partial that last left the slot.
    pub completed: Option<(Run, u8)>,
    /// The frame.
    pub frame: &'a Contribution,
    /// The slot after.
    pub after: &'a Slot,
    /// Frame that left.
    pub out: Option<&'a Contribution>,
    /// In which pass.
    pub pass: Pass,
}

impl SwitchStep<'_> {
    /// Returns the chunk that has left the slot by now.
    pub fn completed_after(&self) -> Option<(Run, u8)> {
        let chunk = (self.frame.run, self.frame.sequence);
        let taken_over =
            self.after.seen != 0 && Some((self.after.run, self.after.sequence)) != self.completed;
        match self.out {
            Some(out) if out != self.frame => Some(chunk),
            _ if taken_over => None,
            _ => self.completed,
        }
    }

    /// Returns whether that is the slot of the chunk in it.
    fn is_place(&self, config: &Config, place: usize) -> bool {
        let first = slot_of(config, self.after.run, self.after.sequence);
        place == if matches!(self.pass, Pass::Second { .. }) { second_pass(first) } else { first }
    }

    /// Returns the invariants that the step broke, in that slot of that switch, when those chunks have
    /// `ended` in the frame's run.
    pub fn broken(&self, config: &Config, ended: u8, switch: u8, place: usize) -> Broken {
        let Self { before, frame, after, out, pass, .. } = *self;
        let Entry::Add { expected } = config.entry(frame.run, switch, frame.worker) else {
            return Broken::default();
        };
        let mut broken = Broken::default();

        let seen = config.bitmap_indices_of(after.run, after.seen);
        let right = right_sum(config, after.run, after.sequence, seen, after.sum);
        let own = after.seen == 0 || self.is_place(config, place) && holds_sum(after, right);
        broken.add(Broken::unless(own, Invariant::OwnSlot));

        // A frame, a repeat as well, carries the flags of its first slot into its second pass.
        let brought = frame.overflow && matches!(pass, Pass::Second { .. });
        let marked = Slot { overflow: before.overflow || brought, ..*before };
        let same = marked.without_askers() == after.without_askers();
        let is_sent_onward = out == Some(frame) || out.is_none() && matches!(pass, Pass::Second { .. });
        let untouched = before == after && is_sent_onward;
        // On Tofino a part of an entry's bitmap indices goes to the PS as if the frame had the flag.
        let unit = config.tofino.map(|_| config.unit(frame.run, switch, frame.worker));
        if frame.bypass || unit.is_some_and(|unit| unit != frame.contributors) {
            broken.add(Broken::unless(untouched, Invariant::RepeatsHeal));
            return broken;
        }
        let has_left = self.completed == Some((frame.run, frame.sequence));
        // On Tofino it may be complete and have been lost before it left.
        let is_complete = config.tofino.is_some() && is_repeat(before, frame) && before.seen == expected;
        let half = pass == Pass::Second { complete: false };
        if !half && (has_left || is_complete) {
            let again = out.is_some_and(|out| out.partial && out.contributors == expected);
            // One answer per wave of repeats: to another worker, since this one asked last.
            let answered = match config.tofino {
                None => before.asked & !frame.contributors == before.asked && before.asked != 0,
                Some(_) => before.tofino.owed & one(frame.worker) == 0,
            };
            let heals = again || out.is_none() && answered;
            broken.add(Broken::unless(same && heals, Invariant::RepeatsHeal));
        }
        if before.seen == 0 || before.run != frame.run {
            return broken;
        }
        if frame.sequence > before.sequence {
            let known = matches!(frame.run, Run::First | Run::Second | Run::Moved);
            let answered = !known || ended >> before.sequence & 1 == 1;
            let taken = *after == took_over(frame, after);
            broken.add(Broken::unless(taken && answered, Invariant::NewerWins));
        } else if frame.sequence < before.sequence {
            broken.add(Broken::unless(untouched, Invariant::NewerWins));
        } else if is_repeat(before, frame) {
            broken.add(Broken::unless(same, Invariant::RepeatsHeal));
        }
        broken
    }
}

/// Returns whether the slot already has all contributors of the frame.
fn is_repeat(slot: &Slot, frame: &Contribution) -> bool {
    (slot.run, slot.sequence) == (frame.run, frame.sequence)
        && (slot.exponent, slot.last) == (frame.exponent, frame.last)
        && frame.contributors & !slot.seen == 0
}

/// Returns whether a slot holds that sum, or marks the sum as saturated: by the flag, or by a value at a
/// limit.
fn holds_sum(slot: &Slot, right: Sum) -> bool {
    let cut = slot.overflow || slot.sum.is_at_limit();
    slot.sum == right || cut && slot.sum.with_value(0) == right.with_value(0)
}

/// Returns a slot that holds a frame alone, with the repeats and the saturation flags of `after`.
fn took_over(frame: &Contribution, after: &Slot) -> Slot {
    Slot {
        run: frame.run,
        sequence: frame.sequence,
        exponent: frame.exponent,
        last: frame.last,
        seen: frame.contributors,
        asked: after.asked,
        overflow: after.overflow,
        sum: frame.sum,
        tofino: after.tofino,
    }
}
