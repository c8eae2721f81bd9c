//! Registers, counters and meters. An index past the end changes nothing, as in bmv2.

use super::Machine;
use crate::op::{Span, low_mask};
use crate::value::copy_bits;
use crate::wide::write_span;

impl Machine<'_> {
    pub(super) fn register_read(&mut self, d: u32, register: u32, i: u32) {
        let info = &self.program.registers[register as usize];
        match self.tables.registers.get(info.group, info.lane, self.word(i)) {
            Some(value) => self.set(d, value),
            None => self.past_end(register, i),
        }
    }

    pub(super) fn register_write(&mut self, register: u32, i: u32, a: u32) {
        let info = &self.program.registers[register as usize];
        let value = self.word(a) & low_mask(info.bits.min(64) as u8);
        let index = self.word(i);
        if index >= info.size as u64 {
            return self.past_end(register, i);
        }
        self.tables.registers.set(info.group, info.lane, index, value);
    }

    pub(super) fn wide_register_read(&mut self, to: Span, register: u32, i: u32) {
        let info = &self.program.registers[register as usize];
        let index = self.word(i);
        if let Some(cell) = self.tables.registers.wide(info.group, info.lane, index) {
            let cell_bits = cell.len() as u32 * 8;
            let bits = to.bits.min(cell_bits);
            write_span(&mut self.state.bytes, to, &Default::default());
            copy_bits(&mut self.state.bytes, to.bit + to.bits - bits, cell, cell_bits - bits, bits);
        }
    }

    pub(super) fn wide_register_write(&mut self, register: u32, i: u32, e: u32) {
        let info = &self.program.registers[register as usize];
        let value = self.program.wide[e as usize].eval(self.state, self.program);
        let index = self.word(i);
        if let Some(cell) = self.tables.registers.wide(info.group, info.lane, index) {
            let span = Span { bit: cell.len() as u32 * 8 - info.bits, bits: info.bits };
            write_span(cell, span, &value);
        }
    }

    pub(super) fn count(&mut self, counter: u32, i: u32) {
        let index = usize::try_from(self.word(i)).unwrap_or(usize::MAX);
        if let Some(cell) = self.tables.counters[counter as usize].get_mut(index) {
            cell.packets = cell.packets.wrapping_add(1);
            cell.bytes = cell.bytes.wrapping_add(u64::from(self.state.asked.ingress_length));
        }
    }

    pub(super) fn meter(&mut self, d: u32, meter: u32, i: u32) {
        let index = usize::try_from(self.word(i)).unwrap_or(usize::MAX);
        let bytes = self.program.meters[meter as usize].bytes;
        let amount = if bytes { u64::from(self.state.asked.ingress_length) } else { 1 };
        if let Some(cell) = self.tables.meters[meter as usize].get_mut(index) {
            let color = cell.color(amount, self.now_us);
            self.set(d, color);
        }
    }
}
