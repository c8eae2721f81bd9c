//! The parameter server: what it decides about each frame.

use crate::config::Config;
use crate::frame::{Contribution, Frame, Peer, Talk};
use crate::mutant::Mutant;
use crate::node::{Node, Ranks, one, ranks};
use crate::run::{Generation, Place, Run};
use crate::scale::Exponent;
use crate::size::{MAX_CHUNKS, MAX_WORKERS};
use crate::sum::{LIMITS, Sum};
use crate::switch::ask;

/// A chunk that is being summed, or was and is kept to answer repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chunk {
    /// Its number.
    pub sequence: u8,
    /// What the numbers are, as its first frame said.
    pub exponent: Exponent,
    /// Whether it is the last chunk of the tensor, as its first frame said.
    pub last: bool,
    /// Who is in the sum.
    pub have: Ranks,
    /// The sum, or the greatest size.
    pub sum: Sum,
    /// Whether the result has been sent.
    pub complete: bool,
    /// Who sent a repeat since then, as in a slot.
    pub asked: Ranks,
    /// Where hosts move: the run of its first frame.
    pub opened: Run,
    /// Where hosts move: the run of what comes after it in its slot, once it is complete.
    pub next: Run,
}

/// What the server knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Server {
    /// Its incarnation, which names the run.
    pub run: Run,
    /// By rank: which generation of the worker takes part in the run.
    pub hosts: [Option<Generation>; MAX_WORKERS as usize],
    /// The chunks that have their results: a bitmap.
    pub ended: u8,
    /// A ring over four times the window, or all chunks.
    pub chunks: [Option<Chunk>; MAX_CHUNKS as usize],
    /// Where sums go on: the next chunk that does, in their order.
    pub next_onward: u8,
    /// Whether frames have shown that gradients differ in length.
    pub differs: bool,
    /// Because of whom the job was aborted, if it was.
    pub gave_up: Option<Peer>,
    /// In which plan version it is.
    pub place: Place,
    /// Who was heard in it since it moved there.
    pub heard: Ranks,
    /// Whether the first plan version is closed.
    pub closed: bool,
    /// Whether workers follow it from the first plan version, until that is closed.
    pub leads: bool,
    /// By rank: which generation of the worker was counted in a result. No rule reads it.
    pub counted: [Option<Generation>; MAX_WORKERS as usize],
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Of a plan version that is not known yet, or any more.
    Foreign,
    /// Of another run: another generation of the server.
    OtherRun,
    /// The job was aborted; its sender is told.
    GaveUp,
    /// Of a chunk that is kept no more, or that no worker may send yet.
    OutOfWindow,
    /// Of a complete chunk: the result is sent again.
    Resend,
    /// Of a complete chunk whose result has just been sent again because of somebody else.
    Answered,
    /// It is the last chunk of its sender's tensor and not of others', or the other way round, or its numbers
    /// are others: discarded.
    Mismatch,
    /// Nobody in it was there: added.
    Added,
    /// Everybody in it was there: nothing changes.
    Repeat,
    /// Some were there: refused and counted.
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

/// What the server made of a gradient or partial.
#[derive(Clone, Debug)]
pub struct Handled {
    /// What became of it.
    pub verdict: Verdict,
    /// What is sent.
    pub outgoing: Outgoing,
    /// Chunks whose sums go on now, and those.
    pub gone_on: Vec<(u8, Sum)>,
}

impl From<(Verdict, Outgoing)> for Handled {
    fn from((verdict, outgoing): (Verdict, Outgoing)) -> Self {
        Self { verdict, outgoing, gone_on: Vec::new() }
    }
}

impl Server {
    /// A server that has heard of nobody, unless all know each other from the beginning.
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

    /// A chunk that is open, or complete and kept.
    pub fn chunk(&self, config: &Config, sequence: u8) -> Option<Chunk> {
        self.chunks[Self::place(config, sequence)].filter(|chunk| chunk.sequence == sequence)
    }

    /// Forgets who has asked for what again.
    pub fn forget_askers(&mut self) {
        self.chunks.iter_mut().flatten().for_each(|chunk| chunk.asked = 0);
    }

    /// Whether that chunk has its result.
    pub fn has_ended(&self, sequence: u8) -> bool {
        self.ended >> sequence & 1 == 1
    }

    /// Whether a worker may send that chunk now, of which nothing is known: the one before it in its slot has
    /// its result.
    fn may_open(&self, config: &Config, sequence: u8) -> bool {
        let before = sequence.checked_sub(config.window);
        !self.has_ended(sequence) && before.is_none_or(|before| self.has_ended(before))
    }

    /// A gradient or partial comes in.
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
            Verdict::Repeat if is(Mutant::OwnSumAnswered) && config.goes_on(sequence, chunk.have) => {
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
        let gone_on = match verdict {
            Verdict::Added if config.onward && is(Mutant::SumGoesOnEarly) => vec![(sequence, chunk.sum)],
            Verdict::Added if config.onward => self.go_on(config),
            Verdict::Repeat if config.goes_on(sequence, chunk.have) && is(Mutant::SumGoesOnAgain) => {
                vec![(sequence, chunk.sum)]
            }
            _ => Vec::new(),
        };
        Handled { verdict, outgoing, gone_on }
    }

    /// The sums that go on now: those of all workers, in the order of chunks, past maxima.
    fn go_on(&mut self, config: &Config) -> Vec<(u8, Sum)> {
        let mut gone_on = Vec::new();
        while let Some(next) = self.chunk(config, self.next_onward)
            && next.have == config.everybody()
        {
            gone_on.extend(config.goes_on(next.sequence, next.have).then_some((next.sequence, next.sum)));
            self.next_onward += 1;
        }
        gone_on
    }

    /// The maximum of the tensor before the one whose maxima that chunk is of, as this one's.
    fn maximum_before(&self, config: &Config, sequence: u8) -> Sum {
        let before =
            sequence.checked_sub(config.chunks_of_tensor()).filter(|_| config.is_of_maxima(sequence));
        let chunk = before.and_then(|before| self.chunk(config, before));
        chunk.map_or(Sum::default(), |chunk| Sum::of_size(sequence, chunk.sum.size(chunk.sequence)))
    }

    /// Adds a frame of which no contributor was there; what is sent if that completes the chunk.
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
        // Nobody else is added before the result is sent.
        let is_last = chunk.complete || config.goes_on(chunk.sequence, chunk.have);
        chunk.asked = if is_last && frame.resend { contributors } else { 0 };
        chunk.next = if chunk.complete && config.moves { self.place.of(self.run) } else { chunk.next };
        if chunk.complete { self.results(config, mutant, chunk, false) } else { Vec::new() }
    }

    /// What is to become of a contribution to a chunk.
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

    /// Whether it waits for that worker: it lacks it in a chunk that is open.
    pub fn waits_for(&self, worker: u8) -> bool {
        let mut known = self.chunks.iter().flatten();
        self.gave_up.is_none() && known.any(|chunk| !chunk.complete && chunk.have & one(worker) == 0)
    }

    /// A worker's generation says that it is there, and which run it knows of.
    pub fn keepalive(
        &mut self,
        mutant: Option<Mutant>,
        worker: u8,
        generation: Generation,
        run: Option<Run>,
    ) -> Outgoing {
        let to = Talk { generation, run: self.run };
        let to_sender = |frame| vec![(Node::Worker(worker), frame)];
        let mut told = Vec::new();
        if let Some(run) = run {
            if run != self.run {
                return to_sender(Frame::Abort { to, culprit: Peer::Server });
            }
            let host = self.hosts[usize::from(worker)].get_or_insert(generation);
            if mutant == Some(Mutant::BindsLatest) {
                *host = generation;
            }
            if *host != generation && self.gave_up.is_none() {
                told = self.give_up(Peer::Worker(worker));
            }
        }
        let bound = self.hosts[usize::from(worker)] == Some(generation);
        told.extend(to_sender(match self.gave_up {
            Some(culprit) => Frame::Abort { to, culprit },
            None => Frame::Answer { to, bound },
        }));
        told
    }

    /// Aborts the job because of that host.
    pub fn give_up(&mut self, culprit: Peer) -> Outgoing {
        self.gave_up = Some(culprit);
        self.bound_workers(0..MAX_WORKERS, |to| Frame::Abort { to, culprit })
    }

    /// A message to those of the workers that take part in the run.
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

    /// The plan version that it speaks to a worker in: one that the worker knows, as far as was heard.
    fn known_to(&self, worker: u8) -> Run {
        let heard = self.closed || self.heard & one(worker) != 0;
        match self.place {
            Place::Before => self.run,
            Place::After if heard => Run::Moved,
            Place::Back if !heard => Run::Moved,
            Place::After | Place::Back | Place::Ready => self.run,
        }
    }

    /// A chunk's result, in every plan version in which it goes to all: both, until all were heard in the
    /// present one.
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
            self.closed || self.heard == config.everybody() || mutant == Some(Mutant::ResultsInNewOnly);
        let runs = match self.place {
            Place::Before => vec![self.run],
            // What comes in the first plan version is answered there.
            _ if self.leads && chunk.opened == self.run && again => vec![self.run, Run::Moved],
            _ if self.leads && chunk.opened == self.run => vec![self.run],
            place if only_present => vec![place.of(self.run)],
            Place::After | Place::Back | Place::Ready => vec![self.run, Run::Moved],
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
        self.place = Place::After;
        self.heard = config.everybody();
        self.leads = true;
    }

    /// The first plan version is closed: all have moved.
    pub fn close(&mut self) {
        self.closed = true;
        (self.heard, self.leads) = (0, false);
    }
}

/// Whether values are so small that no sum of all workers' is more than a frame holds. In terms of the
/// model's values, a worker's is 1 at most.
fn may_be_added(frame: &Contribution) -> bool {
    let value = frame.sum.value();
    value < LIMITS.1 && u32::from(value.unsigned_abs()) <= frame.contributors.count_ones()
}
