//! The committed artifacts equal the output of the generator and p4c for the committed sources.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use inart_p4::{
    CASES, Error, Outcome, P4c, Reason, SLOTS, artifact, check_cases, compress, generated_path, load_dir,
    values_p4, write_manifest,
};
use inart_wire::ValuesPerFrame;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn source(file: &str) -> String {
    fs::read_to_string(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn sources_and_artifacts_have_the_listed_hashes() {
    for values in ValuesPerFrame::ALL {
        let loaded = load_dir(folder(), values).unwrap_or_else(|error| panic!("{error}"));
        assert!(
            loaded == artifact(values),
            "the built-in artifact for {values} values is not the one on disk"
        );
    }
}

#[test]
fn the_generated_code_is_what_the_generator_prints() {
    for values in ValuesPerFrame::ALL {
        let file = generated_path(values);
        assert!(source(&file) == values_p4(values), "{file} is not up to date: `cargo run -p inart-p4`");
    }
}

#[test]
fn the_artifacts_are_what_p4c_prints() {
    artifacts_are_what_p4c_prints(|values| values <= ValuesPerFrame::N256);
}

/// Separate from the others, since p4c takes a minute.
#[test]
fn the_artifacts_for_jumbo_frames_are_what_p4c_prints() {
    artifacts_are_what_p4c_prints(|values| values > ValuesPerFrame::N256);
}

fn artifacts_are_what_p4c_prints(wanted: impl Fn(ValuesPerFrame) -> bool) {
    let Some(p4c) = P4c::find() else {
        eprintln!("skipped: p4c-bm2-ss is not on the PATH");
        return;
    };
    let used = P4c::version_used(folder()).unwrap();
    if used != p4c.version() {
        eprintln!("skipped: p4c-bm2-ss is {}, the artifacts are by {used}", p4c.version());
        return;
    }
    for values in ValuesPerFrame::ALL.into_iter().filter(|values| wanted(*values)) {
        let (json, p4info) = p4c.compile(folder(), values).unwrap_or_else(|error| panic!("{error}"));
        let committed = artifact(values);
        assert!(
            committed.json == json,
            "build/inart-n{values}.json.xz is not up to date: `cargo run -p inart-p4`"
        );
        assert!(committed.p4info == p4info, "build/inart-n{values}.p4info.txtpb.xz is not up to date");
    }
}

#[test]
fn no_path_of_the_machine_is_in_the_artifacts() {
    for values in ValuesPerFrame::ALL {
        let artifact = artifact(values);
        let json = String::from_utf8(artifact.json.into_owned()).unwrap();
        assert!(json.contains(r#""program":"inart.p4""#));
        assert!(
            !json.contains("source_info") && !json.contains("/usr/") && !artifact.p4info.contains("/usr/")
        );
    }
}

/// `NAME = NUMBER,` of an enum in `include/reasons.p4`.
fn numbers_in_p4(name: &str) -> Vec<(String, usize)> {
    let text = source("include/reasons.p4");
    let (_, rest) = text.split_once(&format!("enum bit<8> {name} {{")).expect("the enum is there");
    let (body, _) = rest.split_once('}').expect("the enum ends");
    body.lines()
        .filter_map(|line| line.split("//").next()?.split_once('='))
        .map(|(name, number)| {
            let number = number.trim().trim_end_matches(',').parse().expect("a number");
            (name.trim().to_owned(), number)
        })
        .collect()
}

/// Returns the drop reasons that only this program has: `const Reason NAME = (Reason)8wNUMBER;` in
/// `include/updates.p4`.
fn more_reasons_in_p4() -> Vec<(String, usize)> {
    let text = source("include/updates.p4");
    let lines = text.lines().filter_map(|line| line.strip_prefix("const Reason "));
    let numbered = lines.map(|line| {
        let (name, rest) = line.split_once(" = (Reason)8w").expect("it has a number");
        let (number, _) = rest.split_once(';').expect("it ends");
        (name.to_owned(), number.parse().expect("a number"))
    });
    numbered.collect()
}

/// Names that the P4 programs keep until they are compiled again, and names here (decision 49).
const IN_P4: [(&str, &str); 5] = [
    ("STRANGER", "UNAUTHORIZED_SENDER"),
    ("OTHER_SHAPE", "FORMAT_MISMATCH"),
    ("OVERLAP", "PARTIAL_OVERLAP"),
    ("STORED", "SLOT_CLAIMED"),
    ("ABSORBED", "DUPLICATE_IGNORED"),
];

/// `TooShort` as the program's `TOO_SHORT`.
fn in_capitals(name: &str) -> String {
    let mut capitals = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !capitals.is_empty() {
            capitals.push('_');
        }
        capitals.extend(letter.to_uppercase());
    }
    match IN_P4.iter().find(|(_, here)| *here == capitals) {
        Some((in_p4, _)) => (*in_p4).to_owned(),
        None => capitals,
    }
}

#[test]
fn reasons_and_outcomes_have_the_numbers_of_the_program() {
    let reasons: Vec<_> = Reason::ALL.iter().map(|r| (in_capitals(&format!("{r:?}")), r.index())).collect();
    let mut in_p4 = numbers_in_p4("Reason");
    assert_eq!(in_p4.remove(0), ("NONE".to_owned(), 0));
    let shared = in_p4.len();
    in_p4.extend(more_reasons_in_p4());
    assert_eq!(in_p4, reasons);
    assert_eq!(Reason::ALL.iter().filter(|reason| reason.is_on_tofino()).count(), shared);

    let outcomes: Vec<_> = Outcome::ALL.iter().map(|o| (in_capitals(&format!("{o:?}")), o.index())).collect();
    assert_eq!(numbers_in_p4("Outcome"), outcomes);

    let text = source("include/reasons.p4");
    assert!(text.contains(&format!("const bit<32> REASONS = {};", shared + 1)));
    let more = format!("const bit<32> ALL_REASONS = REASONS + {};", Reason::ALL.len() - shared);
    assert!(source("include/updates.p4").contains(&more));
    let kind = format!("const Kind KIND_UPDATE = (Kind)4w{};", inart_wire::Kind::Update.code());
    assert!(source("include/updates.p4").contains(&kind));
    assert!(text.contains(&format!("const bit<32> OUTCOMES = {};", Outcome::ALL.len())));
    assert!(source("include/constants.p4").contains(&format!("const bit<32> SLOTS = {SLOTS};")));
}

/// Returns a copy of the P4 folder in which to spoil something.
fn copy() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for part in [".", "include", "generated", "build", CASES] {
        fs::create_dir_all(copy.path().join(part)).unwrap();
        for entry in folder().join(part).read_dir().unwrap().map(io::Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), copy.path().join(part).join(entry.file_name())).unwrap();
            }
        }
    }
    copy
}

fn refusal(spoil: impl FnOnce(&Path)) -> String {
    let copy = copy();
    spoil(copy.path());
    let error: Error = load_dir(copy.path(), ValuesPerFrame::N32).expect_err("the folder is spoilt");
    error.to_string().replace(&copy.path().display().to_string(), "DIR")
}

#[test]
fn an_artifact_that_does_not_match_its_source_is_refused() {
    let append = |file: &'static str| {
        move |dir: &Path| {
            let contents = fs::read(dir.join(file)).unwrap();
            fs::write(dir.join(file), [&contents[..], b"\n"].concat()).unwrap();
        }
    };
    let mismatch = |what: &str| {
        format!("P4 artifact does not match its source: {what}; recompile with `cargo run -p inart-p4`")
    };
    for file in ["inart.p4", "include/check.p4", "generated/values_n256.p4", "build/inart-n32.json.xz"] {
        assert_eq!(refusal(append(file)), mismatch(&format!("{file} changed")));
    }
    let removed = refusal(|dir| fs::remove_file(dir.join("include/check.p4")).unwrap());
    assert_eq!(removed, mismatch("include/check.p4 is missing"));
    let added = refusal(|dir| fs::write(dir.join("include/new.p4"), "").unwrap());
    assert_eq!(added, mismatch("include/new.p4 is new"));
}

/// The list of hashes belongs to the spoilt file, as if that had been compiled.
#[test]
fn a_damaged_artifact_is_refused() {
    let [json, p4info] = ["json", "p4info.txtpb"].map(|kind| format!("build/inart-n32.{kind}.xz"));
    let files = [json.clone(), p4info.clone()];
    let with = |file: &str, contents: &[u8]| {
        refusal(|dir| {
            fs::write(dir.join(file), contents).unwrap();
            write_manifest(dir, &files).unwrap();
        })
    };
    let compressed = fs::read(folder().join(&json)).unwrap();
    let fix = "; recompile with `cargo run -p inart-p4`";
    let damaged = [compressed[..compressed.len() / 2].to_vec(), b"{}\n".to_vec(), Vec::new()];
    for contents in damaged {
        let message = with(&json, &contents);
        assert!(message.starts_with(&format!("DIR/{json}: not a whole xz file: ")), "{message}");
        assert!(message.ends_with(fix) && message.lines().count() == 1, "{message}");
    }
    let message = with(&p4info, &compress(b"\xff").unwrap());
    assert_eq!(message, format!("DIR/{p4info}: not UTF-8 when decompressed{fix}"));
}

/// `xz` is another implementation than ours.
#[test]
fn xz_reads_the_artifacts() {
    let xz = |path: &Path| Command::new("xz").arg("-dc").arg(path).output();
    for values in ValuesPerFrame::ALL {
        let path = folder().join(format!("build/inart-n{values}.json.xz"));
        let Ok(printed) = xz(&path) else {
            eprintln!("skipped: xz is not on the PATH");
            return;
        };
        assert!(printed.stdout == *artifact(values).json, "{} is other JSON by xz", path.display());
    }
}

#[test]
fn cases_that_do_not_match_the_source_are_refused() {
    let copy = copy();
    check_cases(copy.path()).expect("nothing has changed yet");
    fs::write(copy.path().join("include/check.p4"), "").unwrap();
    let error = check_cases(copy.path()).expect_err("a source has changed").to_string();
    assert!(error.contains("does not match its source: include/check.p4 changed"), "{error}");
}

#[test]
fn a_folder_that_is_not_ours_is_refused() {
    let missing = refusal(|dir| fs::remove_file(dir.join("build/SOURCES.sha256")).unwrap());
    assert_eq!(missing, "DIR/build/SOURCES.sha256: No such file or directory (os error 2)");
    let garbage = refusal(|dir| fs::write(dir.join("build/SOURCES.sha256"), "hello\n").unwrap());
    assert_eq!(
        garbage,
        "DIR/build/SOURCES.sha256: line 1 is not a SHA-256 and a file; recompile with `cargo run -p inart-p4`"
    );
    let nothing = load_dir(Path::new("/nonexistent"), ValuesPerFrame::N32).expect_err("no such folder");
    assert!(nothing.to_string().starts_with("/nonexistent/"), "{nothing}");
}
