//! Fused runs of operations as data: found by [`crate::fuse`], carried out by [`crate::exec`].

use crate::op::{Bin, Pc, Slice, Un, Word};

/// A value of the graph: an index into [`Lane::nodes`], of earlier nodes only.
pub(crate) type Value = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// Word that all lanes share.
    Uniform(Word),
    /// A field, and the step in bytes.
    Field {
        first: Slice,
        step: i64,
    },
    /// A register cell: group, first lane and step, and the word that holds the index.
    Register {
        group: u32,
        first: u32,
        step: i64,
        index: Word,
    },
    Un(Un, Value),
    Bin(Bin, Value, Value),
    Select(Value, Value, Value),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Effect {
    Field {
        first: Slice,
        step: i64,
        value: Value,
    },
    Register {
        group: u32,
        first: u32,
        step: i64,
        index: Word,
        value: Value,
    },
    /// Combines the word with the value of every lane.
    Reduce {
        word: Word,
        op: Bin,
        value: Value,
    },
    /// The word holds the last lane's value.
    Last {
        word: Word,
        value: Value,
    },
}

/// One lane of a run.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) nodes: Vec<Node>,
    pub(crate) effects: Vec<Effect>,
    /// Words that must be below a register array's size.
    pub(crate) bounds: Vec<(Word, u64)>,
    /// The low 32 bits of every node suffice.
    pub(crate) narrow: bool,
}

/// A fused run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) lane: Lane,
    pub(crate) lanes: usize,
    /// Scalar operations it stands for, itself the first of them.
    pub(crate) length: usize,
    /// Equivalent scalar operations.
    pub(crate) fallback: Pc,
}

impl Run {
    /// Operations after this one that it stands for.
    pub fn skip(&self) -> usize {
        self.length - 1
    }
}
