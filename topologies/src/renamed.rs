//! Keys of documents that changed before the first release. An old key is refused with the new one in the
//! message; this file goes after one release.

/// Keys of networks: the old key, the new one, and how to write the new one.
const NETWORK: [(&str, &str, &str); 9] = [
    ("aggregation", "aggregation_capacity", "aggregation_capacity: 6 Gbps"),
    ("ingress", "ingress_capacity", "ingress_capacity: 4 Gbps"),
    ("required", "required_pairs", "required_pairs: [[p1, p2]]"),
    ("waited", "rounds_since_contact", "rounds_since_contact: [[p1, p2, 3]]"),
    ("pause", "upload_delay", "upload_delay: {mean: 1 s}"),
    ("speed", "samples_per_second", "samples_per_second: 2000"),
    ("computes", "compute", "compute: {default: {mean: 1 s}, overrides: {w1: {mean: 2 s}}}"),
    ("batches", "batch", "batch: {default: 32, overrides: {w1: 64}}"),
    ("updates", "update", "update: {default: 200 MB, overrides: {p1: 100 MB}}"),
];

/// Keys of fault schedules.
const FAULTS: [(&str, &str, &str); 2] =
    [("for", "duration", "duration: 2 s"), ("bounce", "interface_down", "interface_down: w1")];

/// Returns the problem and the fix of an old key of a network's document, where `known` are the keys that the
/// place takes.
pub(crate) fn of_network(key: &str, known: &[&str]) -> Option<(String, String)> {
    explained(&NETWORK, key, known)
}

/// Returns the same of a fault schedule.
pub(crate) fn of_faults(key: &str, known: &[&str]) -> Option<(String, String)> {
    explained(&FAULTS, key, known)
}

/// Returns the old and the new keys of networks whose values stayed the same.
pub(crate) fn moved() -> impl Iterator<Item = (&'static str, &'static str)> {
    NETWORK[..6].iter().map(|(old, new, _)| (*old, *new))
}

fn explained(keys: &[(&str, &str, &str)], key: &str, known: &[&str]) -> Option<(String, String)> {
    let (old, new, example) = keys.iter().find(|(old, new, _)| *old == key && known.contains(new))?;
    Some((format!("`{old}` is now `{new}`"), format!("write it like `{example}`")))
}

/// Splits the parser's line about an unknown key into the key and the known ones.
pub(crate) fn unknown(problem: &str) -> Option<(&str, Vec<&str>)> {
    let (key, rest) = problem.strip_prefix("unknown field `")?.split_once('`')?;
    let known = rest.split_once("expected ").map_or("", |(_, known)| known.trim_start_matches("one of "));
    Some((
        key,
        known.split(", ").flat_map(|key| key.split(" or ")).map(|key| key.trim_matches('`')).collect(),
    ))
}
