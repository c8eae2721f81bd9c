//! Arithmetic that does not fit in 64 bits: an expression tree over big integers. The only path that
//! allocates per packet; p4c's programs take it for fields wider than 64 bits and the like.

use num_bigint::{BigInt, BigUint, Sign};

use crate::op::{Bin, Span, Word};
use crate::value::copy_bits;

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
    /// Conversion to the two's complement value of this many bits.
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

/// Returns a bit field as an integer.
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

/// Conversion to the two's complement value of this many bits.
pub(crate) fn extend(value: BigInt, bits: u32) -> BigInt {
    let low = BigInt::from(low_bits(&value, bits));
    if bits > 0 && low.bit(u64::from(bits) - 1) { low - (BigInt::from(1) << bits) } else { low }
}

/// Returns the low 64 bits in two's complement.
pub(crate) fn low_word(value: &BigInt) -> u64 {
    low_bits(value, 64).iter_u64_digits().next().unwrap_or(0)
}
