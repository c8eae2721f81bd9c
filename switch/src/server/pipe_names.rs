//! Names of a P4Info for Tofino: p4c's back end puts the name of the pipe before those of tables and externs.

use inart_p4runtime::p4::config::v1::{P4Info, Preamble};
use rustc_hash::FxHashSet;

use crate::{Architecture, Program};

/// Takes the pipe out of the names of a TNA program, where the switch knows them without.
pub(super) fn without_pipe(info: &mut P4Info, program: &Program) {
    if program.architecture() != Architecture::Tna {
        return;
    }
    let known = names(program);
    let preambles = info
        .tables
        .iter_mut()
        .map(|table| &mut table.preamble)
        .chain(info.actions.iter_mut().map(|action| &mut action.preamble))
        .chain(info.action_profiles.iter_mut().map(|profile| &mut profile.preamble))
        .chain(info.counters.iter_mut().map(|counter| &mut counter.preamble))
        .chain(info.meters.iter_mut().map(|meter| &mut meter.preamble))
        .chain(info.registers.iter_mut().map(|register| &mut register.preamble))
        .chain(info.value_sets.iter_mut().map(|set| &mut set.preamble))
        .chain(info.digests.iter_mut().map(|digest| &mut digest.preamble));
    for preamble in preambles.flatten() {
        shorten(preamble, &known);
    }
}

fn shorten(preamble: &mut Preamble, known: &FxHashSet<&str>) {
    let rest = preamble.name.split_once('.').map(|(_, rest)| rest);
    if let Some(rest) = rest.filter(|rest| !known.contains(preamble.name.as_str()) && known.contains(rest)) {
        preamble.name = rest.to_owned();
    }
}

fn names(program: &Program) -> FxHashSet<&str> {
    let mut names = FxHashSet::default();
    names.extend(program.tables.iter().map(|table| table.name.as_str()));
    names.extend(program.actions.iter().map(|action| action.name.as_str()));
    names.extend(program.profiles.iter().map(|profile| profile.name.as_str()));
    names.extend(program.counters.iter().map(|counter| counter.name.as_str()));
    names.extend(program.meters.iter().map(|meter| meter.name.as_str()));
    names.extend(program.value_sets.iter().map(|set| set.name.as_str()));
    names.extend(program.digests.values().map(|digest| digest.name.as_str()));
    for register in &program.registers {
        names.insert(&register.name);
        // Of a struct: each field has an array.
        names.extend(register.name.rsplit_once('.').map(|(whole, _)| whole));
    }
    names
}
