//! Interface of the control plane: entries, actions and their errors, by name.
//!
//! Names are the full names of P4Info. Values are big-endian byte strings of any length, as in
//! P4Runtime; leading zeros do not matter, and the switch rejects a value wider than its field.

use thiserror::Error;

/// A port of the switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Port(pub u32);

impl std::fmt::Display for Port {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Match of one key field. An omitted field is `Any`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// Equal to the value.
    Exact(Vec<u8>),
    /// The first `prefix_bits` bits equal the value's.
    Lpm {
        /// The prefix; bits after it must be zero.
        value: Vec<u8>,
        /// Length in bits.
        prefix_bits: u32,
    },
    /// Equal under the mask.
    Ternary {
        /// The value; bits outside the mask must be zero.
        value: Vec<u8>,
        /// Bits that count.
        mask: Vec<u8>,
    },
    /// Between two inclusive bounds.
    Range {
        /// Lowest value.
        low: Vec<u8>,
        /// Highest value.
        high: Vec<u8>,
    },
    /// Equal to the value (a field that may be left out).
    Optional(Vec<u8>),
    /// Don't care; not for exact fields.
    Any,
}

/// An action with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionCall {
    /// Full name.
    pub action: String,
    /// One value per parameter, in order.
    pub params: Vec<Vec<u8>>,
}

/// Action of a matching entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryAction {
    /// Runs an action.
    Call(ActionCall),
    /// Runs a member of the table's action profile.
    Member(u32),
    /// Runs a member of a group, chosen by the selector's hash.
    Group(u32),
    /// One-shot selector programming: actions with their weights.
    OneShot(Vec<(ActionCall, u32)>),
}

/// A table entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// One match per key field, in the table's order.
    pub key: Vec<Match>,
    /// Higher wins; only for tables with ternary, range or optional fields, else 0.
    pub priority: i32,
    /// Action.
    pub action: EntryAction,
    /// Microseconds without a hit after which it is reported; 0 = never.
    pub idle_timeout_us: u64,
    /// The controller's own note, kept as it is.
    pub metadata: Vec<u8>,
}

impl Entry {
    /// Returns an entry without timeout and note.
    pub fn new(key: Vec<Match>, priority: i32, action: EntryAction) -> Entry {
        Entry { key, priority, action, idle_timeout_us: 0, metadata: Vec::new() }
    }
}

/// Packets and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CounterValue {
    /// Packets.
    pub packets: u64,
    /// Bytes of the packets on arrival.
    pub bytes: u64,
}

/// Rates of a two-rate three-color meter, in bytes or packets, depending on the meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeterConfig {
    /// Committed rate per second.
    pub committed_rate: u64,
    /// Committed burst.
    pub committed_burst: u64,
    /// Peak rate per second.
    pub peak_rate: u64,
    /// Peak burst.
    pub peak_burst: u64,
}

/// A member of an action selector's group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupMember {
    /// The member.
    pub member: u32,
    /// Share of the traffic; at least 1.
    pub weight: u32,
}

/// One copy that a multicast group or clone session makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Replica {
    /// Output port.
    pub port: Port,
    /// `egress_rid` of the copy.
    pub instance: u16,
}

/// Configuration of a clone session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CloneSession {
    /// The copies.
    pub replicas: Vec<Replica>,
    /// Bytes to which a copy is cut; 0 = whole.
    pub max_bytes: usize,
}

/// Reason of the switch to reject an operation. The text names the object and the fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ControlError {
    /// No such object.
    #[error("{0}")]
    NotFound(String),
    /// There is one already.
    #[error("{0}")]
    AlreadyExists(String),
    /// Malformed request.
    #[error("{0}")]
    InvalidArgument(String),
    /// A value or index that does not fit.
    #[error("{0}")]
    OutOfRange(String),
    /// The table, profile or set is full.
    #[error("{0}")]
    ResourceExhausted(String),
    /// The program declares it constant.
    #[error("{0}")]
    PermissionDenied(String),
    /// No pipeline is loaded, or the object is in use.
    #[error("{0}")]
    FailedPrecondition(String),
}

/// Result of a control operation.
pub type Result<T> = std::result::Result<T, ControlError>;
