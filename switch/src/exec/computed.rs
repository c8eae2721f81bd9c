//! Fields, headers and unions that are found by an index in a word. Part of the interpreter's loop, and
//! compiled into it.

use super::Machine;
use crate::op::{NOTHING, Word, sign_extend};
use crate::value::{get_bits, set_bits};

impl Machine<'_> {
    /// Reads a field of the header whose index is in `h`; 0 if there is none.
    #[inline(always)]
    pub(super) fn load_at(&mut self, d: Word, h: Word, field: u32) {
        let value = match self.state.field_span(self.program, h, field) {
            Some((span, signed)) if span.bits <= 64 => {
                let value = get_bits(&self.state.bytes, span);
                if signed { sign_extend(value, span.bits as u8) } else { value }
            }
            _ => 0,
        };
        self.set(d, value);
    }

    #[inline(always)]
    pub(super) fn store_at(&mut self, h: Word, field: u32, a: Word) {
        if let Some((span, _)) = self.state.field_span(self.program, h, field)
            && span.bits <= 64
        {
            set_bits(&mut self.state.bytes, span, self.state.words[a as usize]);
        }
    }

    #[inline(always)]
    pub(super) fn stack_at(&mut self, d: Word, stack: u32, i: Word) {
        let elements = &self.program.stacks[stack as usize].elements;
        let index = usize::try_from(self.word(i)).ok().and_then(|i| elements.get(i));
        self.set(d, index.map_or(NOTHING, |&index| u64::from(index)));
    }

    #[inline(always)]
    pub(super) fn stack_last(&mut self, d: Word, stack: u32) {
        let stack = &self.program.stacks[stack as usize];
        let next = self.word(stack.next) as usize;
        let last = next.checked_sub(1).and_then(|last| stack.elements.get(last));
        self.set(d, last.map_or(NOTHING, |&index| u64::from(index)));
    }

    #[inline(always)]
    pub(super) fn member_at(&mut self, d: Word, u: Word, member: u32) {
        let union = self.state.index(u).map(|index| &self.program.unions[index]);
        let header = union.and_then(|members| members.get(member as usize));
        self.set(d, header.map_or(NOTHING, |&index| u64::from(index)));
    }

    #[inline(always)]
    pub(super) fn is_valid_at(&mut self, d: Word, h: Word) {
        let valid = self.state.index(h).map(|h| self.word(self.program.headers[h].valid));
        self.set(d, valid.unwrap_or(0));
    }

    #[inline(always)]
    pub(super) fn union_is_valid_at(&mut self, d: Word, u: Word) {
        let program = self.program;
        let members = self.state.index(u).map_or(&[][..], |u| &program.unions[u]);
        let valid = members.iter().any(|&h| self.word(program.headers[h as usize].valid) != 0);
        self.set(d, u64::from(valid));
    }
}
