//! Computes a lane's graph for all lanes, a block of them at a time.

use super::lane::{Effect, Lane, Node};
use crate::exec::Scratch;
use crate::op::{Bin, Pc, Slice, Un};
use crate::state::State;
use crate::tables::{Cells, Registers};

/// Lanes computed together: enough to keep vector units busy, few enough to stay in the cache.
const BLOCK: usize = 32;
pub(crate) type Block = [u64; BLOCK];

/// A fused run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(super) lane: Lane,
    pub(super) lanes: usize,
    /// Scalar operations it stands for, itself the first of them.
    pub(super) length: usize,
    /// The same in scalar operations.
    pub(crate) fallback: Pc,
}

impl Run {
    /// Operations after this one that it stands for.
    pub fn skip(&self) -> usize {
        self.length - 1
    }

    /// Runs all lanes; false, with nothing done, if a register's index is out of range.
    pub fn execute(&self, state: &mut State, registers: &mut Registers, scratch: &mut Scratch) -> bool {
        if self.lane.bounds.iter().any(|&(word, size)| state.words[word as usize] >= size) {
            return false;
        }
        let blocks = &mut scratch.blocks;
        if blocks.len() < self.lane.nodes.len() {
            blocks.resize(self.lane.nodes.len(), [0; BLOCK]);
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature.
            unsafe { self.blocks_avx2(state, registers, blocks) };
            return true;
        }
        self.blocks(state, registers, blocks);
        true
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn blocks_avx2(&self, state: &mut State, registers: &mut Registers, blocks: &mut [Block]) {
        self.blocks(state, registers, blocks);
    }

    #[inline(always)]
    fn blocks(&self, state: &mut State, registers: &mut Registers, blocks: &mut [Block]) {
        let mut first = 0;
        while first < self.lanes {
            let count = (self.lanes - first).min(BLOCK);
            for (n, node) in self.lane.nodes.iter().enumerate() {
                let (earlier, rest) = blocks.split_at_mut(n);
                compute(*node, first, count, state, registers, earlier, &mut rest[0]);
            }
            for effect in &self.lane.effects {
                self.effect(*effect, first, count, state, registers, blocks);
            }
            first += count;
        }
    }

    #[inline(always)]
    fn effect(
        &self,
        effect: Effect,
        first: usize,
        count: usize,
        state: &mut State,
        registers: &mut Registers,
        blocks: &[Block],
    ) {
        match effect {
            Effect::Field { first: slice, step, value } => {
                store_fields(state, at(slice, step, first), step, &blocks[value][..count]);
            }
            Effect::Register { group, first: lane, step, index, value } => {
                let index = state.words[index as usize];
                let lane = i64::from(lane) + step * first as i64;
                store_registers(registers, group, lane, step, index, &blocks[value][..count]);
            }
            Effect::Reduce { word, op, value } => {
                let word = &mut state.words[word as usize];
                *word = blocks[value][..count].iter().fold(*word, |sum, &value| op.apply(sum, value));
            }
            Effect::Last { word, value } if first + count == self.lanes => {
                state.words[word as usize] = blocks[value][count - 1];
            }
            Effect::Last { .. } => {}
        }
    }
}

/// The field of lane `lane`.
#[inline(always)]
fn at(first: Slice, step: i64, lane: usize) -> Slice {
    Slice { byte: (i64::from(first.byte) + step * lane as i64) as u32, ..first }
}

/// Whether a field of 32 bits follows the one before at once, at a byte's start; its first byte.
#[inline(always)]
fn packed_words(slice: Slice, step: i64) -> Option<usize> {
    if slice.bits != 32 || step != 4 {
        return None;
    }
    let lead = 32 - u32::from(slice.shift);
    lead.is_multiple_of(8).then(|| (slice.byte + lead / 8) as usize)
}

#[inline(always)]
fn load_fields(state: &State, slice: Slice, step: i64, to: &mut [u64]) {
    if let Some(start) = packed_words(slice, step) {
        let (words, _) = state.bytes[start..start + to.len() * 4].as_chunks::<4>();
        for (to, word) in to.iter_mut().zip(words) {
            *to = u64::from(u32::from_be_bytes(*word));
        }
        return;
    }
    for (lane, to) in to.iter_mut().enumerate() {
        *to = state.load(at(slice, step, lane));
    }
}

#[inline(always)]
fn store_fields(state: &mut State, slice: Slice, step: i64, from: &[u64]) {
    if let Some(start) = packed_words(slice, step) {
        let (words, _) = state.bytes[start..start + from.len() * 4].as_chunks_mut::<4>();
        for (word, from) in words.iter_mut().zip(from) {
            *word = (*from as u32).to_be_bytes();
        }
        return;
    }
    for (lane, from) in from.iter().enumerate() {
        state.store(at(slice, step, lane), *from);
    }
}

#[inline(always)]
fn load_registers(registers: &Registers, group: u32, lane: i64, step: i64, index: u64, to: &mut [u64]) {
    if step == 1
        && let Cells::Narrow { lanes, cells } = &registers.groups[group as usize]
    {
        let start = index as usize * lanes + lane as usize;
        let cells = &cells[start..start + to.len()];
        for (to, cell) in to.iter_mut().zip(cells) {
            *to = u64::from(*cell);
        }
        return;
    }
    for (n, to) in to.iter_mut().enumerate() {
        *to = registers.get(group, (lane + step * n as i64) as u32, index).unwrap_or(0);
    }
}

#[inline(always)]
fn store_registers(registers: &mut Registers, group: u32, lane: i64, step: i64, index: u64, from: &[u64]) {
    if step == 1
        && let Cells::Narrow { lanes, cells } = &mut registers.groups[group as usize]
    {
        let start = index as usize * *lanes + lane as usize;
        let cells = &mut cells[start..start + from.len()];
        for (cell, from) in cells.iter_mut().zip(from) {
            *cell = *from as u32;
        }
        return;
    }
    for (n, from) in from.iter().enumerate() {
        registers.set(group, (lane + step * n as i64) as u32, index, *from);
    }
}

#[inline(always)]
fn compute(
    node: Node,
    first: usize,
    count: usize,
    state: &State,
    registers: &Registers,
    earlier: &[Block],
    to: &mut Block,
) {
    match node {
        Node::Uniform(word) => *to = [state.words[word as usize]; BLOCK],
        Node::Field { first: slice, step } => {
            load_fields(state, at(slice, step, first), step, &mut to[..count])
        }
        Node::Register { group, first: lane, step, index } => {
            let index = state.words[index as usize];
            let lane = i64::from(lane) + step * first as i64;
            load_registers(registers, group, lane, step, index, &mut to[..count]);
        }
        Node::Un(op, a) => unary(op, &earlier[a], to),
        Node::Bin(op, a, b) => binary(op, &earlier[a], &earlier[b], to),
        Node::Select(c, a, b) => {
            let (c, a, b) = (&earlier[c], &earlier[a], &earlier[b]);
            for n in 0..BLOCK {
                to[n] = if c[n] != 0 { a[n] } else { b[n] };
            }
        }
    }
}

/// The match is outside the loops, so that each loop is one vector operation.
#[inline(always)]
fn unary(op: Un, a: &Block, to: &mut Block) {
    macro_rules! each {
        ($($op:ident)* ; $($wide:ident)*) => {
            match op {
                $(Un::$op => for n in 0..BLOCK { to[n] = Un::$op.apply(a[n]) },)*
                $(Un::$wide(bits) => for n in 0..BLOCK { to[n] = Un::$wide(bits).apply(a[n]) },)*
            }
        };
    }
    each!(Move Not IsZero IsNonZero; Mask Extend ClampToU ClampUToU ClampToS ClampUToS)
}

#[inline(always)]
fn binary(op: Bin, a: &Block, b: &Block, to: &mut Block) {
    macro_rules! each {
        ($($op:ident)*) => {
            match op {
                $(Bin::$op => for n in 0..BLOCK { to[n] = Bin::$op.apply(a[n], b[n]) },)*
            }
        };
    }
    each!(Add Sub Mul And Or Xor Shl Shr Sar Div Mod Eq Ne LtU LtS LeU LeS)
}
