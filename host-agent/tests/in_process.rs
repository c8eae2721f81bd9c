//! Workers and servers as threads of one process: several tensors in flight, and transports of the test's
//! own.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use inart_host_agent::{
    Error, InProcess, InProcessPort, Options, PortError, Server, Transport, Wake, Worker,
};
use inart_protocol_aggregation::{Assignment, Failure, NonFinite, ShardAssignment, WorkerAddress};
use inart_wire::{AbortReason, MacAddr, ValuesPerFrame};

const PEER_TIMEOUT: Duration = Duration::from_secs(20);

fn mac(host: u8) -> MacAddr {
    MacAddr([2, 0, 0, 0, 0, host])
}

/// Two workers and a server.
fn assignment() -> Assignment {
    Assignment {
        job: 1.into(),
        name: "threads".into(),
        plan_version: 1.into(),
        values_per_frame: ValuesPerFrame::N64,
        window_chunks: 16,
        exact_sums: false,
        workers: (0..2).map(|rank| WorkerAddress { name: format!("w{rank}"), mac: mac(rank) }).collect(),
        shards: vec![ShardAssignment {
            server: "s0".into(),
            mac: mac(9),
            share: 1.0,
            rate_bps: 1e9,
            bitmap_indices: vec![],
        }],
    }
}

fn options() -> Options {
    Options { peer_timeout: PEER_TIMEOUT, ..Options::default() }
}

/// Runs the programs of two workers with their workers, and a server, on these transports.
fn run<T: Transport + 'static>(
    transport: impl Fn(InProcessPort) -> T,
    programs: [fn(Worker, &Barrier); 2],
) -> Result<(), Error> {
    let network = InProcess::new();
    let port = |host| transport(network.port(mac(host)));
    let mut server = Server::with_transport(assignment(), 0.into(), port(9), options()).unwrap();
    let stopper = server.stopper();
    let server = thread::spawn(move || server.run());
    let both = Arc::new(Barrier::new(2));
    let mut threads = Vec::new();
    for (rank, program) in programs.into_iter().enumerate() {
        let id = rank.try_into().unwrap();
        let worker = Worker::with_options(assignment(), id, port(rank as u8), options()).unwrap();
        let both = Arc::clone(&both);
        threads.push(thread::spawn(move || program(worker, &both)));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    stopper.stop();
    server.join().unwrap()
}

/// A transport unknown to the crate: it loses every seventh sent frame, and delivers every fifth twice.
struct Lossy {
    port: InProcessPort,
    sent: u32,
    /// Frame to deliver once more.
    again: Option<Vec<u8>>,
}

impl Transport for Lossy {
    fn name(&self) -> &str {
        "lossy"
    }

    fn prepare(&mut self, frame_bytes: usize) -> Result<(), PortError> {
        self.port.prepare(frame_bytes)
    }

    fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), PortError> {
        let Self { port, sent, again } = self;
        port.transmit(&mut |room| {
            loop {
                if let Some(frame) = again.take() {
                    room[..frame.len()].copy_from_slice(&frame);
                    return Some(frame.len());
                }
                let length = fill(room)?;
                *sent += 1;
                *again = sent.is_multiple_of(5).then(|| room[..length].to_vec());
                if !sent.is_multiple_of(7) {
                    return Some(length);
                }
            }
        })
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        self.port.receive(take)
    }

    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), PortError> {
        self.port.wait(timeout)
    }

    fn waker(&self) -> Arc<dyn Wake> {
        self.port.waker()
    }
}

fn sums_of_five(mut worker: Worker, _: &Barrier) {
    for round in 0..5u8 {
        let mut gradient = vec![f32::from(round) + 0.5; 3000];
        let stats = worker.all_reduce(&mut gradient).unwrap();
        assert_eq!(stats.round, u32::from(round));
        assert_eq!(gradient, vec![2.0 * f32::from(round) + 1.0; 3000]);
    }
}

#[test]
fn a_transport_of_ones_own_carries_a_job() {
    run(|port| Lossy { port, sent: 0, again: None }, [sums_of_five; 2]).unwrap();
}

/// Starts tensors of these lengths, and waits for them in this order.
fn in_order(worker: &Worker, order: [usize; 3]) {
    let mut tensors = [100, 5000, 700].map(|len| vec![0.25f32; len]);
    let mut handles: Vec<_> =
        tensors.iter_mut().map(|tensor| Some(worker.start(&mut tensor[..]).unwrap())).collect();
    for place in order {
        let (sum, stats) = worker.wait(handles[place].take().unwrap()).unwrap();
        assert!(sum.iter().all(|value| *value == 0.5));
        assert_eq!(stats.round as usize % 3, place);
    }
    drop(handles);
    assert!(tensors.iter().flatten().all(|value| *value == 0.5), "the sums are where the tensors were");
}

#[test]
fn tensors_are_waited_for_in_any_order() {
    let one: fn(Worker, &Barrier) = |worker, _| {
        in_order(&worker, [0, 1, 2]);
        in_order(&worker, [1, 2, 0]);
    };
    let other: fn(Worker, &Barrier) = |worker, _| {
        in_order(&worker, [2, 1, 0]);
        in_order(&worker, [0, 2, 1]);
    };
    run(|port| port, [one, other]).unwrap();
}

#[test]
fn threads_share_a_worker() {
    let program: fn(Worker, &Barrier) = |worker, _| {
        // The starts are in order, the waits in threads of their own.
        let handles: Vec<_> =
            (1..6u8).map(|tensor| worker.start(vec![f32::from(tensor); 900]).unwrap()).collect();
        thread::scope(|scope| {
            for (handle, tensor) in handles.into_iter().zip(1u8..) {
                let worker = &worker;
                scope.spawn(move || {
                    assert_eq!(worker.wait(handle).unwrap().0, vec![2.0 * f32::from(tensor); 900]);
                });
            }
        });
    };
    run(|port| port, [program; 2]).unwrap();
}

#[test]
fn a_wait_may_have_an_end() {
    let early: fn(Worker, &Barrier) = |worker, both| {
        let handle = worker.start(vec![1.0; 900]).unwrap();
        let Ok(Err(handle)) = worker.wait_timeout(handle, Duration::from_millis(20)) else {
            panic!("its peer has not started");
        };
        both.wait();
        let (sum, _) = worker.wait_timeout(handle, PEER_TIMEOUT).unwrap().ok().expect("its peer has started");
        assert_eq!(sum, vec![2.0; 900]);
    };
    let late: fn(Worker, &Barrier) = |worker, both| {
        both.wait();
        assert_eq!(worker.wait(worker.start(vec![1.0; 900]).unwrap()).unwrap().0, vec![2.0; 900]);
    };
    run(|port| port, [early, late]).unwrap();
}

#[test]
fn an_idle_worker_keeps_no_other_waiting() {
    let careless: fn(Worker, &Barrier) = |worker, both| {
        for _ in 0..1500 {
            drop(worker.start([1.0; 3]).unwrap());
            worker.wait(worker.start([2.0; 5]).unwrap()).unwrap();
        }
        both.wait();
    };
    let careful: fn(Worker, &Barrier) = |worker, both| {
        for _ in 0..1500 {
            let first = worker.start([1.0; 3]).unwrap();
            assert_eq!(worker.wait(worker.start([2.0; 5]).unwrap()).unwrap().0, [4.0; 5]);
            assert_eq!(worker.wait(first).unwrap().0, [2.0; 3]);
        }
        both.wait();
    };
    run(|port| port, [careless, careful]).unwrap();
}

#[test]
fn too_many_tensors_are_refused_and_end_nothing() {
    let eager: fn(Worker, &Barrier) = |worker, both| {
        let mut handles = Vec::new();
        let error = loop {
            match worker.start([1.0; 2]) {
                Ok(handle) => handles.push(handle),
                Err(error) => break error,
            }
        };
        let expected = "1024 tensors are in flight; wait for one before the next is started";
        assert_eq!((handles.len(), error.to_string()), (1024, expected.into()));
        both.wait();
        handles.into_iter().for_each(|handle| assert_eq!(worker.wait(handle).unwrap().0, [2.0; 2]));
    };
    let late: fn(Worker, &Barrier) = |worker, both| {
        both.wait();
        for _ in 0..1024 {
            worker.wait(worker.start([1.0; 2]).unwrap()).unwrap();
        }
    };
    run(|port| port, [eager, late]).unwrap();
}

#[test]
fn errors_are_returned_by_each_wait() {
    let right: fn(Worker, &Barrier) = |worker, _| {
        let handles = [worker.start(vec![1.0; 500]).unwrap(), worker.start(vec![1.0; 70]).unwrap()];
        let expected = "the job was aborted: worker 1 (w1) has a gradient of 69 values, others have 70";
        let [first, second] = handles.map(|handle| worker.wait(handle));
        assert!(first.is_ok() || first.is_err_and(|error| error.to_string() == expected));
        assert_eq!(second.err().unwrap().to_string(), expected);
        assert_eq!(worker.start(vec![1.0; 3]).err().unwrap().to_string(), expected);
    };
    let wrong: fn(Worker, &Barrier) = |worker, _| {
        let _first = worker.start(vec![1.0; 500]).unwrap();
        let Error::Failure(Failure::Aborted { reason, .. }) =
            worker.wait(worker.start(vec![1.0; 69]).unwrap()).err().unwrap()
        else {
            panic!("lengths differ");
        };
        assert_eq!(reason, AbortReason::Mismatch { seen: 69, expected: 70 });
    };
    let error = run(|port| port, [right, wrong]);
    // It is stopped, or has aborted before.
    assert!(error.is_ok() || matches!(error, Err(Error::Failure(_))));
}

/// Tensors of one length, of which the second worker's program skips one.
#[test]
fn a_skipped_tensor_of_the_same_length_ends_the_job_by_its_label() {
    fn steps(mut worker: Worker, skipped: Option<u32>) {
        let mut gradient = [0.0; 500];
        let failure = (0..1_000_000)
            .filter(|step| Some(*step) != skipped)
            .find_map(|step| worker.all_reduce_with_label(&mut gradient, &format!("step {step}")).err());
        let Some(Error::Failure(failure)) = failure else { panic!("{failure:?}") };
        let Failure::OtherTensors { culprit, name, first, last, own } = &failure else { panic!("{failure}") };
        assert_eq!((culprit.index(), name.as_str()), (1, "w1"));
        assert!((*first..=*last).contains(&5), "{failure}");
        let of_last = last + u32::from(skipped.is_some_and(|skipped| skipped <= *last));
        assert!(own.ends_with(&format!("tensor {last}: 500 values, label \"step {of_last}\"")), "{failure}");
        assert_eq!(worker.start([1.0]).err().unwrap().to_string(), failure.to_string());
    }
    let error = run(|port| port, [|worker, _| steps(worker, None), |worker, _| steps(worker, Some(5))]);
    assert!(error.is_ok() || matches!(error, Err(Error::Failure(_))));
}

/// A worker sends its transcript once more when it leaves: its peer learns that their last sum was mixed.
#[test]
fn a_worker_that_leaves_does_not_take_a_mixed_sum_with_it() {
    let leaves: fn(Worker, &Barrier) = |mut worker, left| {
        worker.all_reduce(&mut [1.0; 500]).unwrap();
        // On a slow machine, keep-alives end the job before this sum.
        let _ = worker.all_reduce_with_label(&mut [1.0; 500], "loss");
        drop(worker);
        left.wait();
    };
    let stays: fn(Worker, &Barrier) = |mut worker, left| {
        worker.all_reduce(&mut [1.0; 500]).unwrap();
        let _ = worker.all_reduce_with_label(&mut [1.0; 500], "gradient");
        left.wait();
        // The peer is not waited for: the verdict needs its last transcript, and this worker's next one.
        let failure = loop {
            match worker
                .start_with_label([1.0; 500], "next")
                .and_then(|handle| worker.wait_timeout(handle, Duration::from_millis(10)).map(drop))
            {
                Ok(()) => {}
                Err(error) => break error.to_string(),
            }
        };
        assert!(
            failure.contains("worker 1 (w1) and its peers started different tensors as tensor 1"),
            "{failure}"
        );
        assert!(failure.contains("(here tensor 1: 500 values, label \"gradient\")"), "{failure}");
    };
    let error = run(|port| port, [stays, leaves]);
    assert!(error.is_ok() || matches!(error, Err(Error::Failure(_))));
}

#[test]
fn a_server_ends_with_its_job_and_names_missing_workers() {
    let network = InProcess::new();
    let brief = || Options { peer_timeout: Duration::from_secs(5), ..Options::default() };
    let server = Server::with_transport(assignment(), 0.into(), network.port(mac(9)), brief()).unwrap();
    assert_eq!(server.never_heard(), ["worker 0 (w0)", "worker 1 (w1)"]);
    let mut server = server.ends_with_job();
    let server = thread::spawn(move || (server.run(), server.never_heard(), server.counters().chunks));
    let workers = [0u16, 1].map(|rank| {
        let port = network.port(mac(rank as u8));
        Worker::with_options(assignment(), rank.try_into().unwrap(), port, brief()).unwrap()
    });
    let handles = workers.each_ref().map(|worker| worker.start(vec![1.0; 3]).unwrap());
    for (worker, handle) in workers.iter().zip(handles) {
        worker.wait(handle).unwrap();
    }
    drop(workers);
    let (ended, absent, chunks) = server.join().unwrap();
    ended.unwrap();
    assert_eq!((absent.len(), chunks), (0, 1));
}

/// A transport that panics on command.
struct Panicking {
    port: InProcessPort,
    now: Arc<AtomicBool>,
}

impl Transport for Panicking {
    fn name(&self) -> &str {
        "panicking"
    }

    fn prepare(&mut self, frame_bytes: usize) -> Result<(), PortError> {
        self.port.prepare(frame_bytes)
    }

    fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), PortError> {
        self.port.transmit(fill)
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        assert!(!self.now.load(Ordering::SeqCst), "out of order");
        self.port.receive(take)
    }

    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), PortError> {
        self.port.wait(timeout)
    }

    fn waker(&self) -> Arc<dyn Wake> {
        self.port.waker()
    }
}

#[test]
fn a_panic_of_the_driver_ends_all_waits_and_starts_with_its_message() {
    let (network, now) = (InProcess::new(), Arc::new(AtomicBool::new(false)));
    let port = Panicking { port: network.port(mac(0)), now: Arc::clone(&now) };
    let worker = Worker::with_options(assignment(), 0u16.try_into().unwrap(), port, options()).unwrap();
    let handles = [500, 3].map(|len| worker.start(vec![1.0; len]).unwrap());
    let unwanted = worker.start(vec![1.0; 4]).unwrap();
    now.store(true, Ordering::SeqCst);
    for handle in handles {
        // The time ends a hang only.
        let Err(error) = worker.wait_timeout(handle, 3 * PEER_TIMEOUT) else { panic!("the wait ended late") };
        assert!(error.to_string().contains("panicked (out of order)"), "{error}");
    }
    let error = worker.start(vec![1.0; 3]).err().unwrap();
    assert!(error.to_string().contains("panicked (out of order)"), "{error}");
    assert_eq!(worker.waiting(), None);
    drop(unwanted);
}

#[test]
fn sums_report_whether_the_workers_own_tensor_was_finite() {
    let network = InProcess::new();
    let pass = || Options { non_finite: NonFinite::Pass, ..options() };
    let mut server = Server::with_transport(assignment(), 0.into(), network.port(mac(9)), options()).unwrap();
    let stopper = server.stopper();
    let server = thread::spawn(move || server.run());
    let workers = [0u16, 1].map(|rank| {
        let port = network.port(mac(rank as u8));
        Worker::with_options(assignment(), rank.try_into().unwrap(), port, pass()).unwrap()
    });
    // Digits, floats, and scaled values.
    for len in [3, 100, 700] {
        let handles = workers.each_ref().map(|worker| worker.start(vec![1.0; len]).unwrap());
        for (worker, handle) in workers.iter().zip(handles) {
            assert!(!worker.wait(handle).unwrap().1.not_finite, "{len} values");
        }
        let mut spoilt = vec![1.0; len];
        spoilt[len - 1] = f32::INFINITY;
        let handles = [workers[0].start(vec![1.0; len]).unwrap(), workers[1].start(spoilt).unwrap()];
        let seen = handles
            .into_iter()
            .zip(&workers)
            .map(|(handle, worker)| worker.wait(handle).unwrap().1.not_finite);
        assert_eq!(seen.collect::<Vec<_>>(), [false, true], "{len} values");
    }
    drop(workers);
    stopper.stop();
    server.join().unwrap().unwrap();
}

/// Returns the errors of workers and of servers with a second worker of rank 1, or a second server.
fn twice(second_is_server: bool) -> [Vec<String>; 2] {
    let network = InProcess::new();
    let (ended, ends) = mpsc::channel();
    let server = || {
        let port = network.port(mac(9));
        let mut server = Server::with_transport(assignment(), 0.into(), port, options()).unwrap();
        let ended = ended.clone();
        thread::spawn(move || ended.send(server.run().unwrap_err().to_string()));
    };
    let worker = |rank: u8| {
        let id = u16::from(rank).try_into().unwrap();
        let worker = Worker::with_options(assignment(), id, network.port(mac(rank)), options());
        let mut worker = worker.unwrap();
        // Only an error ends it.
        thread::spawn(move || -> Result<(), Error> {
            loop {
                let mut ones = vec![1.0; 1000];
                worker.all_reduce(&mut ones)?;
                assert_eq!(ones, vec![2.0; 1000], "a sum of two workers");
            }
        })
    };
    server();
    let mut workers = vec![worker(0), worker(1)];
    // In the middle of the training.
    thread::sleep(Duration::from_millis(300));
    match second_is_server {
        true => server(),
        false => workers.push(worker(1)),
    }
    let errors = workers.into_iter().map(|worker| worker.join().unwrap().unwrap_err().to_string());
    let errors = errors.collect();
    let servers = 1 + usize::from(second_is_server);
    // The time ends a hang only.
    let end = |_| ends.recv_timeout(3 * PEER_TIMEOUT).expect("every server ends with its job");
    [errors, (0..servers).map(end).collect()]
}

/// All workers and servers end with an error that names the host that runs twice, and no sum is wrong.
#[test]
fn a_second_host_of_one_name_ends_the_job_by_that_name() {
    for error in twice(false).concat() {
        assert!(
            error.contains("worker 1 (w1) was restarted, or runs twice; start each worker once"),
            "{error}"
        );
    }
    for error in twice(true).concat() {
        assert!(error.contains("s0 (shard 0) was restarted and has lost its sums, or runs twice"), "{error}");
    }
}

#[test]
fn a_second_worker_at_another_address_ends_alone_and_by_name() {
    let (network, done) = (InProcess::new(), Arc::new(AtomicBool::new(false)));
    let mut server = Server::with_transport(assignment(), 0.into(), network.port(mac(9)), options()).unwrap();
    let stopper = server.stopper();
    let server = thread::spawn(move || server.run());
    let workers = [0u16, 1].map(|rank| {
        let port = network.port(mac(rank as u8));
        let mut worker =
            Worker::with_options(assignment(), rank.try_into().unwrap(), port, options()).unwrap();
        let done = Arc::clone(&done);
        thread::spawn(move || {
            // The last value says that this worker's program ends: both leave after the same round.
            loop {
                let mut values = vec![1.0; 1000];
                values[999] = f32::from(u8::from(done.load(Ordering::SeqCst)));
                worker.all_reduce(&mut values).unwrap();
                assert_eq!(values[..999], vec![2.0; 999], "a sum of two workers");
                if values[999] > 0.5 {
                    return;
                }
            }
        })
    });
    let mut other = assignment();
    other.workers[1].mac = mac(7);
    let mut second =
        Worker::with_options(other, 1u16.try_into().unwrap(), network.port(mac(7)), options()).unwrap();
    let error = second.all_reduce(&mut [1.0; 1000]).unwrap_err().to_string();
    let expected =
        "worker 1 (w1) is 02:00:00:00:00:01 in the parameter servers' assignment, and 02:00:00:00:00:07";
    assert!(error.starts_with(expected), "{error}");
    drop(second);
    done.store(true, Ordering::SeqCst);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    stopper.stop();
    server.join().unwrap().unwrap();
}

#[test]
fn a_server_that_no_worker_joins_ends_with_their_names() {
    let network = InProcess::new();
    let server = Server::with_transport(assignment(), 0.into(), network.port(mac(9)), options()).unwrap();
    let error = server.with_patience(Duration::from_millis(200)).run().unwrap_err().to_string();
    assert!(error.starts_with("no worker has joined for "), "{error}");
    assert!(error.contains("start worker 0 (w0), worker 1 (w1), and check interfaces"), "{error}");
}
