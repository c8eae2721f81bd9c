//! Copies for other destinations: mirrored, resubmitted, or to the control plane.

use super::expr::Eval;
use super::lowering::{Lowering, arguments, extern_of};
use crate::compile::expr::Expr;
use crate::error::Result;
use crate::hash::Algorithm;
use crate::op::Op;
use crate::p4ir::Node;
use crate::program::{ArchOp, Calculation, CalculationInput, DigestInfo};

impl<'v> Lowering<'_, 'v> {
    /// `emit` of a mirror or a resubmission: the values that go before the packet are gathered.
    pub(super) fn divert(&mut self, node: Node<'v>, instance: Node<'v>) -> Result<Eval<'v>> {
        let mirror = extern_of(instance) == "Mirror";
        let session = if mirror { Some(self.argument_word(node, 0)?) } else { None };
        let position = usize::from(mirror);
        let header = match arguments(node).get(position) {
            Some(_) => {
                let (inputs, bits) = self.data(node, position)?;
                if !bits.is_multiple_of(8) {
                    let problem = format!("the data take {bits} bits; a header takes whole bytes");
                    return Err(node.problem(problem));
                }
                Some(self.calculation(Calculation { algorithm: Algorithm::Low, inputs, payload: false }))
            }
            None => None,
        };
        self.emit_arch(match session {
            Some(session) => ArchOp::Mirror { session, header },
            None => ArchOp::Resubmit { header },
        });
        Ok(Eval::Nothing)
    }

    pub(super) fn digest(&mut self, node: Node<'v>, instance: Node<'v>) -> Result<Eval<'v>> {
        let number = self.declared.digests.get(&instance.id()).copied();
        let number = number.ok_or_else(|| instance.problem("the digest was not declared"))?;
        let (inputs, _) = self.data(node, 0)?;
        let mut fields = Vec::new();
        for input in inputs {
            if let CalculationInput::Field { place, bits, .. } = input {
                // Copied: the message is made after the deparser is done.
                let field = self.hidden(bits, false, node)?;
                let from = crate::compile::layout::Field { place, bits, signed: false };
                self.b.store(field.place, &Expr::field(from));
                self.b.release();
                fields.push(field.place);
            }
        }
        self.b.packed.insert(number, DigestInfo { name: instance.full_name().to_owned(), fields });
        let list = self.b.constant(number);
        self.b.emit(Op::Digest { list });
        Ok(Eval::Nothing)
    }
}
