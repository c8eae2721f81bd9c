//! The parameter server: what it decides about each frame.

use crate::config::{Config, MAX_CHUNKS};
use crate::frame::{Contribution, Frame, Node, Peer, Ranks, one, ranks};
use crate::mutant::Mutant;
use crate::sum::Sum;
use crate::switch::ask;

/// A chunk that is being summed, or was and is kept to answer repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chunk {
    /// Its number.
    pub sequence: u8,
    /// What the values are scaled by; `None`: opened by a worker whose values do not fit the agreed exponent, which nobody
    /// has told yet.
    pub exponent: Option<u8>,
    /// Who is in the sum.
    pub have: Ranks,
    /// The sum.
    pub sum: Sum,
    /// Whether the result has been sent.
    pub complete: bool,
    /// Who sent a repeat since then, as in a slot.
    pub asked: Ranks,
}

/// What the server knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Server {
    /// The chunks that have their results: a bitmap.
    pub ended: u8,
    /// A ring over four times the window, or all chunks.
    pub chunks: [Option<Chunk>; MAX_CHUNKS as usize],
    /// Because of whom the job was given up, if it was.
    pub gave_up: Option<Peer>,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Of another epoch.
    Foreign,
    /// The job was given up; its sender is told.
    GaveUp,
    /// Of a chunk that is kept no more, or that no worker may send yet.
    OutOfWindow,
    /// Of a complete chunk: the result is sent again.
    Resend,
    /// Of a complete chunk whose result has just been sent again because of somebody else.
    Answered,
    /// Nobody in it was there: added.
    Added,
    /// Everybody in it was there: nothing changes.
    Repeat,
    /// Some were there: refused and counted.
    Overlap,
    /// A partial that saturated: discarded.
    Overflow,
    /// Its sender's values need this higher exponent: the chunk starts anew with it.
    Raise,
    /// Its sender has not heard that the chunk was started anew.
    Behind,
    /// Nobody agreed on or asked for its exponent: refused.
    Exponent,
}

impl Verdict {
    /// Every one, in order.
    pub const ALL: [Self; 12] = [
        Self::Foreign,
        Self::GaveUp,
        Self::OutOfWindow,
        Self::Resend,
        Self::Answered,
        Self::Added,
        Self::Repeat,
        Self::Overlap,
        Self::Overflow,
        Self::Raise,
        Self::Behind,
        Self::Exponent,
    ];
}

/// Frames to be sent.
pub type Outgoing = Vec<(Node, Frame)>;

impl Server {
    fn place(config: &Config, sequence: u8) -> usize {
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

    /// Whether a worker may send that chunk now, of which nothing is known: the one before it in its slot has its result.
    fn may_open(&self, config: &Config, sequence: u8) -> bool {
        let before = sequence.checked_sub(config.window);
        !self.has_ended(sequence) && before.is_none_or(|before| self.has_ended(before))
    }

    /// A gradient or partial comes in.
    pub fn handle(
        &mut self,
        config: &Config,
        mutant: Option<Mutant>,
        frame: &Contribution,
    ) -> (Verdict, Outgoing) {
        let is = |mistake| mutant == Some(mistake);
        let to_sender = Node::Worker(frame.worker);
        if frame.old_epoch && !is(Mutant::AnyEpoch) {
            return (Verdict::Foreign, Vec::new());
        }
        if let Some(culprit) = self.gave_up {
            let silent = is(Mutant::AbortSaidOnce);
            return (
                Verdict::GaveUp,
                if silent { Vec::new() } else { vec![(to_sender, Frame::Abort { culprit })] },
            );
        }
        let sequence = frame.sequence;
        let clipped = !frame.partial && frame.overflow;
        let chunk = self.chunk(config, sequence);
        if chunk.is_none() && !self.may_open(config, sequence) {
            return (Verdict::OutOfWindow, Vec::new());
        }
        let mut chunk = chunk.unwrap_or(Chunk {
            sequence,
            exponent: (!clipped).then_some(frame.exponent),
            have: 0,
            sum: Sum::default(),
            complete: false,
            asked: 0,
        });
        let request = |worker, exponent| (Node::Worker(worker), Frame::Request { sequence, exponent });
        let request_all = |bitmap, exponent| ranks(bitmap).map(|worker| request(worker, exponent)).collect();
        let (verdict, outgoing) = match self.judge(mutant, &mut chunk, frame) {
            Verdict::Resend if is(Mutant::NoResend) => (Verdict::Resend, Vec::new()),
            Verdict::Resend => (Verdict::Resend, vec![(Node::Workers, result(&chunk))]),
            Verdict::Added => {
                chunk.have |= frame.contributors;
                chunk.sum = chunk.sum + frame.sum;
                chunk.complete = chunk.have == config.everybody();
                chunk.asked = if chunk.complete && frame.resend { frame.contributors } else { 0 };
                let sent = chunk.complete.then(|| (Node::Workers, result(&chunk)));
                (Verdict::Added, sent.into_iter().collect())
            }
            verdict @ (Verdict::Overlap | Verdict::Overflow) => {
                let missing = frame.contributors & !chunk.have;
                (verdict, request_all(missing, chunk.exponent.unwrap_or(0)))
            }
            Verdict::Raise => {
                let keeps = is(Mutant::RaiseKeepsSum);
                chunk = Chunk {
                    exponent: Some(frame.exponent),
                    have: frame.contributors,
                    sum: if keeps { chunk.sum + frame.sum } else { frame.sum },
                    ..chunk
                };
                (Verdict::Raise, request_all(config.everybody() & !chunk.have, frame.exponent))
            }
            Verdict::Behind => (Verdict::Behind, vec![request(frame.worker, chunk.exponent.unwrap_or(0))]),
            verdict => (verdict, Vec::new()),
        };
        let forgotten = is(Mutant::ResultForgotten) && chunk.complete;
        self.chunks[Self::place(config, sequence)] = (!forgotten).then_some(chunk);
        self.ended |= u8::from(chunk.complete) << sequence;
        (verdict, outgoing)
    }

    /// What is to become of a contribution to a chunk.
    fn judge(&self, mutant: Option<Mutant>, chunk: &mut Chunk, frame: &Contribution) -> Verdict {
        let is = |mistake| mutant == Some(mistake);
        if chunk.complete {
            return if ask(&mut chunk.asked, frame.contributors, is(Mutant::AskedOnce)) {
                Verdict::Resend
            } else {
                Verdict::Answered
            };
        }
        let clipped = !frame.partial && frame.overflow;
        if Some(frame.exponent) != chunk.exponent && !is(Mutant::AnyExponent) {
            return match () {
                () if chunk.exponent.is_some_and(|exponent| frame.exponent < exponent) => Verdict::Behind,
                () if clipped => Verdict::Raise,
                () => Verdict::Exponent,
            };
        }
        let here = frame.contributors & chunk.have;
        if here == frame.contributors && !is(Mutant::SubsetAdded) {
            Verdict::Repeat
        } else if frame.partial && frame.overflow && !is(Mutant::SaturatedAdded) {
            Verdict::Overflow
        } else if here == 0 || is(Mutant::OverlapAdded) || here == frame.contributors {
            Verdict::Added
        } else {
            Verdict::Overlap
        }
    }

    /// Whether it waits for that worker: it lacks it in a chunk that is open.
    pub fn waits_for(&self, worker: u8) -> bool {
        let mut known = self.chunks.iter().flatten();
        self.gave_up.is_none() && known.any(|chunk| !chunk.complete && chunk.have & one(worker) == 0)
    }

    /// Gives the job up because of a worker it waits for.
    pub fn give_up(&mut self, culprit: Peer) -> Outgoing {
        self.gave_up = Some(culprit);
        vec![(Node::Workers, Frame::Abort { culprit })]
    }
}

fn result(chunk: &Chunk) -> Frame {
    Frame::Result { sequence: chunk.sequence, exponent: chunk.exponent.unwrap_or(0), sum: chunk.sum }
}
