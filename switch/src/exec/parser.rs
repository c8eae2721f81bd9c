//! Parser operations. An error is one of the document's error numbers.

use super::Machine;
use crate::op::{Op, Pc, Span};
use crate::program::{Case, KeyPart};
use crate::value::{copy_bits, get_bits};

type Parsed<T> = Result<T, u64>;

impl Machine<'_> {
    pub(super) fn parser_op(&mut self, op: Op) -> Parsed<()> {
        match op {
            Op::Extract(header) => self.extract(header as usize),
            Op::ExtractStack(stack) => {
                let header = self.next_element(stack)?;
                self.extract(header as usize)?;
                self.advance_stack(stack);
                Ok(())
            }
            Op::ExtractUnionStack { stack, member } => {
                let header = self.next_member(stack, member)?;
                self.extract(header as usize)?;
                self.advance_stack(stack);
                Ok(())
            }
            Op::ExtractVarUnionStack { stack, member, bits, max_bytes } => {
                let header = self.next_member(stack, member)?;
                self.extract_var(header as usize, self.word(bits), max_bytes)?;
                self.advance_stack(stack);
                Ok(())
            }
            Op::ExtractVar { h, bits, max_bytes } => self.extract_var(h as usize, self.word(bits), max_bytes),
            Op::ExtractVarStack { stack, bits, max_bytes } => {
                let header = self.next_element(stack)?;
                self.extract_var(header as usize, self.word(bits), max_bytes)?;
                self.advance_stack(stack);
                Ok(())
            }
            Op::Advance { bits } => {
                let bits = self.word(bits);
                if !bits.is_multiple_of(8) {
                    return Err(self.program.errors.invalid_argument);
                }
                self.need(bits / 8)?;
                self.position += (bits / 8) as usize;
                Ok(())
            }
            Op::Verify { a, error } if self.word(a) == 0 => Err(self.word(error)),
            Op::Verify { .. } => Ok(()),
            Op::Peek { d, bit, bits } => {
                let value = self.ahead(bit, bits)?;
                self.set(d, value);
                Ok(())
            }
            Op::WidePeek { to, bit } => {
                let first = self.position as u64 * 8 + u64::from(bit);
                self.need((u64::from(bit) + u64::from(to.bits)).div_ceil(8))?;
                let start = (first / 8) as usize;
                let from = &self.packet[start..];
                copy_bits(&mut self.state.bytes, to.bit, from, (first % 8) as u32, to.bits);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Fails unless `bits` bits are left.
    fn need(&self, bytes: u64) -> Parsed<()> {
        let left = (self.packet.len() - self.position) as u64;
        if bytes > left { Err(self.program.errors.packet_too_short) } else { Ok(()) }
    }

    fn ahead(&self, bit: u32, bits: u8) -> Parsed<u64> {
        self.need((u64::from(bit) + u64::from(bits)).div_ceil(8))?;
        let left = &self.packet[self.position..];
        Ok(get_bits(left, Span { bit, bits: u32::from(bits) }))
    }

    fn next_element(&self, stack: u32) -> Parsed<u32> {
        let stack = &self.program.stacks[stack as usize];
        let next = self.word(stack.next) as usize;
        stack.elements.get(next).copied().ok_or(self.program.errors.stack_out_of_bounds)
    }

    /// Returns a member of a stack's next header union.
    fn next_member(&self, stack: u32, member: u32) -> Parsed<u32> {
        let union = self.next_element(stack)?;
        let header = self.program.unions[union as usize].get(member as usize);
        header.copied().ok_or(self.program.errors.stack_out_of_bounds)
    }

    fn advance_stack(&mut self, stack: u32) {
        let next = self.program.stacks[stack as usize].next;
        self.set(next, self.word(next) + 1);
    }

    fn extract(&mut self, index: usize) -> Parsed<()> {
        let header = &self.program.headers[index];
        let count = header.bytes as usize;
        let left = &self.packet[self.position..];
        let from = left.get(..count).ok_or(self.program.errors.packet_too_short)?;
        self.state.bytes[header.byte as usize..header.byte as usize + count].copy_from_slice(from);
        self.position += count;
        if header.siblings.is_empty() {
            self.set(header.valid, 1);
        } else {
            self.mark_valid(index);
        }
        Ok(())
    }

    fn extract_var(&mut self, index: usize, bits: u64, max_bytes: u32) -> Parsed<()> {
        let errors = &self.program.errors;
        let header = &self.program.headers[index];
        let Some(var) = header.var else { return self.extract(index) };
        if !bits.is_multiple_of(8) {
            return Err(errors.invalid_argument);
        }
        self.need(u64::from(header.bytes).saturating_add(bits / 8))?;
        if bits / 8 > u64::from(var.max_bytes)
            || (max_bytes != 0 && u64::from(header.bytes) + bits / 8 > u64::from(max_bytes))
        {
            return Err(errors.header_too_short);
        }
        let from = &self.packet[self.position..];
        let (bits, base) = (bits as u32, header.byte * 8);
        copy_bits(&mut self.state.bytes, base, from, 0, var.at_bit);
        copy_bits(&mut self.state.bytes, var.byte * 8, from, var.at_bit, bits);
        let after = header.bytes * 8 - var.at_bit;
        copy_bits(&mut self.state.bytes, base + var.at_bit, from, var.at_bit + bits, after);
        self.position += (header.bytes + bits / 8) as usize;
        self.set(var.length, u64::from(bits));
        self.mark_valid(index);
        Ok(())
    }

    /// Returns the next state's code, or `None` when the parser is done.
    pub(super) fn select(&mut self, select: u32) -> Parsed<Option<Pc>> {
        let program = self.program;
        let select = &program.selects[select as usize];
        if select.key.is_empty() {
            return Ok(select.otherwise);
        }
        self.scratch.key.clear();
        for &part in &select.key {
            let word = self.key_part(part)?;
            self.scratch.key.push(word);
        }
        let key = &self.scratch.key;
        for case in &select.cases {
            match case {
                Case::Value { parts, to } => {
                    if key.iter().zip(parts).all(|(key, (value, mask))| key & mask == *value) {
                        return Ok(*to);
                    }
                }
                Case::Set { set, masks, to } => {
                    let hit = self.tables.value_sets[*set as usize].iter().any(|member| {
                        key.iter()
                            .zip(member)
                            .zip(masks)
                            .all(|((key, member), mask)| (key ^ member) & mask == 0)
                    });
                    if hit {
                        return Ok(*to);
                    }
                }
            }
        }
        Ok(select.otherwise)
    }

    #[inline(always)]
    pub(super) fn key_part(&self, part: KeyPart) -> Parsed<u64> {
        Ok(match part {
            KeyPart::Word(word) => self.word(word),
            KeyPart::MaskedWord(word, bits) => self.word(word) & crate::op::low_mask(bits),
            KeyPart::Slice(slice) => self.state.load(slice),
            KeyPart::Span(span) => get_bits(&self.state.bytes, span),
            KeyPart::Ahead { bit, bits } => self.ahead(bit, bits)?,
        })
    }
}
