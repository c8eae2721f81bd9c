//! Reports over a real socket.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::net::UnixListener;

use inart_host_agent::report::{Report, Reporter, Reports, Role, RoundReport};
use inart_protocol_aggregation::{
    Assignment, ServerCounters, ShardAssignment, WorkerAddress, WorkerCounters,
};
use inart_report::Trained;
use inart_wire::{MacAddr, ValuesPerFrame};

fn assignment() -> Assignment {
    let mac = |last| MacAddr([2, 0, 0, 0, 0, last]);
    let shard = |server: &str, last| ShardAssignment {
        server: server.into(),
        mac: mac(last),
        share: 0.1 + 0.4 * f64::from(last),
        rate_bps: 1e9 / 3.0,
        bitmap_indices: Vec::new(),
    };
    Assignment {
        job: 1.into(),
        name: "digits".into(),
        plan_version: 9.into(),
        values_per_frame: ValuesPerFrame::N64,
        window_chunks: 16,
        exact_sums: false,
        workers: vec![WorkerAddress { name: "w1".into(), mac: mac(1) }],
        shards: vec![shard("s1", 1), shard("s2", 2)],
    }
}

#[test]
fn sent_reports_are_received() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("reports");
    let listener = UnixListener::bind(&socket).unwrap();
    let trained = Trained { loss: 0.5, accuracy: 0.9, digest: "ab".into() };
    let reports = [
        Report::Hello(Role::Worker(1.into(), 2u16.try_into().unwrap())),
        Report::Hello(Role::Server(1.into(), 0.into())),
        Report::Round(RoundReport {
            round: 7,
            comm_seconds: 0.25,
            ended_ns: 0,
            counters: WorkerCounters { results: 3, ..WorkerCounters::default() },
            sent: (0..100_000).map(|index| index as f32).collect(),
            result: vec![f32::MIN_POSITIVE; 100_000],
        }),
        Report::Run(Box::new(assignment()), 1u16.try_into().unwrap()),
        Report::Training { round: 7, loss: f32::MAX },
        Report::Done { trained: Some(trained) },
        Report::Server(ServerCounters { chunks: u64::MAX, ..ServerCounters::default() }),
        Report::Failed { error: "no".into() },
    ];
    let received = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut reporter = Reporter::connect(&socket).unwrap();
            reports.iter().for_each(|report| reporter.send(report).unwrap());
        });
        let (stream, _) = listener.accept().unwrap();
        Reports::new(stream).collect::<Result<Vec<_>, _>>().unwrap()
    });
    assert_eq!(received, reports);
}

#[test]
fn broken_streams_are_errors_not_panics() {
    for bytes in [&[0, 0, 0, 5, 1][..], &[0xff; 8], &[0, 0, 0, 1, 0xff]] {
        let read: Vec<_> = Reports::new(bytes).take(2).collect();
        assert!(read[0].is_err(), "{bytes:?}: {read:?}");
    }
    assert!(Reports::new(&[][..]).next().is_none());
    // A message truncated by the sender's death differs from one that never was a report.
    let kind = |bytes: &[u8]| Reports::new(bytes).next().unwrap().unwrap_err().kind();
    assert_eq!(kind(&[0, 0, 0, 5, 1]), std::io::ErrorKind::UnexpectedEof);
    assert_eq!(kind(&[0, 0, 0, 1, 0xff]), std::io::ErrorKind::InvalidData);
}
