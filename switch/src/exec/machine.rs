//! The interpreter's loop.

use super::diverted::Diverted;
use super::run::Blocks;
use crate::op::{HeaderRef, Op, Pc, sign_extend};
use crate::program::Program;
use crate::random::Random;
use crate::state::State;
use crate::tables::Tables;
use crate::value::{copy_bits, get_bits, set_bits};
use crate::wide::{low_word, write_span};

/// Backward jumps and parser transitions a packet may take before it is given up; a program made by
/// p4c loops only in its parser, where each turn consumes bytes.
const MAX_TURNS: u32 = 1 << 14;

/// Buffers that packets reuse.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub key: Vec<u64>,
    pub masked: Vec<u64>,
    pub buffer: Vec<u8>,
    pub blocks: Blocks,
    /// Headers that a deparser of TNA emitted.
    pub emitted: Vec<u8>,
    /// Copies requested by a deparser of TNA.
    pub diverted: Vec<Diverted>,
    /// Watched registers of TNA that this pass touched, and how often one was touched again.
    pub touched: Vec<u32>,
    pub touched_twice: u64,
    /// Reads and writes past the end of a register of TNA.
    pub past_end: u64,
}

/// One packet in a section of the program.
pub(crate) struct Machine<'a> {
    pub program: &'a Program,
    pub tables: &'a mut Tables,
    pub state: &'a mut State,
    pub scratch: &'a mut Scratch,
    pub random: &'a mut Random,
    /// The packet on arrival, and the length that the parser took.
    pub packet: &'a [u8],
    pub position: usize,
    pub parser_error: u64,
    pub now_us: u64,
    pub turns: u32,
    /// The table that was applied last, and the row that was hit.
    pub row: (u32, Option<u32>),
}

impl Machine<'_> {
    #[inline(always)]
    pub(super) fn word(&self, word: u32) -> u64 {
        self.state.words[word as usize]
    }

    #[inline(always)]
    pub(super) fn set(&mut self, word: u32, value: u64) {
        self.state.words[word as usize] = value;
    }

    /// Returns whether another turn is allowed.
    pub(super) fn turn(&mut self) -> bool {
        self.turns += 1;
        self.turns <= MAX_TURNS
    }

    /// Runs from `pc` to the section's end.
    #[expect(clippy::too_many_lines, reason = "one arm per operation")]
    pub fn run(&mut self, start: Pc) {
        let program = self.program;
        let mut pc = start as usize;
        macro_rules! jump {
            ($to:expr) => {{
                if ($to as usize) < pc && !self.turn() {
                    return;
                }
                pc = $to as usize;
            }};
        }
        loop {
            let op = program.code[pc];
            pc += 1;
            match op {
                Op::Un { op, d, a } => self.set(d, op.apply(self.word(a))),
                Op::Bin { op, d, a, b } => self.set(d, op.apply(self.word(a), self.word(b))),
                Op::Select { d, c, a, b } => {
                    let from = if self.word(c) != 0 { a } else { b };
                    self.set(d, self.word(from));
                }
                Op::Load { d, from } => self.set(d, self.state.load(from)),
                Op::LoadSigned { d, from } => self.set(d, sign_extend(self.state.load(from), from.bits)),
                Op::Store { to, a } => {
                    let value = self.word(a);
                    self.state.store(to, value);
                }
                Op::LoadSpan { d, from, signed } => {
                    let value = get_bits(&self.state.bytes, from);
                    self.set(d, if signed { sign_extend(value, from.bits as u8) } else { value });
                }
                Op::StoreSpan { to, a } => {
                    let value = self.word(a);
                    set_bits(&mut self.state.bytes, to, value);
                }
                Op::LoadAt { d, h, field } => self.load_at(d, h, field),
                Op::StoreAt { h, field, a } => self.store_at(h, field, a),
                Op::WideEval { d, e } => {
                    let value = low_word(&program.wide[e as usize].eval(self.state, program));
                    self.set(d, value);
                }
                Op::WideStore { to, e } => {
                    let value = program.wide[e as usize].eval(self.state, program);
                    write_span(&mut self.state.bytes, to, &value);
                }
                Op::WideStoreAt { h, field, e } => {
                    let value = program.wide[e as usize].eval(self.state, program);
                    if let Some((span, _)) = self.state.field_span(program, h, field) {
                        write_span(&mut self.state.bytes, span, &value);
                    }
                }
                Op::CopySpan { to, from } => self.copy_span(to, from),
                Op::StackAt { d, stack, i } | Op::UnionAt { d, stack, i } => self.stack_at(d, stack, i),
                Op::StackLast { d, stack } | Op::UnionLast { d, stack } => self.stack_last(d, stack),
                Op::MemberAt { d, u, member } => self.member_at(d, u, member),
                Op::IsValidAt { d, h } => self.is_valid_at(d, h),
                Op::UnionIsValidAt { d, u } => self.union_is_valid_at(d, u),
                Op::HeadersEqual { d, a, b } => {
                    let equal = self.headers_equal(a, b);
                    self.set(d, u64::from(equal));
                }
                Op::AddHeader(h) => self.add_header(h),
                Op::RemoveHeader(h) => self.remove_header(h),
                Op::AssignHeader { d, a } => self.assign_header(d, a),
                Op::Push { stack, n } => self.push(stack, self.word(n)),
                Op::Pop { stack, n } => self.pop(stack, self.word(n)),
                Op::AssignVar { d, a } => self.assign_var(d, a),

                Op::RegRead { d, reg, i } => self.register_read(d, reg, i),
                Op::RegWrite { reg, i, a } => self.register_write(reg, i, a),
                Op::WideRegRead { to, reg, i } => self.wide_register_read(to, reg, i),
                Op::WideRegWrite { reg, i, e } => self.wide_register_write(reg, i, e),
                Op::Count { counter, i } => self.count(counter, i),
                Op::Meter { d, meter, i } => self.meter(d, meter, i),
                Op::Hash { d, calc, base, max } => {
                    let hash = self.calculate(calc);
                    let value = hash % self.word(max).max(1);
                    self.set(d, value.wrapping_add(self.word(base)));
                }
                Op::Random { d, low, high } => {
                    let (low, high) = (self.word(low), self.word(high));
                    if low <= high {
                        let value = self.random.between(low, high);
                        self.set(d, value);
                    }
                }

                Op::Clone { session, list } => {
                    self.state.asked.clone = Some((self.word(session) & 0x7fff, self.word(list)));
                }
                Op::Resubmit { list } => self.state.asked.resubmit = Some(self.word(list)),
                Op::Recirculate { list } => self.state.asked.recirculate = Some(self.word(list)),
                Op::Digest { list } => self.state.asked.digest = Some(self.word(list)),
                Op::Truncate { bytes } => {
                    let bytes = usize::try_from(self.word(bytes)).unwrap_or(usize::MAX);
                    let asked = &mut self.state.asked.truncate;
                    *asked = Some(asked.map_or(bytes, |before| before.min(bytes)));
                }
                Op::Log { message } => self.log(message),
                Op::Exit => self.state.asked.exit = true,

                Op::Jump(to) => jump!(to),
                Op::JumpIfZero { a, to } if self.word(a) == 0 => jump!(to),
                Op::JumpIfNotZero { a, to } if self.word(a) != 0 => jump!(to),
                Op::JumpIfEqual { a, b, to } if self.word(a) == self.word(b) => jump!(to),
                Op::JumpIfNotEqual { a, b, to } if self.word(a) != self.word(b) => jump!(to),
                Op::JumpIfZero { .. }
                | Op::JumpIfNotZero { .. }
                | Op::JumpIfEqual { .. }
                | Op::JumpIfNotEqual { .. } => {}
                Op::Apply { table } => match self.apply(table) {
                    Some(next) if !self.state.asked.exit && ((next as usize) >= pc || self.turn()) => {
                        pc = next as usize;
                    }
                    _ => return,
                },
                Op::Call { action } => {
                    self.run(program.actions[action as usize].pc);
                    if self.state.asked.exit {
                        return;
                    }
                }
                Op::Return => return,

                Op::Extract(_)
                | Op::ExtractStack(_)
                | Op::ExtractVar { .. }
                | Op::ExtractVarStack { .. }
                | Op::ExtractUnionStack { .. }
                | Op::ExtractVarUnionStack { .. }
                | Op::Advance { .. }
                | Op::Verify { .. }
                | Op::Peek { .. }
                | Op::WidePeek { .. } => {
                    if let Err(error) = self.parser_op(op) {
                        self.parser_error = error;
                        return;
                    }
                }
                Op::ParserSelect(select) => match self.select(select) {
                    Ok(Some(next)) if self.turn() => pc = next as usize,
                    Ok(Some(_)) => {
                        self.parser_error = program.errors.parser_timeout;
                        return;
                    }
                    Ok(None) => return,
                    Err(error) => {
                        self.parser_error = error;
                        return;
                    }
                },
                Op::Arch(number) => self.arch(number),
                Op::Run(run) => {
                    let run = &program.runs[run as usize];
                    if !run.execute(self.state, &mut self.tables.registers, &mut self.scratch.blocks) {
                        self.run(run.fallback);
                    }
                    pc += run.skip();
                }
            }
        }
    }

    fn copy_span(&mut self, to: crate::op::Span, from: crate::op::Span) {
        if (to.bit | from.bit | from.bits).is_multiple_of(8) {
            let start = from.bit as usize / 8;
            self.state.bytes.copy_within(start..start + from.bits as usize / 8, to.bit as usize / 8);
            return;
        }
        let count = from.bits.div_ceil(8) as usize;
        let buffer = &mut self.scratch.buffer;
        buffer.clear();
        buffer.resize(count, 0);
        copy_bits(buffer, 0, &self.state.bytes, from.bit, from.bits);
        copy_bits(&mut self.state.bytes, to.bit, buffer, 0, from.bits);
    }

    pub(super) fn header(&self, header: HeaderRef) -> Option<usize> {
        match header {
            HeaderRef::Fixed(index) => Some(index as usize),
            HeaderRef::At(word) => self.state.index(word),
        }
    }

    fn log(&self, message: u32) {
        let (format, words) = &self.program.messages[message as usize];
        let mut values = words.iter().map(|&word| self.word(word).to_string());
        let mut text = String::new();
        for (n, piece) in format.split("{}").enumerate() {
            if n > 0 {
                text.push_str(&values.next().unwrap_or_default());
            }
            text.push_str(piece);
        }
        tracing::info!(target: "p4", "{text}");
    }
}
