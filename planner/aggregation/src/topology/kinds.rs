//! Kinds of a document's nodes, before the kind of network is known.

use serde::Deserialize;

use super::parse::read_document;

/// As many as the largest document of any kind of network has.
const MAX_EVENTS: usize = 20_000_000;

/// Just enough of a document to see what its nodes are.
#[derive(Deserialize)]
struct Glance {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    kind: String,
}

/// Returns whether a node of a document is of this kind, such as `site`. A document with a syntax error is
/// searched for `kind: site`, so that the reader for networks of this kind names the error.
pub fn has_kind(text: &str, kind: &str) -> bool {
    if !text.contains(kind) {
        return false;
    }
    match read_document::<Glance>(text, MAX_EVENTS, |problem| (problem.to_owned(), "")) {
        Ok(glance) => glance.nodes.iter().any(|node| node.kind == kind),
        Err(_) => text.lines().any(|line| names_kind(line, kind)),
    }
}

/// Whether a line has `kind: KIND` before any comment.
fn names_kind(line: &str, kind: &str) -> bool {
    const QUOTES: [char; 2] = ['"', '\''];
    let line = line.split_once('#').map_or(line, |(before, _)| before);
    line.match_indices("kind").any(|(at, key)| {
        let rest = line[at + key.len()..].trim_start_matches(QUOTES).trim_start();
        let value = rest.strip_prefix(':').map(|rest| rest.trim_start().trim_start_matches(QUOTES));
        let after = value.and_then(|value| value.strip_prefix(kind));
        after.is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-'))
    })
}

#[cfg(test)]
mod tests {
    use super::has_kind;

    #[test]
    fn a_kind_is_seen_in_sound_and_in_broken_documents() {
        for (text, is_site) in [
            ("nodes: [{name: a, kind: site}]", true),
            ("nodes:\n- name: a\n  kind: site\n", true),
            (r#"{"nodes": [{"name": "a", "kind": "site"}]}"#, true),
            ("nodes: [{name: a, kind: site}]\nlinks: [{rate: .inf}]", true),
            ("nodes: [{name: a, kind: site}]\nlinks: [", true),
            ("nodes: [{name: a, kind: site}]\nname: a\nname: b", true),
            (r#"{"nodes": [{"kind": "site"}], "#, true),
            ("nodes: [{name: a, kind: 'site'}, {name: b}]", true),
            ("name: site\nnodes: [{name: site, kind: switch}]", false),
            ("nodes: [{name: a, kind: switch}] # kind: site\nlinks: [", false),
            ("nodes: [{name: a, kind: sites}]\nlinks: [", false),
            ("", false),
        ] {
            assert_eq!(has_kind(text, "site"), is_site, "{text}");
        }
    }
}
