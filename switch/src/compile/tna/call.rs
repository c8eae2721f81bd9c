//! Calls: of methods of headers, packets, tables and externs, of actions and functions.

use num_bigint::BigInt;

use super::expr::{Eval, truth, wrap};
use super::lowering::{Lowering, TableSlot, extern_of};
use super::types::Type;
use crate::compile::expr::{Compare, Expr, HeaderExpr, Kind, binary};
use crate::compile::layout::Field;
use crate::error::Result;
use crate::op::Op;
use crate::p4ir::Node;
use crate::program::{ArchOp, Place};
use crate::wide::WideBin;

impl<'v> Lowering<'_, 'v> {
    pub(super) fn call(&mut self, node: Node<'v>) -> Result<Eval<'v>> {
        let method = node.need("method")?;
        if method.kind() == "PathExpression" {
            return self.function(node, method.path().unwrap_or_default());
        }
        let (of, name) = (method.need("expr")?, method.text("member").unwrap_or_default());
        if let Some((_, slot)) = self.applied(node)? {
            let hit = Field {
                place: Place::Word { word: slot.hit, bits: 1, signed: false },
                bits: 1,
                signed: false,
            };
            return Ok(Eval::Value(Expr::field(hit), Type::Bool));
        }
        let instance = of.path().filter(|_| of.kind() == "PathExpression");
        // A variable hides an instance of its name.
        let instance =
            instance.filter(|name| !matches!(self.find(name), Some(thing) if self.has_value(&thing)));
        if let Some(instance) = instance.and_then(|name| self.known(name)) {
            return self.extern_call(node, instance, name);
        }
        if matches!(name, "extract" | "lookahead" | "advance" | "emit" | "length") {
            return self.packet_call(node, name);
        }
        match self.eval(of)? {
            Eval::Header(header, _) => self.header_call(node, &header, name),
            Eval::Stack(stack, _) if matches!(name, "push_front" | "pop_front") => {
                let count = self.argument(node, 0)?;
                let n = self.b.word(&count.0);
                self.b.emit(if name == "push_front" { Op::Push { stack, n } } else { Op::Pop { stack, n } });
                Ok(Eval::Nothing)
            }
            _ => Err(node.problem(format!("the method {name:?} is not supported"))),
        }
    }

    fn has_value(&self, thing: &super::thing::Thing<'v>) -> bool {
        !matches!(thing, super::thing::Thing::Nothing)
    }

    /// Returns the value of an argument.
    pub(super) fn argument(&mut self, node: Node<'v>, position: usize) -> Result<(Expr, Type<'v>)> {
        let given = super::lowering::arguments(node).get(position).copied();
        let given = given.ok_or_else(|| node.problem(format!("argument {} is missing", position + 1)))?;
        self.value(given)
    }

    /// Returns an argument in a word that lasts; at most 64 bits.
    pub(super) fn argument_word(&mut self, node: Node<'v>, position: usize) -> Result<u32> {
        let (expr, _) = self.argument(node, position)?;
        let word = self.hidden_word();
        self.b.store(Place::Word { word, bits: 64, signed: false }, &expr);
        self.b.release();
        Ok(word)
    }

    fn header_call(&mut self, node: Node<'v>, header: &HeaderExpr, name: &str) -> Result<Eval<'v>> {
        match name {
            "isValid" => return Ok(Eval::Value(truth(Kind::Valid(header.clone())), Type::Bool)),
            "setValid" => {
                let header = self.b.header_ref(header);
                self.b.emit(Op::AddHeader(header));
            }
            "setInvalid" => {
                let header = self.b.header_ref(header);
                self.b.emit(Op::RemoveHeader(header));
            }
            _ => return Err(node.problem(format!("headers have no method {name:?}"))),
        }
        Ok(Eval::Nothing)
    }

    /// Applies the table that a call, or the member of a call's result, names.
    pub(super) fn applied(&mut self, node: Node<'v>) -> Result<Option<(Node<'v>, TableSlot)>> {
        let method = match node.get("method") {
            Some(method) if method.text("member") == Some("apply") => method,
            _ => return Ok(None),
        };
        let name = method.get("expr").and_then(Node::path).unwrap_or_default();
        let Some(table) = self.known(name).filter(|table| table.kind() == "P4Table") else { return Ok(None) };
        let slot = match self.declared.tables.get(&table.id()) {
            Some(&index) => self.slot(index),
            None => {
                // Made by the compiler around statements: it has one action, and no control plane.
                let action = super::table::only_action(table)
                    .and_then(|name| self.known(name))
                    .ok_or_else(|| table.problem("the table has no single action"))?;
                self.b.release();
                self.action_in_place(action)?;
                let word = self.hidden_word();
                self.set_word(word, 0);
                return Ok(Some((table, TableSlot { index: u32::MAX, hit: word, ran: word })));
            }
        };
        self.b.release();
        super::table::copy_keys(self, table)?;
        self.emit_arch(ArchOp::Apply { table: slot.index, hit: slot.hit, ran: slot.ran });
        Ok(Some((table, slot)))
    }

    /// Returns the number that an applied table leaves for an action.
    pub(super) fn action_number(&self, table: Node<'v>, label: Node<'v>) -> Result<u64> {
        let name = label.path().unwrap_or_default();
        let action = self.known(name).and_then(|action| self.declared.actions.get(&action.id()));
        let action =
            action.ok_or_else(|| label.problem(format!("{:?} has no action {name:?}", table.name())))?;
        Ok(*action as u64 + 1)
    }

    /// Lowers the body of an action that has parameters.
    pub(super) fn action_body(&mut self, action: Node<'v>, number: usize) -> Result<()> {
        let params = self.b.actions[number].params.iter();
        self.b.params =
            params.map(|param| Field { place: param.place, bits: param.bits, signed: false }).collect();
        let mut scope = std::collections::HashMap::new();
        let list = action.get("parameters").map_or(Vec::new(), |list| list.list("parameters"));
        for (index, parameter) in list.into_iter().enumerate() {
            let ty = self.types.resolve(parameter.need("type")?)?;
            scope.insert(parameter.name(), super::thing::Thing::Param { index, ty });
        }
        self.scopes.push(scope);
        self.action_in_place(action)?;
        self.scopes.pop();
        self.b.params.clear();
        Ok(())
    }

    /// Lowers an action's body here.
    fn action_in_place(&mut self, action: Node<'v>) -> Result<()> {
        self.depth += 1;
        if self.depth > super::expr::MAX_DEPTH {
            return Err(action.problem("actions nest too deeply"));
        }
        self.block(action.need("body")?)?;
        self.depth -= 1;
        Ok(())
    }

    pub(super) fn emit_arch(&mut self, op: ArchOp) {
        self.b.arch_ops.push(op);
        let number = self.b.arch_ops.len() as u32 - 1;
        self.b.emit(Op::Arch(number));
    }

    fn packet_call(&mut self, node: Node<'v>, name: &str) -> Result<Eval<'v>> {
        match name {
            "extract" => self.extract(node)?,
            "advance" => {
                let (bits, _) = self.argument(node, 0)?;
                let bits = self.b.word(&bits);
                self.b.emit(Op::Advance { bits });
            }
            "lookahead" => return self.lookahead(node),
            "emit" => {
                let given = super::lowering::arguments(node).first().copied();
                let given = given.ok_or_else(|| node.problem("emit needs a header"))?;
                let value = self.eval(given)?;
                self.emit_headers(value, node)?;
            }
            _ => return Err(node.problem(format!("the packet's {name:?} is not supported"))),
        }
        Ok(Eval::Nothing)
    }

    fn emit_headers(&mut self, value: Eval<'v>, at: Node<'v>) -> Result<()> {
        match value {
            Eval::Header(header, _) => {
                let header = self.b.header_ref(&header);
                self.emit_arch(ArchOp::Emit(header));
            }
            Eval::Stack(stack, _) => {
                for header in self.b.layout.stacks[stack as usize].elements.clone() {
                    self.emit_arch(ArchOp::Emit(crate::op::HeaderRef::Fixed(header)));
                }
            }
            Eval::Parts(parts) => {
                for (_, part) in parts {
                    self.emit_headers(part, at)?;
                }
            }
            _ => return Err(at.problem("only headers can be emitted")),
        }
        Ok(())
    }

    fn function(&mut self, node: Node<'v>, name: &str) -> Result<Eval<'v>> {
        if let Some(action) = self.known(name).filter(|known| known.kind() == "P4Action") {
            if action.get("parameters").is_some_and(|list| !list.list("parameters").is_empty()) {
                return Err(node.problem("an action that is called cannot have parameters here"));
            }
            self.b.release();
            self.action_in_place(action)?;
            return Ok(Eval::Nothing);
        }
        match name {
            "max" | "min" => {
                let ((a, ty), (b, _)) = (self.argument(node, 0)?, self.argument(node, 1)?);
                let order = if name == "max" { (b.clone(), a.clone()) } else { (a.clone(), b.clone()) };
                let first = truth(Kind::Compare(Compare::Le, Box::new(order)));
                let range = a.range.zip(b.range).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
                Ok(Eval::Value(Expr { kind: Kind::Select(Box::new((first, a, b))), range }, ty))
            }
            "funnel_shift_right" => {
                let to = super::lowering::arguments(node).first().copied();
                let to = to.ok_or_else(|| node.problem("a target is needed"))?;
                let ((high, ty), (low, _)) = (self.argument(node, 1)?, self.argument(node, 2)?);
                let (by, _) = self.argument(node, 3)?;
                let bits = ty.scalar().map_or(0, |scalar| scalar.0);
                let both = binary(WideBin::Shl, high, Expr::int(BigInt::from(bits)));
                let both = binary(WideBin::Or, both, low);
                self.assign_to(to, Eval::Value(wrap(binary(WideBin::Shr, both, by), ty), ty))?;
                Ok(Eval::Nothing)
            }
            "port_metadata_unpack" => self.unpack_port_metadata(node),
            "verify" => {
                let (condition, _) = self.argument(node, 0)?;
                let a = self.b.truth(&condition);
                // p4c adds a state that fails so for selects without a default case.
                let error = super::lowering::arguments(node).get(1).and_then(|error| error.text("member"));
                let unmatched = error == Some("NoMatch");
                let error = self.b.constant(if unmatched {
                    super::parser::NO_MATCH
                } else {
                    super::parser::REJECTED
                });
                self.b.emit(Op::Verify { a, error });
                Ok(Eval::Nothing)
            }
            // A header that is no longer written need not be invalid for this switch.
            "invalidate" => Ok(Eval::Nothing),
            "static_assert" | "log_msg" => Ok(Eval::Nothing),
            _ => Err(node.problem(format!("the function {name:?} is not supported"))),
        }
    }

    fn extern_call(&mut self, node: Node<'v>, instance: Node<'v>, method: &str) -> Result<Eval<'v>> {
        match (extern_of(instance), method) {
            ("Register" | "DirectRegister" | "RegisterParam", "read") => self.register_read(node, instance),
            ("Register" | "DirectRegister", "write") => self.register_write(node, instance),
            ("RegisterAction" | "DirectRegisterAction", "execute") => self.register_action(node, instance),
            ("Counter", "count") => {
                let counter = self.counter(instance)?;
                let (index, _) = self.argument(node, 0)?;
                let i = self.b.word(&index);
                self.b.emit(Op::Count { counter, i });
                Ok(Eval::Nothing)
            }
            ("DirectCounter", "count") => {
                self.emit_arch(ArchOp::CountRow);
                Ok(Eval::Nothing)
            }
            ("Meter" | "DirectMeter", "execute") => self.meter(node, instance),
            ("Hash", "get") => self.hash(node, instance),
            ("Random", "get") => self.random(node, instance),
            ("Checksum", _) => self.checksum(node, instance, method),
            ("ParserCounter", _) => self.parser_counter(node, instance, method),
            // It decides which packets a congested parser drops; this one is never congested.
            ("ParserPriority", "set") => Ok(Eval::Nothing),
            ("Mirror" | "Resubmit", "emit") => self.divert(node, instance),
            ("Digest", "pack") => self.digest(node, instance),
            (kind, _) => Err(node.problem(format!("the method {method:?} of {kind:?} is not supported"))),
        }
    }
}
