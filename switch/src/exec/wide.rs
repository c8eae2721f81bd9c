//! Computes expressions in unbounded integers.

use num_bigint::{BigInt, Sign};

use crate::op::{Bin, Span};
use crate::program::Program;
use crate::state::State;
use crate::wide::{Wide, WideBin, extend, read_span};

/// Left shifts beyond this give zero: no field is as wide.
const MAX_SHIFT: u64 = 1 << 16;

fn shift_amount(value: &BigInt) -> u64 {
    u64::try_from(value).unwrap_or(if value.sign() == Sign::Minus { 0 } else { u64::MAX })
}

impl Wide {
    pub fn eval(&self, state: &State, program: &Program) -> BigInt {
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
