//! `ARCHITECTURE.md` is true, no files of a crate import each other in a circle, and cargo builds and runs
//! all tests.

mod circles;
mod commits;
mod document;
mod invariants;
mod lines;
mod modules;
mod packages;
mod solver;
mod source;
mod targets;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use circles::Crate;
use document::levels;

fn root() -> PathBuf {
    Path::new(env!("INART_ROOT")).to_owned()
}

/// Returns cargo's data of the members of the workspace.
fn packages() -> Vec<Value> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root());
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Returns the members of the workspace, and the members that each depends on.
fn members() -> BTreeMap<String, BTreeSet<String>> {
    packages()
        .iter()
        .map(|package| {
            let name =
                |value: &Value| value["name"].as_str().unwrap().strip_prefix("inart-").map(str::to_owned);
            let needed = package["dependencies"].as_array().unwrap().iter();
            // Only tests need those of another kind, or the build does.
            let normal = needed.filter(|dependency| dependency["kind"].is_null());
            (name(package).expect("members are called inart-…"), normal.filter_map(name).collect())
        })
        .collect()
}

fn document() -> String {
    std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

/// The systems, by the words that name their folders.
const SYSTEMS: [&str; 4] = ["aggregation", "sites", "peers", "ps"];

/// Returns the folder of each package, from the root, and its first part.
fn folders() -> BTreeMap<String, PathBuf> {
    let of = |package: &Value| {
        let name = package["name"].as_str().unwrap().strip_prefix("inart-").unwrap().to_owned();
        (name, targets::folder(package).strip_prefix(root()).unwrap().to_owned())
    };
    packages().iter().map(of).collect()
}

fn top(folder: &Path) -> &str {
    folder.iter().next().and_then(|part| part.to_str()).unwrap()
}

#[test]
fn every_package_is_listed_under_its_folder() {
    let listed = document::packages(&document());
    for (name, folder) in folders() {
        let top = top(&folder);
        let under = listed.iter().find(|(heading, names)| heading.contains(top) && names.contains(&name));
        assert!(under.is_some(), "ARCHITECTURE.md does not list {name} under a heading with {top}");
    }
    let known: BTreeSet<_> = members().into_keys().collect();
    let unknown: Vec<_> = listed.values().flatten().filter(|name| !known.contains(*name)).collect();
    assert!(unknown.is_empty(), "ARCHITECTURE.md lists packages that do not exist: {unknown:?}");
}

#[test]
fn packages_are_named_after_their_folders() {
    for (name, folder) in folders() {
        let path = folder.to_str().unwrap().replace('/', "-");
        let is_tail =
            path.strip_suffix(&name).is_some_and(|before| before.is_empty() || before.ends_with('-'));
        assert!(is_tail, "inart-{name} is in {}", folder.display());
    }
}

#[test]
fn packages_use_folders_of_lower_levels() {
    let (levels, folders, members) = (levels(&document()), folders(), members());
    for (name, needed) in &members {
        let from = top(&folders[name]);
        // Tests and examples use everything.
        let Some(level) = levels.get(from) else { continue };
        for other in needed {
            let to = top(&folders[other]);
            let is_lower = levels.get(to).is_some_and(|lower| lower < level);
            assert!(from == to || is_lower, "{name} needs {other}, whose folder is not of a lower level");
        }
    }
}

#[test]
fn the_tree_has_every_folder() {
    let tracked = Command::new("git")
        .args(["ls-tree", "-d", "--name-only", "HEAD"])
        .current_dir(root())
        .output()
        .unwrap();
    let tracked = String::from_utf8(tracked.stdout).unwrap();
    let mut folders: BTreeSet<_> = tracked.lines().filter(|name| !name.starts_with('.')).collect();
    for outside in ["tests", "examples", "mininet", "docs"] {
        assert!(folders.remove(outside), "no folder {outside}");
    }
    let levels = levels(&document());
    assert_eq!(levels.keys().map(String::as_str).collect::<BTreeSet<_>>(), folders);
}

#[test]
fn each_role_has_folders_by_the_four_words() {
    for role in ["protocol", "planner"] {
        for system in SYSTEMS {
            assert!(root().join(role).join(system).is_dir(), "no folder {role}/{system}");
        }
    }
    // The folder itself holds the processes of aggregation.
    for system in &SYSTEMS[1..] {
        assert!(root().join("host-agent").join(system).is_dir(), "no folder host-agent/{system}");
    }
    for system in SYSTEMS {
        assert!(root().join("simulator").join(system).is_dir(), "no folder simulator/{system}");
    }
    // Each system besides aggregation, which several pages specify, has one page of its protocol.
    for system in &SYSTEMS[1..] {
        assert!(
            root().join("docs/protocol").join(system).with_extension("md").is_file(),
            "no page docs/protocol/{system}.md"
        );
    }
    for folder in SYSTEMS.iter().chain(&["machine"]) {
        assert!(root().join("emulator/src").join(folder).is_dir(), "no folder emulator/src/{folder}");
    }
    for command in ["simulate", "emulate", "host"] {
        let folder = root().join("cli/src/commands").join(command);
        for system in SYSTEMS {
            let is_there = folder.join(system).is_dir() || folder.join(system).with_extension("rs").is_file();
            assert!(is_there, "nothing of {system} in {}", folder.display());
        }
    }
}

/// Third-party packages that packages of `protocol` may use.
const PURE: &[&str] = &["prost", "serde", "serde_json", "sha2", "thiserror"];

#[test]
fn protocol_uses_nothing_that_does_io() {
    let folders = folders();
    for package in packages() {
        let folder = &folders[package["name"].as_str().unwrap().strip_prefix("inart-").unwrap()];
        if top(folder) != "protocol" {
            continue;
        }
        let needed = package["dependencies"].as_array().unwrap().iter();
        for dependency in needed.filter(|dependency| dependency["kind"].is_null()) {
            let name = dependency["name"].as_str().unwrap();
            let is_ours = name.strip_prefix("inart-").is_some_and(|name| top(&folders[name]) == "protocol");
            assert!(is_ours || PURE.contains(&name), "{} uses {name}", folder.display());
        }
    }
}

/// Sources of a folder, without comments, strings and tests.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let read = |file: PathBuf| {
        let text = source::strip(&std::fs::read_to_string(&file).unwrap());
        (file, text)
    };
    modules::below(folder, "rs").into_iter().map(read).collect()
}

#[test]
fn hosts_hold_no_rule_about_messages() {
    for system in &SYSTEMS[1..] {
        let host = root().join("host-agent").join(system).join("host/src");
        let all = sources(&host);
        assert!(!all.is_empty(), "no sources in {}", host.display());
        for (file, text) in all {
            // A training's terms in a file are no message.
            let decodes = text.replace("Terms::decode(", "").contains("decode(");
            assert!(!decodes, "{} decodes messages; its machine must", file.display());
            assert!(!text.contains("tokio::select!"), "{} has a loop; use `drive`", file.display());
        }
    }
    let drive = root().join("transport/connections/src/drive.rs");
    let loops = source::strip(&std::fs::read_to_string(drive).unwrap()).matches("tokio::select!").count();
    assert_eq!(loops, 1, "one loop drives all machines");
}

/// Files whose heap does not order events in virtual time: file, and the contents of the heap.
const HEAPS: &[(&str, &str)] = &[
    ("emulator/src/machine/relay.rs", "frames that are held back in real time"),
    ("planner/aggregation/src/lp/dag.rs", "shortest paths by Dijkstra"),
    ("planner/aggregation/src/results/nearest.rs", "shortest paths by Dijkstra"),
    ("planner/aggregation/src/routes.rs", "shortest paths by Dijkstra"),
    ("planner/aggregation/src/whole/cover.rs", "branch and bound, the best region first"),
];

/// Types of queues of events that do not use `Timeline`.
const QUEUES: &[&str] =
    &["BinaryHeap", "BTreeMap<(u64,u64),Event>", "BTreeMap<(Instant,u64),", "BTreeMap<(Duration,u64),"];

#[test]
fn events_in_time_have_one_heap() {
    let folders: BTreeSet<_> = folders().values().map(|folder| top(folder).to_owned()).collect();
    let (mut found, mut heaps) = (BTreeSet::new(), BTreeSet::new());
    for folder in folders {
        for file in modules::below(&root().join(&folder), "rs") {
            let path = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            // Tests count, too.
            let text = source::strip(&std::fs::read_to_string(&file).unwrap().replace("#[cfg(test)]", ""));
            let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            let has = QUEUES.iter().any(|queue| text.contains(queue));
            if has && HEAPS.iter().any(|(known, _)| *known == path) {
                heaps.insert(path);
            } else if has && !path.starts_with("transport/virtual/src/") && !path.contains("/target/") {
                found.insert(path);
            }
        }
    }
    assert!(found.is_empty(), "use `inart_virtual::Timeline` for events in time: {found:?}");
    let known: BTreeSet<_> = HEAPS.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(heaps, known, "no heap any more: take these off the list");
}

#[test]
fn no_files_import_each_other() {
    // The examples have no src: each is a file of its own. The toy system is a program of tests.
    let packages = packages();
    let sources = packages.iter().map(|package| (targets::folder(package).join("src"), &package["name"]));
    let crates: Vec<_> = sources
        .filter(|(folder, name)| folder.is_dir() || (*name != "inart-examples" && *name != "inart-toy"))
        .map(|(folder, name)| (Crate::read(&folder), name.to_string()))
        .collect();
    let circles_of = |(files, name): &(Crate, String)| {
        files.circles().into_iter().map(|circle| (name.clone(), circle)).collect::<Vec<_>>()
    };
    let found: Vec<_> = crates.iter().flat_map(circles_of).collect();
    let pairs: Vec<_> = crates.iter().flat_map(|(files, _)| files.pairs()).collect();
    assert!(found.is_empty(), "files that import each other: {found:#?}; of all, directly: {pairs:#?}");
}

#[test]
fn every_file_of_tests_is_run() {
    let untested: Vec<_> = packages().iter().flat_map(targets::untested).collect();
    assert!(
        untested.is_empty(),
        "no program of tests has {untested:?}: name each in tests/main.rs or tests/root.rs of its crate"
    );
}

#[test]
fn every_file_of_seeds_is_read() {
    let forgotten: Vec<_> = packages().iter().flat_map(targets::forgotten_seeds).collect();
    assert!(
        forgotten.is_empty(),
        "proptest does not find {forgotten:?}; move them next to their tests' files"
    );
}

#[test]
fn a_crate_has_at_most_two_programs_of_tests() {
    let surplus: Vec<_> = packages().iter().flat_map(targets::surplus).collect();
    assert!(
        surplus.is_empty(),
        "set autotests = false; tests belong to the program CRATE (tests/main.rs), or CRATE-root (tests/root.rs) where they need root; \
         a program of its own needs a reason in tests/tests/architecture/targets.rs: {surplus:#?}"
    );
}

#[test]
fn cargo_tests_the_libraries_and_commands_that_have_tests_and_no_others() {
    let mislabeled: Vec<_> = packages().iter().flat_map(targets::mislabeled).collect();
    assert!(mislabeled.is_empty(), "in Cargo.toml, by [lib] or [[bin]]: {mislabeled:#?}");
}
