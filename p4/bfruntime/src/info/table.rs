//! A table: its key, its actions, its fields.

use super::document;
use super::error::{InfoError, no_id, no_name};
use super::names::{ends, short};

/// Kind of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableKind {
    /// A table of the P4 program whose entries have actions.
    Match,
    /// An array of counters; its key is the index.
    Counter,
    /// An array of registers; its key is the index.
    Register,
    /// Anything else, by the word of the document.
    Other(String),
}

/// Match kind of a key field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum MatchType {
    Exact,
    Ternary,
    Lpm,
    Range,
    Optional,
    /// Some other kind, which this crate does not encode.
    Other,
}

/// Type of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataType {
    /// Number with this many bits.
    Bits(u32),
    /// True or false.
    Bool,
    /// Text: one of these, if there are any.
    Text(Vec<String>),
    /// A floating-point number.
    Float,
    /// Anything else, such as a container of fields.
    Other,
}

/// A field of a table's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyField {
    /// Number.
    pub id: u32,
    /// Name.
    pub name: String,
    /// Match kind.
    pub match_type: MatchType,
    /// Type.
    pub kind: DataType,
}

/// A field of a table's data, or a parameter of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataField {
    /// Number.
    pub id: u32,
    /// Name.
    pub name: String,
    /// Type.
    pub kind: DataType,
    /// Whether it holds a list of that.
    pub repeated: bool,
    /// Whether an entry must have it.
    pub mandatory: bool,
    /// Whether only the device writes it.
    pub read_only: bool,
}

/// An action of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// Number.
    pub id: u32,
    /// Full name.
    pub name: String,
    /// Whether only the default entry may have it.
    pub default_only: bool,
    /// Parameters.
    pub params: Vec<DataField>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Number.
    pub id: u32,
    /// Full name.
    pub name: String,
    /// Kind.
    pub kind: TableKind,
    /// Entries that it has room for.
    pub size: usize,
    /// Key, in the program's order.
    pub key: Vec<KeyField>,
    /// Actions.
    pub actions: Vec<Action>,
    /// The fields that entries have whatever their action.
    pub data: Vec<DataField>,
    /// The operations that it supports.
    pub operations: Vec<String>,
    /// Whether its default action cannot be changed.
    pub const_default: bool,
    /// Whether the program itself has its entries, which cannot be changed.
    pub const_entries: bool,
}

impl DataType {
    /// Width in bits of a number.
    pub fn bits(&self) -> Option<u32> {
        match self {
            DataType::Bits(bits) => Some(*bits),
            _ => None,
        }
    }
}

impl Action {
    /// Returns the name without the control's.
    pub fn short_name(&self) -> &str {
        short(&self.name)
    }
}

impl Table {
    /// Returns the name without the control's.
    pub fn short_name(&self) -> &str {
        short(&self.name)
    }

    /// Finds a field of the key by name.
    ///
    /// # Errors
    /// [`InfoError`] if no field has that name.
    pub fn key_field(&self, name: &str) -> Result<&KeyField, InfoError> {
        let names = || self.key.iter().map(|field| field.name.as_str());
        let found = self.key.iter().find(|field| field.name == name);
        found.ok_or_else(|| no_name(self.owner(), "key field", name, names()))
    }

    /// Finds a field of the key by number.
    ///
    /// # Errors
    /// [`InfoError`] if no field has that number.
    pub fn key_field_by_id(&self, id: u32) -> Result<&KeyField, InfoError> {
        let found = self.key.iter().find(|field| field.id == id);
        found.ok_or_else(|| no_id(self.owner(), "key field", id))
    }

    /// Finds an action by full name or its end.
    ///
    /// # Errors
    /// [`InfoError`] if no action has that name.
    pub fn action(&self, name: &str) -> Result<&Action, InfoError> {
        let found = self.actions.iter().find(|action| ends(&action.name, name));
        found.ok_or_else(|| {
            no_name(self.owner(), "action", name, self.actions.iter().map(|action| action.short_name()))
        })
    }

    /// Finds an action by number.
    ///
    /// # Errors
    /// [`InfoError`] if no action has that number.
    pub fn action_by_id(&self, id: u32) -> Result<&Action, InfoError> {
        let found = self.actions.iter().find(|action| action.id == id);
        found.ok_or_else(|| no_id(self.owner(), "action", id))
    }

    /// Finds a parameter of an action, or a field of the table, by name.
    ///
    /// # Errors
    /// [`InfoError`] if no field has that name.
    pub fn data_field(&self, action: Option<&Action>, name: &str) -> Result<&DataField, InfoError> {
        let found = self.fields(action.map(|action| action.id)).find(|field| field.name == name);
        found.ok_or_else(|| {
            let names = self.fields(action.map(|action| action.id)).map(|field| field.name.as_str());
            no_name(self.place(action), "field", name, names)
        })
    }

    /// Finds a parameter of an action, or a field of the table, by number.
    ///
    /// # Errors
    /// [`InfoError`] if no field has that number.
    pub fn data_field_by_id(&self, action: Option<&Action>, id: u32) -> Result<&DataField, InfoError> {
        let found = self.fields(action.map(|action| action.id)).find(|field| field.id == id);
        found.ok_or_else(|| no_id(self.place(action), "field", id))
    }

    fn fields(&self, action: Option<u32>) -> impl Iterator<Item = &DataField> {
        let params = self.actions.iter().filter(move |found| Some(found.id) == action);
        params.flat_map(|action| &action.params).chain(&self.data)
    }

    fn owner(&self) -> String {
        format!("table {}", self.short_name())
    }

    /// Returns the table, and the action if there is one, for messages.
    pub(crate) fn place(&self, action: Option<&Action>) -> String {
        match action {
            Some(action) => format!("table {}, action {}", self.short_name(), action.short_name()),
            None => self.owner(),
        }
    }
}

impl From<document::Table> for Table {
    fn from(table: document::Table) -> Self {
        let data = table.data.into_iter().flat_map(|data| {
            let (mandatory, read_only) = (data.mandatory, data.read_only);
            // Of several an entry has one, so none is mandatory by itself.
            let mandatory = mandatory && data.oneof.is_empty();
            let fields = data.singleton.into_iter().chain(data.oneof);
            fields.map(move |field| DataField { mandatory, read_only, ..field.into() })
        });
        Table {
            id: table.id,
            name: table.name,
            kind: match table.table_type.as_str() {
                "MatchAction_Direct" => TableKind::Match,
                "Counter" => TableKind::Counter,
                "Register" => TableKind::Register,
                _ => TableKind::Other(table.table_type),
            },
            size: usize::try_from(table.size).unwrap_or(0),
            key: table.key.into_iter().map(KeyField::from).collect(),
            actions: table.action_specs.into_iter().map(Action::from).collect(),
            data: data.collect(),
            operations: table.supported_operations,
            const_default: table.has_const_default_action,
            const_entries: table.attributes.iter().any(|name| name == "ConstTable"),
        }
    }
}

impl From<document::Key> for KeyField {
    fn from(key: document::Key) -> Self {
        let match_type = match key.match_type.as_str() {
            "Exact" => MatchType::Exact,
            "Ternary" => MatchType::Ternary,
            "LPM" => MatchType::Lpm,
            "Range" => MatchType::Range,
            "Optional" => MatchType::Optional,
            _ => MatchType::Other,
        };
        KeyField { id: key.id, name: key.name, match_type, kind: key.kind.into() }
    }
}

impl From<document::Action> for Action {
    fn from(action: document::Action) -> Self {
        let params = action.data.into_iter().map(|param| match param {
            document::Param::Plain(field) => field.into(),
            document::Param::Wrapped { mandatory, read_only, singleton } => {
                DataField { mandatory, read_only, ..singleton.into() }
            }
        });
        let default_only = action.action_scope == "DefaultOnly";
        Action { id: action.id, name: action.name, default_only, params: params.collect() }
    }
}

impl From<document::Field> for DataField {
    fn from(field: document::Field) -> Self {
        DataField {
            id: field.id,
            name: field.name,
            kind: field.kind.into(),
            repeated: field.repeated,
            mandatory: field.mandatory,
            read_only: field.read_only,
        }
    }
}

impl From<Option<document::Type>> for DataType {
    fn from(kind: Option<document::Type>) -> Self {
        let Some(kind) = kind else { return DataType::Other };
        match kind.name.as_str() {
            "bytes" => kind.width.map_or(DataType::Other, DataType::Bits),
            "uint8" => DataType::Bits(8),
            "uint16" => DataType::Bits(16),
            "uint32" => DataType::Bits(32),
            "uint64" => DataType::Bits(64),
            "bool" => DataType::Bool,
            "string" => DataType::Text(kind.choices),
            "float" => DataType::Float,
            _ => DataType::Other,
        }
    }
}
