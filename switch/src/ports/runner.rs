//! The loop of one switch: waits for frames, runs a batch, sends the output.

use std::any::Any;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use inart_ethernet::{PacketSocket, Queue, Receiver, SocketOptions, has_carrier_at, interface_index};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns};
use nix::sys::eventfd::{EfdFlags, EventFd};
use tokio::sync::watch;

use super::options::{Options, PortError};
use crate::control::Port;
use crate::switch::{DROP_PORT, Digest, Sink, Switch};

/// Frames from the control plane that wait for the switch.
const MAX_INJECTED: usize = 1024;

/// Event that the switch reports to its control plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A frame to the CPU port, with whatever header the program put before it.
    PacketIn(Vec<u8>),
    /// A digest.
    Digest(Digest),
}

/// Counters of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PortStatistics {
    /// Frames received.
    pub received: u64,
    /// Bytes, without the FCS.
    pub received_bytes: u64,
    /// Frames sent.
    pub sent: u64,
    /// Bytes, without the FCS.
    pub sent_bytes: u64,
    /// Frames the kernel refused to send (its queue was full, the interface down, the frame too long).
    pub refused: u64,
    /// Failed receptions.
    pub errors: u64,
}

/// A port of a running switch.
#[derive(Debug)]
struct Wire {
    port: Port,
    interface: String,
    socket: PacketSocket,
    counters: Counters,
}

#[derive(Debug, Default)]
struct Counters {
    received: AtomicU64,
    received_bytes: AtomicU64,
    sent: AtomicU64,
    sent_bytes: AtomicU64,
    refused: AtomicU64,
    errors: AtomicU64,
}

impl Counters {
    fn read(&self) -> PortStatistics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        PortStatistics {
            received: read(&self.received),
            received_bytes: read(&self.received_bytes),
            sent: read(&self.sent),
            sent_bytes: read(&self.sent_bytes),
            refused: read(&self.refused),
            errors: read(&self.errors),
        }
    }
}

/// State that the loop's thread and the handle share.
#[derive(Debug)]
struct Shared {
    switch: Arc<Mutex<Switch>>,
    injected: Mutex<Vec<(Port, Vec<u8>)>>,
    wake: EventFd,
    stop: AtomicBool,
    wires: Vec<Wire>,
    cpu_port: Option<Port>,
}

/// A switch that runs. Dropping it stops the switch.
#[derive(Debug)]
pub struct Handle {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    failure: watch::Receiver<Option<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves the switch usable: nothing holds the lock over several steps.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Handle {
    /// Returns the switch, for the control plane: all changes under one lock happen between two packets.
    pub fn switch(&self) -> &Arc<Mutex<Switch>> {
        &self.shared.switch
    }

    /// Gives the switch a frame as if it had arrived on `port`. The frame is lost if the queue is full.
    pub fn inject(&self, port: Port, frame: Vec<u8>) {
        let mut injected = lock(&self.shared.injected);
        if injected.len() >= MAX_INJECTED {
            return tracing::warn!(port = port.0, "a frame for the switch was lost: {MAX_INJECTED} wait");
        }
        injected.push((port, frame));
        drop(injected);
        // A full counter means that the loop is about to wake already.
        let _ = self.shared.wake.write(1);
    }

    /// Gives the switch a packet-out: a frame that arrives on the CPU port. Returns false without a CPU port.
    pub fn packet_out(&self, frame: Vec<u8>) -> bool {
        if let Some(port) = self.shared.cpu_port {
            self.inject(port, frame);
        }
        self.shared.cpu_port.is_some()
    }

    /// Waits until the switch's thread fails, and returns the reason: no frame is forwarded any longer.
    pub fn failed(&self) -> impl Future<Output = String> + Send + use<> {
        let mut failure = self.failure.clone();
        async move {
            let why = failure.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
            match why {
                Some(why) => why,
                // It was stopped.
                None => std::future::pending().await,
            }
        }
    }

    /// Returns the counters of each port.
    pub fn statistics(&self) -> Vec<(Port, PortStatistics)> {
        self.shared.wires.iter().map(|wire| (wire.port, wire.counters.read())).collect()
    }

    /// Returns the counters of a port; `None` if the port does not exist.
    pub fn traffic_of(&self, port: Port) -> Option<PortStatistics> {
        self.wire(port).map(|wire| wire.counters.read())
    }

    /// Returns whether a port's interface is up and has a link; `None` if there is no such port.
    pub fn has_carrier(&self, port: Port) -> Option<bool> {
        // A removed interface has no link.
        self.wire(port).map(|wire| has_carrier_at(&wire.socket, &wire.interface).unwrap_or(false))
    }

    fn wire(&self, port: Port) -> Option<&Wire> {
        self.shared.wires.iter().find(|wire| wire.port == port)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        let _ = self.shared.wake.write(1);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Opens the ports and runs `switch` on them in a new thread. `on_event` is called in that thread; it
/// must not block.
///
/// # Errors
/// [`PortError`] for an interface that cannot be opened, or if the thread cannot be started.
pub fn start(
    switch: Arc<Mutex<Switch>>,
    options: &Options,
    on_event: impl FnMut(Event) + Send + 'static,
) -> Result<Handle, PortError> {
    check_ports(options)?;
    let wires = open(options)?.into_iter().zip(&options.interfaces).map(|(socket, (port, interface))| Wire {
        port: *port,
        interface: interface.clone(),
        socket,
        counters: Counters::default(),
    });
    let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
    let wake = EventFd::from_flags(flags).map_err(|error| PortError::Thread(error.into()))?;
    let shared = Arc::new(Shared {
        switch,
        injected: Mutex::default(),
        wake,
        stop: AtomicBool::new(false),
        wires: wires.collect(),
        cpu_port: options.cpu_port,
    });
    let inner = Arc::clone(&shared);
    let (ended, failure) = watch::channel(None);
    let work = move || {
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| run(&inner, on_event)));
        let why = match result {
            Ok(Ok(())) => return,
            Ok(Err(error)) => format!("it cannot wait for its ports ({error})"),
            Err(panic) => format!("the thread panicked ({})", said(panic.as_ref())),
        };
        tracing::error!(why, "the switch forwards no frame any more");
        let _ = ended.send(Some(why));
    };
    let thread = std::thread::Builder::new().name("switch".into()).spawn(work).map_err(PortError::Thread)?;
    Ok(Handle { shared, thread: Some(thread), failure })
}

/// Returns the words of a panic.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a word")
}

fn check_ports(options: &Options) -> Result<(), PortError> {
    let names: Vec<_> = options.interfaces.iter().map(|(_, name)| name).collect();
    let all: Vec<Port> = options.interfaces.iter().map(|(port, _)| *port).chain(options.cpu_port).collect();
    for (n, &port) in all.iter().enumerate() {
        let problem = match port {
            port if port >= DROP_PORT => "ports are numbered 0 to 510",
            port if all[..n].contains(&port) => "it is given twice",
            _ if names.get(n).is_some_and(|name| names[..n].contains(name)) => {
                "its interface is another port's already"
            }
            _ => continue,
        };
        return Err(PortError::BadPort { port, problem });
    }
    Ok(())
}

/// Opens the sockets in a thread of its own, which may enter another namespace.
fn open(options: &Options) -> Result<Vec<PacketSocket>, PortError> {
    let open_all = || {
        if let Some(namespace) = &options.namespace {
            let failed = |error| PortError::Namespace { namespace: namespace.clone(), error };
            let file = File::open(namespace).map_err(failed)?;
            setns(file, CloneFlags::CLONE_NEWNET).map_err(|error| failed(error.into()))?;
        }
        let sockets = options.interfaces.iter().map(|(port, interface)| {
            let index = interface_index(interface).map_err(|_| PortError::NoInterface {
                port: *port,
                interface: interface.clone(),
                namespace: options.namespace.clone(),
            })?;
            // Hosts on veth leave checksums and the cutting of long frames to a device that is not there.
            let everything = SocketOptions {
                bypass_queueing: options.bypass_queueing,
                finish_offloads: true,
                ..SocketOptions::EVERYTHING
            };
            PacketSocket::open(index, &everything).map_err(|error| PortError::Socket {
                port: *port,
                interface: interface.clone(),
                error,
            })
        });
        sockets.collect()
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, open_all).map_err(PortError::Thread)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Sorts the frames that the switch sends by port.
struct Outbox {
    queues: Vec<Queue>,
    /// Index of a port's queue, by the port's number.
    by_port: Vec<Option<usize>>,
    cpu_port: Option<Port>,
    events: Vec<Event>,
}

impl Sink for Outbox {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        if let Some(Some(queue)) = self.by_port.get(port.0 as usize) {
            self.queues[*queue].push(frame);
        } else if Some(port) == self.cpu_port {
            self.events.push(Event::PacketIn(frame.to_vec()));
        }
    }

    fn digest(&mut self, digest: Digest) {
        self.events.push(Event::Digest(digest));
    }
}

fn run(shared: &Shared, mut on_event: impl FnMut(Event)) -> io::Result<()> {
    let start = Instant::now();
    let mut by_port = vec![None; DROP_PORT.0 as usize];
    for (index, wire) in shared.wires.iter().enumerate() {
        by_port[wire.port.0 as usize] = Some(index);
    }
    let queues = shared.wires.iter().map(|_| Queue::default()).collect();
    let mut outbox = Outbox { queues, by_port, cpu_port: shared.cpu_port, events: Vec::new() };
    let mut receiver = Receiver::allocate();
    let now_us = || start.elapsed().as_micros() as u64;
    while !shared.stop.load(Ordering::Relaxed) {
        let ready = wait(shared)?;
        if ready[shared.wires.len()] {
            let _ = shared.wake.read();
            let injected = std::mem::take(&mut *lock(&shared.injected));
            let mut switch = lock(&shared.switch);
            for (port, frame) in injected {
                switch.process(port, &frame, now_us(), &mut outbox);
            }
            drop(switch);
            finish(shared, &mut outbox, &mut on_event);
        }
        for (_, wire) in shared.wires.iter().enumerate().filter(|(index, _)| ready[*index]) {
            let Wire { port, socket, counters, .. } = wire;
            let count = match receiver.receive(socket) {
                Ok(count) => count,
                Err(_) => {
                    // For example, the interface is down; reading the error cleared it.
                    counters.errors.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
            };
            let mut switch = lock(&shared.switch);
            let (now_us, mut frames, mut bytes) = (now_us(), 0, 0);
            for n in 0..count {
                let whole = receiver.take(n, |frame| {
                    (frames, bytes) = (frames + 1, bytes + frame.len() as u64);
                    switch.process(*port, frame, now_us, &mut outbox);
                });
                if !whole {
                    counters.errors.fetch_add(1, Ordering::Relaxed);
                }
            }
            drop(switch);
            counters.received.fetch_add(frames, Ordering::Relaxed);
            counters.received_bytes.fetch_add(bytes, Ordering::Relaxed);
            finish(shared, &mut outbox, &mut on_event);
        }
    }
    Ok(())
}

/// Returns the readable sockets; the last element is for the wake-up.
fn wait(shared: &Shared) -> io::Result<Vec<bool>> {
    let fds = shared.wires.iter().map(|wire| wire.socket.as_fd()).chain([shared.wake.as_fd()]);
    let mut fds: Vec<PollFd> = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
    match poll(&mut fds, PollTimeout::NONE) {
        Ok(_) | Err(nix::Error::EINTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(fds.iter().map(|fd| fd.revents().is_some_and(|events| !events.is_empty())).collect())
}

fn finish(shared: &Shared, outbox: &mut Outbox, on_event: &mut impl FnMut(Event)) {
    let ports = outbox.queues.iter_mut().zip(&shared.wires);
    for (queue, Wire { socket, counters, .. }) in ports.filter(|(queue, _)| !queue.is_empty()) {
        let sent = queue.flush(socket);
        counters.sent.fetch_add(sent.frames, Ordering::Relaxed);
        counters.sent_bytes.fetch_add(sent.bytes, Ordering::Relaxed);
        counters.refused.fetch_add(sent.refused, Ordering::Relaxed);
    }
    outbox.events.drain(..).for_each(on_event);
}
