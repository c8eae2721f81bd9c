//! A server's part of the model: sums of groups come in, and what each group is to add to its own model goes
//! out.
//!
//! The model is kept as `f32`, and so is what each group has of it. A sum is added as the floats that its
//! integers stand for. The answer is the model minus what the group has, as integers at the least exponent
//! at which the chunk's largest difference fits: 31 bits of the *change*, where answering with the model
//! would leave the small steps of a training a few bits. What rounding leaves out is still in the difference
//! the next time, so nothing is lost. And as the next gradient's exponent follows from the answer
//! ([`inart_core::quantise`]), it stays that of updates.

use std::collections::BTreeMap;
use std::ops::Range;

use inart_core::policy::OwnSum;
use inart_core::quantise::{dequantise_all, least_exponent, quantise};
use inart_order::{TurnOutput, Turns};
use inart_wire::{ChunkSeq, Exponent, ShardId};

use crate::error::{PartError, RackError};
use crate::shape::Shape;

/// The result of a frame of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The group.
    pub group: usize,
    /// Which frame.
    pub sequence: ChunkSeq,
    /// Zeros for *ready*; by how much the group's model changes.
    pub values: Vec<i32>,
    /// What they are scaled by.
    pub exponent: Exponent,
}

/// What a sum has brought about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// All workers of the group have computed.
    Ready {
        /// The group.
        group: usize,
    },
    /// The group's turn begins.
    Begins {
        /// The group.
        group: usize,
        /// Which turn, from 0, over all groups.
        turn: u64,
    },
    /// All of the group's sum is in this part of the model.
    Ends {
        /// The group.
        group: usize,
        /// Which turn.
        turn: u64,
        /// Versions between what the sum was computed from and what it was added to.
        staleness: u64,
    },
}

/// What a group has, and where its iteration is.
#[derive(Debug, Clone)]
struct Group {
    /// Of this part of the model.
    has: Vec<f32>,
    /// The number of the iteration's first frame.
    base: ChunkSeq,
    iterations: u32,
    /// *Ready* frames of this iteration: their exponents, and how many values they have.
    ready: BTreeMap<usize, (Exponent, usize)>,
    /// This part of the model, each chunk as the group's last turn made it.
    version: Vec<f32>,
    /// Sums of chunks that are not applied.
    held: BTreeMap<usize, OwnSum>,
    has_begun: bool,
}

/// A server's part of the model.
#[derive(Debug, Clone)]
pub struct Part {
    turns: Turns,
    model: Vec<f32>,
    /// Where it begins in the whole model.
    first: usize,
    frame: usize,
    ready_frames: usize,
    ready_values: usize,
    groups: Vec<Group>,
    answers: Vec<Answer>,
    news: Vec<News>,
}

impl Part {
    /// The part that is a server's of a first model, for so many groups, of which so many push at once. All
    /// have the first model.
    ///
    /// # Errors
    /// A model of another length, or numbers that cannot be.
    pub fn new(
        (shape, shard, frame): (&Shape, ShardId, usize),
        model: &[f32],
        groups: usize,
        at_once: usize,
    ) -> Result<Self, RackError> {
        let range = shape.part(shard);
        if model.len() != shape.values() {
            return Err(RackError::Model { given: model.len(), values: shape.values() });
        }
        let (first, model) = (range.start, model[range].to_vec());
        let group = Group {
            has: model.clone(),
            version: model.clone(),
            base: ChunkSeq::from(0),
            iterations: 0,
            ready: BTreeMap::new(),
            held: BTreeMap::new(),
            has_begun: false,
        };
        Ok(Part {
            turns: Turns::new(groups, at_once, model.len().div_ceil(frame))?,
            groups: vec![group; groups],
            model,
            first,
            frame,
            ready_frames: shape.ready_frames(shard),
            ready_values: shape.ready_values(shard),
            answers: Vec::new(),
            news: Vec::new(),
        })
    }

    /// The sum of a frame over all workers of a group; frames may come in any order.
    ///
    /// # Errors
    /// A frame that is none of the group's iteration, or what makes the model no numbers.
    pub fn take(&mut self, group: usize, sum: OwnSum) -> Result<(), PartError> {
        let at = sum.sequence.since(self.groups[group].base);
        let place = at as usize;
        let wrong = PartError::Frame { group, frame: at };
        if place < self.ready_frames {
            let expected = frame_of(place, self.frame, self.ready_values);
            let is_last = place + 1 == self.ready_frames;
            self.check(group, place, &sum, expected.len(), is_last)?;
            let ready = &mut self.groups[group].ready;
            if ready.insert(place, (sum.exponent, sum.values.len())).is_some() {
                return Err(wrong);
            }
            if ready.len() == self.ready_frames {
                self.is_ready(group)?;
            }
        } else {
            let chunk = place - self.ready_frames;
            let range = frame_of(chunk, self.frame, self.model.len());
            if range.is_empty() || self.groups[group].held.contains_key(&chunk) {
                return Err(wrong);
            }
            self.check(group, place, &sum, range.len(), range.end == self.model.len())?;
            if self.ready_frames == 0 && !self.groups[group].has_begun {
                self.is_ready(group)?;
            }
            self.groups[group].held.insert(chunk, sum);
            self.turns.chunk(group, chunk)?;
        }
        self.carry_out()
    }

    /// What is to be answered since the last call.
    pub fn answers(&mut self) -> Vec<Answer> {
        std::mem::take(&mut self.answers)
    }

    /// What has happened since the last call.
    pub fn news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// This part of the model.
    pub fn model(&self) -> &[f32] {
        &self.model
    }

    /// The version that the group's last turn made: this part of the model without chunks of later turns,
    /// which may be in others already.
    pub fn version(&self, group: usize) -> &[f32] {
        &self.groups[group].version
    }

    /// Iterations of a group that are applied.
    pub fn iterations(&self, group: usize) -> u32 {
        self.groups[group].iterations
    }

    /// One past the last frame that the group was answered.
    pub fn end(&self, group: usize) -> ChunkSeq {
        self.groups[group].base
    }

    fn check(
        &self,
        group: usize,
        frame: usize,
        sum: &OwnSum,
        expected: usize,
        is_last: bool,
    ) -> Result<(), PartError> {
        let values = sum.values.len();
        if (values, sum.last) != (expected, is_last) {
            return Err(PartError::Length { group, frame, values, expected });
        }
        Ok(())
    }

    fn is_ready(&mut self, group: usize) -> Result<(), PartError> {
        self.groups[group].has_begun = true;
        self.news.push(News::Ready { group });
        self.turns.ready(group)?;
        // Its turn may begin at once; chunks may follow.
        self.carry_out()
    }

    fn carry_out(&mut self) -> Result<(), PartError> {
        while let Some(output) = self.turns.next_output() {
            match output {
                TurnOutput::Begin { group, turn } => {
                    self.news.push(News::Begins { group, turn });
                    let own = &mut self.groups[group];
                    for (place, (exponent, values)) in std::mem::take(&mut own.ready) {
                        let sequence = own.base.advance(place as u32);
                        self.answers.push(Answer { group, sequence, values: vec![0; values], exponent });
                    }
                }
                TurnOutput::Apply { group, chunk } => self.apply(group, chunk)?,
                TurnOutput::End { group, turn, staleness } => {
                    let frames = self.ready_frames + self.model.len().div_ceil(self.frame);
                    let own = &mut self.groups[group];
                    own.base = own.base.advance(frames as u32);
                    own.iterations += 1;
                    own.has_begun = false;
                    self.news.push(News::Ends { group, turn, staleness });
                }
            }
        }
        Ok(())
    }

    fn apply(&mut self, group: usize, chunk: usize) -> Result<(), PartError> {
        let range = frame_of(chunk, self.frame, self.model.len());
        let own = &mut self.groups[group];
        let sum = own.held.remove(&chunk).ok_or(PartError::Frame { group, frame: chunk as u32 })?;
        let mut floats = vec![0.0; range.len()];
        dequantise_all(&sum.values, sum.exponent, &mut floats);
        let (model, has) = (&mut self.model[range.clone()], &mut own.has[range.clone()]);
        model.iter_mut().zip(&floats).for_each(|(value, change)| *value += change);
        own.version[range.clone()].copy_from_slice(model);
        let changes: Vec<f32> = model.iter().zip(&*has).map(|(value, has)| value - has).collect();
        if let Some(at) = changes.iter().position(|change| !change.is_finite()) {
            return Err(PartError::NotFinite { group, value: self.first + range.start + at });
        }
        // Zeros keep the exponent that workers have agreed on.
        let is_zero = changes.iter().all(|change| *change == 0.0);
        let exponent = if is_zero { sum.exponent } else { least_exponent(&changes) };
        let mut values = vec![0; changes.len()];
        quantise(&changes, exponent, &mut values).expect("they fit the least exponent at which they fit");
        dequantise_all(&values, exponent, &mut floats);
        has.iter_mut().zip(&floats).for_each(|(value, change)| *value += change);
        let sequence = own.base.advance((self.ready_frames + chunk) as u32);
        self.answers.push(Answer { group, sequence, values, exponent });
        Ok(())
    }
}

/// The values of a frame, of so many in all; none for a frame beyond them.
fn frame_of(number: usize, frame: usize, values: usize) -> Range<usize> {
    let start = number.saturating_mul(frame).min(values);
    start..(start + frame).min(values)
}
