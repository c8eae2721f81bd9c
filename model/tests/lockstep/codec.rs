//! The model's frames as real ones, and real ones in the model's terms.

use inart_core::{Assignment, ShardAssignment, WorkerAddress, quantise};
use inart_model::{Config, Contribution, DIGITS, Frame, MAX_CHUNKS, MAX_WORKERS, Node, Sum};
use inart_wire::{
    Contributors, ControlMessage, Exponent, Feedback, Flags, FrameRepr, Group, HeaderRepr, Incarnation, Kind,
    MacAddr, ValuesPerPacket, WorkerId,
};

pub const EPOCH: u16 = 2;
pub const OLD_EPOCH: u16 = 1;
pub const JOB: u16 = 7;
/// The server's incarnation.
pub const SERVER: Incarnation = Incarnation::new(100);
/// Values in every chunk.
const LENGTH: usize = 32;
/// In each of the first three lanes, of two bits each, above two bits of zeros that a higher exponent may cut off.
const DIGITS_PER_LANE: u32 = 14;
/// The lane in which two workers' values of chunk 0 are more than 32 bits hold, if that may be.
const SATURATING_LANE: usize = 3;
/// The lane in which values of chunk 0 do not fit the agreed exponent, if that may be.
const CLIPPED_LANE: usize = 4;
const LANES: usize = 5;

/// A worker's incarnation.
pub fn host(worker: u8) -> Incarnation {
    Incarnation::new(1 + u32::from(worker))
}

/// What is compared of a frame.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    Contribution {
        partial: bool,
        old_epoch: bool,
        sequence: u8,
        worker: u8,
        contributors: u8,
        exponent: i16,
        resend: bool,
        bypass: bool,
        overflow: bool,
        values: [i64; LANES],
    },
    /// Its exponent may be higher than the model's, so that the sum fits; the values say by themselves whether that is right.
    Result {
        sequence: u8,
        values: [i64; LANES],
    },
    Request {
        sequence: u8,
        exponent: i16,
    },
    /// A message that changes nothing.
    Sign,
}

/// A job, with what its frames look like.
pub struct Codec {
    pub config: Config,
    pub assignment: Assignment,
    agreed: Exponent,
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
            values_per_packet: ValuesPerPacket::N32,
            window_chunks: config.window.into(),
            exact: false,
            workers: (0..workers).map(name).collect(),
            shards: vec![server],
        };
        Self { config, assignment, agreed: quantise::first_exponent(workers) }
    }

    /// A sum's values at the agreed exponent: those of a digit are the same at every exponent.
    fn values(&self, sum: Sum) -> [i64; LANES] {
        let mut values = [0; LANES];
        for digit in (0..DIGITS).filter(|digit| sum.digit(*digit) > 0) {
            let count = i64::from(sum.digit(digit));
            let per_generation = u32::from(MAX_CHUNKS) * u32::from(MAX_WORKERS);
            let old_epoch = digit >= DIGITS - per_generation;
            let place = digit % per_generation + if old_epoch { per_generation } else { 0 };
            let shift = 2 + 2 * (place % DIGITS_PER_LANE);
            values[(place / DIGITS_PER_LANE) as usize] += count << shift;
            let (chunk, worker) = ((digit % per_generation) as u8 / MAX_WORKERS, digit as u8 % MAX_WORKERS);
            if chunk == 0 && self.config.saturation {
                values[SATURATING_LANE] += count << 30;
            }
            if !old_epoch && self.config.need(worker, chunk) > 0 {
                values[CLIPPED_LANE] += count << (30 + self.config.need(worker, chunk));
            }
        }
        if sum.is_saturated() {
            values[SATURATING_LANE] = i32::MAX.into();
        }
        values
    }

    /// What a worker wants to be summed.
    pub fn gradient(&self, rank: u8) -> Vec<f32> {
        let scale = 2f64.powi(self.agreed.into());
        let chunk = |sequence| {
            let mut values = [0.0; LENGTH];
            for (value, lane) in values.iter_mut().zip(self.values(Sum::term(false, 0, sequence, rank))) {
                *value = (lane as f64 * scale) as f32;
            }
            values
        };
        (0..self.config.chunks).flat_map(chunk).collect()
    }

    /// The sum that every worker should end with.
    pub fn sum(&self) -> Vec<f32> {
        let gradients: Vec<_> = (0..self.config.workers).map(|rank| self.gradient(rank)).collect();
        (0..gradients[0].len()).map(|index| gradients.iter().map(|gradient| gradient[index]).sum()).collect()
    }

    fn header(&self, sequence: u8) -> HeaderRepr {
        HeaderRepr {
            kind: Kind::Control,
            flags: Flags::NONE,
            epoch: EPOCH.into(),
            job: JOB.into(),
            shard: 0.into(),
            worker: rank(0),
            sequence: u32::from(sequence).into(),
            contributors: Contributors::default(),
            exponent: self.agreed,
            length: LENGTH as u16,
            incarnation: SERVER,
        }
    }

    fn exponent(&self, steps: u8) -> Exponent {
        Exponent::from(self.agreed.get() + steps as i8)
    }

    fn write(&self, destination: MacAddr, source: MacAddr, header: HeaderRepr, values: &[i32]) -> Vec<u8> {
        let frame = FrameRepr { destination, source, values_per_packet: ValuesPerPacket::N32, header };
        let mut bytes = vec![0; frame.buffer_len()];
        frame.emit(values, &mut bytes).unwrap();
        bytes
    }

    fn write_values(&self, destination: MacAddr, source: MacAddr, header: HeaderRepr, sum: Sum) -> Vec<u8> {
        let shift = header.exponent.get() - self.agreed.get();
        let mut values = [0; LENGTH];
        for (value, lane) in values.iter_mut().zip(self.values(sum)) {
            *value = i32::try_from(lane >> shift).unwrap_or_else(|_| panic!("{header}: {sum:?} is {lane}"));
        }
        self.write(destination, source, header, &values)
    }

    /// The bytes of a gradient or partial. `also` are flags that no rule reads.
    pub fn contribution(&self, frame: &Contribution, also: Flags) -> Vec<u8> {
        let header = HeaderRepr {
            kind: if frame.partial { Kind::Partial } else { Kind::Gradient },
            epoch: if frame.old_epoch { OLD_EPOCH } else { EPOCH }.into(),
            flags: (also | self.last(frame.sequence))
                .with_if(Flags::RESEND, frame.resend)
                .with_if(Flags::BYPASS, frame.bypass)
                .with_if(Flags::OVERFLOW, frame.overflow),
            worker: rank(frame.worker),
            contributors: Contributors { bitmap: frame.contributors.into(), group: Group(0) },
            exponent: self.exponent(frame.exponent),
            ..self.header(frame.sequence)
        };
        let source = self.assignment.workers[usize::from(frame.worker)].mac;
        self.write_values(self.assignment.shards[0].mac, source, header, frame.sum)
    }

    fn last(&self, sequence: u8) -> Flags {
        Flags::NONE.with_if(Flags::LAST, sequence + 1 == self.config.chunks)
    }

    /// The bytes of a frame from the server to a worker.
    pub fn to_worker(&self, worker: u8, frame: &Frame) -> Vec<u8> {
        let to = self.assignment.workers[usize::from(worker)].mac;
        let source = self.assignment.shards[0].mac;
        match *frame {
            Frame::Result { sequence, exponent, sum } => {
                // A sum of saturating values fits one step higher.
                let steps = exponent + u8::from(self.config.saturation && sequence == 0);
                let header = HeaderRepr {
                    kind: Kind::Result,
                    flags: self.last(sequence),
                    exponent: self.exponent(steps),
                    ..self.header(sequence)
                };
                self.write_values(MacAddr::results_of(JOB.into()), source, header, sum)
            }
            Frame::Request { sequence, exponent } => {
                let message = ControlMessage::RequestBypass.words(host(worker));
                let header = HeaderRepr {
                    worker: rank(worker),
                    exponent: self.exponent(exponent),
                    length: message.len() as u16,
                    ..self.header(sequence)
                };
                self.write(to, source, header, &message)
            }
            _ => panic!("{frame:?} is no frame that these runs deliver to a worker"),
        }
    }

    /// The bytes of a result that no worker waits for, which tells that `ended` has ended.
    pub fn tells_ended(&self, ended: u8) -> Vec<u8> {
        let sequence = self.config.chunks;
        let feedback = Feedback { ended: Some(u32::from(ended).into()), lacking: None };
        let contributors =
            Contributors { bitmap: feedback.bits(u32::from(sequence).into()), group: Group(0) };
        let header = HeaderRepr { kind: Kind::Result, contributors, ..self.header(sequence) };
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
        let mut values = [0; LANES];
        for (value, lane) in values.iter_mut().zip(frame.values()) {
            *value = i64::from(lane) << steps.max(0);
        }
        let seen = match header.kind {
            Kind::Result => Seen::Result { sequence, values },
            Kind::Control => match ControlMessage::parse(&frame).unwrap().0 {
                ControlMessage::RequestBypass => Seen::Request { sequence, exponent: steps },
                ControlMessage::Abort { .. } => panic!("nobody gives up in these runs"),
                _ => Seen::Sign,
            },
            _ => Seen::Contribution {
                partial: header.kind == Kind::Partial,
                old_epoch: header.epoch == OLD_EPOCH.into(),
                sequence,
                worker,
                contributors: header.contributors.bitmap as u8,
                exponent: steps,
                resend: header.flags.contains(Flags::RESEND),
                bypass: header.flags.contains(Flags::BYPASS),
                overflow: header.flags.contains(Flags::OVERFLOW),
                values,
            },
        };
        let mac = |worker: &WorkerAddress| worker.mac == destination;
        let node = match self.assignment.workers.iter().position(mac) {
            Some(worker) => Node::Worker(worker as u8),
            None if destination.is_multicast() => Node::Workers,
            None => Node::Server,
        };
        (node, seen)
    }

    /// A frame of the model, to compare with one that was read.
    pub fn seen(&self, frame: &Frame) -> Seen {
        match *frame {
            Frame::Contribution(frame) => Seen::Contribution {
                partial: frame.partial,
                old_epoch: frame.old_epoch,
                sequence: frame.sequence,
                worker: frame.worker,
                contributors: frame.contributors,
                exponent: frame.exponent.into(),
                resend: frame.resend,
                bypass: frame.bypass,
                overflow: frame.overflow,
                values: self.values(frame.sum),
            },
            Frame::Result { sequence, sum, .. } => Seen::Result { sequence, values: self.values(sum) },
            Frame::Request { sequence, exponent } => Seen::Request { sequence, exponent: exponent.into() },
            Frame::Abort { .. } => panic!("nobody gives up in these runs"),
        }
    }
}

pub fn rank(worker: u8) -> WorkerId {
    WorkerId::try_from(u16::from(worker)).unwrap()
}
