//! Serde types that mirror the attributes of the bmv2 JSON format.

use serde::Deserialize;
use serde_json::Value;

/// `[instance, field]`.
pub type FieldName = (String, String);

/// The root object.
#[derive(Debug, Default, Deserialize)]
pub struct Document {
    #[serde(rename = "__meta__")]
    pub(crate) meta: Option<Meta>,
    pub(crate) header_types: Vec<HeaderType>,
    pub(crate) headers: Vec<Header>,
    #[serde(default)]
    pub(crate) header_stacks: Vec<Stack>,
    #[serde(default)]
    pub(crate) header_unions: Vec<Union>,
    #[serde(default)]
    pub(crate) header_union_stacks: Vec<UnionStack>,
    #[serde(default)]
    pub(crate) header_union_types: Vec<UnionType>,
    #[serde(default)]
    pub(crate) field_lists: Vec<FieldList>,
    #[serde(default)]
    pub(crate) errors: Vec<(String, u64)>,
    #[serde(default)]
    pub(crate) parsers: Vec<Parser>,
    #[serde(default)]
    pub(crate) parse_vsets: Vec<ValueSet>,
    #[serde(default)]
    pub(crate) deparsers: Vec<Deparser>,
    #[serde(default)]
    pub(crate) meter_arrays: Vec<MeterArray>,
    #[serde(default)]
    pub(crate) counter_arrays: Vec<CounterArray>,
    #[serde(default)]
    pub(crate) register_arrays: Vec<RegisterArray>,
    #[serde(default)]
    pub(crate) calculations: Vec<Calculation>,
    #[serde(default)]
    pub(crate) learn_lists: Vec<FieldList>,
    #[serde(default)]
    pub(crate) actions: Vec<Action>,
    #[serde(default)]
    pub(crate) pipelines: Vec<Pipeline>,
    #[serde(default)]
    pub(crate) checksums: Vec<Checksum>,
    #[serde(default)]
    pub(crate) field_aliases: Vec<(String, FieldName)>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Meta {
    pub version: Vec<u32>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HeaderType {
    pub name: String,
    pub fields: Vec<Vec<Value>>,
    /// Bytes; present when there is a variable-length field.
    pub max_length: Option<u32>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Header {
    pub name: String,
    pub id: u64,
    pub header_type: String,
    #[serde(default)]
    pub metadata: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Stack {
    pub name: String,
    pub header_ids: Vec<u64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct UnionType {
    pub name: String,
    pub headers: Vec<(String, String)>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Union {
    pub name: String,
    pub id: u64,
    pub union_type: String,
    pub header_ids: Vec<u64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct UnionStack {
    pub name: String,
    pub header_union_ids: Vec<u64>,
}

/// A named list of fields: for clone, resubmit and recirculate, or a digest.
#[derive(Debug, Deserialize)]
pub(crate) struct FieldList {
    pub name: String,
    pub id: u64,
    #[serde(default)]
    pub elements: Vec<Typed>,
}

/// The `type`/`value` object used all over the format.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Typed {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub value: Value,
    /// Bits; only for constants in calculations.
    pub bitwidth: Option<u32>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Parser {
    pub name: String,
    pub init_state: Option<String>,
    pub parse_states: Vec<ParseState>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ParseState {
    pub name: String,
    #[serde(default)]
    pub parser_ops: Vec<Primitive>,
    #[serde(default)]
    pub transition_key: Vec<Typed>,
    #[serde(default)]
    pub transitions: Vec<Transition>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Transition {
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub value: Option<String>,
    pub mask: Option<String>,
    pub next_state: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ValueSet {
    pub name: String,
    /// Bits.
    pub compressed_bitwidth: u32,
    #[serde(default)]
    pub max_size: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Deparser {
    pub name: String,
    pub order: Vec<String>,
    #[serde(default)]
    pub primitives: Vec<Primitive>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct MeterArray {
    pub name: String,
    #[serde(default)]
    pub is_direct: bool,
    #[serde(default)]
    pub rate_count: Option<u32>,
    #[serde(rename = "type")]
    pub unit: String,
    #[serde(default)]
    pub size: Option<usize>,
    pub result_target: Option<FieldName>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CounterArray {
    pub name: String,
    #[serde(default)]
    pub is_direct: bool,
    #[serde(default)]
    pub size: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RegisterArray {
    pub name: String,
    pub size: usize,
    /// Bits per cell.
    pub bitwidth: u32,
    /// Initial values of the cells; TNA's registers only.
    #[serde(default)]
    pub initial: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Calculation {
    pub name: String,
    pub algo: String,
    #[serde(default)]
    pub input: Vec<Typed>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Action {
    pub name: String,
    pub id: u64,
    #[serde(default)]
    pub runtime_data: Vec<RuntimeData>,
    #[serde(default)]
    pub primitives: Vec<Primitive>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RuntimeData {
    pub name: String,
    /// Bits.
    pub bitwidth: u32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Primitive {
    pub op: String,
    #[serde(default)]
    pub parameters: Vec<Value>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Pipeline {
    pub name: String,
    pub init_table: Option<String>,
    #[serde(default)]
    pub tables: Vec<Table>,
    #[serde(default)]
    pub action_profiles: Vec<ActionProfile>,
    #[serde(default)]
    pub conditionals: Vec<Conditional>,
    #[serde(default)]
    pub action_calls: Vec<ActionCall>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ActionProfile {
    pub name: String,
    #[serde(default)]
    pub max_size: usize,
    pub selector: Option<Selector>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Selector {
    pub algo: String,
    #[serde(default)]
    pub input: Vec<Typed>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Table {
    pub name: String,
    #[serde(default)]
    pub key: Vec<TableKey>,
    pub action_profile: Option<String>,
    #[serde(default)]
    pub max_size: usize,
    #[serde(default)]
    pub with_counters: bool,
    #[serde(default)]
    pub support_timeout: bool,
    pub direct_meters: Option<String>,
    #[serde(default)]
    pub action_ids: Vec<u64>,
    #[serde(default)]
    pub actions: Vec<String>,
    pub base_default_next: Option<String>,
    #[serde(default)]
    pub next_tables: std::collections::BTreeMap<String, Option<String>>,
    pub default_entry: Option<DefaultEntry>,
    #[serde(default)]
    pub entries: Option<Vec<ConstEntry>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TableKey {
    pub match_type: String,
    pub name: Option<String>,
    pub target: Value,
    pub mask: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DefaultEntry {
    pub action_id: u64,
    #[serde(default)]
    pub action_const: bool,
    #[serde(default)]
    pub action_data: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ConstEntry {
    pub match_key: Vec<ConstKey>,
    pub action_entry: DefaultEntry,
    /// Lower is better, as in bmv2.
    #[serde(default)]
    pub priority: i64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ConstKey {
    pub match_type: String,
    #[serde(default)]
    pub key: Value,
    pub prefix_length: Option<u32>,
    pub mask: Option<String>,
    pub start: Option<String>,
    pub end: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Conditional {
    pub name: String,
    pub expression: Typed,
    pub true_next: Option<String>,
    pub false_next: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ActionCall {
    pub name: String,
    pub action_id: u64,
    pub next_node: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Checksum {
    pub name: String,
    pub target: FieldName,
    pub calculation: String,
    #[serde(default = "yes")]
    pub update: bool,
    #[serde(default = "yes")]
    pub verify: bool,
    pub if_cond: Option<Typed>,
}

fn yes() -> bool {
    true
}
