//! Expressions: parsed, typed, and annotated with the range of values they can take.

use num_bigint::BigInt;

use super::layout::Field;
use crate::program::Place;
use crate::wide::WideBin;

/// Inclusive bounds, or `None` when they do not fit in 127 bits.
pub(super) type Range = Option<(i128, i128)>;

/// An arithmetic or boolean expression; booleans are 0 and 1.
#[derive(Debug, Clone)]
pub(super) struct Expr {
    pub kind: Kind,
    pub range: Range,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Int(BigInt),
    Field(Field),
    /// Field (position in its type, width in bits) of a header found at run time.
    FieldAt(HeaderExpr, u32, u32),
    Bin(WideBin, Box<(Expr, Expr)>),
    Not(Box<Expr>),
    Compare(Compare, Box<(Expr, Expr)>),
    BothTrue(Box<(Expr, Expr)>),
    AnyTrue(Box<(Expr, Expr)>),
    IsFalse(Box<Expr>),
    /// Data to boolean.
    IsNonZero(Box<Expr>),
    Select(Box<(Expr, Expr, Expr)>),
    Extend(u32, Box<Expr>),
    ClampToU(u32, Box<Expr>),
    ClampToS(u32, Box<Expr>),
    Valid(HeaderExpr),
    ValidUnion(UnionExpr),
    EqualHeaders(HeaderExpr, HeaderExpr),
    NextIndex(u32),
    Register(u32, Box<Expr>),
}

#[derive(Debug, Clone)]
pub(super) enum HeaderExpr {
    Fixed(u32),
    Stack(u32, Box<Expr>),
    Last(u32),
    Member(UnionExpr, u32),
}

#[derive(Debug, Clone)]
pub(super) enum UnionExpr {
    Fixed(u32),
    Stack(u32, Box<Expr>),
    Last(u32),
}

/// Any operand.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    Value(Expr),
    Header(HeaderExpr),
    Union(UnionExpr),
    /// Stack of headers or unions.
    Stack(u32),
}

pub(super) fn unsigned_range(bits: u32) -> Range {
    (bits < 127).then(|| (0, (1 << bits) - 1))
}

pub(super) fn signed_range(bits: u32) -> Range {
    (1..=127).contains(&bits).then(|| (-(1 << (bits - 1)), (1 << (bits - 1)) - 1))
}

pub(super) const TRUTH: Range = Some((0, 1));

impl Expr {
    pub fn int(value: BigInt) -> Expr {
        let range = i128::try_from(&value).ok().map(|value| (value, value));
        Expr { kind: Kind::Int(value), range }
    }

    pub fn field(field: Field) -> Expr {
        let range = match field.place {
            Place::Var { .. } => None,
            _ if field.signed => signed_range(field.bits),
            _ => unsigned_range(field.bits),
        };
        Expr { kind: Kind::Field(field), range }
    }

    /// Returns the value, if it is known and not negative.
    pub fn constant(&self) -> Option<u64> {
        match &self.kind {
            Kind::Int(value) => u64::try_from(value).ok(),
            _ => None,
        }
    }
}

fn combine(range_a: Range, range_b: Range, op: impl Fn(i128, i128) -> Option<i128>) -> Range {
    let ((a_low, a_high), (b_low, b_high)) = (range_a?, range_b?);
    let corners = [op(a_low, b_low)?, op(a_low, b_high)?, op(a_high, b_low)?, op(a_high, b_high)?];
    Some((*corners.iter().min()?, *corners.iter().max()?))
}

fn binary_range(op: WideBin, a: Range, b: Range) -> Range {
    match op {
        WideBin::Add => combine(a, b, i128::checked_add),
        WideBin::Sub => combine(a, b, i128::checked_sub),
        WideBin::Mul => combine(a, b, i128::checked_mul),
        WideBin::And => match (a, b) {
            (Some((a_low, a_high)), Some((b_low, b_high))) if a_low >= 0 && b_low >= 0 => {
                Some((0, a_high.min(b_high)))
            }
            (Some((low, high)), _) | (_, Some((low, high))) if low >= 0 => Some((0, high)),
            (Some(a), Some(b)) => Some((bit_floor(a.0.min(b.0)), a.1.max(b.1))),
            _ => None,
        },
        WideBin::Or | WideBin::Xor => {
            let ((a_low, a_high), (b_low, b_high)) = (a?, b?);
            // Neither needs more two's complement bits than its operands.
            let low = a_low.min(b_low).min(!a_high.max(b_high));
            let high = a_high.max(b_high).max(!a_low.min(b_low));
            let top = bit_ceiling(high.max(!low));
            Some((if a_low >= 0 && b_low >= 0 { 0 } else { !top }, top))
        }
        WideBin::Shl => {
            let (shift_low, shift_high) = b?;
            let times =
                |value: i128, by: i128| (0..120).contains(&by).then(|| value.checked_mul(1 << by)).flatten();
            (shift_low >= 0).then(|| combine(a, Some((shift_low, shift_high)), times)).flatten()
        }
        WideBin::Shr => {
            let (low, high) = a?;
            Some((low.min(0), high.max(0)))
        }
        WideBin::Div | WideBin::Mod => {
            let (low, high) = a?;
            let largest = low.unsigned_abs().max(high.unsigned_abs()).min(i128::MAX as u128) as i128;
            Some((if low < 0 || b?.0 < 0 { -largest } else { 0 }, largest))
        }
    }
}

/// Returns the least number of the form 2^n - 1 that is not below `value`, which is not negative.
fn bit_ceiling(value: i128) -> i128 {
    if value <= 0 { 0 } else { (i128::MAX as u128 >> (value.leading_zeros() - 1)) as i128 }
}

fn bit_floor(value: i128) -> i128 {
    if value >= 0 { 0 } else { !bit_ceiling(!value) }
}

pub(super) fn binary(op: WideBin, a: Expr, b: Expr) -> Expr {
    let range = binary_range(op, a.range, b.range);
    Expr { kind: Kind::Bin(op, Box::new((a, b))), range }
}
