//! The workers and the server: a closed loop of chunks.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use inart_ethernet::{PacketSocket, Queue, Receiver, SocketOptions, interface_index};
use inart_wire::{
    BitmapIndex, ChunkSeq, Contributors, Exponent, Flags, Frame, FrameRepr, Group, HeaderRepr, Incarnation,
    JobId, Kind, MacAddr, PlanVersion, ShardId, ValuesPerFrame,
};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::network;

/// Ranks 0 to 7, all behind port 1.
pub const WORKERS: u16 = 8;
/// All frames belong to this plan version, job and shard.
pub const PLAN_VERSION: u16 = 1;
pub const JOB: u16 = 1;
pub const SHARD: u16 = 0;
/// And to this run.
const INCARNATION: u32 = 1;

/// A partial that takes longer is lost: everything unanswered is retransmitted.
const PATIENCE: Duration = Duration::from_millis(200);
/// Bytes of the Ethernet and INART headers, and where the sequence stands.
const HEADERS: usize = 44;
const SEQUENCE: std::ops::Range<usize> = 24..28;
/// Period of the chunks' values: they are made before the clock runs, and neighbors in a slot differ.
const DIFFERENT: usize = 61;

/// Result of a turn.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// Partials received, each compared bit for bit.
    pub sums: u64,
    /// Times that unanswered chunks were retransmitted.
    pub repeats: u64,
    /// Duration of the turn.
    pub elapsed: Duration,
}

impl Outcome {
    /// Gradients summed per second.
    pub fn frames_per_second(&self) -> f64 {
        (self.sums * u64::from(WORKERS)) as f64 / self.elapsed.as_secs_f64()
    }
}

/// Frames ready to go, and the sockets.
pub struct Load {
    workers: PacketSocket,
    server: PacketSocket,
    window: u32,
    /// By chunk modulo [`DIFFERENT`], then worker.
    gradients: Vec<Vec<Vec<u8>>>,
    /// Expected values, big endian.
    sums: Vec<Vec<u8>>,
    queue: Queue,
}

impl Load {
    pub fn new(values: ValuesPerFrame, window: u32) -> Result<Self> {
        let options = SocketOptions { bypass_queueing: true, ..SocketOptions::EVERYTHING };
        let open = |name: &str| -> Result<PacketSocket> {
            let index = interface_index(name).with_context(|| name.to_owned())?;
            PacketSocket::open(index, &options).with_context(|| name.to_owned())
        };
        let mut gradients = Vec::new();
        let mut sums = Vec::new();
        for chunk in 0..DIFFERENT {
            let mut sum = vec![0i32; values.get()];
            let mut frames = Vec::new();
            for rank in 0..WORKERS {
                let lanes: Vec<i32> = (0..values.get()).map(|lane| value(chunk, rank, lane)).collect();
                sum.iter_mut().zip(&lanes).for_each(|(sum, value)| *sum += value);
                frames.push(gradient(values, rank, &lanes)?);
            }
            gradients.push(frames);
            sums.push(sum.iter().flat_map(|value| value.to_be_bytes()).collect());
        }
        Ok(Self {
            workers: open(network::WORKERS)?,
            server: open(network::SERVER)?,
            window,
            gradients,
            sums,
            queue: Queue::default(),
        })
    }

    /// Sends and checks for `duration`.
    pub fn run(mut self, duration: Duration) -> Result<Outcome> {
        let mut receiver = Receiver::allocate();
        let start = Instant::now();
        // Answered means every chunk below it is; those above are marked by chunk modulo window.
        let (mut answered, mut sent) = (0u32, 0u32);
        let mut arrived = vec![false; self.window as usize];
        let (mut sums, mut repeats) = (0, 0);
        let mut last = start;
        while start.elapsed() < duration {
            while sent < answered + self.window {
                self.push(sent);
                sent += 1;
            }
            self.queue.flush(&self.workers);
            let count = self.wait(&mut receiver)?;
            for n in 0..count {
                let frame = receiver.frame(n).context("the switch sent a frame that is too long")?;
                let chunk = self.check(frame)?;
                let ahead = chunk.wrapping_sub(answered);
                ensure!(ahead < self.window || chunk < answered, "chunk {chunk} returned before it was sent");
                if ahead < self.window
                    && !std::mem::replace(&mut arrived[(chunk % self.window) as usize], true)
                {
                    sums += 1;
                }
            }
            while sent > answered && std::mem::take(&mut arrived[(answered % self.window) as usize]) {
                answered += 1;
                last = Instant::now();
            }
            if last.elapsed() > PATIENCE {
                for chunk in answered..sent {
                    if !arrived[(chunk % self.window) as usize] {
                        repeats += 1;
                        self.push(chunk);
                    }
                }
                last = Instant::now();
                ensure!(repeats < 1000, "{answered} chunks returned and then no more");
            }
        }
        if sums == 0 {
            bail!("no sum returned");
        }
        Ok(Outcome { sums, repeats, elapsed: start.elapsed() })
    }

    fn push(&mut self, chunk: u32) {
        for frame in &mut self.gradients[chunk as usize % DIFFERENT] {
            frame[SEQUENCE].copy_from_slice(&chunk.to_be_bytes());
            self.queue.push(frame);
        }
    }

    fn wait(&self, receiver: &mut Receiver) -> Result<usize> {
        let count = receiver.receive(&self.server)?;
        if count > 0 {
            return Ok(count);
        }
        let mut socket = [PollFd::new(self.server.as_fd(), PollFlags::POLLIN)];
        poll(&mut socket, PollTimeout::try_from(PATIENCE)?)?;
        Ok(receiver.receive(&self.server)?)
    }

    /// Returns the chunk of a partial that is right.
    fn check(&self, bytes: &[u8]) -> Result<u32> {
        let frame = Frame::new_checked(bytes).map_err(|error| anyhow::anyhow!("{error}"))?;
        let chunk = frame.sequence().get();
        ensure!(frame.kind() == Kind::Partial, "received a {} instead of a partial", frame.kind());
        ensure!(
            frame.contributors() == Contributors::all_of(Group(0), usize::from(WORKERS)),
            "chunk {chunk}: contributors are {}",
            frame.contributors()
        );
        ensure!(bytes[HEADERS..] == self.sums[chunk as usize % DIFFERENT], "chunk {chunk}: the sum is wrong");
        Ok(chunk)
    }
}

/// Positive and negative, and never saturating in a sum of eight.
fn value(chunk: usize, rank: u16, lane: usize) -> i32 {
    let mixed = (chunk as u32 + 1).wrapping_mul(0x9e37_79b9)
        ^ (u32::from(rank) + 1).wrapping_mul(0x85eb_ca6b)
        ^ (lane as u32 + 1).wrapping_mul(0xc2b2_ae35);
    (mixed.wrapping_mul(0x27d4_eb2f) as i32) >> 4
}

fn gradient(values: ValuesPerFrame, rank: u16, lanes: &[i32]) -> Result<Vec<u8>> {
    let worker = BitmapIndex::try_from(rank).context("rank")?;
    let frame = FrameRepr {
        destination: MacAddr([2, 0, 0, 0, 0, 0xfe]),
        source: MacAddr([2, 0, 0, 0, 0, rank as u8]),
        values_per_frame: values,
        header: HeaderRepr {
            kind: Kind::Gradient,
            flags: Flags::default(),
            plan_version: PlanVersion::from(PLAN_VERSION),
            job: JobId::from(JOB),
            shard: ShardId::from(SHARD),
            worker,
            sequence: ChunkSeq::from(0),
            contributors: Contributors::one(worker),
            exponent: Exponent::saturating(0),
            length: values.get() as u16,
            incarnation: Incarnation::from(INCARNATION),
        },
    };
    let mut bytes = vec![0; frame.buffer_len()];
    frame.emit(lanes, &mut bytes).map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(bytes)
}
