//! The keys of network documents, from the list that their reader uses.

use inart_topologies::document::KEYS;

use super::cell;

/// Returns the table of a section's keys; `network` is the document itself.
pub fn table(section: &str) -> String {
    let keys = KEYS.iter().flat_map(|keys| *keys).filter(|key| key.section == section);
    let row = |key: &inart_topologies::document::Key| {
        let example = key.example.replace('|', "\\|");
        let default = cell(key.default);
        format!(
            "| `{}` | {} | {} | {default} | {} | `{}: {example}` |\n",
            key.name,
            key.kinds_in_words(),
            key.value_in_words(),
            cell(key.about),
            key.name
        )
    };
    let rows: String = keys.map(row).collect();
    assert!(!rows.is_empty(), "no section {section}");
    format!("| Key | Networks of | Value | Default | Meaning | Example |\n|---|---|---|---|---|---|\n{rows}")
}
