//! Arithmetic that does not fit in 64 bits: an expression tree over big integers. The only path that
//! allocates per packet; p4c's programs take it for fields wider than 64 bits and the like.

use num_bigint::{BigInt, BigUint, Sign};

use crate::op::{Bin, Span, Word};
use crate::state::State;
use crate::value::copy_bits;

/// Left shifts beyond this give zero: no field is as wide.
const MAX_SHIFT: u64 = 1 << 16;

/// An expression in unbounded integers.
#[derive(Debug, Clone)]
pub(crate) enum Wide {
    Word {
        word: Word,
        signed: bool,
    },
    Span {
        span: Span,
        signed: bool,
    },
    /// A wide field of a header whose index is in `h`.
    At {
        h: Word,
        field: u32,
    },
    /// The variable-length field of a header.
    Var(u32),
    Constant(BigInt),
    Bin(WideBin, Box<(Wide, Wide)>),
    Not(Box<Wide>),
    /// The condition is a word.
    Select(Word, Box<(Wide, Wide)>),
    /// To the two's complement value of so many bits.
    Extend(u32, Box<Wide>),
    ClampToU(u32, Box<Wide>),
    ClampToS(u32, Box<Wide>),
    /// 1 or 0.
    Test(Bin, Box<(Wide, Wide)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WideBin {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Div,
    Mod,
}

/// A bit field as an integer.
pub(crate) fn read_span(bytes: &[u8], span: Span, signed: bool) -> BigInt {
    let count = span.bits.div_ceil(8);
    let mut whole = vec![0; count as usize];
    copy_bits(&mut whole, count * 8 - span.bits, bytes, span.bit, span.bits);
    let value = BigInt::from_bytes_be(Sign::Plus, &whole);
    if signed { extend(value, span.bits) } else { value }
}

/// Stores the low bits of an integer in two's complement.
pub(crate) fn write_span(bytes: &mut [u8], span: Span, value: &BigInt) {
    let count = span.bits.div_ceil(8);
    let low = low_bits(value, span.bits);
    let digits = low.to_bytes_be();
    let mut whole = vec![0; count as usize];
    let start = whole.len().saturating_sub(digits.len());
    whole[start..].copy_from_slice(&digits[digits.len().saturating_sub(count as usize)..]);
    copy_bits(bytes, span.bit, &whole, count * 8 - span.bits, span.bits);
}

fn low_bits(value: &BigInt, bits: u32) -> BigUint {
    let modulus = BigInt::from(1) << bits;
    let low = value % &modulus;
    let low = if low.sign() == Sign::Minus { low + modulus } else { low };
    low.magnitude().clone()
}

fn extend(value: BigInt, bits: u32) -> BigInt {
    let low = BigInt::from(low_bits(&value, bits));
    if bits > 0 && low.bit(u64::from(bits) - 1) { low - (BigInt::from(1) << bits) } else { low }
}

/// The low 64 bits in two's complement.
pub(crate) fn low_word(value: &BigInt) -> u64 {
    low_bits(value, 64).iter_u64_digits().next().unwrap_or(0)
}

fn shift_amount(value: &BigInt) -> u64 {
    u64::try_from(value).unwrap_or(if value.sign() == Sign::Minus { 0 } else { u64::MAX })
}

impl Wide {
    pub fn eval(&self, state: &State, program: &crate::Program) -> BigInt {
        let eval = |wide: &Wide| wide.eval(state, program);
        match self {
            Wide::Word { word, signed: true } => BigInt::from(state.words[*word as usize] as i64),
            Wide::Word { word, signed: false } => BigInt::from(state.words[*word as usize]),
            Wide::Span { span, signed } => read_span(&state.bytes, *span, *signed),
            Wide::At { h, field } => match state.field_span(program, *h, *field) {
                Some((span, signed)) => read_span(&state.bytes, span, signed),
                None => BigInt::default(),
            },
            Wide::Var(header) => match program.headers[*header as usize].var {
                Some(var) => {
                    let bits = state.words[var.length as usize] as u32;
                    read_span(&state.bytes, Span { bit: var.byte * 8, bits }, false)
                }
                None => BigInt::default(),
            },
            Wide::Constant(value) => value.clone(),
            Wide::Bin(op, both) => {
                let (a, b) = (eval(&both.0), eval(&both.1));
                match op {
                    WideBin::Add => a + b,
                    WideBin::Sub => a - b,
                    WideBin::Mul => a * b,
                    WideBin::And => a & b,
                    WideBin::Or => a | b,
                    WideBin::Xor => a ^ b,
                    WideBin::Shl => match shift_amount(&b) {
                        by if by <= MAX_SHIFT => a << by,
                        _ => BigInt::default(),
                    },
                    WideBin::Shr => a >> shift_amount(&b).min(MAX_SHIFT),
                    WideBin::Div => a.checked_div(&b).unwrap_or_default(),
                    WideBin::Mod if b.sign() == Sign::NoSign => BigInt::default(),
                    WideBin::Mod => a % b,
                }
            }
            Wide::Not(a) => !eval(a),
            Wide::Select(condition, both) => {
                if state.words[*condition as usize] != 0 {
                    eval(&both.0)
                } else {
                    eval(&both.1)
                }
            }
            Wide::Extend(bits, a) => extend(eval(a), *bits),
            Wide::ClampToU(bits, a) => eval(a).clamp(BigInt::default(), (BigInt::from(1) << *bits) - 1),
            Wide::ClampToS(bits, a) => {
                let high = BigInt::from(1) << (bits - 1);
                eval(a).clamp(-high.clone(), high - 1)
            }
            Wide::Test(op, both) => {
                let order = eval(&both.0).cmp(&eval(&both.1));
                BigInt::from(u8::from(match op {
                    Bin::Eq => order.is_eq(),
                    Bin::Ne => order.is_ne(),
                    Bin::LtS | Bin::LtU => order.is_lt(),
                    _ => order.is_le(),
                }))
            }
        }
    }
}
