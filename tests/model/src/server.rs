//! The parameter server: its decision about each frame.

use crate::config::Config;
use crate::frame::{Contribution, Frame, Peer, Talk};
use crate::mutant::Mutant;
use crate::node::{Node, Ranks, one, ranks};
use crate::run::{Generation, MigrationPhase, Run};
use crate::scale::Exponent;
use crate::size::{MAX_CHUNKS, MAX_WORKERS};
use crate::sum::{LIMITS, Sum};
use crate::switch::ask;

/// A chunk that is being summed, or was and is kept to answer repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chunk {
    /// Number.
    pub sequence: u8,
    /// Number format, from the first frame.
    pub exponent: Exponent,
    /// Whether it is the last chunk of the tensor, from the first frame.
    pub last: bool,
    /// Contributors of the sum.
    pub have: Ranks,
    /// The sum, or the greatest size.
    pub sum: Sum,
    /// Whether the result has been sent.
    pub complete: bool,
    /// Workers that repeated since then, as in a slot.
    pub asked: Ranks,
    /// In a migration: the run of the chunk's first frame.
    pub opened: Run,
    /// In a migration: the run of the next chunk in the slot, once this chunk is complete.
    pub next: Run,
}

/// State of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Server {
    /// Incarnation, which names the run.
    pub run: Run,
    /// By rank: which generation of the worker takes part in the run.
    pub hosts: [Option<Generation>; MAX_WORKERS as usize],
    /// The chunks that have their results: a bitmap.
    pub ended: u8,
    /// A ring over four times the window, or all chunks.
    pub chunks: [Option<Chunk>; MAX_CHUNKS as usize],
    /// With a larger job: the next chunk to send, in their order.
    pub next_onward: u8,
    /// Whether frames have shown that gradients differ in length.
    pub differs: bool,
    /// Host because of which the job was aborted, if it was.
    pub gave_up: Option<Peer>,
    /// Progress of the server's migration.
    pub place: MigrationPhase,
    /// Workers heard in this plan version since the migration.
    pub heard: Ranks,
    /// Whether the first plan version is closed.
    pub closed: bool,
    /// Whether workers watch the server from the first plan version, until that is closed.
    pub leads: bool,
    /// By rank: which generation of the worker was counted in a result. No rule reads it.
    pub counted: [Option<Generation>; MAX_WORKERS as usize],
}

/// Decision about a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Frame of a plan version that is not known yet, or no longer.
    Foreign,
    /// Frame of another run: another generation of the server.
    OtherRun,
    /// Job aborted; the server notifies the sender.
    GaveUp,
    /// Frame of a chunk that is no longer kept, or that no worker may send yet.
    OutOfWindow,
    /// Frame of a complete chunk: the result is sent again.
    Resend,
    /// Repeat for a complete chunk whose result has just been sent again because of another worker.
    Answered,
    /// Last chunk of its sender's tensor but not of others' (or the reverse), or other number format:
    /// discarded.
    Mismatch,
    /// New contributors only: added.
    Added,
    /// Known contributors only: ignored.
    Repeat,
    /// Some known contributors: rejected and counted.
    Overlap,
    /// A partial that saturated, or has larger values than the workers in it may send: discarded.
    Overflow,
    /// A gradient with larger values than a worker may send: the job is aborted because of its sender.
    OtherNumbers,
}

impl Verdict {
    /// Every one, in order.
    pub const ALL: [Self; 12] = [
        Self::Foreign,
        Self::OtherRun,
        Self::GaveUp,
        Self::OutOfWindow,
        Self::Resend,
        Self::Answered,
        Self::Mismatch,
        Self::Added,
        Self::Repeat,
        Self::Overlap,
        Self::Overflow,
        Self::OtherNumbers,
    ];
}

/// Frames to be sent.
pub type Outgoing = Vec<(Node, Frame)>;

/// Decision about a gradient or partial, with its effects.
#[derive(Clone, Debug)]
pub struct Handled {
    /// Decision.
    pub verdict: Verdict,
    /// Frames sent.
    pub outgoing: Outgoing,
    /// Chunks whose sums are sent to the larger job now, with those sums.
    pub sent_onward: Vec<(u8, Sum)>,
}

impl From<(Verdict, Outgoing)> for Handled {
    fn from((verdict, outgoing): (Verdict, Outgoing)) -> Self {
        Self { verdict, outgoing, sent_onward: Vec::new() }
    }
}

impl Server {
    /// Creates a server without known workers, unless all hosts know each other from the start.
    pub fn new(config: &Config, run: Run) -> Self {
        let known = !config.handshake();
        Self {
            run,
            hosts: std::array::from_fn(|rank| {
                (known && rank < config.workers.into()).then_some(Generation::First)
            }),
            ..Self::default()
        }
    }

    pub(crate) fn place(config: &Config, sequence: u8) -> usize {
        usize::from(sequence % (4 * config.window).min(MAX_CHUNKS))
    }

    /// Returns a chunk that is open, or complete and kept.
    pub fn chunk(&self, config: &Config, sequence: u8) -> Option<Chunk> {
        self.chunks[Self::place(config, sequence)].filter(|chunk| chunk.sequence == sequence)
    }

    /// Forgets which workers repeated.
    pub fn forget_askers(&mut self) {
        self.chunks.iter_mut().flatten().for_each(|chunk| chunk.asked = 0);
    }

    /// Returns whether that chunk has its result.
    pub fn has_ended(&self, sequence: u8) -> bool {
        self.ended >> sequence & 1 == 1
    }

    /// Returns whether a worker may send that chunk now, of which nothing is known: the one before it in its
    /// slot has its result.
    fn may_open(&self, config: &Config, sequence: u8) -> bool {
        let before = sequence.checked_sub(config.window);
        !self.has_ended(sequence) && before.is_none_or(|before| self.has_ended(before))
    }

    /// Handles a gradient or partial.
    pub fn handle(&mut self, config: &Config, mutant: Option<Mutant>, frame: &Contribution) -> Handled {
        let is = |mistake| mutant == Some(mistake);
        match frame.run {
            run if run == self.run && !self.closed => {}
            Run::Moved if self.place.knows() => {}
            Run::OldPlanVersion if is(Mutant::AnyPlanVersion) => {}
            Run::OldPlanVersion | Run::Moved => return (Verdict::Foreign, Vec::new()).into(),
            run if run == self.run => return (Verdict::Foreign, Vec::new()).into(),
            _ if is(Mutant::AnyRun) => {}
            _ => return (Verdict::OtherRun, Vec::new()).into(),
        }
        if let Some(culprit) = self.gave_up {
            let sender =
                (!is(Mutant::AbortSaidOnce)).then_some(config.bitmap_index_of(frame.run, frame.worker));
            return (Verdict::GaveUp, self.bound_workers(sender, |to| Frame::Abort { to, culprit })).into();
        }
        let bitmap_indices = if is(Mutant::BitmapIndicesNotTranslated) { Run::First } else { frame.run };
        let contributors = config.bitmap_indices_of(bitmap_indices, frame.contributors);
        if self.place.knows() && frame.run == self.place.of(self.run) {
            self.heard |= contributors;
        }
        let sequence = frame.sequence;
        let chunk = self.chunk(config, sequence);
        if chunk.is_none() && !self.may_open(config, sequence) {
            return (Verdict::OutOfWindow, Vec::new()).into();
        }
        let mut chunk = chunk.unwrap_or(Chunk {
            sequence,
            exponent: frame.exponent,
            last: frame.last,
            have: 0,
            sum: if is(Mutant::MaximumKept) { self.maximum_before(config, sequence) } else { Sum::default() },
            complete: false,
            asked: 0,
            opened: if config.moves { frame.run } else { Run::default() },
            next: Run::default(),
        });
        if chunk.exponent != frame.exponent || chunk.last != frame.last && !is(Mutant::LengthsOnly) {
            self.differs |= !is(Mutant::MismatchUnnoticed);
            return (Verdict::Mismatch, Vec::new()).into();
        }
        let (verdict, outgoing) = match Self::judge(mutant, &mut chunk, frame, contributors) {
            Verdict::Resend if is(Mutant::NoResend) => (Verdict::Resend, Vec::new()),
            Verdict::Resend => (Verdict::Resend, self.results(config, mutant, &chunk, true)),
            Verdict::Added => (Verdict::Added, self.add(config, mutant, &mut chunk, frame, contributors)),
            Verdict::Repeat if is(Mutant::OwnSumAnswered) && config.is_sent_onward(sequence, chunk.have) => {
                (Verdict::Repeat, self.results(config, mutant, &chunk, true))
            }
            Verdict::OtherNumbers => {
                let sender = config.bitmap_index_of(frame.run, frame.worker);
                (Verdict::OtherNumbers, self.give_up(Peer::Worker(sender)))
            }
            verdict @ (Verdict::Overlap | Verdict::Overflow) => {
                let missing = ranks(contributors & !chunk.have);
                (verdict, self.bound_workers(missing, |to| Frame::Request { to, sequence }))
            }
            verdict => (verdict, Vec::new()),
        };
        let forgotten = is(Mutant::ResultForgotten) && chunk.complete;
        self.chunks[Self::place(config, sequence)] = (!forgotten).then_some(chunk);
        self.ended |= u8::from(chunk.complete) << sequence;
        let sent_onward = match verdict {
            Verdict::Added if config.onward && is(Mutant::SumGoesOnEarly) => vec![(sequence, chunk.sum)],
            Verdict::Added if config.onward => self.send_onward(config),
            Verdict::Repeat if config.is_sent_onward(sequence, chunk.have) && is(Mutant::SumGoesOnAgain) => {
                vec![(sequence, chunk.sum)]
            }
            _ => Vec::new(),
        };
        Handled { verdict, outgoing, sent_onward }
    }

    /// Returns the sums that go on now: those of all workers, in the order of chunks, past maxima.
    fn send_onward(&mut self, config: &Config) -> Vec<(u8, Sum)> {
        let mut sent_onward = Vec::new();
        while let Some(next) = self.chunk(config, self.next_onward)
            && next.have == config.all_workers()
        {
            sent_onward
                .extend(config.is_sent_onward(next.sequence, next.have).then_some((next.sequence, next.sum)));
            self.next_onward += 1;
        }
        sent_onward
    }

    /// Returns the maximum of the tensor before the one whose maxima that chunk has, as this server has it.
    fn maximum_before(&self, config: &Config, sequence: u8) -> Sum {
        let before =
            sequence.checked_sub(config.chunks_of_tensor()).filter(|_| config.is_of_maxima(sequence));
        let chunk = before.and_then(|before| self.chunk(config, before));
        chunk.map_or(Sum::default(), |chunk| Sum::of_size(sequence, chunk.sum.size(chunk.sequence)))
    }

    /// Adds a frame of new contributors only. Returns the frames to send if the chunk is complete then.
    fn add(
        &self,
        config: &Config,
        mutant: Option<Mutant>,
        chunk: &mut Chunk,
        frame: &Contribution,
        contributors: Ranks,
    ) -> Outgoing {
        chunk.have |= contributors;
        let forgets = mutant == Some(Mutant::MaximumForgets) && frame.exponent == Exponent::Maxima;
        chunk.sum = if forgets { frame.sum } else { frame.exponent.combined(chunk.sum, frame.sum) };
        chunk.complete = config.is_complete(chunk.sequence, chunk.have);
        // No other worker is added before the result is sent.
        let is_last = chunk.complete || config.is_sent_onward(chunk.sequence, chunk.have);
        chunk.asked = if is_last && frame.resend { contributors } else { 0 };
        chunk.next = if chunk.complete && config.moves { self.place.of(self.run) } else { chunk.next };
        if chunk.complete { self.results(config, mutant, chunk, false) } else { Vec::new() }
    }

    /// Decides about a contribution to a chunk.
    fn judge(
        mutant: Option<Mutant>,
        chunk: &mut Chunk,
        frame: &Contribution,
        contributors: Ranks,
    ) -> Verdict {
        let is = |mistake| mutant == Some(mistake);
        if chunk.complete {
            return if ask(&mut chunk.asked, contributors, is(Mutant::AskedOnce)) {
                Verdict::Resend
            } else {
                Verdict::Answered
            };
        }
        let here = contributors & chunk.have;
        if here == contributors && !is(Mutant::SubsetAdded) {
            Verdict::Repeat
        } else if frame.partial && frame.overflow && !is(Mutant::SaturatedAdded) {
            Verdict::Overflow
        } else if !(here == 0 || is(Mutant::OverlapAdded) || here == contributors) {
            Verdict::Overlap
        } else if may_be_added(frame)
            || is(if frame.partial { Mutant::SaturatedAdded } else { Mutant::OtherNumbersAdded })
        {
            Verdict::Added
        } else if frame.partial {
            Verdict::Overflow
        } else {
            Verdict::OtherNumbers
        }
    }

    /// Returns whether it waits for that worker: it lacks it in a chunk that is open.
    pub fn waits_for(&self, worker: u8) -> bool {
        let mut known = self.chunks.iter().flatten();
        self.gave_up.is_none() && known.any(|chunk| !chunk.complete && chunk.have & one(worker) == 0)
    }

    /// Handles a keep-alive: a worker's generation, and the run that it knows.
    pub fn keepalive(
        &mut self,
        mutant: Option<Mutant>,
        worker: u8,
        generation: Generation,
        run: Option<Run>,
    ) -> Outgoing {
        let to = Talk { generation, run: self.run };
        let to_sender = |frame| vec![(Node::Worker(worker), frame)];
        let mut replies = Vec::new();
        if let Some(run) = run {
            if run != self.run {
                return to_sender(Frame::Abort { to, culprit: Peer::Server });
            }
            let host = self.hosts[usize::from(worker)].get_or_insert(generation);
            if mutant == Some(Mutant::BindsLatest) {
                *host = generation;
            }
            if *host != generation && self.gave_up.is_none() {
                replies = self.give_up(Peer::Worker(worker));
            }
        }
        let bound = self.hosts[usize::from(worker)] == Some(generation);
        replies.extend(to_sender(match self.gave_up {
            Some(culprit) => Frame::Abort { to, culprit },
            None => Frame::Answer { to, bound },
        }));
        replies
    }

    /// Aborts the job because of that host.
    pub fn give_up(&mut self, culprit: Peer) -> Outgoing {
        self.gave_up = Some(culprit);
        self.bound_workers(0..MAX_WORKERS, |to| Frame::Abort { to, culprit })
    }

    /// Returns a message to those of the workers that take part in the run.
    fn bound_workers(
        &self,
        workers: impl IntoIterator<Item = u8>,
        message: impl Fn(Talk) -> Frame,
    ) -> Outgoing {
        let frame = |worker: u8| {
            let generation = self.hosts[usize::from(worker)]?;
            Some((Node::Worker(worker), message(Talk { generation, run: self.known_to(worker) })))
        };
        workers.into_iter().filter_map(frame).collect()
    }

    /// Returns the plan version for messages to a worker: one that the worker is known to have.
    fn known_to(&self, worker: u8) -> Run {
        let heard = self.closed || self.heard & one(worker) != 0;
        match self.place {
            MigrationPhase::Before => self.run,
            MigrationPhase::After if heard => Run::Moved,
            MigrationPhase::Back if !heard => Run::Moved,
            MigrationPhase::After | MigrationPhase::Back | MigrationPhase::Ready => self.run,
        }
    }

    /// Returns a chunk's result, in every plan version in which it goes to all: both, until all workers were
    /// heard in the current one.
    pub(crate) fn results(
        &self,
        config: &Config,
        mutant: Option<Mutant>,
        chunk: &Chunk,
        again: bool,
    ) -> Outgoing {
        let (sequence, sum) = (chunk.sequence, chunk.sum.within_limits());
        let other = |run| config.moves && !self.closed && chunk.next != run && self.place.knows();
        let result = |run| Frame::Result { run, sequence, sum, other: other(run) };
        let only_present =
            self.closed || self.heard == config.all_workers() || mutant == Some(Mutant::ResultsInNewOnly);
        let runs = match self.place {
            MigrationPhase::Before => vec![self.run],
            // Repeats in the first plan version are answered there.
            _ if self.leads && chunk.opened == self.run && again => vec![self.run, Run::Moved],
            _ if self.leads && chunk.opened == self.run => vec![self.run],
            place if only_present => vec![place.of(self.run)],
            MigrationPhase::After | MigrationPhase::Back | MigrationPhase::Ready => {
                vec![self.run, Run::Moved]
            }
        };
        runs.into_iter().map(|run| (Node::Workers, result(run))).collect()
    }

    /// Moves to the other plan version, or back.
    pub fn move_on(&mut self, mutant: Option<Mutant>) {
        self.place = self.place.next();
        (self.heard, self.leads) = (0, false);
        match mutant {
            Some(Mutant::SumsForgotten) => self.chunks = Default::default(),
            Some(Mutant::ClosedEarly) => self.close(),
            _ => {}
        }
    }

    /// Moves when all workers know the other plan version, and follow.
    pub fn lead(&mut self, config: &Config) {
        self.place = MigrationPhase::After;
        self.heard = config.all_workers();
        self.leads = true;
    }

    /// The first plan version is closed: all have moved.
    pub fn close(&mut self) {
        self.closed = true;
        (self.heard, self.leads) = (0, false);
    }
}

/// Returns whether values are so small that no sum of all workers' is more than a frame holds. In terms of
/// the model's values, a worker's is 1 at most.
fn may_be_added(frame: &Contribution) -> bool {
    let value = frame.sum.value();
    value < LIMITS.1 && u32::from(value.unsigned_abs()) <= frame.contributors.count_ones()
}
