//! Dotted names and their ends.

/// Returns whether the last parts of a dotted name are these.
pub(super) fn ends(name: &str, with: &str) -> bool {
    name.strip_suffix(with).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Returns the part after the last dot; the whole name if it starts with `$`.
pub(super) fn short(name: &str) -> &str {
    if name.starts_with('$') { name } else { name.rsplit('.').next().unwrap_or(name) }
}
