//! Table entries in names.

use std::collections::BTreeMap;
use std::fmt;

use crate::p4::v1::CounterData;
use crate::value::Value;

/// Match of one field of a table entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Match {
    /// The field equals the value.
    Exact(Value),
    /// The field's highest `prefix_len` bits equal the value's.
    Lpm {
        /// The prefix, zero below it.
        value: Value,
        /// Bits compared, from the highest.
        prefix_len: u32,
    },
    /// The field equals the value in the bits set in the mask.
    Ternary {
        /// The value, zero where the mask is.
        value: Value,
        /// The bits compared.
        mask: Value,
    },
    /// The field lies within the bounds, both included.
    Range {
        /// The least value.
        low: Value,
        /// The greatest value.
        high: Value,
    },
    /// The field equals the value; without the match, anything does.
    Optional(Value),
}

/// Matches by field name; a field that is missing matches anything.
pub type Matches = BTreeMap<String, Match>;

/// An action with its arguments by parameter name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionCall {
    /// Full name or alias of the action.
    pub action: String,
    /// Arguments by parameter name.
    pub params: BTreeMap<String, Value>,
}

impl ActionCall {
    /// Creates an action and its arguments.
    pub fn new<N: Into<String>, V: Into<Value>>(
        action: impl Into<String>,
        params: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let params = params.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { action: action.into(), params }
    }
}

/// One action of a one-shot action selector.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OneShot {
    /// The action.
    pub call: ActionCall,
    /// Share of the table's traffic, at least 1.
    pub weight: i32,
    /// Port whose loss removes the action from the choice.
    pub watch_port: Option<Value>,
}

/// Action of an entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableAction {
    /// Runs an action.
    Call(ActionCall),
    /// Runs the action of a member of the table's action profile.
    Member(u32),
    /// Runs the action of one member of a group of the table's action selector.
    Group(u32),
    /// Runs one of these actions, chosen by the table's action selector.
    OneShot(Vec<OneShot>),
}

/// Values of a counter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Counts {
    /// Packets.
    pub packets: i64,
    /// Bytes of those packets.
    pub bytes: i64,
}

impl From<CounterData> for Counts {
    fn from(data: CounterData) -> Self {
        Self { packets: data.packet_count, bytes: data.byte_count }
    }
}

impl From<Counts> for CounterData {
    fn from(counts: Counts) -> Self {
        Self { packet_count: counts.packets, byte_count: counts.bytes }
    }
}

/// A table entry in names. [`crate::Schema::encode`] checks it against the program and returns the message;
/// [`crate::Schema::decode`] is the inverse and uses aliases, so that an entry written with aliases is read
/// back equal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Full name or alias of the table.
    pub table: String,
    /// The fields compared.
    pub matches: Matches,
    /// Greater wins. 1 or more in a table with a ternary, range or optional field, else 0.
    pub priority: i32,
    /// Action; `None` resets a default entry, or names an entry by its key alone.
    pub action: Option<TableAction>,
    /// Whether this is the table's default entry, which has no matches.
    pub is_default: bool,
    /// Whether the program declares the entry `const`.
    pub is_const: bool,
    /// Nanoseconds without a hit after which the device notifies; 0 for never.
    pub idle_timeout_ns: i64,
    /// Bytes the device keeps for the controller.
    pub metadata: Vec<u8>,
    /// Direct counter, if requested.
    pub counter: Option<Counts>,
}

impl Entry {
    /// Creates an entry of a table, without matches and action.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into(), ..Self::default() }
    }

    /// Returns the default entry of a table.
    pub fn default_of(table: impl Into<String>) -> Self {
        Self { is_default: true, ..Self::new(table) }
    }

    /// Adds a match.
    pub fn matching(mut self, field: impl Into<String>, with: Match) -> Self {
        self.matches.insert(field.into(), with);
        self
    }

    /// Adds an exact match.
    pub fn exact(self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.matching(field, Match::Exact(value.into()))
    }

    /// Adds a longest-prefix match.
    pub fn lpm(self, field: impl Into<String>, value: impl Into<Value>, prefix_len: u32) -> Self {
        self.matching(field, Match::Lpm { value: value.into(), prefix_len })
    }

    /// Adds a ternary match.
    pub fn ternary(self, field: impl Into<String>, value: impl Into<Value>, mask: impl Into<Value>) -> Self {
        self.matching(field, Match::Ternary { value: value.into(), mask: mask.into() })
    }

    /// Adds a range match.
    pub fn range(self, field: impl Into<String>, low: impl Into<Value>, high: impl Into<Value>) -> Self {
        self.matching(field, Match::Range { low: low.into(), high: high.into() })
    }

    /// Adds an optional match.
    pub fn optional(self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.matching(field, Match::Optional(value.into()))
    }

    /// Sets the priority.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the entry's action.
    pub fn action<N: Into<String>, V: Into<Value>>(
        mut self,
        action: impl Into<String>,
        params: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.action = Some(TableAction::Call(ActionCall::new(action, params)));
        self
    }

    /// Sets an action without parameters.
    pub fn plain_action(self, action: impl Into<String>) -> Self {
        self.action(action, [] as [(String, Value); 0])
    }

    /// Returns the identity of the entry: table, matches, priority, and whether it is the default.
    pub fn key(&self) -> (&str, &Matches, i32, bool) {
        (&self.table, &self.matches, self.priority, self.is_default)
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Match::Exact(value) | Match::Optional(value) => write!(f, "{value}"),
            Match::Lpm { value, prefix_len } => write!(f, "{value}/{prefix_len}"),
            Match::Ternary { value, mask } => write!(f, "{value}&{mask}"),
            Match::Range { low, high } => write!(f, "{low}..{high}"),
        }
    }
}

impl fmt::Display for ActionCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let params: Vec<_> = self.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        write!(f, "{}({})", self.action, params.join(", "))
    }
}

impl fmt::Display for TableAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableAction::Call(call) => call.fmt(f),
            TableAction::Member(id) => write!(f, "member {id}"),
            TableAction::Group(id) => write!(f, "group {id}"),
            TableAction::OneShot(actions) => {
                let actions: Vec<_> =
                    actions.iter().map(|one| format!("{} weight {}", one.call, one.weight)).collect();
                write!(f, "one of {}", actions.join(" or "))
            }
        }
    }
}

/// One line: `steer[plan_version=1, ...] -> add(port=3, ...)`.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let matches: Vec<_> = self.matches.iter().map(|(name, with)| format!("{name}={with}")).collect();
        match self.is_default {
            true => write!(f, "{}[default]", self.table)?,
            false => write!(f, "{}[{}]", self.table, matches.join(", "))?,
        }
        if self.priority != 0 {
            write!(f, " priority {}", self.priority)?;
        }
        self.action.as_ref().map_or(Ok(()), |action| write!(f, " -> {action}"))
    }
}
