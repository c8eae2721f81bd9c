//! Logs the workers that a server waits for.

use std::time::{Duration, Instant};

use inart_connections::{PeerNo, Transport};
use inart_host_agent::status::{ProcessStatus, ProcessWait};
use inart_ps_agent::{Awaited, Sequencer, ServerAgent};

/// Time before the server prints which workers are not connected, and between repeats.
const FIRST: Duration = Duration::from_secs(2);
const GATHERING: Duration = Duration::from_secs(5);
/// Time without progress of the training before the server prints the reason, and between repeats.
const TRAINING: Duration = Duration::from_secs(10);
/// Time of the last progress, and of the last print.
#[derive(Debug)]
pub(crate) struct Watch {
    progress: Instant,
    said: Option<Instant>,
}

impl Watch {
    pub fn new() -> Self {
        let now = Instant::now();
        Watch { progress: now, said: None }
    }

    /// Takes note of progress in the training.
    pub fn progress(&mut self) {
        (self.progress, self.said) = (Instant::now(), None);
    }

    /// Returns the status of the server `name`.
    pub fn status<S: Sequencer>(
        &self,
        name: &str,
        agent: &ServerAgent<S>,
        now: Duration,
        network: &Transport,
    ) -> ProcessStatus {
        let waits = agent.awaited(now).into_iter().map(|(worker, awaited)| {
            let disconnected = matches!(awaited, Awaited::Connection);
            let why = network.trouble(PeerNo(worker.0)).filter(|_| disconnected);
            ProcessWait {
                on: agent.training().name(worker).to_owned(),
                why: why.map_or_else(|| format!("it {awaited}"), |why| why.to_string()),
                seconds: self.progress.elapsed().as_secs_f64(),
                disconnected,
            }
        });
        ProcessStatus {
            name: name.to_owned(),
            role: "order-server".to_owned(),
            progress: agent.sequencer().version(),
            waits: if agent.is_closing() { Vec::new() } else { waits.collect() },
            ..ProcessStatus::default()
        }
    }

    /// Returns the workers that the server has been waiting for, when due.
    pub fn due<S: Sequencer>(
        &mut self,
        agent: &ServerAgent<S>,
        now: Duration,
        network: &Transport,
    ) -> Option<String> {
        let is_gathering = agent.is_gathering();
        let (first, pause) = if is_gathering { (FIRST, GATHERING) } else { (TRAINING, TRAINING) };
        let since = self.said.map_or(self.progress + first, |said| said + pause);
        if Instant::now() < since || agent.is_closing() {
            return None;
        }
        self.said = Some(Instant::now());
        let each = agent.awaited(now).into_iter().map(|(worker, awaited)| {
            let why = network.trouble(PeerNo(worker.0)).map_or_else(String::new, |why| format!(": {why}"));
            format!("{} {awaited}{why}", agent.training().name(worker))
        });
        let each: Vec<_> = each.collect();
        (!each.is_empty()).then(|| each.join(", "))
    }
}
