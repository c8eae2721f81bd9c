//! The running processes of a server and its workers.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use inart_order_host::{Job, KeptFile};

use super::absences::Who;
use super::commands::{self, KEPT};
use super::said::{Line, Restart, Said};
use super::setting::{Scheme, Setting};
use super::wiring::OrderWiring;
use crate::child::{Child, Lines};
use crate::clock::monotonic_ns;
use crate::error::Error;
use crate::scratch::Scratch;

/// Who was started again may have come too late to hear of the end, which others hear within this time.
const LONGEST_END: Duration = Duration::from_secs(10);

/// A line: whose process has said it, and how often that had been started again before.
type Heard = (Who, usize, Vec<u8>);

/// Whose process there is, or was.
#[derive(Debug)]
struct Seat {
    /// None while it is gone.
    child: Option<Child>,
    /// How often it was started again.
    starts: usize,
}

/// Running processes; killed when dropped.
pub struct Processes<'a> {
    setting: &'a Setting,
    scheme: &'a Scheme,
    wiring: &'a OrderWiring,
    scratch: &'a Scratch,
    server: Seat,
    workers: Vec<Seat>,
    told: Sender<Heard>,
    lines: Receiver<Heard>,
    said: Said,
    /// Since when the server has counted.
    counted: Option<Instant>,
}

impl<'a> Processes<'a> {
    pub fn start(
        setting: &'a Setting,
        scheme: &'a Scheme,
        wiring: &'a OrderWiring,
        scratch: &'a Scratch,
    ) -> Result<Self, Error> {
        let (told, lines) = mpsc::channel();
        let seat = || Seat { child: None, starts: 0 };
        let mut processes = Processes {
            setting,
            scheme,
            wiring,
            scratch,
            server: seat(),
            workers: setting.job.participants.iter().map(|_| seat()).collect(),
            told,
            lines,
            said: Said::default(),
            counted: None,
        };
        processes.spawn(Who::Server)?;
        (0..processes.workers.len()).try_for_each(|worker| processes.spawn(Who::Worker(worker)))?;
        Ok(processes)
    }

    fn seat(&mut self, who: Who) -> &mut Seat {
        match who {
            Who::Server => &mut self.server,
            Who::Worker(worker) => &mut self.workers[worker],
        }
    }

    fn spawn(&mut self, who: Who) -> Result<(), Error> {
        let starts = self.seat(who).starts;
        let (name, command) = match who {
            Who::Server => {
                let command =
                    commands::server(self.setting, self.scheme, self.wiring, self.scratch, starts > 0);
                (&self.setting.server, command)
            }
            Who::Worker(worker) => {
                let command = commands::worker(self.setting, self.wiring, self.scratch, worker);
                (&self.setting.job.participants[worker].name, command)
            }
        };
        let told = self.told.clone();
        let hear: Lines = Box::new(move |line: &[u8]| drop(told.send((who, starts, line.to_vec()))));
        let child = Child::spawn_heard(&**name, command, hear, heard(name));
        self.seat(who).child = Some(child.map_err(Error::system("start a process"))?);
        Ok(())
    }

    pub fn said(&self) -> &Said {
        &self.said
    }

    /// Whether the server has counted: nobody comes back any more.
    pub fn is_counted(&self) -> bool {
        self.said.counted.is_some()
    }

    /// Ends a process at once, as a crash would. What it has said before counts.
    pub fn kill(&mut self, who: Who) -> Result<(), Error> {
        let seat = self.seat(who);
        let starts = seat.starts;
        // Who has ended by itself was not killed.
        let Some(mut child) = seat.child.take_if(|child| child.is_alive()) else { return Ok(()) };
        child.kill();
        child.hear_out();
        if let Who::Worker(worker) = who {
            self.said.killed.insert((worker, starts));
        }
        self.hear(Duration::ZERO)
    }

    /// Starts a process again that was killed.
    pub fn start_again(&mut self, who: Who) -> Result<(), Error> {
        if self.seat(who).child.is_some() {
            return Ok(());
        }
        self.seat(who).starts += 1;
        match who {
            Who::Server => {
                let kept = self.kept_file().read();
                let kept = kept.map_err(|error| Error::Failed {
                    who: self.setting.server.clone(),
                    why: error.to_string(),
                })?;
                // The first weights are kept, too, and are no version.
                let kept = kept.filter(|kept| kept.version > 0);
                self.said.restarts.push(Restart { at_ns: monotonic_ns(), kept });
            }
            Who::Worker(_) => self.said.returned += 1,
        }
        self.spawn(who)
    }

    fn kept_file(&self) -> KeptFile {
        let job = Job {
            name: self.setting.job.name.clone(),
            server: self.setting.server.clone(),
            workers: self.setting.job.participants.iter().map(|worker| worker.name.clone()).collect(),
            values: self.setting.values(),
        };
        KeptFile::new(&self.scratch.path(KEPT), job.fingerprint())
    }

    /// Takes what processes say for a while.
    pub fn listen(&mut self, time: Duration) -> Result<(), Error> {
        self.hear(time)?;
        let seats = self.workers.iter_mut().chain([&mut self.server]);
        for child in seats.filter_map(|seat| seat.child.as_mut()) {
            if let Err(why) = child.check() {
                return Err(Error::Failed { who: child.name().to_owned(), why });
            }
        }
        if self.is_counted() && self.counted.get_or_insert_with(Instant::now).elapsed() > LONGEST_END {
            let returned = |seat: &(usize, &Seat)| seat.1.starts > 0;
            let late: Vec<_> = self.workers.iter().enumerate().filter(returned).map(|(at, _)| at).collect();
            late.into_iter().try_for_each(|worker| self.kill(Who::Worker(worker)))?;
        }
        Ok(())
    }

    fn hear(&mut self, time: Duration) -> Result<(), Error> {
        let until = Instant::now() + time;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((who, starts, line)) => self.line(who, starts, &line)?,
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(time);
                    return Ok(());
                }
            }
        }
    }

    fn line(&mut self, who: Who, starts: usize, line: &[u8]) -> Result<(), Error> {
        let parsed = serde_json::from_slice(line);
        // A line that a kill has cut off was not said.
        let is_gone = self.seat(who).child.is_none();
        let said = &mut self.said;
        match (who, parsed) {
            (Who::Worker(worker), Ok(Line::Sent(mut sent))) => {
                sent.process = starts;
                said.sent.entry((worker, sent.iteration)).or_default().push(sent);
            }
            (Who::Server, Ok(Line::Pushed(mut pushed))) => {
                pushed.life = starts;
                said.pushed.push(pushed);
            }
            (Who::Server, Ok(Line::Applied(mut applied))) => {
                applied.life = starts;
                said.applied.push(applied);
            }
            (Who::Server, Ok(Line::Pulls(pulls))) => said.pulls.push(pulls),
            (Who::Server, Ok(Line::Gone(gone))) => said.gone.push(gone),
            (Who::Server, Ok(Line::Counted(counted))) => said.counted = Some(counted),
            (_, Ok(Line::Other(value))) => tracing::debug!("{who:?}: {value}"),
            (_, Ok(other)) => tracing::debug!("{who:?}: {other:?}"),
            (_, Err(error)) if is_gone => tracing::debug!("{who:?}: {error}"),
            (_, Err(error)) => {
                let cause = io::Error::other(format!("{error}: {}", String::from_utf8_lossy(line)));
                return Err(Error::System { what: "read what processes say".to_owned(), cause });
            }
        }
        Ok(())
    }

    /// Whether the server has counted, and all workers that are there have ended.
    pub fn are_over(&mut self) -> bool {
        self.is_counted() && !children(&mut self.workers).any(Child::is_alive)
    }

    pub fn end(mut self) -> Result<Said, Error> {
        if !self.are_over() {
            let mut alive =
                children(&mut self.workers).chain(self.server.child.as_mut()).filter_map(|child| {
                    let is_alive = child.is_alive();
                    is_alive.then(|| child.name().to_owned())
                });
            let who = alive.next().unwrap_or_else(|| "the server".to_owned());
            return Err(Error::Failed { who, why: "it did not end".to_owned() });
        }
        children(&mut self.workers).chain(self.server.child.as_mut()).for_each(Child::hear_out);
        self.listen(Duration::from_millis(50))?;
        Ok(self.said)
    }
}

fn children(seats: &mut [Seat]) -> impl Iterator<Item = &mut Child> {
    seats.iter_mut().filter_map(|seat| seat.child.as_mut())
}

fn heard(name: &str) -> Lines {
    let name = name.to_owned();
    Box::new(move |line| tracing::debug!("{name}: {}", String::from_utf8_lossy(line)))
}
