//! Keys in the form the indexes compare: two words per key word.

use crate::control::{ControlError, Match, Result};
use crate::program::{KeyInfo, MatchKind, TableInfo};
use crate::value::{prefix_mask, to_bytes, to_words};

/// A key as entered, checked and cut into words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct NormalKey {
    /// Per word: the value, or the low bound of a range.
    pub values: Vec<u64>,
    /// Per word: the mask, or the high bound of a range.
    pub others: Vec<u64>,
    /// Bits of the longest-prefix field.
    pub prefix_bits: u32,
}

fn invalid(table: &TableInfo, key: &KeyInfo, problem: &str) -> ControlError {
    ControlError::InvalidArgument(format!("table {}, key field {}: {problem}", table.name, key.name))
}

/// Checks the matches against the table's key fields.
pub(crate) fn normalize(table: &TableInfo, matches: &[Match]) -> Result<NormalKey> {
    if matches.len() != table.keys.len() {
        return Err(ControlError::InvalidArgument(format!(
            "table {} has {} key fields, the entry gives {}",
            table.name,
            table.keys.len(),
            matches.len()
        )));
    }
    let mut normal = NormalKey { values: Vec::new(), others: Vec::new(), prefix_bits: 0 };
    for (key, given) in table.keys.iter().zip(matches) {
        let words = |value: &[u8]| {
            to_words(value, key.bits, || format!("table {}, key field {}", table.name, key.name))
        };
        let all = prefix_mask(key.bits, key.bits);
        let none = vec![0; key.words.1];
        let (value, other) = match (key.kind, given) {
            (MatchKind::Exact, Match::Exact(value)) => (words(value)?, all),
            // p4c writes optional fields as ternary ones.
            (MatchKind::Ternary, Match::Optional(value)) => (words(value)?, all),
            (MatchKind::Optional, Match::Optional(value) | Match::Exact(value)) => (words(value)?, all),
            (MatchKind::Lpm, Match::Lpm { value, prefix_bits }) => {
                if *prefix_bits > key.bits {
                    return Err(invalid(table, key, &format!("a prefix of {prefix_bits} bits is too long")));
                }
                normal.prefix_bits = *prefix_bits;
                let mask = prefix_mask(key.bits, *prefix_bits);
                (refuse_masked_bits(table, key, words(value)?, &mask)?, mask)
            }
            (MatchKind::Ternary, Match::Ternary { value, mask }) => {
                let mask = words(mask)?;
                (refuse_masked_bits(table, key, words(value)?, &mask)?, mask)
            }
            (MatchKind::Range, Match::Range { low, high }) => {
                let (low, high) = (words(low)?, words(high)?);
                if low > high {
                    return Err(invalid(table, key, "the range's low bound is above its high bound"));
                }
                (low, high)
            }
            (MatchKind::Range, Match::Any) => (none, all),
            (MatchKind::Lpm | MatchKind::Ternary | MatchKind::Optional, Match::Any) => (none.clone(), none),
            (MatchKind::Exact, Match::Any) => {
                return Err(invalid(table, key, "an exact field needs a value"));
            }
            (kind, _) => {
                return Err(invalid(
                    table,
                    key,
                    &format!("the field is matched as {kind:?}, give a match of that kind"),
                ));
            }
        };
        normal.values.extend(value);
        normal.others.extend(other);
    }
    Ok(normal)
}

fn refuse_masked_bits(table: &TableInfo, key: &KeyInfo, value: Vec<u64>, mask: &[u64]) -> Result<Vec<u64>> {
    if value.iter().zip(mask).any(|(value, mask)| value & !mask != 0) {
        return Err(invalid(table, key, "bits outside the mask or prefix must be zero"));
    }
    Ok(value)
}

/// Returns the matches with values in their shortest form and don't-care fields as `Any`.
pub(crate) fn canonical(table: &TableInfo, normal: &NormalKey) -> Vec<Match> {
    table
        .keys
        .iter()
        .map(|key| {
            let range = key.words.0..key.words.0 + key.words.1;
            let (value, other) = (&normal.values[range.clone()], &normal.others[range]);
            let free = other.iter().all(|&word| word == 0);
            match key.kind {
                MatchKind::Exact => Match::Exact(to_bytes(value)),
                MatchKind::Range => {
                    if value.iter().all(|&word| word == 0) && other == prefix_mask(key.bits, key.bits) {
                        Match::Any
                    } else {
                        Match::Range { low: to_bytes(value), high: to_bytes(other) }
                    }
                }
                _ if free => Match::Any,
                MatchKind::Optional => Match::Optional(to_bytes(value)),
                MatchKind::Lpm => Match::Lpm { value: to_bytes(value), prefix_bits: normal.prefix_bits },
                MatchKind::Ternary => Match::Ternary { value: to_bytes(value), mask: to_bytes(other) },
            }
        })
        .collect()
}
