//! A trial: its events and its outcome.

use std::fmt;
use std::time::Duration;

use inart_planner_aggregation::{Plan, Scheme, alternatives, plan_all};
use inart_topologies::switched::Topology;

use crate::{Error, Tally};

/// Events of controllers and switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A controller starts on a machine, where another may already run.
    Start {
        /// Machine.
        machine: usize,
        /// Whether it has the other plans.
        other_plans: bool,
        /// Whether the machine's clock is behind all others.
        clock_back: bool,
    },
    /// The newest controller of a machine is killed.
    Kill {
        /// Machine.
        machine: usize,
    },
    /// A switch is out of reach; it forwards meanwhile.
    Away {
        /// Switch.
        switch: String,
        /// Affected machine; all if not given.
        of: Option<usize>,
        /// Duration; until all faults end if not given.
        lasts: Option<Duration>,
    },
    /// A switch restarts without program, tables and seen ids.
    Restart {
        /// Switch.
        switch: String,
        /// Time during which it is unreachable.
        lasts: Duration,
    },
    /// A switch refuses one update.
    Refuse {
        /// Switch.
        switch: String,
        /// Number of updates before it.
        after: usize,
        /// Whether it ignores the rest of the batch after the update that it refuses.
        stops: bool,
    },
    /// A switch does not answer; its sessions stay open.
    Stand {
        /// Switch.
        switch: String,
        /// Duration.
        lasts: Duration,
    },
    /// A switch loses some rows.
    Lose {
        /// Switch.
        switch: String,
        /// Each with this probability, in percent.
        percent: u8,
    },
}

/// A fault and when it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time since the start of the trial.
    pub at: Duration,
    /// Fault.
    pub fault: Fault,
}

/// A random run of controllers.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Seed of latencies and of what is drawn while the trial runs.
    pub seed: u64,
    /// The network and its jobs.
    pub topology: Topology,
    /// Planning scheme.
    pub scheme: &'static dyn Scheme,
    /// Chunks in flight.
    pub window_chunks: u32,
    /// Whether switches have no precedences and serve the first client, as over BFRuntime.
    pub first_come: bool,
    /// Whether the controllers of all machines share records.
    pub one_folder: bool,
    /// Interval at which controllers compare the tables of switches.
    pub check_every: Duration,
    /// Time for which a start waits for further switches.
    pub switches_within: Duration,
    /// Events in order of time.
    pub events: Vec<Event>,
}

/// Outcome of a trial.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Reason why the trial failed, if it did.
    pub failure: Option<String>,
    /// Number of faults by kind.
    pub tally: Tally,
    /// Sums compared bit for bit.
    pub sums_checked: u64,
    /// Frames given to a link.
    pub packet_hops: u64,
}

impl Trial {
    /// Returns the plans that controllers start with, and alternative plans for the same jobs, if any exist.
    pub(super) fn plans(&self) -> Result<Vec<Vec<Plan>>, Error> {
        let how = inart_planner_aggregation::Options {
            seed: self.seed,
            // Any plan will do; the best takes long.
            time_left: &|| 0.0,
            ..inart_planner_aggregation::Options::new(self.scheme)
        };
        let plans = plan_all(&self.topology, &how)?;
        let others = alternatives(&self.topology, &plans, self.seed, 1);
        Ok(std::iter::once(plans).chain(others).collect())
    }

    /// The trial with one thing less, for each thing.
    pub(super) fn smaller(&self) -> Vec<Self> {
        let without = |index: usize| {
            let mut smaller = self.clone();
            smaller.events.remove(index);
            smaller
        };
        let simpler = |index: usize| {
            let mut smaller = self.clone();
            let fault = &mut smaller.events[index].fault;
            match fault {
                Fault::Start { other_plans, .. } if *other_plans => *other_plans = false,
                Fault::Start { clock_back, .. } if *clock_back => *clock_back = false,
                Fault::Away { of, .. } if of.is_some() => *of = None,
                Fault::Refuse { after, .. } if *after > 0 => *after /= 2,
                _ => return None,
            }
            Some(smaller)
        };
        let all = 0..self.events.len();
        all.clone().rev().map(without).chain(all.filter_map(simpler)).collect()
    }
}

/// Events, one line each.
impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let serve = if self.first_come { "serve the first client" } else { "obey the greatest id" };
        let records = if self.one_folder { "records in one folder" } else { "records on each machine" };
        let Self { seed, check_every, switches_within, .. } = self;
        let topology = self.topology.name();
        write!(
            f,
            "  seed {seed}: {topology}, switches {serve}, {records}, compared every {check_every:?}, starts wait for \
             switches for {switches_within:?}"
        )?;
        self.events.iter().try_for_each(|event| write!(f, "\n  {event}"))
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.at, self.fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Start { machine, other_plans, clock_back } => {
                let plans = if *other_plans { " with the other plans" } else { "" };
                let clock = if *clock_back { " by a clock that is behind" } else { "" };
                write!(f, "start a controller on machine {machine}{plans}{clock}")
            }
            Fault::Kill { machine } => write!(f, "kill the controller on machine {machine}"),
            Fault::Away { switch, of, lasts } => {
                let of = of.map_or(String::new(), |of| format!(" of machine {of}"));
                let lasts = lasts.map_or("until all faults end".to_owned(), |lasts| format!("for {lasts:?}"));
                write!(f, "switch {switch} is out of reach{of} {lasts}")
            }
            Fault::Restart { switch, lasts } => {
                write!(f, "switch {switch} restarts empty, out of reach for {lasts:?}")
            }
            Fault::Refuse { switch, after, stops } => {
                let stops = if *stops { " and the rest of its batch" } else { "" };
                write!(f, "switch {switch} refuses an update after {after} others{stops}")
            }
            Fault::Stand { switch, lasts } => write!(f, "switch {switch} hangs for {lasts:?}"),
            Fault::Lose { switch, percent } => write!(f, "switch {switch} loses {percent} % of its rows"),
        }
    }
}
