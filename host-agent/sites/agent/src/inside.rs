//! Mapping between a site's inside and its trees. Frames that the site's workers have summed become chunks
//! between sites, and the sums of those chunks become the results of frames.
//!
//! A round consists of the job's tensors in order; the workers sum each one as a tensor. A chunk between
//! sites never spans two tensors. Chunks are whole frames and whole blocks, except for a tensor's last chunk,
//! so each frame belongs to one chunk. Frames of maxima belong to no chunk: they take sequence numbers, and
//! their results are ready when all workers of the site have contributed. The result of a frame has the bits
//! of its chunk's sum, so all workers of all sites read identical values.

use std::collections::{BTreeMap, VecDeque};

use inart_protocol_aggregation::completion_rule::{Answer, OwnSum};
use inart_protocol_aggregation::scale::BLOCK_VALUES;
use inart_protocol_aggregation::{Assignment, Chunk, Split};
use inart_wire::ChunkSeq;

/// Mismatch between a site's inside and the job between sites.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InsideError {
    /// Tensor of the workers with a wrong length.
    #[error(
        "not the job's tensor {tensor} of {expected} values{}; give them the job's \
         gradient", reported.map(|reported| format!(": one of {reported}")).unwrap_or_default()
    )]
    Length {
        /// Index of the tensor in the job, from 0.
        tensor: usize,
        /// Number of values of the job's tensor.
        expected: usize,
        /// Number of values of the workers' tensor, if reported.
        reported: Option<u32>,
    },
    /// Tensor without values.
    #[error("tensor {tensor} has no values; give each tensor of the job at least 4 bytes, one value")]
    Empty {
        /// Index of the tensor in the job, from 0.
        tensor: usize,
    },
    /// Frames or blocks that do not divide the chunks.
    #[error(
        "frames of {frame} values and blocks of {BLOCK_VALUES} do not make up chunks of {chunk} values between \
         sites; give the job a chunk of a multiple of {}", frame.max(&BLOCK_VALUES)
    )]
    Frames {
        /// Values of a frame.
        frame: usize,
        /// Values of a chunk.
        chunk: usize,
    },
    /// Window shorter than a chunk between sites.
    #[error(
        "a window of {window} frames, and a chunk between sites has {needed}; workers would wait forever: \
         install the plan with a window of {least}"
    )]
    Window {
        /// Frames that a worker may have in flight.
        window: u32,
        /// Frames of the longest chunk.
        needed: usize,
        /// Smallest sufficient window.
        least: usize,
    },
}

/// Chunk between sites that all workers have contributed to.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    /// Round, counted from 1.
    pub round: u32,
    /// Number of the chunk.
    pub chunk: usize,
    /// Sum over the workers.
    pub values: Vec<f32>,
}

/// Frame of a round that has values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FramePosition {
    /// Number of the frame among all frames of the round.
    number: usize,
    tensor: usize,
    length: usize,
    is_last: bool,
    chunk: usize,
}

/// Inside of a site, as seen by its parameter server.
#[derive(Debug, Clone)]
pub struct Inside {
    tensors: Vec<usize>,
    /// Frames with values, in the order of their numbers.
    positions: Vec<FramePosition>,
    /// Number of frames of a round, including those of maxima.
    frames: usize,
    /// For each chunk: number of frames with its values.
    chunks: Vec<usize>,
    /// Number of sums accepted, over all rounds.
    taken: u64,
    gathering: Vec<f32>,
    ready: VecDeque<Ready>,
    /// Sums that were accepted and not answered, without their values; and the number of their values.
    waiting: VecDeque<(OwnSum, usize)>,
    /// Number of chunks answered, over all rounds.
    answered: u64,
    /// Completed sums between sites that wait for an earlier one.
    done: BTreeMap<u64, Vec<f32>>,
}

impl Inside {
    /// Creates the mapping for a job of these tensors, cut into these chunks, whose workers have this
    /// assignment of one shard. All lengths are in values.
    ///
    /// # Errors
    /// A tensor without values; frames or a window that do not fit the chunks.
    pub fn new(
        tensors: &[usize],
        chunk_values: &[usize],
        assignment: &Assignment,
    ) -> Result<Self, InsideError> {
        if let Some(tensor) = tensors.iter().position(|values| *values == 0) {
            return Err(InsideError::Empty { tensor });
        }
        let (mut positions, mut frames, mut chunks) = (Vec::<FramePosition>::new(), 0, Vec::new());
        let frame = assignment.values_per_frame.get();
        let mut values_of = chunk_values.iter();
        for (tensor, &values) in tensors.iter().enumerate() {
            // End of the chunk that the current frames belong to.
            let (mut end, mut chunk_of_end) = (0, 0);
            for content in Split::new(assignment, values).chunks() {
                let number = frames;
                frames += 1;
                let (range, is_scaled) = match content {
                    Chunk::Maxima(_) => continue,
                    Chunk::Scaled(range) => (range, true),
                    Chunk::Digits(range) | Chunk::Floats(range) => (range, false),
                };
                if range.start == end {
                    chunk_of_end = values_of.next().copied().unwrap_or(0);
                    end += chunk_of_end;
                    chunks.push(0);
                }
                let is_bound = end == values || !is_scaled || end.is_multiple_of(BLOCK_VALUES);
                if range.end > end || end > values || !is_bound {
                    return Err(InsideError::Frames { frame, chunk: chunk_of_end });
                }
                let chunk = chunks.len() - 1;
                chunks[chunk] += 1;
                let is_last = range.end == values;
                positions.push(FramePosition { number, tensor, length: range.len(), is_last, chunk });
            }
        }
        // Maxima do not wait for other sites, so they delay no chunk.
        let (window, needed) = (assignment.window_chunks, chunks.iter().copied().max().unwrap_or(0));
        if needed > window as usize {
            let least = needed.next_power_of_two();
            return Err(InsideError::Window { window, needed, least });
        }
        let (gathering, ready, waiting, done) = Default::default();
        let tensors = tensors.to_vec();
        Ok(Self {
            tensors,
            positions,
            frames,
            chunks,
            taken: 0,
            gathering,
            ready,
            waiting,
            answered: 0,
            done,
        })
    }

    /// Returns one past the last frame of `rounds` rounds.
    pub fn end_of(&self, rounds: u32) -> ChunkSeq {
        self.sequence(rounds.into(), 0)
    }

    fn sequence(&self, round: u64, number: usize) -> ChunkSeq {
        ChunkSeq::from((round * self.frames as u64 + number as u64) as u32)
    }

    /// Accepts the sum of a frame over all workers, in the order of frames. `reported`: length of the
    /// workers' tensor, if they reported it.
    ///
    /// # Errors
    /// A frame that belongs to none of the job's tensors.
    pub fn take(&mut self, mut sum: OwnSum, reported: Option<u32>) -> Result<(), InsideError> {
        let per_round = self.positions.len() as u64;
        let (round, at) = (self.taken / per_round, (self.taken % per_round) as usize);
        let FramePosition { number, tensor, length, is_last, chunk } = self.positions[at];
        let is_next = sum.sequence == self.sequence(round, number);
        if !is_next || (sum.values.len(), sum.last) != (length, is_last) {
            let reported = self.length_of_theirs(at, &sum).filter(|_| is_next).or(reported);
            return Err(InsideError::Length { tensor, expected: self.tensors[tensor], reported });
        }
        self.gathering.append(&mut sum.values);
        self.waiting.push_back((sum, length));
        self.taken += 1;
        if self.positions.get(at + 1).is_none_or(|next| next.chunk != chunk) {
            let values = std::mem::take(&mut self.gathering);
            self.ready.push_back(Ready { round: round as u32 + 1, chunk, values });
        }
        Ok(())
    }

    /// Returns the length of the workers' tensor that ends with this sum. The length that the workers report
    /// may still be that of the previous tensor.
    fn length_of_theirs(&self, at: usize, sum: &OwnSum) -> Option<u32> {
        let tensor = self.positions[at].tensor;
        let before = self.positions[..at].iter().rev().take_while(|place| place.tensor == tensor);
        let length = before.map(|place| place.length).sum::<usize>() + sum.values.len();
        sum.last.then_some(length as u32)
    }

    /// Returns the next completed chunk of a round; chunks are completed in order.
    pub fn next_ready(&mut self, round: u32) -> Option<Ready> {
        if self.ready.front()?.round != round {
            return None;
        }
        self.ready.pop_front()
    }

    /// Records the sum of a chunk over all sites. Returns the results that may be sent now, in the order of
    /// frames.
    pub fn complete(&mut self, round: u32, chunk: usize, values: Vec<f32>) -> Vec<Answer> {
        let chunks = self.chunks.len() as u64;
        self.done.insert((u64::from(round) - 1) * chunks + chunk as u64, values);
        let mut answers = Vec::new();
        while let Some(values) = self.done.remove(&self.answered) {
            let mut rest = &values[..];
            for _ in 0..self.chunks[(self.answered % chunks) as usize] {
                let Some((own, length)) = self.waiting.pop_front() else { break };
                let (values, others) = rest.split_at(length.min(rest.len()));
                rest = others;
                answers.push(own.answer(values).0);
            }
            self.answered += 1;
        }
        answers
    }
}
