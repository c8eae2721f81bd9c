//! Header validity, copies, stacks and unions.

use super::Machine;
use crate::op::HeaderRef;

impl Machine<'_> {
    /// Bytes the header takes on the wire now.
    pub(super) fn wire_bytes(&self, header: usize) -> u32 {
        let header = &self.program.headers[header];
        header.bytes + header.var.map_or(0, |var| self.word(var.length) as u32 / 8)
    }

    pub(super) fn mark_valid(&mut self, header: usize) {
        let program = self.program;
        let header = &program.headers[header];
        for &sibling in &header.siblings {
            self.set(program.headers[sibling as usize].valid, 0);
        }
        self.set(header.valid, 1);
    }

    pub(super) fn add_header(&mut self, header: HeaderRef) {
        let Some(index) = self.header(header) else { return };
        let header = &self.program.headers[index];
        if self.word(header.valid) != 0 {
            return;
        }
        let start = header.byte as usize;
        self.state.bytes[start..start + header.bytes as usize].fill(0);
        if let Some(var) = header.var {
            self.set(var.length, 0);
        }
        self.mark_valid(index);
        self.state.asked.length = self.state.asked.length.wrapping_add(self.wire_bytes(index));
    }

    pub(super) fn remove_header(&mut self, header: HeaderRef) {
        let Some(index) = self.header(header) else { return };
        let valid = self.program.headers[index].valid;
        if self.word(valid) != 0 {
            self.state.asked.length = self.state.asked.length.wrapping_sub(self.wire_bytes(index));
            self.set(valid, 0);
        }
    }

    pub(super) fn assign_header(&mut self, to: HeaderRef, from: HeaderRef) {
        let Some(to) = self.header(to) else { return };
        let program = self.program;
        match self.header(from) {
            Some(from) if self.word(program.headers[from].valid) != 0 => {
                self.copy_fields(to, from);
                self.mark_valid(to);
            }
            _ => self.set(program.headers[to].valid, 0),
        }
    }

    fn copy_fields(&mut self, to: usize, from: usize) {
        let program = self.program;
        let (d, a) = (&program.headers[to], &program.headers[from]);
        let start = a.byte as usize;
        let count = a.bytes.min(d.bytes) as usize;
        self.state.bytes.copy_within(start..start + count, d.byte as usize);
        if d.var.is_some() && a.var.is_some() {
            self.assign_var(to as u32, from as u32);
        }
    }

    pub(super) fn assign_var(&mut self, to: u32, from: u32) {
        let program = self.program;
        let (Some(d), Some(a)) = (program.headers[to as usize].var, program.headers[from as usize].var)
        else {
            return;
        };
        let bits = self.word(a.length).min(u64::from(d.max_bytes) * 8);
        self.set(d.length, bits);
        let start = a.byte as usize;
        self.state.bytes.copy_within(start..start + bits as usize / 8, d.byte as usize);
    }

    pub(super) fn headers_equal(&self, a: HeaderRef, b: HeaderRef) -> bool {
        let (Some(a), Some(b)) = (self.header(a), self.header(b)) else { return false };
        let (a, b) = (&self.program.headers[a], &self.program.headers[b]);
        let bytes = |start: u32, count: u32| &self.state.bytes[start as usize..(start + count) as usize];
        let var = |header: &crate::program::Header| {
            header.var.map_or(&[][..], |var| bytes(var.byte, self.word(var.length) as u32 / 8))
        };
        a.fields == b.fields
            && self.word(a.valid) != 0
            && self.word(b.valid) != 0
            && bytes(a.byte, a.bytes) == bytes(b.byte, b.bytes)
            && var(a) == var(b)
    }

    pub(super) fn push(&mut self, stack: u32, count: u64) {
        let program = self.program;
        let stack = &program.stacks[stack as usize];
        let size = stack.elements.len();
        let count = usize::try_from(count).unwrap_or(size).min(size);
        let next = (self.word(stack.next) as usize + count).min(size);
        self.set(stack.next, next as u64);
        for i in (count..size).rev() {
            self.shift(stack.of_unions, stack.elements[i], stack.elements[i - count]);
        }
        for &element in &stack.elements[..count] {
            self.invalidate(stack.of_unions, element);
        }
    }

    pub(super) fn pop(&mut self, stack: u32, count: u64) {
        let program = self.program;
        let stack = &program.stacks[stack as usize];
        let size = stack.elements.len();
        let count = usize::try_from(count).unwrap_or(size).min(size);
        let next = (self.word(stack.next) as usize).saturating_sub(count);
        self.set(stack.next, next as u64);
        for i in 0..size - count {
            self.shift(stack.of_unions, stack.elements[i], stack.elements[i + count]);
        }
        for &element in &stack.elements[size - count..] {
            self.invalidate(stack.of_unions, element);
        }
    }

    fn shift(&mut self, of_unions: bool, to: u32, from: u32) {
        let program = self.program;
        if of_unions {
            let members = program.unions[to as usize].iter().zip(&program.unions[from as usize]);
            for (&to, &from) in members {
                self.shift(false, to, from);
            }
        } else {
            self.copy_fields(to as usize, from as usize);
            let valid = self.word(program.headers[from as usize].valid);
            self.set(program.headers[to as usize].valid, valid);
        }
    }

    fn invalidate(&mut self, of_unions: bool, element: u32) {
        let program = self.program;
        if of_unions {
            for &header in &program.unions[element as usize] {
                self.set(program.headers[header as usize].valid, 0);
            }
        } else {
            self.set(program.headers[element as usize].valid, 0);
        }
    }
}
