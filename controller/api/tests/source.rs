//! Assignments from files. Those from a controller are in `controller/tests/daemon.rs` and
//! `tests/tests/python`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::PathBuf;

use inart_controller_api::{ASSIGNMENT_FORMAT, FileProblem, Source, SourceError, assignment_to_json};
use inart_protocol_aggregation::{Assignment, ShardAssignment, WorkerAddress};
use inart_wire::{Incarnation, MacAddr, ValuesPerFrame};

fn assignment(plan_version: u16) -> Assignment {
    let mac = |host| MacAddr([2, 0, 0, 0, 0, host]);
    Assignment {
        job: 1.into(),
        name: "digits".into(),
        plan_version: plan_version.into(),
        values_per_frame: ValuesPerFrame::N64,
        window_chunks: 16,
        exact_sums: false,
        workers: vec![WorkerAddress { name: "w".into(), mac: mac(0) }],
        shards: vec![ShardAssignment {
            server: "s".into(),
            mac: mac(1),
            share: 1.0,
            rate_bps: 1e9,
            bitmap_indices: vec![],
        }],
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

#[test]
fn a_role_runs_once_with_a_file_and_plan_version() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("digits.json");
    std::fs::write(&file, serde_json::to_string(&assignment(3)).unwrap()).unwrap();
    let source = Source::File(file.clone());
    let read = block_on(source.assignment()).unwrap();
    assert_eq!(read, assignment(3));
    let claim =
        |plan_version, who| block_on(source.claim(&assignment(plan_version), who, Incarnation::new(1)));
    claim(3, "worker-0").unwrap();
    assert!(folder.path().join("digits.json.plan-version-3.worker-0.used").exists());
    let error = claim(3, "worker-0").unwrap_err();
    let expected = format!("assignment {}: worker-0 has run with it before", file.display());
    assert!(error.to_string().starts_with(&expected), "{error}");
    claim(3, "server-0").unwrap();
    claim(4, "worker-0").unwrap();
}

#[test]
fn a_file_carries_its_format() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("digits.json");
    let text = assignment_to_json(&assignment(3));
    assert!(text.starts_with(&format!("{{\"format\":{},\"job\":1,", ASSIGNMENT_FORMAT.newest)), "{text}");
    let read = |text: &str| {
        std::fs::write(&file, text).unwrap();
        block_on(Source::File(file.clone()).assignment())
    };
    assert_eq!(read(&text).unwrap(), assignment(3));
    for newer in ["{\"format\":3,", "{\"more\":[1],\"job\":\"one\",\"format\":3,"] {
        let error = read(&text.replacen("{\"format\":2,", newer, 1)).unwrap_err().to_string();
        let named = format!(
            "assignment {}: format 3 is newer than this version of inart reads (1 to 2); use a newer inart, or \
             install the job's plan again with inart apply, which writes the file",
            file.display()
        );
        assert_eq!(error, named);
    }
}

#[test]
fn files_that_are_not_assignments_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let problem = |file: &PathBuf| match block_on(Source::File(file.clone()).assignment()) {
        Err(SourceError::File { file: named, problem }) if named == *file => problem,
        other => panic!("{other:?}"),
    };
    let file = folder.path().join("digits.json");
    assert!(matches!(problem(&file), FileProblem::Read(_)));
    std::fs::write(&file, "{}").unwrap();
    assert!(matches!(problem(&file), FileProblem::Malformed(_)));
    let nowhere = Source::File(folder.path().join("none/digits.json"));
    let error = block_on(nowhere.claim(&assignment(1), "worker-0", Incarnation::new(1))).unwrap_err();
    assert!(matches!(error, SourceError::File { problem: FileProblem::Note { .. }, .. }), "{error}");
}
