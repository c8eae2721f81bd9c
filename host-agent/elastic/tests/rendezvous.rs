//! Hosts of an elastic job that fail, join and leave: workers and servers as threads on an in-process
//! network, and the controller's daemon on switches in memory. Every sum is that of the view's members, and
//! all workers end with equal weights, bit for bit.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use inart_controller::api::proto::ChangeStage;
use inart_elastic::{ElasticServer, ElasticWorker, Error, Event, ServerStopper};
use inart_steering::Outcome;
use inart_wire::Incarnation;

use crate::support::Controller;

/// Values of the model.
const VALUES: usize = 3000;

/// A worker's gradient in a round: whole numbers, so that sums are exact.
fn gradient(worker: &str, round: u64) -> Vec<f32> {
    let number = u64::from(worker.bytes().last().unwrap() - b'0');
    (0..VALUES as u64).map(|index| ((index * 7 + round * 13) % 97 * number) as f32).collect()
}

/// State and controls of a worker, shared with the test.
#[derive(Default)]
struct Watch {
    rounds: AtomicU64,
    /// Round before which it crashes; 0 for none.
    crashes_before: AtomicU64,
    /// Round in which it computes until it may continue; 0 for none.
    pauses_in: AtomicU64,
    may_go_on: AtomicBool,
    /// Number of changes of its workers.
    rejoins: AtomicU64,
    members: Mutex<Vec<String>>,
    servers: AtomicU64,
    shares: Mutex<Vec<f64>>,
}

impl Watch {
    fn until(&self, round: u64) {
        wait_for(|| self.rounds.load(Ordering::SeqCst) >= round);
    }

    fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::SeqCst)
    }
}

fn wait_for(wish: impl Fn() -> bool) {
    for _ in 0..12_000 {
        if wish() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the worker did not get there in time");
}

/// A worker's program: the loop of a training.
fn train(controller: &Controller, name: &str, goal: u64, watch: &Watch) -> Result<Vec<f32>, Error> {
    let mut weights = vec![f32::from(name.as_bytes()[1]); VALUES];
    let mut job = ElasticWorker::join(controller.host(name))?;
    job.load(&mut weights)?;
    while job.rounds() < goal {
        let round = job.rounds();
        if watch.crashes_before.load(Ordering::SeqCst) == round && round > 0 {
            return Ok(weights); // without a message
        }
        if watch.pauses_in.load(Ordering::SeqCst) == round && round > 0 {
            wait_for(|| watch.may_go_on.load(Ordering::SeqCst));
        }
        let mut sum = gradient(name, round);
        match job.all_reduce(&mut sum) {
            Ok(_) => {
                let workers = job.membership().workers;
                let mut right = vec![0.0; VALUES];
                for worker in &workers {
                    right.iter_mut().zip(gradient(worker, round)).for_each(|(sum, value)| *sum += value);
                }
                assert_eq!(sum, right, "{name} in round {round} with {workers:?}");
                weights.iter_mut().zip(&sum).for_each(|(weight, sum)| *weight += sum / 128.0);
                *watch.members.lock().unwrap() = workers;
                let shards = &job.assignment().shards;
                watch.servers.store(shards.len() as u64, Ordering::SeqCst);
                *watch.shares.lock().unwrap() = shards.iter().map(|shard| shard.share).collect();
                watch.rounds.store(job.rounds(), Ordering::SeqCst);
            }
            Err(error) if error.is_membership() => {
                watch.rejoins.fetch_add(1, Ordering::SeqCst);
                job.load(&mut weights)?;
            }
            Err(error) => return Err(error),
        }
    }
    job.finish()?;
    Ok(weights)
}

struct Trainer {
    watch: Arc<Watch>,
    thread: JoinHandle<Result<Vec<f32>, Error>>,
}

impl Trainer {
    fn start(controller: &Controller, name: &str, goal: u64, configure: impl FnOnce(&Watch)) -> Self {
        let watch = Arc::new(Watch::default());
        configure(&watch);
        let (controller, name, seen) = (controller.clone(), name.to_owned(), watch.clone());
        Self { watch, thread: std::thread::spawn(move || train(&controller, &name, goal, &seen)) }
    }

    fn weights(self) -> Vec<u32> {
        self.thread.join().unwrap().unwrap().into_iter().map(f32::to_bits).collect()
    }
}

fn serve(controller: &Controller, name: &str) -> (ServerStopper, JoinHandle<Result<(), Error>>) {
    let mut server = ElasticServer::new(controller.host(name));
    (server.stopper(), std::thread::spawn(move || server.run(|_, _| ())))
}

fn end(servers: Vec<(ServerStopper, JoinHandle<Result<(), Error>>)>) {
    for (stopper, thread) in servers {
        stopper.stop();
        thread.join().unwrap().unwrap();
    }
}

#[test]
fn a_crashed_worker_is_left_out_and_rejoins_with_the_newest_weights() {
    let controller = Controller::start("");
    let servers = ["s1", "s2"].map(|name| serve(&controller, name)).into();
    let pauses = |watch: &Watch| watch.pauses_in.store(14, Ordering::SeqCst);
    let [w1, w3] = ["w1", "w3"].map(|name| Trainer::start(&controller, name, 60, pauses));
    let crashing =
        Trainer::start(&controller, "w2", 60, |watch| watch.crashes_before.store(5, Ordering::SeqCst));
    crashing.weights();
    // The others continue without it, in the middle of a round that they had started with it.
    w1.watch.until(14);
    assert_eq!(*w1.watch.members.lock().unwrap(), ["w1", "w3"]);
    let w2 = Trainer::start(&controller, "w2", 60, |_| ());
    controller.wait_for_host("w2");
    controller.wait_for_phase("until its workers agree|before tensor");
    for pausing in [&w1, &w3] {
        pausing.watch.may_go_on.store(true, Ordering::SeqCst);
    }
    let watches = [&w1, &w2, &w3].map(|trainer| trainer.watch.clone());
    let [one, two, three] = [w1, w2, w3].map(Trainer::weights);
    assert!(one == two && one == three, "the weights differ");
    for watch in &watches {
        assert_eq!((watch.rounds(), watch.members.lock().unwrap().len()), (60, 3));
    }
    assert_eq!(watches[0].rejoins.load(Ordering::SeqCst), 2, "without w2, and with it");
    end(servers);
}

#[test]
fn a_server_that_ends_is_replaced_by_the_others_and_the_programs_do_not_notice() {
    let controller = Controller::start("");
    let mut servers: Vec<_> = ["s1", "s2"].map(|name| serve(&controller, name)).into();
    let pauses = |watch: &Watch| watch.pauses_in.store(20, Ordering::SeqCst);
    let workers = ["w1", "w2", "w3"].map(|name| Trainer::start(&controller, name, 60, pauses));
    workers[0].watch.until(5);
    end(vec![servers.remove(1)]);
    // They had two shards until then, and go on with one from round 20 at the latest.
    for worker in &workers {
        worker.watch.may_go_on.store(true, Ordering::SeqCst);
    }
    let watches = workers.each_ref().map(|worker| worker.watch.clone());
    let weights = workers.map(Trainer::weights);
    assert!(weights.iter().all(|of| *of == weights[0]), "the weights differ");
    for watch in &watches {
        assert_eq!((watch.rounds(), watch.servers.load(Ordering::SeqCst)), (60, 1));
    }
    end(servers);
}

#[test]
fn a_late_worker_joins_at_a_stop_point_and_no_round_is_lost() {
    let controller = Controller::start("");
    let servers = vec![serve(&controller, "s1")];
    let pauses = |watch: &Watch| watch.pauses_in.store(10, Ordering::SeqCst);
    let [w1, w2] = ["w1", "w2"].map(|name| Trainer::start(&controller, name, 40, pauses));
    w1.watch.until(10);
    let w3 = Trainer::start(&controller, "w3", 40, |_| ());
    controller.wait_for_host("w3");
    controller.wait_for_phase("until its workers agree|before tensor");
    for pausing in [&w1, &w2] {
        pausing.watch.may_go_on.store(true, Ordering::SeqCst);
    }
    let watches = [&w1, &w2, &w3].map(|trainer| trainer.watch.clone());
    let weights = [w1, w2, w3].map(Trainer::weights);
    assert!(weights.iter().all(|of| *of == weights[0]), "the weights differ");
    assert_eq!(watches[0].rejoins.load(Ordering::SeqCst), 1);
    assert_eq!(watches[0].members.lock().unwrap().len(), 3);
    end(servers);
}

#[test]
fn shares_change_while_the_job_runs_and_the_programs_do_not_notice() {
    let controller = Controller::start("");
    let servers = ["s1", "s2"].map(|name| serve(&controller, name)).into();
    let workers = ["w1", "w2", "w3"].map(|name| Trainer::start(&controller, name, 300, |_| ()));
    workers[0].watch.until(5);
    assert_eq!(controller.change_shares(), ChangeStage::Done);
    let watches = workers.each_ref().map(|worker| worker.watch.clone());
    let weights = workers.map(Trainer::weights);
    assert!(weights.iter().all(|of| *of == weights[0]), "the weights differ");
    for watch in &watches {
        assert_eq!((watch.rounds(), watch.rejoins.load(Ordering::SeqCst)), (300, 0));
        let shares = watch.shares.lock().unwrap().clone();
        assert!(shares.len() == 2 && shares[0] < 0.31, "{shares:?}");
    }
    end(servers);
}

/// The pushed shares are poor. Requested new shares become active at a stop point.
#[test]
fn shares_are_replanned_on_command_and_the_programs_do_not_notice() {
    let controller = Controller::start("follows");
    let servers = ["s1", "s2"].map(|name| serve(&controller, name)).into();
    let goal = 3000;
    let workers = ["w1", "w2", "w3"].map(|name| Trainer::start(&controller, name, goal, |_| ()));
    workers[0].watch.until(5);
    assert_eq!(controller.change_shares(), ChangeStage::Done);
    let begun = workers[0].watch.rounds();
    workers[0].watch.until(begun + 5);
    let poor = workers[0].watch.shares.lock().unwrap().clone();
    assert!(poor[0] < 0.25, "{poor:?}");
    let decision = controller.ask_for_shares();
    assert_eq!(decision.outcome, Some(Outcome::Done), "{decision}");
    assert!(decision.gain.unwrap() > 1.4 && decision.jobs[0].note.is_empty(), "{decision}");
    let watches = workers.each_ref().map(|worker| worker.watch.clone());
    let weights = workers.map(Trainer::weights);
    assert!(weights.iter().all(|of| *of == weights[0]), "the weights differ");
    for watch in &watches {
        assert_eq!((watch.rounds(), watch.rejoins.load(Ordering::SeqCst)), (goal, 0));
        let shares = watch.shares.lock().unwrap().clone();
        assert!((shares[0] - 0.5).abs() < 1e-3, "{shares:?}");
    }
    end(servers);
}

#[test]
fn the_controller_is_restarted_and_the_view_continues() {
    let controller = Controller::start("");
    let servers = ["s1", "s2"].map(|name| serve(&controller, name)).into();
    let pauses = |watch: &Watch| watch.pauses_in.store(30, Ordering::SeqCst);
    let [w1, w2] = ["w1", "w2"].map(|name| Trainer::start(&controller, name, 60, pauses));
    w1.watch.until(5);
    controller.kill();
    // The next 25 rounds need no controller.
    w1.watch.until(30);
    w2.watch.until(30);
    assert_eq!((w1.watch.rejoins.load(Ordering::SeqCst), w2.watch.rejoins.load(Ordering::SeqCst)), (0, 0));
    controller.restart();
    // The controller knows the members of the view, so it admits another worker at a stop point.
    let w3 = Trainer::start(&controller, "w3", 60, |_| ());
    controller.wait_for_host("w3");
    controller.wait_for_phase("before tensor");
    for pausing in [&w1, &w2] {
        pausing.watch.may_go_on.store(true, Ordering::SeqCst);
    }
    let watches = [&w1, &w2, &w3].map(|trainer| trainer.watch.clone());
    let weights = [w1, w2, w3].map(Trainer::weights);
    assert!(weights.iter().all(|of| *of == weights[0]), "the weights differ");
    assert_eq!((watches[0].rounds(), watches[0].rejoins.load(Ordering::SeqCst)), (60, 1));
    end(servers);
}

#[test]
fn hosts_that_cannot_take_part_receive_the_reason() {
    let controller = Controller::start("");
    let error = ElasticWorker::join(controller.host("w9")).err().unwrap().to_string();
    assert!(error.ends_with("job digits has no host w9: give one of w1, w2, w3, s1, s2"), "{error}");
    let other = Controller::start("rigid");
    let error = ElasticWorker::join(other.host("w1")).err().unwrap().to_string();
    assert!(error.contains("job digits is not elastic"), "{error}");
    // A controller without rendezvous.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let claimed = runtime.block_on(async {
        let assignment = controller.source().assignment().await.unwrap();
        controller.source().claim(&assignment, "worker-0", Incarnation::new(7)).await
    });
    let error = claimed.unwrap_err().to_string();
    assert!(error.contains("job 1 is elastic, and its hosts join"), "{error}");
    // A host started in another role than its own.
    let (s1, w1) = (serve(&controller, "s1"), serve(&controller, "w1"));
    let error = w1.1.join().unwrap().unwrap_err().to_string();
    assert_eq!(
        error,
        "w1 is worker 0 in this job, and was started as a server: start a server with the name of one"
    );
    end(vec![s1]);
}

/// A state of any length needs memory for a copy and a few pieces.
#[test]
fn a_state_is_loaded_in_pieces() {
    let controller = Controller::start("");
    let servers = vec![serve(&controller, "s1")];
    let load = |name: &'static str, rounds: u64, value: f32| {
        let host = controller.host(name).after_rounds(rounds).recorded();
        std::thread::spawn(move || {
            let mut job = ElasticWorker::join(host).unwrap();
            let mut state: Vec<f32> = (0..150_000u32).map(|index| value + (index % 4096) as f32).collect();
            job.load(&mut state).unwrap();
            let longest = job.events().into_iter().map(|event| match event {
                Event::Sum(_, record) => record.sent.len(),
                Event::Run(..) => 0,
            });
            let longest = longest.max();
            job.finish().unwrap();
            (state, longest)
        })
    };
    let threads = [load("w1", 3, 0.5), load("w2", 7, 0.25), load("w3", 0, 0.75)];
    let right: Vec<f32> = (0..150_000u32).map(|index| 0.25 + (index % 4096) as f32).collect();
    for thread in threads {
        let (state, longest) = thread.join().unwrap();
        assert!(state == right, "the state of the worker with most rounds");
        assert_eq!(longest, Some(4 << 16), "values of four digits each");
    }
    end(servers);
}

/// The controller would membership it in the next view, which would wait for it.
#[test]
fn a_worker_whose_join_is_interrupted_no_longer_waits_for_a_run() {
    let controller = Controller::start("");
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_interrupted);
    controller.wait_for_phase("no host is connected");
    let host = controller.host("w1").interrupted_by(move || asked.load(Ordering::SeqCst));
    let joining = std::thread::spawn(move || ElasticWorker::join(host).map(drop));
    wait_for(|| controller.waiting() == ["w1"]);
    is_interrupted.store(true, Ordering::SeqCst);
    let error = joining.join().unwrap().unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert!(controller.waiting().is_empty(), "{:?}", controller.waiting());
}

/// Trains until one of the workers requests the end; returns the weights.
fn train_until(controller: &Controller, name: &str, ends: &AtomicBool) -> Vec<f32> {
    let mut job = ElasticWorker::join(controller.host(name)).unwrap();
    let mut weights = vec![0.0; VALUES];
    job.load(&mut weights).unwrap();
    loop {
        let mut sum = vec![1.0; VALUES];
        sum[0] = if ends.load(Ordering::SeqCst) { 1.0 } else { 0.0 };
        match job.all_reduce(&mut sum) {
            Ok(_) => weights.iter_mut().zip(&sum).for_each(|(weight, sum)| *weight += sum),
            Err(error) if error.is_membership() => job.load(&mut weights).unwrap(),
            Err(error) => panic!("{error}"),
        }
        if sum[0] > 0.0 {
            job.finish().unwrap();
            return weights;
        }
    }
}

/// A worker with another model joins by mistake: it is refused with an error that names it, and the others
/// continue.
#[test]
fn a_worker_with_another_state_is_refused_and_the_others_go_on() {
    let controller = Controller::start("");
    let servers = ["s1", "s2"].map(|name| serve(&controller, name)).into();
    let ends = Arc::new(AtomicBool::new(false));
    let others = ["w1", "w2"].map(|name| {
        let (controller, ends) = (controller.clone(), Arc::clone(&ends));
        std::thread::spawn(move || train_until(&controller, name, &ends))
    });
    controller.wait_for_phase("the view continues");
    let refused = |values: usize, digest: u64| {
        let mut job = ElasticWorker::join(controller.host("w3")).unwrap();
        let mut state = vec![7.0; values];
        let error = job.load_with(&mut state, digest).unwrap_err();
        assert!(state.iter().all(|value| *value == 7.0), "the state is unchanged");
        assert!(matches!(error, Error::OtherState { .. }), "{error}");
        (job, error.to_string())
    };
    let (mut job, error) = refused(70_000, 0);
    let named = "the newest state, that of worker w1, has 3000 values, and the arrays given here have 70000";
    assert!(error.starts_with(named), "{error}");
    // The right state, in the same process.
    job.load(&mut [0.0; VALUES]).unwrap();
    assert_eq!(job.membership().workers.len(), 3);
    job.leave().unwrap();
    let (job, error) = refused(VALUES, 7);
    assert!(error.contains("has other arrays than those given here, of 3000 values as well"), "{error}");
    drop(job);
    ends.store(true, Ordering::SeqCst);
    let [one, two] = others.map(|thread| thread.join().unwrap());
    assert!(one == two && one[0] >= 1.0, "the weights differ");
    end(servers);
}
