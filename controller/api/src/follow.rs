//! A host that runs follows its controller: it does what it is told, and says so.

use std::io;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use inart_protocol_aggregation::{MigrationProgress, MigrationStep};
use inart_tls::Security;
use inart_wire::{Incarnation, JobId};
use tokio::sync::oneshot;

use crate::client::{Client, ClientError};
use crate::instruction::{Ending, Held, Instruction, NotDone};
use crate::source::Source;

/// The first pause before another attempt to connect; each further one is twice as long, up to
/// [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A host that lags behind its servers is asked this often whether it still does.
const ASK: Duration = Duration::from_millis(10);
/// As long as it does, it says so this often if it has got results meanwhile.
const SAY: Duration = Duration::from_millis(100);

/// A thread that follows a controller for a host; dropping it ends that.
#[derive(Debug)]
pub struct Following {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Following {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been reported
        }
    }
}

impl Source {
    /// Follows the controller for the host that [claimed](Self::claim) the role `who` of that job in that
    /// `incarnation`, in a thread of its own: each instruction is given to `apply`, and confirmed. A
    /// controller that goes is waited for, without an end. A host whose assignment is from a file has nobody
    /// to follow: `None`.
    ///
    /// # Errors
    /// The system's, if it gives no thread.
    pub fn follow(
        &self,
        job: JobId,
        who: &str,
        incarnation: Incarnation,
        mut apply: impl FnMut(&Instruction) -> Result<MigrationProgress, NotDone> + Send + 'static,
    ) -> io::Result<Option<Following>> {
        let apply = move |told: Option<&Instruction>| {
            let moving = told.map_or(Ok(MigrationProgress::default()), &mut apply)?;
            Ok(Held { moving, started: 0, is_holding: true })
        };
        self.attend(job, who, incarnation, apply)
    }

    /// The same for a host of an elastic job, which also says how far it is. It is told `None` when it is not
    /// of the run any more.
    ///
    /// # Errors
    /// As [`follow`](Self::follow).
    pub fn attend(
        &self,
        job: JobId,
        who: &str,
        incarnation: Incarnation,
        apply: impl FnMut(Option<&Instruction>) -> Result<Held, NotDone> + Send + 'static,
    ) -> io::Result<Option<Following>> {
        let Self::Controller { address, security, .. } = self else { return Ok(None) };
        let follower = Follower {
            address: address.clone(),
            security: security.clone(),
            job,
            role: who.to_owned(),
            incarnation,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let follow = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = follower.run(apply) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = thread::Builder::new().name("inart-follow".into()).spawn(follow)?;
        Ok(Some(Following { stop: Some(stop), thread: Some(thread) }))
    }
}

/// Failures since a host followed last.
#[derive(Debug, Default)]
struct Failures {
    /// Whether the host follows, or did until its connection ended.
    follows: bool,
    said: String,
}

impl Failures {
    /// The host follows.
    fn end(&mut self) {
        (self.follows, self.said) = (true, String::new());
    }

    /// Whether to warn of a failure: once of each cause. The end of a connection that worked is no cause yet:
    /// the controller closes those of a stopped process, and a host that runs again may find that its job has
    /// been aborted, or connects at once.
    fn is_said(&mut self, why: &str) -> bool {
        if std::mem::take(&mut self.follows) || self.said == why {
            return false;
        }
        why.clone_into(&mut self.said);
        true
    }
}

/// Who follows whom.
struct Follower {
    address: String,
    security: Security,
    job: JobId,
    role: String,
    incarnation: Incarnation,
}

impl Follower {
    /// Follows until the host has ended. A failure is tried again, and logged as [`Failures`] have it.
    async fn run(&self, mut apply: impl FnMut(Option<&Instruction>) -> Result<Held, NotDone>) {
        let (mut pause, mut failures) = (FIRST_PAUSE, Failures::default());
        loop {
            let why = match self.follow(&mut apply, &mut pause, &mut failures).await {
                Ok(()) => return,
                Err(error) => error.to_string(),
            };
            match failures.is_said(&why) {
                true => tracing::warn!(role = self.role, "watch of plans interrupted: {why}"),
                false => tracing::debug!(role = self.role, "reconnecting: {why}"),
            }
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Follows until the host or the connection has ended.
    async fn follow(
        &self,
        apply: &mut impl FnMut(Option<&Instruction>) -> Result<Held, NotDone>,
        pause: &mut Duration,
        failures: &mut Failures,
    ) -> Result<(), ClientError> {
        let controller = Client::connect(&self.address, &self.security).await?;
        let mut instructions =
            match controller.watch_instructions(self.job, &self.role, self.incarnation).await {
                Err(refused @ ClientError::Refused { .. }) => {
                    return if apply(None) == Err(NotDone::Ended) { Ok(()) } else { Err(refused) };
                }
                answered => answered?,
            };
        let mut told_next = instructions.next().await?;
        while let Some(instruction) = told_next {
            *pause = FIRST_PAUSE;
            failures.end();
            let outcome = match apply(Some(&instruction)) {
                Ok(held) => Ok(held),
                Err(NotDone::Refused(why)) => Err(why),
                Err(NotDone::Ended) => return Ok(()),
            };
            let (plan_version, ending) = (instruction.assignment.plan_version.get(), instruction.ending);
            let step = instruction.step;
            match &outcome {
                Ok(_) if ending == Ending::None => {
                    tracing::info!(role = self.role, plan_version, ?step, "follows")
                }
                Ok(held) => {
                    tracing::info!(
                        role = self.role,
                        plan_version,
                        ?ending,
                        ?held,
                        "notified of the run's end"
                    )
                }
                Err(why) => tracing::warn!(role = self.role, plan_version, "does not follow: {why}"),
            }
            controller.ack_instruction(&self.role, self.incarnation, &instruction, outcome.clone()).await?;
            let Ok(held) = outcome else {
                told_next = instructions.next().await?;
                continue;
            };
            told_next = tokio::select! {
                next = instructions.next() => next?,
                done = self.lag(&controller, &instruction, held, apply) => {
                    if done? == Lag::Ended {
                        return Ok(());
                    }
                    instructions.next().await?
                }
            };
        }
        Err(ClientError::NotYet { address: self.address.clone(), message: "it has ended".to_owned() })
    }

    /// Waits while the host lags behind its servers, and says so when it does no more.
    async fn lag(
        &self,
        controller: &Client,
        instruction: &Instruction,
        mut held: Held,
        apply: &mut impl FnMut(Option<&Instruction>) -> Result<Held, NotDone>,
    ) -> Result<Lag, ClientError> {
        let (mut said, mut results) = (Instant::now(), held.moving.results);
        while held.moving.is_lagging && instruction.step == MigrationStep::Lead {
            tokio::time::sleep(ASK).await;
            let outcome = match apply(Some(instruction)) {
                Ok(now) => Ok(now),
                Err(NotDone::Refused(why)) => Err(why),
                Err(NotDone::Ended) => return Ok(Lag::Ended),
            };
            held = *outcome.as_ref().unwrap_or(&Held::default());
            if !held.moving.is_lagging || held.moving.results != results && said.elapsed() >= SAY {
                (said, results) = (Instant::now(), held.moving.results);
                controller.ack_instruction(&self.role, self.incarnation, instruction, outcome).await?;
            }
        }
        Ok(Lag::Over)
    }
}

/// Why nothing lags any more.
#[derive(Debug, PartialEq, Eq)]
enum Lag {
    /// The host does what it was told.
    Over,
    /// It runs no more.
    Ended,
}

#[cfg(test)]
mod tests {
    use super::Failures;

    #[test]
    fn the_end_of_a_connection_is_said_only_if_it_cannot_be_made_again() {
        let mut failures = Failures::default();
        assert!(failures.is_said("nothing answers"), "it has never followed");
        assert!(!failures.is_said("nothing answers"), "once");
        failures.end();
        assert!(!failures.is_said("broken pipe"), "another attempt comes first");
        assert!(failures.is_said("nothing answers"));
        assert!(failures.is_said("its certificate has expired"));
        failures.end();
        failures.end();
        assert!(!failures.is_said("broken pipe"));
        assert!(failures.is_said("broken pipe"), "twice in a row");
    }
}
