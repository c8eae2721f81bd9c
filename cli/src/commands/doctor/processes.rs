//! Why processes of sites, peers and parameter servers wait: follows each wait to its cause.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use inart_host_agent::status::{ProcessStatus, ProcessWait};
use serde::Serialize;

/// A program that has computed for this long (or as long as a shorter watch) is the cause of a wait, in s.
const COMPUTES_SECONDS: f64 = 2.0;

/// Answer of a process to the doctor, or its silence.
#[derive(Debug, Clone)]
pub enum Answer {
    /// Status of the process, and whether it made progress while the doctor watched.
    Status(ProcessStatus, bool),
    /// Answer without a status: the process has not started its work.
    NotStarted,
    /// No answer, with the reason.
    Silent(String),
}

/// Cause of waits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "cause")]
pub enum Cause {
    /// A process that does not answer on its status socket.
    Silent {
        /// The process.
        process: String,
        /// Reason given by the system.
        why: String,
    },
    /// A process without a status socket here.
    Unknown {
        /// The process.
        process: String,
    },
    /// A process that is running and has not started its work.
    NotBegun {
        /// The process.
        process: String,
    },
    /// Two processes that run and have no connection.
    Disconnected {
        /// The process that waits.
        process: String,
        /// The process at the other end.
        other: String,
        /// Reason of the last failure.
        why: String,
    },
    /// A process whose training program is computing.
    Computing {
        /// The process.
        process: String,
        /// Duration in seconds.
        seconds: u64,
    },
    /// An awaited process that waits for no process.
    Idle {
        /// The process.
        process: String,
        /// Messages that the waiting processes lack.
        why: String,
    },
    /// Processes that wait for each other.
    Circle {
        /// The processes.
        processes: Vec<String>,
    },
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Silent { process, why } => {
                write!(f, "{process} does not answer ({why}): its process is stopped, stuck or dead")
            }
            Cause::Unknown { process } => {
                write!(f, "{process} has no status socket here: start it, or give its socket to the doctor")
            }
            Cause::NotBegun { process } => write!(f, "{process} is running and has not started its work"),
            Cause::Disconnected { process, other, why } => {
                write!(f, "{process} has no connection to {other}, which runs: {why}")
            }
            Cause::Computing { process, seconds } => {
                write!(f, "{process} has been computing for {seconds} s")
            }
            Cause::Idle { process, why } => write!(f, "{process} runs and waits for no other process: {why}"),
            Cause::Circle { processes } => {
                write!(f, "{} wait for each other", processes.join(", "))
            }
        }
    }
}

/// A cause, and the processes that wait because of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The cause.
    #[serde(flatten)]
    pub cause: Cause,
    /// The processes, by name.
    pub waiting: Vec<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause)?;
        match &*self.waiting {
            [] => Ok(()),
            [one] => write!(f, "; {one} waits"),
            all => write!(f, "; {} wait", all.join(", ")),
        }
    }
}

/// Finds the causes for which processes wait. `watch_seconds`: for how long the doctor watched. Waits of a
/// process that made progress in that time are left out.
pub fn examine(answers: &BTreeMap<String, Answer>, watch_seconds: f64) -> Vec<Finding> {
    let examiner = Examiner { answers, computes: COMPUTES_SECONDS.min(watch_seconds) };
    let mut found: BTreeMap<Cause, BTreeSet<String>> = BTreeMap::new();
    for (name, one) in answers {
        let Answer::Status(status, false) = one else { continue };
        if status.waits.is_empty() {
            continue;
        }
        let mut seen = BTreeSet::new();
        let mut causes = Vec::new();
        examiner.follow(name, &mut seen, &mut causes);
        if causes.is_empty() {
            causes.push(Cause::Circle { processes: seen.into_iter().collect() });
        }
        for cause in causes {
            found.entry(cause).or_default().insert(name.clone());
        }
    }
    for (name, one) in answers {
        if let Answer::Silent(why) = one {
            found.entry(Cause::Silent { process: name.clone(), why: why.clone() }).or_default();
        }
    }
    found
        .into_iter()
        .map(|(cause, waiting)| Finding { cause, waiting: waiting.into_iter().collect() })
        .collect()
}

struct Examiner<'a> {
    answers: &'a BTreeMap<String, Answer>,
    /// Shortest computation that counts as a cause, in seconds.
    computes: f64,
}

impl Examiner<'_> {
    /// Adds the causes for which `name` waits. `seen`: processes that were visited before.
    fn follow(&self, name: &str, seen: &mut BTreeSet<String>, causes: &mut Vec<Cause>) {
        if !seen.insert(name.to_owned()) {
            return;
        }
        let Some(Answer::Status(status, _)) = self.answers.get(name) else { return };
        for wait in &status.waits {
            match self.cause(name, wait) {
                Some(cause) => causes.push(cause),
                None => self.follow(&wait.on, seen, causes),
            }
        }
    }

    /// Returns the cause of one wait; `None` if the awaited process waits itself.
    fn cause(&self, name: &str, wait: &ProcessWait) -> Option<Cause> {
        let process = wait.on.clone();
        let status = match self.answers.get(&wait.on) {
            None => return Some(Cause::Unknown { process }),
            Some(Answer::Silent(why)) => return Some(Cause::Silent { process, why: why.clone() }),
            Some(Answer::NotStarted) => return Some(Cause::NotBegun { process }),
            Some(Answer::Status(status, _)) => status,
        };
        if wait.disconnected {
            let why = wait.why.clone();
            return Some(Cause::Disconnected { process: name.to_owned(), other: process, why });
        }
        match status.computing_seconds {
            Some(seconds) if seconds >= self.computes => {
                Some(Cause::Computing { process, seconds: seconds as u64 })
            }
            _ if status.waits.is_empty() => Some(Cause::Idle { process, why: wait.why.clone() }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(on: &[&str]) -> Answer {
        let waits = on.iter().map(|on| ProcessWait {
            on: (*on).into(),
            why: "no chunks of round 7".into(),
            seconds: 9.0,
            disconnected: false,
        });
        Answer::Status(ProcessStatus { waits: waits.collect(), ..ProcessStatus::default() }, false)
    }

    fn computes(seconds: f64) -> Answer {
        Answer::Status(ProcessStatus { computing_seconds: Some(seconds), ..ProcessStatus::default() }, false)
    }

    fn found(answers: &[(&str, Answer)]) -> Vec<String> {
        let answers = answers.iter().map(|(name, answers)| ((*name).to_owned(), answers.clone())).collect();
        examine(&answers, 2.0).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn waits_are_followed_to_the_process_that_does_not_answer() {
        let answers = [
            ("n1", waits(&["n2"])),
            ("n2", waits(&["n3"])),
            ("n3", Answer::Silent("no answer within 1s".into())),
        ];
        assert_eq!(
            found(&answers),
            ["n3 does not answer (no answer within 1s): its process is stopped, stuck or dead; n1, n2 wait"]
        );
    }

    #[test]
    fn a_process_without_a_socket_is_named() {
        let said = found(&[("w1", waits(&["s"])), ("s", waits(&["w2"]))]);
        assert_eq!(
            said,
            ["w2 has no status socket here: start it, or give its socket to the doctor; s, w1 wait"]
        );
    }

    #[test]
    fn a_process_that_has_not_begun_is_named_if_others_wait_for_it() {
        assert_eq!(
            found(&[("w1", waits(&["s"])), ("s", Answer::NotStarted)]),
            ["s is running and has not started its work; w1 waits"]
        );
        assert!(found(&[("s", Answer::NotStarted)]).is_empty());
    }

    #[test]
    fn a_program_is_the_cause_only_if_it_has_computed_as_long_as_the_doctor_watched() {
        let long = found(&[("n1", waits(&["n2"])), ("n2", computes(40.0))]);
        assert_eq!(long, ["n2 has been computing for 40 s; n1 waits"]);
        let short = found(&[("n1", waits(&["n2"])), ("n2", computes(0.5))]);
        assert_eq!(short, ["n2 runs and waits for no other process: no chunks of round 7; n1 waits"]);
    }

    #[test]
    fn processes_that_run_without_a_connection_are_both_named() {
        let Answer::Status(mut status, _) = waits(&["n2"]) else { unreachable!() };
        status.waits[0].disconnected = true;
        status.waits[0].why = "the certificate has expired".into();
        let said = found(&[("n1", Answer::Status(status, false)), ("n2", waits(&["n1"]))]);
        assert_eq!(
            said,
            ["n1 has no connection to n2, which runs: the certificate has expired; n1, n2 wait"]
        );
    }

    #[test]
    fn processes_that_wait_for_each_other_are_a_circle() {
        let said = found(&[("a", waits(&["b"])), ("b", waits(&["a"]))]);
        assert_eq!(said, ["a, b wait for each other; a, b wait"]);
    }

    #[test]
    fn a_process_that_makes_progress_is_not_reported() {
        let Answer::Status(status, _) = waits(&["n2"]) else { unreachable!() };
        assert!(found(&[("n1", Answer::Status(status, true)), ("n2", computes(40.0))]).is_empty());
    }
}
