//! A trial: what happens when, and what it came to.

use std::fmt;
use std::time::Duration;

use inart_planner_aggregation::{Plan, Scheme, alternatives, plan_all};
use inart_topologies::switched::Topology;

use crate::{Error, Tally};

/// Events of controllers and switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A controller starts on a machine, also beside one that runs there or elsewhere.
    Start {
        /// The machine.
        machine: usize,
        /// Whether it has the other plans.
        other_plans: bool,
        /// Whether the machine's clock is behind those of all others.
        clock_back: bool,
    },
    /// The newest controller of a machine is killed.
    Kill {
        /// The machine.
        machine: usize,
    },
    /// A switch is out of reach; it forwards meanwhile.
    Away {
        /// The switch.
        switch: String,
        /// Of the controllers of that machine only.
        of: Option<usize>,
        /// For how long; until all faults end if not given.
        lasts: Option<Duration>,
    },
    /// A switch restarts, and has lost program, tables and the ids that it had seen.
    Restart {
        /// The switch.
        switch: String,
        /// For how long it is out of reach.
        lasts: Duration,
    },
    /// A switch refuses one update.
    Refuse {
        /// The switch.
        switch: String,
        /// After so many others.
        after: usize,
        /// Whether it applies nothing of a batch that comes after the update which it refuses.
        stops: bool,
    },
    /// A switch answers nothing; its sessions stay.
    Stand {
        /// The switch.
        switch: String,
        /// For how long.
        lasts: Duration,
    },
    /// A switch loses some rows.
    Lose {
        /// The switch.
        switch: String,
        /// Each with this probability, in percent.
        percent: u8,
    },
}

/// A fault and when it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, since the trial began.
    pub at: Duration,
    /// What happens.
    pub fault: Fault,
}

/// A random run of controllers.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Decides latencies and what is drawn while the trial runs.
    pub seed: u64,
    /// The network and its jobs.
    pub topology: Topology,
    /// How they are planned.
    pub scheme: &'static dyn Scheme,
    /// Chunks in flight.
    pub window_chunks: u32,
    /// Whether switches have no precedences and serve the client that came first, as over BFRuntime.
    pub first_come: bool,
    /// Whether the controllers of all machines have the same records.
    pub one_folder: bool,
    /// How often controllers compare what switches hold.
    pub check_every: Duration,
    /// How long a start waits for further switches.
    pub switches_within: Duration,
    /// What happens, in the order of time.
    pub events: Vec<Event>,
}

/// Outcome of a trial.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Why the trial is a failure, if it is one.
    pub failure: Option<String>,
    /// How often each fault happened.
    pub tally: Tally,
    /// Sums compared bit for bit.
    pub sums_checked: u64,
    /// Frames given to a link.
    pub packet_hops: u64,
}

impl Trial {
    /// The plans by which controllers start, and others for the same jobs, if there are such.
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
        let serve = if self.first_come { "serve the client that came first" } else { "obey the greatest id" };
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
                let stops = if *stops { " and what comes after it in its batch" } else { "" };
                write!(f, "switch {switch} refuses an update after {after} others{stops}")
            }
            Fault::Stand { switch, lasts } => write!(f, "switch {switch} stands still for {lasts:?}"),
            Fault::Lose { switch, percent } => write!(f, "switch {switch} loses {percent} % of its rows"),
        }
    }
}
