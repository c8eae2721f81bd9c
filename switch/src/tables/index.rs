//! Indexes from key words to row numbers: hash for exact, one hash per length for longest prefix, a
//! list in order of priority for everything else.

use rustc_hash::FxHashMap;

use super::key::NormalKey;
use crate::program::{MatchKind, TableInfo};

type Hash = FxHashMap<Box<[u64]>, u32>;

#[derive(Debug)]
pub(crate) enum Index {
    /// No key fields: never a hit.
    Keyless,
    /// One key word; the commonest case.
    ExactWord(FxHashMap<u64, u32>),
    Exact(Hash),
    /// By prefix length, longest first: the mask and the rows.
    Lpm(Vec<Length>),
    Ordered {
        kinds: Vec<(bool, usize, usize)>,
        rows: Vec<Ordered>,
    },
}

#[derive(Debug)]
pub(crate) struct Length {
    bits: u32,
    mask: Vec<u64>,
    rows: Hash,
}

#[derive(Debug)]
pub(crate) struct Ordered {
    priority: i64,
    values: Box<[u64]>,
    others: Box<[u64]>,
    row: u32,
}

impl Index {
    pub fn new(table: &TableInfo) -> Index {
        let lpm = table.keys.iter().filter(|key| key.kind == MatchKind::Lpm).count();
        let exact = table.keys.iter().filter(|key| key.kind == MatchKind::Exact).count();
        if table.keys.is_empty() {
            Index::Keyless
        } else if exact == table.keys.len() {
            if table.parts.len() == 1 {
                Index::ExactWord(Default::default())
            } else {
                Index::Exact(Hash::default())
            }
        } else if lpm == 1 && exact + 1 == table.keys.len() {
            Index::Lpm(Vec::new())
        } else {
            let kinds = table
                .keys
                .iter()
                .map(|key| (key.kind == MatchKind::Range, key.words.0, key.words.1))
                .collect();
            Index::Ordered { kinds, rows: Vec::new() }
        }
    }

    /// Returns whether entries need a priority.
    pub fn ordered(&self) -> bool {
        matches!(self, Index::Ordered { .. })
    }

    pub fn insert(&mut self, key: &NormalKey, priority: i32, row: u32) {
        match self {
            Index::Keyless => {}
            Index::ExactWord(rows) => {
                rows.insert(key.values[0], row);
            }
            Index::Exact(rows) => {
                rows.insert(key.values.clone().into(), row);
            }
            Index::Lpm(lengths) => {
                let at = lengths.partition_point(|length| length.bits > key.prefix_bits);
                if lengths.get(at).is_none_or(|length| length.bits != key.prefix_bits) {
                    let mask = key.others.clone();
                    lengths.insert(at, Length { bits: key.prefix_bits, mask, rows: Hash::default() });
                }
                lengths[at].rows.insert(key.values.clone().into(), row);
            }
            Index::Ordered { rows, .. } => {
                // bmv2 breaks ties of a longest-prefix field in such a table by its length.
                let priority = i64::from(priority) << 16 | i64::from(key.prefix_bits);
                let at = rows.partition_point(|other| other.priority >= priority);
                let (values, others) = (key.values.clone().into(), key.others.clone().into());
                rows.insert(at, Ordered { priority, values, others, row });
            }
        }
    }

    pub fn remove(&mut self, key: &NormalKey, row: u32) {
        match self {
            Index::Keyless => {}
            Index::ExactWord(rows) => {
                rows.remove(&key.values[0]);
            }
            Index::Exact(rows) => {
                rows.remove(key.values.as_slice());
            }
            Index::Lpm(lengths) => {
                for length in lengths.iter_mut().filter(|length| length.bits == key.prefix_bits) {
                    length.rows.remove(key.values.as_slice());
                }
                lengths.retain(|length| !length.rows.is_empty());
            }
            Index::Ordered { rows, .. } => rows.retain(|other| other.row != row),
        }
    }

    /// Returns the row that matches. `scratch` has room for the key.
    #[inline]
    pub fn lookup(&self, key: &[u64], scratch: &mut Vec<u64>) -> Option<u32> {
        match self {
            Index::Keyless => None,
            Index::ExactWord(rows) => rows.get(&key[0]).copied(),
            Index::Exact(rows) => rows.get(key).copied(),
            Index::Lpm(lengths) => lengths.iter().find_map(|length| {
                scratch.clear();
                scratch.extend(key.iter().zip(&length.mask).map(|(word, mask)| word & mask));
                length.rows.get(scratch.as_slice()).copied()
            }),
            Index::Ordered { kinds, rows } => {
                rows.iter().find(|row| row.matches(kinds, key)).map(|row| row.row)
            }
        }
    }
}

impl Ordered {
    fn matches(&self, kinds: &[(bool, usize, usize)], key: &[u64]) -> bool {
        kinds.iter().all(|&(range, first, count)| {
            let words = first..first + count;
            let (key, value, other) = (&key[words.clone()], &self.values[words.clone()], &self.others[words]);
            if range {
                value <= key && key <= other
            } else {
                key.iter().zip(value).zip(other).all(|((key, value), mask)| key & mask == *value)
            }
        })
    }
}
