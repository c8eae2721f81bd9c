//! Superword fusion: runs of isomorphic operations over consecutive fields and registers become
//! vector operations.
//!
//! p4c unrolls a loop over lanes into one stretch of code in which every p-th operation differs only
//! by a constant step in the fields and registers it names. [`detect`] finds such stretches, [`lane`]
//! proves that their lanes do not depend on each other (sums over lanes aside) and reduces one lane to
//! a graph of values, and `exec` computes that graph for many lanes at once. The scalar code is kept:
//! it runs when a register's index is out of range, which every operation may treat differently.

mod detect;
mod lane;

use rustc_hash::FxHashSet;

use crate::effort::Effort;
use crate::fused::Run;
use crate::op::{Op, Pc};
use crate::program::{Case, Next, Program};

/// Repeating stretches looked at in one stretch of straight code before it is left as it is.
const MAX_ATTEMPTS: usize = 256;

/// Fuses all stretches that can be fused.
pub(crate) fn fuse(program: &mut Program, effort: &Effort<'_>) {
    let entries = entries(program);
    let mut at = 0;
    let end = program.code.len();
    while at < end && effort.step() {
        let mut stop = at + 1;
        while stop < end && !entries.contains(&(stop as Pc)) && detect::fusible(&program.code[stop]) {
            stop += 1;
        }
        at = fuse_first(program, at, stop);
    }
}

/// Fuses the first run in a stretch of straight code; where to go on.
fn fuse_first(program: &mut Program, start: usize, stop: usize) -> usize {
    let mut attempts = 0;
    for at in start..stop {
        for period in detect::periods(&program.code[at..stop]) {
            attempts += 1;
            if attempts > MAX_ATTEMPTS {
                return stop;
            }
            let code = &program.code[at..at + period.length * period.lanes];
            let after = at + code.len();
            let Some(lane) = lane::build(program, code, &period, after) else { continue };
            let length = code.len();
            let fallback = program.code.len() as Pc;
            let scalar: Vec<Op> = code.to_vec();
            program.code.extend(scalar);
            program.code.push(Op::Return);
            program.runs.push(Run { lane, lanes: period.lanes, length, fallback });
            program.code[at] = Op::Run(program.runs.len() as u32 - 1);
            return at + length;
        }
    }
    stop
}

/// Returns every operation that something jumps to.
fn entries(program: &Program) -> FxHashSet<Pc> {
    let mut entries: FxHashSet<Pc> = [program.parser, program.ingress, program.egress].into_iter().collect();
    entries.extend(program.deparser_code);
    entries.extend(program.actions.iter().map(|action| action.pc));
    entries.extend(program.checksums.iter().filter_map(|checksum| checksum.condition).map(|(pc, _)| pc));
    for (at, op) in program.code.iter().enumerate() {
        match op {
            Op::Call { .. } | Op::Apply { .. } => _ = entries.insert(at as Pc + 1),
            op => entries.extend((*op).clone().target().copied()),
        }
    }
    for table in &program.tables {
        match &table.next {
            Next::Action(targets, otherwise) => {
                entries.extend(targets.iter().filter_map(|target| target.1));
                entries.extend(*otherwise);
            }
            Next::Hit { hit, miss } => entries.extend([*hit, *miss].into_iter().flatten()),
        }
    }
    for select in &program.selects {
        entries.extend(select.otherwise);
        for case in &select.cases {
            match case {
                Case::Value { to, .. } | Case::Set { to, .. } => entries.extend(*to),
            }
        }
    }
    entries
}
