//! The workers and servers of all running jobs: processes in their hosts' namespaces, and what they report.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{ChildStdout, Command, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use inart_host_agent::report::{self, Report, Reports, Role};
use inart_wire::JobId;
use nix::sys::signal::Signal;

use crate::error::Error;
use crate::machine::child::{Child, Lines, PIECE_BYTES};

/// Interval at which a silent emulation checks that its processes still run.
const TICK: Duration = Duration::from_millis(20);

/// A message of a reading thread.
enum ThreadMessage {
    /// A report. The role is unknown if a process failed before it reported its role.
    Report(Option<Role>, Report),
    /// The connection was closed.
    Closed(Option<Role>),
}

/// The running processes.
pub struct Agents {
    listener: UnixListener,
    sender: mpsc::Sender<io::Result<ThreadMessage>>,
    receiver: mpsc::Receiver<io::Result<ThreadMessage>>,
    gate: Arc<Gate>,
    children: BTreeMap<Key, (Child, Option<io::BufReader<ChildStdout>>)>,
    /// Number of open connections whose role is unknown.
    strangers: usize,
    /// Roles of the other open connections, each as often as it has connections.
    speakers: Vec<Key>,
    /// Time of the last report.
    heard: Instant,
    /// Longest time without a report.
    peer_timeout: Duration,
}

/// A gate at which a job's workers wait until all of them are connected. Workers that began alone would fill
/// the queues with repeats.
#[derive(Debug, Default)]
struct Gate {
    open: Mutex<Open>,
    opened: Condvar,
}

/// For whom a gate is open.
#[derive(Debug, Default)]
struct Open {
    jobs: BTreeSet<u16>,
    for_all: bool,
}

impl Gate {
    fn open(&self, change: impl FnOnce(&mut Open)) {
        change(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner));
        self.opened.notify_all();
    }

    fn wait(&self, job: JobId) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while !open.for_all && !open.jobs.contains(&job.get()) {
            open = self.opened.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Roles in order: servers of a job after its workers.
type Key = (u16, bool, u16);

fn key(role: Role) -> Key {
    match role {
        Role::Worker(job, rank) => (job.get(), false, rank.get()),
        Role::Server(job, shard) => (job.get(), true, shard.get()),
    }
}

impl Agents {
    /// No process yet. Processes report at `socket`; at least one report has to come within `peer_timeout`.
    pub fn new(socket: &Path, peer_timeout: Duration) -> Result<Self, Error> {
        let listener = UnixListener::bind(socket)
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .map_err(Error::system("open the socket for reports"))?;
        let (sender, receiver) = mpsc::channel();
        Ok(Self {
            listener,
            sender,
            receiver,
            gate: Arc::default(),
            children: BTreeMap::new(),
            strangers: 0,
            speakers: Vec::new(),
            heard: Instant::now(),
            peer_timeout,
        })
    }

    /// Opens the gate of a job, also for workers that arrive later.
    pub fn begin(&self, job: JobId) {
        self.gate.open(|open| {
            open.jobs.insert(job.get());
        });
    }

    /// Starts the process of a role, in place of an earlier one.
    pub fn start(&mut self, role: Role, name: String, command: Command) -> Result<(), Error> {
        let what = format!("start {name}");
        let (child, stdout) = Child::spawn(name, command).map_err(Error::system(what))?;
        self.children.insert(key(role), (child, Some(stdout)));
        Ok(())
    }

    /// Starts a process and captures its output.
    pub fn start_captured(
        &mut self,
        role: Role,
        name: String,
        command: Command,
        [output, errors]: [Lines; 2],
    ) -> Result<(), Error> {
        let what = format!("start {name}");
        let child = Child::spawn_captured(name, command, (output, PIECE_BYTES), errors)
            .map_err(Error::system(what))?;
        self.children.insert(key(role), (child, None));
        Ok(())
    }

    /// The next report of any process; `None` if none comes for a moment.
    pub fn next(&mut self) -> Result<Option<(Option<Role>, Report)>, Error> {
        self.accept()?;
        match self.receiver.recv_timeout(TICK) {
            Ok(Ok(ThreadMessage::Report(role, report))) => {
                self.heard = Instant::now();
                if let Report::Hello(role) = report {
                    self.strangers = self.strangers.saturating_sub(1);
                    self.speakers.push(key(role));
                }
                Ok(Some((role, report)))
            }
            Ok(Ok(ThreadMessage::Closed(None))) => {
                self.strangers = self.strangers.saturating_sub(1);
                Ok(None)
            }
            Ok(Ok(ThreadMessage::Closed(Some(role)))) => {
                if let Some(place) = self.speakers.iter().position(|speaker| *speaker == key(role)) {
                    self.speakers.swap_remove(place);
                }
                Ok(None)
            }
            Ok(Err(error)) => Err(Error::system("read a report")(error)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }

    /// Returns whether all reports of processes of these roles, which have ended, were read.
    pub fn has_read_all(&mut self, roles: &[Role]) -> Result<bool, Error> {
        self.accept()?;
        Ok(self.strangers == 0 && !roles.iter().any(|role| self.speakers.contains(&key(*role))))
    }

    /// An error if a process has failed, or if no report came for too long.
    pub fn check(&mut self) -> Result<(), Error> {
        for (child, _) in self.children.values_mut() {
            child.check().map_err(|why| Error::Failed { who: child.name().to_owned(), why })?;
        }
        if self.heard.elapsed() > self.peer_timeout {
            let (who, seconds) = ("the hosts".into(), self.peer_timeout.as_secs());
            return Err(Error::Failed { who, why: format!("no report for {seconds} s") });
        }
        Ok(())
    }

    /// Asks a process to end, and to report while it does.
    pub fn stop(&self, role: Role) {
        self.signal(role, Signal::SIGTERM);
    }

    /// Sends a process a signal.
    pub fn signal(&self, role: Role, signal: Signal) {
        if let Some((child, _)) = self.children.get(&key(role)) {
            child.signal(signal);
        }
    }

    /// Kills a process; its end does not count as a failure.
    pub fn kill(&mut self, role: Role) {
        if let Some((mut child, _)) = self.children.remove(&key(role)) {
            child.kill();
        }
    }

    /// Returns the exit status of a process, once all its output was read; `None` while it runs.
    pub fn exit_status(&mut self, role: Role) -> Result<Option<ExitStatus>, Error> {
        let Some((child, _)) = self.children.get_mut(&key(role)) else { return Ok(None) };
        let status =
            child.ended().map_err(|cause| Error::system(format!("wait for {}", child.name()))(cause))?;
        if status.is_some() {
            child.read_all();
        }
        Ok(status)
    }

    /// The last output of a process that has failed; `None` for others.
    pub fn last_output(&mut self, role: Role) -> Option<String> {
        let (child, _) = self.children.get_mut(&key(role))?;
        child.check().is_err().then(|| child.last_output_of_ended())
    }

    /// Returns a process' name for messages.
    pub fn name(&self, role: Role) -> String {
        self.children
            .get(&key(role))
            .map_or_else(|| format!("{role:?}"), |(child, _)| child.name().to_owned())
    }

    fn accept(&mut self) -> Result<(), Error> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    self.strangers += 1;
                    let (sender, gate) = (self.sender.clone(), Arc::clone(&self.gate));
                    // Ends with its connection, or when the receiver is dropped.
                    thread::spawn(move || read(stream, &sender, &gate));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(Error::system("accept a report")(error)),
            }
        }
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        self.gate.open(|open| open.for_all = true); // for the threads that wait there
    }
}

/// Forwards the reports of one connection, and opens a worker's gate with its job's.
fn read(stream: UnixStream, sender: &mpsc::Sender<io::Result<ThreadMessage>>, gate: &Gate) {
    let writer = match stream.set_nonblocking(false).and_then(|()| stream.try_clone()) {
        Ok(writer) => writer,
        Err(error) => {
            let _ = sender.send(Err(error)); // fails only when the receiver is dropped
            return;
        }
    };
    let mut speaker = None;
    for report in Reports::new(stream) {
        let heard = match report {
            // Its process was killed while it spoke.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            report => report.and_then(|report| {
                if let Report::Hello(role) = &report {
                    if speaker.is_some() {
                        return Err(io::Error::other("its process sent hello twice"));
                    }
                    speaker = Some(*role);
                }
                match speaker {
                    None if !matches!(report, Report::Failed { .. }) => {
                        Err(io::Error::other("its sender did not send hello"))
                    }
                    speaker => Ok((speaker, report)),
                }
            }),
        };
        let is_last = heard.is_err();
        let begins = match &heard {
            Ok((_, Report::Hello(Role::Worker(job, _)))) => Some(*job),
            _ => None,
        };
        if sender.send(heard.map(|(role, report)| ThreadMessage::Report(role, report))).is_err() || is_last {
            return;
        }
        if let Some(job) = begins {
            gate.wait(job);
            let _ = report::start(&writer); // a worker that is gone has not to begin
        }
    }
    let _ = sender.send(Ok(ThreadMessage::Closed(speaker)));
}
