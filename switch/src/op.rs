//! The flat program: compact operations over a flat state.
//!
//! A packet's state is an array of 64-bit words (metadata, validity, stack positions, action
//! parameters, constants, temporaries) and an array of bytes (headers as on the wire, and values
//! wider than 64 bits, both big endian). Every narrow operation reads and writes words.

/// Index of a word of the state.
pub(crate) type Word = u32;
/// Index of an operation in [`crate::program::Program::code`].
pub(crate) type Pc = u32;
/// A word that holds this in place of a header or union index refers to nothing (an index out of a stack).
pub(crate) const NOTHING: u64 = u64::MAX;

/// A bit field of the state's bytes that one big-endian 64-bit load covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Slice {
    /// First byte of the load.
    pub byte: u32,
    /// Bits right of the field within the load.
    pub shift: u8,
    /// Width, 1..=64.
    pub bits: u8,
}

/// A bit field of any width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    /// Offset of the most significant bit in the state's bytes.
    pub bit: u32,
    /// Width in bits.
    pub bits: u32,
}

impl Span {
    /// Returns the span as one load, if a load covers it.
    pub fn slice(self) -> Option<Slice> {
        let lead = self.bit % 8;
        (self.bits >= 1 && lead + self.bits <= 64).then(|| Slice {
            byte: self.bit / 8,
            shift: (64 - lead - self.bits) as u8,
            bits: self.bits as u8,
        })
    }
}

/// A header known at compile time, or one whose index a word holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderRef {
    Fixed(u32),
    At(Word),
}

/// Two-operand word operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bin {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    /// Logical right shift.
    Shr,
    /// Arithmetic right shift.
    Sar,
    Div,
    Mod,
    Eq,
    Ne,
    LtU,
    LtS,
    LeU,
    LeS,
}

impl Op {
    /// Target of a jump.
    pub fn target(&mut self) -> Option<&mut Pc> {
        match self {
            Op::Jump(to)
            | Op::JumpIfZero { to, .. }
            | Op::JumpIfNotZero { to, .. }
            | Op::JumpIfEqual { to, .. }
            | Op::JumpIfNotEqual { to, .. } => Some(to),
            _ => None,
        }
    }
}

impl Bin {
    /// Applies the operation; shifts beyond the width have the result of infinite precision.
    #[inline(always)]
    pub fn apply(self, a: u64, b: u64) -> u64 {
        match self {
            Bin::Add => a.wrapping_add(b),
            Bin::Sub => a.wrapping_sub(b),
            Bin::Mul => a.wrapping_mul(b),
            Bin::And => a & b,
            Bin::Or => a | b,
            Bin::Xor => a ^ b,
            Bin::Shl => {
                if b < 64 {
                    a << b
                } else {
                    0
                }
            }
            Bin::Shr => {
                if b < 64 {
                    a >> b
                } else {
                    0
                }
            }
            Bin::Sar => ((a as i64) >> b.min(63)) as u64,
            Bin::Div => a.checked_div(b).unwrap_or(0),
            Bin::Mod => a.checked_rem(b).unwrap_or(0),
            Bin::Eq => u64::from(a == b),
            Bin::Ne => u64::from(a != b),
            Bin::LtU => u64::from(a < b),
            Bin::LtS => u64::from((a as i64) < (b as i64)),
            Bin::LeU => u64::from(a <= b),
            Bin::LeS => u64::from((a as i64) <= (b as i64)),
        }
    }
}

/// One-operand word operations; `bits` is 1..=64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Un {
    Move,
    Not,
    /// Boolean negation.
    IsZero,
    IsNonZero,
    /// Keeps the low bits.
    Mask(u8),
    /// Sign-extends the low bits.
    Extend(u8),
    /// Clamps a signed value to an unsigned width.
    ClampToU(u8),
    /// Clamps an unsigned 64-bit value to an unsigned width.
    ClampUToU(u8),
    /// Clamps a signed value to a signed width.
    ClampToS(u8),
    /// Clamps an unsigned 64-bit value to a signed width.
    ClampUToS(u8),
}

/// Returns the low `bits` bits set; `bits` in 0..=64.
#[inline(always)]
pub(crate) const fn low_mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[inline(always)]
pub(crate) const fn sign_extend(a: u64, bits: u8) -> u64 {
    let unused = 64 - bits as u32;
    (((a << unused) as i64) >> unused) as u64
}

impl Un {
    /// Applies the operation.
    #[inline(always)]
    pub fn apply(self, a: u64) -> u64 {
        match self {
            Un::Move => a,
            Un::Not => !a,
            Un::IsZero => u64::from(a == 0),
            Un::IsNonZero => u64::from(a != 0),
            Un::Mask(bits) => a & low_mask(bits),
            Un::Extend(bits) => sign_extend(a, bits),
            Un::ClampToU(bits) => {
                if (a as i64) < 0 {
                    0
                } else {
                    a.min(low_mask(bits))
                }
            }
            Un::ClampUToU(bits) => a.min(low_mask(bits)),
            Un::ClampToS(bits) => {
                let high = low_mask(bits - 1) as i64;
                (a as i64).clamp(!high, high) as u64
            }
            Un::ClampUToS(bits) => a.min(low_mask(bits - 1)),
        }
    }
}

/// One operation. `d` is the destination word, `a`, `b`, `i` are source words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Un {
        op: Un,
        d: Word,
        a: Word,
    },
    Bin {
        op: Bin,
        d: Word,
        a: Word,
        b: Word,
    },
    Select {
        d: Word,
        c: Word,
        a: Word,
        b: Word,
    },
    Load {
        d: Word,
        from: Slice,
    },
    /// Sign-extending load.
    LoadSigned {
        d: Word,
        from: Slice,
    },
    Store {
        to: Slice,
        a: Word,
    },
    /// A field of up to 64 bits that straddles nine bytes.
    LoadSpan {
        d: Word,
        from: Span,
        signed: bool,
    },
    StoreSpan {
        to: Span,
        a: Word,
    },
    /// Field `field` (index into `Program::type_fields`) of the header whose index is in `h`.
    LoadAt {
        d: Word,
        h: Word,
        field: u32,
    },
    StoreAt {
        h: Word,
        field: u32,
        a: Word,
    },
    /// Arithmetic that does not fit in a word: evaluates `Program::wide[e]`, keeps the low 64 bits.
    WideEval {
        d: Word,
        e: u32,
    },
    WideStore {
        to: Span,
        e: u32,
    },
    CopySpan {
        to: Span,
        from: Span,
    },
    WideStoreAt {
        h: Word,
        field: u32,
        e: u32,
    },

    /// Index of the header at position `i` of a stack.
    StackAt {
        d: Word,
        stack: u32,
        i: Word,
    },
    /// Index of the last header extracted to a stack.
    StackLast {
        d: Word,
        stack: u32,
    },
    /// Index of the union at position `i` of a union stack.
    UnionAt {
        d: Word,
        stack: u32,
        i: Word,
    },
    UnionLast {
        d: Word,
        stack: u32,
    },
    /// Index of member `member` of the union whose index is in `u`.
    MemberAt {
        d: Word,
        u: Word,
        member: u32,
    },
    IsValidAt {
        d: Word,
        h: Word,
    },
    UnionIsValidAt {
        d: Word,
        u: Word,
    },
    HeadersEqual {
        d: Word,
        a: HeaderRef,
        b: HeaderRef,
    },
    AddHeader(HeaderRef),
    RemoveHeader(HeaderRef),
    AssignHeader {
        d: HeaderRef,
        a: HeaderRef,
    },
    Push {
        stack: u32,
        n: Word,
    },
    Pop {
        stack: u32,
        n: Word,
    },
    AssignVar {
        d: u32,
        a: u32,
    },

    RegRead {
        d: Word,
        reg: u32,
        i: Word,
    },
    RegWrite {
        reg: u32,
        i: Word,
        a: Word,
    },
    WideRegRead {
        to: Span,
        reg: u32,
        i: Word,
    },
    WideRegWrite {
        reg: u32,
        i: Word,
        e: u32,
    },
    Count {
        counter: u32,
        i: Word,
    },
    /// Writes the color only if the index is in range.
    Meter {
        d: Word,
        meter: u32,
        i: Word,
    },
    Hash {
        d: Word,
        calc: u32,
        base: Word,
        max: Word,
    },
    Random {
        d: Word,
        low: Word,
        high: Word,
    },

    Clone {
        session: Word,
        list: Word,
    },
    Resubmit {
        list: Word,
    },
    Recirculate {
        list: Word,
    },
    Digest {
        list: Word,
    },
    Truncate {
        bytes: Word,
    },
    Log {
        message: u32,
    },
    Exit,

    Jump(Pc),
    JumpIfZero {
        a: Word,
        to: Pc,
    },
    JumpIfNotZero {
        a: Word,
        to: Pc,
    },
    JumpIfEqual {
        a: Word,
        b: Word,
        to: Pc,
    },
    JumpIfNotEqual {
        a: Word,
        b: Word,
        to: Pc,
    },
    Apply {
        table: u32,
    },
    /// Runs an action without parameters and returns.
    Call {
        action: u32,
    },
    /// End of an action, a pipeline or the parser.
    Return,

    Extract(u32),
    ExtractStack(u32),
    ExtractVar {
        h: u32,
        bits: Word,
        max_bytes: u32,
    },
    ExtractVarStack {
        stack: u32,
        bits: Word,
        max_bytes: u32,
    },
    ExtractUnionStack {
        stack: u32,
        member: u32,
    },
    ExtractVarUnionStack {
        stack: u32,
        member: u32,
        bits: Word,
        max_bytes: u32,
    },
    Advance {
        bits: Word,
    },
    Verify {
        a: Word,
        error: Word,
    },
    Peek {
        d: Word,
        bit: u32,
        bits: u8,
    },
    WidePeek {
        to: Span,
        bit: u32,
    },
    /// Goes to the matching case of `Program::selects`.
    ParserSelect(u32),

    /// `Program::arch_ops[n]`: an operation of TNA only.
    Arch(u32),

    /// A fused run of isomorphic operations, `Program::runs[n]`.
    Run(u32),
}
