//! The workers and servers of all running jobs: processes in their hosts' namespaces, and what they report.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{ChildStdout, Command};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use inart_host_agent::report::{self, Report, Reports, Role};
use nix::sys::signal::Signal;

use crate::child::Child;
use crate::error::Error;

/// How often a silent emulation checks that its processes still run.
const TICK: Duration = Duration::from_millis(20);

/// What a reading thread received. The role is unknown if a process failed before it reported its role.
type Heard = io::Result<(Option<Role>, Report)>;

/// The running processes.
pub struct Agents {
    listener: UnixListener,
    sender: mpsc::Sender<Heard>,
    receiver: mpsc::Receiver<Heard>,
    gate: Arc<Gate>,
    children: BTreeMap<Key, (Child, io::BufReader<ChildStdout>)>,
    /// When the last report came.
    heard: Instant,
    /// How long there may be no report.
    peer_timeout: Duration,
}

/// Where workers wait until all of them are there. Workers that began alone would fill the queues with
/// repeats.
#[derive(Debug, Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.is_open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }

    fn wait(&self) {
        let mut is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_open {
            is_open = self.opened.wait(is_open).unwrap_or_else(PoisonError::into_inner);
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
        let gate = Arc::default();
        let (children, heard) = (BTreeMap::new(), Instant::now());
        Ok(Self { listener, sender, receiver, gate, children, heard, peer_timeout })
    }

    /// Lets the workers begin, those that come later as well.
    pub fn begin(&self) {
        self.gate.open();
    }

    /// Starts the process of a role, in place of an earlier one.
    pub fn start(&mut self, role: Role, name: String, command: Command) -> Result<(), Error> {
        let what = format!("start {name}");
        self.children.insert(key(role), Child::spawn(name, command).map_err(Error::system(what))?);
        Ok(())
    }

    /// The next report of any process; `None` if none comes for a moment.
    pub fn next(&mut self) -> Result<Option<(Option<Role>, Report)>, Error> {
        self.accept()?;
        match self.receiver.recv_timeout(TICK) {
            Ok(Ok(heard)) => {
                self.heard = Instant::now();
                Ok(Some(heard))
            }
            Ok(Err(error)) => Err(Error::system("read a report")(error)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
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

    /// The last output of a process that has failed; `None` for others.
    pub fn last_output(&mut self, role: Role) -> Option<String> {
        let (child, _) = self.children.get_mut(&key(role))?;
        child.check().is_err().then(|| child.last_output_of_ended())
    }

    /// What a process is called in messages.
    pub fn name(&self, role: Role) -> String {
        self.children
            .get(&key(role))
            .map_or_else(|| format!("{role:?}"), |(child, _)| child.name().to_owned())
    }

    fn accept(&self) -> Result<(), Error> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    let (sender, gate) = (self.sender.clone(), Arc::clone(&self.gate));
                    // Ends with its connection, or when nobody listens any more.
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
        self.gate.open(); // for the threads that wait there
    }
}

/// Passes on the reports of one connection, and lets a worker begin once the gate is open.
fn read(stream: UnixStream, sender: &mpsc::Sender<Heard>, gate: &Gate) {
    let writer = match stream.set_nonblocking(false).and_then(|()| stream.try_clone()) {
        Ok(writer) => writer,
        Err(error) => {
            let _ = sender.send(Err(error)); // fails only when nobody listens any more
            return;
        }
    };
    let mut speaker = None;
    for report in Reports::new(stream) {
        let heard = report.and_then(|report| {
            if let Report::Hello(role) = &report {
                speaker = Some(*role);
            }
            match speaker {
                None if !matches!(report, Report::Failed { .. }) => {
                    Err(io::Error::other("it comes from somebody who did not say hello"))
                }
                speaker => Ok((speaker, report)),
            }
        });
        let is_last = heard.is_err();
        let begins = matches!(&heard, Ok((_, Report::Hello(Role::Worker(..)))));
        if sender.send(heard).is_err() || is_last {
            return;
        }
        if begins {
            gate.wait();
            let _ = report::start(&writer); // a worker that is gone has not to begin
        }
    }
}
