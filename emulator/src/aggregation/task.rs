//! Tasks of all jobs' hosts, and the commands that start them.

use std::path::{Path, PathBuf};
use std::process::Command;

use inart_controller_api::assignment_to_json;
use inart_protocol_aggregation::Assignment;
use inart_wire::{Rank, ShardId};

use crate::aggregation::options::Options;
use crate::aggregation::program::{Program, Surroundings};
use crate::aggregation::testbed::Testbed;
use crate::aggregation::work::{Work, Workload};
use crate::error::Error;

/// Task of all jobs' workers.
pub enum Task<'a> {
    /// Rounds, by this command's own workers.
    Rounds(Work),
    /// A user's program.
    Program(&'a mut Program),
}

/// Location and job of a host to start.
pub struct HostStart<'a> {
    /// Options of the emulation.
    pub options: &'a Options,
    /// Where.
    pub testbed: &'a Testbed,
    /// The node.
    pub node: &'a str,
    /// Index of its job among the runs.
    pub job: usize,
    /// Assignment of its job's hosts.
    pub assignment: &'a Assignment,
    /// The socket to report at.
    pub report: &'a Path,
}

impl HostStart<'_> {
    /// The command of a parameter server.
    pub fn server(&self, shard: ShardId) -> Command {
        let mut command = self.host("server");
        command.args(["--shard", &shard.to_string()]);
        command
    }

    /// The command of a worker that runs rounds.
    pub fn worker(&self, rank: Rank, work: Work) -> Command {
        let mut command = self.host("worker");
        let seed = self.options.job_seed(self.job).to_string();
        let rounds = work.rounds.to_string();
        command.args(["--rank", &rank.to_string(), "--rounds", &rounds, "--seed", &seed]);
        match work.workload {
            Workload::Train { batch } => command.args(["--train", "digits", "--batch", &batch.to_string()]),
            Workload::AllReduce { values } => command.args(["--all-reduce", &values.to_string()]),
        };
        command
    }

    /// Returns the common part of both commands.
    fn host(&self, what: &str) -> Command {
        let place = self.testbed.host(self.node);
        let mut command: Command = place.namespace.command(&self.options.program);
        let controller = self.testbed.controller_address().expect("plans were installed");
        command.args([what, "--interface", place.interface, "--controller", controller]);
        command.args(["--job", &self.assignment.name]).arg("--report").arg(self.report);
        if let Some(socket) = self.status() {
            command.arg("--status").arg(socket);
        }
        command.args(["--peer-timeout", &format!("{}s", self.options.peer_timeout.as_secs_f64())]);
        command
    }

    /// Returns the socket at which the host reports its state to `inart doctor`.
    fn status(&self) -> Option<PathBuf> {
        let folder = self.options.expose.as_ref()?.join("hosts");
        Some(folder.join(format!("{}.{}.sock", self.node, self.assignment.job)))
    }

    /// The command of a rank of a user's program; `file` has the assignment.
    pub fn rank(&self, rank: Rank, program: &Program, file: &Path) -> Result<Command, Error> {
        let place = self.testbed.host(self.node);
        let mut command = place.namespace.command(program.command.first().expect("it was checked"));
        let first = self.assignment.workers.first().expect("a job has workers");
        let master = self.testbed.host(&first.name).ipv4();
        let surroundings = Surroundings {
            rank: rank.get(),
            ranks: self.assignment.workers.len(),
            master: master.map_err(Error::system(format!("find the address of {}", first.name)))?,
            port: Surroundings::port(self.assignment.plan_version.get(), self.job),
            interface: place.interface,
            assignment: file,
            report: self.report,
            job: &self.assignment.name,
            peer_timeout: self.options.peer_timeout,
            status: self.status(),
        };
        command.args(&program.command[1..]).envs(surroundings.variables());
        command.envs(Surroundings::defaults(|name| std::env::var_os(name).is_some()));
        Ok(command)
    }
}

/// Writes the assignment of a job's hosts into a file in memory, for a user's program.
pub fn write_assignment(testbed: &Testbed, assignment: &Assignment) -> Result<PathBuf, Error> {
    let path =
        testbed.scratch_path(&format!("assignment-{}-{}.json", assignment.job, assignment.plan_version));
    let text = assignment_to_json(assignment) + "\n";
    std::fs::write(&path, text).map_err(Error::system("write an assignment"))?;
    Ok(path)
}
