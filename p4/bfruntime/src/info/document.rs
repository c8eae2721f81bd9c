//! `bf-rt.json` as p4c and the driver write it. Only the used parts of other tables are here.

use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Document {
    pub tables: Vec<Table>,
}

#[derive(Deserialize)]
pub(super) struct Table {
    pub name: String,
    pub id: u32,
    pub table_type: String,
    #[serde(default)]
    pub size: i64,
    #[serde(default)]
    pub key: Vec<Key>,
    #[serde(default)]
    pub action_specs: Vec<Action>,
    #[serde(default)]
    pub data: Vec<Data>,
    #[serde(default)]
    pub supported_operations: Vec<String>,
    #[serde(default)]
    pub attributes: Vec<String>,
    #[serde(default)]
    pub has_const_default_action: bool,
}

#[derive(Deserialize)]
pub(super) struct Key {
    pub id: u32,
    pub name: String,
    #[serde(default)]
    pub match_type: String,
    #[serde(rename = "type")]
    pub kind: Option<Type>,
}

#[derive(Deserialize)]
pub(super) struct Action {
    pub id: u32,
    pub name: String,
    #[serde(default)]
    pub action_scope: String,
    #[serde(default)]
    pub data: Vec<Param>,
}

/// A parameter: p4c writes the field itself; the driver, in its own tables, writes a table's fields.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Param {
    Wrapped {
        #[serde(default)]
        mandatory: bool,
        #[serde(default)]
        read_only: bool,
        singleton: Field,
    },
    Plain(Field),
}

/// A field of the table, or several of which an entry has one.
#[derive(Deserialize)]
pub(super) struct Data {
    #[serde(default)]
    pub mandatory: bool,
    #[serde(default)]
    pub read_only: bool,
    pub singleton: Option<Field>,
    #[serde(default)]
    pub oneof: Vec<Field>,
}

#[derive(Deserialize)]
pub(super) struct Field {
    pub id: u32,
    pub name: String,
    #[serde(default)]
    pub repeated: bool,
    #[serde(default)]
    pub mandatory: bool,
    #[serde(default)]
    pub read_only: bool,
    /// A container of fields has none.
    #[serde(rename = "type")]
    pub kind: Option<Type>,
}

#[derive(Deserialize)]
pub(super) struct Type {
    #[serde(rename = "type")]
    pub name: String,
    pub width: Option<u32>,
    #[serde(default)]
    pub choices: Vec<String>,
}
