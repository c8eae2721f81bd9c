//! Reads the counters of all switches at once, in read-only sessions of its own, so that it does not wait
//! for writes. Sessions are opened in the background, since opening may take longer than the time limit of
//! an answer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use inart_tables::PortNo;
use inart_targets::{Access, Endpoint, Program, Running, Session, Traffic};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::watching::Answers;

/// Least time limit of a switch's answer.
const PATIENCE: Duration = Duration::from_millis(500);

/// Time limit for opening a session; afterwards a stopped switch is tried again.
const OPENING: Duration = Duration::from_secs(10);

/// One switch.
struct Watched {
    place: Endpoint,
    ports: Vec<PortNo>,
    contact: Contact,
}

/// Connection to a switch.
enum Contact {
    None,
    /// Session that is being opened; yields none if the switch runs no program of ours.
    Opening(JoinHandle<Option<Box<dyn Session>>>),
    Open(Box<dyn Session>),
}

impl Drop for Contact {
    fn drop(&mut self) {
        if let Contact::Opening(task) = self {
            task.abort();
        }
    }
}

/// Switches of a network.
pub(super) struct Sampler {
    program: Arc<dyn Program>,
    switches: BTreeMap<String, Watched>,
    patience: Duration,
}

impl Sampler {
    /// Creates a sampler of switches with their ports; `every` is the interval of the reads.
    pub fn new(
        program: Arc<dyn Program>,
        switches: impl IntoIterator<Item = (String, Endpoint, Vec<PortNo>)>,
        every: Duration,
    ) -> Self {
        let watched = |(name, place, ports)| (name, Watched { place, ports, contact: Contact::None });
        let switches = switches.into_iter().map(watched).collect();
        Sampler { program, switches, patience: every.max(PATIENCE) }
    }

    /// Reads the counters of the switches. Switches that do not answer in time, or run no program of ours,
    /// are left out.
    pub async fn sample(&mut self) -> Answers {
        let (program, patience) = (&self.program, self.patience);
        let all = self.switches.iter_mut().map(async |(name, switch)| {
            let answer = timeout(patience, switch.ask(program)).await;
            match answer {
                Ok(Some(traffic)) => return Some((name.clone(), traffic)),
                // Still opening.
                Err(_) if matches!(switch.contact, Contact::Opening(_)) => {}
                _ => switch.contact = Contact::None,
            }
            None
        });
        join_all(all).await.into_iter().flatten().collect()
    }
}

impl Watched {
    async fn ask(&mut self, program: &Arc<dyn Program>) -> Option<Traffic> {
        if matches!(self.contact, Contact::None) {
            let opened = open(program.clone(), self.place.clone());
            self.contact =
                Contact::Opening(tokio::spawn(async { timeout(OPENING, opened).await.ok().flatten() }));
        }
        if let Contact::Opening(task) = &mut self.contact {
            let session = task.await.ok().flatten()?;
            self.contact = Contact::Open(session);
        }
        let Contact::Open(session) = &mut self.contact else { return None };
        session.traffic(&self.ports).await.ok()
    }
}

/// Opens a session with a switch that runs our program.
async fn open(program: Arc<dyn Program>, place: Endpoint) -> Option<Box<dyn Session>> {
    let mut session = program.open(place, Access::Read).await.ok()?;
    (session.running().await.ok()? == Running::Ours).then_some(session)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::FutureExt;
    use futures::future::BoxFuture;
    use inart_tables::Limits;
    use inart_targets::memory::InMemory;
    use inart_targets::{Precedence, SwitchError};
    use inart_wire::ValuesPerFrame;
    use tokio::sync::Semaphore;

    use super::*;

    /// Switch whose sessions open when a permit is available.
    struct Slow {
        switches: InMemory,
        permits: Semaphore,
        begun: AtomicUsize,
    }

    impl Program for Slow {
        fn values(&self) -> ValuesPerFrame {
            self.switches.values()
        }

        fn limits(&self) -> Limits {
            self.switches.limits()
        }

        fn open(
            &self,
            place: Endpoint,
            access: Access,
        ) -> BoxFuture<'_, Result<Box<dyn Session>, SwitchError>> {
            async move {
                self.begun.fetch_add(1, Ordering::Relaxed);
                let _permit = self.permits.acquire().await.unwrap();
                self.switches.open(place, access).await
            }
            .boxed()
        }

        fn greatest(&self, place: Endpoint) -> BoxFuture<'_, Result<Option<Precedence>, SwitchError>> {
            self.switches.greatest(place)
        }
    }

    #[tokio::test]
    async fn a_session_that_takes_longer_than_an_answer_is_waited_for() {
        let limits = Limits {
            slots: 1,
            ports: 1,
            switch_ports: 1,
            steer: 1,
            results: 1,
            updates: 1,
            receivers: 1,
            mac: 1,
        };
        let switches = InMemory::new(ValuesPerFrame::N32, limits);
        let place = Endpoint::local("here", 0);
        let access = Access::Write(Precedence(1));
        switches.open(place.clone(), access).await.unwrap().load_program().await.unwrap();

        let slow = Arc::new(Slow { switches, permits: Semaphore::new(0), begun: AtomicUsize::new(0) });
        let mut sampler = Sampler::new(slow.clone(), [("v".to_owned(), place, Vec::new())], PATIENCE);
        sampler.patience = Duration::from_millis(10);
        for _ in 0..3 {
            assert!(sampler.sample().await.is_empty());
        }
        assert_eq!(slow.begun.load(Ordering::Relaxed), 1, "the first attempt continues");
        slow.permits.add_permits(1);
        let answered = async { while sampler.sample().await.is_empty() {} };
        timeout(Duration::from_secs(60), answered).await.expect("an answer after the session is open");
        assert_eq!(slow.begun.load(Ordering::Relaxed), 1);
    }
}
