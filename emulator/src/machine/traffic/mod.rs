//! Background traffic: the flows of a fault schedule, each from its time on.

mod frames;
mod sockets;
#[cfg(test)]
mod tests;

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use inart_ethernet::{PacketSocket, SocketOptions, interface_index};
use inart_topologies::faults::{Flow, Protocol};
use inart_wire::MacAddr;

use crate::machine::namespace::Namespace;

/// Interval at which due traffic is sent.
const TICK: Duration = Duration::from_millis(2);

/// An end of a flow.
pub struct End<'a> {
    /// Namespace of its host.
    pub namespace: &'a Namespace,
    /// Interface in the namespace.
    pub interface: &'a str,
    /// The interface's addresses.
    pub mac: MacAddr,
    /// For UDP and TCP.
    pub ip: Ipv4Addr,
}

/// A running flow; stops when dropped.
#[derive(Debug)]
struct Running {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Running {
    /// Starts a flow. What a full queue or an unreachable receiver costs is lost, as of any other traffic.
    fn start(flow: &Flow, [from, to]: [End<'_>; 2]) -> io::Result<Self> {
        let mut running = Self { stop: Arc::default(), threads: Vec::new() };
        let bytes_per_second = flow.rate_bps / 8.0;
        match flow.protocol {
            Protocol::Frames => {
                let open =
                    || PacketSocket::open(interface_index(from.interface)?, &SocketOptions::EVERYTHING);
                let socket = from.namespace.run(open)?;
                let mut sender = frames::Sender::new(socket, [from.mac, to.mac], flow.frame_bytes);
                running.run(move |stop| pace(stop, bytes_per_second, |budget| sender.send(budget)))?;
            }
            Protocol::Udp => {
                let receiver = sockets::UdpReceiver::bind(to.namespace, to.ip)?;
                let mut sender =
                    sockets::UdpSender::new(from.namespace, receiver.address()?, flow.frame_bytes)?;
                running.run(move |stop| receiver.run(stop))?;
                running.run(move |stop| pace(stop, bytes_per_second, |budget| sender.send(budget)))?;
            }
            Protocol::Tcp => {
                let receiver = sockets::TcpReceiver::bind(to.namespace, to.ip)?;
                let sender = sockets::TcpSender::new(from.namespace, receiver.address()?, flow.frame_bytes)?;
                running.run(move |stop| receiver.run(stop))?;
                running.run(move |stop| sender.run(stop, bytes_per_second))?;
            }
        }
        Ok(running)
    }

    fn run(&mut self, work: impl FnOnce(&AtomicBool) + Send + 'static) -> io::Result<()> {
        let stop = Arc::clone(&self.stop);
        self.threads.push(thread::Builder::new().name("background".into()).spawn(move || work(&stop))?);
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // a panic there has been printed already
        }
    }
}

/// Lets `send` send what has become due at that rate, in bytes; it returns what it has sent of it.
fn pace(stop: &AtomicBool, bytes_per_second: f64, mut send: impl FnMut(f64) -> f64) {
    let (start, mut sent) = (Instant::now(), 0.0);
    while !stop.load(Relaxed) {
        sent += send(start.elapsed().as_secs_f64() * bytes_per_second - sent);
        thread::sleep(TICK);
    }
}

/// The flows of a schedule: to come, running, over.
#[derive(Debug, Default)]
pub struct Traffic {
    flows: Vec<(Flow, State)>,
    scale: f64,
}

#[derive(Debug)]
enum State {
    ToCome,
    Running(#[expect(dead_code, reason = "runs until it is dropped")] Running),
    Over,
}

impl Traffic {
    /// The flows of a schedule, at `scale` times their rates; none runs yet.
    pub fn new(flows: &[Flow], scale: f64) -> Self {
        Self { flows: flows.iter().map(|flow| (*flow, State::ToCome)).collect(), scale }
    }

    /// Starts and stops the flows that are due at this time after the start of the run; returns the started
    /// (`true`) and stopped flows.
    ///
    /// # Errors
    /// The flow that cannot be started, and the reason.
    pub fn tend<'a>(
        &mut self,
        elapsed: Duration,
        ends: impl Fn(&Flow) -> io::Result<[End<'a>; 2]>,
    ) -> Result<Vec<(Flow, bool)>, (Flow, io::Error)> {
        let mut changed = Vec::new();
        for (flow, state) in &mut self.flows {
            let is_over = flow.ends.is_some_and(|ends| ends.duration() <= elapsed);
            let begins = !is_over && flow.begins.duration() <= elapsed;
            match state {
                State::ToCome if begins => {
                    let scaled = Flow { rate_bps: flow.rate_bps * self.scale, ..*flow };
                    let running = ends(flow).and_then(|ends| Running::start(&scaled, ends));
                    *state = State::Running(running.map_err(|cause| (*flow, cause))?);
                    changed.push((*flow, true));
                }
                State::Running(_) if is_over => {
                    *state = State::Over;
                    changed.push((*flow, false));
                }
                _ => {}
            }
        }
        Ok(changed)
    }

    /// Stops all flows; the next run begins from scratch.
    pub fn reset(&mut self) {
        self.flows.iter_mut().for_each(|(_, state)| *state = State::ToCome);
    }

    /// The first flow that has not run, if any.
    pub fn never_run(&self) -> Option<&Flow> {
        self.flows.iter().find(|(_, state)| matches!(state, State::ToCome)).map(|(flow, _)| flow)
    }
}
