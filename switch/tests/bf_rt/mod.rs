//! The `bf-rt.json` of a v1model program: p4c writes one only for Tofino, so this applies its rules (names,
//! numbers and types as its `control-plane/bfruntime.cpp` has them) to the P4Info.
#![allow(dead_code)]

use inart_p4runtime::Schema;
use inart_p4runtime::p4::config::v1::action_ref::Scope;
use inart_p4runtime::p4::config::v1::match_field::MatchType;
use inart_p4runtime::p4::config::v1::{Action, Counter, MatchField, Table, counter_spec};
use serde_json::{Value, json};

/// Numbers of the fields that p4c adds; the program's own are small.
const PRIORITY: u32 = 65537;
const COUNTER_BYTES: u32 = 65553;
const COUNTER_PACKETS: u32 = 65554;
const COUNTER_INDEX: u32 = 65556;
const REGISTER_INDEX: u32 = 65557;

/// Tables are called after their pipe.
fn piped(name: &str) -> String {
    format!("pipe.{name}")
}

fn bytes(width: i32) -> Value {
    json!({"type": "bytes", "width": width})
}

fn singleton(id: u32, name: &str, kind: &Value) -> Value {
    let field = json!({"id": id, "name": name, "repeated": false, "annotations": [], "type": kind});
    json!({"mandatory": false, "read_only": false, "singleton": field})
}

fn index(id: u32, name: &str) -> Value {
    json!([{
        "id": id, "name": name, "repeated": false, "annotations": [], "mandatory": true,
        "match_type": "Exact", "type": {"type": "uint32"}
    }])
}

fn counted() -> Vec<Value> {
    let number = json!({"type": "uint64", "default_value": 0});
    vec![
        singleton(COUNTER_BYTES, "$COUNTER_SPEC_BYTES", &number),
        singleton(COUNTER_PACKETS, "$COUNTER_SPEC_PKTS", &number),
    ]
}

fn key(field: &MatchField) -> Value {
    let kind = match field.kind() {
        Some(MatchType::Exact) => "Exact",
        Some(MatchType::Lpm) => "LPM",
        Some(MatchType::Ternary) => "Ternary",
        Some(MatchType::Range) => "Range",
        Some(MatchType::Optional) => "Optional",
        _ => "Other",
    };
    json!({
        "id": field.id, "name": field.name, "repeated": false, "annotations": [], "mandatory": false,
        "match_type": kind, "type": bytes(field.bitwidth)
    })
}

fn action(action: &Action, scope: Scope) -> Value {
    let scope = match scope {
        Scope::TableAndDefault => "TableAndDefault",
        Scope::TableOnly => "TableOnly",
        Scope::DefaultOnly => "DefaultOnly",
    };
    let param = |param: &inart_p4runtime::p4::config::v1::action::Param| {
        json!({
            "id": param.id, "name": param.name, "repeated": false, "mandatory": true, "read_only": false,
            "annotations": [], "type": bytes(param.bitwidth)
        })
    };
    json!({
        "id": action.id(), "name": action.full_name(), "action_scope": scope, "annotations": [],
        "data": action.params.iter().map(param).collect::<Vec<_>>()
    })
}

fn table(schema: &Schema, table: &Table) -> Value {
    let mut fields: Vec<_> = table.match_fields.iter().map(key).collect();
    if table.has_priority() {
        fields.push(json!({
            "id": PRIORITY, "name": "$MATCH_PRIORITY", "repeated": false, "annotations": [], "mandatory": false,
            "match_type": "Exact", "type": {"type": "uint32"}
        }));
    }
    let counts = table.direct_resource_ids.iter().any(|&id| schema.direct_counter_by_id(id).is_ok());
    let actions = table.action_refs.iter().map(|reference| {
        action(schema.action_by_id(reference.id).expect("P4Info has it"), reference.scope())
    });
    json!({
        "name": piped(table.full_name()),
        "id": table.id(),
        "table_type": if table.implementation_id == 0 { "MatchAction_Direct" } else { "MatchAction_Indirect_Selector" },
        "size": table.size,
        "annotations": [], "depends_on": [],
        "has_const_default_action": table.const_default_action_id != 0,
        "key": fields,
        "action_specs": actions.collect::<Vec<_>>(),
        "data": if counts { counted() } else { Vec::new() },
        "supported_operations": if counts { vec!["SyncCounters"] } else { Vec::new() },
        "attributes": if table.is_const_table { vec!["EntryScope", "ConstTable"] } else { vec!["EntryScope"] },
    })
}

fn counter(counter: &Counter) -> Value {
    let unit = counter.spec.as_ref().map(|spec| spec.unit());
    assert_eq!(unit, Some(counter_spec::Unit::Both), "the only one here");
    json!({
        "name": piped(counter.full_name()), "id": counter.id(), "table_type": "Counter", "size": counter.size,
        "depends_on": [], "key": index(COUNTER_INDEX, "$COUNTER_INDEX"), "data": counted(),
        "supported_operations": ["Sync"], "attributes": []
    })
}

fn register(name: &str, id: u32, size: i32, bits: i32) -> Value {
    json!({
        "name": piped(name), "id": id, "table_type": "Register", "size": size, "depends_on": [],
        "key": index(REGISTER_INDEX, "$REGISTER_INDEX"),
        "data": [singleton(1, &format!("{name}.f1"), &bytes(bits))], "supported_operations": ["Sync"],
        "attributes": []
    })
}

fn document(tables: &[Value]) -> String {
    json!({"schema_version": "1.0.0", "tables": tables, "learn_filters": []}).to_string()
}

/// Returns the `bf-rt.json` that p4c would generate for the program.
pub fn bf_rt(schema: &Schema) -> String {
    let info = schema.info();
    let tables = info.tables.iter().map(|found| table(schema, found));
    let registers = info.registers.iter().map(|found| {
        let bits = found.type_spec.as_ref().and_then(width).expect("registers here hold bits");
        register(found.full_name(), found.id(), found.size, bits)
    });
    document(&tables.chain(info.counters.iter().map(counter)).chain(registers).collect::<Vec<_>>())
}

fn width(kind: &inart_p4runtime::p4::config::v1::P4DataTypeSpec) -> Option<i32> {
    use inart_p4runtime::p4::config::v1::{p4_bitstring_like_type_spec::TypeSpec, p4_data_type_spec};
    match kind.type_spec.as_ref()? {
        p4_data_type_spec::TypeSpec::Bitstring(bits) => match bits.type_spec.as_ref()? {
            TypeSpec::Bit(bit) => Some(bit.bitwidth),
            TypeSpec::Int(int) => Some(int.bitwidth),
            TypeSpec::Varbit(_) => None,
        },
        _ => None,
    }
}
