//! Clients in groups behind the same messages: models are averaged by group and merged in turn; late,
//! vanished and outlying clients do no harm.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use inart_connections::{Machine as _, Output, PeerNo};
use inart_protocol_ps::{GroupOptions, OutlierRule, Part, WorkerNo};
use inart_ps_agent::{
    InGroups, Precision, Sequencer, ServerAgent, ServerReport, ServerSetup, Start, WorkerAgent, WorkerReport,
    WorkerSetup,
};

/// The worker's only connection.
const SERVER: PeerNo = PeerNo(0);

const MODEL: u64 = 5;
const ZERO: Duration = Duration::ZERO;

struct World {
    server: ServerAgent<InGroups>,
    clients: Vec<WorkerAgent>,
    /// By client: its task.
    starts: Vec<Option<Start>>,
    server_reports: Vec<ServerReport>,
    /// Excluded clients, as notified.
    left_out: Vec<usize>,
}

impl World {
    fn new(clients: usize, groups: usize, fraction: f64, outliers: Option<OutlierRule>) -> World {
        let setup = ServerSetup {
            incarnation: 9,
            model: MODEL,
            chunk_values: 1,
            precision: Precision::Single,
            window: 8,
            rates_bps: vec![None; clients],
            gather: Duration::from_secs(5),
            absence: Duration::from_secs(10),
            iterations: None,
        };
        let options = GroupOptions {
            clients,
            groups,
            fraction: Part::new(fraction).unwrap(),
            relaxation: Part::NONE,
            patience: None,
            outliers,
        };
        let sequencer = InGroups::new(options, vec![8; clients], MODEL, vec![0.0; 2]).unwrap();
        let client = |incarnation: u32| {
            let patience = Duration::from_secs(60);
            WorkerAgent::new(WorkerSetup {
                incarnation,
                model: MODEL,
                values: 2,
                window: 8,
                rate_bps: None,
                patience,
            })
        };
        let mut world = World {
            server: ServerAgent::new(setup, sequencer),
            clients: (1..=clients as u32).map(client).collect(),
            starts: vec![None; clients],
            server_reports: Vec::new(),
            left_out: Vec::new(),
        };
        for at in 0..clients {
            world.server.up(PeerNo(at as u32), ZERO);
            world.clients[at].up(SERVER, ZERO);
        }
        world.settle(ZERO);
        world
    }

    fn settle(&mut self, now: Duration) {
        let mut is_quiet = false;
        while !is_quiet {
            is_quiet = true;
            while let Some(output) = self.server.next(now) {
                is_quiet = false;
                match output {
                    Output::Send { to, id, data, .. } => {
                        self.clients[to.index()].received(SERVER, &data, None, now);
                        self.server.ended(id, true, now);
                    }
                    Output::Report(news) => self.server_reports.push(news),
                    _ => {}
                }
            }
            for (at, client) in self.clients.iter_mut().enumerate() {
                while let Some(output) = client.next(now) {
                    is_quiet = false;
                    match output {
                        Output::Send { id, data, .. } => {
                            self.server.received(PeerNo(at as u32), &data, None, now);
                            client.ended(id, true, now);
                        }
                        Output::Report(WorkerReport::Compute(start)) => self.starts[at] = Some(start),
                        Output::Report(WorkerReport::LeftOut { why }) => {
                            assert!(why.contains("its data"), "{why}");
                            self.left_out.push(at);
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// Pushes a client's model.
    fn push(&mut self, client: usize, model: [f32; 2]) {
        let start = self.starts[client].take().expect("the client has been answered");
        self.clients[client].computed(start.ticket, model.to_vec()).unwrap();
        self.settle(ZERO);
    }

    fn values(&self) -> &[f32] {
        self.server.sequencer().values()
    }
}

#[test]
fn groups_are_averaged_and_merged_in_turn() {
    let mut world = World::new(4, 2, 1.0, None);
    assert!(world.starts.iter().all(Option::is_some), "all start together");
    // Group 1 (clients 1 and 3) is full first, before its turn.
    world.push(1, [4.0, 0.0]);
    world.push(3, [8.0, 0.0]);
    assert_eq!((world.values(), world.server.sequencer().version()), (&[0.0, 0.0][..], 0));
    world.push(0, [1.0, 2.0]);
    world.push(2, [3.0, 2.0]);
    // Half of 0 and of group 0's mean (2, 2); then half of that and of group 1's mean (6, 0).
    assert_eq!(world.values(), [3.5, 0.5]);
    assert_eq!(world.server.sequencer().version(), 2);
    // Each client has its answer, with the model of that time or a newer one.
    assert!(world.starts.iter().all(|start| start.as_ref().is_some_and(|start| start.iteration == 1)));
    assert_eq!(world.starts[3].as_ref().unwrap().model[..], [3.5, 0.5]);
    assert_eq!(world.server.sequencer().kept().done, [1, 1, 1, 1]);
}

#[test]
fn a_late_client_counts_nothing_and_gets_the_newest_model() {
    let mut world = World::new(3, 1, 0.6, None);
    world.push(0, [2.0, 0.0]);
    world.push(1, [4.0, 0.0]);
    assert_eq!(world.values(), [3.0, 0.0], "two of three are enough");
    world.push(2, [90.0, 90.0]);
    assert_eq!(world.values(), [3.0, 0.0]);
    assert_eq!(world.server.sequencer().server().counters().late, 1);
    let start = world.starts[2].as_ref().expect("the client is answered at once");
    assert_eq!((start.iteration, &start.model[..]), (1, &[3.0, 0.0][..]));
    // The client's model counts in the round that it was sent.
    world.push(2, [5.0, 0.0]);
    world.push(0, [7.0, 0.0]);
    assert_eq!(world.values(), [6.0, 0.0]);
}

#[test]
fn a_model_with_a_nan_and_a_vanished_client_stop_no_other_client() {
    let mut world = World::new(3, 1, 1.0, None);
    world.push(0, [f32::NAN, 0.0]);
    assert_eq!(world.server.sequencer().server().counters().not_finite, 1);
    world.push(0, [2.0, 2.0]);
    world.push(1, [4.0, 4.0]);
    assert_eq!(world.values(), [0.0, 0.0], "client 2 is waited for");
    world.server.down(PeerNo(2), ZERO);
    world.clients[2].down(SERVER, ZERO);
    let later = Duration::from_secs(11);
    world.server.tick(later);
    world.settle(later);
    assert_eq!(world.values(), [3.0, 3.0]);
    assert!(world.server_reports.contains(&ServerReport::Gone { worker: WorkerNo(2) }));
    // The client returns, and its model of the past round counts nothing.
    world.server.up(PeerNo(2), later);
    world.clients[2].up(SERVER, later);
    world.settle(later);
    let start = world.starts[2].take().unwrap();
    assert_eq!((start.iteration, &start.model[..]), (1, &[3.0, 3.0][..]));
}

#[test]
fn an_outlier_of_its_group_is_excluded() {
    let outliers = OutlierRule { threshold: 0.0, rounds: 2, most: Part::percent(50) };
    let mut world = World::new(4, 1, 1.0, Some(outliers));
    for _ in 0..3 {
        for client in 0..4 {
            if world.starts[client].is_some() {
                let model = world.starts[client].as_ref().unwrap().model.clone();
                let way = if client == 3 { -1.0 } else { 1.0 };
                world.push(client, [model[0] + way, model[1] + way]);
            }
        }
    }
    assert_eq!(world.server.sequencer().left_out(), [WorkerNo(3)]);
    assert_eq!(world.server.sequencer().server().size(0), 3);
    let excluded = world.server.sequencer().server().counters().excluded;
    assert_eq!(excluded, 0, "an excluded client does not train");
    assert!(world.server_reports.contains(&ServerReport::LeftOut { worker: WorkerNo(3) }));
    assert_eq!((&world.left_out[..], world.clients[3].is_over()), (&[3][..], true));
    // A restarted process is notified at once.
    let patience = Duration::from_secs(60);
    let setup = WorkerSetup { incarnation: 99, model: MODEL, values: 2, window: 8, rate_bps: None, patience };
    world.clients[3] = WorkerAgent::new(setup);
    world.server.up(PeerNo(3), ZERO);
    world.clients[3].up(SERVER, ZERO);
    world.settle(ZERO);
    assert_eq!((&world.left_out[..], world.starts[3].is_none()), (&[3, 3][..], true));
    assert!(world.server.sequencer().is_away(WorkerNo(3)));
}
