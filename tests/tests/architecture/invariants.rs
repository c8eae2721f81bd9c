//! The invariants that `ARCHITECTURE.md` states of folders, each a test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::source::Source;
use super::{SYSTEMS, folders, members, root, sources, top};

/// Returns the sources of the packages in a folder, by their paths from the root.
fn packages_of(folder: &str) -> Vec<(String, String)> {
    let all = folders().into_values().filter(|package| top(package) == folder);
    let found: Vec<_> = all.flat_map(|package| sources(&root().join(package).join("src"))).collect();
    assert!(!found.is_empty(), "no sources in {folder}");
    found.into_iter().map(|(file, text)| (from_root(&file), text)).collect()
}

fn from_root(file: &Path) -> String {
    file.strip_prefix(root()).unwrap().display().to_string()
}

/// Returns whether a source imports or names a path that this holds of.
fn names(text: &str, is_one: impl Fn(&[String]) -> bool) -> bool {
    let Source { imported, named } = Source::parse(text);
    imported.iter().map(|(_, path)| path).chain(&named).any(|path| is_one(path))
}

/// Returns whether a source names something below one of these paths.
fn names_below(text: &str, paths: &[&str]) -> bool {
    let starts = |path: &[String], with: &str| with.split("::").zip(path).filter(|(a, b)| a == b).count();
    names(text, |path| paths.iter().any(|with| starts(path, with) == with.split("::").count()))
}

/// Returns the files of a folder's packages that name something below one of these paths.
fn files_that_name(folder: &str, paths: &[&str]) -> BTreeSet<String> {
    let all = packages_of(folder).into_iter();
    all.filter(|(_, text)| names_below(text, paths)).map(|(file, _)| file).collect()
}

/// Returns the packages that a folder's packages need in other folders, with the paths of those.
fn needs(folder: &str) -> Vec<(String, PathBuf)> {
    let folders = folders();
    let pairs =
        members().into_iter().flat_map(|(name, others)| others.into_iter().map(move |of| (name.clone(), of)));
    let outside =
        pairs.filter(|(name, other)| top(&folders[name]) == folder && top(&folders[other]) != folder);
    outside.map(|(name, other)| (name, folders[&other].clone())).collect()
}

/// Clocks, threads, files, sockets and processes.
const OUTSIDE: &[&str] = &[
    "std::time::Instant",
    "std::time::SystemTime",
    "std::thread",
    "std::fs",
    "std::net",
    "std::process",
    "std::io",
    "std::env",
    "tokio",
];

#[test]
fn protocol_has_no_io_no_clock_and_no_thread() {
    assert_eq!(files_that_name("protocol", OUTSIDE), BTreeSet::new());
}

#[test]
fn transports_know_no_message_of_a_system() {
    for (name, other) in needs("transport") {
        let is_of_a_system = SYSTEMS.iter().any(|system| other.ends_with(system));
        assert!(!is_of_a_system, "{name} needs {}; a transport carries bytes", other.display());
    }
}

#[test]
fn topologies_alone_reads_documents() {
    let mut found = BTreeSet::new();
    for folder in folders().into_values().filter(|folder| top(folder) != "topologies") {
        let all = sources(&root().join(folder).join("src")).into_iter();
        let reads = all.filter(|(_, text)| names_below(text, &["serde_saphyr"]));
        found.extend(reads.map(|(file, _)| from_root(&file)));
    }
    // The addresses of switches, which are no network.
    assert_eq!(found, BTreeSet::from(["cli/src/commands/control.rs".to_owned()]), "call `Network::read`");
}

/// A document is parsed once, by the reader that its caller names. Only `Network` takes any kind.
#[test]
fn only_the_reader_finds_out_a_documents_kind() {
    let parses = |(_, text): &(String, String)| {
        names(text, |path| path.ends_with(&["Document", "from_yaml"].map(str::to_owned)))
    };
    let found = packages_of("topologies").into_iter().filter(parses).map(|(file, _)| file);
    let readers = ["network", "peers/read", "ps/switched", "sites/read", "switched/read"];
    let readers = readers.map(|file| format!("topologies/src/{file}.rs"));
    assert_eq!(found.collect::<BTreeSet<_>>(), readers.clone().into());
    for (file, text) in packages_of("topologies").into_iter().filter(|(file, _)| readers.contains(file)) {
        assert!(!text.contains("(text: &str) -> bool"), "{file}: take `Network::kind`");
    }
    for (file, text) in packages_of("cli") {
        assert!(!text.contains("are_asked"), "{file}: take `Network::kind`");
    }
}

#[test]
fn topologies_alone_exports_what_it_has() {
    for folder in folders().into_values().filter(|folder| top(folder) != "topologies") {
        for (file, text) in sources(&root().join(folder).join("src")) {
            let hands_on = text.contains("pub use inart_topologies");
            assert!(!hands_on, "{}: import it from inart_topologies where it is used", file.display());
        }
    }
}

#[test]
fn planners_are_pure_functions() {
    assert_eq!(files_that_name("planner", OUTSIDE), BTreeSet::new());
    for (name, other) in needs("planner") {
        // Predictions share the rates of links in virtual time and draw from seeds: functions of their
        // arguments.
        let is_virtual = other == Path::new("transport/virtual");
        let is_pure = is_virtual || ["protocol", "topologies"].contains(&top(&other));
        assert!(is_pure, "{name} needs {}", other.display());
    }
}

/// Files of simulators, other than the agents, that read or write messages.
const READERS: [&str; 3] = [
    // A link's use by a message depends on the message's kind.
    "simulator/sites/src/links.rs",
    // Faults: sites and schedulers that do not follow the protocol.
    "simulator/sites/src/hostile.rs",
    "simulator/sites/src/stranger.rs",
];

/// Machines alone decide about messages, in virtual time as in hosts.
#[test]
fn simulators_read_no_message() {
    let is_message = |path: &[String]| {
        path.iter()
            .any(|part| ["Body", "decode", "encode", "message", "policy_message"].contains(&part.as_str()))
    };
    let of = |(file, _): &(String, String)| {
        ["sites", "peers", "ps", "world"].iter().any(|part| file.starts_with(&format!("simulator/{part}/")))
    };
    let found = packages_of("simulator").into_iter().filter(of).filter(|(_, text)| names(text, is_message));
    assert_eq!(found.map(|(file, _)| file).collect::<BTreeSet<_>>(), READERS.map(str::to_owned).into());
}
