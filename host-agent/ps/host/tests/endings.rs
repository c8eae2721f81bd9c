//! A training that cannot continue ends by name at all its processes.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::thread::JoinHandle;
use std::time::Duration;

use inart_protocol_ps::{Options, SyncModel, WorkerNo};
use inart_ps_agent::{InOrder, Precision, ServerReport};
use inart_ps_host::{
    Ending, HostError, Job, ServerEvent, ServerHost, ServerOptions, Start, Training, WorkerHost,
    WorkerStopper,
};

use crate::loopback::loopback;
use crate::support::{Identities, options};

const VALUES: usize = 100;

/// Adds the same number to each value.
struct Adds(f32);

impl Training for Adds {
    fn compute(&mut self, _: &Start) -> Vec<f32> {
        vec![self.0; VALUES]
    }
}

struct Processes {
    identities: Identities,
    job: Job,
    places: Vec<SocketAddr>,
}

impl Processes {
    fn new(workers: usize) -> Processes {
        let names: Vec<String> = (1..=workers).map(|worker| format!("w{worker}")).collect();
        let job = Job { name: "j".into(), server: "s".into(), workers: names, values: VALUES };
        let sockets: Vec<_> = (0..=workers).map(|_| UdpSocket::bind((loopback(), 0)).unwrap()).collect();
        let places = sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
        Processes { identities: Identities::new(), job, places }
    }

    fn worker(
        &self,
        worker: usize,
        terms: &[(&str, String)],
        adds: f32,
    ) -> JoinHandle<Result<Ending, HostError>> {
        let name = self.job.workers[worker].clone();
        let server = BTreeMap::from([("s".to_owned(), *self.places.last().unwrap())]);
        let options = options(self.identities.of(&name), self.places[worker], server);
        let (job, terms) = (self.job.clone(), self.job.terms(terms).unwrap());
        std::thread::spawn(move || {
            let how = (None, Duration::from_secs(60));
            WorkerHost::open_with(&job, &name, &terms, how, options)?.run(&mut Adds(adds))
        })
    }

    fn serve(&self, terms: &[(&str, String)], patience: Duration) -> Result<Vec<ServerEvent>, HostError> {
        self.serve_for(terms, patience, Duration::from_secs(30))
    }

    /// Serves, with a timeout for workers whose connection has ended.
    fn serve_for(
        &self,
        terms: &[(&str, String)],
        patience: Duration,
        absence: Duration,
    ) -> Result<Vec<ServerEvent>, HostError> {
        let workers = self.job.workers.len();
        let sequencer = InOrder::new(
            SyncModel::bsp(),
            Options::fixed(workers),
            self.job.fingerprint(),
            vec![0.0; VALUES],
        );
        let server = ServerOptions {
            precision: Precision::Single,
            rates_bps: vec![None; workers],
            gather: Duration::from_secs(30),
            absence,
            iterations: Some(3),
        };
        let all = self.job.workers.iter().cloned().zip(self.places.iter().copied()).collect();
        let options = options(self.identities.of("s"), *self.places.last().unwrap(), all);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let host = ServerHost::open(&self.job, sequencer, server, None, options)?;
            let host = host.with_training(7, self.job.terms(terms)?).with_patience(patience);
            let mut all = Vec::new();
            // The timeout only ends a hang.
            let ran = tokio::time::timeout(2 * LONG, host.run(|event| all.push(event))).await;
            ran.expect("the training ends").map(|_| all)
        })
    }
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_model_beyond_float32_ends_all_processes_and_names_the_update() {
    let processes = Processes::new(2);
    let workers = [processes.worker(0, &[], 1.0), processes.worker(1, &[], 3e38)];
    let error = processes.serve(&[], LONG).unwrap_err().to_string();
    let named = "the model becomes infinite by the update of w2, version 2 (value 0): take a smaller step";
    assert_eq!(error, named);
    for worker in workers {
        let error = worker.join().unwrap().unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn another_seed_is_refused_by_name_and_the_right_one_is_not() {
    let processes = Processes::new(2);
    let seed = |seed: u32| [("seed", seed.to_string())];
    let (wrong, right) = (processes.worker(0, &seed(2), 1.0), processes.worker(1, &seed(1), 1.0));
    let job = processes.job.clone();
    let (served, wrong) = std::thread::scope(|scope| {
        let server = scope.spawn(|| processes.serve(&seed(1), LONG));
        let wrong = wrong.join().unwrap().unwrap_err().to_string();
        // The worker restarts with the right seed.
        let again = processes.worker(0, &seed(1), 1.0);
        again.join().unwrap().unwrap();
        (server.join().unwrap(), wrong)
    });
    assert!(wrong.contains("w1 has seed 2, s has seed 1"), "{wrong}");
    assert!(served.is_ok() && right.join().unwrap().is_ok(), "{job:?}");
}

#[test]
fn a_server_that_no_worker_connects_to_ends_by_name() {
    let error = Processes::new(2).serve(&[], Duration::from_secs(2)).unwrap_err().to_string();
    for named in ["no worker of job j", "start w1, w2"] {
        assert!(error.contains(named), "{error}");
    }
}

/// Stops while it computes.
struct Stopped(WorkerStopper);

impl Training for Stopped {
    fn compute(&mut self, _: &Start) -> Vec<f32> {
        self.0.stop();
        vec![1.0; VALUES]
    }
}

#[test]
fn a_stopped_worker_is_evicted_at_once_and_the_others_train_on() {
    let processes = Processes::new(2);
    let other = processes.worker(0, &[], 1.0);
    let server = BTreeMap::from([("s".to_owned(), *processes.places.last().unwrap())]);
    let options = options(processes.identities.of("w2"), processes.places[1], server);
    let host = WorkerHost::open(&processes.job, "w2", None, LONG, options).unwrap();
    let stopped = std::thread::spawn(move || {
        let stopper = host.stopper();
        host.run(&mut Stopped(stopper)).unwrap_err().to_string()
    });
    // A server that waited for a new connection would do so until its patience ends.
    let events = processes.serve_for(&[], Duration::from_secs(20), Duration::from_secs(3600)).unwrap();
    assert_eq!(stopped.join().unwrap(), "w2 was stopped");
    let gone = ServerEvent::Report(ServerReport::Gone { worker: WorkerNo(1) });
    assert_eq!(events.iter().filter(|event| **event == gone).count(), 1);
    assert!(other.join().unwrap().is_ok());
}
