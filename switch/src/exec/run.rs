//! Computes a lane's graph for all lanes, a block of them at a time.

use crate::fused::{Effect, Node, Run};
use crate::op::{Bin, Slice, Un};
use crate::state::State;
use crate::tables::{Cells, Registers};

/// Lanes computed together: enough to keep vector units busy, few enough to stay in the cache.
const WIDE: usize = 32;
const NARROW: usize = 64;

/// Values of a block of lanes, for each node of a graph.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    wide: Vec<[u64; WIDE]>,
    narrow: Vec<[u32; NARROW]>,
}

/// Integer type of a lane's computation.
trait Element: Copy {
    fn narrow(value: u64) -> Self;
    fn widen(self) -> u64;
}

impl Element for u64 {
    #[inline(always)]
    fn narrow(value: u64) -> u64 {
        value
    }

    #[inline(always)]
    fn widen(self) -> u64 {
        self
    }
}

/// The low half: right for graphs of which [`Lane::narrow`](crate::fused::Lane::narrow) is true.
impl Element for u32 {
    #[inline(always)]
    fn narrow(value: u64) -> u32 {
        value as u32
    }

    #[inline(always)]
    fn widen(self) -> u64 {
        u64::from(self)
    }
}

impl Run {
    /// Runs all lanes; false, with nothing done, if a register's index is out of range.
    pub fn execute(&self, state: &mut State, registers: &mut Registers, blocks: &mut Blocks) -> bool {
        if self.lane.bounds.iter().any(|&(word, size)| state.words[word as usize] >= size) {
            return false;
        }
        let nodes = self.lane.nodes.len();
        if self.lane.narrow {
            let blocks = &mut blocks.narrow;
            blocks.resize(nodes.max(blocks.len()), [0; NARROW]);
            self.vectors(state, registers, blocks);
        } else {
            let blocks = &mut blocks.wide;
            blocks.resize(nodes.max(blocks.len()), [0; WIDE]);
            self.vectors(state, registers, blocks);
        }
        true
    }

    fn vectors<T: Element, const N: usize>(
        &self,
        state: &mut State,
        registers: &mut Registers,
        blocks: &mut [[T; N]],
    ) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature.
            return unsafe { self.vectors_avx2(state, registers, blocks) };
        }
        self.blocks(state, registers, blocks);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn vectors_avx2<T: Element, const N: usize>(
        &self,
        state: &mut State,
        registers: &mut Registers,
        blocks: &mut [[T; N]],
    ) {
        self.blocks(state, registers, blocks);
    }

    #[inline(always)]
    fn blocks<T: Element, const N: usize>(
        &self,
        state: &mut State,
        registers: &mut Registers,
        blocks: &mut [[T; N]],
    ) {
        let mut first = 0;
        while first < self.lanes {
            let count = (self.lanes - first).min(N);
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
    fn effect<T: Element, const N: usize>(
        &self,
        effect: Effect,
        first: usize,
        count: usize,
        state: &mut State,
        registers: &mut Registers,
        blocks: &[[T; N]],
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
                *word = reduce(op, *word, &blocks[value][..count]);
            }
            Effect::Last { word, value } if first + count == self.lanes => {
                state.words[word as usize] = blocks[value][count - 1].widen();
            }
            Effect::Last { .. } => {}
        }
    }
}

/// Returns the field of lane `lane`.
#[inline(always)]
fn at(first: Slice, step: i64, lane: usize) -> Slice {
    Slice { byte: (i64::from(first.byte) + step * lane as i64) as u32, ..first }
}

/// Returns whether a field of 32 bits follows the one before at once, at a byte's start; its first byte.
#[inline(always)]
fn packed_words(slice: Slice, step: i64) -> Option<usize> {
    if slice.bits != 32 || step != 4 {
        return None;
    }
    let lead = 32 - u32::from(slice.shift);
    lead.is_multiple_of(8).then(|| (slice.byte + lead / 8) as usize)
}

#[inline(always)]
fn load_fields<T: Element>(state: &State, slice: Slice, step: i64, to: &mut [T]) {
    if let Some(start) = packed_words(slice, step) {
        let (words, _) = state.bytes[start..start + to.len() * 4].as_chunks::<4>();
        for (to, word) in to.iter_mut().zip(words) {
            *to = T::narrow(u32::from_be_bytes(*word).into());
        }
        return;
    }
    for (lane, to) in to.iter_mut().enumerate() {
        *to = T::narrow(state.load(at(slice, step, lane)));
    }
}

#[inline(always)]
fn store_fields<T: Element>(state: &mut State, slice: Slice, step: i64, from: &[T]) {
    if let Some(start) = packed_words(slice, step) {
        let (words, _) = state.bytes[start..start + from.len() * 4].as_chunks_mut::<4>();
        for (word, from) in words.iter_mut().zip(from) {
            *word = (from.widen() as u32).to_be_bytes();
        }
        return;
    }
    for (lane, from) in from.iter().enumerate() {
        state.store(at(slice, step, lane), from.widen());
    }
}

#[inline(always)]
fn load_registers<T: Element>(
    registers: &Registers,
    group: u32,
    lane: i64,
    step: i64,
    index: u64,
    to: &mut [T],
) {
    if step == 1
        && let Cells::Narrow { lanes, cells } = &registers.groups[group as usize]
    {
        let start = index as usize * lanes + lane as usize;
        let cells = &cells[start..start + to.len()];
        for (to, cell) in to.iter_mut().zip(cells) {
            *to = T::narrow((*cell).into());
        }
        return;
    }
    for (n, to) in to.iter_mut().enumerate() {
        *to = T::narrow(registers.get(group, (lane + step * n as i64) as u32, index).unwrap_or(0));
    }
}

#[inline(always)]
fn store_registers<T: Element>(
    registers: &mut Registers,
    group: u32,
    lane: i64,
    step: i64,
    index: u64,
    from: &[T],
) {
    if step == 1
        && let Cells::Narrow { lanes, cells } = &mut registers.groups[group as usize]
    {
        let start = index as usize * *lanes + lane as usize;
        let cells = &mut cells[start..start + from.len()];
        for (cell, from) in cells.iter_mut().zip(from) {
            *cell = from.widen() as u32;
        }
        return;
    }
    for (n, from) in from.iter().enumerate() {
        registers.set(group, (lane + step * n as i64) as u32, index, from.widen());
    }
}

#[inline(always)]
fn compute<T: Element, const N: usize>(
    node: Node,
    first: usize,
    count: usize,
    state: &State,
    registers: &Registers,
    earlier: &[[T; N]],
    to: &mut [T; N],
) {
    match node {
        Node::Uniform(word) => *to = [T::narrow(state.words[word as usize]); N],
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
            for n in 0..N {
                to[n] = if c[n].widen() != 0 { a[n] } else { b[n] };
            }
        }
    }
}

/// The match is outside the loops, so that each loop is one vector operation.
#[inline(always)]
fn unary<T: Element, const N: usize>(op: Un, a: &[T; N], to: &mut [T; N]) {
    macro_rules! each {
        ($($op:ident)* ; $($wide:ident)*) => {
            match op {
                $(Un::$op => for n in 0..N { to[n] = T::narrow(Un::$op.apply(a[n].widen())) },)*
                $(Un::$wide(bits) => for n in 0..N {
                    to[n] = T::narrow(Un::$wide(bits).apply(a[n].widen()))
                },)*
            }
        };
    }
    each!(Move Not IsZero IsNonZero; Mask Extend ClampToU ClampUToU ClampToS ClampUToS)
}

#[inline(always)]
fn binary<T: Element, const N: usize>(op: Bin, a: &[T; N], b: &[T; N], to: &mut [T; N]) {
    macro_rules! each {
        ($($op:ident)*) => {
            match op {
                $(Bin::$op => for n in 0..N {
                    to[n] = T::narrow(Bin::$op.apply(a[n].widen(), b[n].widen()))
                },)*
            }
        };
    }
    each!(Add Sub Mul And Or Xor Shl Shr Sar Div Mod Eq Ne LtU LtS LeU LeS)
}

#[inline(always)]
fn reduce<T: Element>(op: Bin, start: u64, values: &[T]) -> u64 {
    let values = values.iter().map(|value| value.widen());
    match op {
        Bin::And => values.fold(start, |sum, value| sum & value),
        Bin::Xor => values.fold(start, |sum, value| sum ^ value),
        Bin::Add => values.fold(start, u64::wrapping_add),
        _ => values.fold(start, |sum, value| sum | value),
    }
}
