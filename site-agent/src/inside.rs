//! Between a site's inside and its trees: frames that the site's workers have summed become chunks between
//! sites, and the sums of those become the results of frames.
//!
//! A round is the job's tensors, one after the other; the workers sum each as a tensor of theirs. No chunk
//! between sites spans two tensors, and chunks are whole frames but for a tensor's last one, so each frame is
//! of one chunk. A chunk's sum has one exponent; its frames take their values of it as they are, so every
//! worker of every site reads the same bits.

use std::collections::{BTreeMap, VecDeque};

use inart_core::policy::OwnSum;
use inart_core::quantise::dequantise_all;
use inart_wire::{ChunkSeq, Exponent};

/// What of an inside does not fit the job between sites.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InsideError {
    /// Workers sum a tensor of another length.
    #[error(
        "not the job's tensor {tensor} of {expected} values{}; give them the job's \
         gradient", told.map(|told| format!(": one of {told}")).unwrap_or_default()
    )]
    Length {
        /// Which tensor of the job, from 0.
        tensor: usize,
        /// Its values.
        expected: usize,
        /// The values of theirs, if they have told.
        told: Option<u32>,
    },
    /// Frames that do not make up chunks.
    #[error(
        "frames of {frame} values do not make up chunks of {chunk} values between sites; give --values {frame}"
    )]
    Frames {
        /// Values of a frame.
        frame: usize,
        /// Values of a chunk.
        chunk: usize,
    },
    /// A window that is shorter than a chunk between sites.
    #[error(
        "a window of {window} frames, and a chunk between sites has {needed}; workers would wait for ever: \
         install the plan with `--window {least}`"
    )]
    Window {
        /// Frames that a worker may have in flight.
        window: u32,
        /// Frames of the longest chunk.
        needed: usize,
        /// A window that is long enough.
        least: usize,
    },
}

/// A chunk between sites that all workers are in.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    /// Which round; they count from 1.
    pub round: u32,
    /// Which chunk.
    pub chunk: usize,
    /// The sum over the workers.
    pub values: Vec<f32>,
}

/// The result of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Which frame.
    pub sequence: ChunkSeq,
    /// The sum over all sites.
    pub values: Vec<i32>,
    /// What they are scaled by.
    pub exponent: Exponent,
}

/// A frame of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    tensor: usize,
    length: usize,
    is_last: bool,
    chunk: usize,
}

/// A site's inside, as its parameter server sees it.
#[derive(Debug, Clone)]
pub struct Inside {
    tensors: Vec<usize>,
    frames: Vec<Place>,
    /// By chunk: the number of its first frame in a round, and one past its last.
    chunks: Vec<(usize, usize)>,
    /// Frames taken so far, over all rounds.
    taken: u64,
    /// Sums that are there before one that comes earlier.
    early: BTreeMap<u64, OwnSum>,
    gathering: Vec<f32>,
    ready: VecDeque<Ready>,
    /// What frames that were taken and not answered are scaled by.
    exponents: VecDeque<Exponent>,
    /// Frames answered so far.
    answered: u64,
    /// Sums between sites that are there before one that comes earlier.
    done: BTreeMap<(u32, usize), (Vec<i32>, Exponent)>,
}

impl Inside {
    /// Of a job of these tensors, cut into these chunks between sites and into frames of `frame_values`, of
    /// which workers have `window` in flight. All lengths in values.
    ///
    /// # Errors
    /// Frames or a window that do not fit the chunks.
    pub fn new(
        tensors: &[usize],
        chunk_values: &[usize],
        frame_values: usize,
        window: u32,
    ) -> Result<Self, InsideError> {
        let (mut frames, mut chunks) = (Vec::new(), Vec::new());
        let mut chunk = 0;
        for (tensor, &values) in tensors.iter().enumerate() {
            let mut left = values;
            while left > 0 {
                let of = chunk_values.get(chunk).copied().unwrap_or(0).min(left);
                if of == 0 || of < left && !of.is_multiple_of(frame_values) {
                    return Err(InsideError::Frames { frame: frame_values, chunk: of });
                }
                let first = frames.len();
                left -= of;
                for start in (0..of).step_by(frame_values) {
                    let length = frame_values.min(of - start);
                    let is_last = left == 0 && start + length == of;
                    frames.push(Place { tensor, length, is_last, chunk });
                }
                chunks.push((first, frames.len()));
                chunk += 1;
            }
        }
        let needed = chunks.iter().map(|(first, end)| end - first).max().unwrap_or(0);
        if needed > window as usize {
            let least = needed.next_power_of_two();
            return Err(InsideError::Window { window, needed, least });
        }
        let (early, ready, exponents, done) = Default::default();
        Ok(Self {
            tensors: tensors.to_vec(),
            frames,
            chunks,
            taken: 0,
            early,
            gathering: Vec::new(),
            ready,
            exponents,
            answered: 0,
            done,
        })
    }

    /// One past the last frame of so many rounds.
    pub fn end_of(&self, rounds: u32) -> ChunkSeq {
        ChunkSeq::from((u64::from(rounds) * self.frames.len() as u64) as u32)
    }

    /// The sum of a frame over all workers; frames may come in any order. `told`: how long the workers'
    /// tensor is, if they have said so.
    ///
    /// # Errors
    /// A frame that is none of the job's tensors'.
    pub fn take(&mut self, sum: OwnSum, told: Option<u32>) -> Result<(), InsideError> {
        let ahead = sum.sequence.since(ChunkSeq::from(self.taken as u32));
        self.early.insert(self.taken + u64::from(ahead), sum);
        while let Some(sum) = self.early.remove(&self.taken) {
            self.take_next(&sum, told)?;
        }
        Ok(())
    }

    fn take_next(&mut self, sum: &OwnSum, told: Option<u32>) -> Result<(), InsideError> {
        let per_round = self.frames.len() as u64;
        let (round, at) = (self.taken / per_round, (self.taken % per_round) as usize);
        let Place { tensor, length, is_last, chunk } = self.frames[at];
        if (sum.values.len(), sum.last) != (length, is_last) {
            let told = self.length_of_theirs(at, sum).or(told);
            return Err(InsideError::Length { tensor, expected: self.tensors[tensor], told });
        }
        let start = self.gathering.len();
        self.gathering.resize(start + length, 0.0);
        dequantise_all(&sum.values, sum.exponent, &mut self.gathering[start..]);
        self.exponents.push_back(sum.exponent);
        self.taken += 1;
        if at + 1 == self.chunks[chunk].1 {
            let values = std::mem::take(&mut self.gathering);
            self.ready.push_back(Ready { round: round as u32 + 1, chunk, values });
        }
        Ok(())
    }

    /// How long the workers' tensor is that ends with this sum, in the place of that frame. What they tell
    /// may still be of the tensor before.
    fn length_of_theirs(&self, at: usize, sum: &OwnSum) -> Option<u32> {
        let tensor = self.frames[at].tensor;
        let before = self.frames[..at].iter().rev().take_while(|place| place.tensor == tensor);
        let length = before.map(|place| place.length).sum::<usize>() + sum.values.len();
        sum.last.then_some(length as u32)
    }

    /// The next chunk that is ready, of a round; chunks are ready in order.
    pub fn next_ready(&mut self, round: u32) -> Option<Ready> {
        if self.ready.front()?.round != round {
            return None;
        }
        self.ready.pop_front()
    }

    /// The sum of a chunk over all sites is there: the results that may be sent now, in the order of frames.
    /// A frame of zeros keeps the exponent that its workers have agreed on.
    pub fn complete(
        &mut self,
        round: u32,
        chunk: usize,
        values: Vec<i32>,
        exponent: Exponent,
    ) -> Vec<Answer> {
        self.done.insert((round, chunk), (values, exponent));
        let mut answers = Vec::new();
        loop {
            let per_round = self.frames.len() as u64;
            let (round, at) = (self.answered / per_round, (self.answered % per_round) as usize);
            let chunk = self.frames[at].chunk;
            let Some((values, exponent)) = self.done.remove(&(round as u32 + 1, chunk)) else {
                return answers;
            };
            let mut rest = &values[..];
            for frame in self.chunks[chunk].0..self.chunks[chunk].1 {
                let (values, others) = rest.split_at(self.frames[frame].length.min(rest.len()));
                rest = others;
                let own = self.exponents.pop_front().unwrap_or(exponent);
                let is_zero = values.iter().all(|value| *value == 0);
                let exponent = if is_zero { own } else { exponent };
                let sequence = ChunkSeq::from(self.answered as u32);
                answers.push(Answer { sequence, values: values.to_vec(), exponent });
                self.answered += 1;
            }
        }
    }
}
