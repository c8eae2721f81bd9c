//! Register arrays. Arrays of one shape are interleaved: cell `i` of all of them is contiguous.

use crate::program::{Program, RegisterGroup};

/// All register arrays of a program.
#[derive(Debug)]
pub(crate) struct Registers {
    pub groups: Vec<Cells>,
}

/// Cells of a group, lane after lane within an index.
#[derive(Debug)]
pub(crate) enum Cells {
    /// Up to 32 bits.
    Narrow { lanes: usize, cells: Vec<u32> },
    /// Up to 64 bits.
    Word { lanes: usize, cells: Vec<u64> },
    /// Wider: big-endian bytes.
    Wide { lanes: usize, bytes: usize, cells: Vec<u8> },
}

impl Cells {
    fn new(group: &RegisterGroup) -> Cells {
        let (lanes, count) = (group.lanes, group.lanes * group.size);
        match group.bits {
            0..=32 => Cells::Narrow { lanes, cells: vec![0; count] },
            33..=64 => Cells::Word { lanes, cells: vec![0; count] },
            bits => {
                let bytes = bits.div_ceil(8) as usize;
                Cells::Wide { lanes, bytes, cells: vec![0; count * bytes] }
            }
        }
    }
}

impl Registers {
    pub fn new(program: &Program) -> Registers {
        let mut registers = Registers { groups: program.register_groups.iter().map(Cells::new).collect() };
        for info in program.registers.iter().filter(|info| info.initial != 0) {
            for index in 0..info.size as u64 {
                registers.set(info.group, info.lane, index, info.initial);
            }
        }
        registers
    }

    /// Returns a cell of up to 64 bits; `None` past the end.
    #[inline]
    pub fn get(&self, group: u32, lane: u32, index: u64) -> Option<u64> {
        let at = |lanes: usize| usize::try_from(index).ok()?.checked_mul(lanes)?.checked_add(lane as usize);
        match &self.groups[group as usize] {
            Cells::Narrow { lanes, cells } => cells.get(at(*lanes)?).map(|&cell| u64::from(cell)),
            Cells::Word { lanes, cells } => cells.get(at(*lanes)?).copied(),
            Cells::Wide { .. } => None,
        }
    }

    /// Sets a cell of up to 64 bits; past the end nothing happens. The value is within the width.
    #[inline]
    pub fn set(&mut self, group: u32, lane: u32, index: u64, value: u64) {
        let at = |lanes: usize| usize::try_from(index).ok()?.checked_mul(lanes)?.checked_add(lane as usize);
        match &mut self.groups[group as usize] {
            Cells::Narrow { lanes, cells } => {
                if let Some(cell) = at(*lanes).and_then(|at| cells.get_mut(at)) {
                    *cell = value as u32;
                }
            }
            Cells::Word { lanes, cells } => {
                if let Some(cell) = at(*lanes).and_then(|at| cells.get_mut(at)) {
                    *cell = value;
                }
            }
            Cells::Wide { .. } => {}
        }
    }

    /// Returns a cell wider than 64 bits, big endian.
    pub fn wide(&mut self, group: u32, lane: u32, index: u64) -> Option<&mut [u8]> {
        match &mut self.groups[group as usize] {
            Cells::Wide { lanes, bytes, cells } => {
                let at = usize::try_from(index).ok()?.checked_mul(*lanes)?.checked_add(lane as usize)?;
                let start = at.checked_mul(*bytes)?;
                cells.get_mut(start..start.checked_add(*bytes)?)
            }
            _ => None,
        }
    }
}
