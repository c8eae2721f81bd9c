//! Reports of host processes to the emulator: messages over a Unix stream socket, each a big-endian `u32`
//! length and that many bytes of postcard. The other direction carries one byte, which starts a worker.

mod floats;
mod json;

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use inart_protocol_aggregation::{Assignment, RoundRecord, ServerCounters, WorkerCounters};
use inart_report::{Trained, monotonic_ns};
use inart_wire::{JobId, Rank, ShardId};
use serde::{Deserialize, Serialize};

use crate::RoundStats;

/// One message from a host process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Report {
    /// Always first: the role of the process, which is now ready to receive frames.
    Hello(Role),
    /// Start of a worker's view in an elastic job: its assignment, and the worker's rank. Later rounds belong
    /// to that view until the next. Its role stays that of its position in the topology.
    Run(#[serde(with = "json")] Box<Assignment>, Rank),
    /// A worker ended a round.
    Round(RoundReport),
    /// A training worker applied a round's sum.
    Training {
        /// Rounds count from 0.
        round: u32,
        /// Mean loss of this worker's images in this round, before the step.
        loss: f32,
    },
    /// A worker ended its last round.
    Done {
        /// Result of the training; `None` if the workload trains nothing.
        trained: Option<Trained>,
    },
    /// A server's counters, at its end.
    Server(ServerCounters),
    /// The process ends with this error.
    Failed {
        /// Error in one line.
        error: String,
    },
}

/// The role of a host process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// A worker of a job.
    Worker(JobId, Rank),
    /// A parameter server of a job.
    Server(JobId, ShardId),
}

/// One round as one worker saw it: enough to check the sum bit for bit.
///
/// Values are in the tensor's order, as in [`RoundRecord`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundReport {
    /// Rounds count from 0.
    pub round: u32,
    /// Time from the call of all-reduce to its return, in seconds.
    pub comm_seconds: f64,
    /// Time of the return, on the system's monotonic clock, in nanoseconds; 0 if unknown.
    pub ended_ns: u64,
    /// Counters of the round.
    pub counters: WorkerCounters,
    /// Values that this worker's program passed in.
    #[serde(with = "floats")]
    pub sent: Vec<f32>,
    /// The sum that it got.
    #[serde(with = "floats")]
    pub result: Vec<f32>,
}

impl RoundReport {
    /// Creates the report of a round from its statistics, input and result.
    pub fn new(stats: RoundStats, record: RoundRecord) -> Self {
        Self {
            round: stats.round,
            comm_seconds: stats.communication.as_secs_f64(),
            ended_ns: monotonic_ns(),
            counters: stats.counters,
            sent: record.sent,
            result: record.result,
        }
    }
}

/// The longest message that is read.
const MAX_MESSAGE_BYTES: u32 = 1 << 30;

/// The sending end.
#[derive(Debug)]
pub struct Reporter {
    stream: UnixStream,
}

impl Reporter {
    /// Connects to the emulator's socket.
    ///
    /// # Errors
    ///
    /// The socket has no listener.
    pub fn connect(socket: &Path) -> io::Result<Self> {
        Ok(Self { stream: UnixStream::connect(socket)? })
    }

    /// Sends one message.
    ///
    /// # Errors
    ///
    /// The other end is closed.
    pub fn send(&mut self, report: &Report) -> io::Result<()> {
        let mut message = postcard::to_extend(report, vec![0; 4]).map_err(io::Error::other)?;
        let length = u32::try_from(message.len() - 4).map_err(io::Error::other)?;
        message[..4].copy_from_slice(&length.to_be_bytes());
        self.stream.write_all(&message)
    }

    /// Waits until the emulator starts the worker ([`start`]): then its peers are ready, too.
    ///
    /// # Errors
    ///
    /// The other end is closed, or sends unexpected data.
    pub fn wait_for_start(&mut self) -> io::Result<()> {
        self.stream.set_read_timeout(None)?;
        self.stream.read_exact(&mut [0])
    }

    /// Waits for the start for up to `timeout`, which is not 0. Returns whether the worker may start.
    ///
    /// # Errors
    /// As [`wait_for_start`](Self::wait_for_start).
    pub fn wait_for_start_timeout(&mut self, timeout: Duration) -> io::Result<bool> {
        self.stream.set_read_timeout(Some(timeout))?;
        match self.stream.read_exact(&mut [0]) {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Starts the worker at the other end.
///
/// # Errors
///
/// The other end is closed.
pub fn start(mut stream: &UnixStream) -> io::Result<()> {
    stream.write_all(&[1])
}

/// Receiving end of one connection: an iterator that ends when the peer closes. A peer that dies while it
/// sends leaves an error of kind [`io::ErrorKind::UnexpectedEof`].
#[derive(Debug)]
pub struct Reports<R> {
    stream: BufReader<R>,
}

impl<R: Read> Reports<R> {
    /// Reads messages from a stream.
    pub fn new(stream: R) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    fn read(&mut self) -> io::Result<Option<Report>> {
        let mut length = [0; 4];
        match self.stream.read_exact(&mut length) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        }
        let length = u32::from_be_bytes(length);
        if length > MAX_MESSAGE_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a report of {length} bytes")));
        }
        let mut message = Vec::new();
        let read = self.stream.by_ref().take(length.into()).read_to_end(&mut message)?;
        if read < length as usize {
            let cut = format!("a report of {length} bytes ends after {read}");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, cut));
        }
        decode(&message).map(Some)
    }
}

/// Not within [`Reports`], so that it is compiled here, with the optimization level of this crate, and not
/// where a reader is instantiated.
fn decode(message: &[u8]) -> io::Result<Report> {
    let wrong = |error| io::Error::new(io::ErrorKind::InvalidData, format!("a report: {error}"));
    postcard::from_bytes(message).map_err(wrong)
}

impl<R: Read> Iterator for Reports<R> {
    type Item = io::Result<Report>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
