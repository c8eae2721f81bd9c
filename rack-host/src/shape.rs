//! What workers sum in an iteration, and what of it is a server's.

use std::ops::Range;

use inart_core::{Assignment, Split};
use inart_wire::ShardId;

use crate::error::RackError;

/// What a group's workers sum in each iteration, by its assignment: a tensor that says that they are ready,
/// unless there is one group, whose turn it always is; then the gradient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Values of the tensor *ready*; 0 if there is none.
    pub ready: usize,
    ready_split: Split,
    split: Split,
}

/// As many values are the most that *ready* may need: a server with a smaller share than one in so many has
/// hardly a part of the model.
const MOST_READY: usize = 1 << 16;

impl Shape {
    /// Of a gradient of so many values, in one of so many groups.
    ///
    /// # Errors
    /// A server without a part of the model: it would have no turns.
    pub fn new(assignment: &Assignment, values: usize, groups: usize) -> Result<Self, RackError> {
        let none = |split: &Split| split.shards().iter().position(Range::is_empty);
        let split = Split::new(assignment, values);
        let no_part = |shard: usize| RackError::NoPart {
            job: assignment.name.clone(),
            server: assignment.shards[shard].server.clone(),
            values,
        };
        if let Some(shard) = none(&split) {
            return Err(no_part(shard));
        }
        let mut ready = if groups > 1 { assignment.shards.len() } else { 0 };
        let mut ready_split = Split::new(assignment, ready);
        while let Some(shard) = none(&ready_split).filter(|_| ready > 0) {
            ready *= 2;
            if ready > MOST_READY {
                return Err(no_part(shard));
            }
            ready_split = Split::new(assignment, ready);
        }
        Ok(Shape { ready, ready_split, split })
    }

    /// The values of a server's part of the model.
    pub fn part(&self, shard: ShardId) -> Range<usize> {
        self.split.shards().get(shard.index()).cloned().unwrap_or(0..0)
    }

    /// Frames of *ready* at a server.
    pub fn ready_frames(&self, shard: ShardId) -> usize {
        self.ready_split.chunk_count(shard)
    }

    /// Values of *ready* at a server.
    pub fn ready_values(&self, shard: ShardId) -> usize {
        self.ready_split.shards().get(shard.index()).map_or(0, Range::len)
    }

    /// Values of the gradient.
    pub fn values(&self) -> usize {
        self.split.shards().last().map_or(0, |last| last.end)
    }
}
