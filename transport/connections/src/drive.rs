//! The loop that drives a machine on a network.

use std::fmt::Display;
use std::time::{Duration, Instant};

use inart_quic::{is_regular_end, names_another_process};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use crate::counted::Connections;
use crate::error::Error;
use crate::event::{Event, Next};
use crate::machine::{Machine, Output, PeerNo};
use crate::names::Names;
use crate::sleep::next_look;
use crate::transport::Transport;

/// Copied frames that are sent before other work continues.
const MOST_COPIES: usize = 256;

/// Order of a process's program.
#[derive(Debug)]
pub enum Order<C> {
    /// For the machine.
    Command(C),
    /// Ends the process early.
    Stop,
}

/// A process's own part: reports to its program, its log and its status.
pub trait Host<M: Machine> {
    /// Error that ends the process.
    type Error: From<Error> + Display;

    /// Takes a report of the machine.
    ///
    /// # Errors
    /// The process must end: the machine [stops](Machine::stop).
    fn report(&mut self, report: M::Report, machine: &mut M) -> Result<(), Self::Error>;

    /// Takes note that the program has given the machine an order.
    fn ordered(&mut self) {}

    /// Looks at the machine after every step, and at least twice per second: logs waits, publishes a status.
    ///
    /// # Errors
    /// As for [`report`](Self::report).
    fn look(&mut self, machine: &mut M, network: &Transport, now: Duration) -> Result<(), Self::Error>;
}

/// Drives a machine until it is over. Returns the machine, and the counters of its connections.
///
/// # Errors
/// An unusable interface; another process of the same name; an error of the host, once the machine has
/// stopped.
pub async fn drive<M: Machine, H: Host<M>>(
    machine: M,
    names: &Names,
    network: Transport,
    orders: UnboundedReceiver<Order<M::Command>>,
    host: &mut H,
) -> Result<(M, Connections), H::Error> {
    let (works, start) = (JoinSet::new(), Instant::now());
    Drive { machine, names, network, host, start, works, failed: None, is_over: false }.run(orders).await
}

struct Drive<'a, M: Machine, H: Host<M>> {
    machine: M,
    names: &'a Names,
    network: Transport,
    host: &'a mut H,
    start: Instant,
    works: JoinSet<M::Done>,
    failed: Option<H::Error>,
    is_over: bool,
}

impl<M: Machine, H: Host<M>> Drive<'_, M, H> {
    async fn run(
        mut self,
        mut orders: UnboundedReceiver<Order<M::Command>>,
    ) -> Result<(M, Connections), H::Error> {
        let (mut look_at, mut has_program) = (self.start, true);
        loop {
            if let Err(error) = self.host.look(&mut self.machine, &self.network, self.start.elapsed()) {
                self.fail(error);
            }
            match self.carry_out() {
                Ok(true) => look_at = Instant::now(),
                Ok(false) => {}
                Err(error) => self.end(error),
            }
            if self.is_over {
                break;
            }
            let shortest = self.network.shortest();
            look_at = look_at.min(next_look(self.start, self.machine.wake_at(), shortest));
            tokio::select! {
                next = self.network.next(look_at) => match next {
                    Ok(Next::Event(event)) => self.event(event),
                    Ok(Next::Copies) => self.take_copies(),
                    Ok(Next::Due) => {
                        self.machine.tick(self.start.elapsed());
                        look_at = next_look(self.start, None, shortest);
                    }
                    Ok(Next::Closed) => break,
                    Err(error) => self.end(error),
                },
                order = orders.recv(), if has_program => match order {
                    Some(Order::Command(command)) => {
                        self.host.ordered();
                        self.machine.command(command, self.start.elapsed());
                    }
                    Some(Order::Stop) => self.fail(Error::Stopped { name: self.names.me.clone() }.into()),
                    None => {
                        has_program = false;
                        self.machine.abandoned(self.start.elapsed());
                    }
                },
                Some(done) = self.works.join_next(), if !self.works.is_empty() => match done {
                    Ok(done) => self.machine.done(done, self.start.elapsed()),
                    Err(_) => self.end(Error::Gone), // a panic there has been printed already
                },
            }
        }
        let connections = self.network.close().await;
        match self.failed {
            Some(error) => Err(error),
            None => Ok((self.machine, connections)),
        }
    }

    /// Lets the machine stop. The first error counts.
    fn fail(&mut self, error: H::Error) {
        if self.failed.is_none() {
            self.machine.stop(&error.to_string(), self.start.elapsed());
            self.failed = Some(error);
        }
    }

    /// Ends at once: no message of the machine could arrive, or may.
    fn end(&mut self, error: Error) {
        self.failed.get_or_insert(error.into());
        self.is_over = true;
    }

    fn take_copies(&mut self) {
        let Drive { machine, network, start, .. } = self;
        if let Err(error) = network.take_copies(&mut |bytes| machine.frame(bytes, start.elapsed())) {
            self.end(error.into());
        }
    }

    fn event(&mut self, event: Event) {
        let now = self.start.elapsed();
        match event {
            Event::Up { peer } => {
                tracing::info!("{} is connected", self.names.of(peer));
                self.machine.up(peer, now);
            }
            Event::Down { reason, .. } if names_another_process(&reason) => {
                self.end(Error::Duplicate { name: self.names.me.clone(), reason });
            }
            Event::Down { peer, reason } => self.down(peer, &reason, now),
            Event::Received { peer, data, seen } => self.machine.received(peer, &data, seen, now),
            Event::Ended { id, is_taken } => self.machine.ended(id, is_taken, now),
        }
    }

    fn down(&mut self, peer: PeerNo, reason: &str, now: Duration) {
        let (name, is_regular) = (self.names.of(peer), is_regular_end(reason));
        match (is_regular, self.machine.may_end(peer)) {
            (true, true) => tracing::info!("{name} has ended"),
            (true, false) => tracing::warn!("{name} stopped before the end of the training"),
            (false, true) => tracing::info!("the connection to {name} has ended: {reason}"),
            (false, false) => tracing::warn!("the connection to {name} has ended: {reason}"),
        }
        match is_regular {
            true => self.machine.left(peer, now),
            false => self.machine.down(peer, now),
        }
    }

    /// Carries out the machine's outputs. Returns whether it has more now.
    fn carry_out(&mut self) -> Result<bool, Error> {
        let mut copies = 0;
        while copies < MOST_COPIES && !self.is_over {
            let Some(output) = self.machine.next(self.start.elapsed()) else { break };
            match output {
                Output::Send { to, id, data, priority } => {
                    if !self.network.send(to, id, data, priority) {
                        self.machine.ended(id, false, self.start.elapsed());
                    }
                }
                Output::Copy(frame) => {
                    copies += 1;
                    self.network.copy(frame);
                }
                Output::Work(work) => drop(self.works.spawn_blocking(move || work.run())),
                Output::Report(report) => {
                    if let Err(error) = self.host.report(report, &mut self.machine) {
                        self.fail(error);
                    }
                }
                Output::Over => self.is_over = true,
            }
        }
        self.network.flush()?;
        Ok(copies >= MOST_COPIES)
    }
}
