//! Expressions: parsed, typed, and annotated with the range of values they can take.

use num_bigint::{BigInt, Sign};
use serde_json::Value;

use super::build::Builder;
use super::layout::Field;
use super::{CompileError, Result};
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
    /// Of headers or unions.
    Stack(u32),
}

pub(super) fn unsigned_range(bits: u32) -> Range {
    (bits < 127).then(|| (0, (1 << bits) - 1))
}

pub(super) fn signed_range(bits: u32) -> Range {
    (1..=127).contains(&bits).then(|| (-(1 << (bits - 1)), (1 << (bits - 1)) - 1))
}

const TRUTH: Range = Some((0, 1));

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

    /// The value, if it is known and not negative.
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

/// The least number of the form 2^n - 1 that is not below `value`, which is not negative.
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

fn truth(kind: Kind) -> Operand {
    Operand::Value(Expr { kind, range: TRUTH })
}

/// A hexadecimal constant with an optional sign.
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
        let width = || {
            let bits = value("right")?.constant().filter(|bits| (1..=1 << 16).contains(bits));
            bits.map(|bits| bits as u32)
                .ok_or_else(|| CompileError::new(place, format!("{op} needs a constant width")))
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
            "two_comp_mod" => {
                let bits = width()?;
                let kind = Kind::Extend(bits, Box::new(value("left")?));
                Ok(Operand::Value(Expr { kind, range: signed_range(bits) }))
            }
            "usat_cast" => {
                let bits = width()?;
                let kind = Kind::ClampToU(bits, Box::new(value("left")?));
                Ok(Operand::Value(Expr { kind, range: unsigned_range(bits) }))
            }
            "sat_cast" => {
                let bits = width()?;
                let kind = Kind::ClampToS(bits, Box::new(value("left")?));
                Ok(Operand::Value(Expr { kind, range: signed_range(bits) }))
            }
            "dereference_header_stack" | "dereference_stack" | "dereference_union_stack" => {
                self.stack_element(get("left"), get("right"), place)
            }
            "last_stack_index" | "size_stack" => {
                let Operand::Stack(stack) = self.operand(get("right"), place)? else {
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
                let header = self.header_operand(get("left"), place)?;
                let position = get("right").as_u64().map(|position| position as u32);
                let position =
                    position.ok_or_else(|| CompileError::new(place, "access_field needs a position"))?;
                self.field_at(header, position, place)
            }
            "access_union_header" => {
                let Operand::Union(union) = self.operand(get("left"), place)? else {
                    return Err(CompileError::new(place, "access_union_header needs a header union"));
                };
                let position = get("right").as_u64().map(|position| position as u32);
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

    /// A header of the union's type for member `position`.
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

    /// A header whose type is that of the expression's.
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
