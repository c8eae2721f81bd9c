//! Operations that only TNA has. Not part of the interpreter's loop.

use super::diverted::Diverted;
use super::machine::Machine;
use crate::op::HeaderRef;
use crate::program::ArchOp;

impl Machine<'_> {
    #[inline(never)]
    pub(super) fn arch(&mut self, number: u32) {
        match self.program.arch_ops[number as usize] {
            ArchOp::Apply { table, hit, ran } => {
                let (row, action) = self.run_table(table);
                self.set(hit, u64::from(row.is_some()));
                self.set(ran, action.map_or(0, |action| u64::from(action) + 1));
            }
            ArchOp::Emit(header) => self.emit(header),
            ArchOp::Mirror { session, header } => {
                let (session, header) = (self.word(session), self.wire_input(header));
                self.scratch.diverted.push(Diverted::Mirror { session, header });
            }
            ArchOp::Resubmit { header } => {
                let header = self.wire_input(header);
                self.scratch.diverted.push(Diverted::Resubmit { header });
            }
            ArchOp::Touch { register } => self.touch(register),
            ArchOp::CountRow => self.count_row(),
            ArchOp::MeterRow { d } => self.meter_row(d),
            ArchOp::Row { d } => {
                let (table, row) = self.row;
                let last = self.program.tables.get(table as usize).map_or(0, |table| table.max_entries);
                self.set(d, row.map_or(last as u64, u64::from));
            }
            ArchOp::Sum { d, calc, minus } => {
                let buffer = self.gather(calc);
                let part = !crate::hash::checksum16(&buffer);
                self.scratch.buffer = buffer;
                let sum = self.word(d) + u64::from(if minus { !part } else { part });
                self.set(d, (sum & 0xffff) + (sum >> 16));
            }
        }
    }

    /// Notes that a register is touched, and whether it was before in this pass.
    fn touch(&mut self, register: u32) {
        if !self.scratch.touched.contains(&register) {
            return self.scratch.touched.push(register);
        }
        self.scratch.touched_twice += 1;
        if self.scratch.touched_twice == 1 {
            let name = self.program.registers.get(register as usize).map_or("", |info| info.name.as_str());
            tracing::warn!("the register {name:?} was touched twice in one pass; the chip cannot do that");
        }
    }

    /// Notes that a register was read or written past its end, if the program is TNA's.
    #[cold]
    pub(super) fn past_end(&mut self, register: u32, index: u32) {
        if self.program.tna.is_none() {
            return;
        }
        self.scratch.past_end += 1;
        if self.scratch.past_end == 1 {
            let name = self.program.registers.get(register as usize).map_or("", |info| info.name.as_str());
            tracing::warn!(
                "the register {name:?} has no cell {}; the chip does anything then",
                self.word(index)
            );
        }
    }

    fn emit(&mut self, header: HeaderRef) {
        let Some(index) = self.header(header) else { return };
        let info = &self.program.headers[index];
        if self.word(info.valid) == 0 {
            return;
        }
        let mut emitted = std::mem::take(&mut self.scratch.emitted);
        let start = emitted.len();
        emitted.resize(start + self.wire_bytes(index) as usize, 0);
        self.write_header(index, &mut emitted[start..]);
        self.scratch.emitted = emitted;
    }

    /// Returns a calculation's input as bytes of its own.
    fn wire_input(&mut self, calculation: Option<u32>) -> Vec<u8> {
        let Some(calculation) = calculation else { return Vec::new() };
        let buffer = self.gather(calculation);
        let bytes = buffer.clone();
        self.scratch.buffer = buffer;
        bytes
    }

    fn count_row(&mut self) {
        let (table, row) = self.row;
        let bytes = u64::from(self.state.asked.ingress_length);
        let Some(table) = self.tables.tables.get_mut(table as usize) else { return };
        let counter = match row {
            Some(row) => {
                table.rows.get_mut(row as usize).and_then(Option::as_mut).map(|row| &mut row.counter)
            }
            None => Some(&mut table.default_counter),
        };
        if let Some(counter) = counter {
            counter.packets = counter.packets.wrapping_add(1);
            counter.bytes = counter.bytes.wrapping_add(bytes);
        }
    }

    fn meter_row(&mut self, d: u32) {
        let (number, row) = self.row;
        let Some(info) = self.program.tables.get(number as usize) else { return };
        let Some((meter, _)) = info.meter else { return };
        let bytes = self.program.meters[meter].bytes;
        let amount = if bytes { u64::from(self.state.asked.ingress_length) } else { 1 };
        let rows = &mut self.tables.tables[number as usize].rows;
        let row = row.and_then(|row| rows.get_mut(row as usize)).and_then(Option::as_mut);
        if let Some(row) = row {
            let color = row.meter.color(amount, self.now_us);
            self.set(d, color);
        }
    }
}
