//! The tensors that workers sum in an iteration, and each server's part of them.

use std::ops::Range;

use inart_protocol_aggregation::{Assignment, Chunk, Split};
use inart_wire::ShardId;

use crate::error::RackError;

/// Tensors that a group's workers sum in each iteration, by its assignment: a tensor of one value that
/// signals readiness, unless there is only one group, which always has the turn; then the gradient. *Ready*
/// is one frame at each server: without a value at all but one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Values of the tensor *ready*; 0 without one.
    pub ready: usize,
    ready_split: Split,
    terms_split: Split,
    split: Split,
}

/// Values of a block: shards are whole blocks.
const BLOCK: usize = 256;

impl Shape {
    /// Creates the shape for a gradient of `values` values in one of `groups` groups.
    ///
    /// # Errors
    /// A server has no part of the model, and so would have no turns.
    pub fn new(assignment: &Assignment, values: usize, groups: usize) -> Result<Self, RackError> {
        let split = Split::new(assignment, values);
        if let Some(shard) = split.shards().iter().position(Range::is_empty) {
            let (job, server) = (assignment.name.clone(), assignment.shards[shard].server.clone());
            return Err(RackError::NoPart { job, server, values });
        }
        let ready = usize::from(groups > 1);
        let ready_split = Split::new(assignment, ready);
        Ok(Shape { ready, ready_split, terms_split: terms_split(assignment, values), split })
    }

    /// Returns the values of a server's part of the model.
    pub fn part(&self, shard: ShardId) -> Range<usize> {
        self.split.shards().get(shard.index()).cloned().unwrap_or(0..0)
    }

    /// Returns the values of *ready* at a server; `None` without such a tensor.
    pub fn ready_values(&self, shard: ShardId) -> Option<usize> {
        (self.ready > 0).then(|| self.ready_split.shards().get(shard.index()).map_or(0, Range::len))
    }

    /// Returns the values of the tensor *terms*: some for each server.
    pub fn terms(&self) -> usize {
        self.terms_split.shards().last().map_or(0, |last| last.end)
    }

    /// Returns the values of *terms* at a server.
    pub fn terms_part(&self, shard: ShardId) -> Range<usize> {
        self.terms_split.shards().get(shard.index()).cloned().unwrap_or(0..0)
    }

    /// Returns the server that has a value of *terms*.
    pub fn terms_shard(&self, value: usize) -> usize {
        self.terms_split.shards().iter().position(|part| part.contains(&value)).unwrap_or(0)
    }

    /// Returns the frames of *terms* at a server, as those of the gradient.
    pub fn terms_frames(&self, shard: ShardId) -> Vec<Range<usize>> {
        frames(&self.terms_split, shard)
    }

    /// Returns the gradient's frames at a server: their values in its part of the model; none in those of
    /// maxima.
    pub fn frames(&self, shard: ShardId) -> Vec<Range<usize>> {
        frames(&self.split, shard)
    }

    /// Returns whether another group has the same frames at a server, with the same values. The frames of
    /// exact sums depend on the number of workers.
    pub fn has_same_frames(&self, other: &Self, shard: ShardId) -> bool {
        self.ready == other.ready
            && self.part(shard) == other.part(shard)
            && self.frames(shard) == other.frames(shard)
    }

    /// Returns the values of the gradient.
    pub fn values(&self) -> usize {
        self.split.shards().last().map_or(0, |last| last.end)
    }
}

/// Returns the shortest tensor of which every server with a part of the model has a part.
fn terms_split(assignment: &Assignment, values: usize) -> Split {
    let lengths = (1..=values.div_ceil(BLOCK)).map(|blocks| blocks * BLOCK);
    let mut splits = lengths.map(|length| Split::new(assignment, length));
    let found = splits.find(|split| !split.shards().iter().any(Range::is_empty));
    found.unwrap_or_else(|| Split::new(assignment, values))
}

fn frames(split: &Split, shard: ShardId) -> Vec<Range<usize>> {
    let first = split.shards().get(shard.index()).map_or(0, |part| part.start);
    let before = (0..shard.get()).map(|shard| split.chunk_count(ShardId::from(shard))).sum();
    let own = split.chunks().skip(before).take(split.chunk_count(shard));
    own.map(|chunk| match chunk {
        Chunk::Maxima(_) => 0..0,
        Chunk::Scaled(values) | Chunk::Digits(values) | Chunk::Floats(values) => {
            values.start - first..values.end - first
        }
    })
    .collect()
}
