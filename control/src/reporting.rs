//! A host that runs says now and then how it is.

use std::io;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use inart_wire::{Incarnation, JobId};
use tokio::sync::oneshot;

use crate::client::Client;
use crate::proto;
use crate::source::Source;

/// How often it says so.
const EVERY: Duration = Duration::from_secs(1);

/// How a host is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostReport {
    /// Tensors that its program has started since the host began.
    pub started: u64,
    /// Those of them whose sums it has.
    pub ended: u64,
    /// The rate at which it sends now, in bits of Ethernet frames per second.
    pub rate_bps: f64,
    /// What its plan gave it; congestion makes it send slower.
    pub planned_rate_bps: f64,
}

/// A thread that reports for a host; dropping it ends that.
#[derive(Debug)]
pub struct Reporting {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Reporting {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been reported
        }
    }
}

impl Source {
    /// Reports to the controller every second how the host is that was granted the role `who` of that job in
    /// that `life`, in a thread of its own. A controller that does not hear is told later. A host whose
    /// assignment is from a file has nobody to report to: `None`.
    ///
    /// # Errors
    /// The system's, if it gives no thread.
    pub fn report(
        &self,
        job: JobId,
        who: &str,
        life: Incarnation,
        report: impl Fn() -> Option<HostReport> + Send + 'static,
    ) -> io::Result<Option<Reporting>> {
        let Self::Controller { address, security, .. } = self else { return Ok(None) };
        let (address, security, role) = (address.clone(), security.clone(), who.to_owned());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let tell = async move {
            let mut connected: Option<Client> = None;
            loop {
                tokio::time::sleep(EVERY).await;
                let Some(HostReport { started, ended, rate_bps, planned_rate_bps }) = report() else {
                    continue;
                };
                let request = proto::ReportRequest {
                    job: job.get().into(),
                    role: role.clone(),
                    incarnation: life.get(),
                    started,
                    ended,
                    rate_bps,
                    planned_rate_bps,
                };
                if connected.is_none() {
                    connected = Client::connect(&address, &security).await.ok();
                }
                if let Some(client) = &connected
                    && client.report(request).await.is_err()
                {
                    connected = None;
                }
            }
        };
        let work = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = tell => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = thread::Builder::new().name("inart-report".into()).spawn(work)?;
        Ok(Some(Reporting { stop: Some(stop), thread: Some(thread) }))
    }
}
