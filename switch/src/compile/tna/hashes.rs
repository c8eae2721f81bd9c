//! Hashes, checksums, and the counter of parsers.

use num_bigint::BigInt;

use super::expr::{Eval, truth, wrap};
use super::lowering::{Lowering, arguments};
use super::types::Type;
use crate::compile::expr::{Compare, Expr, HeaderExpr, Kind};
use crate::compile::layout::Field;
use crate::error::Result;
use crate::hash::{Algorithm, Crc};
use crate::op::{Bin, Op, Un, Word, low_mask};
use crate::p4ir::Node;
use crate::program::{ArchOp, Calculation, CalculationInput, Place};

impl<'v> Lowering<'_, 'v> {
    /// Returns the values that data consists of, in order; their bits together.
    pub(super) fn inputs(
        &mut self,
        data: Eval<'v>,
        at: Node<'v>,
        to: &mut Vec<CalculationInput>,
    ) -> Result<u32> {
        let valid = self.b.constant(1);
        match data {
            Eval::Value(expr, ty) => {
                let Some((bits, signed)) = ty.scalar() else {
                    return Err(at.problem("every value needs a width here"));
                };
                let place = match &expr.kind {
                    Kind::Field(field) if field.bits == bits && !signed => field.place,
                    _ => {
                        let field = self.hidden(bits, false, at)?;
                        self.b.store(field.place, &wrap(expr, Type::Bits { bits, signed: false }));
                        self.b.release();
                        field.place
                    }
                };
                to.push(CalculationInput::Field { place, bits, valid });
                Ok(bits)
            }
            Eval::Header(HeaderExpr::Fixed(header), _) => {
                let fields = self.b.layout.fields[header as usize].clone();
                to.extend(fields.iter().map(|field| CalculationInput::Field {
                    place: field.place,
                    bits: field.bits,
                    valid,
                }));
                Ok(fields.iter().map(|field| field.bits).sum())
            }
            Eval::Parts(parts) => {
                let mut bits = 0;
                for (_, part) in parts {
                    bits += self.inputs(part, at, to)?;
                }
                Ok(bits)
            }
            _ => Err(at.problem("data must be values, headers, or lists of them")),
        }
    }

    /// Returns an argument's values.
    pub(super) fn data(&mut self, node: Node<'v>, position: usize) -> Result<(Vec<CalculationInput>, u32)> {
        let given = arguments(node).get(position).copied();
        let given = given.ok_or_else(|| node.problem(format!("argument {} is missing", position + 1)))?;
        let data = self.eval(given)?;
        let mut inputs = Vec::new();
        let bits = self.inputs(data, given, &mut inputs)?;
        Ok((inputs, bits))
    }

    pub(super) fn calculation(&mut self, calculation: Calculation) -> u32 {
        self.b.calculations.push(calculation);
        self.b.calculations.len() as u32 - 1
    }

    /// `get` of a hash: the input is one number, its first value on top, with zeros before it up to a byte.
    pub(super) fn hash(&mut self, node: Node<'v>, instance: Node<'v>) -> Result<Eval<'v>> {
        let ty = self.type_arguments(instance)?.first().copied();
        let Some((ty, (bits, _))) = ty.and_then(|ty| Some((ty, ty.scalar()?))).filter(|ty| ty.1.0 <= 64)
        else {
            return Err(node.problem("a hash gives a number of at most 64 bits"));
        };
        let (algorithm, width) = self.algorithm(instance)?;
        let (mut inputs, given) = self.data(node, 0)?;
        let pad = given.next_multiple_of(8) - given;
        if pad > 0 && !matches!(algorithm, Algorithm::Xor8 | Algorithm::Xor16 | Algorithm::Xor32) {
            inputs.insert(0, CalculationInput::Constant { bytes: vec![0], bits: pad });
        }
        let calc = self.calculation(Calculation { algorithm, inputs, payload: false });
        let field = self.hidden(64, false, node)?;
        let Place::Word { word: d, .. } = field.place else {
            return Err(node.problem("no place for a hash"));
        };
        let (base, max) = (self.b.constant(0), self.b.constant(u64::MAX));
        self.b.emit(Op::Hash { d, calc, base, max });
        if let Some(width) = width.filter(|&width| width < bits) {
            // The bits of a polynomial's remainder repeat in a wider result.
            let by = self.b.constant(u64::from(width));
            let (word, times) = (self.b.temporary(), bits.div_ceil(width));
            self.copy_word(word, d);
            for _ in 1..times {
                self.b.emit(Op::Bin { op: Bin::Shl, d, a: d, b: by });
                self.b.emit(Op::Bin { op: Bin::Or, d, a: d, b: word });
            }
        }
        self.b.emit(Op::Un { op: Un::Mask(bits as u8), d, a: d });
        let place = Place::Word { word: d, bits, signed: false };
        Ok(Eval::Value(Expr::field(Field { place, bits, signed: false }), ty))
    }

    /// Returns the algorithm of a hash, and the width of its polynomial if it has one.
    fn algorithm(&mut self, instance: Node<'v>) -> Result<(Algorithm, Option<u32>)> {
        let given = arguments(instance);
        let algorithm = given.first().and_then(|given| given.text("member")).unwrap_or_default();
        let crc = |width: u32, polynomial: u64, ends: u64, reflected: bool| {
            let crc = Crc::new(width, polynomial, ends, ends, reflected);
            Ok((Algorithm::Crc(Box::new(crc)), Some(width)))
        };
        match algorithm {
            "IDENTITY" => Ok((Algorithm::Low, None)),
            "XOR8" => Ok((Algorithm::Xor8, None)),
            "XOR16" => Ok((Algorithm::Xor16, None)),
            "XOR32" => Ok((Algorithm::Xor32, None)),
            "CRC8" => crc(8, 0x07, 0, false),
            "CRC16" => crc(16, 0x8005, 0, true),
            // The chip's matrix is any invertible one; this is one.
            "RANDOM" | "CRC32" => crc(32, 0x04c1_1db7, 0xffff_ffff, true),
            "CRC64" => crc(64, 0x42f0_e1eb_a9ea_3693, 0, false),
            "CUSTOM" => self.custom(instance),
            other => Err(instance.problem(format!("the hash algorithm {other:?} is not supported"))),
        }
    }

    /// Returns a hash by a polynomial of the program's own.
    fn custom(&mut self, instance: Node<'v>) -> Result<(Algorithm, Option<u32>)> {
        let bad = || instance.problem("a custom hash needs a CRCPolynomial of constants, 1 to 64 bits wide");
        let polynomial = arguments(instance).get(1).and_then(|given| given.path());
        let polynomial = polynomial.and_then(|name| self.known(name)).ok_or_else(bad)?;
        let [coefficients, reversed, _msb, extended, initial, last] = arguments(polynomial)[..] else {
            return Err(bad());
        };
        let width = self.type_arguments(polynomial)?.first().and_then(|ty| ty.scalar()).ok_or_else(bad)?.0;
        if !(1..=64).contains(&width) {
            return Err(bad());
        }
        let number = |node: Node<'v>| {
            let value = node.int("value").ok_or_else(bad)? & BigInt::from(low_mask(width as u8));
            u64::try_from(value).map_err(|_| bad())
        };
        let (reflected, last) = (reversed.flag("value"), number(last)?);
        // The last step precedes the reversal of the remainder.
        let last = if reflected { last.reverse_bits() >> (64 - width) } else { last };
        let crc = Crc::new(width, number(coefficients)?, number(initial)?, last, reflected);
        Ok((Algorithm::Crc(Box::new(crc)), extended.flag("value").then_some(width)))
    }

    /// Returns the word that holds a unit's present value; a checksum's is the ones' complement sum so far.
    pub(super) fn unit(&mut self, instance: Node<'v>) -> Word {
        if let Some(&word) = self.units.get(&instance.id()) {
            return word;
        }
        let word = self.hidden_word();
        self.units.insert(instance.id(), word);
        word
    }

    pub(super) fn checksum(&mut self, node: Node<'v>, instance: Node<'v>, method: &str) -> Result<Eval<'v>> {
        let sum = self.unit(instance);
        let bits16 = Type::Bits { bits: 16, signed: false };
        let given = |word: Word| {
            let field =
                Field { place: Place::Word { word, bits: 16, signed: false }, bits: 16, signed: false };
            Eval::Value(Expr::field(field), bits16)
        };
        match method {
            "add" | "subtract" => {
                let (inputs, _) = self.data(node, 0)?;
                let calc =
                    self.calculation(Calculation { algorithm: Algorithm::Low, inputs, payload: false });
                self.emit_arch(ArchOp::Sum { d: sum, calc, minus: method == "subtract" });
                Ok(Eval::Nothing)
            }
            "subtract_all_and_deposit" => {
                // The checksum and the covered fields were subtracted: the remainder is the rest's share.
                let to = arguments(node).first().copied();
                let to = to.ok_or_else(|| node.problem("a target is needed"))?;
                self.assign_to(to, given(sum))?;
                Ok(Eval::Nothing)
            }
            "verify" => {
                let Eval::Value(sum, _) = given(sum) else { return Err(node.problem("no sum")) };
                let whole = Expr::int(BigInt::from(0xffff));
                Ok(Eval::Value(truth(Kind::Compare(Compare::Eq, Box::new((sum, whole)))), Type::Bool))
            }
            "update" | "get" => {
                if method == "update" {
                    self.set_word(sum, 0);
                    let (inputs, _) = self.data(node, 0)?;
                    let calc =
                        self.calculation(Calculation { algorithm: Algorithm::Low, inputs, payload: false });
                    self.emit_arch(ArchOp::Sum { d: sum, calc, minus: false });
                }
                let result = self.hidden_word();
                self.b.emit(Op::Un { op: Un::Not, d: result, a: sum });
                self.b.emit(Op::Un { op: Un::Mask(16), d: result, a: result });
                if arguments(node).get(1).is_some_and(|zeros_as_ones| zeros_as_ones.flag("value")) {
                    let skip = self.b.code.len();
                    self.b.emit(Op::JumpIfNotZero { a: result, to: 0 });
                    self.set_word(result, 0xffff);
                    self.land([skip]);
                }
                Ok(given(result))
            }
            other => Err(node.problem(format!("a checksum has no {other:?}"))),
        }
    }

    /// Returns an 8-bit signed counter.
    pub(super) fn parser_counter(
        &mut self,
        node: Node<'v>,
        instance: Node<'v>,
        method: &str,
    ) -> Result<Eval<'v>> {
        let word = self.unit(instance);
        let field = Field { place: Place::Word { word, bits: 8, signed: true }, bits: 8, signed: true };
        let zero = || Expr::int(BigInt::default());
        let compare = |op| {
            let sides = Box::new((Expr::field(field), zero()));
            Ok(Eval::Value(truth(Kind::Compare(op, sides)), Type::Bool))
        };
        match method {
            "is_zero" => return compare(Compare::Eq),
            "is_negative" => return compare(Compare::Lt),
            "set" => self.set_counter(node, word)?,
            "increment" | "decrement" => {
                let (by, _) = self.argument(node, 0)?;
                let b = self.b.word(&by);
                let op = if method == "increment" { Bin::Add } else { Bin::Sub };
                self.b.emit(Op::Bin { op, d: word, a: word, b });
            }
            other => return Err(node.problem(format!("a parser counter has no {other:?}"))),
        }
        self.b.emit(Op::Un { op: Un::Extend(8), d: word, a: word });
        Ok(Eval::Nothing)
    }

    /// `set(value)`, or `set(field, max, rotate, mask, add)`: the field rotated to the right, its low bits
    /// kept, something added, and at most `max`.
    fn set_counter(&mut self, node: Node<'v>, word: Word) -> Result<()> {
        let (field, ty) = self.argument(node, 0)?;
        let a = self.b.low(&field, 64);
        self.copy_word(word, a);
        if arguments(node).len() < 5 {
            return Ok(());
        }
        let fixed = |builder: &mut Self, position| {
            let value = builder.argument(node, position)?.0.constant();
            value.ok_or_else(|| node.problem("the counter's parameters must be constants"))
        };
        let (max, rotate) = (fixed(self, 1)?, fixed(self, 2)? % 8);
        let (kept, add) = (fixed(self, 3)?, fixed(self, 4)?);
        if ty.scalar().is_some_and(|(bits, _)| bits > 8) {
            return Err(node.problem("a parser counter is set from at most 8 bits"));
        }
        // Eight bits twice in a row, shifted, are the same eight bits rotated.
        let (eight, by) = (self.b.constant(8), self.b.constant(rotate));
        let high = self.b.temporary();
        self.b.emit(Op::Bin { op: Bin::Shl, d: high, a: word, b: eight });
        self.b.emit(Op::Bin { op: Bin::Or, d: word, a: word, b: high });
        self.b.emit(Op::Bin { op: Bin::Shr, d: word, a: word, b: by });
        self.b.emit(Op::Un { op: Un::Mask(kept.min(7) as u8 + 1), d: word, a: word });
        let (add, max) = (self.b.constant(add), self.b.constant(max));
        self.b.emit(Op::Bin { op: Bin::Add, d: word, a: word, b: add });
        let above = self.b.temporary();
        self.b.emit(Op::Bin { op: Bin::LtU, d: above, a: max, b: word });
        self.b.emit(Op::Select { d: word, c: above, a: max, b: word });
        Ok(())
    }
}
