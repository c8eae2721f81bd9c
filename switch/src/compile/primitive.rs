//! Primitives of core bmv2 and of simple_switch.

use serde_json::Value;

use super::build::Builder;
use super::expr::{Expr, HeaderExpr, Kind, Operand, UnionExpr, binary};
use super::{CompileError, Result};
use crate::json::Primitive;
use crate::op::{Op, Word};
use crate::program::Place;
use crate::wide::WideBin;

impl Builder<'_> {
    pub(super) fn param<'p>(&self, primitive: &'p Primitive, n: usize, place: &str) -> Result<&'p Value> {
        primitive
            .parameters
            .get(n)
            .ok_or_else(|| CompileError::new(place, format!("parameter {n} is missing")))
    }

    fn word_param(&mut self, primitive: &Primitive, n: usize, place: &str) -> Result<Word> {
        let value = self.value(self.param(primitive, n, place)?, place)?;
        Ok(self.word(&value))
    }

    fn header_param(&self, primitive: &Primitive, n: usize, place: &str) -> Result<HeaderExpr> {
        let header = self.header_operand(self.param(primitive, n, place)?, place)?;
        match header {
            HeaderExpr::Fixed(index) if self.layout.metadata[index as usize] => {
                Err(CompileError::new(place, "metadata cannot be used as a header here"))
            }
            header => Ok(header),
        }
    }

    /// Returns the index of a named array of the parameter's kind.
    fn array<T>(
        &self,
        arrays: &[T],
        name: impl Fn(&T) -> &str,
        primitive: &Primitive,
        n: usize,
        place: &str,
    ) -> Result<u32> {
        let wanted =
            self.param(primitive, n, place)?.get("value").and_then(Value::as_str).unwrap_or_default();
        let found = arrays.iter().position(|array| name(array) == wanted);
        found
            .map(|index| index as u32)
            .ok_or_else(|| CompileError::new(place, format!("there is no array or calculation {wanted:?}")))
    }

    pub(super) fn lower_primitive(&mut self, primitive: &Primitive, place: &str) -> Result<()> {
        match primitive.op.as_str() {
            "assign" | "modify_field" => {
                let source = self.value(self.param(primitive, 1, place)?, place)?;
                self.assign(primitive, 0, &source, place)?;
            }
            // Of older compilers.
            "add_to_field" | "subtract_from_field" => {
                let op = if primitive.op == "add_to_field" { WideBin::Add } else { WideBin::Sub };
                let now = self.value(self.param(primitive, 0, place)?, place)?;
                let by = self.value(self.param(primitive, 1, place)?, place)?;
                self.assign(primitive, 0, &binary(op, now, by), place)?;
            }
            "assign_VL" => {
                let (d, a) = (self.var_param(primitive, 0, place)?, self.var_param(primitive, 1, place)?);
                self.emit(Op::AssignVar { d, a });
            }
            "assign_header" | "copy_header" => {
                let header = |n| self.header_operand(self.param(primitive, n, place)?, place);
                let (d, a) = (header(0)?, header(1)?);
                self.assign_headers(&d, &a, place)?;
            }
            "assign_union" => {
                let (d, a) = (self.param(primitive, 0, place)?, self.param(primitive, 1, place)?);
                match (self.operand(d, place)?, self.operand(a, place)?) {
                    (Operand::Union(d), Operand::Union(a)) => self.assign_unions(&d, &a, place)?,
                    _ => return Err(CompileError::new(place, "both parameters must be header unions")),
                }
            }
            "assign_header_stack" | "assign_union_stack" => self.assign_stacks(primitive, place)?,
            "push" | "pop" => {
                let Operand::Stack(stack) = self.operand(self.param(primitive, 0, place)?, place)? else {
                    return Err(CompileError::new(place, "the first parameter must be a stack"));
                };
                let n = self.word_param(primitive, 1, place)?;
                self.emit(if primitive.op == "push" { Op::Push { stack, n } } else { Op::Pop { stack, n } });
            }
            "add_header" | "add_header_fast" => {
                let header = self.header_param(primitive, 0, place)?;
                let header = self.header_ref(&header);
                self.emit(Op::AddHeader(header));
            }
            "remove_header" => {
                let header = self.header_param(primitive, 0, place)?;
                let header = self.header_ref(&header);
                self.emit(Op::RemoveHeader(header));
            }
            "mark_to_drop" | "drop" => self.mark_to_drop(primitive, place)?,
            "exit" => self.emit(Op::Exit),
            // bmv2 aborts the whole switch on a failed assertion; one packet is no reason for that here.
            "assert" | "assume" | "no_op" => {}
            "log_msg" => self.log_message(primitive, place)?,
            "truncate" => {
                let bytes = self.word_param(primitive, 0, place)?;
                self.emit(Op::Truncate { bytes });
            }
            "clone_ingress_pkt_to_egress" | "clone_egress_pkt_to_egress" => {
                let (session, list) =
                    (self.word_param(primitive, 0, place)?, self.word_param(primitive, 1, place)?);
                self.emit(Op::Clone { session, list });
            }
            "resubmit" => {
                let list = self.word_param(primitive, 0, place)?;
                self.emit(Op::Resubmit { list });
            }
            "recirculate" => {
                let list = self.word_param(primitive, 0, place)?;
                self.emit(Op::Recirculate { list });
            }
            "generate_digest" => {
                let list = self.word_param(primitive, 1, place)?;
                self.emit(Op::Digest { list });
            }
            _ => self.lower_extern(primitive, place)?,
        }
        Ok(())
    }

    /// Arrays, hashes and random numbers.
    fn lower_extern(&mut self, primitive: &Primitive, place: &str) -> Result<()> {
        match primitive.op.as_str() {
            "count" => {
                let counter = self.array(&self.counters, |array| &array.name, primitive, 0, place)?;
                let i = self.word_param(primitive, 1, place)?;
                self.emit(Op::Count { counter, i });
            }
            "execute_meter" => {
                let meter = self.array(&self.meters, |array| &array.name, primitive, 0, place)?;
                let i = self.word_param(primitive, 1, place)?;
                self.through_word(primitive, 2, place, |d| Op::Meter { d, meter, i })?;
            }
            "register_read" => self.register_read(primitive, place)?,
            "register_write" => self.register_write(primitive, place)?,
            "modify_field_with_hash_based_offset" => {
                let name =
                    self.param(primitive, 2, place)?.get("value").and_then(Value::as_str).unwrap_or_default();
                let calc = self.calculation_names.get(name).copied();
                let calc = calc
                    .ok_or_else(|| CompileError::new(place, format!("there is no calculation {name:?}")))?;
                let (base, max) =
                    (self.word_param(primitive, 1, place)?, self.word_param(primitive, 3, place)?);
                self.through_word(primitive, 0, place, |d| Op::Hash { d, calc, base, max })?;
            }
            "modify_field_rng_uniform" => {
                let (low, high) =
                    (self.word_param(primitive, 1, place)?, self.word_param(primitive, 2, place)?);
                self.through_word(primitive, 0, place, |d| Op::Random { d, low, high })?;
            }
            other => {
                let problem =
                    format!("the primitive {other:?} is not known; compile for v1model with p4c-bm2-ss");
                return Err(CompileError::new(place, problem));
            }
        }
        Ok(())
    }

    /// Assigns to the place that parameter `n` names.
    fn assign(&mut self, primitive: &Primitive, n: usize, source: &Expr, place: &str) -> Result<()> {
        let target = self.value(self.param(primitive, n, place)?, place)?;
        match &target.kind {
            Kind::Field(field) => {
                if let Place::Var { header: d } = field.place {
                    let Kind::Field(super::layout::Field { place: Place::Var { header: a }, .. }) =
                        source.kind
                    else {
                        return Err(CompileError::new(place, "the source must be of variable length too"));
                    };
                    self.emit(Op::AssignVar { d, a });
                } else {
                    self.store(field.place, source);
                }
            }
            Kind::FieldAt(header, field, bits) => self.store_at(header, *field, *bits, source),
            Kind::Valid(_) => return Err(CompileError::new(place, "validity is set by add_header")),
            _ => return Err(CompileError::new(place, "the target must be a field")),
        }
        Ok(())
    }

    /// Emits an operation that may write a word, which starts as and is then stored to parameter `n`.
    fn through_word(
        &mut self,
        primitive: &Primitive,
        n: usize,
        place: &str,
        op: impl Fn(Word) -> Op,
    ) -> Result<()> {
        let target = self.value(self.param(primitive, n, place)?, place)?;
        let a = self.word(&target);
        let d = self.temporary();
        self.emit(Op::Un { op: crate::op::Un::Move, d, a });
        self.emit(op(d));
        let field = super::layout::Field {
            place: Place::Word { word: d, bits: 64, signed: false },
            bits: 64,
            signed: false,
        };
        self.assign(primitive, n, &Expr::field(field), place)
    }

    fn register_read(&mut self, primitive: &Primitive, place: &str) -> Result<()> {
        let reg = self.array(&self.registers, |array| &array.name, primitive, 1, place)?;
        let target = self.value(self.param(primitive, 0, place)?, place)?;
        let i = self.word_param(primitive, 2, place)?;
        let bits = self.registers[reg as usize].bits;
        let Kind::Field(field) = &target.kind else {
            return Err(CompileError::new(place, "the target must be a field"));
        };
        match field.place {
            Place::Word { word: d, bits: width, signed: false } if bits <= 64 && bits <= width => {
                self.emit(Op::RegRead { d, reg, i });
                Ok(())
            }
            Place::Bits { span: to, .. } if bits > 64 => {
                self.emit(Op::WideRegRead { to, reg, i });
                Ok(())
            }
            _ if bits <= 64 => self.through_word(primitive, 0, place, |d| Op::RegRead { d, reg, i }),
            _ => Err(CompileError::new(place, "the register is wider than the field it is read into")),
        }
    }

    fn register_write(&mut self, primitive: &Primitive, place: &str) -> Result<()> {
        let reg = self.array(&self.registers, |array| &array.name, primitive, 0, place)?;
        let i = self.word_param(primitive, 1, place)?;
        let source = self.value(self.param(primitive, 2, place)?, place)?;
        let bits = self.registers[reg as usize].bits;
        if bits <= 64 {
            let a = self.low(&source, bits);
            self.emit(Op::RegWrite { reg, i, a });
        } else {
            let wide = self.wide(&source);
            let e = self.add_wide(wide);
            self.emit(Op::WideRegWrite { reg, i, e });
        }
        Ok(())
    }

    fn var_param(&self, primitive: &Primitive, n: usize, place: &str) -> Result<u32> {
        match self.value(self.param(primitive, n, place)?, place)?.kind {
            Kind::Field(super::layout::Field { place: Place::Var { header }, .. }) => Ok(header),
            _ => Err(CompileError::new(place, "both parameters must be variable-length fields")),
        }
    }

    fn assign_headers(&mut self, d: &HeaderExpr, a: &HeaderExpr, place: &str) -> Result<()> {
        let kind = |builder: &Self, header| {
            builder.example(header).map(|header| builder.layout.header_types[header as usize])
        };
        if kind(self, d).is_none() || kind(self, d) != kind(self, a) {
            return Err(CompileError::new(place, "both headers must have one type"));
        }
        let metadata = |builder: &Self, header: &HeaderExpr| match header {
            HeaderExpr::Fixed(header) => builder.layout.metadata[*header as usize].then_some(*header),
            _ => None,
        };
        match (metadata(self, d), metadata(self, a)) {
            (Some(d), Some(a)) => self.assign_metadata(d, a),
            (None, None) => {
                let (d, a) = (self.header_ref(d), self.header_ref(a));
                self.emit(Op::AssignHeader { d, a });
            }
            _ => {
                return Err(CompileError::new(
                    place,
                    "metadata cannot be assigned to a header, nor a header to it",
                ));
            }
        }
        Ok(())
    }

    /// Metadata is always valid, and its fields lie apart.
    fn assign_metadata(&mut self, d: u32, a: u32) {
        let fields = |builder: &Self, header: u32| builder.layout.fields[header as usize].clone();
        for (to, from) in fields(self, d).into_iter().zip(fields(self, a)) {
            match (to.place, from.place) {
                (Place::Var { header: d }, Place::Var { header: a }) => self.emit(Op::AssignVar { d, a }),
                (to, _) => self.store(to, &Expr::field(from)),
            }
            self.release();
        }
    }

    fn assign_unions(&mut self, d: &UnionExpr, a: &UnionExpr, place: &str) -> Result<()> {
        for position in 0.. {
            let member = |union: &UnionExpr| HeaderExpr::Member(union.clone(), position);
            let (d, a) = (member(d), member(a));
            if self.example(&d).is_none() && self.example(&a).is_none() {
                break;
            }
            self.assign_headers(&d, &a, place)?;
        }
        Ok(())
    }

    fn assign_stacks(&mut self, primitive: &Primitive, place: &str) -> Result<()> {
        let stack = |n| self.operand(self.param(primitive, n, place)?, place);
        let (Operand::Stack(d), Operand::Stack(a)) = (stack(0)?, stack(1)?) else {
            return Err(CompileError::new(place, "both parameters must be stacks"));
        };
        let elements = |builder: &Self, stack: u32| builder.layout.stacks[stack as usize].elements.clone();
        let (to, from) = (elements(self, d), elements(self, a));
        let of_unions = self.layout.stacks[d as usize].of_unions;
        if to.len() != from.len() || of_unions != self.layout.stacks[a as usize].of_unions {
            return Err(CompileError::new(place, "both stacks must have one type and size"));
        }
        for (&d, &a) in to.iter().zip(&from) {
            if of_unions {
                self.assign_unions(&UnionExpr::Fixed(d), &UnionExpr::Fixed(a), place)?;
            } else {
                self.assign_headers(&HeaderExpr::Fixed(d), &HeaderExpr::Fixed(a), place)?;
            }
        }
        let next = |stack: u32| self.layout.stacks[stack as usize].next;
        let (d, a) = (next(d), next(a));
        self.emit(Op::Un { op: crate::op::Un::Move, d, a });
        Ok(())
    }

    fn mark_to_drop(&mut self, primitive: &Primitive, place: &str) -> Result<()> {
        let header = match primitive.parameters.first() {
            Some(json) => match self.header_operand(json, place)? {
                HeaderExpr::Fixed(header) => header,
                _ => return Err(CompileError::new(place, "the parameter must be standard_metadata")),
            },
            None => self.layout.header("standard_metadata", place)?,
        };
        let drop_port = Expr::int(crate::switch::DROP_PORT.0.into());
        match self.layout.field_of(header, "egress_spec") {
            Some(field) => self.store(field.place, &drop_port),
            None => return Err(CompileError::new(place, "the parameter must be standard_metadata")),
        }
        if let Some(field) = self.layout.field_of(header, "mcast_grp") {
            self.store(field.place, &Expr::int(0.into()));
        }
        Ok(())
    }

    fn log_message(&mut self, primitive: &Primitive, place: &str) -> Result<()> {
        let format =
            self.param(primitive, 0, place)?.get("value").and_then(Value::as_str).unwrap_or_default();
        let values = primitive.parameters.get(1).and_then(|json| json.get("value")).and_then(Value::as_array);
        let mut words = Vec::new();
        for json in values.into_iter().flatten() {
            let value = self.value(json, place)?;
            words.push(self.word(&value));
        }
        self.messages.push((format.to_owned(), words));
        self.emit(Op::Log { message: self.messages.len() as u32 - 1 });
        Ok(())
    }
}
