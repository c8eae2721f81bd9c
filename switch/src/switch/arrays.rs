//! Control of counters, meters, registers and value sets.

use std::ops::Range;

use super::Switch;
use crate::control::{ControlError, CounterValue, MeterConfig, Result};
use crate::program::Program;
use crate::value::{to_bytes, to_words};

fn find<'p, T>(
    items: &'p [T],
    name: impl Fn(&T) -> &str,
    wanted: &str,
    kind: &str,
) -> Result<(usize, &'p T)> {
    let found = items.iter().enumerate().find(|(_, item)| name(item) == wanted);
    found.ok_or_else(|| ControlError::NotFound(format!("the program has no {kind} {wanted}")))
}

fn past_end(kind: &str, name: &str, index: usize, size: usize) -> ControlError {
    ControlError::OutOfRange(format!("{kind} {name} has {size} cells, there is no cell {index}"))
}

fn register_cell(program: &Program, name: &str, index: usize) -> Result<(u32, u32, u32)> {
    let (_, info) = find(&program.registers, |info| &info.name, name, "register")?;
    if index >= info.size {
        return Err(past_end("register", name, index, info.size));
    }
    Ok((info.group, info.lane, info.bits))
}

impl Switch {
    /// Returns all cells of a counter array.
    ///
    /// # Errors
    /// If no program is loaded, or it has no such counter array.
    pub fn counters(&self, name: &str) -> Result<&[CounterValue]> {
        let loaded = self.loaded()?;
        let (index, _) = find(&loaded.program.counters, |info| &info.name, name, "counter")?;
        Ok(&loaded.tables.counters[index])
    }

    /// Sets one cell of a counter array.
    ///
    /// # Errors
    /// If no program is loaded, or it has no such counter array or cell.
    pub fn set_counter(&mut self, name: &str, cell: usize, value: CounterValue) -> Result<()> {
        self.set_counters(name, cell..cell.saturating_add(1), value)
    }

    /// Sets some cells of a counter array to one value.
    ///
    /// # Errors
    /// If no program is loaded, or it has no such counter array or cells.
    pub fn set_counters(&mut self, name: &str, cells: Range<usize>, value: CounterValue) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let (index, info) = find(&loaded.program.counters, |info| &info.name, name, "counter")?;
        match loaded.tables.counters[index].get_mut(cells.clone()) {
            Some(present) => {
                present.fill(value);
                Ok(())
            }
            None => Err(past_end("counter", name, cells.end.saturating_sub(1), info.size)),
        }
    }

    /// Configurations of all cells of a meter array.
    ///
    /// # Errors
    /// If no program is loaded, or it has no such meter array.
    pub fn meters(&self, name: &str) -> Result<impl Iterator<Item = Option<MeterConfig>> + '_> {
        let loaded = self.loaded()?;
        let (index, _) = find(&loaded.program.meters, |info| &info.name, name, "meter")?;
        Ok(loaded.tables.meters[index].iter().map(|cell| cell.config))
    }

    /// Configures one cell of a meter array; `None` takes the configuration away.
    ///
    /// # Errors
    /// If no program is loaded, or it has no such meter array or cell.
    pub fn set_meter(&mut self, name: &str, cell: usize, config: Option<MeterConfig>) -> Result<()> {
        self.set_meters(name, cell..cell.saturating_add(1), config)
    }

    /// Configures some cells of a meter array with the same rates; `None` removes the configuration.
    ///
    /// # Errors
    /// Returns an error if no program is loaded, or it has no such meter array or cells.
    pub fn set_meters(&mut self, name: &str, cells: Range<usize>, config: Option<MeterConfig>) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let (index, info) = find(&loaded.program.meters, |info| &info.name, name, "meter")?;
        match loaded.tables.meters[index].get_mut(cells.clone()) {
            Some(present) => {
                present.iter_mut().for_each(|cell| cell.configure(config));
                Ok(())
            }
            None => Err(past_end("meter", name, cells.end.saturating_sub(1), info.size)),
        }
    }

    /// Returns one cell of a register array, big endian, in its shortest form.
    ///
    /// # Errors
    /// If no program is loaded, or it has no such register array or cell.
    pub fn register(&mut self, name: &str, cell: usize) -> Result<Vec<u8>> {
        Ok(self.register_cells(name, cell..cell.saturating_add(1))?.remove(0))
    }

    /// Returns some cells of a register array, each big endian in its shortest form.
    ///
    /// # Errors
    /// If no program is loaded, or it has no such register array or cells.
    pub fn register_cells(&mut self, name: &str, cells: std::ops::Range<usize>) -> Result<Vec<Vec<u8>>> {
        let loaded = self.loaded_mut()?;
        let Some(last) = cells.end.checked_sub(1) else { return Ok(Vec::new()) };
        let (group, lane, bits) = register_cell(&loaded.program, name, last)?;
        let registers = &mut loaded.tables.registers;
        let value = |cell: usize| match registers.get(group, lane, cell as u64) {
            Some(word) => Ok(to_bytes(&[word])),
            None => {
                let bytes =
                    registers.wide(group, lane, cell as u64).map(|bytes| bytes.to_vec()).unwrap_or_default();
                Ok(to_bytes(&to_words(&bytes, bits, || format!("register {name}"))?))
            }
        };
        cells.map(value).collect()
    }

    /// Sets one cell of a register array.
    ///
    /// # Errors
    /// If no program is loaded, it has no such register array or cell, or the value is too wide.
    pub fn set_register(&mut self, name: &str, cell: usize, value: &[u8]) -> Result<()> {
        self.set_register_cells(name, cell..cell.saturating_add(1), value)
    }

    /// Sets some cells of a register array to one value.
    ///
    /// # Errors
    /// If no program is loaded, it has no such register array or cells, or the value is too wide.
    pub fn set_register_cells(
        &mut self,
        name: &str,
        cells: std::ops::Range<usize>,
        value: &[u8],
    ) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let Some(last) = cells.end.checked_sub(1) else { return Ok(()) };
        let (group, lane, bits) = register_cell(&loaded.program, name, last)?;
        let words = to_words(value, bits, || format!("register {name}"))?;
        let whole: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let registers = &mut loaded.tables.registers;
        for cell in cells {
            if bits <= 64 {
                registers.set(group, lane, cell as u64, words.first().copied().unwrap_or(0));
            } else if let Some(bytes) = registers.wide(group, lane, cell as u64) {
                bytes.copy_from_slice(&whole[whole.len() - bytes.len()..]);
            }
        }
        Ok(())
    }

    /// Replaces the members of a parser value set; each gives one value per key field, in order.
    ///
    /// # Errors
    /// If no program is loaded, it has no such value set, or members are too many or do not fit its fields.
    pub fn set_value_set(&mut self, name: &str, members: &[Vec<Vec<u8>>]) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let (index, info) = find(&loaded.program.value_sets, |info| &info.name, name, "value set")?;
        if members.len() > info.max_members {
            return Err(ControlError::ResourceExhausted(format!(
                "value set {name} holds {} members, {} are given",
                info.max_members,
                members.len()
            )));
        }
        let mut set = rustc_hash::FxHashSet::default();
        for member in members {
            if member.len() != info.widths.len() {
                return Err(ControlError::InvalidArgument(format!(
                    "value set {name}: a member has {} fields, {} are given",
                    info.widths.len(),
                    member.len()
                )));
            }
            let mut words = Vec::new();
            for (value, &bits) in member.iter().zip(&info.widths) {
                words.extend(to_words(value, bits, || format!("value set {name}"))?);
            }
            set.insert(words);
        }
        loaded.tables.value_sets[index] = set;
        Ok(())
    }
}
