//! Violations of plans.

use std::fmt;

use inart_topologies::one_line;
use inart_topologies::units::display_rate;

/// Violation in a plan. Displays as one line.
#[derive(Debug, Clone, PartialEq)]
pub enum Violation {
    /// The plan is for another topology, or names a job that this one does not have.
    OtherTopology(String),
    /// Invalid name, share, flow, trunk or path.
    Malformed {
        /// The shard, flow or trunk.
        place: String,
        /// Problem.
        problem: String,
    },
    /// More is sent over a resource than it can take.
    Overload {
        /// `link a->b`, `switch v` or `server s`.
        resource: String,
        /// Use at the plan's rate, bit/s.
        used_bps: f64,
        /// Capacity, bit/s.
        capacity_bps: f64,
        /// Jobs that share it, if several plans are checked together; else empty.
        jobs: Vec<String>,
    },
    /// Violation in the plan of one of several jobs.
    Job {
        /// Job.
        job: String,
        /// Violation.
        violation: Box<Violation>,
    },
    /// Number that differs from the one that follows from the plan's flows.
    WrongNumber {
        /// Name of the number.
        what: String,
        /// Number in the plan.
        stated: f64,
        /// Computed number.
        found: f64,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = String::new();
        self.put(&mut words)?;
        f.write_str(&one_line(words))
    }
}

impl Violation {
    fn put(&self, f: &mut impl fmt::Write) -> fmt::Result {
        match self {
            Violation::OtherTopology(what) => {
                write!(f, "{what}; check it against the topology it was made for")
            }
            Violation::Malformed { place, problem } => write!(f, "{place}: {problem}"),
            Violation::Overload { resource, used_bps, capacity_bps, jobs } => {
                let (used, capacity) = (display_rate(*used_bps), display_rate(*capacity_bps));
                write!(f, "{resource}: {used} used of {capacity}")?;
                if jobs.is_empty() { Ok(()) } else { write!(f, " by the jobs {}", jobs.join(", ")) }
            }
            Violation::Job { job, violation } => write!(f, "job {job}: {violation}"),
            Violation::WrongNumber { what, stated, found } => {
                write!(f, "{what}: {stated:.9e} in the plan, {found:.9e} by its flows")
            }
        }
    }
}

/// Violations found so far.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Violation>);

impl Findings {
    pub fn push(&mut self, violation: Violation) {
        self.0.push(violation);
    }

    pub fn wrong(&mut self, place: &str, problem: impl Into<String>) {
        self.push(Violation::Malformed { place: place.to_owned(), problem: problem.into() });
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn all(self) -> Vec<Violation> {
        self.0
    }
}
