//! A parameter server that outlives runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inart_controller_api::{Role, Seat};
use inart_host_agent::{Server, Stopper};
use inart_protocol_aggregation::{Assignment, ServerCounters};
use inart_wire::ShardId;

use crate::error::{Error, Left};
use crate::host::Host;
use crate::run_end::RunEnd;

/// A server of an elastic job: serves run after run.
pub struct ElasticServer {
    host: Host,
    counters: ServerCounters,
    stopper: ServerStopper,
}

/// Tells a server to stop, from any thread.
#[derive(Clone, Default)]
pub struct ServerStopper(Arc<Mutex<Stopping>>);

#[derive(Default)]
struct Stopping {
    told: bool,
    /// Of the run.
    run: Option<Stopper>,
}

impl ServerStopper {
    /// The server stops soon.
    pub fn stop(&self) {
        let mut stopping = self.lock();
        stopping.told = true;
        stopping.run.iter().for_each(Stopper::stop);
    }

    fn lock(&self) -> MutexGuard<'_, Stopping> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run goes on, or none does.
    fn runs(&self, run: Option<Stopper>) {
        let mut stopping = self.lock();
        run.iter().filter(|_| stopping.told).for_each(Stopper::stop);
        stopping.run = run;
    }
}

impl ElasticServer {
    /// A server that has joined nobody.
    pub fn new(mut host: Host) -> Self {
        let stopper = ServerStopper::default();
        let stopping = stopper.clone();
        host.also_stopped_by(move || stopping.lock().told);
        Self { host, counters: ServerCounters::default(), stopper }
    }

    /// What tells it to stop while it [runs](Self::run).
    pub fn stopper(&self) -> ServerStopper {
        self.stopper.clone()
    }

    /// Serves run after run, until it is told to stop; tells each run when it begins: what its hosts were
    /// told, and the shard.
    ///
    /// # Errors
    /// Why it cannot go on. An abort of the job is no reason.
    pub fn run(&mut self, mut tell: impl FnMut(&Assignment, ShardId)) -> Result<(), Error> {
        let mut last = None;
        loop {
            let before = last.as_ref().map(|(run, left)| (*run, left));
            let seat = match self.host.wait_for_run(before, 0, false) {
                // It has left.
                Err(Error::Stopped) => return Ok(()),
                seated => seated?,
            };
            let Role::Server(shard) = seat.role else {
                return Err(self.host.other_role(seat.role, "server"));
            };
            tell(&seat.assignment, shard);
            match self.serve(&seat, shard)? {
                Some(left) => last = Some((seat.run, left)),
                None => return self.leave(),
            }
        }
    }

    /// One run; how it was left, `None` if this host was told to stop.
    fn serve(&mut self, seat: &Seat, shard: ShardId) -> Result<Option<Left>, Error> {
        let (transport, options, watch) = self.host.agent()?;
        let mut server = Server::with_transport(seat.assignment.clone(), shard, transport, options)?;
        let (end, stopper) = (RunEnd::default(), server.stopper());
        let following = self.host.follow(seat, server.mover(), &end, move || stopper.stop())?;
        let reporting = self.host.report(seat, watch)?;
        self.stopper.runs(Some(server.stopper()));
        let served = server.run();
        self.stopper.runs(None);
        drop((following, reporting));
        self.counters += server.counters();
        match served {
            Ok(()) if end.is_over() => Ok(Some(Left::Told)),
            Ok(()) => Ok(None),
            Err(inart_host_agent::Error::Failure(failure)) => {
                tracing::warn!(job = seat.assignment.name, "the run is over: {failure}");
                Ok(Some(Left::Aborted(failure.to_string())))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn leave(&self) -> Result<(), Error> {
        // A controller that is gone waits for nobody.
        self.host.leave(0, false).or(Ok(()))
    }

    /// What was counted in all runs.
    pub fn counters(&self) -> ServerCounters {
        self.counters
    }
}
