//! Tables and action profiles as declared, with their constant entries.

use serde_json::Value;

use super::build::Builder;
use super::expr::Kind;
use super::parser::key_parts;
use super::{CompileError, Result};
use crate::control::{ActionCall, Entry, EntryAction, Match};
use crate::json;
use crate::program::{KeyInfo, KeyPart, MatchKind, Next, Place, ProfileInfo, TableInfo};
use crate::value::{parse_hex, prefix_mask, to_words};

/// Number of entries of a table whose declaration gives no size.
const DEFAULT_SIZE: usize = 1024;

impl Builder<'_> {
    pub(super) fn declare_tables(&mut self, pipeline: &json::Pipeline) -> Result<()> {
        for profile in &pipeline.action_profiles {
            let place = format!("action_profiles {:?}", profile.name);
            let selector = match &profile.selector {
                Some(selector) => Some(self.add_calculation(&selector.algo, &selector.input, &place)?),
                None => None,
            };
            let max_members = if profile.max_size == 0 { DEFAULT_SIZE } else { profile.max_size };
            self.profiles.push(ProfileInfo {
                name: profile.name.clone(),
                max_members,
                selector,
                actions: Vec::new(),
            });
        }
        for table in &pipeline.tables {
            let info = self.table_info(table)?;
            if let Some(profile) = info.profile_index {
                let known = &mut self.profiles[profile].actions;
                let new: Vec<usize> =
                    info.actions.iter().copied().filter(|action| !known.contains(action)).collect();
                known.extend(new);
            }
            self.tables.push(info);
        }
        Ok(())
    }

    fn table_info(&mut self, table: &json::Table) -> Result<TableInfo> {
        let place = format!("tables {:?}", table.name);
        let (mut keys, mut parts) = (Vec::new(), Vec::new());
        for key in &table.key {
            let (info, key_parts) = self.key_info(&table.name, key, parts.len(), &place)?;
            keys.push(info);
            parts.extend(key_parts);
        }
        let actions =
            table.action_ids.iter().map(|&id| self.action_by_id(id, &place)).collect::<Result<Vec<_>>>()?;
        let default = match &table.default_entry {
            Some(entry) => {
                let call = self.const_action(entry, &place)?;
                let action = self.action_by_id(entry.action_id, &place)?;
                Some((action, call.params))
            }
            None => None,
        };
        let profile_index = match &table.action_profile {
            Some(name) => {
                let found = self.profiles.iter().position(|profile| &profile.name == name);
                Some(found.ok_or_else(|| CompileError::new(&place, format!("no action profile {name:?}")))?)
            }
            None => None,
        };
        let meter = match &table.direct_meters {
            Some(name) => Some(self.direct_meter(name, &place)?),
            None => None,
        };
        let entries = table.entries.as_deref().unwrap_or_default();
        let entries = entries
            .iter()
            .enumerate()
            .map(|(n, entry)| self.const_entry(&keys, entry, n, &place))
            .collect::<Result<Vec<_>>>()?;
        Ok(TableInfo {
            name: table.name.clone(),
            keys,
            actions,
            max_entries: if table.max_size == 0 { DEFAULT_SIZE } else { table.max_size },
            direct_counter: table.with_counters,
            direct_meter: meter.is_some(),
            const_entries: table.entries.is_some(),
            const_default: table.default_entry.as_ref().is_some_and(|entry| entry.action_const),
            idle_timeout: table.support_timeout,
            profile: table.action_profile.clone(),
            profile_index,
            parts,
            default,
            entries,
            next: Next::Action(Vec::new(), None),
            meter,
        })
    }

    fn direct_meter(&self, name: &str, place: &str) -> Result<(usize, Option<Place>)> {
        let meter = self.document.meter_arrays.iter().position(|meter| meter.name == name);
        let meter = meter.ok_or_else(|| CompileError::new(place, format!("there is no meter {name:?}")))?;
        let target = match &self.document.meter_arrays[meter].result_target {
            Some((header, field)) => Some(self.field_operand(header, field, place)?.place),
            None => None,
        };
        Ok((meter, target))
    }

    /// Returns the place of a key's value when the table is applied, and its width in bits. One that is
    /// computed gets a place.
    fn computed_key(&mut self, table: &str, target: &Value, place: &str) -> Result<(Place, u32)> {
        let value = self.value(target, place)?;
        let bits = match &value.kind {
            Kind::Field(field) if matches!(field.place, Place::Var { .. }) => {
                return Err(CompileError::new(place, "a variable-length field cannot be a key"));
            }
            Kind::Field(field) => return Ok((field.place, field.bits)),
            Kind::FieldAt(_, _, bits) => *bits,
            Kind::Valid(_) => 1,
            _ => return Err(CompileError::new(place, "a key must be a field")),
        };
        let to = self.layout.allocate(bits, false, place)?;
        self.computed_keys.entry(table.to_owned()).or_default().push((to, value));
        Ok((to, bits))
    }

    fn key_info(
        &mut self,
        table: &str,
        key: &json::TableKey,
        first: usize,
        place: &str,
    ) -> Result<(KeyInfo, Vec<(KeyPart, u64)>)> {
        let name = |n: usize| key.target.get(n).and_then(Value::as_str);
        let (given, kind, at, bits) = if key.match_type == "valid" {
            let header = key.target.as_str().or_else(|| name(0)).unwrap_or_default();
            let word = self.layout.headers[self.layout.header(header, place)? as usize].valid;
            (header.to_owned(), MatchKind::Exact, Place::Word { word, bits: 1, signed: false }, 1)
        } else {
            let kind = match key.match_type.as_str() {
                "exact" => MatchKind::Exact,
                "lpm" => MatchKind::Lpm,
                "ternary" => MatchKind::Ternary,
                "range" => MatchKind::Range,
                "optional" => MatchKind::Optional,
                other => {
                    return Err(CompileError::new(place, format!("the match type {other:?} is not known")));
                }
            };
            if key.target.is_object() {
                let (at, bits) = self.computed_key(table, &key.target, place)?;
                return Self::key_parts_of(key, key.target.to_string(), kind, first, (at, bits), place);
            }
            let (header, field) = (name(0).unwrap_or_default(), name(1).unwrap_or_default());
            let resolved = self.layout.field(header, field, place)?;
            if matches!(resolved.place, Place::Var { .. }) {
                return Err(CompileError::new(place, "a variable-length field cannot be a key"));
            }
            (format!("{header}.{field}"), kind, resolved.place, resolved.bits)
        };
        Self::key_parts_of(key, given, kind, first, (at, bits), place)
    }

    fn key_parts_of(
        key: &json::TableKey,
        given: String,
        kind: MatchKind,
        first: usize,
        (at, bits): (Place, u32),
        place: &str,
    ) -> Result<(KeyInfo, Vec<(KeyPart, u64)>)> {
        let parts = key_parts(at, bits);
        let masks = match &key.mask {
            Some(mask) => {
                let mask = parse_hex(mask).and_then(|mask| to_words(&mask, bits, String::new).ok());
                mask.ok_or_else(|| CompileError::new(place, "a key's mask does not fit its field"))?
            }
            None => vec![u64::MAX; parts.len()],
        };
        let info =
            KeyInfo { name: key.name.clone().unwrap_or(given), bits, kind, words: (first, parts.len()) };
        Ok((info, parts.into_iter().zip(masks).collect()))
    }

    fn const_action(&self, entry: &json::DefaultEntry, place: &str) -> Result<ActionCall> {
        let action = &self.actions[self.action_by_id(entry.action_id, place)?];
        let mut params = Vec::new();
        for (param, text) in action.params.iter().zip(&entry.action_data) {
            let value = parse_hex(text).filter(|value| to_words(value, param.bits, String::new).is_ok());
            params.push(value.ok_or_else(|| {
                CompileError::new(place, format!("{text:?} does not fit {:?}", param.name))
            })?);
        }
        if params.len() != action.params.len() || params.len() != entry.action_data.len() {
            return Err(CompileError::new(
                place,
                format!("action {:?} gets a wrong number of values", action.name),
            ));
        }
        Ok(ActionCall { action: action.name.clone(), params })
    }

    fn const_entry(
        &self,
        keys: &[KeyInfo],
        entry: &json::ConstEntry,
        n: usize,
        place: &str,
    ) -> Result<Entry> {
        let place = format!("{place}, entry {n}");
        let bad = |problem: &str| CompileError::new(&place, problem.to_owned());
        if entry.match_key.len() != keys.len() {
            return Err(bad("it must give every key field"));
        }
        let hex = |text: Option<&str>| {
            text.and_then(parse_hex).ok_or_else(|| bad("a key's value must be hexadecimal"))
        };
        let mut key = Vec::new();
        for (info, given) in keys.iter().zip(&entry.match_key) {
            let value = || hex(given.key.as_str());
            key.push(match (info.kind, given.match_type.as_str()) {
                (MatchKind::Exact, "valid") => Match::Exact(vec![u8::from(
                    given.key.as_bool().ok_or_else(|| bad("valid needs true or false"))?,
                )]),
                (MatchKind::Exact, _) => Match::Exact(value()?),
                (MatchKind::Lpm, _) => {
                    let prefix_bits = given.prefix_length.ok_or_else(|| bad("a prefix length is needed"))?;
                    let mask: Vec<u8> = prefix_mask(info.bits, prefix_bits.min(info.bits))
                        .iter()
                        .flat_map(|word| word.to_be_bytes())
                        .collect();
                    let mut value = value()?;
                    mask_right_aligned(&mut value, &mask);
                    Match::Lpm { value, prefix_bits }
                }
                (MatchKind::Ternary, _) => {
                    let (mut value, mask) = (value()?, hex(given.mask.as_deref())?);
                    mask_right_aligned(&mut value, &mask);
                    if mask.iter().all(|&byte| byte == 0) {
                        Match::Any
                    } else {
                        Match::Ternary { value, mask }
                    }
                }
                (MatchKind::Optional, _) => match given.mask.as_deref() {
                    Some(mask) if hex(Some(mask))?.iter().all(|&byte| byte == 0) => Match::Any,
                    _ => Match::Optional(value()?),
                },
                (MatchKind::Range, _) => {
                    Match::Range { low: hex(given.start.as_deref())?, high: hex(given.end.as_deref())? }
                }
            });
        }
        let ordered = keys.iter().any(|key| !matches!(key.kind, MatchKind::Exact | MatchKind::Lpm))
            || keys.iter().filter(|key| key.kind == MatchKind::Lpm).count() > 1;
        // bmv2 prefers low numbers, control planes high ones.
        let priority =
            if ordered { (i64::from(i32::MAX) - entry.priority.clamp(0, 1 << 30)) as i32 } else { 0 };
        Ok(Entry::new(key, priority, EntryAction::Call(self.const_action(&entry.action_entry, &place)?)))
    }
}

fn mask_right_aligned(value: &mut [u8], mask: &[u8]) {
    for (n, byte) in value.iter_mut().rev().enumerate() {
        *byte &= mask.len().checked_sub(n + 1).map_or(0, |at| mask[at]);
    }
}
