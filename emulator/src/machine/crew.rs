//! A crew: the processes of an emulated system, the lines that they print, and how they end.

use std::collections::BTreeMap;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use inart_report::{LINE_BYTES, Line, LineError, monotonic_ns, shown};

use crate::error::Error;
use crate::machine::child::{Child, Lines};

/// Time that a look at the processes takes while a wait lasts.
pub const LOOK: Duration = Duration::from_millis(50);
/// Longest time from the last line of a process to its end.
pub const LONGEST_END: Duration = Duration::from_secs(60);

/// A line and the process that printed it.
#[derive(Debug)]
pub struct PrintedLine<W> {
    /// The process.
    pub who: W,
    /// Earlier starts of the process.
    pub incarnation: usize,
    /// The line.
    pub line: Line,
    /// The line's place, for errors.
    pub place: Location,
}

/// The place of a line.
#[derive(Debug)]
pub struct Location {
    /// The process's name.
    name: String,
    /// The line's number since the process started, from 1.
    number: usize,
}

impl Location {
    /// Returns the error of an event that a process of this kind does not print.
    pub fn unexpected(self, line: &Line) -> Error {
        self.error("is of another kind of process", line.to_json().as_bytes())
    }

    fn error(self, problem: &str, text: &[u8]) -> Error {
        let why = format!(
            "line {} of its output {problem}: {}; run one version of inart everywhere",
            self.number,
            shown(text)
        );
        Error::Failed { who: self.name, why }
    }
}

/// The bytes of a line: the process, its earlier starts, and the line's number since the process started.
type Printed<W> = (W, usize, usize, Vec<u8>);

/// A process, or a killed one that may start again.
#[derive(Debug)]
struct Process {
    name: String,
    /// `None` after a kill.
    child: Option<Child>,
    /// Earlier starts.
    incarnation: usize,
}

/// Running processes, named by `W`, which print [`Line`]s; killed when dropped.
#[derive(Debug)]
pub struct Crew<W> {
    processes: BTreeMap<W, Process>,
    sender: Sender<Printed<W>>,
    lines: Receiver<Printed<W>>,
    /// Whether every process had ended at the last look of a wait.
    have_ended: bool,
}

impl<W: Copy + Ord + Send + 'static> Default for Crew<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: Copy + Ord + Send + 'static> Crew<W> {
    /// Returns a crew without processes.
    pub fn new() -> Self {
        let (sender, lines) = mpsc::channel();
        Self { processes: BTreeMap::new(), sender, lines, have_ended: false }
    }

    /// Starts a process, or a killed one again.
    ///
    /// # Errors
    /// A refusal of the system, with the process's name.
    pub fn start(&mut self, who: W, name: &str, command: Command) -> Result<(), Error> {
        let incarnation = self.processes.get(&who).map_or(0, |process| process.incarnation + 1);
        let (sender, mut number) = (self.sender.clone(), 0);
        let lines: Lines = Box::new(move |line| {
            number += 1;
            drop(sender.send((who, incarnation, number, line.to_vec())));
        });
        let named = name.to_owned();
        let errors: Lines =
            Box::new(move |line| tracing::debug!("{named}: {}", String::from_utf8_lossy(line)));
        let child = Child::spawn_captured(name, command, (lines, LINE_BYTES), errors);
        let child = child.map_err(Error::system(format!("start {name}")))?;
        self.processes.insert(who, Process { name: name.to_owned(), child: Some(child), incarnation });
        Ok(())
    }

    /// Ends a process at once, as a crash would. Its earlier lines are still heard. Returns how often the
    /// process had been started before; `None` if it does not run.
    pub fn kill(&mut self, who: W) -> Option<usize> {
        let process = self.processes.get_mut(&who)?;
        let mut child = process.child.take_if(|child| child.is_alive())?;
        child.kill();
        child.read_all();
        Some(process.incarnation)
    }

    /// Returns whether the process was killed and not started again.
    pub fn is_killed(&self, who: W) -> bool {
        self.processes.get(&who).is_some_and(|process| process.child.is_none())
    }

    /// Earlier starts of a process.
    pub fn incarnation(&self, who: W) -> usize {
        self.processes.get(&who).map_or(0, |process| process.incarnation)
    }

    /// Returns whether a process runs.
    pub fn is_running(&mut self, who: W) -> bool {
        self.processes.get_mut(&who).and_then(|process| process.child.as_mut()).is_some_and(Child::is_alive)
    }

    /// Hears lines for a while, then looks whether a process has failed.
    ///
    /// # Errors
    /// A process that failed, with its last output; a line that cannot be read; an error of `on_line`.
    pub fn listen(
        &mut self,
        time: Duration,
        on_line: &mut dyn FnMut(PrintedLine<W>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.on_line(time, on_line)?;
        self.check()
    }

    /// Hears lines for a while.
    fn on_line(
        &mut self,
        time: Duration,
        on_line: &mut dyn FnMut(PrintedLine<W>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let until = Instant::now() + time;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(printed) => self.read(printed)?.map_or(Ok(()), &mut *on_line)?,
                // The crew has a sender itself: the channel stays open.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// The line as an event; `None` if a kill has cut it off.
    fn read(&self, (who, incarnation, number, text): Printed<W>) -> Result<Option<PrintedLine<W>>, Error> {
        let process = self.processes.get(&who);
        let place =
            Location { name: process.map_or_else(String::new, |process| process.name.clone()), number };
        let error = match Line::read(&text) {
            Ok(line) => return Ok(Some(PrintedLine { who, incarnation, line, place })),
            Err(error) => error,
        };
        let was_killed =
            process.is_some_and(|process| process.child.is_none() || process.incarnation > incarnation);
        if was_killed && matches!(error, LineError::Truncated) {
            tracing::debug!("a kill cut off line {number} of {}: {}", place.name, shown(&text));
            return Ok(None);
        }
        Err(place.error(&format!("is not a line of a host process ({error})"), &text))
    }

    fn check(&mut self) -> Result<(), Error> {
        for child in self.processes.values_mut().filter_map(|process| process.child.as_mut()) {
            child.check().map_err(|why| Error::Failed { who: child.name().to_owned(), why })?;
        }
        Ok(())
    }

    /// Repeats `step`, which listens, until it returns true. `what` names what is waited for.
    ///
    /// # Errors
    /// Errors of `step`; the names of the processes that still run when `longest` is over; of all if every
    /// process ended before.
    pub fn until(
        &mut self,
        longest: Duration,
        what: &str,
        step: &mut dyn FnMut(&mut Self) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        let began = Instant::now();
        while !step(self)? {
            self.in_time(began, longest, what)?;
        }
        Ok(())
    }

    /// Ends a wait for `what` that has lasted too long, or whose processes have all ended. Call it after each
    /// look at lines.
    ///
    /// # Errors
    /// The names of the processes that still run after `longest`; of all processes if every one has ended.
    pub fn in_time(&mut self, began: Instant, longest: Duration, what: &str) -> Result<(), Error> {
        let had_ended = std::mem::replace(&mut self.have_ended, false);
        self.have_ended = self.have_all_ended();
        // Between two looks all lines of ended processes were heard.
        if had_ended && self.have_ended {
            return Err(Error::Failed { who: self.names(false), why: format!("ended before {what}") });
        }
        if began.elapsed() <= longest {
            return Ok(());
        }
        let running = self.names(true);
        let who = if running.is_empty() { self.names(false) } else { running };
        let why = format!("no sign of {what} within {} s", longest.as_secs_f64());
        Err(Error::Failed { who, why })
    }

    /// Waits for the first line from which `began_ns` takes a time; returns when that was.
    ///
    /// # Errors
    /// Those of [`until`](Self::until) and of `on_line`.
    pub fn first_time(
        &mut self,
        longest: Duration,
        on_line: &mut dyn FnMut(PrintedLine<W>) -> Result<Option<u64>, Error>,
    ) -> Result<Instant, Error> {
        let mut first: Option<u64> = None;
        self.until(longest, "a first round", &mut |crew| {
            crew.listen(LOOK, &mut |line| {
                let began_ns = on_line(line)?;
                first = first.into_iter().chain(began_ns).min();
                Ok(())
            })?;
            Ok(first.is_some())
        })?;
        let ago = monotonic_ns().saturating_sub(first.unwrap_or_default());
        Ok(Instant::now() - Duration::from_nanos(ago))
    }

    /// Waits until every process of `must_end` has ended, hears what is left, and returns how all ended that
    /// did so by themselves. The others are killed.
    ///
    /// # Errors
    /// Processes that run for longer than `longest`, or that failed; an error of `on_line`.
    pub fn end(
        mut self,
        longest: Duration,
        must_end: impl Fn(W) -> bool,
        on_line: &mut dyn FnMut(PrintedLine<W>) -> Result<(), Error>,
    ) -> Result<BTreeMap<W, ExitStatus>, Error> {
        let deadline = Instant::now() + longest;
        loop {
            let processes = self.processes.iter_mut().filter(|(who, _)| must_end(**who));
            let children = processes.filter_map(|(_, process)| process.child.as_mut());
            let running: Vec<String> =
                children.filter_map(|child| child.is_alive().then(|| child.name().to_owned())).collect();
            if running.is_empty() {
                break;
            }
            if Instant::now() > deadline {
                let why = format!("did not end within {} s after the last line", longest.as_secs_f64());
                return Err(Error::Failed { who: running.join(", "), why });
            }
            self.listen(LOOK, on_line)?;
        }
        let mut exits = BTreeMap::new();
        for (who, process) in &mut self.processes {
            let Some(child) = &mut process.child else { continue };
            let Ok(Some(status)) = child.ended() else { continue };
            child.read_all();
            exits.insert(*who, status);
        }
        self.listen(Duration::ZERO, on_line)?;
        Ok(exits)
    }

    /// Returns whether every process has ended by itself. All lines of those are then ready to be read.
    fn have_all_ended(&mut self) -> bool {
        let mut ended = !self.processes.is_empty();
        for process in self.processes.values_mut() {
            // A killed process may start again.
            ended &= process.child.as_mut().is_some_and(|child| !child.is_alive());
        }
        if ended {
            self.processes
                .values_mut()
                .filter_map(|process| process.child.as_mut())
                .for_each(Child::read_all);
        }
        ended
    }

    fn names(&mut self, are_running: bool) -> String {
        let processes = self.processes.values_mut().filter_map(|process| {
            let is_running = process.child.as_mut().is_some_and(Child::is_alive);
            (is_running || !are_running).then(|| process.name.clone())
        });
        processes.collect::<Vec<_>>().join(", ")
    }
}
