//! Counts in sentences.

/// Returns a count with its noun, as in `1 update`, `2 updates`, `3 switches` and `4 processes`.
pub fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or_default();
    let ending = match count {
        1 => "",
        _ if ["ch", "s"].iter().any(|end| noun.ends_with(end)) => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}
