//! Counts in sentences.

/// Returns a count with its noun, as in `1 update`, `2 updates`, `3 switches`, `4 processes` and `5 copies`.
pub fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or_default();
    let stem = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    let is_sibilant = || ["ch", "sh", "s", "x"].iter().any(|end| noun.ends_with(end));
    match (count, stem) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        _ if is_sibilant() => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

#[test]
fn one_is_singular_and_plurals_are_spelled_by_the_last_letters() {
    let nouns = ["site", "switch", "push", "process", "copy", "day", "box", "repair request"];
    let all = |count: u32| nouns.map(|noun| counted(count, noun)).join(", ");
    assert_eq!(all(1), "1 site, 1 switch, 1 push, 1 process, 1 copy, 1 day, 1 box, 1 repair request");
    assert_eq!(
        all(0),
        "0 sites, 0 switches, 0 pushes, 0 processes, 0 copies, 0 days, 0 boxes, 0 repair requests"
    );
    assert_eq!(counted(2_u64, "try"), "2 tries");
}
