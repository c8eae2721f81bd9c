//! Thread of a running host that watches the controller's instructions, applies and acknowledges them.

use std::io;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use inart_protocol_aggregation::{MigrationProgress, MigrationStep};
use inart_tls::Security;
use inart_wire::{Incarnation, JobId};
use tokio::sync::oneshot;

use crate::client::{Client, ClientError};
use crate::instruction::{Ending, HostProgress, Instruction, NotDone};
use crate::source::Source;

/// First pause before a reconnection attempt; doubles per attempt, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Interval at which a host that lags behind its servers is polled.
const POLL: Duration = Duration::from_millis(10);
/// Least interval between reports of a lagging host that has got results meanwhile.
const REPORT: Duration = Duration::from_millis(100);

/// Thread that watches a controller for a host. Dropping it ends the thread.
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
    /// Watches the controller for the host that [claimed](Self::claim) role `who` of the job in
    /// `incarnation`, in a thread of its own: applies each instruction with `apply`, and acknowledges it.
    /// Reconnects to a lost controller without a time limit. Returns `None` for a host with an assignment
    /// file, which has no controller.
    ///
    /// # Errors
    /// If the operating system cannot create a thread.
    pub fn follow(
        &self,
        job: JobId,
        who: &str,
        incarnation: Incarnation,
        mut apply: impl FnMut(&Instruction) -> Result<MigrationProgress, NotDone> + Send + 'static,
    ) -> io::Result<Option<Following>> {
        let apply = move |instruction: Option<&Instruction>| {
            let moving = instruction.map_or(Ok(MigrationProgress::default()), &mut apply)?;
            Ok(HostProgress { moving, started: 0, is_holding: true })
        };
        self.attend(job, who, incarnation, apply)
    }

    /// Watches the controller for a host of an elastic job, which also reports its progress. `apply` gets
    /// `None` once the host is no longer in the view.
    ///
    /// # Errors
    /// If the operating system cannot create a thread.
    pub fn attend(
        &self,
        job: JobId,
        who: &str,
        incarnation: Incarnation,
        apply: impl FnMut(Option<&Instruction>) -> Result<HostProgress, NotDone> + Send + 'static,
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

/// Failures since the last instruction.
#[derive(Debug, Default)]
struct Failures {
    /// Whether the host watches instructions, or did until its connection ended.
    follows: bool,
    logged: String,
}

impl Failures {
    /// Clears the failures: an instruction arrived.
    fn end(&mut self) {
        (self.follows, self.logged) = (true, String::new());
    }

    /// Returns whether to warn of a failure: once per cause. The loss of a working connection alone is not
    /// a cause: the controller closes those of a stopped process, and a running host may find its job
    /// aborted, or reconnects at once.
    fn should_log(&mut self, why: &str) -> bool {
        if std::mem::take(&mut self.follows) || self.logged == why {
            return false;
        }
        why.clone_into(&mut self.logged);
        true
    }
}

/// Role of a host and the controller that it watches.
struct Follower {
    address: String,
    security: Security,
    job: JobId,
    role: String,
    incarnation: Incarnation,
}

impl Follower {
    /// Watches until the host has ended. Retries failures, and logs them as [`Failures`] decides.
    async fn run(&self, mut apply: impl FnMut(Option<&Instruction>) -> Result<HostProgress, NotDone>) {
        let (mut pause, mut failures) = (FIRST_PAUSE, Failures::default());
        loop {
            let why = match self.follow(&mut apply, &mut pause, &mut failures).await {
                Ok(()) => return,
                Err(error) => error.to_string(),
            };
            match failures.should_log(&why) {
                true => tracing::warn!(role = self.role, "watch of plans interrupted: {why}"),
                false => tracing::debug!(role = self.role, "reconnecting: {why}"),
            }
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Watches until the host or the connection has ended.
    async fn follow(
        &self,
        apply: &mut impl FnMut(Option<&Instruction>) -> Result<HostProgress, NotDone>,
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
        let mut next_instruction = instructions.next().await?;
        while let Some(instruction) = next_instruction {
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
                        "notified of the view's end"
                    )
                }
                Err(why) => tracing::warn!(role = self.role, plan_version, "does not follow: {why}"),
            }
            controller.ack_instruction(&self.role, self.incarnation, &instruction, outcome.clone()).await?;
            let Ok(held) = outcome else {
                next_instruction = instructions.next().await?;
                continue;
            };
            next_instruction = tokio::select! {
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

    /// Waits while the host lags behind its servers, and reports progress until it has caught up.
    async fn lag(
        &self,
        controller: &Client,
        instruction: &Instruction,
        mut held: HostProgress,
        apply: &mut impl FnMut(Option<&Instruction>) -> Result<HostProgress, NotDone>,
    ) -> Result<Lag, ClientError> {
        let (mut logged, mut results) = (Instant::now(), held.moving.results);
        while held.moving.is_lagging && instruction.step == MigrationStep::Lead {
            tokio::time::sleep(POLL).await;
            let outcome = match apply(Some(instruction)) {
                Ok(now) => Ok(now),
                Err(NotDone::Refused(why)) => Err(why),
                Err(NotDone::Ended) => return Ok(Lag::Ended),
            };
            held = *outcome.as_ref().unwrap_or(&HostProgress::default());
            if !held.moving.is_lagging || held.moving.results != results && logged.elapsed() >= REPORT {
                (logged, results) = (Instant::now(), held.moving.results);
                controller.ack_instruction(&self.role, self.incarnation, instruction, outcome).await?;
            }
        }
        Ok(Lag::Over)
    }
}

/// End of a host's lag.
#[derive(Debug, PartialEq, Eq)]
enum Lag {
    /// Instruction carried out.
    Over,
    /// Host ended.
    Ended,
}

#[cfg(test)]
mod tests {
    use super::Failures;

    #[test]
    fn a_lost_connection_is_logged_only_if_it_cannot_be_made_again() {
        let mut failures = Failures::default();
        assert!(failures.should_log("nothing answers"), "never connected");
        assert!(!failures.should_log("nothing answers"), "once");
        failures.end();
        assert!(!failures.should_log("broken pipe"), "another attempt comes first");
        assert!(failures.should_log("nothing answers"));
        assert!(failures.should_log("its certificate has expired"));
        failures.end();
        failures.end();
        assert!(!failures.should_log("broken pipe"));
        assert!(failures.should_log("broken pipe"), "twice in a row");
    }
}
