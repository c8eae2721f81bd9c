//! Parameter servers of a job within this process.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use inart_host_agent::{Server, Stopper};

/// Parameter servers as threads, which end with the last of their workers.
#[derive(Clone)]
pub(crate) struct Servers {
    _threads: Arc<Threads>,
}

struct Threads(Vec<(Stopper, JoinHandle<()>)>);

impl Servers {
    pub(crate) fn start(servers: Vec<Server>) -> Self {
        let start = |mut server: Server| {
            // Why a job was aborted, the workers know.
            (server.stopper(), thread::spawn(move || drop(server.run())))
        };
        Self { _threads: Arc::new(Threads(servers.into_iter().map(start).collect())) }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for (stopper, _) in &self.0 {
            stopper.stop();
        }
        for (_, thread) in self.0.drain(..) {
            let _ = thread.join(); // a panic there has been reported
        }
    }
}
