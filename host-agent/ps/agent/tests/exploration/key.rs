//! Merges states that differ in names and counters only.

use std::hash::{DefaultHasher, Hasher};

/// Returns the key of a state by its `Debug` text. The number of a packet means nothing next to its contents,
/// which the text has, too; drop counters decide nothing.
pub fn key(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let (mut rest, mut at) = (text, 0);
    while let Some(found) = rest.as_bytes()[at..].iter().position(|byte| matches!(byte, b'_' | b'C')) {
        at += found;
        let (before, from) = rest.split_at(at);
        match named(from) {
            Some((kept, chunks, after)) => {
                hasher.write(before.as_bytes());
                hasher.write(kept.as_bytes());
                chunks.iter().for_each(|chunk| hasher.write(chunk.as_bytes()));
                (rest, at) = (after, 0);
            }
            None => at += 1,
        }
    }
    hasher.write(rest.as_bytes());
    hasher.finish()
}

/// If names or counters start here: what to keep of them, and the rest.
fn named(from: &str) -> Option<(&str, Vec<&str>, &str)> {
    if let Some(names) = from.strip_prefix("Counters {") {
        return Some(("", Vec::new(), &names[names.find('}').unwrap_or(names.len())..]));
    }
    for field in ["_id: ", "_again: ", "_way: Some("] {
        if let Some(number) = from.strip_prefix(field) {
            return Some((
                field,
                Vec::new(),
                number.trim_start_matches(|digit: char| digit.is_ascii_digit()),
            ));
        }
    }
    // Chunks in flight, by their numbers.
    let map = from.strip_prefix("_way: {")?;
    let (map, rest) = map.split_at(map.find('}').unwrap_or(map.len()));
    let mut chunks: Vec<&str> = map.split(", ").filter_map(|pair| pair.split(": ").nth(1)).collect();
    chunks.sort_unstable();
    Some(("", chunks, rest))
}
