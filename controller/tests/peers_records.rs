//! Records of networks of peers: kept in the file, bounded, and without concurrent changes.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use inart_controller::{PeersPush, Records, RecordsError};
use inart_wire::{JobId, PlanVersion, ValuesPerFrame};

/// Number of the first job of peers.
const COPIED: fn() -> JobId = || JobId::from(0x8000);

/// Returns a push of a network with `jobs` jobs of two peers.
fn push(jobs: usize) -> PeersPush {
    let jobs: Vec<_> =
        (0..jobs).map(|job| format!("{{name: job{job}, receivers: 1, update: 8 B}}")).collect();
    let mesh = format!(
        "{{name: m, nodes: [{{name: s, kind: switch}}, {{name: p1, kind: peer}}, {{name: p2, kind: peer}}], links: \
         [{{ends: [p1, s], rate: 1 Gbps}}, {{ends: [p2, s], rate: 1 Gbps}}], jobs: [{}]}}",
        jobs.join(", ")
    );
    PeersPush { mesh, values: ValuesPerFrame::N256, removed: Default::default() }
}

fn succeed(records: &mut Records, struck: usize, push: PeersPush) {
    records.succeed_with_peers(struck, "{}".to_owned(), Vec::new(), Some(push)).unwrap();
}

#[test]
fn pushes_of_peers_are_kept_in_the_file_and_the_newest_sixteen_only() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Records::open(folder.path(), "net").unwrap();
    assert!(open().peers.is_empty());
    for jobs in 1..=20 {
        succeed(&mut open(), 0, push(jobs));
        // The same push again does not count.
        succeed(&mut open(), 0, push(jobs));
    }
    assert_eq!(open().installed_values(), Some(ValuesPerFrame::N256));
    let mut newest = Vec::new();
    loop {
        let mut records = open();
        newest.push(records.peers.live().unwrap().peers().unwrap().mesh.jobs().len());
        let Ok(earlier) = records.peers_before_last(COPIED()).cloned() else { break };
        succeed(&mut records, 2, earlier);
    }
    assert_eq!(newest, (5..=20).rev().collect::<Vec<_>>());
    let error = open().peers_before_last(COPIED()).unwrap_err().to_string();
    assert!(error.starts_with("job job0: "), "{error}");
}

#[test]
fn removed_jobs_of_peers_are_recorded_until_the_last_one_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Records::open(folder.path(), "net").unwrap();
    succeed(&mut open(), 0, push(1));
    succeed(&mut open(), 0, push(2));
    let forget = |number: u16| open().forget(&BTreeMap::from([(JobId::from(number), None)])).unwrap();
    forget(0x8000);
    let records = open();
    let left = records.peers.live().unwrap().peers().unwrap();
    let left: Vec<_> = left.jobs().map(|(number, job)| (number.get(), job.name.clone())).collect();
    assert_eq!(left, [(0x8001, "job1".to_owned())]);
    assert!(records.jobs.is_empty(), "jobs with servers are other records");
    forget(0x8001);
    assert!(open().peers.is_empty());
    assert!(open().peers_before_last(COPIED()).is_err());
}

#[test]
fn of_two_pushes_of_peers_at_once_the_second_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Records::open(folder.path(), "net").unwrap();
    let [mut first, mut second] = [open(), open()];
    let plan_versions = BTreeMap::from([(COPIED(), PlanVersion::from(1))]);
    first.begin(&plan_versions).unwrap();
    succeed(&mut first, 0, push(1));
    let error = second.begin(&plan_versions).unwrap_err();
    assert!(matches!(error, RecordsError::Raced { .. }), "{error}");
    // A job with a server is not affected.
    let other = BTreeMap::from([(JobId::from(1), PlanVersion::from(1))]);
    second.begin(&other).unwrap();
}

/// Records of an older version without peers.
#[test]
fn records_without_peers_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = Records::open(folder.path(), "net").unwrap();
    records.begin(&BTreeMap::from([(JobId::from(1), PlanVersion::from(1))])).unwrap();
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    assert!(!std::fs::read_to_string(file).unwrap().contains("peers"));
    assert!(Records::open(folder.path(), "net").unwrap().peers.is_empty());
}
