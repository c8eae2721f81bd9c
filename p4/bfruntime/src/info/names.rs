//! Dotted names and their ends.

/// Whether the last parts of a dotted name are these.
pub(super) fn ends(name: &str, with: &str) -> bool {
    name.strip_suffix(with).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// What follows the last dot; all of a name that begins with `$`.
pub(super) fn short(name: &str) -> &str {
    if name.starts_with('$') { name } else { name.rsplit('.').next().unwrap_or(name) }
}
