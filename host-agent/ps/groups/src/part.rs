//! A server's part of the model: takes sums of groups, and returns the change that each group adds to its own
//! model.
//!
//! The server keeps the model, and each group's copy of it, as `f32`. An answer is the difference between the
//! model and the group's copy, as the nearest floats. The rounding error remains in the next difference, so
//! nothing is lost.

use std::collections::BTreeMap;
use std::ops::Range;

use inart_protocol_aggregation::completion_rule::{Answer, OwnSum};
use inart_protocol_ps::{TurnOutput, Turns};
use inart_wire::{ChunkSeq, ShardId};

use crate::agreed::Agreed;
use crate::error::{PartError, RackError};
use crate::shape::Shape;

/// Event of a group's turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEvent {
    /// All workers of the group have computed.
    Ready {
        /// The group.
        group: usize,
    },
    /// The group's turn has started.
    Begins {
        /// The group.
        group: usize,
        /// Number of the turn, from 0, over all groups.
        turn: u64,
    },
    /// The group's complete sum is in this part of the model.
    Ends {
        /// The group.
        group: usize,
        /// Number of the turn.
        turn: u64,
        /// Versions between the one that the sum was computed from and the one that it was added to.
        staleness: u64,
    },
}

/// A group's copy of the model, and the progress of its iteration.
#[derive(Debug, Clone)]
struct Group {
    /// Copy of this part of the model.
    has: Vec<f32>,
    /// The number of the iteration's first frame.
    base: ChunkSeq,
    iterations: u32,
    /// Sum of *ready* in this iteration, until the turn starts.
    ready: Option<OwnSum>,
    /// This part of the model, each chunk as of the group's last turn.
    version: Vec<f32>,
    /// Sums of chunks that are not applied yet.
    held: BTreeMap<usize, OwnSum>,
    has_begun: bool,
    /// Frames of *terms* that have not arrived.
    terms: BTreeMap<usize, Range<usize>>,
}

/// Settings that groups must share with this server.
#[derive(Debug, Clone)]
struct Terms {
    agreed: Agreed,
    /// Start of the server's part of the tensor.
    first: usize,
    frames: Vec<Range<usize>>,
    /// Number of workers by group.
    workers: Vec<usize>,
}

/// A server's part of the model.
#[derive(Debug, Clone)]
pub struct Part {
    turns: Turns,
    model: Vec<f32>,
    /// Start in the complete model.
    first: usize,
    /// Values of *ready* here; `None` without such a frame.
    ready: Option<usize>,
    /// By chunk: the number of its frame in an iteration, and its values.
    chunks: Vec<(usize, Range<usize>)>,
    /// Frames of an iteration: *ready*, maxima, and chunks.
    frames: usize,
    groups: Vec<Group>,
    answers: Vec<(usize, Answer)>,
    events: Vec<TurnEvent>,
    terms: Option<Terms>,
}

impl Part {
    /// Creates a server's part of the first model, which all groups share, for `groups` groups;
    /// `concurrent_groups` of them push at once.
    ///
    /// # Errors
    /// The model has another length, or the numbers are invalid.
    pub fn new(
        (shape, shard): (&Shape, ShardId),
        model: &[f32],
        groups: usize,
        concurrent_groups: usize,
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
            ready: None,
            held: BTreeMap::new(),
            has_begun: false,
            terms: BTreeMap::new(),
        };
        let ready = shape.ready_values(shard);
        let (before, of_gradient) = (usize::from(ready.is_some()), shape.frames(shard));
        let frames = before + of_gradient.len();
        let chunks: Vec<_> = (before..).zip(of_gradient).filter(|(_, values)| !values.is_empty()).collect();
        Ok(Part {
            turns: Turns::new(groups, concurrent_groups, chunks.len())?,
            groups: vec![group; groups],
            model,
            first,
            ready,
            chunks,
            frames,
            answers: Vec::new(),
            events: Vec::new(),
            terms: None,
        })
    }

    /// Makes each group sum the shared settings before its first iteration. `workers`: their numbers, by
    /// group.
    #[must_use]
    pub fn with_terms(
        mut self,
        (shape, shard): (&Shape, ShardId),
        agreed: Agreed,
        workers: Vec<usize>,
    ) -> Self {
        let (first, frames) = (shape.terms_part(shard).start, shape.terms_frames(shard));
        let awaited = frames.iter().cloned().enumerate().filter(|(_, values)| !values.is_empty());
        let awaited: BTreeMap<_, _> = awaited.collect();
        self.groups.iter_mut().for_each(|group| group.terms = awaited.clone());
        self.terms = Some(Terms { agreed, first, frames, workers });
        self
    }

    /// Adds a setting that groups must share; without a value if this server does not know it.
    pub fn add_term(&mut self, name: &str, value: Option<String>) {
        if let Some(terms) = &mut self.terms {
            terms.agreed.add(name, value);
        }
    }

    /// Takes a frame of *terms*: the answer is the server's own numbers, if the group's are equal.
    fn take_terms(&mut self, group: usize, sum: &OwnSum) -> Result<(), PartError> {
        let place = sum.sequence.since(self.groups[group].base);
        let wrong = PartError::Frame { group, frame: place };
        let Some(terms) = &mut self.terms else { return Err(wrong) };
        let own = &mut self.groups[group];
        let Some(values) = own.terms.remove(&(place as usize)) else { return Err(wrong) };
        let is_last = Some(values.end) == terms.frames.iter().map(|own| own.end).max();
        check(group, place as usize, sum, values.len(), is_last)?;
        let workers = terms.workers.get(group).copied().unwrap_or(1).max(1) as f32;
        let means: Vec<f32> = sum.values.iter().map(|value| value / workers).collect();
        let first = terms.first + values.start;
        terms.agreed.compare(group, first, (&means, workers))?;
        let answer: Vec<f32> = (first..).take(values.len()).map(|at| terms.agreed.value(at)).collect();
        self.answers.push((group, sum.answer(&answer).0));
        if own.terms.is_empty() {
            own.base = own.base.advance(terms.frames.len() as u32);
        }
        Ok(())
    }

    /// Takes the sum of a frame over all workers of a group.
    ///
    /// # Errors
    /// The frame does not belong to the group's iteration, or the model would not be finite.
    pub fn take(&mut self, group: usize, sum: OwnSum) -> Result<(), PartError> {
        if !self.groups[group].terms.is_empty() {
            return self.take_terms(group, &sum);
        }
        let at = sum.sequence.since(self.groups[group].base);
        let place = at as usize;
        let wrong = PartError::Frame { group, frame: at };
        if let Some(expected) = self.ready.filter(|_| place == 0) {
            check(group, place, &sum, expected, expected > 0)?;
            if self.groups[group].ready.replace(sum).is_some() {
                return Err(wrong);
            }
            self.is_ready(group)?;
        } else {
            let Ok(chunk) = self.chunks.binary_search_by_key(&place, |(frame, _)| *frame) else {
                return Err(wrong);
            };
            if self.groups[group].held.contains_key(&chunk) {
                return Err(wrong);
            }
            check(group, place, &sum, self.chunks[chunk].1.len(), chunk + 1 == self.chunks.len())?;
            if self.ready.is_none() && !self.groups[group].has_begun {
                self.is_ready(group)?;
            }
            self.groups[group].held.insert(chunk, sum);
            self.turns.chunk(group, chunk)?;
        }
        self.carry_out()
    }

    /// Returns the answers since the last call, each with its group. A frame's values are the change of the
    /// group's model; zeros for *ready*.
    pub fn answers(&mut self) -> Vec<(usize, Answer)> {
        std::mem::take(&mut self.answers)
    }

    /// Returns the events since the last call.
    pub fn events(&mut self) -> Vec<TurnEvent> {
        std::mem::take(&mut self.events)
    }

    /// Returns this part of the model.
    pub fn model(&self) -> &[f32] {
        &self.model
    }

    /// Returns the version of the group's last turn: this part of the model without chunks of later turns,
    /// some of which may be applied already.
    pub fn version(&self, group: usize) -> &[f32] {
        &self.groups[group].version
    }

    /// Returns the number of applied iterations of a group.
    pub fn iterations(&self, group: usize) -> u32 {
        self.groups[group].iterations
    }

    /// Returns the groups that all others wait for.
    pub fn awaited(&self) -> Vec<usize> {
        self.turns.awaited()
    }

    /// Returns the number of completely applied turns, over all groups.
    pub fn turns(&self) -> u64 {
        self.turns.version()
    }

    /// Returns one past the last frame that the group was answered.
    pub fn end(&self, group: usize) -> ChunkSeq {
        self.groups[group].base
    }

    fn is_ready(&mut self, group: usize) -> Result<(), PartError> {
        self.groups[group].has_begun = true;
        self.events.push(TurnEvent::Ready { group });
        self.turns.ready(group)?;
        // The turn may start at once; chunks may follow.
        self.carry_out()
    }

    fn carry_out(&mut self) -> Result<(), PartError> {
        while let Some(output) = self.turns.next_output() {
            match output {
                TurnOutput::Begin { group, turn } => {
                    self.events.push(TurnEvent::Begins { group, turn });
                    let own = &mut self.groups[group];
                    if let Some(ready) = own.ready.take() {
                        self.answers.push((group, ready.answer(&vec![0.0; ready.values.len()]).0));
                    }
                }
                TurnOutput::Apply { group, chunk } => self.apply(group, chunk)?,
                TurnOutput::End { group, turn, staleness } => {
                    let own = &mut self.groups[group];
                    own.base = own.base.advance(self.frames as u32);
                    own.iterations += 1;
                    own.has_begun = false;
                    self.events.push(TurnEvent::Ends { group, turn, staleness });
                }
            }
        }
        Ok(())
    }

    fn apply(&mut self, group: usize, chunk: usize) -> Result<(), PartError> {
        let range = self.chunks[chunk].1.clone();
        let own = &mut self.groups[group];
        let sum = own.held.remove(&chunk).ok_or(PartError::Frame { group, frame: chunk as u32 })?;
        let (model, has) = (&mut self.model[range.clone()], &mut own.has[range.clone()]);
        model.iter_mut().zip(&sum.values).for_each(|(value, change)| *value += change);
        own.version[range.clone()].copy_from_slice(model);
        let changes: Vec<f32> = model.iter().zip(&*has).map(|(value, has)| value - has).collect();
        if let Some(at) = changes.iter().position(|change| !change.is_finite()) {
            return Err(PartError::NotFinite { group, value: self.first + range.start + at });
        }
        let (answer, read) = sum.answer(&changes);
        has.iter_mut().zip(&read).for_each(|(value, change)| *value += change);
        self.answers.push((group, answer));
        Ok(())
    }
}

fn check(group: usize, frame: usize, sum: &OwnSum, expected: usize, is_last: bool) -> Result<(), PartError> {
    let values = sum.values.len();
    if (values, sum.last) != (expected, is_last) {
        return Err(PartError::Length { group, frame, values, expected });
    }
    Ok(())
}
