//! The controller: `inart controller` as a process of its own.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Command};
use std::time::{Duration, Instant};

use inart_controller::api::{self, proto};
use inart_protocol_aggregation::Assignment;
use inart_tls::Security;
use tokio::runtime::Runtime;

use crate::error::Error;
use crate::machine::child::Child;

/// Longest time for the controller to install plans, or to reconcile a switch that has recovered.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Time between two tries of an unanswered query.
const PAUSE: Duration = Duration::from_millis(20);

/// A running controller.
#[derive(Debug)]
pub struct ControllerProcess {
    program: OsString,
    arguments: Vec<OsString>,
    address: String,
    child: Child,
    /// Kept open: the controller may still write.
    _stdout: BufReader<ChildStdout>,
}

impl ControllerProcess {
    /// Starts a controller with these arguments, which listens on the Unix socket `socket` and installs its
    /// plans under new plan versions.
    pub fn start(program: &Path, socket: &Path, arguments: Vec<OsString>) -> Result<Self, Error> {
        let address = format!("unix:{}", socket.display());
        // Not after a restart: hosts run with the plan versions of that moment.
        let first = [&arguments[..], &["--new-plan-version".into()]].concat();
        let (child, stdout) = spawn(program.as_os_str(), &first, &address)?;
        Ok(Self { program: program.into(), arguments, address, child, _stdout: stdout })
    }

    /// Kills it as a crash would.
    pub fn kill(&mut self) {
        self.child.kill();
    }

    /// Starts it again after it was killed.
    pub fn restart(&mut self) -> Result<(), Error> {
        (self.child, self._stdout) = spawn(&self.program, &self.arguments, &self.address)?;
        Ok(())
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(mut self) {
        self.child.terminate();
        self.child.wait();
    }

    /// Returns its address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Waits until all plans are installed, and returns the assignments of these jobs' hosts.
    pub fn assignments(&mut self, runtime: &Runtime, jobs: &[&str]) -> Result<Vec<Assignment>, Error> {
        let address = self.address.clone();
        let ask = |job: &&str| {
            runtime.block_on(async {
                api::Client::connect(&address, &Security::Local).await?.assignment(job).await
            })
        };
        let give_up = Instant::now() + TIMEOUT;
        loop {
            match jobs.iter().map(ask).collect::<Result<_, api::ClientError>>() {
                Ok(assignments) => return Ok(assignments),
                Err(error) => self.wait(give_up, error.to_string())?,
            }
        }
    }

    /// Returns the controller's status.
    pub fn status(&self, runtime: &Runtime) -> Result<proto::Status, api::ClientError> {
        runtime
            .block_on(async { api::Client::connect(&self.address, &Security::Local).await?.status().await })
    }

    /// Returns the status, and the controller's decisions, oldest first.
    pub fn status_and_decisions(
        &self,
        runtime: &Runtime,
    ) -> Result<(proto::Status, Vec<proto::Decision>), api::ClientError> {
        runtime.block_on(async {
            let client = api::Client::connect(&self.address, &Security::Local).await?;
            Ok((client.status().await?, client.list_decisions().await?))
        })
    }

    /// Waits until every switch is reconciled.
    pub fn settle(&mut self, runtime: &Runtime) -> Result<(), Error> {
        let give_up = Instant::now() + TIMEOUT;
        loop {
            let problem = match self.status(runtime) {
                Err(error) => error.to_string(),
                Ok(status) if !status.installed => "the plans are not installed".to_owned(),
                Ok(status) => match status.switches.iter().find(|s| !s.connected || !s.problem.is_empty()) {
                    None => return Ok(()),
                    Some(switch) => format!("switch {} is not in order: {}", switch.name, switch.problem),
                },
            };
            self.wait(give_up, problem)?;
        }
    }

    /// A pause before the next try; an error if the controller has ended, or it is too late.
    fn wait(&mut self, give_up: Instant, problem: String) -> Result<(), Error> {
        if !self.child.is_alive() {
            return Err(Error::Controller { why: self.child.last_output_of_ended() });
        }
        if Instant::now() > give_up {
            return Err(Error::Failed { who: "the controller".into(), why: problem });
        }
        std::thread::sleep(PAUSE);
        Ok(())
    }
}

fn spawn(
    program: &std::ffi::OsStr,
    arguments: &[OsString],
    address: &str,
) -> Result<(Child, BufReader<ChildStdout>), Error> {
    let mut command = Command::new(program);
    command.arg("controller").args(arguments).args(["--listen", address]);
    let started = Child::spawn("the controller", command).map_err(Error::system("start the controller"));
    let (child, mut stdout) = started?;
    // The controller prints its address, or ends with its reason; `wait` reports the latter.
    let _ = stdout.read_line(&mut String::new());
    Ok((child, stdout))
}
