//! Parsers: states become code, transitions become selects.

use std::collections::HashMap;

use super::expr::Eval;
use super::lowering::{Lowering, arguments};
use super::types::Type;
use crate::compile::expr::{Expr, HeaderExpr, Kind};
use crate::compile::layout::Field;
use crate::compile::parser::key_parts;
use crate::error::Result;
use crate::op::{Op, Pc};
use crate::p4ir::Node;
use crate::program::{Case, Place, Select};
use crate::value::{prefix_mask, words_for};

/// Value of the parser's error after `reject`: above the bits that the program can see.
pub(crate) const REJECTED: u64 = 1 << 32;
/// `PARSER_ERROR_NO_MATCH`: no case of a select matched.
pub(super) const NO_MATCH: u64 = 1;

/// A case's values and masks, a word each; or a value set.
enum Keyset {
    Values(Vec<(u64, u64)>),
    /// Value set, compared with this number of parts of the key.
    Set(u32, usize),
}

impl<'v> Lowering<'_, 'v> {
    /// Lowers a parser's states; where it starts.
    pub(super) fn parser(&mut self, parser: Node<'v>) -> Result<()> {
        let states = parser.list("states");
        let mut starts: HashMap<&str, Pc> = HashMap::new();
        // Where a select goes is known only when all states are lowered.
        let mut waiting: Vec<(usize, Vec<&str>, Option<&str>)> = Vec::new();
        let entry = self.jump();
        self.reject = self.b.pc();
        let (never, rejected) = (self.b.constant(0), self.b.constant(REJECTED));
        self.b.emit(Op::Verify { a: never, error: rejected });
        starts.insert("reject", self.reject);
        let unmatched = self.b.pc();
        let no_match = self.b.constant(NO_MATCH);
        self.b.emit(Op::Verify { a: never, error: no_match });
        starts.insert("accept", self.b.pc());
        self.b.emit(Op::Return);
        for state in &states {
            if matches!(state.name(), "accept" | "reject") {
                continue;
            }
            starts.insert(state.name(), self.b.pc());
            self.scopes.push(HashMap::new());
            for statement in state.list("components") {
                self.statement(statement)?;
            }
            let (cases, default) = self.transition(*state)?;
            self.scopes.pop();
            self.b.emit(Op::ParserSelect(self.b.selects.len() as u32 - 1));
            waiting.push((self.b.selects.len() - 1, cases, default));
        }
        for (select, names, default) in waiting {
            let pc = |name: &str| {
                let known = starts.get(name).copied();
                known.ok_or_else(|| parser.problem(format!("there is no state {name:?}")))
            };
            self.b.selects[select].otherwise = Some(default.map_or(Ok(unmatched), pc)?);
            for (case, name) in self.b.selects[select].cases.iter_mut().zip(names) {
                let (Case::Value { to, .. } | Case::Set { to, .. }) = case;
                *to = Some(pc(name)?);
            }
        }
        let start = starts.get("start").copied();
        let start = start.ok_or_else(|| parser.problem("the parser has no state \"start\""))?;
        if let Some(to) = self.b.code[entry].target() {
            *to = start;
        }
        Ok(())
    }

    /// Adds a state's select; the states of its cases, and that of the default case.
    fn transition(&mut self, state: Node<'v>) -> Result<(Vec<&'v str>, Option<&'v str>)> {
        let direct = Select { key: Vec::new(), cases: Vec::new(), otherwise: None };
        let Some(select) = state.get("selectExpression") else {
            self.b.selects.push(direct);
            return Ok((Vec::new(), Some("reject")));
        };
        if select.kind() == "PathExpression" {
            self.b.selects.push(direct);
            return Ok((Vec::new(), select.path()));
        }
        let (mut key, mut widths) = (Vec::new(), Vec::new());
        for component in select.need("select")?.list("components") {
            let (place, bits) = self.key_value(component)?;
            widths.push(bits);
            key.extend(key_parts(place, bits));
        }
        let (mut cases, mut names, mut default) = (Vec::new(), Vec::new(), None);
        for case in select.list("selectCases") {
            let name = case.need("state")?.path().unwrap_or_default();
            let keyset = case.need("keyset")?;
            if keyset.kind() == "DefaultExpression" {
                default = Some(name);
                break;
            }
            cases.push(match self.keyset(keyset, &widths)? {
                Keyset::Values(parts) => Case::Value { parts, to: None },
                Keyset::Set(set, parts) => {
                    // Members are compared with as many parts of the key as they have.
                    let widths = widths[..parts].to_vec();
                    let masks = widths.iter().flat_map(|&bits| prefix_mask(bits, bits)).collect();
                    self.b.value_sets[set as usize].widths = widths;
                    Case::Set { set, masks, to: None }
                }
            });
            names.push(name);
        }
        self.b.selects.push(Select { key, cases, otherwise: None });
        Ok((names, default))
    }

    /// Returns the place of a part of the key when the select runs.
    fn key_value(&mut self, node: Node<'v>) -> Result<(Place, u32)> {
        let (expr, ty) = self.value(node)?;
        let (bits, signed) = ty.scalar().ok_or_else(|| node.problem("a key needs a width"))?;
        if let Kind::Field(field) = &expr.kind
            && field.bits == bits
        {
            return Ok((field.place, bits));
        }
        let field = self.hidden(bits, signed, node)?;
        self.b.store(field.place, &expr);
        self.b.release();
        Ok((field.place, bits))
    }

    fn keyset(&mut self, node: Node<'v>, widths: &[u32]) -> Result<Keyset> {
        if node.kind() == "PathExpression" {
            return Ok(Keyset::Set(self.value_set(node)?, widths.len()));
        }
        let components = match node.kind() {
            "ListExpression" | "StructExpression" => node.list("components"),
            _ => vec![node],
        };
        if let Some((first, others)) = components.split_first()
            && first.kind() == "PathExpression"
        {
            if others.iter().any(|other| other.kind() != "DefaultExpression") {
                return Err(node.problem("a value set is the whole key, or its first part followed by `_`"));
            }
            return Ok(Keyset::Set(self.value_set(*first)?, 1));
        }
        if components.len() != widths.len() {
            return Err(node.problem(format!("{} values are needed", widths.len())));
        }
        let mut parts = Vec::new();
        for (component, &bits) in components.into_iter().zip(widths) {
            parts.extend(self.masked(component, bits)?);
        }
        Ok(Keyset::Values(parts))
    }

    fn value_set(&self, node: Node<'v>) -> Result<u32> {
        let set = self.known(node.path().unwrap_or_default());
        let name = set.map(Node::full_name).unwrap_or_default();
        let position = self.b.value_sets.iter().position(|set| set.name == name);
        let position = position.ok_or_else(|| node.problem(format!("there is no value set {name:?}")))?;
        Ok(position as u32)
    }

    fn masked(&mut self, node: Node<'v>, bits: u32) -> Result<Vec<(u64, u64)>> {
        let full = prefix_mask(bits, bits);
        let mut words = |node: Node<'v>| -> Result<Vec<u64>> {
            let (expr, _) = self.value(node)?;
            let Kind::Int(value) = expr.kind else { return Err(node.problem("a constant is needed")) };
            Ok(constant_words(&value, bits))
        };
        Ok(match node.kind() {
            "DefaultExpression" => vec![(0, 0); words_for(bits)],
            "NamedExpression" => self.masked(node.need("expression")?, bits)?,
            "Mask" => {
                let (value, mask) = (words(node.need("left")?)?, words(node.need("right")?)?);
                value.into_iter().zip(mask).map(|(value, mask)| (value & mask, mask)).collect()
            }
            _ => words(node)?.into_iter().zip(full).collect(),
        })
    }

    pub(super) fn extract(&mut self, node: Node<'v>) -> Result<()> {
        let given = arguments(node);
        let to = *given.first().ok_or_else(|| node.problem("extract needs a header"))?;
        let length = match given.get(1) {
            Some(_) => {
                let (expr, _) = self.argument(node, 1)?;
                Some(self.b.word(&expr))
            }
            None => None,
        };
        let max = |lowering: &Self, header: u32| {
            let header = &lowering.b.layout.headers[header as usize];
            header.bytes + header.var.map_or(0, |var| var.max_bytes)
        };
        // `stack.next` is the stack's next element.
        if to.text("member") == Some("next")
            && let Eval::Stack(stack, _) = self.eval(to.need("expr")?)?
        {
            let first = self.b.layout.stacks[stack as usize].elements[0];
            self.b.emit(match length {
                Some(bits) => Op::ExtractVarStack { stack, bits, max_bytes: max(self, first) },
                None => Op::ExtractStack(stack),
            });
            return Ok(());
        }
        match (self.eval(to)?, length) {
            (Eval::Header(HeaderExpr::Fixed(h), _), None) => self.b.emit(Op::Extract(h)),
            (Eval::Header(HeaderExpr::Fixed(h), _), Some(bits)) => {
                let max_bytes = max(self, h);
                self.b.emit(Op::ExtractVar { h, bits, max_bytes });
            }
            _ => return Err(to.problem("only a header can be extracted")),
        }
        Ok(())
    }

    pub(super) fn lookahead(&mut self, node: Node<'v>) -> Result<Eval<'v>> {
        let ty = node.list("typeArguments").first().copied();
        let ty = self.types.resolve(ty.ok_or_else(|| node.problem("lookahead needs a type"))?)?;
        let mut at = 0;
        self.peek(ty, &mut at, node)
    }

    /// Reads a value of a type ahead, from a bit on.
    fn peek(&mut self, ty: Type<'v>, at: &mut u32, node: Node<'v>) -> Result<Eval<'v>> {
        if let Type::Struct(of) | Type::Header(of) = ty {
            let fields = self.types.fields(of)?.into_iter();
            let parts = fields.map(|(name, ty)| Ok((name, self.peek(ty, at, node)?)));
            return Ok(Eval::Parts(parts.collect::<Result<_>>()?));
        }
        let (bits, signed) =
            ty.scalar().ok_or_else(|| node.problem("values of this type cannot be read ahead"))?;
        let field = self.hidden(bits, false, node)?;
        match field.place {
            Place::Word { word: d, .. } => self.b.emit(Op::Peek { d, bit: *at, bits: bits as u8 }),
            Place::Bits { span: to, .. } => self.b.emit(Op::WidePeek { to, bit: *at }),
            Place::Var { .. } => {}
        }
        *at += bits;
        let value = Expr::field(Field { signed: false, ..field });
        Ok(Eval::Value(if signed { super::expr::wrap(value, ty) } else { value }, ty))
    }

    /// Reads the port metadata as a struct and goes past them.
    pub(super) fn unpack_port_metadata(&mut self, node: Node<'v>) -> Result<Eval<'v>> {
        let value = self.lookahead(node)?;
        let bits = self.b.constant(u64::from(self.port_metadata_bytes) * 8);
        self.b.emit(Op::Advance { bits });
        Ok(value)
    }
}

/// Returns a constant's words, most significant first; a negative one as two's complement.
pub(super) fn constant_words(value: &num_bigint::BigInt, bits: u32) -> Vec<u64> {
    let ones: num_bigint::BigInt = (num_bigint::BigInt::from(1) << bits) - 1;
    let kept: num_bigint::BigInt = value & ones;
    let (_, mut digits) = kept.to_u64_digits();
    digits.resize(words_for(bits), 0);
    digits.reverse();
    digits
}

#[cfg(test)]
mod tests {
    use super::constant_words;

    #[test]
    fn constants_are_cut_into_words() {
        assert_eq!(constant_words(&5.into(), 9), [5]);
        assert_eq!(constant_words(&(-1).into(), 9), [0x1ff]);
        assert_eq!(constant_words(&((num_bigint::BigInt::from(1) << 64) + 7), 80), [1, 7]);
    }
}
