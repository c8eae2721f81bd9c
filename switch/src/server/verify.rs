//! Checks of a pipeline configuration: the device configuration compiles, and the P4Info describes the same
//! program.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use inart_p4runtime::Schema;
use inart_p4runtime::p4::config::v1::match_field::MatchType;
use inart_p4runtime::p4::config::v1::p4_new_type_spec::Representation;
use inart_p4runtime::p4::config::v1::p4_new_type_translation::SdnType;
use inart_p4runtime::p4::config::v1::{Action, MatchField, P4Info, P4NewTypeSpec, Table};
use inart_p4runtime::p4::v1::ForwardingPipelineConfig;
use prost::Message;
use tonic::Status;

use super::check::invalid;
use super::compiling::refused;
use super::pipe_names::without_pipe;
use crate::{ActionInfo, KeyInfo, MatchKind, Program, TableInfo};

/// A configuration that the switch can run.
pub(super) struct Verified {
    pub schema: Schema,
    pub program: Arc<Program>,
    pub config: ForwardingPipelineConfig,
}

/// The wrapper in which older clients send bmv2's JSON (`p4.tmp.P4DeviceConfig`).
#[derive(Clone, PartialEq, Message)]
struct P4DeviceConfig {
    #[prost(bytes = "vec", tag = "3")]
    device_data: Vec<u8>,
}

impl Verified {
    /// Checks a configuration; gives up soon after `stop` becomes true.
    pub fn new(config: ForwardingPipelineConfig, stop: &AtomicBool) -> Result<Self, Status> {
        let mut info = config.p4info.clone().ok_or_else(|| invalid("the config has no p4info"))?;
        let mut program = Program::compile_until(&json(&config.p4_device_config)?, stop)
            .map_err(|error| refused(&error, "p4_device_config", ""))?;
        // bmv2's JSON does not mark the entries that may change; P4Info does.
        program.set_const(|name| {
            info.tables.iter().any(|table| table.is_const_table && table.full_name() == name)
        });
        refuse_strings(&info)?;
        without_pipe(&mut info, &program);
        let schema = Schema::new(info).map_err(|error| invalid(error.to_string()))?;
        agree(&schema, &program).map_err(|difference| {
            invalid(format!(
                "p4info and p4_device_config are not of the same program: {difference}; send both as one run of p4c \
                 printed them"
            ))
        })?;
        Ok(Self { schema, program: Arc::new(program), config })
    }
}

/// Values of a type that controllers see as strings: this switch has no table of them.
fn refuse_strings(info: &P4Info) -> Result<(), Status> {
    let types = info.type_info.iter().flat_map(|types| &types.new_types);
    let is_string = |kind: &P4NewTypeSpec| match &kind.representation {
        Some(Representation::TranslatedType(translated)) => {
            matches!(translated.sdn_type, Some(SdnType::SdnString(_)))
        }
        _ => false,
    };
    match types.into_iter().find(|(_, kind)| is_string(kind)) {
        Some((name, _)) => Err(Status::unimplemented(format!(
            "p4info: type {name} is translated to a string, which this switch does not do: give it a bit width"
        ))),
        None => Ok(()),
    }
}

fn json(config: &[u8]) -> Result<Vec<u8>, Status> {
    if config.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') {
        return Ok(config.to_vec());
    }
    match P4DeviceConfig::decode(config) {
        Ok(wrapped) if !wrapped.device_data.is_empty() => Ok(wrapped.device_data),
        _ => Err(invalid(
            "p4_device_config is neither the JSON that p4c generates for bmv2 nor its intermediate form of a TNA program",
        )),
    }
}

/// Checks that the program has the names of P4Info, in the same shape. A name that only the program has is
/// the compiler's.
fn agree(schema: &Schema, program: &Program) -> Result<(), String> {
    let info = schema.info();
    for action in &info.actions {
        let found = program.actions().iter().find(|found| found.name == action.full_name());
        // p4c leaves out of the device's program an action that no table runs.
        found.map_or(Ok(()), |found| same_action(action, found))?;
    }
    for table in &info.tables {
        match program.table(table.full_name()) {
            Some(found) => same_table(schema, program, table, found)?,
            // p4c leaves out of the device's program a table that no packet reaches. If that has a table
            // unknown to P4Info as well, the two are of different programs.
            None if program.tables().iter().any(|found| is_strange(schema, found)) => {
                return Err(missing("table", table.full_name()));
            }
            None => {}
        }
    }
    for profile in &info.action_profiles {
        let found = program.profiles.iter().any(|found| found.name == profile.full_name());
        found.then_some(()).ok_or_else(|| missing("action profile", profile.full_name()))?;
    }
    for counter in &info.counters {
        let found = program.counters.iter().find(|found| found.name == counter.full_name());
        same_size("counter", counter.full_name(), counter.size, found.map(|found| found.size))?;
    }
    for meter in &info.meters {
        let found = program.meters.iter().find(|found| found.name == meter.full_name());
        same_size("meter", meter.full_name(), meter.size, found.map(|found| found.size))?;
    }
    for register in &info.registers {
        let name = register.full_name();
        let arrays = program.register_arrays(name);
        if arrays.is_empty() {
            return Err(missing("register", name));
        }
        for array in arrays {
            same_size("register", name, register.size.into(), Some(array.size))?;
        }
    }
    for set in &info.value_sets {
        let found = program.value_sets.iter().any(|found| found.name == set.full_name());
        found.then_some(()).ok_or_else(|| missing("value set", set.full_name()))?;
    }
    for digest in &info.digests {
        let found = program.digests.values().any(|found| found.name == digest.full_name());
        found.then_some(()).ok_or_else(|| missing("digest", digest.full_name()))?;
    }
    Ok(())
}

/// Returns whether a table is neither in P4Info nor one that p4c generates for code outside tables.
fn is_strange(schema: &Schema, found: &TableInfo) -> bool {
    !found.name.starts_with("tbl_") && schema.table(&found.name).is_err()
}

fn missing(what: &str, name: &str) -> String {
    format!("p4_device_config has no {what} {name}")
}

fn same_size(what: &str, name: &str, size: i64, found: Option<usize>) -> Result<(), String> {
    match found {
        None => Err(missing(what, name)),
        Some(found) if i64::try_from(found) != Ok(size) => {
            Err(format!("{what} {name} has size {size} and {found}"))
        }
        Some(_) => Ok(()),
    }
}

fn same_action(action: &Action, found: &ActionInfo) -> Result<(), String> {
    let name = action.full_name();
    if action.params.len() != found.params.len() {
        return Err(format!(
            "action {name} has {} and {} parameters",
            action.params.len(),
            found.params.len()
        ));
    }
    for (param, found) in action.params.iter().zip(&found.params) {
        if param.name != found.name || (param.type_name.is_none() && param.bitwidth as u32 != found.bits) {
            return Err(format!(
                "action {name} has a parameter {} of {} bits and {} of {}",
                param.name, param.bitwidth, found.name, found.bits
            ));
        }
    }
    Ok(())
}

fn same_table(schema: &Schema, program: &Program, table: &Table, found: &TableInfo) -> Result<(), String> {
    let name = table.full_name();
    if table.match_fields.len() != found.keys.len() {
        return Err(format!(
            "table {name} has {} and {} key fields",
            table.match_fields.len(),
            found.keys.len()
        ));
    }
    for (field, key) in table.match_fields.iter().zip(&found.keys) {
        if !same_key(field, key) {
            return Err(format!(
                "table {name} has a key field {} of {} bits and {} of {}, or they are matched differently",
                field.name, field.bitwidth, key.name, key.bits
            ));
        }
    }
    for action in &table.action_refs {
        let action = schema.action_by_id(action.id).map_err(|error| error.to_string())?;
        if !found.actions.iter().any(|&at| program.actions()[at].name == action.full_name()) {
            return Err(format!("table {name} of p4_device_config has no action {}", action.full_name()));
        }
    }
    for &id in &table.direct_resource_ids {
        let (counter, meter) =
            (schema.direct_counter_by_id(id).is_ok(), schema.direct_meter_by_id(id).is_ok());
        if (counter && !found.direct_counter) || (meter && !found.direct_meter) {
            return Err(format!("table {name} of p4_device_config lacks a direct counter or meter"));
        }
    }
    Ok(())
}

fn same_key(field: &MatchField, key: &KeyInfo) -> bool {
    let kind = match field.kind() {
        Some(MatchType::Exact) => MatchKind::Exact,
        Some(MatchType::Lpm) => MatchKind::Lpm,
        Some(MatchType::Ternary) => MatchKind::Ternary,
        Some(MatchType::Range) => MatchKind::Range,
        // p4c writes optional fields as ternary ones.
        Some(MatchType::Optional) if key.kind == MatchKind::Ternary => MatchKind::Ternary,
        Some(MatchType::Optional) => MatchKind::Optional,
        _ => return false,
    };
    // P4Info gives no width to an error, nor one of the device's to a type that it translates.
    kind == key.kind
        && (field.bitwidth == 0 || field.type_name.is_some() || field.bitwidth as u32 == key.bits)
}
