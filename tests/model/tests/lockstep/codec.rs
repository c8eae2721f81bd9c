//! The model's frames as real ones, and real ones in the model's terms.

use inart_model::{Config, Contribution, Frame, Generation, Marks, Node, Peer, Run, Talk};
use inart_protocol_aggregation::{Assignment, ShardAssignment, WorkerAddress};
use inart_wire::{
    AbortReason, BitmapIndex, Contributors, ControlMessage, Exponent as WireExponent, Feedback, Flags,
    FrameRepr, Group, HeaderRepr, Incarnation, Kind, MacAddr, Rank, Transcript,
};

use super::numbers::{halves, values_per_frame};

pub const PLAN_VERSION: u16 = 2;
pub const OLD_PLAN_VERSION: u16 = 1;
/// The one that hosts move to.
pub const NEW_PLAN_VERSION: u16 = 3;
pub const JOB: u16 = 7;
/// Returns the server's incarnation in a run.
pub fn server_of(config: &Config, run: Run) -> Incarnation {
    Incarnation::new(match run {
        Run::Former => 99,
        Run::OldPlanVersion if config.tofino == Some(Marks::Alike) => {
            with_the_mark_of(PLAN_VERSION, 100, OLD_PLAN_VERSION)
        }
        // Any previous plan version will do; here only the plan version distinguishes it from now.
        Run::OldPlanVersion | Run::First | Run::Moved => 100,
        Run::Second => 101,
    })
}

/// Returns the incarnation under one plan version whose tag has the same mark (CRC-32) as that of another
/// incarnation under another plan version. A CRC combines the last bytes, the incarnation, with its state
/// after the bytes before.
fn with_the_mark_of(plan_version: u16, incarnation: u32, under: u16) -> u32 {
    let before = |plan_version: u16| {
        let tag = [plan_version, JOB, 0].map(u16::to_be_bytes);
        tag.as_flattened().iter().chain(&[0]).fold(u32::MAX, |crc, byte| {
            let next = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| next(crc))
        })
    };
    incarnation ^ (before(plan_version) ^ before(under)).swap_bytes()
}

fn run_of(config: &Config, plan_version: u16, incarnation: Incarnation) -> Run {
    let runs = [Run::Former, Run::First, Run::Second];
    let run = runs.into_iter().find(|run| server_of(config, *run) == incarnation);
    match plan_version {
        OLD_PLAN_VERSION => Run::OldPlanVersion,
        NEW_PLAN_VERSION => Run::Moved,
        _ => run.expect("it is one of the server's generations"),
    }
}

/// Returns the plan version of a run's frames.
pub fn plan_version_of(run: Run) -> u16 {
    match run {
        Run::OldPlanVersion => OLD_PLAN_VERSION,
        Run::Moved => NEW_PLAN_VERSION,
        Run::Former | Run::First | Run::Second => PLAN_VERSION,
    }
}

/// Returns a worker's incarnation.
pub fn host(worker: u8, generation: Generation) -> Incarnation {
    let first = match generation {
        Generation::Former => 50,
        Generation::First => 1,
        Generation::Second => 20,
    };
    Incarnation::new(first + u32::from(worker))
}

fn generation_of(worker: u8, incarnation: Incarnation) -> Generation {
    let generations = [Generation::Former, Generation::First, Generation::Second];
    generations
        .into_iter()
        .find(|generation| host(worker, *generation) == incarnation)
        .expect("it is one of the worker's generations")
}

/// Compared fields of a frame.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    Contribution {
        partial: bool,
        run: Run,
        sequence: u8,
        worker: u8,
        contributors: u8,
        exponent: WireExponent,
        resend: bool,
        bypass: bool,
        last: bool,
        overflow: bool,
        /// Numbers of a half of the frame, if two passes sum it: both halves are equal.
        numbers: Vec<i32>,
    },
    Result {
        run: Run,
        sequence: u8,
        exponent: WireExponent,
        numbers: Vec<i32>,
        other: bool,
    },
    Request {
        to: Talk,
        sequence: u8,
    },
    Abort {
        to: Talk,
        culprit: Peer,
    },
    KeepAlive {
        worker: u8,
        generation: Generation,
        run: Option<Run>,
    },
    Answer {
        to: Talk,
        bound: bool,
    },
    /// Abort message of a worker, which changes nothing at a server that has aborted, or is in another run.
    GivesUp,
}

/// A job, with the encoding of its frames.
pub struct Codec {
    pub config: Config,
    pub assignment: Assignment,
    /// Assignment for hosts that migrate.
    pub moved: Assignment,
}

impl Codec {
    pub fn new(config: Config) -> Self {
        let workers = usize::from(config.workers);
        let mac = |kind: u8, index: usize| MacAddr([2, 0, 0, kind, 0, index as u8]);
        let name = |rank| WorkerAddress { name: format!("w{rank}"), mac: mac(1, rank) };
        let server = ShardAssignment {
            server: "s".into(),
            mac: mac(2, 0),
            share: 1.0,
            rate_bps: 1e12,
            bitmap_indices: Vec::new(),
        };
        let assignment = Assignment {
            job: JOB.into(),
            name: "model".into(),
            plan_version: PLAN_VERSION.into(),
            values_per_frame: values_per_frame(&config),
            window_chunks: config.window.into(),
            exact_sums: false,
            workers: (0..workers).map(name).collect(),
            shards: vec![server],
        };
        let mut moved = Assignment { plan_version: NEW_PLAN_VERSION.into(), ..assignment.clone() };
        moved.shards[0].bitmap_indices =
            (0..config.workers).map(|rank| bitmap_index(config.bitmap_index_of(Run::Moved, rank))).collect();
        Self { config, assignment, moved }
    }

    fn header(&self, sequence: u8) -> HeaderRepr {
        HeaderRepr {
            kind: Kind::Control,
            flags: Flags::NONE,
            plan_version: PLAN_VERSION.into(),
            job: JOB.into(),
            shard: 0.into(),
            worker: bitmap_index(0),
            sequence: u32::from(sequence).into(),
            contributors: Contributors::default(),
            exponent: WireExponent::from(0),
            length: values_per_frame(&self.config).get() as u16,
            incarnation: server_of(&self.config, Run::First),
        }
    }

    fn write(&self, destination: MacAddr, source: MacAddr, header: HeaderRepr, values: &[i32]) -> Vec<u8> {
        let values_per_frame = values_per_frame(&self.config);
        let frame = FrameRepr { destination, source, values_per_frame, header };
        let mut bytes = vec![0; frame.buffer_len()];
        frame.emit(&values[..header.length.into()], &mut bytes).unwrap();
        // Switches sum all numbers of a frame.
        let (lanes, _) = bytes[frame.buffer_len() - 4 * values_per_frame.get()..].as_chunks_mut::<4>();
        lanes.iter_mut().zip(values).for_each(|(lane, value)| *lane = value.to_be_bytes());
        bytes
    }

    /// Returns the bytes of a gradient or partial. `also` are flags that no rule reads.
    pub fn contribution(&self, frame: &Contribution, also: Flags) -> Vec<u8> {
        let header = HeaderRepr {
            kind: if frame.partial { Kind::Partial } else { Kind::Gradient },
            plan_version: plan_version_of(frame.run).into(),
            incarnation: server_of(&self.config, frame.run),
            flags: also
                .with_if(Flags::LAST, frame.last)
                .with_if(Flags::RESEND, frame.resend)
                .with_if(Flags::BYPASS, frame.bypass)
                .with_if(Flags::OVERFLOW, frame.overflow),
            worker: bitmap_index(frame.worker),
            contributors: Contributors { bitmap: frame.contributors.into(), group: Group(0) },
            exponent: self.exponent(frame.exponent),
            length: self.length(frame.sequence, frame.exponent) as u16,
            ..self.header(frame.sequence)
        };
        let source =
            self.assignment.workers[usize::from(self.config.bitmap_index_of(frame.run, frame.worker))].mac;
        let numbers = self.spread(&self.numbers(frame.sequence, frame.exponent, frame.sum));
        self.write(self.assignment.shards[0].mac, source, header, &numbers)
    }

    fn last(&self, sequence: u8) -> Flags {
        Flags::NONE.with_if(Flags::LAST, self.config.is_last(0, sequence))
    }

    /// Returns the bytes of a frame from the server to a worker.
    pub fn to_worker(&self, worker: u8, frame: &Frame) -> Vec<u8> {
        let source = self.assignment.shards[0].mac;
        match *frame {
            Frame::Result { run, sequence, sum, other } => {
                let (exponent, numbers) = self.result(sequence, sum);
                let header = HeaderRepr {
                    kind: Kind::Result,
                    flags: self.last(sequence).with_if(Flags::OTHER_PLAN_VERSION, other),
                    plan_version: plan_version_of(run).into(),
                    incarnation: server_of(&self.config, run),
                    exponent,
                    length: self.length(sequence, self.config.exponent(sequence)) as u16,
                    ..self.header(sequence)
                };
                self.write(MacAddr::results_of(JOB.into()), source, header, &numbers)
            }
            Frame::Request { to, sequence } => {
                self.say(worker, to, self.header(sequence), ControlMessage::RequestBypass)
            }
            Frame::Abort { to, culprit } => {
                let (reason, culprit) = match culprit {
                    Peer::Server => (AbortReason::ServerRestarted(0.into()), worker),
                    Peer::Worker(culprit) => (AbortReason::WorkerRestarted, culprit),
                    Peer::Elsewhere => panic!("the larger job does not end in these runs"),
                };
                self.say(worker, to, self.header(0), ControlMessage::Abort { reason, culprit: rank(culprit) })
            }
            Frame::Answer { to, bound } => {
                self.say(worker, to, self.header(1), ControlMessage::KeepAliveAnswer { bound, awaited: None })
            }
            Frame::Contribution(_) | Frame::Halfway(..) | Frame::KeepAlive { .. } => {
                panic!("{frame:?} goes to no worker")
            }
        }
    }

    /// Returns the bytes of a message of the server to a worker.
    fn say(&self, worker: u8, to: Talk, header: HeaderRepr, message: ControlMessage) -> Vec<u8> {
        let words = message.words(host(worker, to.generation));
        let header = HeaderRepr {
            plan_version: plan_version_of(to.run).into(),
            worker: bitmap_index(self.config.bitmap_index_of(to.run, worker)),
            length: words.len() as u16,
            incarnation: server_of(&self.config, to.run),
            ..header
        };
        let destination = self.assignment.workers[usize::from(worker)].mac;
        self.write(destination, self.assignment.shards[0].mac, header, &words)
    }

    /// Returns the bytes of a worker's keep-alive. It omits the gradient's length, which would end the runs
    /// with a shorter one.
    pub fn keepalive(&self, worker: u8, generation: Generation, run: Option<Run>) -> Vec<u8> {
        let message = ControlMessage::KeepAlive {
            oldest: 0.into(),
            tensor_len: None,
            transcript: Transcript::default(),
        };
        let words = message.words(host(worker, generation));
        let header = HeaderRepr {
            worker: bitmap_index(worker),
            length: words.len() as u16,
            incarnation: run.map_or(Incarnation::UNKNOWN, |run| server_of(&self.config, run)),
            ..self.header(0)
        };
        let source = self.assignment.workers[usize::from(worker)].mac;
        self.write(self.assignment.shards[0].mac, source, header, &words)
    }

    /// Returns the bytes of a result that no worker waits for, which reports that `ended` has ended in that
    /// run.
    pub fn reporting_ended(&self, run: Run, ended: u8) -> Vec<u8> {
        let sequence = self.config.chunks;
        let feedback = Feedback { ended: Some(u32::from(ended).into()), lacking: None };
        let contributors =
            Contributors { bitmap: feedback.bits(u32::from(sequence).into()), group: Group(0) };
        let incarnation = server_of(&self.config, run);
        let header = HeaderRepr { kind: Kind::Result, contributors, incarnation, ..self.header(sequence) };
        let source = self.assignment.shards[0].mac;
        self.write(MacAddr::results_of(JOB.into()), source, header, &vec![0; header.length.into()])
    }

    /// Returns a real frame, and where it goes if it is the server's.
    pub fn read(&self, bytes: &[u8]) -> (Node, Seen) {
        let frame = inart_wire::Frame::new_checked(bytes).expect("a sent frame parses");
        let FrameRepr { destination, header, .. } = FrameRepr::parse(&frame).expect("a sent frame is valid");
        assert_eq!((header.job, header.shard), (JOB.into(), 0.into()));
        let (sequence, worker) = (header.sequence.get() as u8, header.worker.get() as u8);
        let words: Vec<i32> = frame.values().collect();
        let halves = halves(&self.config);
        let [numbers, other] =
            halves.map(|half| half.into_iter().map(|place| words[place]).collect::<Vec<_>>());
        // Of a partial with flag overflow the PS reads no value.
        let overflow = header.flags.contains(Flags::OVERFLOW);
        assert!(overflow || numbers == other, "{header}: the halves are of two sums: {numbers:?} {other:?}");
        let seen = match header.kind {
            Kind::Result => {
                let run = run_of(&self.config, header.plan_version.get(), header.incarnation);
                let (exponent, other) = (header.exponent, header.flags.contains(Flags::OTHER_PLAN_VERSION));
                Seen::Result { run, sequence, exponent, numbers, other }
            }
            Kind::Control => self.read_message(&header, ControlMessage::parse(&frame).unwrap()),
            _ => Seen::Contribution {
                partial: header.kind == Kind::Partial,
                run: run_of(&self.config, header.plan_version.get(), header.incarnation),
                sequence,
                worker,
                contributors: header.contributors.bitmap as u8,
                exponent: header.exponent,
                resend: header.flags.contains(Flags::RESEND),
                bypass: header.flags.contains(Flags::BYPASS),
                last: header.flags.contains(Flags::LAST),
                overflow,
                numbers,
            },
        };
        let mac = |worker: &WorkerAddress| worker.mac == destination;
        let is_to_server = destination == self.assignment.shards[0].mac;
        let seen = match seen {
            Seen::Abort { .. } if is_to_server => Seen::GivesUp,
            seen => seen,
        };
        let node = match self.assignment.workers.iter().position(mac) {
            Some(worker) => Node::Worker(worker as u8),
            None if destination.is_multicast() => Node::Workers,
            None => Node::Server,
        };
        (node, seen)
    }

    fn read_message(&self, header: &HeaderRepr, (message, host): (ControlMessage, Incarnation)) -> Seen {
        let run = (header.incarnation != Incarnation::UNKNOWN)
            .then(|| run_of(&self.config, header.plan_version.get(), header.incarnation));
        let worker = self.config.bitmap_index_of(run.unwrap_or_default(), header.worker.get() as u8);
        let generation = generation_of(worker, host);
        let to = || Talk { generation, run: run.expect("a server knows its run") };
        match message {
            ControlMessage::RequestBypass => {
                Seen::Request { to: to(), sequence: header.sequence.get() as u8 }
            }
            ControlMessage::KeepAlive { .. } => Seen::KeepAlive { worker, generation, run },
            ControlMessage::KeepAliveAnswer { bound, .. } => Seen::Answer { to: to(), bound },
            ControlMessage::Abort { reason, culprit } => match reason {
                AbortReason::ServerRestarted(_) => Seen::Abort { to: to(), culprit: Peer::Server },
                AbortReason::WorkerRestarted | AbortReason::OtherNumbers => {
                    Seen::Abort { to: to(), culprit: Peer::Worker(culprit.get() as u8) }
                }
                _ => panic!("no host aborts because of {reason:?} in these runs"),
            },
            ControlMessage::Unknown(code) => panic!("a message of code {code}"),
        }
    }

    /// Returns a frame of the model, to compare with one that was read.
    pub fn seen(&self, frame: &Frame) -> Seen {
        match *frame {
            Frame::Contribution(frame) => Seen::Contribution {
                partial: frame.partial,
                run: frame.run,
                sequence: frame.sequence,
                worker: frame.worker,
                contributors: frame.contributors,
                exponent: self.exponent(frame.exponent),
                resend: frame.resend,
                bypass: frame.bypass,
                last: frame.last,
                overflow: frame.overflow,
                numbers: self.numbers(frame.sequence, frame.exponent, frame.sum),
            },
            Frame::Result { run, sequence, sum, other } => {
                let (exponent, numbers) = self.result(sequence, sum);
                Seen::Result { run, sequence, exponent, numbers, other }
            }
            Frame::Request { to, sequence } => Seen::Request { to, sequence },
            Frame::Abort { to, culprit } => Seen::Abort { to, culprit },
            Frame::KeepAlive { worker, generation, run } => Seen::KeepAlive { worker, generation, run },
            Frame::Answer { to, bound } => Seen::Answer { to, bound },
            Frame::Halfway(..) => panic!("{frame:?} stays in its switch"),
        }
    }
}

pub fn rank(worker: u8) -> Rank {
    Rank::try_from(u16::from(worker)).unwrap()
}

/// Returns the bitmap index.
fn bitmap_index(worker: u8) -> BitmapIndex {
    rank(worker).bitmap_index()
}
