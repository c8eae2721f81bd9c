//! Bytes that arrays take.

use super::meter::MeterCell;
use crate::control::CounterValue;
use crate::program::Program;

/// Bytes of all arrays of one program.
pub(crate) const MAX_ARRAY_BYTES: u64 = 1 << 29;

/// Entries of all tables together.
pub(crate) const MAX_ENTRIES: usize = 1 << 20;

/// Bytes of a cell.
pub(crate) const COUNTER_BYTES: u64 = size_of::<CounterValue>() as u64;
pub(crate) const METER_BYTES: u64 = size_of::<MeterCell>() as u64;

/// Bytes of a register's cell.
pub(crate) fn register_bytes(bits: u32) -> u64 {
    match bits {
        0..=32 => 4,
        33..=64 => 8,
        bits => bits.div_ceil(8).into(),
    }
}

/// Bytes of all arrays of a program.
pub(crate) fn array_bytes(program: &Program) -> u64 {
    let counters = program.counters.iter().map(|info| info.size as u64 * COUNTER_BYTES);
    let meters = program.meters.iter().map(|info| info.size as u64 * METER_BYTES);
    let registers = program.registers.iter().map(|info| info.size as u64 * register_bytes(info.bits));
    counters.chain(meters).chain(registers).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the sizes that `docs/reference/connection-limits.md` documents.
    #[test]
    fn cells_have_these_sizes() {
        assert_eq!((METER_BYTES, COUNTER_BYTES), (112, 16));
        assert_eq!([1, 32, 33, 64, 65].map(register_bytes), [4, 4, 8, 8, 9]);
    }
}
