//! A parameter server that outlives runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inart_controller_api::{Role, ViewMembership};
use inart_host_agent::{Server, Stopper};
use inart_protocol_aggregation::{Assignment, ServerCounters};
use inart_wire::ShardId;

use crate::error::{Error, LeaveReason};
use crate::host::Host;
use crate::view_end::ViewEnd;

/// A server of an elastic job: serves run after run.
pub struct ElasticServer {
    host: Host,
    counters: ServerCounters,
    stopper: ServerStopper,
}

/// Stops a server, from any thread.
#[derive(Clone, Default)]
pub struct ServerStopper(Arc<Mutex<Stopping>>);

#[derive(Default)]
struct Stopping {
    requested: bool,
    /// Stopper of the view.
    view: Option<Stopper>,
}

impl ServerStopper {
    /// The server stops soon.
    pub fn stop(&self) {
        let mut stopping = self.lock();
        stopping.requested = true;
        stopping.view.iter().for_each(Stopper::stop);
    }

    fn lock(&self) -> MutexGuard<'_, Stopping> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the view's stopper, or none between views.
    fn runs(&self, view: Option<Stopper>) {
        let mut stopping = self.lock();
        view.iter().filter(|_| stopping.requested).for_each(Stopper::stop);
        stopping.view = view;
    }
}

impl ElasticServer {
    /// Creates a server that has not joined.
    pub fn new(mut host: Host) -> Self {
        let stopper = ServerStopper::default();
        let stopping = stopper.clone();
        host.also_stopped_by(move || stopping.lock().requested);
        Self { host, counters: ServerCounters::default(), stopper }
    }

    /// Returns a handle that stops it while it [runs](Self::run).
    pub fn stopper(&self) -> ServerStopper {
        self.stopper.clone()
    }

    /// Serves view after view until it is stopped; calls `on_view` at the start of each view with its
    /// assignment and shard.
    ///
    /// # Errors
    ///
    /// The reason why it cannot continue. An abort of the view is not one.
    pub fn run(&mut self, mut on_view: impl FnMut(&Assignment, ShardId)) -> Result<(), Error> {
        let mut last = None;
        loop {
            let before = last.as_ref().map(|(view, left)| (*view, left));
            let membership = match self.host.wait_for_view(before, 0, false) {
                // It has left.
                Err(Error::Stopped) => return Ok(()),
                seated => seated?,
            };
            let Role::Server(shard) = membership.role else {
                return Err(self.host.other_role(membership.role, "server"));
            };
            on_view(&membership.assignment, shard);
            match self.serve(&membership, shard)? {
                Some(left) => last = Some((membership.view, left)),
                None => return self.leave(),
            }
        }
    }

    /// Serves one view. Returns why it was left, or `None` if this host was stopped.
    fn serve(&mut self, membership: &ViewMembership, shard: ShardId) -> Result<Option<LeaveReason>, Error> {
        let (transport, options, watch) = self.host.agent()?;
        let mut server = Server::with_transport(membership.assignment.clone(), shard, transport, options)?;
        let (end, stopper) = (ViewEnd::default(), server.stopper());
        let following = self.host.follow(membership, server.migrator(), &end, move || stopper.stop())?;
        let reporting = self.host.report(membership, watch)?;
        self.stopper.runs(Some(server.stopper()));
        let served = server.run();
        self.stopper.runs(None);
        drop((following, reporting));
        self.counters += server.counters();
        match served {
            Ok(()) if end.is_over() => Ok(Some(LeaveReason::Ordered)),
            Ok(()) => Ok(None),
            Err(inart_host_agent::Error::Failure(failure)) => {
                tracing::warn!(job = membership.assignment.name, "the view is over: {failure}");
                Ok(Some(LeaveReason::Aborted(failure.to_string())))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn leave(&self) -> Result<(), Error> {
        // Without a controller, no host waits for it.
        self.host.leave(0, false).or(Ok(()))
    }

    /// Returns the counters of all views.
    pub fn counters(&self) -> ServerCounters {
        self.counters
    }
}
