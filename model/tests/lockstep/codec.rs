//! The model's frames as real ones, and real ones in the model's terms.

use inart_core::{Assignment, ShardAssignment, WorkerAddress, quantise};
use inart_model::{
    BEFORE, Config, Contribution, DIGITS, Frame, LIMITS, Life, MAX_CHUNKS, MAX_WORKERS, Marks, NEXT_TENSOR,
    Node, Peer, Run, SECOND_LIFE, Sum, Talk,
};
use inart_wire::{
    AbortReason, Contributors, ControlMessage, Exponent, Feedback, Flags, FrameRepr, Group, HeaderRepr,
    Incarnation, Kind, MacAddr, Rank, Seat, ValuesPerPacket,
};

pub const EPOCH: u16 = 2;
pub const OLD_EPOCH: u16 = 1;
/// The one that hosts move to.
pub const NEW_EPOCH: u16 = 3;
pub const JOB: u16 = 7;
/// Values in every chunk.
const LENGTH: usize = 32;
/// In each of the first four lanes, of two bits each, above two bits of zeros that a higher exponent may cut
/// off.
const DIGITS_PER_LANE: u32 = 14;
/// The lane in which two workers' values of chunk 0 are more than 32 bits hold, if that may be.
pub const SATURATING_LANE: usize = 4;
/// The lane in which values of chunk 0 do not fit the agreed exponent, if that may be.
const CLIPPED_LANE: usize = 5;
pub const LANES: usize = 6;
/// Where the lanes are in a frame of 32 values, and in one of 64: there each pass of a switch of Tofino sums
/// all lanes, the first the values 0 to 3 and 8 to 35.
pub const PLACES: [usize; LANES] = [0, 1, 2, 3, 4, 5];
const PLACES_OF_HALVES: [[usize; LANES]; 2] = [[0, 1, 2, 3, 8, 9], [4, 5, 6, 7, 36, 37]];

/// The values of a frame.
pub fn values_per_packet(config: &Config) -> ValuesPerPacket {
    if config.halves { ValuesPerPacket::N64 } else { ValuesPerPacket::N32 }
}

/// The server's incarnation in a run.
pub fn server_of(config: &Config, run: Run) -> Incarnation {
    Incarnation::new(match run {
        Run::Former => 99,
        Run::OldEpoch if config.tofino == Some(Marks::Alike) => with_the_mark_of(EPOCH, 100, OLD_EPOCH),
        // That of an epoch before may be any; let its epoch be all that tells it from now.
        Run::OldEpoch | Run::First | Run::Moved => 100,
        Run::Second => 101,
    })
}

/// The incarnation under one epoch whose tag has the same mark (CRC-32) as that of another incarnation under
/// another epoch. A CRC adds what comes last, the incarnation, to what it has of the bytes before.
fn with_the_mark_of(epoch: u16, incarnation: u32, under: u16) -> u32 {
    let before = |epoch: u16| {
        let tag = [epoch, JOB, 0].map(u16::to_be_bytes);
        tag.as_flattened().iter().chain(&[0]).fold(u32::MAX, |crc, byte| {
            let next = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| next(crc))
        })
    };
    incarnation ^ (before(epoch) ^ before(under)).swap_bytes()
}

fn run_of(config: &Config, epoch: u16, incarnation: Incarnation) -> Run {
    let runs = [Run::Former, Run::First, Run::Second];
    let run = runs.into_iter().find(|run| server_of(config, *run) == incarnation);
    match epoch {
        OLD_EPOCH => Run::OldEpoch,
        NEW_EPOCH => Run::Moved,
        _ => run.expect("it is one of the server's lives"),
    }
}

/// The epoch of a run's frames.
pub fn epoch_of(run: Run) -> u16 {
    match run {
        Run::OldEpoch => OLD_EPOCH,
        Run::Moved => NEW_EPOCH,
        Run::Former | Run::First | Run::Second => EPOCH,
    }
}

/// A worker's incarnation.
pub fn host(worker: u8, life: Life) -> Incarnation {
    let first = match life {
        Life::Former => 50,
        Life::First => 1,
        Life::Second => 20,
    };
    Incarnation::new(first + u32::from(worker))
}

fn life_of(worker: u8, incarnation: Incarnation) -> Life {
    let lives = [Life::Former, Life::First, Life::Second];
    lives
        .into_iter()
        .find(|life| host(worker, *life) == incarnation)
        .expect("it is one of the worker's lives")
}

/// What is compared of a frame.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    Contribution {
        partial: bool,
        run: Run,
        sequence: u8,
        worker: u8,
        contributors: u8,
        exponent: i16,
        resend: bool,
        bypass: bool,
        last: bool,
        overflow: bool,
        values: [i64; LANES],
    },
    /// Its exponent may be higher than the model's, so that the sum fits; the values say by themselves
    /// whether that is right.
    Result {
        run: Run,
        sequence: u8,
        values: [i64; LANES],
        other: bool,
    },
    Request {
        to: Talk,
        sequence: u8,
        exponent: i16,
    },
    Abort {
        to: Talk,
        culprit: Peer,
    },
    KeepAlive {
        worker: u8,
        life: Life,
        run: Option<Run>,
    },
    Answer {
        to: Talk,
        bound: bool,
    },
    /// A worker has given up and says so, which changes nothing at a server that has said it, or is in
    /// another run.
    GivesUp,
}

/// A job, with what its frames look like.
pub struct Codec {
    pub config: Config,
    pub assignment: Assignment,
    /// What hosts that move are told.
    pub moved: Assignment,
    pub agreed: Exponent,
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
            seats: Vec::new(),
        };
        let assignment = Assignment {
            job: JOB.into(),
            name: "model".into(),
            epoch: EPOCH.into(),
            values_per_packet: values_per_packet(&config),
            window_chunks: config.window.into(),
            exact_sums: false,
            workers: (0..workers).map(name).collect(),
            shards: vec![server],
        };
        let mut moved = Assignment { epoch: NEW_EPOCH.into(), ..assignment.clone() };
        moved.shards[0].seats =
            (0..config.workers).map(|rank| seat(config.seat_of(Run::Moved, rank))).collect();
        Self { config, assignment, moved, agreed: quantise::first_exponent(workers) }
    }

    /// The places of the lanes, in each half of a frame.
    fn places(&self) -> &'static [[usize; LANES]] {
        if self.config.halves { &PLACES_OF_HALVES } else { &[PLACES] }
    }

    /// A sum's values at the agreed exponent: those of a digit are the same at every exponent.
    pub fn values(&self, sum: Sum) -> [i64; LANES] {
        let mut values = [0; LANES];
        for digit in (0..DIGITS).filter(|digit| sum.digit(*digit) > 0) {
            let count = i64::from(sum.digit(digit));
            let per_generation = u32::from(MAX_CHUNKS) * u32::from(MAX_WORKERS);
            let generation = (digit / per_generation) as u8;
            // The values at every exponent are those at the agreed one, and in every run of a worker's life
            // those of the life.
            let kind = match generation {
                BEFORE => 1,
                SECOND_LIFE if !self.config.clipped => 2,
                _ => 0,
            };
            let place = digit % per_generation + kind * per_generation;
            let shift = 2 + 2 * (place % DIGITS_PER_LANE);
            values[(place / DIGITS_PER_LANE) as usize] += count << shift;
            let (chunk, worker) = ((digit % per_generation) as u8 / MAX_WORKERS, digit as u8 % MAX_WORKERS);
            if chunk == 0 && self.config.saturation && self.config.tofino.is_none() {
                values[SATURATING_LANE] += count << 30;
            }
            if generation != BEFORE && self.config.need(worker, chunk) > 0 {
                values[CLIPPED_LANE] += count << (30 + self.config.need(worker, chunk));
            }
        }
        if self.config.tofino.is_some() {
            // The greatest value of the model's register comes about as a limit only.
            let value = i64::from(sum.value());
            values[SATURATING_LANE] = if sum.value() == LIMITS.1 { i32::MAX.into() } else { value << 29 };
        }
        if sum.is_saturated() {
            values[SATURATING_LANE] = i32::MAX.into();
        }
        values
    }

    /// What a worker wants to be summed.
    pub fn gradient(&self, rank: u8, life: Life) -> Vec<f32> {
        let generation = if life == Life::Second { SECOND_LIFE } else { 0 };
        (0..self.config.chunks_of(rank))
            .flat_map(|sequence| self.floats(self.config.term(generation, sequence, rank)))
            .collect()
    }

    /// What it wants to be summed after that: of another length, so that it begins anew.
    pub fn next_tensor(&self, rank: u8) -> Vec<f32> {
        let first = self.config.chunks_of(rank);
        let chunk = |sequence: u8| self.floats(Sum::term(NEXT_TENSOR, sequence.min(MAX_CHUNKS - 1), rank));
        (first..2 * first + 1).flat_map(chunk).collect()
    }

    pub fn floats(&self, sum: Sum) -> [f32; LENGTH] {
        let scale = 2f64.powi(self.agreed.into());
        let mut values = [0.0; LENGTH];
        for (value, lane) in values.iter_mut().zip(self.values(sum)) {
            *value = (lane as f64 * scale) as f32;
        }
        values
    }

    fn header(&self, sequence: u8) -> HeaderRepr {
        HeaderRepr {
            kind: Kind::Control,
            flags: Flags::NONE,
            epoch: EPOCH.into(),
            job: JOB.into(),
            shard: 0.into(),
            worker: seat(0),
            sequence: u32::from(sequence).into(),
            contributors: Contributors::default(),
            exponent: self.agreed,
            length: values_per_packet(&self.config).get() as u16,
            incarnation: server_of(&self.config, Run::First),
        }
    }

    fn exponent(&self, steps: u8) -> Exponent {
        Exponent::from(self.agreed.get() + steps as i8)
    }

    fn write(&self, destination: MacAddr, source: MacAddr, header: HeaderRepr, values: &[i32]) -> Vec<u8> {
        let values_per_packet = values_per_packet(&self.config);
        let frame = FrameRepr { destination, source, values_per_packet, header };
        let mut bytes = vec![0; frame.buffer_len()];
        frame.emit(values, &mut bytes).unwrap();
        bytes
    }

    fn write_values(&self, destination: MacAddr, source: MacAddr, header: HeaderRepr, sum: Sum) -> Vec<u8> {
        let shift = header.exponent.get() - self.agreed.get();
        let mut values = vec![0; values_per_packet(&self.config).get()];
        for places in self.places() {
            for (place, lane) in places.iter().zip(self.values(sum)) {
                values[*place] =
                    i32::try_from(lane >> shift).unwrap_or_else(|_| panic!("{header}: {sum:?} is {lane}"));
            }
        }
        self.write(destination, source, header, &values)
    }

    /// The bytes of a gradient or partial. `also` are flags that no rule reads.
    pub fn contribution(&self, frame: &Contribution, also: Flags) -> Vec<u8> {
        let header = HeaderRepr {
            kind: if frame.partial { Kind::Partial } else { Kind::Gradient },
            epoch: epoch_of(frame.run).into(),
            incarnation: server_of(&self.config, frame.run),
            flags: also
                .with_if(Flags::LAST, frame.last)
                .with_if(Flags::RESEND, frame.resend)
                .with_if(Flags::BYPASS, frame.bypass)
                .with_if(Flags::OVERFLOW, frame.overflow),
            worker: seat(frame.worker),
            contributors: Contributors { bitmap: frame.contributors.into(), group: Group(0) },
            exponent: self.exponent(frame.exponent),
            ..self.header(frame.sequence)
        };
        let source = self.assignment.workers[usize::from(self.config.seat_of(frame.run, frame.worker))].mac;
        self.write_values(self.assignment.shards[0].mac, source, header, frame.sum)
    }

    fn last(&self, sequence: u8) -> Flags {
        Flags::NONE.with_if(Flags::LAST, sequence + 1 == self.config.chunks)
    }

    /// The bytes of a frame from the server to a worker.
    pub fn to_worker(&self, worker: u8, frame: &Frame) -> Vec<u8> {
        let source = self.assignment.shards[0].mac;
        match *frame {
            Frame::Result { run, sequence, exponent, sum, other } => {
                // A sum of saturating values fits one step higher; with what others add, two.
                let saturates = self.config.saturation && sequence == 0;
                let steps = exponent + u8::from(saturates) * (1 + u8::from(self.config.onward));
                let header = HeaderRepr {
                    kind: Kind::Result,
                    flags: self.last(sequence).with_if(Flags::OTHER_EPOCH, other),
                    epoch: epoch_of(run).into(),
                    incarnation: server_of(&self.config, run),
                    exponent: self.exponent(steps),
                    ..self.header(sequence)
                };
                self.write_values(MacAddr::results_of(JOB.into()), source, header, sum)
            }
            Frame::Request { to, sequence, exponent } => {
                let header = HeaderRepr { exponent: self.exponent(exponent), ..self.header(sequence) };
                self.say(worker, to, header, ControlMessage::RequestBypass)
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
                self.say(worker, to, self.header(1), ControlMessage::KeepAliveAnswer { bound })
            }
            Frame::Contribution(_) | Frame::Halfway(..) | Frame::KeepAlive { .. } => {
                panic!("{frame:?} goes to no worker")
            }
        }
    }

    /// The bytes of a message of the server to a worker.
    fn say(&self, worker: u8, to: Talk, header: HeaderRepr, message: ControlMessage) -> Vec<u8> {
        let words = message.words(host(worker, to.life));
        let header = HeaderRepr {
            epoch: epoch_of(to.run).into(),
            worker: seat(self.config.seat_of(to.run, worker)),
            length: words.len() as u16,
            incarnation: server_of(&self.config, to.run),
            ..header
        };
        let destination = self.assignment.workers[usize::from(worker)].mac;
        self.write(destination, self.assignment.shards[0].mac, header, &words)
    }

    /// The bytes of a worker's keep-alive. It does not tell how long the gradient is, since that would end
    /// the runs where one is shorter.
    pub fn keepalive(&self, worker: u8, life: Life, run: Option<Run>) -> Vec<u8> {
        let message = ControlMessage::KeepAlive { oldest: 0.into(), tensor_len: None };
        let words = message.words(host(worker, life));
        let header = HeaderRepr {
            worker: seat(worker),
            length: words.len() as u16,
            incarnation: run.map_or(Incarnation::UNKNOWN, |run| server_of(&self.config, run)),
            ..self.header(0)
        };
        let source = self.assignment.workers[usize::from(worker)].mac;
        self.write(self.assignment.shards[0].mac, source, header, &words)
    }

    /// The bytes of a result that no worker waits for, which tells that `ended` has ended in that run.
    pub fn tells_ended(&self, run: Run, ended: u8) -> Vec<u8> {
        let sequence = self.config.chunks;
        let feedback = Feedback { ended: Some(u32::from(ended).into()), lacking: None };
        let contributors =
            Contributors { bitmap: feedback.bits(u32::from(sequence).into()), group: Group(0) };
        let incarnation = server_of(&self.config, run);
        let header = HeaderRepr { kind: Kind::Result, contributors, incarnation, ..self.header(sequence) };
        let source = self.assignment.shards[0].mac;
        self.write(MacAddr::results_of(JOB.into()), source, header, &[0; LENGTH])
    }

    /// A real frame, and where it goes if it is the server's.
    pub fn read(&self, bytes: &[u8]) -> (Node, Seen) {
        let frame = inart_wire::Frame::new_checked(bytes).expect("what is sent is a frame");
        let FrameRepr { destination, header, .. } =
            FrameRepr::parse(&frame).expect("what is sent makes sense");
        assert_eq!((header.job, header.shard), (JOB.into(), 0.into()));
        let steps = i16::from(header.exponent.get()) - i16::from(self.agreed.get());
        let (sequence, worker) = (header.sequence.get() as u8, header.worker.get() as u8);
        let words: Vec<i32> = frame.values().collect();
        let of_half = |places: &[usize; LANES]| places.map(|place| i64::from(words[place]) << steps.max(0));
        let [values, other] =
            [self.places().first(), self.places().last()].map(|half| of_half(half.unwrap()));
        // Of a partial with flag overflow the PS reads no value.
        let overflow = header.flags.contains(Flags::OVERFLOW);
        assert!(overflow || values == other, "{header}: the halves are of two sums: {values:?} {other:?}");
        let seen = match header.kind {
            Kind::Result => {
                let run = run_of(&self.config, header.epoch.get(), header.incarnation);
                Seen::Result { run, sequence, values, other: header.flags.contains(Flags::OTHER_EPOCH) }
            }
            Kind::Control => self.read_message(&header, ControlMessage::parse(&frame).unwrap()),
            _ => Seen::Contribution {
                partial: header.kind == Kind::Partial,
                run: run_of(&self.config, header.epoch.get(), header.incarnation),
                sequence,
                worker,
                contributors: header.contributors.bitmap as u8,
                exponent: steps,
                resend: header.flags.contains(Flags::RESEND),
                bypass: header.flags.contains(Flags::BYPASS),
                last: header.flags.contains(Flags::LAST),
                overflow: header.flags.contains(Flags::OVERFLOW),
                values,
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
            .then(|| run_of(&self.config, header.epoch.get(), header.incarnation));
        let worker = self.config.seat_of(run.unwrap_or_default(), header.worker.get() as u8);
        let life = life_of(worker, host);
        let to = || Talk { life, run: run.expect("a server knows its run") };
        let steps = i16::from(header.exponent.get()) - i16::from(self.agreed.get());
        match message {
            ControlMessage::RequestBypass => {
                Seen::Request { to: to(), sequence: header.sequence.get() as u8, exponent: steps }
            }
            ControlMessage::KeepAlive { .. } => Seen::KeepAlive { worker, life, run },
            ControlMessage::KeepAliveAnswer { bound, .. } => Seen::Answer { to: to(), bound },
            ControlMessage::Abort { reason, culprit } => match reason {
                AbortReason::ServerRestarted(_) => Seen::Abort { to: to(), culprit: Peer::Server },
                AbortReason::WorkerRestarted => {
                    Seen::Abort { to: to(), culprit: Peer::Worker(culprit.get() as u8) }
                }
                _ => panic!("nobody gives up because of {reason:?} in these runs"),
            },
            ControlMessage::Unknown(code) => panic!("a message of code {code}"),
        }
    }

    /// A frame of the model, to compare with one that was read.
    pub fn seen(&self, frame: &Frame) -> Seen {
        match *frame {
            Frame::Contribution(frame) => Seen::Contribution {
                partial: frame.partial,
                run: frame.run,
                sequence: frame.sequence,
                worker: frame.worker,
                contributors: frame.contributors,
                exponent: frame.exponent.into(),
                resend: frame.resend,
                bypass: frame.bypass,
                last: frame.last,
                overflow: frame.overflow,
                values: self.values(frame.sum),
            },
            Frame::Result { run, sequence, sum, other, .. } => {
                Seen::Result { run, sequence, values: self.values(sum), other }
            }
            Frame::Request { to, sequence, exponent } => {
                Seen::Request { to, sequence, exponent: exponent.into() }
            }
            Frame::Abort { to, culprit } => Seen::Abort { to, culprit },
            Frame::KeepAlive { worker, life, run } => Seen::KeepAlive { worker, life, run },
            Frame::Answer { to, bound } => Seen::Answer { to, bound },
            Frame::Halfway(..) => panic!("{frame:?} stays in its switch"),
        }
    }
}

pub fn rank(worker: u8) -> Rank {
    Rank::try_from(u16::from(worker)).unwrap()
}

/// Its seat.
fn seat(worker: u8) -> Seat {
    rank(worker).seat()
}
