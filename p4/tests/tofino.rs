//! The committed artifacts of the program for Tofino equal the output of the generator and p4c for the
//! committed sources.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use inart_p4::{
    Barefoot, Chip, P4test, Resources, Variant, load_tofino_dir, tofino_artifact, tofino_generated,
};
use inart_wire::ValuesPerFrame;
use serde_json::Value;

const FOLDERS: [&str; 5] = ["include", "tofino", "tofino/include", "tofino/generated", "tofino/build"];

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn sources_and_artifacts_have_the_listed_hashes() {
    for variant in Variant::ALL {
        let loaded = load_tofino_dir(folder(), variant).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            tofino_artifact(variant) == Some(loaded),
            "the built-in artifact for {variant} is not the one on disk"
        );
    }
    let none = Variant { chip: Chip::Tofino1, values: ValuesPerFrame::N2048 };
    assert_eq!(tofino_artifact(none), None);
}

#[test]
fn the_generated_code_is_what_the_generator_prints() {
    for (file, text) in tofino_generated() {
        let found =
            fs::read_to_string(folder().join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(found == text, "{file} is not up to date: `cargo run -p inart-p4`");
    }
}

#[test]
fn the_artifacts_are_what_p4test_prints() {
    let Some(p4test) = P4test::find() else {
        eprintln!("skipped: p4test is not on the PATH");
        return;
    };
    let used = P4test::version_used(folder()).unwrap();
    if used != p4test.version() {
        eprintln!("skipped: p4test is {}, the artifacts are by {used}", p4test.version());
        return;
    }
    for variant in Variant::ALL {
        let json = p4test.compile(folder(), variant).unwrap_or_else(|error| panic!("{error}"));
        let committed = tofino_artifact(variant).unwrap();
        assert!(
            committed.json == json,
            "the artifact for {variant} is not up to date: `cargo run -p inart-p4`"
        );
    }
}

#[test]
fn the_programs_fit_their_chips_by_the_compilers_word() {
    for variant in Variant::ALL {
        let artifact = tofino_artifact(variant).unwrap();
        let taken = Resources::from_json(&artifact.resources).unwrap();
        let stages = match variant.chip {
            Chip::Tofino1 => 12,
            Chip::Tofino2 => 20,
        };
        assert_eq!(taken.stages.of, stages, "{variant}");
        for kind in [
            taken.stages,
            taken.sram_blocks,
            taken.tcam_blocks,
            taken.stateful_alus,
            taken.statistics_alus,
            taken.phv_bits,
        ] {
            assert!(0 < kind.used && kind.used <= kind.of, "{variant}: {taken:?}");
        }
        // A register for each value of a pass, seven that decide, three of the wave rule.
        assert_eq!(taken.stateful_alus.used, variant.values.get() / variant.passes() + 10, "{variant}");
    }
}

/// p4c-barefoot takes minutes for all of them.
#[test]
fn the_artifacts_are_what_the_back_end_prints() {
    let (Some(barefoot), Some(p4test)) = (Barefoot::find(), P4test::find()) else {
        eprintln!("skipped: p4c-barefoot, bfas and p4test are not all on the PATH");
        return;
    };
    let used = P4test::version_used(folder()).unwrap();
    if used != p4test.version() {
        eprintln!("skipped: p4test is {}, the artifacts are by {used}", p4test.version());
        return;
    }
    for variant in Variant::ALL {
        let printed = barefoot.compile(folder(), variant).unwrap_or_else(|error| panic!("{error}"));
        let committed = tofino_artifact(variant).unwrap();
        let same = (printed.bf_rt == *committed.bf_rt, printed.p4info == committed.p4info);
        assert_eq!(same, (true, true), "{variant} is not up to date: `cargo run -p inart-p4`");
        assert!(printed.resources == *committed.resources, "{variant} takes something else of the chip");
    }
}

/// Returns every node of a document: its kind, and its contents.
fn nodes(document: &Value) -> Vec<(&str, &Value)> {
    let mut found = Vec::new();
    let mut waiting = vec![document];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("Node_Type").and_then(Value::as_str).map(|kind| (kind, value)));
                waiting.extend(fields.values());
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    found
}

#[test]
fn the_intermediate_form_has_a_register_per_value_and_nothing_of_the_machine() {
    for variant in Variant::ALL {
        let json = String::from_utf8(tofino_artifact(variant).unwrap().json.into_owned()).unwrap();
        assert!(!json.contains("Source_Info") && !json.contains("/usr/") && !json.contains("p4include"));
        let document: Value = serde_json::from_str(&json).unwrap();
        let of = |kind: &str, part: &str| -> usize {
            let all = nodes(&document);
            let of_kind = all.iter().filter(|(found, _)| *found == kind);
            let names = of_kind.filter_map(|(_, node)| node["name"].as_str());
            // p4c keeps a table's form before its passes, for its type.
            names.filter(|name| name.contains(part)).collect::<BTreeSet<_>>().len()
        };
        let values = variant.values.get() / variant.passes();
        assert_eq!(of("Declaration_Instance", "slot_values_value"), values, "{variant}: registers");
        assert_eq!(of("P4Table", "slot_values_use"), values, "{variant}: tables");
        for table in ["steer", "results", "mac", "switch_ports"] {
            assert_eq!(of("P4Table", table), 1, "{variant}: tables {table}");
        }
    }
}

#[test]
fn both_programs_have_the_same_actions_and_keys() {
    let read = |file: &str| fs::read_to_string(folder().join(file)).unwrap();
    let (v1model, tofino) = (read("include/ingress.p4"), read("tofino/include/ingress.p4"));
    for action in ["forward", "add", "replicate", "send", "flood", "trust"] {
        let signature = |text: &str| {
            let (_, rest) = text.split_once(&format!("    action {action}(")).expect("the action is there");
            rest.split_once(')').expect("its parameters end").0.to_owned()
        };
        assert_eq!(signature(&v1model), signature(&tofino), "action {action}");
    }
    for table in ["steer", "results", "mac", "switch_ports"] {
        let keys = |text: &str| -> Vec<String> {
            let (_, rest) = text.split_once(&format!("    table {table} {{")).expect("the table is there");
            let (key, _) = rest.split_once("actions = ").expect("its actions follow");
            let keys = key.split(';').filter_map(|field| field.split_once(": "));
            keys.map(|(_, how)| how.trim().to_owned()).collect()
        };
        assert_eq!(keys(&v1model), keys(&tofino), "table {table}");
        assert!(!keys(&tofino).is_empty(), "table {table} has no key");
    }
}

/// Returns a copy of the P4 folder's part for Tofino in which to spoil something.
fn refusal(spoil: impl FnOnce(&Path)) -> String {
    let copy = tempfile::tempdir().unwrap();
    for part in FOLDERS {
        fs::create_dir_all(copy.path().join(part)).unwrap();
        for entry in folder().join(part).read_dir().unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), copy.path().join(part).join(entry.file_name())).unwrap();
            }
        }
    }
    load_tofino_dir(copy.path(), Variant::ALL[0]).expect("nothing is spoilt yet");
    spoil(copy.path());
    load_tofino_dir(copy.path(), Variant::ALL[0]).expect_err("the folder is spoilt").to_string()
}

#[test]
fn an_artifact_that_does_not_match_its_source_is_refused() {
    let mismatch = |what: &str| {
        format!("P4 artifact does not match its source: {what}; recompile with `cargo run -p inart-p4`")
    };
    let files = [
        "tofino/inart.p4",
        "tofino/include/slots.p4",
        "tofino/generated/seats.p4",
        "include/reasons.p4",
        "tofino/build/inart-tofino1-n32.json.xz",
        "tofino/build/inart-tofino1-n32.bf-rt.json.xz",
        "tofino/build/inart-tofino1-n32.p4info.txtpb.xz",
        "tofino/build/inart-tofino1-n32.resources.json",
    ];
    for file in files {
        let refused = refusal(|dir| {
            let contents = fs::read(dir.join(file)).unwrap();
            fs::write(dir.join(file), [&contents[..], b"\n"].concat()).unwrap();
        });
        assert_eq!(refused, mismatch(&format!("{file} changed")));
    }
    let added = refusal(|dir| fs::write(dir.join("tofino/include/new.p4"), "").unwrap());
    assert_eq!(added, mismatch("tofino/include/new.p4 is new"));
    let removed = refusal(|dir| fs::remove_file(dir.join("tofino/include/check.p4")).unwrap());
    assert_eq!(removed, mismatch("tofino/include/check.p4 is missing"));
}
