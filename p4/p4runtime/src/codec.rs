//! Entries to messages and back, checked against the program.

use std::collections::BTreeMap;

use crate::entry::{ActionCall, Entry, Match, OneShot, TableAction};
use crate::p4::config::v1::match_field::MatchType;
use crate::p4::config::v1::{MatchField, Table, match_field};
use crate::p4::v1::{self, action_profile_action::WatchKind, field_match::FieldMatchType, table_action};
use crate::schema::{Schema, SchemaError};
use crate::value::{Value, ValueError};

/// Reason that an entry does not fit the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// An unknown name or number.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A value that does not fit its field or parameter.
    #[error("{place}: {source}")]
    Value {
        /// Field or parameter of a table or action.
        place: String,
        /// Problem of the value.
        source: ValueError,
    },
    /// Anything else that the table's declaration rules out.
    #[error("{place}: {reason}")]
    Misfit {
        /// Part of a table or action.
        place: String,
        /// Problem, and the valid form.
        reason: String,
    },
}

fn misfit(place: impl Into<String>, reason: impl Into<String>) -> EntryError {
    EntryError::Misfit { place: place.into(), reason: reason.into() }
}

fn checked(value: &Value, width: i32, place: impl FnOnce() -> String) -> Result<Vec<u8>, EntryError> {
    match value.check_width(width.max(0) as u32) {
        Ok(()) => Ok(value.as_bytes().to_vec()),
        Err(source) => Err(EntryError::Value { place: place(), source }),
    }
}

fn value(bytes: &[u8], place: impl FnOnce() -> String) -> Result<Value, EntryError> {
    Value::from_bytes(bytes).map_err(|source| EntryError::Value { place: place(), source })
}

impl MatchField {
    /// Returns the match kind of the field; `None` for an architecture's own kind of match.
    pub fn kind(&self) -> Option<MatchType> {
        match self.r#match {
            Some(match_field::Match::MatchType(kind)) => MatchType::try_from(kind).ok(),
            _ => None,
        }
    }
}

impl Table {
    /// Returns whether entries need a priority: they do where one packet can match several.
    pub fn has_priority(&self) -> bool {
        self.match_fields.iter().any(|field| {
            matches!(field.kind(), Some(MatchType::Ternary | MatchType::Range | MatchType::Optional))
        })
    }
}

impl Schema {
    /// Checks an entry against the program and gives the message.
    ///
    /// # Errors
    /// [`EntryError`] for a table, field or action that the program does not have, or a value that does not
    /// fit it.
    pub fn encode(&self, entry: &Entry) -> Result<v1::TableEntry, EntryError> {
        let table = self.table(&entry.table)?;
        let name = table.short_name();
        if entry.is_default && !(entry.matches.is_empty() && entry.priority == 0) {
            return Err(misfit(format!("table {name}"), "a default entry has no matches and no priority"));
        }
        if !entry.is_default && table.has_priority() != (entry.priority > 0) {
            let reason = match table.has_priority() {
                true => "needs a priority of 1 or more: it has ternary, range or optional fields",
                false => "takes no priority: it has no ternary, range or optional field",
            };
            return Err(misfit(format!("table {name}"), reason));
        }
        let mut matches = Vec::with_capacity(entry.matches.len());
        for (field, with) in &entry.matches {
            let field = table.match_field(field)?;
            if let Some(with) = encode_match(name, field, with)? {
                matches.push(v1::FieldMatch { field_id: field.id, field_match_type: Some(with) });
            }
        }
        matches.sort_by_key(|field| field.field_id);
        let missing = table
            .match_fields
            .iter()
            .find(|field| field.kind() == Some(MatchType::Exact) && !entry.matches.contains_key(&field.name));
        if let Some(field) = missing.filter(|_| !entry.is_default) {
            return Err(misfit(
                format!("table {name}"),
                format!("exact field \"{}\" is missing", field.name),
            ));
        }
        Ok(v1::TableEntry {
            table_id: table.id(),
            r#match: matches,
            action: entry.action.as_ref().map(|action| self.encode_table_action(action)).transpose()?,
            priority: entry.priority,
            counter_data: entry.counter.map(Into::into),
            is_default_action: entry.is_default,
            is_const: entry.is_const,
            idle_timeout_ns: entry.idle_timeout_ns,
            metadata: entry.metadata.clone(),
            ..Default::default()
        })
    }

    fn encode_table_action(&self, action: &TableAction) -> Result<v1::TableAction, EntryError> {
        let action = match action {
            TableAction::Call(call) => table_action::Type::Action(self.encode_action(call)?),
            TableAction::Member(id) => table_action::Type::ActionProfileMemberId(*id),
            TableAction::Group(id) => table_action::Type::ActionProfileGroupId(*id),
            TableAction::OneShot(actions) => {
                let mut set = v1::ActionProfileActionSet::default();
                for one in actions {
                    set.action_profile_actions.push(v1::ActionProfileAction {
                        action: Some(self.encode_action(&one.call)?),
                        weight: one.weight,
                        watch_kind: one
                            .watch_port
                            .as_ref()
                            .map(|port| WatchKind::WatchPort(port.as_bytes().to_vec())),
                    });
                }
                table_action::Type::ActionProfileActionSet(set)
            }
        };
        Ok(v1::TableAction { r#type: Some(action) })
    }

    /// Checks an action call against the program and gives the message.
    ///
    /// # Errors
    /// [`EntryError`] for an action or parameter that the program does not have, or a value that does not fit
    /// it.
    pub fn encode_action(&self, call: &ActionCall) -> Result<v1::Action, EntryError> {
        let action = self.action(&call.action)?;
        let name = action.short_name();
        for param in call.params.keys() {
            action.param(param)?;
        }
        let mut params = Vec::with_capacity(action.params.len());
        for param in &action.params {
            let value = call.params.get(&param.name).ok_or_else(|| {
                misfit(format!("action {name}"), format!("parameter \"{}\" is missing", param.name))
            })?;
            let value =
                checked(value, param.bitwidth, || format!("action {name}, parameter {}", param.name))?;
            params.push(v1::action::Param { param_id: param.id, value });
        }
        Ok(v1::Action { action_id: action.id(), params })
    }

    /// Reads a message back into names (aliases). Accepts byte strings with leading zeros.
    ///
    /// # Errors
    /// [`EntryError`] for a number that the program does not have, or a value that does not fit it.
    pub fn decode(&self, entry: &v1::TableEntry) -> Result<Entry, EntryError> {
        let table = self.table_by_id(entry.table_id)?;
        let mut matches = BTreeMap::new();
        for with in &entry.r#match {
            let field = table.match_field_by_id(with.field_id)?;
            let place = || format!("table {}, field {}", table.short_name(), field.name);
            let with = with.field_match_type.as_ref().ok_or_else(|| misfit(place(), "has no match"))?;
            matches.insert(field.name.clone(), decode_match(with, place)?);
        }
        Ok(Entry {
            table: table.short_name().to_owned(),
            matches,
            priority: entry.priority,
            action: entry
                .action
                .as_ref()
                .and_then(|action| action.r#type.as_ref())
                .map(|action| self.decode_table_action(action))
                .transpose()?,
            is_default: entry.is_default_action,
            is_const: entry.is_const,
            idle_timeout_ns: entry.idle_timeout_ns,
            metadata: entry.metadata.clone(),
            counter: entry.counter_data.map(Into::into),
        })
    }

    fn decode_table_action(&self, action: &table_action::Type) -> Result<TableAction, EntryError> {
        Ok(match action {
            table_action::Type::Action(action) => TableAction::Call(self.decode_action(action)?),
            table_action::Type::ActionProfileMemberId(id) => TableAction::Member(*id),
            table_action::Type::ActionProfileGroupId(id) => TableAction::Group(*id),
            table_action::Type::ActionProfileActionSet(set) => {
                let mut actions = Vec::with_capacity(set.action_profile_actions.len());
                for one in &set.action_profile_actions {
                    let place = || "one-shot action selector".to_owned();
                    let action = one.action.as_ref().ok_or_else(|| misfit(place(), "has no action"))?;
                    let watch_port = match &one.watch_kind {
                        Some(WatchKind::WatchPort(port)) => Some(value(port, place)?),
                        _ => None,
                    };
                    actions.push(OneShot {
                        call: self.decode_action(action)?,
                        weight: one.weight,
                        watch_port,
                    });
                }
                TableAction::OneShot(actions)
            }
        })
    }

    /// Reads an action message back into names (aliases).
    ///
    /// # Errors
    /// [`EntryError`] for a number that the program does not have, or a value that does not fit it.
    pub fn decode_action(&self, message: &v1::Action) -> Result<ActionCall, EntryError> {
        let action = self.action_by_id(message.action_id)?;
        let mut params = BTreeMap::new();
        for param in &message.params {
            let name = &action.param_by_id(param.param_id)?.name;
            let place = || format!("action {}, parameter {name}", action.short_name());
            params.insert(name.clone(), value(&param.value, place)?);
        }
        Ok(ActionCall { action: action.short_name().to_owned(), params })
    }
}

fn encode_match(table: &str, field: &MatchField, with: &Match) -> Result<Option<FieldMatchType>, EntryError> {
    let width = field.bitwidth;
    let place = || format!("table {table}, field {}", field.name);
    let bytes = |value| checked(value, width, place);
    let canonical = |value: &Value, mask: &Value| match value.masked(mask) == *value {
        true => Ok(()),
        false => Err(misfit(place(), format!("{value} has bits set outside its mask {mask}"))),
    };
    Ok(Some(match (with, field.kind()) {
        (Match::Exact(value), Some(MatchType::Exact)) => {
            FieldMatchType::Exact(v1::field_match::Exact { value: bytes(value)? })
        }
        (Match::Optional(value), Some(MatchType::Optional)) => {
            FieldMatchType::Optional(v1::field_match::Optional { value: bytes(value)? })
        }
        (Match::Lpm { value, prefix_len }, Some(MatchType::Lpm)) => {
            if *prefix_len > width.max(0) as u32 {
                return Err(misfit(place(), format!("prefix length {prefix_len} of a {width}-bit field")));
            }
            canonical(value, &Value::prefix_mask(*prefix_len, width.max(0) as u32))?;
            if *prefix_len == 0 {
                return Ok(None);
            }
            let prefix_len = *prefix_len as i32;
            FieldMatchType::Lpm(v1::field_match::Lpm { value: bytes(value)?, prefix_len })
        }
        (Match::Ternary { value, mask }, Some(MatchType::Ternary)) => {
            canonical(value, mask)?;
            if mask.is_zero() {
                return Ok(None);
            }
            FieldMatchType::Ternary(v1::field_match::Ternary { value: bytes(value)?, mask: bytes(mask)? })
        }
        (Match::Range { low, high }, Some(MatchType::Range)) => {
            if low > high {
                return Err(misfit(place(), format!("the range {low}..{high} is empty")));
            }
            let (low, high_bytes) = (bytes(low)?, bytes(high)?);
            if low == [0] && *high == Value::ones(width.max(0) as u32) {
                return Ok(None);
            }
            FieldMatchType::Range(v1::field_match::Range { low, high: high_bytes })
        }
        (_, kind) => {
            let kind = kind.map_or("other", |kind| kind.as_str_name()).to_lowercase();
            return Err(misfit(place(), format!("is matched by {kind}, not by {with:?}")));
        }
    }))
}

fn decode_match(with: &FieldMatchType, place: impl Fn() -> String) -> Result<Match, EntryError> {
    let value = |bytes: &[u8]| value(bytes, &place);
    Ok(match with {
        FieldMatchType::Exact(exact) => Match::Exact(value(&exact.value)?),
        FieldMatchType::Optional(optional) => Match::Optional(value(&optional.value)?),
        FieldMatchType::Lpm(lpm) => {
            Match::Lpm { value: value(&lpm.value)?, prefix_len: lpm.prefix_len.max(0) as u32 }
        }
        FieldMatchType::Ternary(ternary) => {
            Match::Ternary { value: value(&ternary.value)?, mask: value(&ternary.mask)? }
        }
        FieldMatchType::Range(range) => Match::Range { low: value(&range.low)?, high: value(&range.high)? },
        FieldMatchType::Other(_) => return Err(misfit(place(), "has an architecture's own match")),
    })
}
