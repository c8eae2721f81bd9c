//! States that differ in names and counts only are one.

use std::hash::{DefaultHasher, Hasher};

/// The key of a state by its `Debug` text. What a packet is called says nothing beside its contents, which
/// the text has, too; counters of what was dropped decide nothing.
pub fn key(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut rest = text;
    while let Some(at) = rest.find(['_', 'C']) {
        let (before, from) = rest.split_at(at);
        hasher.write(before.as_bytes());
        let skipped = from.strip_prefix("Counters {").map(|names| names.find('}').unwrap_or(names.len()));
        rest = match skipped {
            Some(length) => &from["Counters {".len() + length..],
            None => numbers(from, &mut hasher),
        };
    }
    hasher.write(rest.as_bytes());
    hasher.finish()
}

/// What follows a field whose numbers are names; else all but the first character.
fn numbers<'t>(from: &'t str, hasher: &mut DefaultHasher) -> &'t str {
    let digits = |text: &'t str| text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    for field in ["_id: ", "_again: ", "_way: Some("] {
        if let Some(number) = from.strip_prefix(field) {
            hasher.write(field.as_bytes());
            return digits(number);
        }
    }
    // Chunks under way: by what they are called, which they are.
    if let Some(map) = from.strip_prefix("_way: {") {
        let (map, rest) = map.split_at(map.find('}').unwrap_or(map.len()));
        let mut chunks: Vec<&str> = map.split(", ").filter_map(|pair| pair.split(": ").nth(1)).collect();
        chunks.sort_unstable();
        chunks.iter().for_each(|chunk| hasher.write(chunk.as_bytes()));
        return rest;
    }
    hasher.write(&from.as_bytes()[..1]);
    &from[1..]
}
