//! Statements of controls, actions, register actions and parser states.

use std::collections::HashMap;

use super::expr::{Eval, MAX_DEPTH, slice_bounds};
use super::lowering::Lowering;
use super::types::Type;
use crate::compile::expr::{Expr, HeaderExpr, Kind};
use crate::compile::layout::Field;
use crate::error::Result;
use crate::op::{Op, Un};
use crate::p4ir::Node;
use crate::program::Place;
use crate::wide::WideBin;

/// Target of an assignment.
enum Target<'v> {
    Field(Field),
    /// A field (position, width) of a header found at run time.
    FieldAt(HeaderExpr, u32, u32),
    /// Bits of a value: the whole, the lowest bit, the width.
    Slice(Box<Target<'v>>, Expr, u32, u32),
    Header(HeaderExpr, Node<'v>),
    Parts(Vec<(&'v str, Eval<'v>)>),
}

impl<'v> Lowering<'_, 'v> {
    /// Lowers a block of statements in a scope of its own.
    pub(super) fn block(&mut self, node: Node<'v>) -> Result<()> {
        self.scopes.push(HashMap::new());
        for statement in node.list("components") {
            self.statement(statement)?;
        }
        self.scopes.pop();
        Ok(())
    }

    pub(super) fn statement(&mut self, node: Node<'v>) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(node.problem("statements nest too deeply"));
        }
        self.statement_inner(node)?;
        self.b.release();
        self.depth -= 1;
        Ok(())
    }

    fn statement_inner(&mut self, node: Node<'v>) -> Result<()> {
        match node.kind() {
            "BlockStatement" => self.block(node),
            "EmptyStatement" | "Declaration_Constant" => Ok(()),
            "AssignmentStatement" => self.assignment(node),
            "IfStatement" => self.branch(node),
            "MethodCallStatement" => self.eval(node.need("methodCall")?).map(drop),
            "SwitchStatement" => self.switch(node),
            "Declaration_Variable" => {
                self.bind_declared(node);
                match node.get("initializer") {
                    Some(value) => {
                        let value = self.eval(value)?;
                        let thing = self.find(node.name());
                        let thing = thing.ok_or_else(|| node.problem("the name was not declared"))?;
                        let to = self.eval_thing(&thing, node)?;
                        self.assign(&target_of(to, node)?, value, node)
                    }
                    None => Ok(()),
                }
            }
            "Declaration_Instance" => {
                if let Some(known) = self.known.last_mut() {
                    known.insert(node.name(), node);
                }
                Ok(())
            }
            "ExitStatement" => {
                self.b.emit(Op::Exit);
                self.b.emit(Op::Return);
                Ok(())
            }
            other => Err(node.problem(format!("statements of kind {other:?} are not supported"))),
        }
    }

    fn branch(&mut self, node: Node<'v>) -> Result<()> {
        let (condition, _) = self.value(node.need("condition")?)?;
        let failing = self.b.jumps_unless(&condition);
        self.b.release();
        self.statement(node.need("ifTrue")?)?;
        match node.get("ifFalse") {
            Some(otherwise) => {
                let end = self.jump();
                self.land(failing);
                self.statement(otherwise)?;
                self.land([end]);
            }
            None => self.land(failing),
        }
        Ok(())
    }

    /// `switch (t.apply().action_run)`, or over the values of an expression.
    fn switch(&mut self, node: Node<'v>) -> Result<()> {
        let of = node.need("expression")?;
        let table =
            if of.text("member") == Some("action_run") { self.applied(of.need("expr")?)? } else { None };
        let value = match table {
            Some((_, slot)) => slot.ran,
            None => {
                let (expr, ty) = self.value(of)?;
                let (bits, signed) =
                    ty.scalar().ok_or_else(|| of.problem("a value with a width is needed"))?;
                let field = self.hidden(bits.min(64), signed, of)?;
                self.b.store(field.place, &expr);
                match field.place {
                    Place::Word { word, .. } if bits <= 64 => word,
                    _ => return Err(of.problem("a switch is over at most 64 bits")),
                }
            }
        };
        self.b.release();
        // Tests precede the bodies; a label without a body falls through to the next one.
        let cases = node.list("cases");
        let (mut entries, mut default) = (Vec::new(), None);
        for (number, case) in cases.iter().enumerate() {
            let label = case.need("label")?;
            if label.kind() == "DefaultExpression" {
                default = Some(number);
                continue;
            }
            let wanted = match &table {
                Some((table, _)) => vec![self.action_number(*table, label)?],
                None => {
                    let (expr, _) = self.value(label)?;
                    expr.constant().into_iter().collect()
                }
            };
            for wanted in wanted {
                let b = self.b.constant(wanted);
                entries.push((self.b.code.len(), number));
                self.b.emit(Op::JumpIfEqual { a: value, b, to: 0 });
            }
        }
        let otherwise = self.jump();
        let mut ends = Vec::new();
        for (number, case) in cases.iter().enumerate() {
            self.land(
                entries.iter().filter(|entry| entry.1 == number).map(|entry| entry.0).collect::<Vec<_>>(),
            );
            if default == Some(number) {
                self.land([otherwise]);
            }
            if let Some(body) = case.get("statement") {
                self.statement(body)?;
                ends.push(self.jump());
            }
        }
        if default.is_none() {
            self.land([otherwise]);
        }
        self.land(ends);
        Ok(())
    }

    fn assignment(&mut self, node: Node<'v>) -> Result<()> {
        let value = self.eval(node.need("right")?)?;
        let target = self.target(node.need("left")?)?;
        self.assign(&target, value, node)
    }

    fn target(&mut self, node: Node<'v>) -> Result<Target<'v>> {
        if node.kind() == "Slice" {
            let inner = node.need("e0")?;
            let (low, bits) = slice_bounds(node)?;
            let (whole, _) = self.value(inner)?;
            return Ok(Target::Slice(Box::new(self.target(inner)?), whole, low, bits));
        }
        let value = self.eval(node)?;
        target_of(value, node)
    }

    /// Assigns to the target that an expression names.
    pub(super) fn assign_to(&mut self, to: Node<'v>, value: Eval<'v>) -> Result<()> {
        let target = self.target(to)?;
        self.assign(&target, value, to)
    }

    fn assign(&mut self, target: &Target<'v>, value: Eval<'v>, at: Node<'v>) -> Result<()> {
        match (target, value) {
            (Target::Field(field), Eval::Value(expr, _)) => {
                self.b.store(field.place, &expr);
                Ok(())
            }
            (Target::FieldAt(header, position, bits), Eval::Value(expr, _)) => {
                self.b.store_at(header, *position, *bits, &expr);
                Ok(())
            }
            (Target::Slice(inner, whole, low, bits), Eval::Value(expr, _)) => {
                let merged = merge(whole.clone(), expr, *low, *bits);
                self.assign(inner, Eval::Value(merged, Type::Int), at)
            }
            (Target::Header(d, _), Eval::Header(a, _)) => {
                let (d, a) = (self.b.header_ref(d), self.b.header_ref(&a));
                self.b.emit(Op::AssignHeader { d, a });
                Ok(())
            }
            (Target::Header(d, ty), Eval::Parts(parts)) => {
                let header = self.b.header_ref(d);
                self.b.emit(Op::AddHeader(header));
                let names: Vec<&str> = self.types.fields(*ty)?.into_iter().map(|field| field.0).collect();
                for (position, (name, part)) in parts.into_iter().enumerate() {
                    let name =
                        if name.is_empty() { names.get(position).copied().unwrap_or_default() } else { name };
                    let (field, at_run, _) = self.header_field(d, ty.to_owned(), name, at)?;
                    let to = match at_run {
                        Some((position, bits)) => Target::FieldAt(d.clone(), position, bits),
                        None => Target::Field(field),
                    };
                    self.assign(&to, part, at)?;
                }
                Ok(())
            }
            (Target::Parts(to), Eval::Parts(from)) if to.len() == from.len() => {
                for (position, (name, to)) in to.iter().enumerate() {
                    let named = from.iter().find(|part| part.0 == *name && !name.is_empty());
                    let (_, part) = named.unwrap_or(&from[position]);
                    self.assign(&target_of(to.clone(), at)?, part.clone(), at)?;
                    self.b.release();
                }
                Ok(())
            }
            _ => Err(at.problem("this cannot be assigned here")),
        }
    }

    /// A truth value or a number in a word.
    pub(super) fn copy_word(&mut self, d: u32, a: u32) {
        self.b.emit(Op::Un { op: Un::Move, d, a });
    }
}

fn target_of<'v>(value: Eval<'v>, at: Node<'v>) -> Result<Target<'v>> {
    Ok(match value {
        Eval::Value(Expr { kind: Kind::Field(field), .. }, _) => Target::Field(field),
        Eval::Value(Expr { kind: Kind::FieldAt(header, position, bits), .. }, _) => {
            Target::FieldAt(header, position, bits)
        }
        Eval::Header(header, ty) => Target::Header(header, ty),
        Eval::Parts(parts) => Target::Parts(parts),
        _ => return Err(at.problem("this cannot be assigned to")),
    })
}

/// Returns a value with some of its bits replaced.
fn merge(whole: Expr, part: Expr, low: u32, bits: u32) -> Expr {
    use crate::compile::expr::binary;
    let ones: num_bigint::BigInt = (num_bigint::BigInt::from(1) << bits) - 1;
    let part = binary(WideBin::And, part, Expr::int(ones.clone()));
    let part = if low == 0 { part } else { binary(WideBin::Shl, part, Expr::int(low.into())) };
    let kept = binary(WideBin::And, whole, Expr::int(!(ones << low)));
    binary(WideBin::Or, kept, part)
}
