//! The middle of every link when frames shall be lost: carries frames between the inner ends of the cut links, but
//! for those whose fate is to be dropped.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};

use inart_softswitch::ports::raw::{PacketSocket, Queue, Receiver, interface_index};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::fault::{DropRate, Fates};
use crate::namespace::Namespace;

/// Frames on all links since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelayCounters {
    /// Frames carried on.
    pub carried: u64,
    /// Frames dropped on purpose.
    pub dropped: u64,
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
}

impl Relay {
    /// Starts to carry frames over `links` links between `a0` and `b0`, `a1` and `b1`, … of the namespace.
    pub fn start(namespace: &Namespace, links: usize, rate: DropRate, seed: u64) -> io::Result<Self> {
        // Ends 2n and 2n + 1 belong to link n.
        let ends = || (0..links).flat_map(|link| [(link, 0, 'a'), (link, 1, 'b')]);
        let fates = ends().map(|(link, direction, _)| Fates::new(rate, seed, link, direction)).collect();
        let sockets = namespace.run(|| {
            let names = ends().map(|(link, _, side)| format!("{side}{link}"));
            names.map(|name| PacketSocket::open(interface_index(&name)?, false)).collect()
        })?;
        let (alive, waker) = UnixStream::pair()?;
        let shared = Arc::<Shared>::default();
        let counters = Arc::clone(&shared);
        let thread = thread::Builder::new().name("relay".into()).spawn(move || {
            if let Err(error) = carry(sockets, fates, &waker, &counters) {
                tracing::error!("the relay between the links stopped: {error}");
            }
        })?;
        Ok(Self { shared, thread: Some(thread), alive: Some(alive) })
    }

    /// What was carried and dropped so far.
    pub fn counters(&self) -> RelayCounters {
        RelayCounters {
            carried: self.shared.carried.load(Relaxed),
            dropped: self.shared.dropped.load(Relaxed),
        }
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

fn carry(
    sockets: Vec<PacketSocket>,
    mut fates: Vec<Fates>,
    waker: &UnixStream,
    shared: &Shared,
) -> io::Result<()> {
    let (mut receiver, mut queue) = (Receiver::allocate(), Queue::default());
    let fds = std::iter::once(waker.as_fd()).chain(sockets.iter().map(AsFd::as_fd));
    let mut polled: Vec<_> = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
    loop {
        match poll(&mut polled, PollTimeout::NONE) {
            Err(nix::errno::Errno::EINTR) => continue,
            other => other?,
        };
        let is_ready = |index: usize| polled[index].any().unwrap_or(false);
        if is_ready(0) {
            return Ok(());
        }
        for from in (0..sockets.len()).filter(|&end| is_ready(end + 1)) {
            let received = receiver.receive(&sockets[from])?;
            for number in 0..received {
                if let Some(frame) = receiver.frame(number)
                    && !fates[from].drops_next()
                {
                    queue.push(frame);
                }
            }
            let sent = queue.flush(&sockets[from ^ 1]).frames;
            shared.carried.fetch_add(sent, Relaxed);
            shared.dropped.fetch_add(received as u64 - sent, Relaxed);
        }
    }
}
