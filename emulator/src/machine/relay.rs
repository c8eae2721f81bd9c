//! The middle of every link when links are faulty: forwards frames between the inner ends of the cut links,
//! drops, duplicates and delays frames as their faults require, and forwards nothing over a link that is
//! down.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use inart_ethernet::{PacketSocket, Queue, Receiver, SocketOptions, interface_index};
use inart_topologies::faults::LinkFaults;
use nix::poll::{PollFd, PollFlags, ppoll};
use serde::Serialize;

use crate::machine::fault::FrameFaultDraws;
use crate::machine::namespace::Namespace;

/// Frames on all links since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RelayCounters {
    /// Frames carried on, each copy once.
    pub carried: u64,
    /// Frames dropped at random.
    pub dropped: u64,
    /// Frames that arrived twice.
    pub duplicated: u64,
    /// Frames that were held back while others overtook them.
    pub reordered: u64,
    /// Frames that were held back with all behind them.
    pub delayed: u64,
    /// Frames lost on links that were down.
    pub cut: u64,
}

impl std::ops::Sub for RelayCounters {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            carried: self.carried - before.carried,
            dropped: self.dropped - before.dropped,
            duplicated: self.duplicated - before.duplicated,
            reordered: self.reordered - before.reordered,
            delayed: self.delayed - before.delayed,
            cut: self.cut - before.cut,
        }
    }
}

/// A running relay; stops when dropped.
#[derive(Debug)]
pub struct Relay {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Closing it wakes the thread for the last time.
    alive: Option<UnixStream>,
}

#[derive(Debug, Default)]
struct Shared {
    carried: AtomicU64,
    dropped: AtomicU64,
    duplicated: AtomicU64,
    reordered: AtomicU64,
    delayed: AtomicU64,
    cut: AtomicU64,
    /// By link.
    down: Vec<AtomicBool>,
}

impl Relay {
    /// Starts to carry frames between `a0` and `b0`, `a1` and `b1`, … of the namespace. `faults` are those of
    /// each direction: from a0 to b0, from b0 to a0, from a1 to b1, ….
    ///
    /// # Errors
    /// If a socket or the thread cannot be made.
    pub fn start(namespace: &Namespace, faults: &[LinkFaults], seed: u64) -> io::Result<Self> {
        Self::start_delayed(namespace, faults, &vec![Duration::ZERO; faults.len()], seed)
    }

    /// Starts a relay with a propagation delay of each direction.
    ///
    /// # Errors
    /// Errors of [`start`](Self::start).
    pub fn start_delayed(
        namespace: &Namespace,
        faults: &[LinkFaults],
        propagation: &[Duration],
        seed: u64,
    ) -> io::Result<Self> {
        let propagation = propagation.to_vec();
        let draws = faults
            .iter()
            .enumerate()
            .map(|(end, faults)| FrameFaultDraws::new(faults.clone(), seed, end))
            .collect();
        let sockets = namespace.run(|| {
            let names = (0..faults.len()).map(|end| format!("{}{}", ["a", "b"][end % 2], end / 2));
            names
                .map(|name| PacketSocket::open(interface_index(&name)?, &SocketOptions::EVERYTHING))
                .collect()
        })?;
        let (alive, waker) = UnixStream::pair()?;
        let down = (0..faults.len() / 2).map(|_| AtomicBool::new(false)).collect();
        let shared = Arc::new(Shared { down, ..Shared::default() });
        let shared_with_thread = Arc::clone(&shared);
        let thread = thread::Builder::new().name("relay".into()).spawn(move || {
            let mut carrier = Carrier {
                sockets,
                draws,
                propagation,
                shared: &shared_with_thread,
                held: BTreeMap::new(),
                latest: Vec::new(),
            };
            if let Err(error) = carrier.carry(&waker) {
                tracing::error!("the relay between the links stopped: {error}");
            }
        })?;
        Ok(Self { shared, thread: Some(thread), alive: Some(alive) })
    }

    /// Takes a link down or up, in both directions.
    pub fn set_down(&self, link: usize, down: bool) {
        if let Some(flag) = self.shared.down.get(link) {
            flag.store(down, Relaxed);
        }
    }

    /// Returns the counters.
    pub fn counters(&self) -> RelayCounters {
        let shared = &self.shared;
        let [carried, dropped, duplicated, reordered, delayed, cut] = [
            &shared.carried,
            &shared.dropped,
            &shared.duplicated,
            &shared.reordered,
            &shared.delayed,
            &shared.cut,
        ]
        .map(|counter| counter.load(Relaxed));
        RelayCounters { carried, dropped, duplicated, reordered, delayed, cut }
    }

    /// Stops it; what was carried and dropped in all.
    pub fn stop(mut self) -> RelayCounters {
        self.end();
        self.counters()
    }

    fn end(&mut self) {
        self.alive = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been printed already
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.end();
    }
}

/// The relay's thread.
struct Carrier<'a> {
    /// Ends 2n and 2n + 1 belong to link n.
    sockets: Vec<PacketSocket>,
    /// Faults of the frames that arrive at each end.
    draws: Vec<FrameFaultDraws>,
    /// Propagation delay of the frames that arrive at each end.
    propagation: Vec<Duration>,
    shared: &'a Shared,
    /// Frames to be sent later: when, a serial number, and to which end.
    held: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    /// Time at which the last frame in order will be sent, by end, if frames are held back there.
    latest: Vec<Option<Instant>>,
}

impl Carrier<'_> {
    fn carry(&mut self, waker: &UnixStream) -> io::Result<()> {
        self.latest = vec![None; self.sockets.len()];
        let (mut receiver, mut queue) = (Receiver::allocate(), Queue::default());
        let mut serial = 0;
        loop {
            let wait =
                self.held.first_key_value().map(|((at, _), _)| at.saturating_duration_since(Instant::now()));
            let fds = std::iter::once(waker.as_fd()).chain(self.sockets.iter().map(AsFd::as_fd));
            let mut polled: Vec<_> = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
            match ppoll(&mut polled, wait.map(Into::into), None) {
                Err(nix::errno::Errno::EINTR) => continue,
                other => other?,
            };
            let ready: Vec<bool> = polled.iter().map(|fd| fd.any().unwrap_or(false)).collect();
            if ready[0] {
                return Ok(());
            }
            for from in (0..self.sockets.len()).filter(|&end| ready[end + 1]) {
                let received = receiver.receive(&self.sockets[from])?;
                for number in 0..received {
                    if let Some(frame) = receiver.frame(number) {
                        self.take(from, frame, &mut queue, &mut serial);
                    }
                }
                self.flush(&mut queue, from ^ 1);
            }
            let now = Instant::now();
            while let Some(entry) = self.held.first_entry()
                && entry.key().0 <= now
            {
                let (to, frame) = entry.remove();
                queue.push(&frame);
                self.flush(&mut queue, to);
            }
        }
    }

    /// Decides on a frame that came in at an end: queued at once, held back, or lost.
    fn take(&mut self, from: usize, frame: &[u8], queue: &mut Queue, serial: &mut u64) {
        let fault = self.draws[from].next_fault();
        let count = |counter: &AtomicU64| counter.fetch_add(1, Relaxed);
        if self.shared.down[from / 2].load(Relaxed) {
            count(&self.shared.cut);
            return;
        }
        if fault.drop {
            count(&self.shared.dropped);
            return;
        }
        let copies = if fault.twice {
            count(&self.shared.duplicated);
            2
        } else {
            1
        };
        let now = Instant::now() + self.propagation[from];
        let mut at = self.latest[from].filter(|latest| *latest > now);
        if fault.delay > Duration::ZERO {
            count(&self.shared.delayed);
            at = Some(at.unwrap_or(now) + fault.delay);
        }
        self.latest[from] = at;
        if fault.overtaken > Duration::ZERO {
            count(&self.shared.reordered);
            at = Some(at.unwrap_or(now) + fault.overtaken);
        }
        for _ in 0..copies {
            match at.or((self.propagation[from] > Duration::ZERO).then_some(now)) {
                None => queue.push(frame),
                Some(at) => {
                    *serial += 1;
                    self.held.insert((at, *serial), (from ^ 1, frame.to_vec()));
                }
            }
        }
    }

    fn flush(&self, queue: &mut Queue, to: usize) {
        let sent = queue.flush(&self.sockets[to]);
        self.shared.carried.fetch_add(sent.frames, Relaxed);
        self.shared.dropped.fetch_add(sent.refused, Relaxed);
    }
}
