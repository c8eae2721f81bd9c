//! The committed artifacts of the program for Tofino that copies updates equal p4c's output for the committed
//! sources.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use inart_p4::{
    Barefoot, Chip, MULTICAST, P4test, Resources, Variant, load_tofino_multicast, print_tofino_multicast,
    tofino_multicast_artifact, tofino_multicast_version,
};
use inart_wire::ValuesPerFrame;

const FOLDERS: [&str; 3] = ["include", "tofino/multicast", "tofino/multicast/build"];

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn sources_and_artifact_have_the_listed_hashes() {
    for variant in MULTICAST {
        let loaded = load_tofino_multicast(folder(), variant).unwrap_or_else(|error| panic!("{error}"));
        let built_in = tofino_multicast_artifact(variant).unwrap();
        assert!(built_in == loaded, "the built-in artifact for {variant} is not the one on disk");
        let json = String::from_utf8(loaded.json.into_owned()).unwrap();
        assert!(
            !json.contains("Source_Info") && !json.contains("p4include"),
            "it names the folder of its compilation"
        );
    }
    let none = Variant { chip: Chip::Tofino1, values: ValuesPerFrame::N32 };
    assert_eq!(tofino_multicast_artifact(none), None);
}

#[test]
fn the_artifact_is_what_p4c_prints() {
    let (Some(barefoot), Some(p4test)) = (Barefoot::find(), P4test::find()) else {
        eprintln!("skipped: p4c-barefoot, bfas and p4test are not all on the PATH");
        return;
    };
    let used = tofino_multicast_version(folder()).unwrap();
    if used != p4test.version() {
        eprintln!("skipped: p4test is {}, the artifact is by {used}", p4test.version());
        return;
    }
    for variant in MULTICAST {
        let printed = print_tofino_multicast(folder(), variant, &p4test, &barefoot)
            .unwrap_or_else(|error| panic!("{error}"));
        let committed = tofino_multicast_artifact(variant).unwrap();
        let same = [
            printed.json == committed.json,
            printed.bf_rt == committed.bf_rt,
            printed.p4info == committed.p4info,
            printed.resources == committed.resources,
        ];
        assert_eq!(same, [true; 4], "{variant} is not up to date: `cargo run -p inart-p4`");
    }
}

#[test]
fn it_fits_the_chip_by_the_compilers_word_and_has_no_registers() {
    for (variant, stages) in MULTICAST.into_iter().zip([12, 20]) {
        let artifact = tofino_multicast_artifact(variant).unwrap();
        let taken = Resources::from_json(&artifact.resources).unwrap();
        let kinds =
            [taken.stages, taken.sram_blocks, taken.tcam_blocks, taken.statistics_alus, taken.phv_bits];
        for kind in kinds {
            assert!(0 < kind.used && kind.used <= kind.of, "{variant}: {taken:?}");
        }
        assert_eq!((taken.stages.of, taken.stateful_alus.used), (stages, 0), "{variant}");
    }
}

#[test]
fn it_has_the_tables_keys_and_actions_of_the_program_for_v1model() {
    let read = |file: &str| fs::read_to_string(folder().join(file)).unwrap();
    let both =
        [("updates", "ingress"), ("mac", "ingress"), ("switch_ports", "ingress"), ("receivers", "egress")];
    for (table, gress) in both {
        let keys = |text: &str| -> Vec<String> {
            let (_, rest) = text.split_once(&format!("    table {table} {{")).expect("the table is there");
            let (key, _) = rest.split_once("actions = ").expect("its actions follow");
            let keys = key.split(';').filter_map(|field| field.split_once(": "));
            keys.map(|(_, how)| how.trim().to_owned()).collect()
        };
        let [v1model, tofino] =
            ["include", "tofino/multicast"].map(|of| keys(&read(&format!("{of}/{gress}.p4"))));
        assert_eq!(v1model, tofino, "table {table}");
        assert!(!tofino.is_empty(), "table {table} has no key");
    }
    let actions = [
        ("replicate", "ingress"),
        ("send", "ingress"),
        ("flood", "ingress"),
        ("trust", "ingress"),
        ("narrow", "egress"),
    ];
    for (action, gress) in actions {
        let parameters = |of: &str| {
            let text = read(&format!("{of}/{gress}.p4"));
            let (_, rest) = text.split_once(&format!("    action {action}(")).expect("the action is there");
            rest.split_once(')').expect("its parameters end").0.to_owned()
        };
        assert_eq!(parameters("include"), parameters("tofino/multicast"), "action {action}");
    }
}

#[test]
fn an_artifact_that_does_not_match_its_source_is_refused() {
    let refusal = |spoil: &dyn Fn(&Path)| {
        let copy = tempfile::tempdir().unwrap();
        for part in FOLDERS {
            fs::create_dir_all(copy.path().join(part)).unwrap();
            for entry in folder().join(part).read_dir().unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_file() {
                    fs::copy(entry.path(), copy.path().join(part).join(entry.file_name())).unwrap();
                }
            }
        }
        load_tofino_multicast(copy.path(), MULTICAST[0]).expect("nothing is spoilt yet");
        spoil(copy.path());
        load_tofino_multicast(copy.path(), MULTICAST[0]).expect_err("the folder is spoilt").to_string()
    };
    let files = [
        "tofino/multicast/egress.p4",
        "include/updates.p4",
        "tofino/multicast/build/multicast-tofino1-n256.json.xz",
        "tofino/multicast/build/multicast-tofino1-n256.bf-rt.json.xz",
    ];
    for file in files {
        let refused = refusal(&|dir| {
            let contents = fs::read(dir.join(file)).unwrap();
            fs::write(dir.join(file), [&contents[..], b"\n"].concat()).unwrap();
        });
        assert!(refused.contains(&format!("{file} changed")), "{refused}");
    }
    let added = refusal(&|dir| fs::write(dir.join("tofino/multicast/new.p4"), "").unwrap());
    assert!(added.contains("tofino/multicast/new.p4 is new"), "{added}");
}
