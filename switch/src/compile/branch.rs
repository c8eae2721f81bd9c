//! Conditions as jumps: `and` and `or` stop at the first operand that decides.

use super::build::Builder;
use super::expr::{Compare, Expr, Kind};
use crate::op::{Bin, Op};

impl Builder<'_> {
    /// Emits jumps, to be filled in, that are taken if the condition is false; else control falls through.
    pub(super) fn jumps_unless(&mut self, condition: &Expr) -> Vec<usize> {
        self.jumps(condition, false)
    }

    /// Jumps taken if the condition is `wanted`.
    fn jumps(&mut self, condition: &Expr, wanted: bool) -> Vec<usize> {
        match &condition.kind {
            Kind::IsFalse(inner) => self.jumps(inner, !wanted),
            Kind::BothTrue(both) if !wanted => self.either(&both.0, &both.1, false),
            Kind::AnyTrue(both) if wanted => self.either(&both.0, &both.1, true),
            Kind::BothTrue(both) | Kind::AnyTrue(both) => {
                // The first operand may decide the result: then control falls through.
                let skip = self.jumps(&both.0, !wanted);
                let taken = self.jumps(&both.1, wanted);
                let here = self.pc();
                for at in skip {
                    if let Some(to) = self.code[at].target() {
                        *to = here;
                    }
                }
                // The load by the second operand may have been skipped.
                self.loaded.clear();
                taken
            }
            Kind::Compare(Compare::Eq | Compare::Ne, _) => {
                let word = self.truth(condition);
                let at = self.code.len();
                // The comparison is the last operation unless it needed big integers.
                match self.code.last() {
                    Some(&Op::Bin { op: op @ (Bin::Eq | Bin::Ne), d, a, b }) if d == word => {
                        let equal = (op == Bin::Eq) == wanted;
                        let jump = if equal {
                            Op::JumpIfEqual { a, b, to: 0 }
                        } else {
                            Op::JumpIfNotEqual { a, b, to: 0 }
                        };
                        self.code[at - 1] = jump;
                        vec![at - 1]
                    }
                    _ => self.jump_on(word, wanted),
                }
            }
            _ => {
                let word = self.truth(condition);
                self.jump_on(word, wanted)
            }
        }
    }

    fn either(&mut self, first: &Expr, second: &Expr, wanted: bool) -> Vec<usize> {
        let mut jumps = self.jumps(first, wanted);
        jumps.extend(self.jumps(second, wanted));
        jumps
    }

    fn jump_on(&mut self, a: u32, wanted: bool) -> Vec<usize> {
        self.emit(if wanted { Op::JumpIfNotZero { a, to: 0 } } else { Op::JumpIfZero { a, to: 0 } });
        vec![self.code.len() - 1]
    }
}
