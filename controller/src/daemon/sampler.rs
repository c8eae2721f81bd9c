//! Reads the counters of all switches at once, in sessions of its own that only read: whoever writes is not
//! waited for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use inart_tables::PortNo;
use inart_targets::{Access, Place, Program, Running, Session, Traffic};
use tokio::time::timeout;

use crate::watching::Answers;

/// The least time that a switch is given to answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// One switch.
struct Watched {
    place: Place,
    ports: Vec<PortNo>,
    session: Option<Box<dyn Session>>,
}

/// The switches of a network.
pub(super) struct Sampler {
    program: Arc<dyn Program>,
    switches: BTreeMap<String, Watched>,
    patience: Duration,
}

impl Sampler {
    /// The switches with their ports; `every` is how often they are asked.
    pub fn new(
        program: Arc<dyn Program>,
        switches: impl IntoIterator<Item = (String, Place, Vec<PortNo>)>,
        every: Duration,
    ) -> Self {
        let watched = |(name, place, ports)| (name, Watched { place, ports, session: None });
        let switches = switches.into_iter().map(watched).collect();
        Sampler { program, switches, patience: every.max(PATIENCE) }
    }

    /// What the switches have counted; those that do not answer in time, or run no program of ours, are left
    /// out.
    pub async fn sample(&mut self) -> Answers {
        let (program, patience) = (&*self.program, self.patience);
        let all = self.switches.iter_mut().map(async |(name, switch)| {
            let answer = timeout(patience, switch.ask(program)).await.ok().flatten();
            if answer.is_none() {
                switch.session = None;
            }
            Some((name.clone(), answer?))
        });
        join_all(all).await.into_iter().flatten().collect()
    }
}

impl Watched {
    async fn ask(&mut self, program: &dyn Program) -> Option<Traffic> {
        let session = match &mut self.session {
            Some(session) => session,
            none => {
                let mut session = program.open(self.place.clone(), Access::Read).await.ok()?;
                if session.running().await.ok()? != Running::Ours {
                    return None;
                }
                none.insert(session)
            }
        };
        session.traffic(&self.ports).await.ok()
    }
}
