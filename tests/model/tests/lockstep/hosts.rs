//! `core`'s state machines, as the model's server and workers.

use std::time::Duration;

use inart_model::{Frame, Generation, Node, Run, Talk};
use inart_protocol_aggregation::completion_rule::{Answer, CompletionRule, Lockstep, Onward, OwnSum};
use inart_protocol_aggregation::{
    Assignment, Failure, Instant, NonFinite, ServerShard, StateMachine, TensorId, WorkerFlow,
};
use inart_wire::ValuesPerFrame;

use super::codec::{Codec, Seen, host, rank, server_of};

/// No host times out.
const PEER_TIMEOUT: Duration = Duration::from_secs(1 << 30);
/// Longer than any timeout.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A server or worker with its clock.
pub struct Host<M> {
    pub state_machine: M,
    now: Instant,
    /// A worker's.
    tensors: Vec<TensorId>,
}

/// A server, with or without a larger job.
pub enum RealServer {
    Lockstep(Host<ServerShard>),
    Onward(Host<ServerShard<Onward>>),
}

/// Applies an expression to both kinds.
macro_rules! of_both {
    ($server:expr, $host:ident => $what:expr) => {
        match $server {
            RealServer::Lockstep($host) => $what,
            RealServer::Onward($host) => $what,
        }
    };
}

impl RealServer {
    /// Returns the server in the run that its generation names.
    pub fn new(codec: &Codec, run: Run) -> Self {
        match codec.config.onward {
            true => Self::Onward(server(codec, run, Onward::new(codec.config.workers.into()))),
            false => Self::Lockstep(server(codec, run, Lockstep)),
        }
    }

    pub fn receive(&mut self, frame: &[u8]) {
        of_both!(self, host => host.receive(frame));
    }

    pub fn send(&mut self, codec: &Codec) -> Vec<(Node, Seen)> {
        of_both!(self, host => host.send(codec))
    }

    pub fn reroute(&mut self, assignment: &Assignment) {
        of_both!(self, host => host.state_machine.reroute(assignment.clone()))
            .expect("the server may migrate");
    }

    pub fn lead(&mut self, assignment: &Assignment) {
        of_both!(self, host => host.state_machine.lead(assignment.clone())).expect("the server may migrate");
    }

    pub fn close_old_plan_version(&mut self) {
        of_both!(self, host => host.state_machine.close_old_plan_version());
    }

    /// Returns the next sum that goes on.
    pub fn next_sum(&mut self) -> Option<OwnSum> {
        match self {
            Self::Lockstep(_) => None,
            Self::Onward(host) => host.state_machine.next_sum(),
        }
    }

    /// Returns the sum of all is back; whether it is a result now.
    pub fn sum_is_back(&mut self, answer: Answer) -> bool {
        match self {
            Self::Lockstep(_) => false,
            Self::Onward(host) => host.state_machine.sum_is_back(answer),
        }
    }
}

/// Returns the server in the run that its generation names; it knows all workers, unless they are to learn of
/// each other.
fn server<P: CompletionRule>(codec: &Codec, run: Run, completion_rule: P) -> Host<ServerShard<P>> {
    let (assignment, generation) = (codec.assignment.clone(), server_of(&codec.config, run));
    let state_machine =
        ServerShard::with_completion_rule(assignment, 0.into(), generation, PEER_TIMEOUT, completion_rule)
            .unwrap();
    let mut host = Host { state_machine, now: Instant::START, tensors: Vec::new() };
    if !codec.config.handshake() {
        for worker in 0..codec.config.workers {
            host.receive(&codec.keepalive(worker, Generation::First, Some(run)));
        }
        host.send(codec);
    }
    host
}

/// Returns a generation of a worker, which has started its tensors; it knows the server, unless they are to
/// learn of each other.
pub fn worker(codec: &Codec, number: u8, generation: Generation) -> Host<WorkerFlow> {
    let (assignment, incarnation) = (codec.assignment.clone(), host(number, generation));
    let worker = WorkerFlow::new(assignment, rank(number), incarnation, PEER_TIMEOUT).unwrap();
    let mut state_machine = worker.with_non_finite(NonFinite::Pass);
    let mut start = |tensor| state_machine.start(Instant::START, tensor).unwrap();
    let tensors = codec.gradients(number, generation).into_iter().map(&mut start).collect();
    if codec.config.chunks_of(number) < codec.config.chunks {
        start(codec.next_tensor(number));
    }
    let mut host = Host { state_machine, now: Instant::START, tensors };
    if !codec.config.handshake() {
        let to = Talk { generation, run: Run::First };
        host.receive(&codec.to_worker(number, &Frame::Answer { to, bound: true }));
    }
    host
}

impl Host<WorkerFlow> {
    /// Starts the worker's migration.
    pub fn reroute(&mut self, assignment: &Assignment) {
        self.state_machine.reroute(self.now, assignment.clone()).expect("the worker may migrate");
    }

    /// Returns the sums of its tensors, which have ended, or why there are none.
    pub fn finish(&mut self) -> Result<Vec<Vec<f32>>, Failure> {
        let finish = |tensor: &TensorId| {
            let reduced = self.state_machine.finish(*tensor)?;
            let mut sum = vec![0.0; reduced.len()];
            reduced.read(&mut sum);
            Ok(sum)
        };
        self.tensors.iter().map(finish).collect()
    }
}

impl<M: StateMachine> Host<M> {
    /// Delivers a frame.
    pub fn receive(&mut self, frame: &[u8]) {
        self.state_machine.handle_frame(self.now, frame);
    }

    /// Returns all that it sends now.
    pub fn send(&mut self, codec: &Codec) -> Vec<(Node, Seen)> {
        let mut buffer = [0; ValuesPerFrame::LONGEST_FRAME_BYTES];
        let mut sent = Vec::new();
        while let Some(length) = self.state_machine.poll_transmit(self.now, &mut buffer) {
            sent.push(codec.read(&buffer[..length]));
            // If all know each other, keep-alives change nothing.
            let handshake = codec.config.handshake();
            sent.pop_if(|(_, seen)| {
                !handshake && matches!(seen, Seen::KeepAlive { .. } | Seen::Answer { .. })
            });
            assert!(sent.len() < 1000, "it sends without end");
            // The pacer releases the next frame a moment later.
            self.now = self.now + Duration::from_micros(1);
        }
        sent
    }

    /// Advances time until the worker has repeated all frames that it can, at the pacer's pace.
    pub fn wait(&mut self, codec: &Codec) -> Vec<(Node, Seen)> {
        self.now = self.now + TIMEOUT;
        self.send(codec)
    }
}
