//! Reads the expressions of a document.

use num_bigint::{BigInt, Sign};
use serde_json::Value;

use super::build::Builder;
use super::expr::*;
use crate::error::{CompileError, Result};
use crate::program::Place;
use crate::wide::WideBin;

fn truth(kind: Kind) -> Operand {
    Operand::Value(Expr { kind, range: TRUTH })
}

/// Makes a value fit a width.
fn cast(op: &str, value: Expr, width: &Expr, place: &str) -> Result<Operand> {
    let bits = width.constant().filter(|bits| (1..=1 << 16).contains(bits)).map(|bits| bits as u32);
    let bits = bits.ok_or_else(|| CompileError::new(place, format!("{op} needs a constant width")))?;
    let value = Box::new(value);
    let (kind, range) = match op {
        "usat_cast" => (Kind::ClampToU(bits, value), unsigned_range(bits)),
        "sat_cast" => (Kind::ClampToS(bits, value), signed_range(bits)),
        _ => (Kind::Extend(bits, value), signed_range(bits)),
    };
    Ok(Operand::Value(Expr { kind, range }))
}

/// Returns a hexadecimal constant with an optional sign.
pub(super) fn parse_int(text: &str) -> Option<BigInt> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (Sign::Minus, digits),
        None => (Sign::Plus, text),
    };
    crate::value::parse_hex(digits).map(|bytes| BigInt::from_bytes_be(sign, &bytes))
}

impl Builder<'_> {
    /// Parses a `type`/`value` object.
    pub(super) fn operand(&self, json: &Value, place: &str) -> Result<Operand> {
        let bad = |problem: &str| CompileError::new(place, problem.to_owned());
        let kind = json.get("type").and_then(Value::as_str).ok_or_else(|| bad("an operand needs a type"))?;
        let value = json.get("value").unwrap_or(&Value::Null);
        let name = || value.as_str().ok_or_else(|| bad(&format!("the value of a {kind} must be its name")));
        let pair = |n: usize| {
            let text = value.get(n).and_then(Value::as_str);
            text.ok_or_else(|| bad(&format!("the value of a {kind} must be a list of names")))
        };
        Ok(match kind {
            // The header may be computed: an expression without its wrapper.
            "field" if value.get(0).is_some_and(Value::is_object) => {
                let header = self.operation(&value[0], place)?;
                let Operand::Header(header) = header else {
                    return Err(bad("a field needs a header"));
                };
                self.named_field(header, pair(1)?, place)?
            }
            "field" => Operand::Value(Expr::field(self.layout.field(pair(0)?, pair(1)?, place)?)),
            "hexstr" => {
                let int = parse_int(name()?).ok_or_else(|| bad(&format!("{value} is not hexadecimal")))?;
                Operand::Value(Expr::int(int))
            }
            "bool" => {
                let truth = value.as_bool().ok_or_else(|| bad("a bool is true or false"))?;
                Operand::Value(Expr::int(BigInt::from(u8::from(truth))))
            }
            "local" | "runtime_data" => {
                let index = value.as_u64().and_then(|index| self.params.get(index as usize));
                let field = *index.ok_or_else(|| bad("the action has no such parameter"))?;
                Operand::Value(Expr::field(field))
            }
            "header" => Operand::Header(HeaderExpr::Fixed(self.layout.header(name()?, place)?)),
            "header_union" => Operand::Union(UnionExpr::Fixed(self.layout.union(name()?, place)?)),
            "header_stack" | "header_union_stack" => Operand::Stack(self.layout.stack(name()?, place)?),
            "stack_field" => {
                let last = HeaderExpr::Last(self.layout.stack(pair(0)?, place)?);
                let example = self.example(&last);
                let named = example.and_then(|header| self.layout.field_position(header, pair(1).ok()?));
                match pair(1)? {
                    // The whole element, unless it has a field of that name.
                    "last" if example.is_some() && named.is_none() => Operand::Header(last),
                    name => self.named_field(last, name, place)?,
                }
            }
            "union_stack_field" => {
                let stack = self.layout.stack(pair(0)?, place)?;
                let union = UnionExpr::Last(stack);
                let member = self.member_position(&union, pair(1)?, place)?;
                self.named_field(HeaderExpr::Member(union, member), pair(2)?, place)?
            }
            "register" => {
                let register = self.register(pair(0)?, place)?;
                let index = self.value(value.get(1).unwrap_or(&Value::Null), place)?;
                let range = unsigned_range(self.registers[register as usize].bits);
                Operand::Value(Expr { kind: Kind::Register(register, Box::new(index)), range })
            }
            // Expressions nest, with and without this wrapper.
            "expression" if value.get("type").is_some() => self.operand(value, place)?,
            "expression" => self.operation(value, place)?,
            other => return Err(bad(&format!("operands of type {other:?} are not supported here"))),
        })
    }

    /// Parses an operand that must be a value.
    pub(super) fn value(&self, json: &Value, place: &str) -> Result<Expr> {
        match self.operand(json, place)? {
            Operand::Value(expr) => Ok(expr),
            _ => Err(CompileError::new(place, "a value is needed here, not a header or stack")),
        }
    }

    /// Parses an operand that must be a header.
    pub(super) fn header_operand(&self, json: &Value, place: &str) -> Result<HeaderExpr> {
        match self.operand(json, place)? {
            Operand::Header(header) => Ok(header),
            _ => Err(CompileError::new(place, "a header is needed here")),
        }
    }

    fn operation(&self, json: &Value, place: &str) -> Result<Operand> {
        let op = json.get("op").and_then(Value::as_str);
        let op = op.ok_or_else(|| CompileError::new(place, "an expression needs an operator"))?;
        let get = |side: &str| json.get(side).unwrap_or(&Value::Null);
        let value = |side: &str| self.value(get(side), place);
        let pair = || Ok::<_, CompileError>(Box::new((value("left")?, value("right")?)));
        let arithmetic =
            |op| Ok::<_, CompileError>(Operand::Value(binary(op, value("left")?, value("right")?)));
        let compare = |op, swap: bool| {
            let (a, b) = (value("left")?, value("right")?);
            Ok::<_, CompileError>(truth(Kind::Compare(op, Box::new(if swap { (b, a) } else { (a, b) }))))
        };
        match op {
            "+" => arithmetic(WideBin::Add),
            "-" if get("left").is_null() => {
                Ok(Operand::Value(binary(WideBin::Sub, Expr::int(BigInt::default()), value("right")?)))
            }
            "-" => arithmetic(WideBin::Sub),
            "*" => arithmetic(WideBin::Mul),
            "/" => arithmetic(WideBin::Div),
            "%" => arithmetic(WideBin::Mod),
            "&" => arithmetic(WideBin::And),
            "|" => arithmetic(WideBin::Or),
            "^" => arithmetic(WideBin::Xor),
            "<<" => arithmetic(WideBin::Shl),
            ">>" => arithmetic(WideBin::Shr),
            "~" => {
                let a = value("right")?;
                let range = a.range.map(|(low, high)| (!high, !low));
                Ok(Operand::Value(Expr { kind: Kind::Not(Box::new(a)), range }))
            }
            "==" | "!=" => self.equality(op == "==", get("left"), get("right"), place),
            "<" => compare(Compare::Lt, false),
            ">" => compare(Compare::Lt, true),
            "<=" => compare(Compare::Le, false),
            ">=" => compare(Compare::Le, true),
            "and" => Ok(truth(Kind::BothTrue(pair()?))),
            "or" => Ok(truth(Kind::AnyTrue(pair()?))),
            "not" => Ok(truth(Kind::IsFalse(Box::new(value("right")?)))),
            "d2b" => Ok(truth(Kind::IsNonZero(Box::new(value("right")?)))),
            "b2d" => Ok(Operand::Value(value("right")?)),
            "valid" => Ok(truth(Kind::Valid(self.header_operand(get("right"), place)?))),
            "valid_union" => match self.operand(get("right"), place)? {
                Operand::Union(union) => Ok(truth(Kind::ValidUnion(union))),
                _ => Err(CompileError::new(place, "valid_union needs a header union")),
            },
            "?" => {
                let condition = self.value(get("cond"), place)?;
                let (a, b) = (value("left")?, value("right")?);
                let range = a.range.zip(b.range).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
                Ok(Operand::Value(Expr { kind: Kind::Select(Box::new((condition, a, b))), range }))
            }
            "two_comp_mod" | "usat_cast" | "sat_cast" => cast(op, value("left")?, &value("right")?, place),
            _ => self.access(op, get("left"), get("right"), place),
        }
    }

    /// Parts of headers, stacks and unions.
    fn access(&self, op: &str, left: &Value, right: &Value, place: &str) -> Result<Operand> {
        match op {
            "dereference_header_stack" | "dereference_stack" | "dereference_union_stack" => {
                self.stack_element(left, right, place)
            }
            "last_stack_index" | "size_stack" => {
                let Operand::Stack(stack) = self.operand(right, place)? else {
                    return Err(CompileError::new(place, format!("{op} needs a header stack")));
                };
                let size = self.layout.stacks[stack as usize].elements.len() as i128;
                let next = Expr { kind: Kind::NextIndex(stack), range: Some((0, size)) };
                Ok(Operand::Value(match op {
                    "size_stack" => next,
                    _ => binary(WideBin::Sub, next, Expr::int(BigInt::from(1))),
                }))
            }
            "access_field" => {
                let header = self.header_operand(left, place)?;
                let position = right.as_u64().map(|position| position as u32);
                let position =
                    position.ok_or_else(|| CompileError::new(place, "access_field needs a position"))?;
                self.field_at(header, position, place)
            }
            "access_union_header" => {
                let Operand::Union(union) = self.operand(left, place)? else {
                    return Err(CompileError::new(place, "access_union_header needs a header union"));
                };
                let position = right.as_u64().map(|position| position as u32);
                let position = position.filter(|&p| self.union_header(&union, p).is_some());
                let position =
                    position.ok_or_else(|| CompileError::new(place, "the union has no such member"))?;
                Ok(Operand::Header(match union {
                    UnionExpr::Fixed(union) => {
                        HeaderExpr::Fixed(self.layout.unions[union as usize][position as usize])
                    }
                    union => HeaderExpr::Member(union, position),
                }))
            }
            other => Err(CompileError::new(place, format!("the operator {other:?} is not known"))),
        }
    }

    fn equality(&self, equal: bool, left: &Value, right: &Value, place: &str) -> Result<Operand> {
        let result = match (self.operand(left, place)?, self.operand(right, place)?) {
            (Operand::Value(a), Operand::Value(b)) => {
                let op = if equal { Compare::Eq } else { Compare::Ne };
                return Ok(truth(Kind::Compare(op, Box::new((a, b)))));
            }
            (Operand::Header(a), Operand::Header(b)) => Kind::EqualHeaders(a, b),
            (Operand::Union(a), Operand::Union(b)) => self.equal_unions(&a, &b, place)?,
            _ => return Err(CompileError::new(place, "both sides of a comparison must be of one kind")),
        };
        let result = Expr { kind: result, range: TRUTH };
        Ok(if equal { Operand::Value(result) } else { truth(Kind::IsFalse(Box::new(result))) })
    }

    fn equal_unions(&self, a: &UnionExpr, b: &UnionExpr, place: &str) -> Result<Kind> {
        let members = (0..).take_while(|&n| self.union_header(a, n).and(self.union_header(b, n)).is_some());
        let member = |union: &UnionExpr, n: u32| HeaderExpr::Member(union.clone(), n);
        members
            .map(|n| Kind::EqualHeaders(member(a, n), member(b, n)))
            .reduce(|a, b| {
                let side = |kind| Expr { kind, range: TRUTH };
                Kind::AnyTrue(Box::new((side(a), side(b))))
            })
            .ok_or_else(|| CompileError::new(place, "a header union without members cannot be compared"))
    }

    fn stack_element(&self, stack: &Value, index: &Value, place: &str) -> Result<Operand> {
        let Operand::Stack(stack) = self.operand(stack, place)? else {
            return Err(CompileError::new(place, "an index needs a header stack"));
        };
        let index = self.value(index, place)?;
        let info = &self.layout.stacks[stack as usize];
        let fixed = index.constant().and_then(|index| info.elements.get(index as usize).copied());
        Ok(match (info.of_unions, fixed) {
            (false, Some(header)) => Operand::Header(HeaderExpr::Fixed(header)),
            (false, None) => Operand::Header(HeaderExpr::Stack(stack, Box::new(index))),
            (true, Some(union)) => Operand::Union(UnionExpr::Fixed(union)),
            (true, None) => Operand::Union(UnionExpr::Stack(stack, Box::new(index))),
        })
    }

    /// Returns a header of the union's type for member `position`.
    fn union_header(&self, union: &UnionExpr, position: u32) -> Option<u32> {
        let union = match union {
            UnionExpr::Fixed(union) => *union,
            UnionExpr::Stack(stack, _) | UnionExpr::Last(stack) => {
                let stack = &self.layout.stacks[*stack as usize];
                if !stack.of_unions {
                    return None;
                }
                *stack.elements.first()?
            }
        };
        self.layout.unions[union as usize].get(position as usize).copied()
    }

    pub(super) fn member_position(&self, union: &UnionExpr, name: &str, place: &str) -> Result<u32> {
        let members = match union {
            UnionExpr::Fixed(union) => self.layout.union_members.get(*union as usize),
            UnionExpr::Stack(stack, _) | UnionExpr::Last(stack) => {
                let first = self.layout.stacks[*stack as usize].elements.first();
                first.and_then(|&union| self.layout.union_members.get(union as usize))
            }
        };
        let position = members.and_then(|members| members.iter().position(|member| member == name));
        let position = position.map(|position| position as u32);
        position
            .filter(|&position| self.union_header(union, position).is_some())
            .ok_or_else(|| CompileError::new(place, format!("the header union has no member {name:?}")))
    }

    /// Returns a header with the type of the expression's header.
    pub(super) fn example(&self, header: &HeaderExpr) -> Option<u32> {
        match header {
            HeaderExpr::Fixed(header) => Some(*header),
            HeaderExpr::Stack(stack, _) | HeaderExpr::Last(stack) => {
                let stack = &self.layout.stacks[*stack as usize];
                if stack.of_unions { None } else { stack.elements.first().copied() }
            }
            HeaderExpr::Member(union, position) => self.union_header(union, *position),
        }
    }

    fn named_field(&self, header: HeaderExpr, name: &str, place: &str) -> Result<Operand> {
        if name == "$valid$" {
            return Ok(truth(Kind::Valid(header)));
        }
        let position = self.example(&header).and_then(|example| self.layout.field_position(example, name));
        let position =
            position.ok_or_else(|| CompileError::new(place, format!("there is no field {name:?}")))?;
        self.field_at(header, position as u32, place)
    }

    fn field_at(&self, header: HeaderExpr, position: u32, place: &str) -> Result<Operand> {
        let example = self.example(&header);
        // The position after the last field is the hidden validity.
        let fields = example.map(|example| &self.layout.fields[example as usize]);
        if fields.is_some_and(|fields| fields.len() == position as usize) {
            return Ok(truth(Kind::Valid(header)));
        }
        let field = fields.and_then(|fields| fields.get(position as usize)).copied();
        let field = field.ok_or_else(|| CompileError::new(place, "the header has no such field"))?;
        if let HeaderExpr::Fixed(_) = header {
            return Ok(Operand::Value(Expr::field(field)));
        }
        if matches!(field.place, Place::Var { .. }) {
            return Err(CompileError::new(
                place,
                "a variable-length field of a stack element is not supported",
            ));
        }
        let range = if field.signed { signed_range(field.bits) } else { unsigned_range(field.bits) };
        Ok(Operand::Value(Expr { kind: Kind::FieldAt(header, position, field.bits), range }))
    }
}
