//! Applies a table: looks the key up, counts, runs the action.

use super::Machine;
use crate::op::Pc;
use crate::program::{Next, Place};
use crate::tables::{Bound, Call};
use crate::value::set_bits;

impl Machine<'_> {
    /// Runs the table; where control goes next.
    pub(super) fn apply(&mut self, number: u32) -> Option<Pc> {
        let info = &self.program.tables[number as usize];
        let (row, action) = self.run_table(number);
        match &info.next {
            Next::Hit { hit, miss } => {
                if row.is_some() {
                    *hit
                } else {
                    *miss
                }
            }
            Next::Action(targets, otherwise) => match action {
                Some(action) => {
                    targets.iter().find(|target| target.0 == action).map_or(*otherwise, |target| target.1)
                }
                None => *otherwise,
            },
        }
    }

    /// Runs the table; the row that was hit, and the action that ran.
    pub(super) fn run_table(&mut self, number: u32) -> (Option<u32>, Option<u32>) {
        let program = self.program;
        let info = &program.tables[number as usize];
        let row = if info.parts.is_empty() { None } else { self.look_up(number) };
        let action = match row {
            Some(row) => self.hit(number, row),
            None => {
                let table = &mut self.tables.tables[number as usize];
                if info.direct_counter && program.tna.is_none() {
                    table.default_counter.packets += 1;
                    table.default_counter.bytes += u64::from(self.state.asked.ingress_length);
                }
                let table = &self.tables.tables[number as usize];
                table.default.as_ref().map(|call| {
                    load_params(self.program, self.state, call);
                    call.action
                })
            }
        };
        self.row = (number, row);
        if let Some(action) = action {
            self.run(program.actions[action as usize].pc);
        }
        (row, action)
    }

    fn look_up(&mut self, number: u32) -> Option<u32> {
        let info = &self.program.tables[number as usize];
        self.scratch.key.clear();
        for &(part, mask) in &info.parts {
            let word = self.key_part(part).unwrap_or(0);
            self.scratch.key.push(word & mask);
        }
        let index = &self.tables.tables[number as usize].index;
        index.lookup(&self.scratch.key, &mut self.scratch.masked)
    }

    /// Counts the hit and loads the row's action; its number.
    fn hit(&mut self, number: u32, row_number: u32) -> Option<u32> {
        let info = &self.program.tables[number as usize];
        let bytes = u64::from(self.state.asked.ingress_length);
        let now_us = self.now_us;
        let row = self.tables.tables[number as usize].rows[row_number as usize].as_mut()?;
        // In TNA an action determines whether it counts.
        let implicit = self.program.tna.is_none();
        if info.direct_counter && implicit {
            row.counter.packets = row.counter.packets.wrapping_add(1);
            row.counter.bytes = row.counter.bytes.wrapping_add(bytes);
        }
        if info.idle_timeout {
            row.last_hit_us = now_us;
        }
        if let Some((meter, target)) = info.meter.filter(|_| implicit) {
            let amount = if self.program.meters[meter].bytes { bytes } else { 1 };
            let color = row.meter.color(amount, now_us);
            match target {
                Some(Place::Word { word, .. }) => self.state.words[word as usize] = color,
                Some(Place::Bits { span, .. }) if span.bits <= 64 => {
                    set_bits(&mut self.state.bytes, span, color);
                }
                _ => {}
            }
        }
        let selector = match &row.bound {
            Bound::Call(call) => {
                load_params(self.program, self.state, call);
                return Some(call.action);
            }
            Bound::Member(_) => None,
            Bound::Group(_) | Bound::OneShot(..) => {
                info.profile_index.and_then(|profile| self.program.profiles[profile].selector)
            }
        };
        let hash = selector.map_or(0, |calculation| self.calculate(calculation));
        let row = self.tables.tables[number as usize].rows[row_number as usize].as_ref()?;
        let profile = &self.tables.profiles[info.profile_index?];
        let call = match &row.bound {
            Bound::Call(call) => call,
            Bound::Member(member) => profile.member(*member)?,
            Bound::Group(group) => profile.select(*group, hash)?,
            Bound::OneShot(calls, weights) => calls.get(weights.select(hash)?)?,
        };
        load_params(self.program, self.state, call);
        Some(call.action)
    }
}

fn load_params(program: &crate::Program, state: &mut crate::state::State, call: &Call) {
    let word = program.param_word as usize;
    state.words[word..word + call.words.len()].copy_from_slice(&call.words);
    let byte = program.param_byte as usize;
    state.bytes[byte..byte + call.bytes.len()].copy_from_slice(&call.bytes);
}
