//! Processes of hosts print events of one type, and the emulator reads processes by that type only.

use std::path::Path;

use super::{root, sources};

/// Returns the files of a folder whose code has a word.
fn with_word(folder: &str, word: &str) -> Vec<String> {
    let folder = root().join(folder);
    let all = sources(&folder);
    assert!(!all.is_empty(), "no sources in {}", folder.display());
    let named = |(file, text): (std::path::PathBuf, String)| {
        let file = file.strip_prefix(&folder).unwrap_or(Path::new("")).display().to_string();
        let is_start =
            |(at, _): (usize, &str)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        text.match_indices(word).any(is_start).then_some(file)
    };
    let mut found: Vec<_> = all.into_iter().filter_map(named).collect();
    found.sort();
    found
}

#[test]
fn hosts_print_events_by_their_type() {
    // `inart_report::Line` writes the JSON. Values without a type would compile with any keys.
    for word in ["json!", "serde_json", "println!", "io::stdout"] {
        assert_eq!(with_word("cli/src/commands/host", word), [""; 0], "{word} in cli/src/commands/host");
    }
    assert!(!with_word("cli/src/commands/host", "print_event").is_empty());
}

#[test]
fn hosts_use_no_emulator() {
    assert_eq!(with_word("cli/src/commands/host", "inart_emulator"), [""; 0]);
    // The test can see such a use.
    assert!(!with_word("cli/src/commands/emulate", "inart_emulator").is_empty());
}

#[test]
fn the_emulator_reads_processes_by_their_events_only() {
    assert_eq!(with_word("emulator/src", "Line::read("), ["machine/crew.rs"]);
    // A testbed's description, which a user gives, and decisions, which the controller's API has as JSON.
    for word in ["serde_json::from_", "serde_json::Value"] {
        let found = with_word("emulator/src", word);
        let others = found.iter().filter(|file| {
            !["aggregation/external.rs", "aggregation/controller_events.rs"].contains(&&***file)
        });
        assert_eq!(others.count(), 0, "{word} in {found:?}");
    }
    // And the factor of rates, which that description has.
    assert_eq!(with_word("emulator/src", "Deserialize"), ["aggregation/external.rs", "machine/scale.rs"]);
}
