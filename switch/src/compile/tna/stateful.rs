//! Registers and register actions, counters, meters and random numbers.

use std::collections::HashMap;

use num_bigint::BigInt;

use super::expr::{Eval, wrap};
use super::lowering::{Lowering, extern_of};
use super::thing::Thing;
use super::types::Type;
use crate::compile::expr::Expr;
use crate::compile::layout::Field;
use crate::error::Result;
use crate::op::{Bin, Op, Word};
use crate::p4ir::Node;
use crate::program::{ArchOp, Place};

/// A register array and the field that holds its cell while an action runs.
type Cell = (u32, Field);

impl<'v> Lowering<'_, 'v> {
    fn array(&self, names: impl Iterator<Item = String>, instance: Node<'v>) -> Result<u32> {
        let mut names = names;
        let found = names.position(|name| name == instance.full_name());
        found.map(|index| index as u32).ok_or_else(|| instance.problem("the register was not declared"))
    }

    pub(super) fn counter(&self, instance: Node<'v>) -> Result<u32> {
        self.array(self.b.counters.iter().map(|info| info.name.clone()), instance)
    }

    /// Returns the arrays of a register: one, or one per member of its struct.
    fn registers(&self, instance: Node<'v>) -> Result<Vec<u32>> {
        let name = instance.full_name();
        let of = |known: &str| {
            known.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let found: Vec<u32> = (0..self.b.registers.len() as u32)
            .filter(|&index| of(&self.b.registers[index as usize].name))
            .collect();
        if found.is_empty() { Err(instance.problem("the register was not declared")) } else { Ok(found) }
    }

    /// Returns the index of the cell that a call means.
    fn cell_index(&mut self, node: Node<'v>, register: Node<'v>, position: usize) -> Result<Word> {
        if self.watched.contains(&register.id()) {
            let register = self.registers(register)?.first().copied().unwrap_or(0);
            self.emit_arch(ArchOp::Touch { register });
        }
        match extern_of(register) {
            "Register" => self.argument_word(node, position),
            "RegisterParam" => Ok(self.b.constant(0)),
            _ => {
                let d = self.hidden_word();
                self.emit_arch(ArchOp::Row { d });
                Ok(d)
            }
        }
    }

    fn read_cell(&mut self, (reg, field): Cell, i: Word) {
        let bits = self.b.registers[reg as usize].bits;
        match field.place {
            Place::Word { word: d, signed, .. } => {
                let zero = self.b.constant(0);
                self.copy_word(d, zero);
                self.b.emit(Op::RegRead { d, reg, i });
                if signed {
                    let op = crate::op::Un::Extend(bits.min(64) as u8);
                    self.b.emit(Op::Un { op, d, a: d });
                }
            }
            Place::Bits { span: to, .. } => self.b.emit(Op::WideRegRead { to, reg, i }),
            Place::Var { .. } => {}
        }
    }

    fn write_cell(&mut self, (reg, field): Cell, i: Word) {
        let value = Expr::field(field);
        if self.b.registers[reg as usize].bits <= 64 {
            let a = self.b.low(&value, field.bits);
            self.b.emit(Op::RegWrite { reg, i, a });
        } else {
            let wide = self.b.wide(&value);
            let e = self.b.add_wide(wide);
            self.b.emit(Op::WideRegWrite { reg, i, e });
        }
        self.b.release();
    }

    /// Returns the fields that make up a variable.
    fn fields_of(&mut self, thing: &Thing<'v>, at: Node<'v>) -> Result<Vec<Field>> {
        match thing {
            Thing::Value { header, field, .. } => Ok(vec![self.field(header, field)?]),
            Thing::Struct(parts) => {
                let mut fields = Vec::new();
                for (_, part) in parts.iter() {
                    fields.extend(self.fields_of(part, at)?);
                }
                Ok(fields)
            }
            _ => Err(at.problem("a register holds numbers, or a struct of them")),
        }
    }

    pub(super) fn register_read(&mut self, node: Node<'v>, instance: Node<'v>) -> Result<Eval<'v>> {
        let i = self.cell_index(node, instance, 0)?;
        let ty = self.type_arguments(instance)?.first().copied();
        let registers = self.registers(instance)?;
        match (ty.and_then(Type::scalar), registers.as_slice()) {
            (Some((bits, signed)), [register]) => {
                let field = self.hidden(bits, signed, node)?;
                self.read_cell((*register, field), i);
                Ok(Eval::Value(Expr::field(field), ty.unwrap_or(Type::Int)))
            }
            _ => Err(node.problem("only a register of numbers is read so; use a RegisterAction")),
        }
    }

    pub(super) fn register_write(&mut self, node: Node<'v>, instance: Node<'v>) -> Result<Eval<'v>> {
        let position = usize::from(extern_of(instance) == "Register");
        let i = self.cell_index(node, instance, 0)?;
        let (value, ty) = self.argument(node, position)?;
        match (ty.scalar(), self.registers(instance)?.as_slice()) {
            (Some((bits, signed)), [register]) => {
                let field = self.hidden(bits, signed, node)?;
                self.b.store(field.place, &value);
                self.write_cell((*register, field), i);
                Ok(Eval::Nothing)
            }
            _ => Err(node.problem("only a register of numbers is written so; use a RegisterAction")),
        }
    }

    /// Reads the cell, runs the body of the action, writes the cell; the value that the body returns.
    pub(super) fn register_action(&mut self, node: Node<'v>, instance: Node<'v>) -> Result<Eval<'v>> {
        let of = super::lowering::arguments(instance).first().and_then(|given| given.path());
        let register = of.and_then(|name| self.known(name));
        let register = register.ok_or_else(|| instance.problem("the instance names no register"))?;
        let i = self.cell_index(node, register, 0)?;
        let function = apply_function(instance)?;
        let parameters = function.need("type")?.need("parameters")?.list("parameters");
        let Some((value, returned)) = parameters.split_first() else {
            return Err(function.problem("apply needs a parameter"));
        };
        // The body sees its own parameters and locals, and the instances of the control.
        let outer = std::mem::take(&mut self.scopes);
        self.scopes.push(outer.first().cloned().unwrap_or_default());
        self.scopes.push(HashMap::new());
        for parameter in &parameters {
            self.bind_declared(*parameter);
        }
        let result = self.run_body(function, *value, returned, register, i);
        self.scopes = outer;
        result
    }

    fn run_body(
        &mut self,
        function: Node<'v>,
        value: Node<'v>,
        returned: &[Node<'v>],
        register: Node<'v>,
        i: Word,
    ) -> Result<Eval<'v>> {
        let thing = self.find(value.name()).unwrap_or(Thing::Nothing);
        let fields = self.fields_of(&thing, value)?;
        let registers = self.registers(register)?;
        if fields.len() != registers.len() {
            return Err(value.problem("its type is not that of the register"));
        }
        let cells: Vec<Cell> = registers.into_iter().zip(fields).collect();
        for cell in &cells {
            self.read_cell(*cell, i);
        }
        let mut results = Vec::new();
        for parameter in returned {
            let thing = self.find(parameter.name()).unwrap_or(Thing::Nothing);
            for field in self.fields_of(&thing, *parameter)? {
                self.b.store(field.place, &Expr::int(BigInt::default()));
            }
            results.push(thing);
        }
        self.b.release();
        self.block(function.need("body")?)?;
        for cell in &cells {
            self.write_cell(*cell, i);
        }
        match results.first() {
            Some(thing) => self.eval_thing(thing, function),
            None => Ok(Eval::Value(Expr::int(BigInt::default()), Type::Int)),
        }
    }

    pub(super) fn meter(&mut self, node: Node<'v>, instance: Node<'v>) -> Result<Eval<'v>> {
        let color = self.hidden_word();
        self.set_word(color, 0);
        if extern_of(instance) == "Meter" {
            let meter = self.array(self.b.meters.iter().map(|info| info.name.clone()), instance)?;
            let i = self.argument_word(node, 0)?;
            self.b.emit(Op::Meter { d: color, meter, i });
        } else {
            self.emit_arch(ArchOp::MeterRow { d: color });
        }
        // Green, yellow and red are 0, 1 and 3 here.
        let one = self.b.constant(1);
        let half = self.b.temporary();
        self.b.emit(Op::Bin { op: Bin::Shr, d: half, a: color, b: one });
        self.b.emit(Op::Bin { op: Bin::Add, d: color, a: color, b: half });
        let place = Place::Word { word: color, bits: 8, signed: false };
        let field = Field { place, bits: 8, signed: false };
        Ok(Eval::Value(Expr::field(field), Type::Bits { bits: 8, signed: false }))
    }

    pub(super) fn random(&mut self, node: Node<'v>, instance: Node<'v>) -> Result<Eval<'v>> {
        let ty = self.type_arguments(instance)?.first().copied();
        let Some((ty, (bits, _))) = ty.and_then(|ty| Some((ty, ty.scalar()?))) else {
            return Err(node.problem("random numbers need a width"));
        };
        let field = self.hidden(64, false, node)?;
        let (low, high) = (self.b.constant(0), self.b.constant(crate::op::low_mask(bits.min(64) as u8)));
        if let Place::Word { word: d, .. } = field.place {
            self.b.emit(Op::Random { d, low, high });
        }
        Ok(Eval::Value(wrap(Expr::field(field), ty), ty))
    }
}

/// Returns the function `apply` of a register action.
pub(super) fn apply_function(instance: Node<'_>) -> Result<Node<'_>> {
    let body = instance.get("initializer").map_or(Vec::new(), |body| body.list("components"));
    let found = body.into_iter().find(|part| part.kind() == "Function" && part.name() == "apply");
    found.ok_or_else(|| instance.problem("it has no apply"))
}
