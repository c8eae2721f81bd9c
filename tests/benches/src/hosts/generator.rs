//! The workers that a measured server sums for: frames made beforehand, a closed loop of chunks.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use inart_ethernet::{PacketSocket, Queue, Receiver, SocketOptions, interface_index};
use inart_protocol_aggregation::Assignment;
use inart_wire::{
    BitmapIndex, ChunkSeq, Contributors, ControlMessage, Exponent, Flags, Frame, FrameRepr, HeaderRepr,
    Incarnation, Kind, ShardId, Transcript,
};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::gate::Gate;
use crate::network;

/// A result that takes longer is lost.
const PATIENCE: Duration = Duration::from_millis(500);
/// Period of the chunks' values, which are made before the clock runs.
const DIFFERENT: usize = 61;
/// Place of the sequence in a frame, and start of the values.
const SEQUENCE: std::ops::Range<usize> = 24..28;
const VALUES: usize = 44;

/// The workers.
pub struct Generator<'a> {
    /// Holds the server back while a window is sent.
    gate: &'a Gate,
    socket: PacketSocket,
    queue: Queue,
    receiver: Receiver,
    window: u32,
    workers: u64,
    /// By chunk modulo [`DIFFERENT`], then worker.
    gradients: Vec<Vec<Vec<u8>>>,
    /// Expected values, big endian.
    sums: Vec<Vec<u8>>,
    /// All chunks below it have their results.
    answered: u32,
    sent: u32,
    /// By chunk modulo window.
    arrived: Vec<bool>,
}

impl<'a> Generator<'a> {
    /// Asks the server for its run, and creates the frames.
    pub fn new(assignment: &Assignment, gate: &'a Gate) -> Result<Self> {
        let options = SocketOptions { ether_type: Some(inart_wire::ETHER_TYPE), ..SocketOptions::EVERYTHING };
        let socket = PacketSocket::open(interface_index(network::PEER)?, &options)?;
        let mut generator = Self {
            gate,
            socket,
            queue: Queue::default(),
            receiver: Receiver::with_room(64, assignment.values_per_frame.frame_bytes()),
            window: assignment.window_chunks,
            workers: assignment.workers.len() as u64,
            gradients: Vec::new(),
            sums: Vec::new(),
            answered: 0,
            sent: 0,
            arrived: vec![false; assignment.window_chunks as usize],
        };
        let run = generator.meet(assignment)?;
        let values = assignment.values_per_frame.get();
        for chunk in 0..DIFFERENT {
            let mut sum = vec![0i32; values];
            let mut frames = Vec::new();
            for rank in 0..generator.workers as u16 {
                let numbers: Vec<i32> = (0..values).map(|place| value(chunk, rank, place)).collect();
                sum.iter_mut().zip(&numbers).for_each(|(sum, number)| *sum += number);
                frames.push(frame(assignment, rank, run, Kind::Gradient, &numbers)?);
            }
            generator.gradients.push(frames);
            generator.sums.push(sum.iter().flat_map(|sum| sum.to_be_bytes()).collect());
        }
        Ok(generator)
    }

    /// Returns the server's run, from its answer to a keep-alive.
    fn meet(&mut self, assignment: &Assignment) -> Result<Incarnation> {
        let message = ControlMessage::KeepAlive {
            oldest: ChunkSeq::default(),
            tensor_len: None,
            transcript: Transcript::default(),
        };
        let words = message.words(Incarnation::from(1));
        let asked = frame(assignment, 0, Incarnation::UNKNOWN, Kind::Control, &words)?;
        self.queue.push(&asked);
        self.queue.flush(&self.socket);
        ensure!(self.wait()? > 0, "the server does not answer");
        let frame = Frame::new_checked(self.receiver.frame(0).context("the answer is too long")?);
        Ok(frame.map_err(|error| anyhow!("{error}"))?.incarnation())
    }

    /// Sends a window of chunks and checks their results, repeatedly for `duration`. Returns the number of
    /// gradients summed.
    pub fn run(&mut self, duration: Duration) -> Result<u64> {
        let (start, first) = (Instant::now(), self.answered);
        while start.elapsed() < duration {
            self.gate.set(false);
            while self.sent < self.answered + self.window {
                for frame in &mut self.gradients[self.sent as usize % DIFFERENT] {
                    frame[SEQUENCE].copy_from_slice(&self.sent.to_be_bytes());
                    self.queue.push(frame);
                }
                self.sent += 1;
            }
            let refused = self.queue.flush(&self.socket).refused;
            ensure!(refused == 0, "the system refused {refused} frames");
            self.gate.set(true);
            while self.answered < self.sent {
                let count = self.wait()?;
                ensure!(count > 0, "chunk {} has no result", self.answered);
                for n in 0..count {
                    self.check(n)?;
                }
                while self.sent > self.answered
                    && std::mem::take(&mut self.arrived[(self.answered % self.window) as usize])
                {
                    self.answered += 1;
                }
            }
        }
        Ok(u64::from(self.answered - first) * self.workers)
    }

    fn wait(&mut self) -> Result<usize> {
        let count = self.receiver.receive(&self.socket)?;
        if count > 0 {
            return Ok(count);
        }
        poll(&mut [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)], PollTimeout::try_from(PATIENCE)?)?;
        Ok(self.receiver.receive(&self.socket)?)
    }

    /// Compares a result, and notes that it is there.
    fn check(&mut self, n: usize) -> Result<()> {
        let bytes = self.receiver.frame(n).context("the server sent a frame that is too long")?;
        let frame = Frame::new_checked(bytes).map_err(|error| anyhow!("{error}"))?;
        let chunk = frame.sequence().get();
        ensure!(frame.kind() == Kind::Result, "received a {} instead of a result", frame.kind());
        ensure!(chunk.wrapping_sub(self.answered) < self.window, "the result of chunk {chunk} arrived twice");
        ensure!(frame.exponent() == Exponent::from(0), "chunk {chunk}: the exponent is {}", frame.exponent());
        ensure!(bytes[VALUES..] == self.sums[chunk as usize % DIFFERENT], "chunk {chunk}: the sum is wrong");
        self.arrived[(chunk % self.window) as usize] = true;
        Ok(())
    }
}

/// Positive and negative, and 64 of them never beyond int32.
fn value(chunk: usize, rank: u16, place: usize) -> i32 {
    let mixed = (chunk as u32 + 1).wrapping_mul(0x9e37_79b9)
        ^ (u32::from(rank) + 1).wrapping_mul(0x85eb_ca6b)
        ^ (place as u32 + 1).wrapping_mul(0xc2b2_ae35);
    (mixed.wrapping_mul(0x27d4_eb2f) as i32) >> 7
}

fn frame(
    assignment: &Assignment,
    rank: u16,
    incarnation: Incarnation,
    kind: Kind,
    values: &[i32],
) -> Result<Vec<u8>> {
    let worker = BitmapIndex::try_from(rank)?;
    let frame = FrameRepr {
        destination: assignment.shards[0].mac,
        source: assignment.workers[usize::from(rank)].mac,
        values_per_frame: assignment.values_per_frame,
        header: HeaderRepr {
            kind,
            flags: Flags::default(),
            plan_version: assignment.plan_version,
            job: assignment.job,
            shard: ShardId::from(0),
            worker,
            sequence: ChunkSeq::from(0),
            contributors: match kind {
                Kind::Gradient => Contributors::one(worker),
                _ => Contributors::default(),
            },
            exponent: Exponent::from(0),
            length: values.len() as u16,
            incarnation,
        },
    };
    let mut bytes = vec![0; frame.buffer_len()];
    frame.emit(values, &mut bytes).map_err(|error| anyhow!("{error}"))?;
    Ok(bytes)
}
