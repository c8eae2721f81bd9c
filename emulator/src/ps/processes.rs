//! The running processes of a server and its workers.

use std::time::{Duration, Instant};

use inart_ps_host::{CheckpointFile, Job};
use inart_report::{Line, monotonic_ns};

use super::commands::{self, KEPT};
use super::faults::ProcessId;
use super::records::{Moment, OfIncarnation, Records, Restart};
use super::setting::{Scheme, Setting};
use super::wiring::PsWiring;
use crate::error::Error;
use crate::machine::crew::{Crew, LONGEST_END, LOOK, PrintedLine};
use crate::machine::scratch::Scratch;

/// Longest time for restarted workers to end after the server has: one may have arrived too late for the
/// server's last message.
const LONGEST_LATE: Duration = Duration::from_secs(10);

/// Running processes; killed when dropped.
pub struct Processes<'a> {
    setting: &'a Setting,
    scheme: &'a Scheme,
    wiring: &'a PsWiring,
    scratch: &'a Scratch,
    crew: Crew<ProcessId>,
    records: Records,
    /// Since when the server has counted.
    counted: Option<Instant>,
}

impl<'a> Processes<'a> {
    pub fn start(
        setting: &'a Setting,
        scheme: &'a Scheme,
        wiring: &'a PsWiring,
        scratch: &'a Scratch,
    ) -> Result<Self, Error> {
        let (crew, records) = (Crew::new(), Records::default());
        let mut processes = Processes { setting, scheme, wiring, scratch, crew, records, counted: None };
        processes.spawn(ProcessId::Server, false)?;
        processes.workers().try_for_each(|worker| processes.spawn(worker, false))?;
        Ok(processes)
    }

    fn workers(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.setting.job.participants.len()).map(ProcessId::Worker)
    }

    fn spawn(&mut self, who: ProcessId, is_again: bool) -> Result<(), Error> {
        let Processes { setting, scheme, wiring, scratch, .. } = *self;
        let (name, command) = match who {
            ProcessId::Server => {
                (&setting.server, commands::server(setting, scheme, wiring, scratch, is_again))
            }
            ProcessId::Worker(worker) => {
                let command = commands::worker(setting, wiring, scratch, worker);
                (&setting.job.participants[worker].name, command)
            }
        };
        self.crew.start(who, name, command)
    }

    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Returns whether the server has counted: no process rejoins after that.
    pub fn is_counted(&self) -> bool {
        self.records.counted.is_some()
    }

    /// Ends a process at once, as a crash would. Its earlier lines count.
    pub fn kill(&mut self, who: ProcessId) -> Result<(), Error> {
        // A process that has ended by itself was not killed.
        let Some(incarnation) = self.crew.kill(who) else { return Ok(()) };
        if let ProcessId::Worker(worker) = who {
            self.records.killed.insert((worker, incarnation));
        }
        let Self { crew, records, .. } = self;
        crew.listen(Duration::ZERO, &mut |line| records.take(line))
    }

    /// Starts a process again that was killed.
    pub fn start_again(&mut self, who: ProcessId) -> Result<(), Error> {
        if !self.crew.is_killed(who) {
            return Ok(());
        }
        match who {
            ProcessId::Server => {
                let kept = self.kept_file().read();
                let kept = kept.map_err(|error| Error::Failed {
                    who: self.setting.server.clone(),
                    why: error.to_string(),
                })?;
                // The first weights are kept, too, and are no version.
                let kept = kept.filter(|kept| kept.version > 0);
                self.records.restarts.push(Restart { at_ns: monotonic_ns(), kept });
            }
            ProcessId::Worker(_) => self.records.returned += 1,
        }
        self.spawn(who, true)
    }

    fn kept_file(&self) -> CheckpointFile {
        let job = Job {
            name: self.setting.job.name.clone(),
            server: self.setting.server.clone(),
            workers: self.setting.job.participants.iter().map(|worker| worker.name.clone()).collect(),
            values: self.setting.values(),
        };
        CheckpointFile::new(&self.scratch.path(KEPT), job.fingerprint())
    }

    /// Listens until the server has counted and all workers that are there have ended. `look` may change
    /// processes every now and then.
    pub fn listen_to_the_end(
        &mut self,
        longest: Duration,
        look: &mut dyn FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let began = Instant::now();
        while !self.are_over() {
            let Self { crew, records, .. } = self;
            crew.listen(LOOK, &mut |line| records.take(line))?;
            self.end_late()?;
            look(self)?;
            self.crew.in_time(began, longest, "the end of the training")?;
        }
        Ok(())
    }

    /// Ends restarted workers that have not received the server's last message.
    fn end_late(&mut self) -> Result<(), Error> {
        if self.is_counted() && self.counted.get_or_insert_with(Instant::now).elapsed() > LONGEST_LATE {
            let late: Vec<ProcessId> = self.workers().filter(|who| self.crew.incarnation(*who) > 0).collect();
            late.into_iter().try_for_each(|worker| self.kill(worker))?;
        }
        Ok(())
    }

    fn are_over(&mut self) -> bool {
        self.is_counted() && !self.workers().any(|worker| self.crew.is_running(worker))
    }

    pub fn end(self) -> Result<Records, Error> {
        let Self { crew, mut records, .. } = self;
        crew.end(LONGEST_END, |who| who != ProcessId::Server, &mut |line| records.take(line))?;
        Ok(records)
    }
}

impl Records {
    /// Keeps a line.
    fn take(
        &mut self,
        PrintedLine { who, incarnation, line, place }: PrintedLine<ProcessId>,
    ) -> Result<(), Error> {
        match (who, line) {
            (ProcessId::Worker(worker), Line::WorkerSent(event)) => {
                let copies = self.sent.entry((worker, event.iteration)).or_default();
                copies.push(OfIncarnation { incarnation, event });
            }
            (ProcessId::Server, Line::Pushed(event)) => {
                self.pushed.push(OfIncarnation { incarnation, event })
            }
            (ProcessId::Server, Line::Applied(event)) => {
                self.applied.push(OfIncarnation { incarnation, event })
            }
            (ProcessId::Server, Line::Pulls { pulls: worker, at_ns, .. }) => {
                self.pulls.push(Moment { worker, at_ns });
            }
            (ProcessId::Server, Line::Gone { gone: worker, at_ns }) => {
                self.gone.push(Moment { worker, at_ns })
            }
            (ProcessId::Server, Line::PsServerEnded(end)) => self.counted = Some(*end),
            (ProcessId::Worker(_), line @ Line::PsWorkerEnded(_))
            | (
                ProcessId::Server,
                line @ (Line::Resumed { .. }
                | Line::Joined { .. }
                | Line::Rejected { .. }
                | Line::LeavesOut { .. }
                | Line::Discarded { .. }),
            ) => tracing::debug!("{who:?}: {line:?}"),
            (_, line) => return Err(place.unexpected(&line)),
        }
        Ok(())
    }
}
