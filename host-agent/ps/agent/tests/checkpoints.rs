//! A server with a checkpoint reports a version, and sends messages that depend on it, once it is stored. A
//! server without any worker reports that after its patience.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine as _, Output, PeerNo, Work};
use inart_protocol_ps::{Options, SyncModel};
use inart_ps_agent::{
    CheckpointStore, Computed, InOrder, Precision, ServerAgent, ServerReport, ServerSetup,
    TrainingCheckpoint, WorkerAgent, WorkerReport, WorkerSetup,
};

const MODEL: u64 = 3;
const VALUES: usize = 4;
const ZERO: Duration = Duration::ZERO;
/// The only connection of each side.
const OTHER: PeerNo = PeerNo(0);

type Server = ServerAgent<InOrder<SyncModel>>;
type ServerOutput = Output<ServerReport, Result<(), String>>;

/// A disk: versions in the order of their writes, unless it is full.
#[derive(Debug, Default)]
struct Disk {
    versions: Mutex<Vec<u64>>,
    is_full: bool,
}

impl CheckpointStore for Disk {
    fn keep(&self, training: &TrainingCheckpoint) -> Result<(), String> {
        self.versions.lock().unwrap().push(training.kept.version);
        if self.is_full { Err("model.kept: the disk is full".to_owned()) } else { Ok(()) }
    }
}

fn server() -> Server {
    let setup = ServerSetup {
        incarnation: 9,
        model: MODEL,
        chunk_values: VALUES,
        precision: Precision::Single,
        window: 4,
        rates_bps: vec![None],
        gather: ZERO,
        absence: Duration::from_secs(60),
        iterations: None,
    };
    ServerAgent::new(setup, InOrder::new(SyncModel::asp(), Options::fixed(1), MODEL, vec![1.0; VALUES]))
}

fn worker() -> WorkerAgent {
    let patience = Duration::from_secs(60);
    WorkerAgent::new(WorkerSetup {
        incarnation: 1,
        model: MODEL,
        values: VALUES,
        window: 4,
        rate_bps: None,
        patience,
    })
}

/// Returns a server's outputs until it is idle or has work.
fn until_work(server: &mut Server) -> (Vec<ServerOutput>, Option<Work<Result<(), String>>>) {
    let mut outputs = Vec::new();
    while let Some(output) = server.next(ZERO) {
        match output {
            Output::Work(work) => return (outputs, Some(work)),
            other => outputs.push(other),
        }
    }
    (outputs, None)
}

/// Delivers packets between a server and its worker, which computes at once, until the server has work or
/// both are idle. Returns the work, and reported versions.
fn exchange(server: &mut Server, worker: &mut WorkerAgent) -> (Option<Work<Result<(), String>>>, Vec<u64>) {
    let mut versions = Vec::new();
    loop {
        let (outputs, work) = until_work(server);
        let mut is_quiet = outputs.is_empty();
        for output in outputs {
            match output {
                Output::Send { id, data, .. } => {
                    worker.received(OTHER, &data, None, ZERO);
                    server.ended(id, true, ZERO);
                }
                Output::Report(ServerReport::Applied(applied)) => versions.push(applied.version),
                _ => {}
            }
        }
        if work.is_some() {
            return (work, versions);
        }
        while let Some(output) = worker.next(ZERO) {
            is_quiet = false;
            match output {
                Output::Send { id, data, .. } => {
                    server.received(OTHER, &data, None, ZERO);
                    worker.ended(id, true, ZERO);
                }
                Output::Report(WorkerReport::Compute(start)) => {
                    worker.command(Computed { ticket: start.ticket, update: vec![1.0; VALUES] }, ZERO);
                }
                _ => {}
            }
        }
        if is_quiet {
            return (None, versions);
        }
    }
}

#[test]
fn a_version_is_reported_and_sent_once_it_is_kept() {
    let disk = Arc::new(Disk::default());
    let (mut server, mut worker) = (server().with_store(disk.clone()), worker());
    // From the start on: another incarnation of the server continues this training.
    let (outputs, work) = until_work(&mut server);
    assert!(outputs.is_empty());
    server.up(OTHER, ZERO);
    worker.up(OTHER, ZERO);
    let Some(Output::Send { id, data, .. }) = worker.next(ZERO) else { panic!("no hello") };
    server.received(OTHER, &data, None, ZERO);
    worker.ended(id, true, ZERO);
    assert!(server.next(ZERO).is_none(), "nothing leaves before the first version is kept");
    assert_eq!(server.wake_at(), None, "nothing is due before either");
    server.done(work.unwrap().run(), ZERO);
    for version in 1..4 {
        let (work, reported) = exchange(&mut server, &mut worker);
        let before: Vec<u64> = (version > 1).then(|| version - 1).into_iter().collect();
        assert_eq!(reported, before, "version {version} is not kept yet");
        assert_eq!(disk.versions.lock().unwrap().len() as u64, version);
        server.done(work.expect("a version is to be kept").run(), ZERO);
        assert_eq!(disk.versions.lock().unwrap().last(), Some(&version));
    }
}

#[test]
fn a_version_that_cannot_be_kept_is_an_error_and_workers_learn_it() {
    let disk = Arc::new(Disk { is_full: true, ..Disk::default() });
    let (mut server, mut worker) = (server().with_store(disk), worker());
    let (_, work) = until_work(&mut server);
    server.up(OTHER, ZERO);
    worker.up(OTHER, ZERO);
    let Some(Output::Send { id, data, .. }) = worker.next(ZERO) else { panic!("no hello") };
    server.received(OTHER, &data, None, ZERO);
    worker.ended(id, true, ZERO);
    server.done(work.unwrap().run(), ZERO);
    let why = "model.kept: the disk is full".to_owned();
    assert_eq!(server.next(ZERO).and_then(Output::report), Some(ServerReport::NotKept { why: why.clone() }));
    server.stop(&why, ZERO);
    let (outputs, _) = until_work(&mut server);
    let is_sent = outputs.iter().any(|output| matches!(output, Output::Send { data, .. } if has(data, &why)));
    assert!(is_sent, "{outputs:?}");
    assert!(!outputs.iter().any(|output| matches!(output, Output::Over)), "its worker has not received it");
    for output in outputs {
        if let Output::Send { id, .. } = output {
            server.ended(id, true, ZERO);
        }
    }
    while let Some(output) = server.next(ZERO) {
        match output {
            Output::Send { id, .. } => server.ended(id, true, ZERO),
            Output::Over => return,
            _ => {}
        }
    }
    panic!("the server does not end");
}

fn has(data: &Bytes, text: &str) -> bool {
    data.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn a_server_without_workers_reports_it_after_its_patience() {
    let patience = Duration::from_secs(30);
    let mut server = server().with_patience(patience);
    assert_eq!(server.wake_at(), Some(patience));
    let late = |server: &mut Server, seconds| {
        let now = Duration::from_secs(seconds);
        server.tick(now);
        std::iter::from_fn(|| server.next(now)).find_map(Output::report)
    };
    assert_eq!(late(&mut server, 29), None);
    server.up(OTHER, Duration::from_secs(29));
    assert_eq!(late(&mut server, 90), None, "a worker is connected");
    server.down(OTHER, Duration::from_secs(90));
    assert_eq!(late(&mut server, 119), None);
    assert_eq!(late(&mut server, 120), Some(ServerReport::Alone { waited: patience }));
    assert_eq!(late(&mut server, 500), None, "once");
}
