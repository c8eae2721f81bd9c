//! Keys as BFRuntime has them and as the switch takes them.

use inart_bfruntime::{Entry, KeyField, Match as Given, MatchType, Table};
use tonic::Status;

use super::status::invalid;
use crate::control::Match;

/// The field of a key that holds the priority.
const PRIORITY: &str = "$MATCH_PRIORITY";

/// Key of an entry, as the switch takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub matches: Vec<Match>,
    pub priority: i32,
}

fn bytes(number: u128) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

/// Returns the number of at most 128 bits.
pub(super) fn number(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |sum, &byte| sum << 8 | u128::from(byte))
}

fn ones(bits: u32) -> u128 {
    u128::MAX.checked_shr(u128::BITS - bits.min(u128::BITS)).unwrap_or(0)
}

/// Here the least number is matched first, in the switch the greatest.
fn turned(priority: i32) -> i32 {
    i32::MAX - priority
}

/// Returns the key of an entry.
pub(super) fn to_switch(table: &Table, entry: &Entry) -> Result<Key, Status> {
    let mut key = Key { matches: Vec::with_capacity(table.key.len()), priority: 0 };
    for field in &table.key {
        let given = entry.key.get(&field.name);
        if field.name == PRIORITY {
            let priority = match given {
                Some(Given::Exact(priority)) => i32::try_from(*priority).ok(),
                _ => Some(0),
            };
            let priority = priority.filter(|priority| *priority < i32::MAX);
            key.priority = turned(priority.ok_or_else(|| {
                invalid(format!("table {}: the priority is above {}", table.name, i32::MAX - 1))
            })?);
        } else {
            key.matches.push(one(field, given));
        }
    }
    Ok(key)
}

fn one(field: &KeyField, given: Option<&Given>) -> Match {
    let bits = field.kind.bits().unwrap_or(0);
    match given {
        // As in the driver: 0 for omitted fields.
        None if field.match_type == MatchType::Exact => Match::Exact(bytes(0)),
        None | Some(Given::Optional(None)) => Match::Any,
        Some(Given::Exact(value)) => Match::Exact(bytes(*value)),
        Some(Given::Optional(Some(value))) => Match::Optional(bytes(*value)),
        Some(Given::Lpm { prefix_len: 0, .. } | Given::Ternary { mask: 0, .. }) => Match::Any,
        Some(Given::Lpm { value, prefix_len }) => {
            let mask = ones(bits) & !ones(bits.saturating_sub(*prefix_len));
            Match::Lpm { value: bytes(value & mask), prefix_bits: *prefix_len }
        }
        Some(Given::Ternary { value, mask }) => {
            Match::Ternary { value: bytes(value & mask), mask: bytes(*mask) }
        }
        Some(Given::Range { low, high }) => Match::Range { low: bytes(*low), high: bytes(*high) },
    }
}

/// Adds to an entry the key that the switch has.
pub(super) fn of_switch(table: &Table, mut entry: Entry, matches: &[Match], priority: i32) -> Entry {
    let fields = table.key.iter().filter(|field| field.name != PRIORITY);
    for (field, with) in fields.zip(matches) {
        let bits = field.kind.bits().unwrap_or(0);
        let with = match (with, field.match_type) {
            (Match::Exact(value), _) => Given::Exact(number(value)),
            (Match::Any, MatchType::Range) => Given::Range { low: 0, high: ones(bits) },
            (Match::Any, MatchType::Lpm) => Given::Lpm { value: 0, prefix_len: 0 },
            (Match::Any, MatchType::Ternary) => Given::Ternary { value: 0, mask: 0 },
            (Match::Any, _) => Given::Optional(None),
            (Match::Optional(value) | Match::Ternary { value, .. }, MatchType::Optional) => {
                Given::Optional(Some(number(value)))
            }
            (Match::Optional(value), _) => Given::Ternary { value: number(value), mask: ones(bits) },
            (Match::Ternary { value, mask }, _) => {
                Given::Ternary { value: number(value), mask: number(mask) }
            }
            (Match::Lpm { value, prefix_bits }, _) => {
                Given::Lpm { value: number(value), prefix_len: *prefix_bits }
            }
            (Match::Range { low, high }, _) => Given::Range { low: number(low), high: number(high) },
        };
        entry.key.insert(field.name.clone(), with);
    }
    if table.key.iter().any(|field| field.name == PRIORITY) {
        entry = entry.exact(PRIORITY, turned(priority).unsigned_abs());
    }
    entry
}
