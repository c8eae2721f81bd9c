//! Two hundred clients of one server's process over the loopback, in groups: every model that the server
//! merges was sent by its client, once; the model is merged again and compared bit for bit.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use inart_protocol_ps::{GroupOptions, Part};
use inart_ps_agent::{InGroups, Precision, ServerReport};
use inart_ps_host::{HostOptions, Job, ServerEvent, ServerHost, ServerOptions, Start, Training, WorkerHost};

use crate::loopback::loopback;
use crate::support::{Identities, options};

const CLIENTS: usize = 200;
const GROUPS: usize = 8;
const ROUNDS: u64 = 3;
const VALUES: usize = 5000;

/// A client's model is a function of the pulled model, its number and the round: sums of halves are exact.
struct Client(usize);

fn trained(from: &[f32], client: usize, round: u64) -> Vec<f32> {
    let change = (client as f32 - 100.0) / 128.0 + round as f32;
    from.iter().enumerate().map(|(at, value)| value * 0.5 + change * (at % 7) as f32).collect()
}

impl Training for Client {
    fn compute(&mut self, start: &Start) -> Vec<f32> {
        // Some are slow: their rounds end without them, and so does the training while they compute.
        if self.0 % 50 == 7 {
            std::thread::sleep(Duration::from_secs(2));
        }
        trained(&start.model, self.0, start.iteration)
    }
}

fn serve(job: &Job, options: HostOptions) -> Vec<ServerEvent> {
    let groups = GroupOptions {
        clients: CLIENTS,
        groups: GROUPS,
        fraction: Part::percent(75),
        relaxation: Part::percent(100),
        patience: None,
        outliers: None,
    };
    let first = vec![0.0; VALUES];
    let sequencer = InGroups::new(groups, vec![1; CLIENTS], job.fingerprint(), first).unwrap();
    let server = ServerOptions {
        precision: Precision::Single,
        rates_bps: vec![None; CLIENTS],
        gather: Duration::from_secs(100),
        absence: Duration::from_secs(60),
        iterations: Some(ROUNDS),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut all = Vec::new();
    runtime.block_on(async {
        let host = ServerHost::open(job, sequencer, server, None, options).unwrap();
        host.run(|event| all.push(event)).await.unwrap();
    });
    all
}

#[test]
fn two_hundred_clients_use_one_server_in_groups() {
    let identities = Identities::new();
    let names: Vec<String> = (0..CLIENTS).map(|client| format!("c{client}")).collect();
    let job = Job { name: "j".into(), server: "s".into(), workers: names.clone(), values: VALUES };
    let sockets: Vec<_> = (0..=CLIENTS).map(|_| UdpSocket::bind((loopback(), 0)).unwrap()).collect();
    let places: Vec<SocketAddr> = sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
    drop(sockets);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let server = BTreeMap::from([("s".to_owned(), places[CLIENTS])]);
            let options = options(identities.of(&names[client]), places[client], server);
            let (job, name) = (job.clone(), names[client].clone());
            std::thread::spawn(move || {
                let host = WorkerHost::open(&job, &name, None, Duration::from_secs(100), options).unwrap();
                host.run(&mut Client(client)).unwrap();
            })
        })
        .collect();
    let all = names.into_iter().zip(places.iter().copied()).collect();
    let events = serve(&job, options(identities.of("s"), places[CLIENTS], all));
    clients.into_iter().for_each(|client| client.join().unwrap());
    check(&events);
}

/// Repeats the merges that the server reports.
fn check(events: &[ServerEvent]) {
    let mut model = vec![0.0f32; VALUES];
    let mut versions = BTreeMap::from([(0, model.clone())]);
    let mut held: BTreeMap<u32, (u64, Arc<Vec<f32>>)> = BTreeMap::new();
    let (mut rounds, mut joined) = ([0u64; GROUPS], BTreeSet::new());
    for event in events {
        match event {
            ServerEvent::Report(ServerReport::Joined { worker }) => drop(joined.insert(worker.0)),
            ServerEvent::Report(ServerReport::Pushed { worker, iteration, base, values, refusal }) => {
                assert_eq!(*refusal, None);
                assert_eq!(**values, trained(&versions[base], worker.index(), *iteration), "{worker:?}");
                assert!(held.insert(worker.0, (*iteration, values.clone())).is_none(), "{worker:?} twice");
            }
            ServerEvent::Applied { applied, model: own } => {
                let group = applied.updates[0].worker.index() % GROUPS;
                let count = applied.updates.len();
                let mut sum = vec![0.0f64; VALUES];
                for update in &applied.updates {
                    let (round, values) =
                        held.remove(&update.worker.0).expect("the client has pushed, and counts once");
                    assert_eq!((round, update.worker.index() % GROUPS), (rounds[group], group));
                    sum.iter_mut().zip(values.iter()).for_each(|(sum, value)| *sum += f64::from(*value));
                }
                for (value, sum) in model.iter_mut().zip(&sum) {
                    let mean = f64::from((sum / count as f64) as f32);
                    *value = (f64::from(*value) * 7.0 / 8.0 + mean / 8.0) as f32;
                }
                rounds[group] += 1;
                if let Some(own) = own {
                    assert_eq!(**own, model, "version {}", applied.version);
                }
                versions.insert(applied.version, model.clone());
            }
            ServerEvent::Report(_) => {}
        }
    }
    assert_eq!(joined.len(), CLIENTS);
    assert!(held.is_empty(), "models of {:?} were lost", held.keys());
    assert!(rounds.iter().all(|round| *round >= ROUNDS), "{rounds:?}");
}
