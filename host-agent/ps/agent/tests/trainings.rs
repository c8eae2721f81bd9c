//! Identity of trainings: differences are refused by name, and no model is lost or corrupted in silence.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use inart_connections::{Machine as _, Output, PeerNo};
use inart_protocol_ps::{Options, SyncModel, WorkerNo};
use inart_ps_agent::{
    Awaited, Checkpoint, InOrder, Precision, Sequencer, ServerAgent, ServerReport, ServerSetup, Start,
    Training, WorkerAgent, WorkerError, WorkerReport, WorkerSetup,
};
use inart_terms::{Agreement, Terms};

/// The worker's only connection.
const SERVER: PeerNo = PeerNo(0);

const MODEL: u64 = 5;
const VALUES: usize = 3;
const ZERO: Duration = Duration::ZERO;

type Server = ServerAgent<InOrder<SyncModel>>;

fn terms(pairs: &[(&str, &str)]) -> Terms {
    Terms::new(pairs.iter().copied()).unwrap()
}

fn server(incarnation: u32, number: u64, own: &[(&str, &str)], kept: Option<Checkpoint>) -> Server {
    let setup = ServerSetup {
        incarnation,
        model: MODEL,
        chunk_values: 2,
        precision: Precision::Single,
        window: 8,
        rates_bps: vec![None; 2],
        gather: ZERO,
        absence: Duration::from_secs(10),
        iterations: None,
    };
    let (sync_model, options) = (SyncModel::asp(), Options::fixed(2));
    let sequencer = match kept {
        Some(kept) => InOrder::restored(sync_model, options, MODEL, kept),
        None => InOrder::new(sync_model, options, MODEL, vec![1.0; VALUES]),
    };
    let agreement = Agreement::new(terms(own));
    let workers = vec!["w1".to_owned(), "w2".to_owned()];
    let training = Training { number, server: "s1".to_owned(), workers, agreement };
    ServerAgent::new(setup, sequencer).with_training(training)
}

fn worker(incarnation: u32, own: &[(&str, &str)]) -> WorkerAgent {
    let patience = Duration::from_secs(60);
    let setup =
        WorkerSetup { incarnation, model: MODEL, values: VALUES, window: 8, rate_bps: None, patience };
    WorkerAgent::new(setup).with_terms(terms(own))
}

/// Reports of a worker and the server, on a connection that acknowledges everything at once.
#[derive(Default)]
struct Received {
    server_reports: Vec<ServerReport>,
    starts: Vec<Start>,
    worker_reports: Vec<WorkerReport>,
}

impl Received {
    fn settle(&mut self, server: &mut Server, at: u32, worker: &mut WorkerAgent) {
        let mut is_quiet = false;
        while !is_quiet {
            is_quiet = true;
            while let Some(output) = server.next(ZERO) {
                is_quiet = false;
                match output {
                    Output::Send { to, id, data, .. } => {
                        if to == PeerNo(at) {
                            worker.received(SERVER, &data, None, ZERO);
                        }
                        server.ended(id, true, ZERO);
                    }
                    Output::Report(news) => self.server_reports.push(news),
                    _ => {}
                }
            }
            while let Some(output) = worker.next(ZERO) {
                is_quiet = false;
                match output {
                    Output::Send { id, data, .. } => {
                        server.received(PeerNo(at), &data, None, ZERO);
                        worker.ended(id, true, ZERO);
                    }
                    Output::Report(WorkerReport::Compute(start)) => self.starts.push(start),
                    Output::Report(news) => self.worker_reports.push(news),
                    _ => {}
                }
            }
        }
    }

    fn connect(&mut self, server: &mut Server, at: u32, worker: &mut WorkerAgent) {
        server.up(PeerNo(at), ZERO);
        worker.up(SERVER, ZERO);
        self.settle(server, at, worker);
    }

    fn refusal(&self) -> Option<String> {
        self.worker_reports.iter().find_map(|worker_reports| match worker_reports {
            WorkerReport::Failed(WorkerError::Refused(why)) => Some(why.clone()),
            _ => None,
        })
    }
}

#[test]
fn the_first_setting_that_differs_is_named_with_both_values() {
    let own = [("seed", "1"), ("order", "bsp"), ("first weights", "aa")];
    for (pairs, named) in [
        (vec![("seed", "2"), ("first weights", "bb")], Some("w1 has seed 2, s1 has seed 1")),
        (
            vec![("seed", "1"), ("first weights", "bb")],
            Some("w1 has first weights bb, s1 has first weights aa"),
        ),
        (vec![("seed", "1"), ("step", "0.3"), ("first weights", "aa")], None),
    ] {
        let (mut server, mut worker) = (server(9, 7, &own, None), worker(1, &pairs));
        let mut both = Received::default();
        both.connect(&mut server, 0, &mut worker);
        match named {
            Some(named) => {
                assert!(both.refusal().unwrap().starts_with(named), "{:?}", both.worker_reports);
                let is_named = |server_reports: &ServerReport| match server_reports {
                    ServerReport::Rejected { worker, why } => {
                        *worker == WorkerNo(0) && why.starts_with(named)
                    }
                    _ => false,
                };
                assert!(both.server_reports.iter().any(is_named), "{:?}", both.server_reports);
                assert!(server.sequencer().is_away(WorkerNo(0)));
            }
            None => assert_eq!((both.refusal(), both.starts.len()), (None, 1)),
        }
    }
}

#[test]
fn workers_are_compared_in_settings_that_their_server_does_not_know() {
    let mut server = server(9, 7, &[("seed", "1")], None);
    let (mut first, mut second) = (worker(1, &[("step", "0.3")]), worker(2, &[("step", "0.05")]));
    let mut both = Received::default();
    both.connect(&mut server, 0, &mut first);
    assert_eq!(both.refusal(), None);
    both.connect(&mut server, 1, &mut second);
    assert!(
        both.refusal().unwrap().starts_with("w2 has step 0.05, w1 has step 0.3"),
        "{:?}",
        both.worker_reports
    );
    // A restarted process may bring another value, as long as no other process has one.
    let (mut alone, mut again) = (self::server(9, 7, &[], None), worker(3, &[("step", "0.05")]));
    let mut both = Received::default();
    both.connect(&mut alone, 0, &mut first);
    both.connect(&mut alone, 0, &mut again);
    assert_eq!(both.refusal(), None);
    // The server's file has the value, and the next incarnation of the server compares it.
    assert_eq!(alone.training().agreement.all().value("step"), Some("0.05"));
}

#[test]
fn a_worker_that_has_trained_with_another_model_does_not_go_on_with_the_first_weights() {
    let pushed = |server: &mut Server, worker: &mut WorkerAgent, both: &mut Received| {
        both.connect(server, 0, worker);
        let start = both.starts.pop().unwrap();
        worker.computed(start.ticket, vec![1.0; VALUES]).unwrap();
        both.settle(server, 0, worker);
        assert_eq!(server.sequencer().values(), [2.0; VALUES]);
        both.starts.clear();
        worker.down(SERVER, ZERO);
    };
    // The server restarts without its model: its training has another number.
    let (mut first, mut own, mut both) = (server(9, 7, &[], None), worker(1, &[]), Received::default());
    pushed(&mut first, &mut own, &mut both);
    let mut second = server(10, 8, &[], None);
    both.connect(&mut second, 0, &mut own);
    let why = both.refusal().unwrap();
    for named in ["s1 has started without the model that w1 has trained", "1 updates of w1", "file"] {
        assert!(why.contains(named), "{why}");
    }
    assert!(both.starts.is_empty());
    // A server that resumes from its file admits the worker, even from an earlier version: it kept what it
    // acknowledged.
    let (mut first, mut own, mut both) = (server(9, 7, &[], None), worker(1, &[]), Received::default());
    pushed(&mut first, &mut own, &mut both);
    let kept = Checkpoint { version: 0, done: vec![0; 2], members: vec![true; 2], values: vec![1.0; VALUES] };
    let mut second = server(10, 7, &[], Some(kept));
    both.connect(&mut second, 0, &mut own);
    assert_eq!((both.refusal(), both.starts.len()), (None, 1));
    // A worker that has pushed nothing has nothing to lose.
    let (mut second, mut own, mut both) = (server(10, 8, &[], None), worker(1, &[]), Received::default());
    both.connect(&mut second, 0, &mut own);
    assert_eq!((both.refusal(), both.starts.len()), (None, 1));
}

#[test]
fn a_model_that_becomes_infinite_ends_the_training_and_is_not_sent() {
    let (mut server, mut own, mut both) = (server(9, 7, &[], None), worker(1, &[]), Received::default());
    both.connect(&mut server, 0, &mut own);
    for _ in 0..2 {
        let start = both.starts.pop().unwrap();
        own.computed(start.ticket, vec![3e38; VALUES]).unwrap();
        both.settle(&mut server, 0, &mut own);
    }
    let overflow = both.server_reports.iter().find_map(|server_reports| match server_reports {
        ServerReport::Overflow { version, overflow } => Some((*version, overflow.worker, overflow.at)),
        _ => None,
    });
    assert_eq!(overflow, Some((2, WorkerNo(0), 0)));
    assert!(both.starts.is_empty(), "no worker pulls it");
    assert!(server.sequencer().values().iter().all(|value| value.is_finite()));
    server.stop("take a smaller step", ZERO);
    both.settle(&mut server, 0, &mut own);
    let why = WorkerReport::Failed(WorkerError::Stopped("take a smaller step".to_owned()));
    assert!(both.worker_reports.contains(&why) && server.has_notified(), "{:?}", both.worker_reports);
    // A later worker is notified, too.
    let (mut late, mut both) = (worker(2, &[]), Received::default());
    both.connect(&mut server, 1, &mut late);
    assert_eq!(both.worker_reports, [why]);
}

#[test]
fn a_server_names_the_awaited_workers_and_steps() {
    let (mut server, mut own, mut both) = (server(9, 7, &[], None), worker(1, &[]), Received::default());
    let at = Duration::from_secs(40);
    assert_eq!(server.awaited(at), [(WorkerNo(0), Awaited::Connection), (WorkerNo(1), Awaited::Connection)]);
    server.up(PeerNo(1), ZERO);
    both.connect(&mut server, 0, &mut own);
    let waits = server.awaited(at);
    assert_eq!(waits, [(WorkerNo(0), Awaited::Update(at)), (WorkerNo(1), Awaited::Hello)]);
    assert_eq!(waits[0].1.to_string(), "has been computing for 40 s");
}

/// Workers that have pulled different versions and compute hold no memory of the server.
#[test]
fn a_version_that_has_arrived_is_not_held() {
    const WORKERS: u32 = 16;
    let setup = ServerSetup {
        incarnation: 9,
        model: MODEL,
        chunk_values: 2,
        precision: Precision::Single,
        window: 8,
        rates_bps: vec![None; WORKERS as usize],
        gather: ZERO,
        absence: Duration::from_secs(10),
        iterations: None,
    };
    let options = Options::fixed(WORKERS as usize);
    let mut server =
        ServerAgent::new(setup, InOrder::new(SyncModel::asp(), options, MODEL, vec![1.0; VALUES]));
    let mut workers: Vec<_> = (1..=WORKERS).map(|incarnation| worker(incarnation, &[])).collect();
    let mut both = Received::default();
    let own = 4 * VALUES;
    for (at, worker) in workers.iter_mut().enumerate() {
        // Each pulls a version of its own: the first one has pushed an update since.
        both.connect(&mut server, at as u32, worker);
        let start = both.starts.pop().unwrap();
        worker.computed(start.ticket, vec![1.0; VALUES]).unwrap();
        both.settle(&mut server, at as u32, worker);
        let versions: Vec<_> = both.starts.iter().map(|start| start.version).collect();
        assert_eq!(versions, (1..=at as u64 + 1).collect::<Vec<_>>());
        assert!(server.held_bytes() <= 2 * own, "{} bytes for {} computing", server.held_bytes(), at + 1);
    }
    // VGG16, with 16 workers of which each pulls or pushes at one time: 18 models, not 34.
    let vgg16 = 138_357_544;
    assert_eq!(Server::most_bytes(vgg16, 16), 18 * 4 * 138_357_544);
    assert!(Server::most_bytes(vgg16, 16) < 10_000_000_000);
    assert!(server.held_bytes() as u64 <= Server::most_bytes(VALUES, WORKERS as usize));
}
