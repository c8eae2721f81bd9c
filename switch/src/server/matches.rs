//! Keys of table entries and value sets: checked, in canonical form, and as the data plane takes them.

use inart_p4runtime::Value;
use inart_p4runtime::p4::config::v1::MatchField;
use inart_p4runtime::p4::config::v1::match_field::MatchType;
use inart_p4runtime::p4::v1::FieldMatch;
use inart_p4runtime::p4::v1::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};
use tonic::Status;

use super::check::{bits, invalid};
use crate::control::Match;

/// A key whose fields are in P4Info's order.
#[derive(Debug, Clone)]
pub(super) struct Key {
    /// Canonical: sorted, shortest byte strings, no field that matches anything.
    pub fields: Vec<FieldMatch>,
    /// One per field of the table.
    pub matches: Vec<Match>,
}

/// Checks a key against the fields that `owner` declares.
pub(super) fn key(owner: &str, declared: &[MatchField], given: &[FieldMatch]) -> Result<Key, Status> {
    if let Some(stranger) = given.iter().find(|with| declared.iter().all(|field| field.id != with.field_id)) {
        return Err(invalid(format!("{owner} has no match field with id {}", stranger.field_id)));
    }
    let mut key = Key { fields: Vec::new(), matches: Vec::with_capacity(declared.len()) };
    for field in declared {
        let place = || format!("{owner}, field {}", field.name);
        let mut with = given.iter().filter(|with| with.field_id == field.id);
        match (with.next(), with.next()) {
            (Some(_), Some(_)) => return Err(invalid(format!("{} is given twice", place()))),
            (None, _) if field.kind() == Some(MatchType::Exact) => {
                return Err(invalid(format!("{} is matched exactly and must be given", place())));
            }
            (None, _) => key.matches.push(Match::Any),
            (Some(with), None) => {
                let with = with.field_match_type.as_ref();
                let with = with.ok_or_else(|| invalid(format!("{}: the match is not set", place())))?;
                let (canonical, with) = one(field, with, place)?;
                key.fields.push(FieldMatch { field_id: field.id, field_match_type: Some(canonical) });
                key.matches.push(with);
            }
        }
    }
    key.fields.sort_by_key(|field| field.field_id);
    Ok(key)
}

fn one(
    field: &MatchField,
    with: &FieldMatchType,
    place: impl Fn() -> String,
) -> Result<(FieldMatchType, Match), Status> {
    let width = field.bitwidth.max(0) as u32;
    let value = |bytes: &[u8]| bits(bytes, field.bitwidth, &place);
    let refuse = |reason: &str| Err(invalid(format!("{}: {reason}", place())));
    let bytes = |value: &Value| value.as_bytes().to_vec();
    Ok(match (field.kind(), with) {
        (Some(MatchType::Exact), FieldMatchType::Exact(exact)) => {
            let value = bytes(&value(&exact.value)?);
            (FieldMatchType::Exact(Exact { value: value.clone() }), Match::Exact(value))
        }
        (Some(MatchType::Optional), FieldMatchType::Optional(optional)) => {
            let value = bytes(&value(&optional.value)?);
            (FieldMatchType::Optional(Optional { value: value.clone() }), Match::Optional(value))
        }
        (Some(MatchType::Lpm), FieldMatchType::Lpm(lpm)) => {
            let prefix_bits = match u32::try_from(lpm.prefix_len) {
                Ok(0) => return refuse("a prefix of length 0 matches anything: leave the field out"),
                Ok(length) if length <= width => length,
                _ => return refuse(&format!("prefix length {} of a {width}-bit field", lpm.prefix_len)),
            };
            let value = value(&lpm.value)?;
            if value.masked(&Value::prefix_mask(prefix_bits, width)) != value {
                return refuse("bits after the prefix must be 0");
            }
            let value = bytes(&value);
            let canonical = Lpm { value: value.clone(), prefix_len: lpm.prefix_len };
            (FieldMatchType::Lpm(canonical), Match::Lpm { value, prefix_bits })
        }
        (Some(MatchType::Ternary), FieldMatchType::Ternary(ternary)) => {
            let (value, mask) = (value(&ternary.value)?, value(&ternary.mask)?);
            if mask.is_zero() {
                return refuse("a mask of 0 matches anything: leave the field out");
            }
            if value.masked(&mask) != value {
                return refuse("bits outside the mask must be 0");
            }
            let (value, mask) = (bytes(&value), bytes(&mask));
            let canonical = Ternary { value: value.clone(), mask: mask.clone() };
            (FieldMatchType::Ternary(canonical), Match::Ternary { value, mask })
        }
        (Some(MatchType::Range), FieldMatchType::Range(range)) => {
            let (low, high) = (value(&range.low)?, value(&range.high)?);
            if low > high {
                return refuse("the low bound is above the high bound");
            }
            if low.is_zero() && high == Value::ones(width) {
                return refuse("a range of all values matches anything: leave the field out");
            }
            let (low, high) = (bytes(&low), bytes(&high));
            let canonical = Range { low: low.clone(), high: high.clone() };
            (FieldMatchType::Range(canonical), Match::Range { low, high })
        }
        (kind, _) => {
            let kind = kind.map_or("a match that this switch does not have", |kind| kind.as_str_name());
            return refuse(&format!("the field is matched by {kind}, the entry has another kind of match"));
        }
    })
}

/// Returns the canonical form of matches of the data plane.
pub(super) fn fields(declared: &[MatchField], matches: &[Match]) -> Vec<FieldMatch> {
    let one = |(field, with): (&MatchField, &Match)| {
        let with = match with.clone() {
            Match::Any => return None,
            // p4c writes optional fields as ternary ones.
            Match::Ternary { value, .. } if field.kind() == Some(MatchType::Optional) => {
                FieldMatchType::Optional(Optional { value })
            }
            Match::Exact(value) => FieldMatchType::Exact(Exact { value }),
            Match::Optional(value) => FieldMatchType::Optional(Optional { value }),
            Match::Lpm { value, prefix_bits } => {
                FieldMatchType::Lpm(Lpm { value, prefix_len: prefix_bits as i32 })
            }
            Match::Ternary { value, mask } => FieldMatchType::Ternary(Ternary { value, mask }),
            Match::Range { low, high } => FieldMatchType::Range(Range { low, high }),
        };
        Some(FieldMatch { field_id: field.id, field_match_type: Some(with) })
    };
    let mut fields: Vec<_> = declared.iter().zip(matches).filter_map(one).collect();
    fields.sort_by_key(|field| field.field_id);
    fields
}
