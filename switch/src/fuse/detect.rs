//! Finds stretches that repeat with a constant step in every operand.

use crate::op::{Op, Slice};

/// Fewest lanes worth fusing.
const MIN_LANES: usize = 8;
/// Longest lane looked for, in operations.
const MAX_LENGTH: usize = 96;

/// A repeating stretch.
#[derive(Debug, Clone)]
pub(super) struct Period {
    /// Operations of one lane.
    pub length: usize,
    pub lanes: usize,
    /// For each operation of a lane, the step of each of its operands from lane to lane.
    pub steps: Vec<Operands>,
}

/// Operands in the order of the operation's fields; unused ones are zero.
pub(super) type Operands = [i64; 4];

/// Returns whether an operation can be part of a lane.
pub(super) fn fusible(op: &Op) -> bool {
    matches!(
        op,
        Op::Un { .. }
            | Op::Bin { .. }
            | Op::Select { .. }
            | Op::Load { .. }
            | Op::LoadSigned { .. }
            | Op::Store { .. }
            | Op::RegRead { .. }
            | Op::RegWrite { .. }
    )
}

/// Returns the operation without its operands, and the operands.
fn split(op: Op) -> (Op, Operands) {
    let slice = |slice: Slice| (Slice { byte: 0, ..slice }, i64::from(slice.byte));
    let list = |operands: [u32; 4]| operands.map(i64::from);
    match op {
        Op::Un { op, d, a } => (Op::Un { op, d: 0, a: 0 }, list([d, a, 0, 0])),
        Op::Bin { op, d, a, b } => (Op::Bin { op, d: 0, a: 0, b: 0 }, list([d, a, b, 0])),
        Op::Select { d, c, a, b } => (Op::Select { d: 0, c: 0, a: 0, b: 0 }, list([d, c, a, b])),
        Op::Load { d, from } => {
            let (from, byte) = slice(from);
            (Op::Load { d: 0, from }, [d.into(), byte, 0, 0])
        }
        Op::LoadSigned { d, from } => {
            let (from, byte) = slice(from);
            (Op::LoadSigned { d: 0, from }, [d.into(), byte, 0, 0])
        }
        Op::Store { to, a } => {
            let (to, byte) = slice(to);
            (Op::Store { to, a: 0 }, [a.into(), byte, 0, 0])
        }
        Op::RegRead { d, reg, i } => (Op::RegRead { d: 0, reg: 0, i: 0 }, list([d, reg, i, 0])),
        Op::RegWrite { reg, i, a } => (Op::RegWrite { reg: 0, i: 0, a: 0 }, list([a, reg, i, 0])),
        other => (other, [0; 4]),
    }
}

fn step(from: Op, to: Op) -> Option<Operands> {
    let ((shape, a), (other, b)) = (split(from), split(to));
    (shape == other && fusible(&from)).then(|| std::array::from_fn(|n| b[n] - a[n]))
}

/// Returns the periods of the code's repetitions from its start on, the longest stretch first.
pub(super) fn periods(code: &[Op]) -> Vec<Period> {
    let mut found: Vec<Period> = (1..=MAX_LENGTH.min(code.len() / MIN_LANES))
        .filter_map(|length| {
            let steps = (0..length).map(|k| step(code[k], code[k + length])).collect::<Option<Vec<_>>>()?;
            let same = |at: usize| step(code[at], code[at + length]) == Some(steps[at % length]);
            let matching = (0..code.len() - length).take_while(|&at| same(at)).count();
            let lanes = matching / length + 1;
            (lanes >= MIN_LANES).then_some(Period { length, lanes, steps })
        })
        .collect();
    found.sort_by_key(|period| {
        std::cmp::Reverse((period.length * period.lanes, std::cmp::Reverse(period.length)))
    });
    found
}
