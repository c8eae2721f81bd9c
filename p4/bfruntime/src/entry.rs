//! Table entries in names.

use std::collections::BTreeMap;
use std::fmt;

/// Match of one field of a table entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Match {
    /// The field equals the value.
    Exact(u128),
    /// The field's highest `prefix_len` bits equal the value's.
    Lpm {
        /// The prefix.
        value: u128,
        /// Bits compared, from the highest.
        prefix_len: u32,
    },
    /// The field equals the value in the bits set in the mask.
    Ternary {
        /// The value.
        value: u128,
        /// The bits compared.
        mask: u128,
    },
    /// The field lies within the bounds, both included.
    Range {
        /// The least value.
        low: u128,
        /// The greatest value.
        high: u128,
    },
    /// The field equals the value, or is anything.
    Optional(Option<u128>),
}

/// Value of a field of an entry's data.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(u128),
    /// True or false.
    Flag(bool),
    /// Text.
    Text(String),
    /// A floating-point number.
    Float(f32),
    /// Numbers.
    Numbers(Vec<u32>),
    /// Flags.
    Flags(Vec<bool>),
    /// Texts.
    Texts(Vec<String>),
    /// Numbers of which each pipe of the chip has its own, as the cells of registers are.
    PerPipe(Vec<u128>),
}

impl Value {
    /// Returns the number, if it is one of at most 64 bits.
    pub fn to_u64(&self) -> Option<u64> {
        match self {
            Value::Number(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident;)*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Value::$variant(value.into())
            }
        }
    )*};
}
from! {
    u8 => Number;
    u16 => Number;
    u32 => Number;
    u64 => Number;
    u128 => Number;
    bool => Flag;
    &str => Text;
    String => Text;
    f32 => Float;
    Vec<u32> => Numbers;
    Vec<bool> => Flags;
    Vec<String> => Texts;
}

/// A table entry in names. [`crate::Info::encode`] checks it against the program and gives the message;
/// [`crate::Info::decode`] goes back and uses short names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entry {
    /// Name of the table.
    pub table: String,
    /// The fields compared. A field that is left out matches anything, if it can.
    pub key: BTreeMap<String, Match>,
    /// Name of the action, in tables that have actions.
    pub action: Option<String>,
    /// The action's parameters, and the table's own fields, such as `$COUNTER_SPEC_PKTS`.
    pub data: BTreeMap<String, Value>,
    /// Whether this is the table's default entry, which has no key.
    pub is_default: bool,
}

impl Entry {
    /// Creates an entry of a table, without key and data.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into(), ..Self::default() }
    }

    /// Returns the default entry of a table.
    pub fn default_of(table: impl Into<String>) -> Self {
        Self { is_default: true, ..Self::new(table) }
    }

    /// Adds a match.
    pub fn matching(mut self, field: impl Into<String>, with: Match) -> Self {
        self.key.insert(field.into(), with);
        self
    }

    /// Adds an exact match.
    pub fn exact(self, field: impl Into<String>, value: impl Into<u128>) -> Self {
        self.matching(field, Match::Exact(value.into()))
    }

    /// Sets the action.
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into());
        self
    }

    /// Sets a field of the data.
    pub fn with(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.data.insert(field.into(), value.into());
        self
    }

    /// Returns a number of the data.
    pub fn number(&self, field: &str) -> Option<u64> {
        self.data.get(field)?.to_u64()
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Match::Exact(value) | Match::Optional(Some(value)) => write!(f, "{value}"),
            Match::Optional(None) => write!(f, "*"),
            Match::Lpm { value, prefix_len } => write!(f, "{value}/{prefix_len}"),
            Match::Ternary { value, mask } => write!(f, "{value:#x}&{mask:#x}"),
            Match::Range { low, high } => write!(f, "{low}..{high}"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Text(text) => write!(f, "{text}"),
            Value::Float(number) => write!(f, "{number}"),
            Value::Numbers(list) => write!(f, "{list:?}"),
            Value::Flags(list) => write!(f, "{list:?}"),
            Value::Texts(list) => write!(f, "{list:?}"),
            Value::PerPipe(list) => write!(f, "{list:?}"),
        }
    }
}

/// As in `steer[plan_version=1, job=1] -> forward(port=3)`.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key: Vec<_> = self.key.iter().map(|(name, with)| format!("{name}={with}")).collect();
        let key = if self.is_default { "default".to_owned() } else { key.join(", ") };
        let data: Vec<_> = self.data.iter().map(|(name, value)| format!("{name}={value}")).collect();
        write!(f, "{}[{key}] -> {}({})", self.table, self.action.as_deref().unwrap_or(""), data.join(", "))
    }
}
