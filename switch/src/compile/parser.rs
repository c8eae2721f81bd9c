//! The parser: states become code, transitions become selects.

use std::collections::HashMap;

use serde_json::Value;

use super::build::Builder;
use super::expr::{Expr, HeaderExpr, Kind};
use super::{CompileError, Result};
use crate::json::{ParseState, Primitive, Transition, Typed};
use crate::op::{Op, Pc, Span};
use crate::program::{Case, KeyPart, Place, Select};

impl Builder<'_> {
    /// Lowers the parser; where it starts.
    pub(super) fn build_parser(&mut self) -> Result<Pc> {
        let document = self.document;
        let Some(parser) = document.parsers.first() else {
            let start = self.pc();
            self.emit(Op::Return);
            return Ok(start);
        };
        let mut starts = HashMap::new();
        let mut pending = Vec::new();
        for state in &parser.parse_states {
            starts.insert(state.name.as_str(), self.pc());
            let place = format!("parsers {:?}, state {:?}", parser.name, state.name);
            for (number, op) in state.parser_ops.iter().enumerate() {
                self.parser_op(op, &format!("{place}, operation {number} ({})", op.op))?;
                self.release();
                self.check()?;
            }
            pending.push(self.selects.len());
            self.emit(Op::ParserSelect(self.selects.len() as u32));
            let select = self.transitions(state, &place)?;
            self.selects.push(select);
        }
        for (index, state) in pending.into_iter().zip(&parser.parse_states) {
            self.resolve_transitions(index, state, &starts, &format!("parsers {:?}", parser.name))?;
        }
        match parser.init_state.as_deref().map(|name| starts.get(name)) {
            Some(Some(&start)) => Ok(start),
            _ => Err(CompileError::new(
                format!("parsers {:?}", parser.name),
                "init_state is not one of its states",
            )),
        }
    }

    fn parser_op(&mut self, op: &Primitive, place: &str) -> Result<()> {
        let bad = |problem: &str| CompileError::new(place, problem.to_owned());
        match op.op.as_str() {
            "extract" | "extract_VL" => self.extract(op, place),
            "set" => self.set(op, place),
            "verify" => {
                let condition = self.value(self.param(op, 0, place)?, place)?;
                let error = self.value(self.param(op, 1, place)?, place)?;
                let (a, error) = (self.truth(&condition), self.word(&error));
                self.emit(Op::Verify { a, error });
                Ok(())
            }
            "shift" => {
                let bytes =
                    self.param(op, 0, place)?.as_u64().ok_or_else(|| bad("a number of bytes is needed"))?;
                let bits = self.constant(bytes.saturating_mul(8));
                self.emit(Op::Advance { bits });
                Ok(())
            }
            "advance" => {
                let bits = self.value(self.param(op, 0, place)?, place)?;
                let bits = self.word(&bits);
                self.emit(Op::Advance { bits });
                Ok(())
            }
            "primitive" => {
                let inner = self.param(op, 0, place)?.clone();
                let inner: Primitive =
                    serde_json::from_value(inner).map_err(|error| bad(&error.to_string()))?;
                self.lower_primitives(&[inner], place)
            }
            other => Err(bad(&format!("the parser operation {other:?} is not known"))),
        }
    }

    fn extract(&mut self, op: &Primitive, place: &str) -> Result<()> {
        let bad = |problem: &str| CompileError::new(place, problem.to_owned());
        let what = self.param(op, 0, place)?;
        let kind = what.get("type").and_then(Value::as_str).unwrap_or_default();
        let value = what.get("value").unwrap_or(&Value::Null);
        let name = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(|| bad("a name is needed"));
        let length = match op.op.as_str() {
            "extract_VL" => {
                let length = self.value(self.param(op, 1, place)?, place)?;
                Some(self.word(&length))
            }
            _ => None,
        };
        let max_bytes = |builder: &Self, header: u32| {
            let header = &builder.layout.headers[header as usize];
            header.bytes + header.var.map_or(0, |var| var.max_bytes)
        };
        let emitted = match (kind, length) {
            ("regular", length) => {
                let h = self.layout.header(&name(value)?, place)?;
                if self.layout.metadata[h as usize] {
                    return Err(bad("metadata cannot be extracted"));
                }
                match length {
                    Some(bits) => Op::ExtractVar { h, bits, max_bytes: max_bytes(self, h) },
                    None => Op::Extract(h),
                }
            }
            ("stack", length) => {
                let stack = self.layout.stack(&name(value)?, place)?;
                let first =
                    self.example(&HeaderExpr::Last(stack)).ok_or_else(|| bad("the stack is empty"))?;
                match length {
                    Some(bits) => Op::ExtractVarStack { stack, bits, max_bytes: max_bytes(self, first) },
                    None => Op::ExtractStack(stack),
                }
            }
            ("union_stack", length) => {
                let stack = self.layout.stack(&name(value.get(0).unwrap_or(&Value::Null))?, place)?;
                if !self.layout.stacks[stack as usize].of_unions {
                    return Err(bad("a stack of header unions is needed"));
                }
                let union = super::expr::UnionExpr::Last(stack);
                let member =
                    self.member_position(&union, &name(value.get(1).unwrap_or(&Value::Null))?, place)?;
                let header = self.example(&HeaderExpr::Member(union, member));
                match (length, header) {
                    (Some(bits), Some(header)) => {
                        let max_bytes = max_bytes(self, header);
                        Op::ExtractVarUnionStack { stack, member, bits, max_bytes }
                    }
                    _ => Op::ExtractUnionStack { stack, member },
                }
            }
            _ => return Err(bad(&format!("extracting to {kind:?} is not supported"))),
        };
        self.emit(emitted);
        Ok(())
    }

    fn set(&mut self, op: &Primitive, place: &str) -> Result<()> {
        let target = self.value(self.param(op, 0, place)?, place)?;
        let source = self.param(op, 1, place)?;
        let Some((bit, bits)) = lookahead(source) else {
            let source = self.value(source, place)?;
            return match &target.kind {
                Kind::Field(field) => {
                    if let (Place::Var { header: d }, Kind::Field(a)) = (field.place, &source.kind)
                        && let Place::Var { header: a } = a.place
                    {
                        self.emit(Op::AssignVar { d, a });
                    } else {
                        self.store(field.place, &source);
                    }
                    Ok(())
                }
                Kind::FieldAt(header, field, bits) => {
                    self.store_at(header, *field, *bits, &source);
                    Ok(())
                }
                _ => Err(CompileError::new(place, "the target must be a field")),
            };
        };
        let Kind::Field(field) = &target.kind else {
            return Err(CompileError::new(place, "the target of a lookahead must be a field"));
        };
        let ahead = if bits <= 64 {
            let d = self.temporary();
            self.emit(Op::Peek { d, bit, bits: bits as u8 });
            Place::Word { word: d, bits, signed: false }
        } else {
            let to = self.layout.allocate(bits, false, place)?;
            if let Place::Bits { span, .. } = to {
                self.emit(Op::WidePeek { to: span, bit });
            }
            to
        };
        let source = Expr::field(super::layout::Field { place: ahead, bits, signed: false });
        self.store(field.place, &source);
        Ok(())
    }

    /// Returns the key's words, and the width in bits of each key field.
    fn key(&mut self, key: &[Typed], place: &str) -> Result<(Vec<KeyPart>, Vec<u32>)> {
        let (mut parts, mut widths) = (Vec::new(), Vec::new());
        for typed in key {
            if typed.kind == "lookahead" {
                let json = serde_json::json!({"type": "lookahead", "value": typed.value});
                let (bit, bits) =
                    lookahead(&json).ok_or_else(|| CompileError::new(place, "a bad lookahead"))?;
                widths.push(bits);
                for (offset, bits) in chunks(bits) {
                    parts.push(KeyPart::Ahead { bit: bit + offset, bits: bits as u8 });
                }
                continue;
            }
            let json = serde_json::json!({"type": typed.kind, "value": typed.value});
            let expr = self.value(&json, place)?;
            let (place_of, bits) = match &expr.kind {
                Kind::Field(field) => (field.place, field.bits),
                Kind::FieldAt(_, _, bits) => {
                    // Copied first: the element is known only at run time.
                    let to = self.layout.allocate(*bits, false, place)?;
                    self.store(to, &expr);
                    (to, *bits)
                }
                _ => return Err(CompileError::new(place, "a transition key must be a field or lookahead")),
            };
            widths.push(bits);
            parts.extend(key_parts(place_of, bits));
        }
        Ok((parts, widths))
    }

    fn transitions(&mut self, state: &ParseState, place: &str) -> Result<Select> {
        // The select was emitted already; operations for the key must precede it.
        let select = self.code.pop();
        let (key, widths) = self.key(&state.transition_key, place)?;
        self.release();
        self.code.extend(select);
        let mut cases = Vec::new();
        for transition in &state.transitions {
            let bad = |problem: &str| CompileError::new(place, format!("a transition: {problem}"));
            let split = |text: Option<&str>| match text {
                Some(text) => {
                    split_padded(text, &widths).ok_or_else(|| bad("a value does not fit the key")).map(Some)
                }
                None => Ok(None),
            };
            let mask = split(transition.mask.as_deref())?.unwrap_or_else(|| full(&widths));
            match kind(transition) {
                "hexstr" => {
                    let value =
                        split(transition.value.as_deref())?.ok_or_else(|| bad("a value is needed"))?;
                    let parts = value.iter().zip(&mask).map(|(value, mask)| (value & mask, *mask)).collect();
                    cases.push(Case::Value { parts, to: None });
                }
                "parse_vset" => {
                    let name = transition.value.as_deref().unwrap_or_default();
                    let set = self.value_sets.iter().position(|set| set.name == name);
                    let set = set.ok_or_else(|| bad(&format!("there is no value set {name:?}")))?;
                    self.value_sets[set].widths = widths.clone();
                    cases.push(Case::Set { set: set as u32, masks: mask, to: None });
                }
                _ => {}
            }
        }
        Ok(Select { key, cases, otherwise: None })
    }

    fn resolve_transitions(
        &mut self,
        select: usize,
        state: &ParseState,
        starts: &HashMap<&str, Pc>,
        place: &str,
    ) -> Result<()> {
        let mut cases = self.selects[select].cases.iter_mut();
        let mut otherwise = None;
        for transition in &state.transitions {
            let target = match transition.next_state.as_deref() {
                Some(name) => match starts.get(name) {
                    Some(&pc) => Some(pc),
                    None => return Err(CompileError::new(place, format!("there is no state {name:?}"))),
                },
                None => None,
            };
            match kind(transition) {
                "hexstr" | "parse_vset" => {
                    if let Some(Case::Value { to, .. } | Case::Set { to, .. }) = cases.next() {
                        *to = target;
                    }
                }
                _ => otherwise = target,
            }
        }
        self.selects[select].otherwise = otherwise;
        Ok(())
    }
}

fn kind(transition: &Transition) -> &str {
    match transition.kind.as_deref() {
        Some(kind) => kind,
        None if transition.value.as_deref() == Some("default") || transition.value.is_none() => "default",
        None => "hexstr",
    }
}

fn lookahead(json: &Value) -> Option<(u32, u32)> {
    if json.get("type")?.as_str()? != "lookahead" {
        return None;
    }
    let value = json.get("value")?;
    let number = |n: usize| value.get(n)?.as_u64().filter(|&bits| bits <= 1 << 16).map(|bits| bits as u32);
    Some((number(0)?, number(1).filter(|&bits| bits > 0)?))
}

/// Pieces of up to 64 bits, the first one short: (offset, width).
fn chunks(bits: u32) -> impl Iterator<Item = (u32, u32)> {
    let first = bits - (bits.div_ceil(64) - 1) * 64;
    std::iter::once((0, first)).chain((first..bits).step_by(64).map(|offset| (offset, 64)))
}

/// Returns the words of a key field.
pub(super) fn key_parts(place: Place, bits: u32) -> Vec<KeyPart> {
    match place {
        Place::Word { word, signed: false, .. } => vec![KeyPart::Word(word)],
        // Keys are compared as bit patterns.
        Place::Word { word, bits, signed: true } => vec![KeyPart::MaskedWord(word, bits as u8)],
        Place::Bits { span, .. } => chunks(bits)
            .map(|(offset, bits)| {
                let piece = Span { bit: span.bit + offset, bits };
                piece.slice().map_or(KeyPart::Span(piece), KeyPart::Slice)
            })
            .collect(),
        Place::Var { .. } => Vec::new(),
    }
}

/// Cuts a hexadecimal string, in which every field is padded to whole bytes, into words.
fn split_padded(text: &str, widths: &[u32]) -> Option<Vec<u64>> {
    let digits = crate::value::parse_hex(text)?;
    let total: usize = widths.iter().map(|bits| bits.div_ceil(8) as usize).sum();
    let extra = digits.len().saturating_sub(total);
    if digits[..extra].iter().any(|&byte| byte != 0) {
        return None;
    }
    let mut bytes = vec![0; total.saturating_sub(digits.len())];
    bytes.extend(&digits[extra..]);
    let mut rest = bytes.as_slice();
    let mut words = Vec::new();
    for &bits in widths {
        let (field, after) = rest.split_at(bits.div_ceil(8) as usize);
        rest = after;
        for piece in field.rchunks(8).rev() {
            words.push(piece.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        }
    }
    Some(words)
}

fn full(widths: &[u32]) -> Vec<u64> {
    widths.iter().flat_map(|&bits| crate::value::prefix_mask(bits, bits)).collect()
}
