//! Checks of a configuration: the binary compiles, and its `bf-rt.json` matches the program.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inart_bfruntime::bfrt_proto::ForwardingPipelineConfig;
use inart_bfruntime::{DataType, Info, KeyField, MatchType, Table, TableKind};
use tonic::Status;

use super::config::DEVICE_INFO;
use super::status::invalid;
use super::tables::{Kind, kind, same};
use crate::server::compiling::refused;
use crate::{KeyInfo, MatchKind, Program, TableInfo};

/// A configuration that the switch can run.
pub(super) struct Verified {
    /// The program's tables and the device's own.
    pub info: Info,
    pub program: Arc<Program>,
    pub config: ForwardingPipelineConfig,
}

impl Verified {
    /// Checks a configuration; gives up soon after `stop` becomes true.
    pub fn new(config: ForwardingPipelineConfig, stop: &AtomicBool) -> Result<Self, Status> {
        let wrong = |error: inart_bfruntime::InfoError| invalid(format!("bfruntime_info: {error}"));
        if config.p4_name.is_empty() {
            return Err(invalid("the config has no p4_name"));
        }
        let own = Info::from_json(&config.bfruntime_info).map_err(wrong)?;
        let [profile] = config.profiles.as_slice() else {
            let many = config.profiles.len();
            return Err(invalid(format!(
                "the config has {many} profiles: this switch runs one program in all its pipes, send one profile"
            )));
        };
        let hint = "; this switch runs what p4c generates for it, not a tofino.bin";
        let program = Program::compile_until(&profile.binary, stop);
        let program = program.map_err(|error| refused(&error, "binary", hint))?;
        agree(&own, &program).map_err(|difference| {
            invalid(format!(
                "bfruntime_info and binary are not of the same program: {difference}; send both as one run of p4c \
                 printed them"
            ))
        })?;
        let device = Info::from_json(DEVICE_INFO).map_err(wrong)?;
        let info = own.with(&device).map_err(wrong)?;
        Ok(Self { info, program: Arc::new(program), config })
    }
}

/// Checks that the program has the names of `bf-rt.json`, in the same shape.
fn agree(info: &Info, program: &Program) -> Result<(), String> {
    for table in info.tables() {
        let missing = || Err(format!("the binary has no table {}", table.name));
        match (&table.kind, kind(table, program)) {
            (TableKind::Match, Kind::Match(name)) => match program.table(name) {
                Some(found) => same_table(table, found, program)?,
                None => return missing(),
            },
            (TableKind::Counter, Kind::Counter(name)) => {
                let found = program.counters.iter().find(|found| found.name == name);
                same_size(table, found.map(|found| found.size))?;
            }
            (TableKind::Register, Kind::Registers(names)) => same_registers(table, &names, program)?,
            (TableKind::Match | TableKind::Counter | TableKind::Register, _) => return missing(),
            // The server rejects its entries when they arrive.
            (TableKind::Other(_), _) => {}
        }
    }
    Ok(())
}

fn same_size(table: &Table, found: Option<usize>) -> Result<(), String> {
    match found {
        Some(found) if found == table.size => Ok(()),
        found => Err(format!("{} has {} cells and {}", table.name, table.size, found.unwrap_or(0))),
    }
}

/// Returns whether one array has the bits of all fields, or there is one of each field.
fn same_registers(table: &Table, names: &[&str], program: &Program) -> Result<(), String> {
    let bits: Vec<u32> = table.data.iter().filter_map(|field| field.kind.bits()).collect();
    let bits = if names.len() == 1 { vec![bits.iter().sum()] } else { bits };
    for (name, bits) in names.iter().zip(bits) {
        let found = program.registers.iter().find(|found| found.name == *name);
        same_size(table, found.map(|found| found.size))?;
        if found.is_some_and(|found| found.bits != bits) {
            return Err(format!("the cells of {} have other widths", table.name));
        }
    }
    Ok(())
}

fn same_table(table: &Table, found: &TableInfo, program: &Program) -> Result<(), String> {
    let name = &table.name;
    let key: Vec<_> = table.key.iter().filter(|field| field.name != "$MATCH_PRIORITY").collect();
    if key.len() != found.keys.len() {
        return Err(format!("table {name} has {} and {} key fields", key.len(), found.keys.len()));
    }
    for (field, key) in key.iter().zip(&found.keys) {
        if !same_key(field, key) {
            return Err(format!(
                "table {name} has a key field {} and {} of {} bits, or they are matched differently",
                field.name, key.name, key.bits
            ));
        }
        if key.bits > u128::BITS {
            return Err(format!("table {name}, key field {}: more than 128 bits are not served", field.name));
        }
    }
    if found.profile.is_some() {
        return Err(format!("table {name} has an action profile, which is not served over BFRuntime"));
    }
    for action in &table.actions {
        let all = found.actions.iter().map(|&at| program.actions()[at].name.as_str());
        let Some(full) = same(all, &action.name) else {
            return Err(format!("table {name} of the binary has no action {}", action.name));
        };
        let declared = program.actions().iter().find(|info| info.name == full);
        let params = declared.map(|info| info.params.as_slice()).unwrap_or_default();
        let equal = params.len() == action.params.len()
            && params.iter().zip(&action.params).all(|(param, field)| {
                param.name == field.name && field.kind.bits() == Some(param.bits) && param.bits <= u128::BITS
            });
        if !equal {
            return Err(format!("action {} of table {name} has other parameters", action.name));
        }
    }
    let counted = table.data.iter().any(|field| field.name.starts_with("$COUNTER_SPEC"));
    match counted && !found.direct_counter {
        true => Err(format!("table {name} of the binary has no direct counter")),
        false => Ok(()),
    }
}

fn same_key(field: &KeyField, key: &KeyInfo) -> bool {
    let kind = match field.match_type {
        MatchType::Exact => MatchKind::Exact,
        MatchType::Lpm => MatchKind::Lpm,
        MatchType::Ternary => MatchKind::Ternary,
        MatchType::Range => MatchKind::Range,
        // p4c writes optional fields as ternary ones.
        MatchType::Optional if key.kind == MatchKind::Ternary => MatchKind::Ternary,
        MatchType::Optional => MatchKind::Optional,
        MatchType::Other => return false,
    };
    kind == key.kind && field.kind == DataType::Bits(key.bits)
}
