//! Invalid messages between one server and its workers: each is an error that names a fix, or is counted, and
//! the training continues.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine as _, Output, PeerNo};
use inart_protocol_ps::{Applied, Options, Refusal, SyncModel, WorkerNo};
use inart_ps_agent::{
    Body, Hello, InOrder, Precision, Pull, Request, Sequencer, ServerAgent, ServerReport, ServerSetup, Start,
    Tag, WorkerAgent, WorkerError, WorkerReport, WorkerSetup, chunk_packet, message_packet,
};

/// The worker's only connection.
const SERVER: PeerNo = PeerNo(0);

const MODEL: u64 = 5;
const VALUES: usize = 10;
const ZERO: Duration = Duration::ZERO;

type Server = ServerAgent<InOrder<SyncModel>>;

fn server(sync_model: SyncModel, workers: usize, options: Options) -> Server {
    let setup = ServerSetup {
        incarnation: 9,
        model: MODEL,
        chunk_values: 4,
        precision: Precision::Single,
        window: 8,
        rates_bps: vec![None; workers],
        gather: Duration::from_secs(5),
        absence: Duration::from_secs(10),
        iterations: None,
    };
    ServerAgent::new(setup, InOrder::new(sync_model, options, MODEL, vec![0.0; VALUES]))
}

fn worker(incarnation: u32, model: u64, values: usize) -> WorkerAgent {
    let patience = Duration::from_secs(60);
    WorkerAgent::new(WorkerSetup { incarnation, model, values, window: 8, rate_bps: None, patience })
}

/// Both sides, on connections that acknowledge everything at once.
struct Both {
    server: Server,
    workers: Vec<WorkerAgent>,
    starts: Vec<Start>,
    server_reports: Vec<ServerReport>,
    worker_reports: Vec<WorkerReport>,
}

impl Both {
    fn new(server: Server, workers: Vec<WorkerAgent>) -> Both {
        let mut both = Both {
            server,
            workers,
            starts: Vec::new(),
            server_reports: Vec::new(),
            worker_reports: Vec::new(),
        };
        for at in 0..both.workers.len() {
            both.server.up(PeerNo(at as u32), ZERO);
            both.workers[at].up(SERVER, ZERO);
        }
        both.settle(ZERO);
        both
    }

    fn settle(&mut self, now: Duration) {
        loop {
            let mut is_quiet = true;
            while let Some(output) = self.server.next(now) {
                is_quiet = false;
                match output {
                    Output::Send { to, id, data, .. } => {
                        self.workers[to.index()].received(SERVER, &data, None, now);
                        self.server.ended(id, true, now);
                    }
                    Output::Report(news) => self.server_reports.push(news),
                    _ => {}
                }
            }
            for (at, worker) in self.workers.iter_mut().enumerate() {
                while let Some(output) = worker.next(now) {
                    is_quiet = false;
                    match output {
                        Output::Send { id, data, .. } => {
                            self.server.received(PeerNo(at as u32), &data, None, now);
                            worker.ended(id, true, now);
                        }
                        Output::Report(WorkerReport::Compute(start)) => self.starts.push(start),
                        Output::Report(news) => self.worker_reports.push(news),
                        _ => {}
                    }
                }
            }
            if is_quiet {
                return;
            }
        }
    }

    fn compute(&mut self, worker: usize, values: Vec<f32>, now: Duration) {
        let start = self.starts.remove(0);
        self.workers[worker].computed(start.ticket, values).unwrap();
        self.settle(now);
    }
}

#[test]
fn an_update_with_a_nan_counts_nothing_and_its_worker_is_notified() {
    let mut both = Both::new(server(SyncModel::asp(), 1, Options::fixed(1)), vec![worker(1, MODEL, VALUES)]);
    let mut wrong = vec![1.0; VALUES];
    wrong[7] = f32::NAN;
    both.compute(0, wrong, ZERO);
    assert_eq!(both.server.sequencer().values(), [0.0; VALUES]);
    assert_eq!(both.server.sequencer().server().counters().not_finite, 1);
    let refusal = Refusal::NotFinite { at: 7 };
    assert!(both.server_reports.contains(&ServerReport::Discarded {
        worker: WorkerNo(0),
        iteration: 0,
        refusal
    }));
    assert!(both.worker_reports.iter().any(|worker_reports| matches!(worker_reports,
        WorkerReport::Pushed { iteration: 0, refusal: Some(why) } if why.contains("value 7"))));
    // The worker continues.
    both.compute(0, vec![1.0; VALUES], ZERO);
    assert_eq!(both.server.sequencer().values(), [1.0; VALUES]);
}

#[test]
fn a_worker_of_another_model_is_refused_by_name() {
    for (model, values) in [(MODEL + 1, VALUES), (MODEL, VALUES + 1)] {
        let both = Both::new(server(SyncModel::asp(), 1, Options::fixed(1)), vec![worker(1, model, values)]);
        assert_eq!(both.server.counters().other_model, 1);
        let [WorkerReport::Failed(error @ WorkerError::Refused(_))] = &both.worker_reports[..] else {
            panic!("{:?}", both.worker_reports)
        };
        assert!(error.to_string().contains("start all with one model"), "{error}");
        assert!(both.server.sequencer().is_away(WorkerNo(0)) && both.starts.is_empty());
    }
    let mut own = worker(1, MODEL, VALUES);
    let error = own.computed(1, vec![0.0; 3]).unwrap_err();
    assert_eq!(error, WorkerError::Length { values: 3, own: VALUES });
}

#[test]
fn a_worker_that_pushes_twice_is_counted_once() {
    let mut both = Both::new(server(SyncModel::asp(), 1, Options::fixed(1)), vec![worker(1, MODEL, VALUES)]);
    let start = both.starts[0].clone();
    both.compute(0, vec![1.0; VALUES], ZERO);
    let tag =
        Tag { worker_incarnation: 1, server_incarnation: 9, ticket: start.ticket, version: start.version };
    for number in 0..3 {
        let length = if number == 2 { 2 } else { 4 };
        let again = chunk_packet(&tag, number, &[5.0; 4][..length], Precision::Single);
        both.server.received(PeerNo(0), &again, None, ZERO);
    }
    both.settle(ZERO);
    assert_eq!(both.server.counters().repeated, 3);
    assert_eq!(both.server.sequencer().values(), [1.0; VALUES]);
    // Without a permission.
    let tag = Tag { ticket: start.ticket + 100, ..tag };
    both.server.received(PeerNo(0), &chunk_packet(&tag, 0, &[5.0; 4], Precision::Single), None, ZERO);
    assert_eq!(both.server.counters().unasked, 1);
    let pull = Pull { ticket: 1234, attempt: 1, ..Pull::default() };
    both.server.received(PeerNo(0), &message_packet(1, 9, Body::Pull(pull)), None, ZERO);
    assert_eq!(both.server.counters().not_permitted, 1);
    both.settle(ZERO);
    both.compute(0, vec![1.0; VALUES], ZERO);
    assert_eq!(both.server.sequencer().values(), [2.0; VALUES]);
}

#[test]
fn the_server_does_not_wait_for_a_worker_that_never_pushes() {
    let patience = Some(Duration::from_secs(3));
    let options = Options { patience, ..Options::fixed(2) };
    let sync_model = SyncModel::r2sp(0.0, Applied::InTurn).unwrap();
    let workers = vec![worker(1, MODEL, VALUES), worker(2, MODEL, VALUES)];
    let mut both = Both::new(server(sync_model, 2, options), workers);
    // Worker 0 has the first turn, and stays silent.
    let silent = both.starts.remove(0);
    both.compute(1, vec![1.0; VALUES], ZERO);
    assert_eq!(both.server.sequencer().version(), 0, "its update is held until its turn");
    let late = Duration::from_secs(4);
    both.server.tick(late);
    both.settle(late);
    assert!(both.server_reports.contains(&ServerReport::Gone { worker: WorkerNo(0) }));
    assert_eq!(both.server.sequencer().values(), [1.0; VALUES]);
    // Its late update has no permission, and it takes part again.
    both.workers[0].computed(silent.ticket, vec![7.0; VALUES]).unwrap();
    both.settle(late);
    assert_eq!(both.server.sequencer().values(), [1.0; VALUES]);
    assert!(both.server.counters().unasked > 0 && both.workers[0].counters().unasked == 1);
    assert!(!both.server.sequencer().is_away(WorkerNo(0)));
}

#[test]
fn a_worker_without_a_connection_times_out_and_rejoins() {
    let workers = vec![worker(1, MODEL, VALUES), worker(2, MODEL, VALUES)];
    let mut both = Both::new(server(SyncModel::bsp(), 2, Options::fixed(2)), workers);
    let first = both.starts.remove(0);
    both.compute(1, vec![1.0; VALUES], ZERO);
    both.server.down(PeerNo(0), ZERO);
    both.workers[0].down(SERVER, ZERO);
    let later = Duration::from_secs(11);
    both.server.tick(later);
    both.settle(later);
    assert_eq!(both.server.counters().absent, 1);
    assert_eq!(both.server.sequencer().values(), [1.0; VALUES], "the others go on");
    both.server.up(PeerNo(0), later);
    both.workers[0].up(SERVER, later);
    both.settle(later);
    assert!(!both.server.sequencer().is_away(WorkerNo(0)));
    both.workers[0].computed(first.ticket, vec![9.0; VALUES]).unwrap();
    assert_eq!(both.workers[0].counters().superseded, 1);
}

#[test]
fn a_server_that_restarts_in_the_middle_of_a_push_asks_for_a_new_one() {
    let mut both = Both::new(server(SyncModel::asp(), 1, Options::fixed(1)), vec![worker(1, MODEL, VALUES)]);
    both.compute(0, vec![1.0; VALUES], ZERO);
    let kept = both.server.sequencer().kept();
    let start = both.starts.remove(0);
    both.workers[0].computed(start.ticket, vec![2.0; VALUES]).unwrap();
    // One chunk of three arrives.
    let Output::Send { data, .. } = both.workers[0].next(ZERO).unwrap() else { panic!() };
    both.server.received(PeerNo(0), &data, None, ZERO);
    let setup = ServerSetup {
        incarnation: 10,
        model: MODEL,
        chunk_values: 4,
        precision: Precision::Single,
        window: 8,
        rates_bps: vec![None],
        gather: ZERO,
        absence: Duration::from_secs(10),
        iterations: None,
    };
    let restored = InOrder::restored(SyncModel::asp(), Options::fixed(1), MODEL, kept);
    both.server = ServerAgent::new(setup, restored);
    both.workers[0].down(SERVER, ZERO);
    // A late chunk of the previous incarnation.
    both.server.received(PeerNo(0), &data, None, ZERO);
    assert_eq!(both.server.counters().stale_incarnation, 1);
    both.server.up(PeerNo(0), ZERO);
    both.workers[0].up(SERVER, ZERO);
    both.settle(ZERO);
    assert_eq!((both.starts[0].version, both.starts[0].iteration), (1, 1));
    both.compute(0, vec![3.0; VALUES], ZERO);
    assert_eq!(both.server.sequencer().values(), [4.0; VALUES]);
}

/// Without the incarnation, permissions of both servers would have the same number.
#[test]
fn an_update_for_a_crashed_server_is_not_pushed_to_the_next_one() {
    let mut both = Both::new(server(SyncModel::asp(), 1, Options::fixed(1)), vec![worker(1, MODEL, VALUES)]);
    let old = both.starts.remove(0);
    let setup = ServerSetup {
        incarnation: 10,
        model: MODEL,
        chunk_values: 4,
        precision: Precision::Single,
        window: 8,
        rates_bps: vec![None],
        gather: ZERO,
        absence: Duration::from_secs(10),
        iterations: None,
    };
    let fresh = InOrder::new(SyncModel::asp(), Options::fixed(1), MODEL, vec![1.0; VALUES]);
    both.server = ServerAgent::new(setup, fresh);
    both.server.up(PeerNo(0), ZERO);
    both.workers[0].up(SERVER, ZERO);
    both.settle(ZERO);
    assert_eq!(both.starts.len(), 1);
    both.workers[0].computed(old.ticket, vec![9.0; VALUES]).unwrap();
    both.settle(ZERO);
    assert_eq!(both.workers[0].counters().superseded, 1);
    both.compute(0, vec![2.0; VALUES], ZERO);
    assert_eq!(both.server.sequencer().values(), [3.0; VALUES]);
}

#[test]
fn a_push_resumes_where_the_connection_ended() {
    let mut both = Both::new(server(SyncModel::asp(), 1, Options::fixed(1)), vec![worker(1, MODEL, VALUES)]);
    let start = both.starts.remove(0);
    both.workers[0].computed(start.ticket, vec![2.0; VALUES]).unwrap();
    let Output::Send { data, .. } = both.workers[0].next(ZERO).unwrap() else { panic!() };
    both.server.received(PeerNo(0), &data, None, ZERO);
    both.workers[0].down(SERVER, ZERO);
    both.server.down(PeerNo(0), ZERO);
    both.server.up(PeerNo(0), ZERO);
    both.workers[0].up(SERVER, ZERO);
    both.settle(ZERO);
    assert_eq!(both.server.counters().repeated, 0, "the chunk that has arrived is not sent again");
    assert_eq!(both.server.sequencer().values(), [2.0; VALUES]);
}

#[test]
fn unreadable_and_invalid_packets_are_counted() {
    let mut both = Both::new(server(SyncModel::asp(), 1, Options::fixed(1)), vec![worker(1, MODEL, VALUES)]);
    let start = both.starts[0].clone();
    let tag =
        Tag { worker_incarnation: 1, server_incarnation: 9, ticket: start.ticket, version: start.version };
    let packets = [
        Bytes::new(),
        Bytes::from_static(&[3, 1, 2]),
        Bytes::from_static(&[2, 0xff, 0xff]),
        chunk_packet(&tag, 3, &[1.0], Precision::Single),
        chunk_packet(&tag, 0, &[1.0; 3], Precision::Single),
        chunk_packet(&Tag { version: 77, ..tag }, 0, &[1.0; 4], Precision::Single),
        message_packet(1, 9, Body::Over(inart_ps_agent::Over { version: 3 })),
    ];
    for (at, packet) in (1..).zip(&packets) {
        both.server.received(PeerNo(0), packet, None, ZERO);
        assert_eq!(both.server.counters().malformed, at);
    }
    let stranger = chunk_packet(&Tag { worker_incarnation: 4, ..tag }, 0, &[1.0; 4], Precision::Single);
    both.server.received(PeerNo(0), &stranger, None, ZERO);
    both.server.received(PeerNo(0), &message_packet(1, 8, Body::Request(Request {})), None, ZERO);
    assert_eq!(both.server.counters().stale_incarnation, 2);
    let hello = Hello { number: 1, model: MODEL, values: VALUES as u64, ..Hello::default() };
    both.server.received(PeerNo(7), &message_packet(1, 0, Body::Hello(hello)), None, ZERO);
    assert_eq!(both.server.counters().malformed, packets.len() as u64 + 1, "worker 7 does not exist");
    both.settle(ZERO);
    both.compute(0, vec![1.0; VALUES], ZERO);
    assert_eq!(both.server.sequencer().values(), [1.0; VALUES]);
}

#[test]
fn a_worker_without_a_server_ends() {
    let mut alone = worker(1, MODEL, VALUES);
    let late = Duration::from_secs(60);
    alone.tick(late);
    assert_eq!(
        alone.next(late).and_then(Output::report),
        Some(WorkerReport::Failed(WorkerError::NoServer(late)))
    );
}

/// A worker that sends messages without end and reads no answer: neither memory nor time grows with them.
#[test]
fn a_worker_that_takes_no_answers_is_kept_few() {
    let mut both = Both::new(server(SyncModel::asp(), 1, Options::fixed(1)), vec![worker(1, MODEL, VALUES)]);
    for ticket in 1..=10_000 {
        let pull = Pull { ticket, attempt: 1, ..Pull::default() };
        both.server.received(PeerNo(0), &message_packet(1, 9, Body::Pull(pull)), None, ZERO);
    }
    assert_eq!(both.server.counters().not_permitted, 10_000);
    let mut answers = 0;
    while let Some(output) = both.server.next(ZERO) {
        let Output::Send { id, .. } = output else { continue };
        answers += 1;
        both.server.ended(id, true, ZERO);
    }
    assert_eq!((answers, both.server.counters().unsaid), (256, 10_000 - 256));
}

/// The server does not wait for a worker whose process has ended; one whose connection has broken may rejoin.
#[test]
fn a_worker_that_has_left_is_removed_at_once() {
    let workers = vec![worker(1, MODEL, VALUES), worker(2, MODEL, VALUES)];
    let mut both = Both::new(server(SyncModel::bsp(), 2, Options::fixed(2)), workers);
    both.starts.remove(0);
    both.compute(1, vec![1.0; VALUES], ZERO);
    both.server.down(PeerNo(0), ZERO);
    both.settle(ZERO);
    assert_eq!(both.server.counters().absent, 0);
    both.server.up(PeerNo(0), ZERO);
    both.server.left(PeerNo(0), ZERO);
    both.settle(ZERO);
    assert_eq!(both.server.counters().absent, 1);
    assert_eq!(both.server.sequencer().values(), [1.0; VALUES], "the other trains on");
}

/// A worker that waits for its turn is notified of the awaited workers; one that computes is not.
#[test]
fn waiting_workers_learn_the_awaited_ones_and_all_learn_why_a_server_ends() {
    let workers = vec![worker(1, MODEL, VALUES), worker(2, MODEL, VALUES)];
    let mut both = Both::new(server(SyncModel::bsp(), 2, Options::fixed(2)), workers);
    both.starts.remove(0);
    both.compute(1, vec![1.0; VALUES], ZERO);
    both.worker_reports.clear();
    both.server.notify_waiting("w1: has been computing for 30 s\u{7}");
    both.settle(ZERO);
    let why = "w1: has been computing for 30 s\\u{7}".to_owned();
    assert_eq!(both.worker_reports, [WorkerReport::Waiting { why }]);
    both.server.stop("s was stopped", ZERO);
    assert!(!both.server.has_notified(), "they have not received it yet");
    both.settle(ZERO);
    assert!(both.server.has_notified());
    let stopped = WorkerReport::Failed(WorkerError::Stopped("s was stopped".to_owned()));
    assert_eq!(both.worker_reports[1..], [stopped.clone(), stopped]);
}
