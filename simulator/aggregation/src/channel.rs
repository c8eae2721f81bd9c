//! One direction of a link: its sender's queue, its rate and its delay.

use std::collections::VecDeque;

use inart_switch::Port;
use inart_topologies::faults::LinkFaults;
use inart_topologies::faults::quantity::QueueLimit;
use inart_topologies::switched::Link;

/// EtherType of INART frames.
pub(crate) const INART: [u8; 2] = 0x88b5u16.to_be_bytes();
/// EtherType of background traffic on one link, which no host accepts: IEEE 802 local experimental 2.
pub(crate) const INJECTED: [u8; 2] = 0x88b6u16.to_be_bytes();

/// Bytes of the frame check sequence, which also occupy the buffer.
const CHECK_BYTES: u32 = 4;

/// One direction of a link: a FIFO queue.
#[derive(Debug)]
pub(crate) struct Channel {
    /// Index of the node that receives.
    pub to: u32,
    /// Port number at the sending switch.
    pub port: Port,
    /// Bytes of a cell of the sender's buffer.
    cell_bytes: u32,
    nanos_per_byte: f64,
    pub delay: u64,
    limit: QueueLimit,
    pub faults: LinkFaults,
    /// Whether `faults` contains any fault.
    pub faulty: bool,
    /// Queued frames: end of transmission, bytes, and whether the frame is background traffic.
    waiting: VecDeque<(u64, u32, bool)>,
    /// Bytes sent: INART and background.
    sent: [u64; 2],
    waiting_bytes: u64,
    waiting_cells: u32,
    /// End of transmission of all queued frames.
    idle_at: u64,
    /// Arrival time of the last frame that was not reordered.
    pub last_arrival: u64,
    /// Number of faults that hold the link down.
    pub down: u32,
    /// Number of times the link went down.
    pub generation: u32,
}

impl Channel {
    /// One direction of a link, with its rate in bit/s.
    pub fn new(
        link: &Link,
        rate_bps: f64,
        to: usize,
        port: Port,
        limit: QueueLimit,
        faults: LinkFaults,
    ) -> Self {
        Self {
            to: to as u32,
            port,
            cell_bytes: u32::MAX,
            nanos_per_byte: 8e9 / rate_bps,
            delay: (link.delay_seconds * 1e9) as u64,
            limit,
            faulty: !faults.is_none(),
            faults,
            waiting: VecDeque::new(),
            sent: [0; 2],
            waiting_bytes: 0,
            waiting_cells: 0,
            idle_at: 0,
            last_arrival: 0,
            down: 0,
            generation: 0,
        }
    }

    /// Frames that wait or are being sent.
    pub fn depth(&mut self, now: u64) -> u32 {
        while let Some(&(sent_at, bytes, others)) = self.waiting.front()
            && sent_at <= now
        {
            self.sent[usize::from(others)] += u64::from(bytes);
            self.waiting.pop_front();
            self.waiting_bytes -= u64::from(bytes);
            self.waiting_cells -= self.cells_of(bytes);
        }
        self.waiting.len() as u32
    }

    /// Returns the channel with a buffer of cells of `cell_bytes` bytes.
    pub fn with_cells(self, cell_bytes: u32) -> Self {
        Self { cell_bytes, ..self }
    }

    /// Cells of the sender's buffer that are in use; without [`with_cells`](Self::with_cells), a frame has
    /// one.
    pub fn cells(&mut self, now: u64) -> u32 {
        self.depth(now);
        self.waiting_cells
    }

    fn cells_of(&self, bytes: u32) -> u32 {
        bytes.saturating_add(CHECK_BYTES).div_ceil(self.cell_bytes)
    }

    /// Returns the bytes sent until `now`: INART frames, and all others.
    pub fn sent(&mut self, now: u64) -> [u64; 2] {
        self.depth(now);
        self.sent
    }

    /// Queues a frame (`others` if it is background traffic) and returns its end of transmission, or `None`
    /// if the queue is full.
    pub fn enqueue(&mut self, now: u64, bytes: usize, others: bool) -> Option<u64> {
        let depth = self.depth(now);
        let full = match self.limit {
            QueueLimit::Bytes(limit) => depth > 0 && self.waiting_bytes + bytes as u64 > limit,
            QueueLimit::Frames(limit) => depth >= limit,
        };
        if full {
            return None;
        }
        self.idle_at = self.idle_at.max(now) + self.nanos(bytes);
        self.waiting.push_back((self.idle_at, bytes as u32, others));
        self.waiting_bytes += bytes as u64;
        self.waiting_cells += self.cells_of(bytes as u32);
        Some(self.idle_at)
    }

    /// Returns the transmission time of a frame of `bytes` bytes, in nanoseconds.
    pub fn nanos(&self, bytes: usize) -> u64 {
        ((bytes as f64 * self.nanos_per_byte) as u64).max(1)
    }

    /// Takes the link down: queued and in-flight frames are lost.
    pub fn cut(&mut self, now: u64) {
        self.down += 1;
        self.generation += 1;
        self.waiting.clear();
        self.waiting_bytes = 0;
        self.waiting_cells = 0;
        self.idle_at = now;
        self.last_arrival = now;
    }
}
