//! Expressions: typed, wrapped to their width, and put in the form that the compiler lowers.

use num_bigint::BigInt;

use super::lowering::Lowering;
use super::thing::Thing;
use super::types::Type;
use crate::compile::expr::{Compare, Expr, HeaderExpr, Kind, TRUTH, binary, signed_range, unsigned_range};
use crate::compile::layout::Field;
use crate::error::Result;
use crate::p4ir::Node;
use crate::wide::WideBin;

/// Operators may nest so deeply.
pub(super) const MAX_DEPTH: u32 = 2_000;

/// A lowered expression.
#[derive(Debug, Clone)]
pub(super) enum Eval<'v> {
    Value(Expr, Type<'v>),
    Header(HeaderExpr, Node<'v>),
    Stack(u32, Node<'v>),
    /// A struct, or a list of values.
    Parts(Vec<(&'v str, Eval<'v>)>),
    Nothing,
}

pub(super) fn truth(kind: Kind) -> Expr {
    Expr { kind, range: TRUTH }
}

/// Returns all ones.
fn mask(bits: u32) -> Expr {
    Expr::int((BigInt::from(1) << bits) - 1)
}

/// Returns the value in the range of its type: the low bits of the computed value.
pub(super) fn wrap(expr: Expr, ty: Type<'_>) -> Expr {
    let Some((bits, signed)) = ty.scalar() else { return expr };
    let allowed = if signed { signed_range(bits) } else { unsigned_range(bits) };
    if let (Some((low, high)), Some((least, most))) = (expr.range, allowed)
        && low >= least
        && high <= most
    {
        return expr;
    }
    if signed {
        Expr { kind: Kind::Extend(bits, Box::new(expr)), range: allowed }
    } else {
        binary(WideBin::And, expr, mask(bits))
    }
}

/// Returns the bits of a value from `low` on, as an unsigned number.
pub(super) fn bits_of(expr: Expr, low: u32, bits: u32) -> Expr {
    let shifted = if low == 0 { expr } else { binary(WideBin::Shr, expr, Expr::int(low.into())) };
    wrap(shifted, Type::Bits { bits, signed: false })
}

/// A field, its position and width if its header is found at run time, and its type.
type FieldOf<'v> = (Field, Option<(u32, u32)>, Type<'v>);

impl<'v> Lowering<'_, 'v> {
    /// Returns an expression that must be a value.
    pub(super) fn value(&mut self, node: Node<'v>) -> Result<(Expr, Type<'v>)> {
        match self.eval(node)? {
            Eval::Value(expr, ty) => Ok((expr, ty)),
            _ => Err(node.problem("a value is needed here")),
        }
    }

    /// Returns an expression of any kind.
    pub(super) fn eval(&mut self, node: Node<'v>) -> Result<Eval<'v>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(node.problem("expressions nest too deeply"));
        }
        let result = self.eval_inner(node);
        self.depth -= 1;
        result
    }

    fn eval_inner(&mut self, node: Node<'v>) -> Result<Eval<'v>> {
        let given = |expr, ty| Ok(Eval::Value(expr, ty));
        match node.kind() {
            "Constant" => {
                let value = node.int("value").ok_or_else(|| node.problem("a constant needs a value"))?;
                let ty = match node.get("type") {
                    Some(ty) => self.types.resolve(ty)?,
                    None => Type::Int,
                };
                given(Expr::int(value), ty)
            }
            "BoolLiteral" => given(truth(Kind::Int(u8::from(node.flag("value")).into())), Type::Bool),
            "PathExpression" => {
                let name = node.path().unwrap_or_default();
                let thing =
                    self.find(name).ok_or_else(|| node.problem(format!("there is no variable {name:?}")))?;
                self.eval_thing(&thing, node)
            }
            "Member" => self.member(node),
            "ArrayIndex" => self.element(node),
            "Slice" => {
                let (a, _) = self.value(node.need("e0")?)?;
                let (low, bits) = slice_bounds(node)?;
                given(bits_of(a, low, bits), Type::Bits { bits, signed: false })
            }
            "Cast" => self.cast(node),
            "Mux" => self.mux(node),
            "LNot" => {
                let (a, _) = self.value(node.need("expr")?)?;
                given(truth(Kind::IsFalse(Box::new(a))), Type::Bool)
            }
            "Cmpl" => {
                let (a, ty) = self.value(node.need("expr")?)?;
                let range = a.range.map(|(low, high)| (!high, !low));
                given(wrap(Expr { kind: Kind::Not(Box::new(a)), range }, ty), ty)
            }
            "Neg" => {
                let (a, ty) = self.value(node.need("expr")?)?;
                given(wrap(binary(WideBin::Sub, Expr::int(BigInt::default()), a), ty), ty)
            }
            "UPlus" => self.eval(node.need("expr")?),
            "MethodCallExpression" => self.call(node),
            "ListExpression" | "StructExpression" | "P4ListExpression" => {
                let parts = node.list("components").into_iter();
                let parts = parts.map(|part| {
                    let value =
                        if part.kind() == "NamedExpression" { part.need("expression")? } else { part };
                    Ok((part.name(), self.eval(value)?))
                });
                Ok(Eval::Parts(parts.collect::<Result<_>>()?))
            }
            _ if node.get("left").is_some() => self.binary(node),
            other => Err(node.problem(format!("expressions of kind {other:?} are not supported"))),
        }
    }

    pub(super) fn field(&self, header: &str, field: &str) -> Result<Field> {
        self.b.layout.field(header, field, "fields")
    }

    pub(super) fn eval_thing(&self, thing: &Thing<'v>, at: Node<'v>) -> Result<Eval<'v>> {
        Ok(match thing {
            Thing::Value { header, field, ty } => Eval::Value(Expr::field(self.field(header, field)?), *ty),
            Thing::Header { name, ty } => {
                Eval::Header(HeaderExpr::Fixed(self.b.layout.header(name, "headers")?), *ty)
            }
            Thing::Stack { name, ty, .. } => Eval::Stack(self.b.layout.stack(name, "stacks")?, *ty),
            Thing::Struct(parts) => {
                let parts = parts.iter().map(|(name, part)| Ok((*name, self.eval_thing(part, at)?)));
                Eval::Parts(parts.collect::<Result<_>>()?)
            }
            Thing::Param { index, ty } => {
                let field = self.b.params.get(*index).copied();
                let field = field.ok_or_else(|| at.problem("the action has no such parameter"))?;
                // Parameters are kept unsigned.
                Eval::Value(wrap(Expr::field(field), *ty), *ty)
            }
            Thing::Nothing => Eval::Nothing,
        })
    }

    /// Returns the object that a path or a chain of members names, if any.
    pub(super) fn thing(&self, node: Node<'v>) -> Option<Thing<'v>> {
        match node.kind() {
            "PathExpression" => self.find(node.path()?),
            "Member" => self.thing(node.get("expr")?)?.part(node.text("member")?),
            _ => None,
        }
    }

    fn member(&mut self, node: Node<'v>) -> Result<Eval<'v>> {
        if let Some(thing) = self.thing(node) {
            return self.eval_thing(&thing, node);
        }
        let (of, name) = (node.need("expr")?, node.text("member").unwrap_or_default());
        if of.kind() == "TypeNameExpression" {
            let of = of.need("typeName")?.path().unwrap_or_default();
            let value = self.types.member(of, name);
            let value = value.ok_or_else(|| node.problem(format!("{of} has no member {name:?}")))?;
            let ty = match self.types.get(of) {
                Some(declared) => self.types.resolve(declared)?,
                None => Type::Int,
            };
            return Ok(Eval::Value(Expr::int(value), ty));
        }
        match self.eval(of)? {
            Eval::Header(header, ty) => {
                let (field, bits, ty) = self.header_field(&header, ty, name, node)?;
                let Some(bits) = bits else { return Ok(Eval::Value(Expr::field(field), ty)) };
                let range = if field.signed { signed_range(bits.1) } else { unsigned_range(bits.1) };
                Ok(Eval::Value(Expr { kind: Kind::FieldAt(header, bits.0, bits.1), range }, ty))
            }
            Eval::Stack(stack, ty) => match name {
                "last" => Ok(Eval::Header(HeaderExpr::Last(stack), ty)),
                "lastIndex" => {
                    let size = self.b.layout.stacks[stack as usize].elements.len() as i128;
                    let next = Expr { kind: Kind::NextIndex(stack), range: Some((0, size)) };
                    let ty = Type::Bits { bits: 32, signed: false };
                    Ok(Eval::Value(wrap(binary(WideBin::Sub, next, Expr::int(1.into())), ty), ty))
                }
                "size" => {
                    let size = self.b.layout.stacks[stack as usize].elements.len();
                    Ok(Eval::Value(Expr::int(size.into()), Type::Bits { bits: 32, signed: false }))
                }
                _ => Err(node.problem(format!("a stack has no {name:?} here"))),
            },
            Eval::Parts(parts) => {
                let part = parts.into_iter().find(|part| part.0 == name);
                part.map(|part| part.1).ok_or_else(|| node.problem(format!("there is no member {name:?}")))
            }
            Eval::Value(expr, Type::Bool) if name == "hit" => Ok(Eval::Value(expr, Type::Bool)),
            Eval::Value(expr, Type::Bool) if name == "miss" => {
                Ok(Eval::Value(truth(Kind::IsFalse(Box::new(expr))), Type::Bool))
            }
            _ => Err(node.problem(format!("nothing has the member {name:?}"))),
        }
    }

    /// Returns a header's field.
    pub(super) fn header_field(
        &self,
        header: &HeaderExpr,
        ty: Node<'v>,
        name: &str,
        at: Node<'v>,
    ) -> Result<FieldOf<'v>> {
        let unknown = || at.problem(format!("there is no field {name:?}"));
        let example = self.b.example(header).ok_or_else(unknown)?;
        let position = self.b.layout.field_position(example, name).ok_or_else(unknown)?;
        let field = self.b.layout.fields[example as usize][position];
        let types = self.types.fields(ty)?;
        let ty = types.iter().find(|known| known.0 == name).map(|known| known.1).ok_or_else(unknown)?;
        match header {
            HeaderExpr::Fixed(_) => Ok((field, None, ty)),
            _ => Ok((field, Some((position as u32, field.bits)), ty)),
        }
    }

    fn element(&mut self, node: Node<'v>) -> Result<Eval<'v>> {
        let Eval::Stack(stack, ty) = self.eval(node.need("left")?)? else {
            return Err(node.problem("only a header stack has elements"));
        };
        let (index, _) = self.value(node.need("right")?)?;
        let elements = &self.b.layout.stacks[stack as usize].elements;
        let fixed = index.constant().and_then(|index| elements.get(index as usize).copied());
        Ok(Eval::Header(
            match fixed {
                Some(header) => HeaderExpr::Fixed(header),
                None => HeaderExpr::Stack(stack, Box::new(index)),
            },
            ty,
        ))
    }

    fn cast(&mut self, node: Node<'v>) -> Result<Eval<'v>> {
        let to = self.types.resolve(node.need("destType")?)?;
        Ok(match (self.eval(node.need("expr")?)?, to) {
            (Eval::Value(a, Type::Bits { .. } | Type::Int), Type::Bool) => {
                Eval::Value(truth(Kind::IsNonZero(Box::new(a))), to)
            }
            (Eval::Value(a, _), to) => Eval::Value(wrap(a, to), to),
            // For example, a list that becomes a struct.
            (other, _) => other,
        })
    }

    fn mux(&mut self, node: Node<'v>) -> Result<Eval<'v>> {
        let (condition, _) = self.value(node.need("e0")?)?;
        let (a, ty_a) = self.value(node.need("e1")?)?;
        let (b, ty_b) = self.value(node.need("e2")?)?;
        let range = a.range.zip(b.range).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
        let ty = if matches!(ty_a, Type::Int) { ty_b } else { ty_a };
        Ok(Eval::Value(Expr { kind: Kind::Select(Box::new((condition, a, b))), range }, ty))
    }

    fn binary(&mut self, node: Node<'v>) -> Result<Eval<'v>> {
        let (left, right) = (self.eval(node.need("left")?)?, self.eval(node.need("right")?)?);
        let ((a, ty_a), (b, ty_b)) = match (left, right) {
            (Eval::Value(a, ty_a), Eval::Value(b, ty_b)) => ((a, ty_a), (b, ty_b)),
            (Eval::Header(a, _), Eval::Header(b, _)) if matches!(node.kind(), "Equ" | "Neq") => {
                let equal = truth(Kind::EqualHeaders(a, b));
                let result = if node.kind() == "Equ" { equal } else { truth(Kind::IsFalse(Box::new(equal))) };
                return Ok(Eval::Value(result, Type::Bool));
            }
            _ => return Err(node.problem("both sides must be values")),
        };
        let shift = matches!(node.kind(), "Shl" | "Shr");
        let ty = if matches!(ty_a, Type::Int) && !shift { ty_b } else { ty_a };
        let both = |a, b| Box::new((a, b));
        let arithmetic = |op, a, b| Eval::Value(wrap(binary(op, a, b), ty), ty);
        let compare = |op, a, b| Eval::Value(truth(Kind::Compare(op, both(a, b))), Type::Bool);
        Ok(match node.kind() {
            "Add" => arithmetic(WideBin::Add, a, b),
            "Sub" => arithmetic(WideBin::Sub, a, b),
            "Mul" => arithmetic(WideBin::Mul, a, b),
            "Div" => arithmetic(WideBin::Div, a, b),
            "Mod" => arithmetic(WideBin::Mod, a, b),
            "BAnd" => arithmetic(WideBin::And, a, b),
            "BOr" => arithmetic(WideBin::Or, a, b),
            "BXor" => arithmetic(WideBin::Xor, a, b),
            "Shl" => arithmetic(WideBin::Shl, a, b),
            "Shr" => arithmetic(WideBin::Shr, a, b),
            "AddSat" => Eval::Value(saturate(binary(WideBin::Add, a, b), ty), ty),
            "SubSat" => Eval::Value(saturate(binary(WideBin::Sub, a, b), ty), ty),
            "Equ" => compare(Compare::Eq, a, b),
            "Neq" => compare(Compare::Ne, a, b),
            "Lss" => compare(Compare::Lt, a, b),
            "Leq" => compare(Compare::Le, a, b),
            "Grt" => compare(Compare::Lt, b, a),
            "Geq" => compare(Compare::Le, b, a),
            "LAnd" => Eval::Value(truth(Kind::BothTrue(both(a, b))), Type::Bool),
            "LOr" => Eval::Value(truth(Kind::AnyTrue(both(a, b))), Type::Bool),
            "Concat" => {
                let (Some((high, signed)), Some((low, _))) = (ty_a.scalar(), ty_b.scalar()) else {
                    return Err(node.problem("both sides of a concatenation need a width"));
                };
                let ty = Type::Bits { bits: high + low, signed };
                let b = wrap(b, Type::Bits { bits: low, signed: false });
                let a = binary(WideBin::Shl, a, Expr::int(low.into()));
                Eval::Value(wrap(binary(WideBin::Or, a, b), ty), ty)
            }
            other => return Err(node.problem(format!("the operator {other:?} is not supported"))),
        })
    }
}

/// Returns the nearest value in the range of the type.
fn saturate(expr: Expr, ty: Type<'_>) -> Expr {
    match ty.scalar() {
        Some((bits, true)) => Expr { kind: Kind::ClampToS(bits, Box::new(expr)), range: signed_range(bits) },
        Some((bits, false)) => {
            Expr { kind: Kind::ClampToU(bits, Box::new(expr)), range: unsigned_range(bits) }
        }
        None => expr,
    }
}

/// Returns the lowest bit of a slice, and its width.
pub(super) fn slice_bounds(node: Node<'_>) -> Result<(u32, u32)> {
    let bound = |key: &str| node.get(key).and_then(|bound| bound.number("value"));
    match (bound("e1"), bound("e2")) {
        (Some(high), Some(low)) if high >= low && high < 1 << 16 => Ok((low, high - low + 1)),
        _ => Err(node.problem("a slice needs two constant bounds, the higher first")),
    }
}
