//! Lookup of tables, actions and key fields by a script's short names.

use crate::control::{ActionCall, Match};
use crate::program::{ActionInfo, KeyInfo, MatchKind, Program, TableInfo};

use super::stf::{Call, number};

/// Finds the only item whose name is, or else ends with, the wanted one.
fn find<'a, T>(
    items: impl Iterator<Item = &'a T>,
    name: impl Fn(&T) -> &str,
    wanted: &str,
) -> Result<&'a T, String> {
    let items: Vec<&T> = items.collect();
    if let Some(item) = items.iter().find(|item| name(item) == wanted) {
        return Ok(item);
    }
    let mut candidates = items.iter().filter(|item| name(item).ends_with(wanted));
    match (candidates.next(), candidates.next()) {
        (Some(item), None) => Ok(item),
        (Some(_), Some(_)) => Err(format!("the name {wanted} is ambiguous")),
        (None, _) => Err(format!("there is nothing called {wanted}")),
    }
}

pub(super) fn table<'p>(program: &'p Program, name: &str) -> Result<&'p TableInfo, String> {
    find(program.tables.iter(), |table| &table.name, name)
}

pub(super) fn array<'p, T>(items: &'p [T], name: impl Fn(&T) -> &str, wanted: &str) -> Result<&'p T, String> {
    find(items.iter(), name, wanted)
}

pub(super) fn action(program: &Program, table: &TableInfo, call: &Call) -> Result<ActionCall, String> {
    let actions = table.actions.iter().map(|&action| &program.actions[action]);
    let action: &ActionInfo = find(actions, |action| &action.name, &call.action)?;
    let mut params = Vec::new();
    for param in &action.params {
        let given = call.arguments.iter().find(|(name, _)| *name == param.name);
        let (_, value) = given.ok_or_else(|| format!("action {} needs {}", action.name, param.name))?;
        params.push(number(value).ok_or_else(|| format!("{value} is not a number"))?.0);
    }
    match call.arguments.iter().find(|(name, _)| action.params.iter().all(|param| param.name != *name)) {
        Some((name, _)) => Err(format!("action {} has no parameter {name}", action.name)),
        None => Ok(ActionCall { action: action.name.clone(), params }),
    }
}

/// Returns the key field a script means.
fn key_position(keys: &[KeyInfo], wanted: &str) -> Result<usize, String> {
    if let Some(position) = keys.iter().position(|key| key.name == wanted) {
        return Ok(position);
    }
    // Header stacks are written h$0 for h[0].
    let wanted = match wanted.split_once('$') {
        Some((stack, rest)) if rest.starts_with(|digit: char| digit.is_ascii_digit()) => {
            let end = rest.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(rest.len());
            format!("{stack}[{}]{}", &rest[..end], &rest[end..])
        }
        _ => wanted.to_owned(),
    };
    let named = |name: String| keys.iter().position(|key| key.name == name);
    let ending = |end: String| keys.iter().rposition(|key| key.name.ends_with(&end));
    named(wanted.clone())
        .or_else(|| named(format!("{wanted}$")))
        .or_else(|| named(format!("{wanted}.$valid$")))
        .or_else(|| wanted.strip_suffix(".valid").and_then(|header| named(format!("{header}.$valid$"))))
        .or_else(|| ending(format!(".{wanted}")))
        .or_else(|| ending(format!(".{wanted}$")))
        .or_else(|| if wanted == "valid" { ending("$valid$".into()) } else { None })
        .ok_or_else(|| format!("there is no key field {wanted}"))
}

/// Returns the matches of an entry; an omitted field is zero, or a wildcard if its match kind has one.
pub(super) fn key(table: &TableInfo, given: &[(String, String)]) -> Result<Vec<Match>, String> {
    let mut matches: Vec<Match> = table
        .keys
        .iter()
        .map(|key| if key.kind == MatchKind::Exact { Match::Exact(vec![0]) } else { Match::Any })
        .collect();
    for (field, text) in given {
        let position = key_position(&table.keys, field)?;
        let info = &table.keys[position];
        let (text, prefix) = match text.split_once('/') {
            Some((value, prefix)) => (value, Some(prefix.parse::<u32>().map_err(|error| error.to_string())?)),
            None => (text.as_str(), None),
        };
        let (value, mut mask, digits) = number(text).ok_or_else(|| format!("{text} is not a number"))?;
        matches[position] = match info.kind {
            MatchKind::Exact => Match::Exact(value),
            MatchKind::Optional => Match::Optional(value),
            MatchKind::Range => Match::Range { low: value.clone(), high: value },
            MatchKind::Lpm => {
                let stars = mask.iter().map(|byte| byte.count_ones()).sum::<u32>();
                Match::Lpm { value, prefix_bits: prefix.unwrap_or(stars).min(info.bits) }
            }
            MatchKind::Ternary => {
                // A mask is as wide as the digits given, but never wider than the field.
                if digits > info.bits {
                    let keep = info.bits.div_ceil(8) as usize;
                    let start = mask.len().saturating_sub(keep);
                    mask.drain(..start);
                    if let Some(first) = mask.first_mut()
                        && !info.bits.is_multiple_of(8)
                    {
                        *first &= (1 << (info.bits % 8)) - 1;
                    }
                }
                Match::Ternary { value, mask }
            }
        };
    }
    Ok(matches)
}
