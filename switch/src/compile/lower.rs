//! Lowers expressions to word operations, and to big integers where words do not suffice.
//!
//! bmv2 computes in unbounded integers and truncates on assignment. The low k bits of a sum, product,
//! bitwise operation or left shift depend only on the low k bits of its operands, so those run on words
//! whenever at most 64 bits are wanted. Comparisons, right shifts and saturation need exact operands:
//! they run on words when the operands' ranges fit in 64 bits, signed or unsigned.

use num_bigint::BigInt;

use super::build::Builder;
use super::expr::{Compare, Expr, HeaderExpr, Kind, Range, UnionExpr};
use crate::op::{Bin, HeaderRef, Op, Span, Un, Word};
use crate::program::Place;
use crate::wide::{Wide, WideBin, low_word};

/// Representation of an integer by a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Either reading gives the same.
    Both,
    Signed,
    Unsigned,
}

fn class(range: Range) -> Option<Class> {
    let (low, high) = range?;
    let signed = low >= i128::from(i64::MIN) && high <= i128::from(i64::MAX);
    let unsigned = low >= 0 && high <= i128::from(u64::MAX);
    match (signed, unsigned) {
        (true, true) => Some(Class::Both),
        (true, false) => Some(Class::Signed),
        (false, true) => Some(Class::Unsigned),
        (false, false) => None,
    }
}

/// Returns the operand itself, if the mask keeps all of its bits that are wanted.
fn superfluous_mask<'e>(value: &'e Expr, mask: &Expr, bits: u32) -> Option<&'e Expr> {
    let mask = mask.constant().filter(|mask| mask & mask.wrapping_add(1) == 0)?;
    let width = 64 - mask.leading_zeros();
    (bits <= width || within(value.range, width, false)).then_some(value)
}

fn within(range: Range, bits: u32, signed: bool) -> bool {
    let allowed = if signed { super::expr::signed_range(bits) } else { super::expr::unsigned_range(bits) };
    matches!((range, allowed), (Some((low, high)), Some((least, most))) if low >= least && high <= most)
}

impl Builder<'_> {
    fn bin(&mut self, op: Bin, a: Word, b: Word) -> Word {
        let d = self.temporary();
        self.emit(Op::Bin { op, d, a, b });
        d
    }

    fn un(&mut self, op: Un, a: Word) -> Word {
        let d = self.temporary();
        self.emit(Op::Un { op, d, a });
        d
    }

    /// Returns a word equal to the expression, if its range fits in a word.
    fn exact(&mut self, expr: &Expr) -> Option<(Word, Class)> {
        let class = class(expr.range)?;
        Some((self.low(expr, 64), class))
    }

    /// Returns a word that holds the expression's value if it fits in 64 bits, else its low 64 bits.
    pub(super) fn word(&mut self, expr: &Expr) -> Word {
        self.low(expr, 64)
    }

    /// Returns a word whose low `bits` bits are those of the expression.
    pub(super) fn low(&mut self, expr: &Expr, bits: u32) -> Word {
        match self.narrow(expr, bits) {
            Some(word) => word,
            None => {
                let wide = self.wide(expr);
                let e = self.add_wide(wide);
                let d = self.temporary();
                self.emit(Op::WideEval { d, e });
                d
            }
        }
    }

    fn narrow(&mut self, expr: &Expr, bits: u32) -> Option<Word> {
        Some(match &expr.kind {
            Kind::Int(value) => self.constant(low_word(value)),
            Kind::Field(field) => self.load(field.place, field.bits)?,
            Kind::FieldAt(header, field, width) => {
                if *width > 64 {
                    return None;
                }
                let h = self.header_word(header);
                self.emit_to(|d| Op::LoadAt { d, h, field: *field })
            }
            Kind::Bin(op, both) => self.narrow_binary(*op, &both.0, &both.1, bits)?,
            Kind::Not(a) => {
                let a = self.low(a, bits);
                self.un(Un::Not, a)
            }
            Kind::Compare(op, both) => self.compare(*op, &both.0, &both.1)?,
            Kind::BothTrue(both) => self.logic(Bin::And, &both.0, &both.1),
            Kind::AnyTrue(both) => self.logic(Bin::Or, &both.0, &both.1),
            Kind::IsFalse(a) => {
                let a = self.truth(a);
                self.un(Un::IsZero, a)
            }
            Kind::IsNonZero(_) => self.truth(expr),
            Kind::Select(parts) => {
                let c = self.truth(&parts.0);
                let (a, b) = (self.low(&parts.1, bits), self.low(&parts.2, bits));
                self.emit_to(|d| Op::Select { d, c, a, b })
            }
            Kind::Extend(width, a) if *width > 64 => self.low(a, bits),
            Kind::Extend(width, a) if bits <= *width => self.low(a, bits),
            Kind::Extend(width, a) if within(a.range, *width, true) => self.low(a, 64),
            Kind::Extend(width, a) => {
                let a = self.low(a, *width);
                self.un(Un::Extend(*width as u8), a)
            }
            Kind::ClampToU(width, _) | Kind::ClampToS(width, _) if *width > 64 => return None,
            Kind::ClampToU(width, a) => {
                let (a, class) = self.exact(a)?;
                let width = *width as u8;
                self.un(if class == Class::Unsigned { Un::ClampUToU(width) } else { Un::ClampToU(width) }, a)
            }
            Kind::ClampToS(width, a) => {
                let (a, class) = self.exact(a)?;
                let width = *width as u8;
                self.un(if class == Class::Unsigned { Un::ClampUToS(width) } else { Un::ClampToS(width) }, a)
            }
            Kind::Valid(HeaderExpr::Fixed(header)) => self.layout.headers[*header as usize].valid,
            Kind::Valid(header) => {
                let h = self.header_word(header);
                self.emit_to(|d| Op::IsValidAt { d, h })
            }
            Kind::ValidUnion(union) => {
                let u = self.union_word(union);
                self.emit_to(|d| Op::UnionIsValidAt { d, u })
            }
            Kind::EqualHeaders(a, b) => {
                let (a, b) = (self.header_ref(a), self.header_ref(b));
                self.emit_to(|d| Op::HeadersEqual { d, a, b })
            }
            Kind::NextIndex(stack) => self.layout.stacks[*stack as usize].next,
            Kind::Register(register, index) => {
                if self.registers[*register as usize].bits > 64 {
                    return None;
                }
                let i = self.word(index);
                let (zero, d) = (self.constant(0), self.temporary());
                self.emit(Op::Un { op: Un::Move, d, a: zero });
                self.emit(Op::RegRead { d, reg: *register, i });
                d
            }
        })
    }

    /// Emits an operation that writes a word of its own.
    fn emit_to(&mut self, op: impl FnOnce(Word) -> Op) -> Word {
        let d = self.temporary();
        self.emit(op(d));
        d
    }

    fn narrow_binary(&mut self, op: WideBin, a: &Expr, b: &Expr, bits: u32) -> Option<Word> {
        let direct = match op {
            WideBin::Add => Bin::Add,
            WideBin::Sub => Bin::Sub,
            WideBin::Mul => Bin::Mul,
            WideBin::Or => Bin::Or,
            WideBin::Xor => Bin::Xor,
            WideBin::And => {
                if let Some(kept) = superfluous_mask(a, b, bits).or_else(|| superfluous_mask(b, a, bits)) {
                    return Some(self.low(kept, bits));
                }
                // Only the bits under a constant mask are wanted of the other side.
                let needed = |side: &Expr| side.constant().map_or(64, |mask| 64 - mask.leading_zeros());
                let wanted = bits.min(needed(a)).min(needed(b));
                let (a, b) = (self.low(a, wanted), self.low(b, wanted));
                return Some(self.bin(Bin::And, a, b));
            }
            WideBin::Shl => {
                let by = match b.constant() {
                    Some(by) if by >= u64::from(bits) => return Some(self.constant(0)),
                    _ => self.exact(b)?.0,
                };
                let a = self.low(a, bits);
                return Some(self.bin(Bin::Shl, a, by));
            }
            WideBin::Shr => return self.shift_right(a, b, bits),
            WideBin::Div | WideBin::Mod => {
                let ((x, class_x), (y, class_y)) = (self.exact(a)?, self.exact(b)?);
                if class_x == Class::Signed || class_y == Class::Signed {
                    return None;
                }
                return Some(self.bin(if op == WideBin::Div { Bin::Div } else { Bin::Mod }, x, y));
            }
        };
        let (a, b) = (self.low(a, bits), self.low(b, bits));
        Some(self.bin(direct, a, b))
    }

    fn shift_right(&mut self, a: &Expr, b: &Expr, bits: u32) -> Option<Word> {
        if let Some(by) = b.constant() {
            // A slice of a wide field.
            if let Kind::Field(field) = &a.kind
                && let Place::Bits { span, signed: false } = field.place
                && span.bits > 64
            {
                let by = by.min(u64::from(span.bits)) as u32;
                let width = (span.bits - by).min(64);
                if width == 0 {
                    return Some(self.constant(0));
                }
                let from = Span { bit: span.bit + span.bits - by - width, bits: width };
                return Some(self.load_span(from, false));
            }
            if by + u64::from(bits) <= 64 {
                let a = self.low(a, bits + by as u32);
                let by = self.constant(by);
                return Some(self.bin(Bin::Shr, a, by));
            }
        }
        let ((a, class), (b, _)) = (self.exact(a)?, self.exact(b)?);
        Some(self.bin(if class == Class::Signed { Bin::Sar } else { Bin::Shr }, a, b))
    }

    fn compare(&mut self, op: Compare, a: &Expr, b: &Expr) -> Option<Word> {
        let (class_a, class_b) = (class(a.range)?, class(b.range)?);
        let signed = match (class_a, class_b) {
            (Class::Signed, Class::Unsigned) | (Class::Unsigned, Class::Signed) => return None,
            (Class::Signed, _) | (_, Class::Signed) => true,
            _ => false,
        };
        let (a, b) = (self.low(a, 64), self.low(b, 64));
        let op = match (op, signed) {
            (Compare::Eq, _) => Bin::Eq,
            (Compare::Ne, _) => Bin::Ne,
            (Compare::Lt, true) => Bin::LtS,
            (Compare::Lt, false) => Bin::LtU,
            (Compare::Le, true) => Bin::LeS,
            (Compare::Le, false) => Bin::LeU,
        };
        Some(self.bin(op, a, b))
    }

    fn logic(&mut self, op: Bin, a: &Expr, b: &Expr) -> Word {
        let (a, b) = (self.truth(a), self.truth(b));
        self.bin(op, a, b)
    }

    /// Returns a word that is 1 or 0.
    pub(super) fn truth(&mut self, expr: &Expr) -> Word {
        let tested = match &expr.kind {
            Kind::IsNonZero(a) => a,
            _ => expr,
        };
        if tested.range == Some((0, 1)) || within(tested.range, 1, false) {
            return self.low(tested, 64);
        }
        match self.exact(tested) {
            Some((word, _)) => self.un(Un::IsNonZero, word),
            None => {
                let sides = Box::new((self.wide(tested), Wide::Constant(BigInt::default())));
                let e = self.add_wide(Wide::Test(Bin::Ne, sides));
                let d = self.temporary();
                self.emit(Op::WideEval { d, e });
                d
            }
        }
    }

    fn load(&mut self, place: Place, bits: u32) -> Option<Word> {
        match place {
            Place::Word { word, .. } => Some(word),
            Place::Bits { span, signed } if bits <= 64 => Some(self.load_span(span, signed)),
            Place::Bits { span, .. } => {
                let low = Span { bit: span.bit + span.bits - 64, bits: 64 };
                Some(self.load_span(low, false))
            }
            Place::Var { .. } => None,
        }
    }

    fn load_span(&mut self, span: Span, signed: bool) -> Word {
        if let Some(&word) = self.loaded.get(&(span, signed)) {
            return word;
        }
        let d = self.temporary();
        self.loaded.insert((span, signed), d);
        self.emit(match (span.slice(), signed) {
            (Some(from), false) => Op::Load { d, from },
            (Some(from), true) => Op::LoadSigned { d, from },
            (None, _) => Op::LoadSpan { d, from: span, signed },
        });
        d
    }

    pub(super) fn add_wide(&mut self, wide: Wide) -> u32 {
        self.wide.push(wide);
        self.wide.len() as u32 - 1
    }

    /// Returns the expression over big integers; parts that fit in words are computed there.
    pub(super) fn wide(&mut self, expr: &Expr) -> Wide {
        if let Kind::Int(value) = &expr.kind {
            self.spend(value.bits() / 64);
            return Wide::Constant(value.clone());
        }
        if let Some(class) = class(expr.range)
            && let Some(word) = self.narrow(expr, 64)
        {
            // The word must outlive the statement's other temporaries: it does, they are not reused.
            return Wide::Word { word, signed: class == Class::Signed };
        }
        let pair = |builder: &mut Self, both: &(Expr, Expr)| {
            Box::new((builder.wide(&both.0), builder.wide(&both.1)))
        };
        match &expr.kind {
            Kind::Field(field) => match field.place {
                Place::Bits { span, signed } => Wide::Span { span, signed },
                Place::Word { word, signed, .. } => Wide::Word { word, signed },
                Place::Var { header } => Wide::Var(header),
            },
            Kind::FieldAt(header, field, ..) => Wide::At { h: self.header_word(header), field: *field },
            Kind::Bin(op, both) => Wide::Bin(*op, pair(self, both)),
            Kind::Not(a) => Wide::Not(Box::new(self.wide(a))),
            Kind::Select(parts) => {
                let condition = self.truth(&parts.0);
                Wide::Select(condition, Box::new((self.wide(&parts.1), self.wide(&parts.2))))
            }
            Kind::Extend(bits, a) => Wide::Extend(*bits, Box::new(self.wide(a))),
            Kind::ClampToU(bits, a) => Wide::ClampToU(*bits, Box::new(self.wide(a))),
            Kind::ClampToS(bits, a) => Wide::ClampToS(*bits, Box::new(self.wide(a))),
            Kind::Compare(op, both) => {
                let test = match op {
                    Compare::Eq => Bin::Eq,
                    Compare::Ne => Bin::Ne,
                    Compare::Lt => Bin::LtS,
                    Compare::Le => Bin::LeS,
                };
                Wide::Test(test, pair(self, both))
            }
            Kind::Register(register, index) => {
                let bits = self.registers[*register as usize].bits;
                let i = self.word(index);
                let byte = self.layout.bytes;
                self.layout.bytes += bits.div_ceil(8);
                let to = Span { bit: byte * 8 + bits.div_ceil(8) * 8 - bits, bits };
                self.emit(Op::WideRegRead { to, reg: *register, i });
                Wide::Span { span: to, signed: false }
            }
            // Booleans and small integers are always narrow.
            _ => Wide::Word { word: self.low(expr, 64), signed: false },
        }
    }

    pub(super) fn header_ref(&mut self, header: &HeaderExpr) -> HeaderRef {
        match header {
            HeaderExpr::Fixed(header) => HeaderRef::Fixed(*header),
            other => HeaderRef::At(self.header_word(other)),
        }
    }

    /// Returns a word that holds the header's index.
    pub(super) fn header_word(&mut self, header: &HeaderExpr) -> Word {
        match header {
            HeaderExpr::Fixed(header) => self.constant(u64::from(*header)),
            HeaderExpr::Stack(stack, index) => {
                let i = self.word(index);
                let d = self.temporary();
                self.emit(Op::StackAt { d, stack: *stack, i });
                d
            }
            HeaderExpr::Last(stack) => {
                let d = self.temporary();
                self.emit(Op::StackLast { d, stack: *stack });
                d
            }
            HeaderExpr::Member(union, member) => {
                let u = self.union_word(union);
                let d = self.temporary();
                self.emit(Op::MemberAt { d, u, member: *member });
                d
            }
        }
    }

    fn union_word(&mut self, union: &UnionExpr) -> Word {
        match union {
            UnionExpr::Fixed(union) => self.constant(u64::from(*union)),
            UnionExpr::Stack(stack, index) => {
                let i = self.word(index);
                let d = self.temporary();
                self.emit(Op::UnionAt { d, stack: *stack, i });
                d
            }
            UnionExpr::Last(stack) => {
                let d = self.temporary();
                self.emit(Op::UnionLast { d, stack: *stack });
                d
            }
        }
    }

    /// Assigns an expression to a place, truncating as bmv2 does.
    pub(super) fn store(&mut self, place: Place, expr: &Expr) {
        match place {
            Place::Word { word, bits, signed } => {
                // Exact if it fits; else only the low bits are wanted, and the others are dropped.
                let fits = within(expr.range, bits, signed);
                let value = self.low(expr, if fits { 64 } else { bits });
                let op = match (fits || (bits == 64 && !signed), signed) {
                    (true, _) => Un::Move,
                    (false, true) => Un::Extend(bits as u8),
                    (false, false) => Un::Mask(bits as u8),
                };
                if op != Un::Move || !self.retarget(value, word) {
                    self.emit(Op::Un { op, d: word, a: value });
                }
            }
            Place::Bits { span, .. } if span.bits <= 64 => {
                let a = self.low(expr, span.bits);
                self.emit(match span.slice() {
                    Some(to) => Op::Store { to, a },
                    None => Op::StoreSpan { to: span, a },
                });
            }
            Place::Bits { span, .. } => {
                if let Kind::Field(field) = &expr.kind
                    && let Place::Bits { span: from, .. } = field.place
                    && from.bits == span.bits
                {
                    return self.emit(Op::CopySpan { to: span, from });
                }
                let wide = self.wide(expr);
                let e = self.add_wide(wide);
                self.emit(Op::WideStore { to: span, e });
            }
            Place::Var { .. } => {}
        }
    }

    /// Lets the last operation write directly to `word` if it computed the temporary `value`.
    fn retarget(&mut self, value: Word, word: Word) -> bool {
        if !self.is_temporary(value) {
            return false;
        }
        match self.code.last_mut() {
            Some(
                Op::Un { d, .. }
                | Op::Bin { d, .. }
                | Op::Select { d, .. }
                | Op::Load { d, .. }
                | Op::LoadSigned { d, .. },
            ) if *d == value => {
                *d = word;
                true
            }
            _ => false,
        }
    }

    /// Assigns to a field of a header found at run time.
    pub(super) fn store_at(&mut self, header: &HeaderExpr, field: u32, bits: u32, expr: &Expr) {
        let h = self.header_word(header);
        if bits <= 64 {
            let a = self.low(expr, bits);
            self.emit(Op::StoreAt { h, field, a });
        } else {
            let wide = self.wide(expr);
            let e = self.add_wide(wide);
            self.emit(Op::WideStoreAt { h, field, e });
        }
    }
}
