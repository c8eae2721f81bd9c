//! Entries to messages and back, checked against the program.

use std::collections::BTreeMap;

use crate::bfrt_proto::{self as v, data_field, key_field, table_entry};
use crate::entry::{Entry, Match, Value};
use crate::info::{Action, DataField, DataType, Info, InfoError, KeyField, MatchType, Table, TableKind};

/// Reason that an entry does not fit the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// An unknown name or number.
    #[error(transparent)]
    Info(#[from] InfoError),
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

/// Returns the number in exactly as many bytes as the width needs: the driver takes no fewer and no more.
fn bytes(number: u128, bits: u32, place: &dyn Fn() -> String) -> Result<Vec<u8>, EntryError> {
    let needed = u128::BITS - number.leading_zeros();
    if needed > bits {
        return Err(misfit(place(), format!("{number} needs {needed} bits, the field has {bits}")));
    }
    let length = bits.div_ceil(8) as usize;
    let all = number.to_be_bytes();
    let mut padded = vec![0; length.saturating_sub(all.len())];
    padded.extend(&all[all.len().saturating_sub(length)..]);
    Ok(padded)
}

fn number(bytes: &[u8], bits: u32, place: &dyn Fn() -> String) -> Result<u128, EntryError> {
    let significant = bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len());
    if bytes.len() - significant > 16 {
        return Err(misfit(place(), "numbers of more than 128 bits are not read here"));
    }
    let number = bytes[significant..].iter().fold(0, |sum, &byte| sum << 8 | u128::from(byte));
    let needed = u128::BITS - number.leading_zeros();
    match needed > bits {
        true => Err(misfit(place(), format!("{number} needs {needed} bits, the field has {bits}"))),
        false => Ok(number),
    }
}

impl Info {
    /// Checks an entry against the program and gives the message. An entry without data gives one that names
    /// an entry, to be deleted or read.
    ///
    /// # Errors
    /// [`EntryError`] for a table, field or action that the program does not have, or a value that does not
    /// fit it.
    pub fn encode(&self, entry: &Entry) -> Result<v::TableEntry, EntryError> {
        let table = self.table(&entry.table)?;
        if entry.is_default && !entry.key.is_empty() {
            return Err(misfit(table.place(None), "a default entry has no key"));
        }
        let key = (!entry.key.is_empty()).then(|| encode_key(table, &entry.key)).transpose()?;
        let has_data = entry.action.is_some() || !entry.data.is_empty();
        let data = has_data.then(|| encode_data(table, entry, false)).transpose()?;
        Ok(message(table, entry, key, data))
    }

    /// Encodes an entry as a device reports it: with the fields that only the device may write.
    ///
    /// # Errors
    /// [`EntryError`] as of [`Info::encode`].
    pub fn encode_found(&self, entry: &Entry) -> Result<v::TableEntry, EntryError> {
        let table = self.table(&entry.table)?;
        let key = (!entry.is_default).then(|| encode_key(table, &entry.key)).transpose()?;
        Ok(message(table, entry, key, Some(encode_data(table, entry, true)?)))
    }

    /// Reads a message back into short names.
    ///
    /// # Errors
    /// [`EntryError`] for a number that the program does not have, or a value that does not fit it.
    pub fn decode(&self, entry: &v::TableEntry) -> Result<Entry, EntryError> {
        let table = self.table_by_id(entry.table_id)?;
        let mut key = BTreeMap::new();
        if let Some(table_entry::Value::Key(found)) = &entry.value {
            for field in &found.fields {
                let declared = table.key_field_by_id(field.field_id)?;
                key.insert(declared.name.clone(), decode_match(table, declared, field)?);
            }
        }
        let (mut action, mut data) = (None, BTreeMap::new());
        if let Some(found) = &entry.data {
            action = (found.action_id != 0).then(|| table.action_by_id(found.action_id)).transpose()?;
            for field in &found.fields {
                let declared = table.data_field_by_id(action, field.field_id)?;
                let place = || format!("{}, field {}", table.place(action), declared.name);
                if let Some(value) = decode_value(declared, field, &place)? {
                    join(&mut data, &declared.name, value);
                }
            }
        }
        let action = action.map(|action| action.short_name().to_owned());
        let table = table.short_name().to_owned();
        Ok(Entry { table, key, action, data, is_default: entry.is_default_entry })
    }
}

fn message(
    table: &Table,
    entry: &Entry,
    key: Option<v::TableKey>,
    data: Option<v::TableData>,
) -> v::TableEntry {
    v::TableEntry {
        table_id: table.id,
        value: key.map(table_entry::Value::Key),
        data,
        is_default_entry: entry.is_default,
        ..Default::default()
    }
}

/// Several numbers of one field are one of each pipe.
fn join(data: &mut BTreeMap<String, Value>, name: &str, value: Value) {
    let joined = match (data.remove(name), value) {
        (Some(Value::Number(first)), Value::Number(next)) => Value::PerPipe(vec![first, next]),
        (Some(Value::PerPipe(mut all)), Value::Number(next)) => {
            all.push(next);
            Value::PerPipe(all)
        }
        (_, value) => value,
    };
    data.insert(name.to_owned(), joined);
}

fn encode_key(table: &Table, key: &BTreeMap<String, Match>) -> Result<v::TableKey, EntryError> {
    let mut fields = Vec::with_capacity(key.len());
    for (name, with) in key {
        fields.push(encode_match(table, table.key_field(name)?, with)?);
    }
    fields.sort_by_key(|field| field.field_id);
    let missing =
        table.key.iter().find(|field| field.match_type == MatchType::Exact && !key.contains_key(&field.name));
    // The driver takes 0 for an omitted field, which is never intended.
    match missing.filter(|field| field.name != "$MATCH_PRIORITY") {
        Some(field) => Err(misfit(table.place(None), format!("exact field \"{}\" is missing", field.name))),
        None => Ok(v::TableKey { fields }),
    }
}

fn encode_match(table: &Table, field: &KeyField, with: &Match) -> Result<v::KeyField, EntryError> {
    let place = || format!("{}, field {}", table.place(None), field.name);
    let width = field.kind.bits().ok_or_else(|| misfit(place(), "holds no number"))?;
    let bytes = |number: &u128| bytes(*number, width, &place);
    let with = match (with, field.match_type) {
        (Match::Exact(value), MatchType::Exact) => {
            key_field::MatchType::Exact(key_field::Exact { value: bytes(value)? })
        }
        (Match::Optional(value), MatchType::Optional) => {
            let is_valid = value.is_some();
            let value = bytes(&value.unwrap_or(0))?;
            key_field::MatchType::Optional(key_field::Optional { value, is_valid })
        }
        (Match::Lpm { value, prefix_len }, MatchType::Lpm) => {
            if *prefix_len > width {
                return Err(misfit(place(), format!("prefix length {prefix_len} of a {width}-bit field")));
            }
            let prefix_len = *prefix_len as i32;
            key_field::MatchType::Lpm(key_field::Lpm { value: bytes(value)?, prefix_len })
        }
        (Match::Ternary { value, mask }, MatchType::Ternary) => {
            key_field::MatchType::Ternary(key_field::Ternary { value: bytes(value)?, mask: bytes(mask)? })
        }
        (Match::Range { low, high }, MatchType::Range) => {
            if low > high {
                return Err(misfit(place(), format!("the range {low}..{high} is empty")));
            }
            key_field::MatchType::Range(key_field::Range { low: bytes(low)?, high: bytes(high)? })
        }
        (_, kind) => return Err(misfit(place(), format!("is matched by {kind:?}, not by {with:?}"))),
    };
    Ok(v::KeyField { field_id: field.id, match_type: Some(with) })
}

fn decode_match(table: &Table, field: &KeyField, with: &v::KeyField) -> Result<Match, EntryError> {
    let place = || format!("{}, field {}", table.place(None), field.name);
    let width = field.kind.bits().ok_or_else(|| misfit(place(), "holds no number"))?;
    let number = |bytes: &[u8]| number(bytes, width, &place);
    let with = with.match_type.as_ref().ok_or_else(|| misfit(place(), "has no match"))?;
    Ok(match with {
        key_field::MatchType::Exact(exact) => Match::Exact(number(&exact.value)?),
        key_field::MatchType::Optional(optional) => {
            let value = number(&optional.value)?;
            Match::Optional(optional.is_valid.then_some(value))
        }
        key_field::MatchType::Lpm(lpm) => {
            let prefix_len = u32::try_from(lpm.prefix_len).ok().filter(|length| *length <= width);
            let wrong =
                || misfit(place(), format!("prefix length {} of a {width}-bit field", lpm.prefix_len));
            Match::Lpm { value: number(&lpm.value)?, prefix_len: prefix_len.ok_or_else(wrong)? }
        }
        key_field::MatchType::Ternary(ternary) => {
            Match::Ternary { value: number(&ternary.value)?, mask: number(&ternary.mask)? }
        }
        key_field::MatchType::Range(range) => {
            Match::Range { low: number(&range.low)?, high: number(&range.high)? }
        }
    })
}

fn encode_data(table: &Table, entry: &Entry, by_device: bool) -> Result<v::TableData, EntryError> {
    let action = match &entry.action {
        Some(name) => Some(table.action(name)?),
        None if table.kind == TableKind::Match => {
            return Err(misfit(table.place(None), "an entry needs an action"));
        }
        None => None,
    };
    if let Some(action) = action.filter(|action| action.default_only && !entry.is_default) {
        return Err(misfit(table.place(Some(action)), "only the default entry may have this action"));
    }
    let mut fields = Vec::with_capacity(entry.data.len());
    for (name, value) in &entry.data {
        let field = table.data_field(action, name)?;
        if field.read_only && !by_device {
            let place = format!("{}, field {}", table.place(action), field.name);
            return Err(misfit(place, "is written by the device only: leave it out"));
        }
        fields.push(encode_value(table, action, field, value)?);
    }
    fields.sort_by_key(|field| field.field_id);
    let params = action.map(|action| action.params.as_slice()).unwrap_or_default();
    match params.iter().find(|param| param.mandatory && !entry.data.contains_key(&param.name)) {
        Some(param) => Err(misfit(table.place(action), format!("parameter \"{}\" is missing", param.name))),
        None => Ok(v::TableData { action_id: action.map_or(0, |action| action.id), fields }),
    }
}

fn encode_value(
    table: &Table,
    action: Option<&Action>,
    field: &DataField,
    value: &Value,
) -> Result<v::DataField, EntryError> {
    let place = || format!("{}, field {}", table.place(action), field.name);
    let wrong = || {
        let list = if field.repeated { "a list of " } else { "" };
        Err(misfit(place(), format!("holds {list}{:?}, not {value:?}", field.kind)))
    };
    let value = match (&field.kind, field.repeated, value) {
        (DataType::Bits(bits), false, Value::Number(number)) => {
            data_field::Value::Stream(bytes(*number, *bits, &place)?)
        }
        (DataType::Bits(bits), true, Value::Numbers(list)) => {
            for number in list {
                bytes(u128::from(*number), *bits, &place)?;
            }
            data_field::Value::IntArrVal(data_field::IntArray { val: list.clone() })
        }
        (DataType::Bool, false, Value::Flag(flag)) => data_field::Value::BoolVal(*flag),
        (DataType::Bool, true, Value::Flags(list)) => {
            data_field::Value::BoolArrVal(data_field::BoolArray { val: list.clone() })
        }
        (DataType::Text(choices), false, Value::Text(text)) => {
            if !choices.is_empty() && !choices.contains(text) {
                let reason =
                    format!("\"{text}\" is not one of its values: give one of {}", choices.join(", "));
                return Err(misfit(place(), reason));
            }
            data_field::Value::StrVal(text.clone())
        }
        (DataType::Text(_), true, Value::Texts(list)) => {
            data_field::Value::StrArrVal(data_field::StrArray { val: list.clone() })
        }
        (DataType::Float, false, Value::Float(number)) => data_field::Value::FloatVal(*number),
        _ => return wrong(),
    };
    Ok(v::DataField { field_id: field.id, value: Some(value) })
}

/// Decodes the value of a field; `None` for one that is not set, or that no caller reads.
fn decode_value(
    field: &DataField,
    given: &v::DataField,
    place: &dyn Fn() -> String,
) -> Result<Option<Value>, EntryError> {
    let Some(value) = &given.value else { return Ok(None) };
    Ok(Some(match value {
        data_field::Value::Stream(bytes) => {
            let Some(bits) = field.kind.bits() else { return Ok(None) };
            Value::Number(number(bytes, bits, place)?)
        }
        data_field::Value::FloatVal(number) => Value::Float(*number),
        data_field::Value::StrVal(text) => Value::Text(text.clone()),
        data_field::Value::BoolVal(flag) => Value::Flag(*flag),
        data_field::Value::IntArrVal(list) => Value::Numbers(list.val.clone()),
        data_field::Value::BoolArrVal(list) => Value::Flags(list.val.clone()),
        data_field::Value::StrArrVal(list) => Value::Texts(list.val.clone()),
        data_field::Value::ContainerArrVal(_) => return Ok(None),
    }))
}
