//! Reduces one lane to a graph of values, if its lanes do not depend on each other.

use rustc_hash::{FxHashMap, FxHashSet};

use super::detect::Period;
use crate::fused::{Effect, Lane, Node, Value};
use crate::op::{Bin, Op, Slice, Un, Word, low_mask};
use crate::program::Program;

/// Identity of a place in memory within a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Field(Slice),
    Register(u32, Word),
}

struct Builder<'p> {
    program: &'p Program,
    nodes: Vec<Node>,
    /// Bits beyond which each node is zero.
    widths: Vec<u8>,
    known: FxHashMap<Node, Value>,
    words: FxHashMap<Word, Value>,
    places: FxHashMap<Place, (Value, Option<Effect>)>,
    reductions: FxHashMap<Word, (Bin, Value)>,
    bounds: FxHashSet<(Word, u64)>,
}

/// Returns the graph of a lane, or `None` if the lanes depend on each other. `after` is where the code goes
/// on.
pub(super) fn build(program: &Program, code: &[Op], period: &Period, after: usize) -> Option<Lane> {
    let reduced = carried_words(&code[..period.length])?;
    if !uniform_words(period) || !lanes_are_disjoint(program, code, period) {
        return None;
    }
    let mut builder = Builder {
        program,
        nodes: Vec::new(),
        widths: Vec::new(),
        known: FxHashMap::default(),
        words: FxHashMap::default(),
        places: FxHashMap::default(),
        reductions: FxHashMap::default(),
        bounds: FxHashSet::default(),
    };
    let defined: FxHashSet<Word> = code[..period.length].iter().filter_map(destination).collect();
    for (op, step) in code[..period.length].iter().zip(&period.steps) {
        builder.add(*op, step[1], &reduced, &defined)?;
    }
    builder.words.retain(|&word, _| program.is_lasting(word) || is_read(&program.code[after..], word));
    Some(builder.finish())
}

fn destination(op: &Op) -> Option<Word> {
    match *op {
        Op::Un { d, .. }
        | Op::Bin { d, .. }
        | Op::Select { d, .. }
        | Op::Load { d, .. }
        | Op::LoadSigned { d, .. }
        | Op::RegRead { d, .. } => Some(d),
        _ => None,
    }
}

fn sources(op: &Op) -> Vec<Word> {
    match *op {
        Op::Un { a, .. } | Op::Store { a, .. } => vec![a],
        Op::Bin { a, b, .. } => vec![a, b],
        Op::Select { c, a, b, .. } => vec![c, a, b],
        Op::RegRead { i, .. } => vec![i],
        Op::RegWrite { i, a, .. } => vec![i, a],
        _ => Vec::new(),
    }
}

/// Returns whether a temporary is read before it is written again. A statement ends before control leaves the
/// stretch, and no temporary outlives its statement.
fn is_read(code: &[Op], word: Word) -> bool {
    for op in code {
        match op {
            Op::Return | Op::Jump(_) => return false,
            Op::JumpIfZero { a, .. } | Op::JumpIfNotZero { a, .. } if *a != word => {}
            Op::JumpIfEqual { a, b, .. } | Op::JumpIfNotEqual { a, b, .. } if *a != word && *b != word => {}
            op if !super::detect::fusible(op) || sources(op).contains(&word) => return true,
            op if destination(op) == Some(word) => return false,
            _ => {}
        }
    }
    false
}

/// Words that a lane reads before it writes them, and writes: allowed only as sums over lanes.
fn carried_words(lane: &[Op]) -> Option<FxHashSet<Word>> {
    let mut written = FxHashSet::default();
    let mut early = FxHashSet::default();
    for op in lane {
        early.extend(sources(op).into_iter().filter(|word| !written.contains(word)));
        written.extend(destination(op));
    }
    let carried: FxHashSet<Word> = early.intersection(&written).copied().collect();
    let sums = carried.iter().all(|&word| {
        let mut touching =
            lane.iter().filter(|op| destination(op) == Some(word) || sources(op).contains(&word));
        match (touching.next(), touching.next()) {
            (Some(&Op::Bin { op: Bin::Or | Bin::And | Bin::Xor | Bin::Add, d, a, b }), None) => {
                d == word && (a == word) != (b == word)
            }
            _ => false,
        }
    });
    sums.then_some(carried)
}

/// Returns whether every word is the same in all lanes: only fields and registers move.
fn uniform_words(period: &Period) -> bool {
    period.steps.iter().all(|step| step[0] == 0 && step[2] == 0 && step[3] == 0)
}

/// Bytes a field covers.
fn footprint(slice: Slice) -> std::ops::Range<u32> {
    let first_bit = slice.byte * 8 + 64 - u32::from(slice.shift) - u32::from(slice.bits);
    first_bit / 8..(first_bit + u32::from(slice.bits)).div_ceil(8)
}

fn field(op: &Op) -> Option<(Slice, bool)> {
    match *op {
        Op::Load { from, .. } | Op::LoadSigned { from, .. } => Some((from, false)),
        Op::Store { to, .. } => Some((to, true)),
        _ => None,
    }
}

fn register(op: &Op) -> Option<(u32, Word, bool)> {
    match *op {
        Op::RegRead { reg, i, .. } => Some((reg, i, false)),
        Op::RegWrite { reg, i, .. } => Some((reg, i, true)),
        _ => None,
    }
}

/// Returns whether no lane touches a place that another writes, and no two places of a lane overlap unless
/// they are one.
fn lanes_are_disjoint(program: &Program, code: &[Op], period: &Period) -> bool {
    let (mut byte_owner, mut register_owner) = (FxHashMap::default(), FxHashMap::default());
    for (at, op) in code.iter().enumerate() {
        let lane = at / period.length;
        if let Some((slice, true)) = field(op) {
            for byte in footprint(slice) {
                if *byte_owner.entry(byte).or_insert((lane, slice)) != (lane, slice) {
                    return false;
                }
            }
        }
        if let Some((register, index, true)) = register(op)
            && *register_owner.entry(register).or_insert((lane, index)) != (lane, index)
        {
            return false;
        }
    }
    let ours = code.iter().enumerate().all(|(at, op)| {
        let lane = at / period.length;
        let bytes = field(op).is_none_or(|(slice, _)| {
            footprint(slice).all(|byte| byte_owner.get(&byte).is_none_or(|owner| *owner == (lane, slice)))
        });
        let registers = register(op).is_none_or(|(register, index, _)| {
            register_owner.get(&register).is_none_or(|owner| *owner == (lane, index))
        });
        bytes && registers
    });
    // Registers step through the lanes of one group.
    let grouped = (0..period.length).all(|k| {
        let infos = (0..period.lanes).filter_map(|lane| register(&code[lane * period.length + k]));
        let infos: Vec<_> = infos.map(|(register, ..)| &program.registers[register as usize]).collect();
        let step = |pair: &[&crate::RegisterInfo]| i64::from(pair[1].lane) - i64::from(pair[0].lane);
        infos.windows(2).all(|pair| pair[0].group == pair[1].group && step(pair) == step(&infos[..2]))
    });
    ours && grouped
}

impl Builder<'_> {
    fn node(&mut self, node: Node) -> Value {
        if let Some(&value) = self.known.get(&node) {
            return value;
        }
        self.widths.push(self.width_of(node));
        self.nodes.push(node);
        self.known.insert(node, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    fn word(&mut self, word: Word) -> Value {
        match self.words.get(&word) {
            Some(&value) => value,
            None => self.node(Node::Uniform(word)),
        }
    }

    /// Returns the value with only its low bits; a value that has no others stays as it is.
    fn masked(&mut self, value: Value, bits: u8) -> Value {
        if bits == 64 || self.width(value) <= bits {
            value
        } else {
            self.node(Node::Un(Un::Mask(bits), value))
        }
    }

    fn width(&self, value: Value) -> u8 {
        self.widths[value]
    }

    fn width_of(&self, node: Node) -> u8 {
        match node {
            Node::Uniform(word) if self.is_constant(word) => {
                64 - self.program.initial[word as usize].leading_zeros() as u8
            }
            Node::Field { first, .. } => first.bits,
            Node::Register { group, .. } => self.program.register_groups[group as usize].bits.min(64) as u8,
            Node::Un(Un::Mask(bits) | Un::ClampToU(bits) | Un::ClampUToU(bits), _) => bits,
            Node::Bin(Bin::And, a, b) => self.width(a).min(self.width(b)),
            Node::Bin(Bin::Or | Bin::Xor, a, b) | Node::Select(_, a, b) => self.width(a).max(self.width(b)),
            _ => 64,
        }
    }

    /// Returns whether the word holds a constant: nothing writes those.
    fn is_constant(&self, word: Word) -> bool {
        word >= self.program.constant_word && self.program.initial[word as usize] != 0
    }

    fn add(&mut self, op: Op, step: i64, reduced: &FxHashSet<Word>, defined: &FxHashSet<Word>) -> Option<()> {
        match op {
            Op::Un { op, d, a } => {
                let a = self.word(a);
                let value = match op {
                    Un::Move => a,
                    Un::Mask(bits) => self.masked(a, bits),
                    op => self.node(Node::Un(op, a)),
                };
                self.words.insert(d, value);
            }
            Op::Bin { op, d, a, b } if reduced.contains(&d) => {
                let value = self.word(if a == d { b } else { a });
                self.reductions.insert(d, (op, value));
            }
            Op::Bin { op, d, a, b } => {
                let (a, b) = (self.word(a), self.word(b));
                let value = self.binary(op, a, b);
                self.words.insert(d, value);
            }
            Op::Select { d, c, a, b } => {
                let (c, a, b) = (self.word(c), self.word(a), self.word(b));
                let value = self.node(Node::Select(c, a, b));
                self.words.insert(d, value);
            }
            Op::Load { d, from } | Op::LoadSigned { d, from } => {
                let place = Place::Field(from);
                let mut value = match self.places.get(&place) {
                    Some(&(value, _)) => value,
                    None => self.node(Node::Field { first: from, step }),
                };
                self.places.entry(place).or_insert((value, None));
                if matches!(op, Op::LoadSigned { .. }) {
                    value = self.node(Node::Un(Un::Extend(from.bits), value));
                }
                self.words.insert(d, value);
            }
            Op::Store { to, a } => {
                let value = self.word(a);
                let value = self.masked(value, to.bits);
                self.places.insert(Place::Field(to), (value, Some(Effect::Field { first: to, step, value })));
            }
            Op::RegRead { d, reg, i } => {
                let (group, first, step) = self.register(reg, i, step, defined)?;
                let place = Place::Register(reg, i);
                let value = match self.places.get(&place) {
                    Some(&(value, _)) => value,
                    None => self.node(Node::Register { group, first, step, index: i }),
                };
                self.places.entry(place).or_insert((value, None));
                self.words.insert(d, value);
            }
            Op::RegWrite { reg, i, a } => {
                let (group, first, step) = self.register(reg, i, step, defined)?;
                let value = self.word(a);
                let value = self.masked(value, self.program.register_groups[group as usize].bits as u8);
                let effect = Effect::Register { group, first, step, index: i, value };
                self.places.insert(Place::Register(reg, i), (value, Some(effect)));
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns the operation, without a masking that changes nothing.
    fn binary(&mut self, op: Bin, a: Value, b: Value) -> Value {
        if op == Bin::And {
            for (value, mask) in [(a, b), (b, a)] {
                if let Node::Uniform(word) = self.nodes[mask]
                    && self.is_constant(word)
                    && self.program.initial[word as usize] == low_mask(self.width(mask))
                {
                    return self.masked(value, self.width(mask));
                }
            }
        }
        self.node(Node::Bin(op, a, b))
    }

    fn register(
        &mut self,
        register: u32,
        index: Word,
        step: i64,
        defined: &FxHashSet<Word>,
    ) -> Option<(u32, u32, i64)> {
        let info = &self.program.registers[register as usize];
        if defined.contains(&index) || info.bits > 64 {
            return None;
        }
        self.bounds.insert((index, info.size as u64));
        // Lanes of the group step as the registers do; this was checked for every lane.
        let next = self.program.registers.get(usize::try_from(i64::from(register) + step).ok()?)?;
        Some((info.group, info.lane, i64::from(next.lane) - i64::from(info.lane)))
    }

    fn finish(self) -> Lane {
        let mut effects: Vec<Effect> = self.places.values().filter_map(|(_, effect)| *effect).collect();
        effects.extend(self.reductions.iter().map(|(&word, &(op, value))| Effect::Reduce {
            word,
            op,
            value,
        }));
        effects.extend(self.words.iter().map(|(&word, &value)| Effect::Last { word, value }));
        let narrow = self.narrow(&effects);
        Lane { nodes: self.nodes, effects, bounds: self.bounds.into_iter().collect(), narrow }
    }

    /// Returns whether 32 bits suffice: uses of an operand's upper bits find them zero.
    fn narrow(&self, effects: &[Effect]) -> bool {
        let exact = |value: Value| self.widths[value] <= 32;
        let nodes = self.nodes.iter().all(|node| match *node {
            Node::Uniform(_) => true,
            Node::Field { first, .. } => first.bits <= 32,
            Node::Register { group, .. } => self.program.register_groups[group as usize].bits <= 32,
            Node::Un(Un::Move | Un::Not | Un::Mask(_), _) => true,
            Node::Un(Un::IsZero | Un::IsNonZero, a) => exact(a),
            Node::Un(..) => false,
            Node::Bin(Bin::Add | Bin::Sub | Bin::Mul | Bin::And | Bin::Or | Bin::Xor, ..) => true,
            Node::Bin(Bin::Shl, _, by) => exact(by),
            Node::Bin(Bin::Sar | Bin::LtS | Bin::LeS, ..) => false,
            Node::Bin(_, a, b) => exact(a) && exact(b),
            Node::Select(c, ..) => exact(c),
        });
        nodes
            && effects.iter().all(|effect| match *effect {
                Effect::Field { value, .. }
                | Effect::Register { value, .. }
                | Effect::Reduce { value, .. }
                | Effect::Last { value, .. } => exact(value),
            })
    }
}
