//! The processes of sites and their scheduler, and their output.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use inart_report::{Line, SiteEnd, SiteRound};
use inart_simulator_sites::ideal::Knowledge;

use super::certificates::SCHEDULER;
use super::setting::{Setting, Workload};
use super::wiring::{
    SITE_INTERFACE, WideAreaWiring, from_scheduler, listen, neighbors, scheduler_address, site_address,
};
use crate::error::Error;
use crate::machine::crew::{Crew, LONGEST_END, LOOK, PrintedLine};
use crate::machine::scratch::Scratch;

/// Owner of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ProcessId {
    Site(usize),
    Scheduler,
}

/// By round, then by site.
pub type Rounds = BTreeMap<u32, BTreeMap<usize, SiteRound>>;

/// Reports of all processes after their end.
#[derive(Debug)]
pub struct Records {
    pub rounds: Rounds,
    pub counted: Vec<SiteEnd>,
}

impl Records {
    /// Returns the time from a sum to the site's next gradient, the mean of all sites and rounds, in seconds.
    pub fn compute_s(&self) -> f64 {
        let rounds = self.rounds.values().zip(self.rounds.values().skip(1));
        let took = |(round, next): (&BTreeMap<usize, SiteRound>, &BTreeMap<usize, SiteRound>)| {
            let both = round.iter().filter_map(|(site, round)| Some((round, next.get(site)?)));
            both.map(|(round, next)| next.began_ns.saturating_sub(round.ended_ns)).collect::<Vec<_>>()
        };
        let all: Vec<u64> = rounds.flat_map(took).collect();
        all.iter().sum::<u64>() as f64 * 1e-9 / all.len().max(1) as f64
    }
}

/// Running processes; killed when dropped.
#[derive(Debug)]
pub struct Processes {
    sites: usize,
    crew: Crew<ProcessId>,
    rounds: Rounds,
    counted: BTreeMap<usize, SiteEnd>,
}

impl Processes {
    /// Starts the processes; `inside` gives the arguments of a site about its workers, if it has any.
    pub fn start(
        setting: &Setting,
        flags: &[String],
        rounds: u32,
        wiring: &WideAreaWiring,
        scratch: &Scratch,
        inside: &dyn Fn(&str) -> Option<Vec<OsString>>,
    ) -> Result<Self, Error> {
        let mut processes = Self::new(setting);
        let overlay = &setting.overlay;
        let mut command = wiring.scheduler().command(&setting.program);
        command.args(["--json", "scheduler"]).arg(scratch.path("network.yaml"));
        command.args(["--name", SCHEDULER, "--default-rate", &format!("{} bps", setting.prior_bps)]);
        let is_static = setting.knowledge == Knowledge::Static;
        command.args(["--knowledge", if is_static { "static" } else { "passive" }]);
        for (at, name) in overlay.sites().iter().enumerate() {
            command.arg("--peer").arg(format!("{name}={}", from_scheduler(at)));
        }
        common(&mut command, setting, flags, scratch, SCHEDULER);
        processes.crew.start(ProcessId::Scheduler, "scheduler", command)?;
        for (at, name) in overlay.sites().iter().enumerate() {
            let mut command = wiring.site(at).command(&setting.program);
            command.args(["--json", "site"]).arg(scratch.path("network.yaml"));
            command.args(["--name", name, "--seed", &setting.seed.to_string()]);
            command.args(["--rounds", &rounds.to_string()]);
            match (inside(name), setting.workload) {
                (Some(arguments), _) => command.args(arguments),
                (None, Workload::Training { batch }) => command.args(["--batch", &batch.to_string()]),
                (None, Workload::Random) => command.arg("--synthetic"),
            };
            command.arg("--scheduler").arg(format!("{SCHEDULER}={}", scheduler_address(at)));
            for (neighbor, address) in neighbors(overlay, at) {
                command.arg("--peer").arg(format!("{neighbor}={address}"));
            }
            common(&mut command, setting, flags, scratch, name);
            processes.crew.start(ProcessId::Site(at), name, command)?;
        }
        Ok(processes)
    }

    /// A ring by Gloo in place of sites and scheduler.
    pub fn start_ring(
        setting: &Setting,
        python: &Path,
        rounds: u32,
        wiring: &WideAreaWiring,
        scratch: &Scratch,
    ) -> Result<Self, Error> {
        let script = scratch.path("gloo_ring.py");
        std::fs::write(&script, include_str!("gloo_ring.py"))
            .map_err(super::refusal::system("write the ring's program"))?;
        let mut processes = Self::new(setting);
        let (count, values) = (setting.overlay.sites().len(), setting.overlay.jobs()[0].gradient_bytes() / 4);
        for (at, name) in setting.overlay.sites().iter().enumerate() {
            let mut command = wiring.site(at).command(python);
            command.arg(&script).args([at.to_string(), count.to_string(), site_address(0).to_string()]);
            command.args([values.to_string(), rounds.to_string(), setting.seed.to_string()]);
            command.env("GLOO_SOCKET_IFNAME", SITE_INTERFACE).env("OMP_NUM_THREADS", "1");
            processes.crew.start(ProcessId::Site(at), name, command)?;
        }
        Ok(processes)
    }

    fn new(setting: &Setting) -> Self {
        let (rounds, counted) = Default::default();
        Self { sites: setting.overlay.sites().len(), crew: Crew::new(), rounds, counted }
    }

    pub fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    /// Waits until a site has a sum; returns when its round began.
    pub fn wait_for_first_round(&mut self, longest: Duration) -> Result<Instant, Error> {
        let Self { crew, rounds, counted, .. } = self;
        crew.first_time(longest, &mut |line| take(rounds, counted, line))
    }

    /// Reads the processes' output for a while.
    pub fn listen(&mut self, time: Duration) -> Result<(), Error> {
        let Self { crew, rounds, counted, .. } = self;
        crew.listen(time, &mut |line| take(rounds, counted, line).map(drop))
    }

    /// Listens until all sites are over, with a look at the rounds every now and then.
    pub fn listen_to_the_end(
        &mut self,
        longest: Duration,
        look: &mut dyn FnMut(&Rounds) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Self { crew, rounds, counted, sites } = self;
        crew.until(longest, "the end of all rounds", &mut |crew| {
            crew.listen(LOOK, &mut |line| take(rounds, counted, line).map(drop))?;
            look(rounds)?;
            Ok(counted.len() == *sites)
        })
    }

    pub fn are_over(&self) -> bool {
        self.counted.len() == self.sites
    }

    pub fn end(self) -> Result<Records, Error> {
        let Self { crew, mut rounds, mut counted, .. } = self;
        crew.end(LONGEST_END, |who| who != ProcessId::Scheduler, &mut |line| {
            take(&mut rounds, &mut counted, line).map(drop)
        })?;
        Ok(Records { rounds, counted: counted.into_values().collect() })
    }
}

/// Keeps a line; when its round began, if it is of a round.
fn take(
    rounds: &mut Rounds,
    counted: &mut BTreeMap<usize, SiteEnd>,
    PrintedLine { who, line, place, .. }: PrintedLine<ProcessId>,
) -> Result<Option<u64>, Error> {
    match (who, line) {
        (ProcessId::Site(site), Line::Round(round)) => {
            let began_ns = round.began_ns;
            rounds.entry(round.round).or_default().insert(site, round);
            Ok(Some(began_ns))
        }
        (ProcessId::Site(site), Line::SiteEnded(end)) => {
            counted.insert(site, end);
            Ok(None)
        }
        (ProcessId::Scheduler, line @ Line::Offered { .. }) => {
            tracing::debug!("scheduler: {line:?}");
            Ok(None)
        }
        (_, line) => Err(place.unexpected(&line)),
    }
}

fn common(command: &mut Command, setting: &Setting, flags: &[String], scratch: &Scratch, name: &str) {
    command.args(["--listen", &listen().to_string(), "--congestion", &setting.congestion]);
    command.arg("--tls-ca").arg(scratch.path("ca.pem"));
    command.arg("--tls-cert").arg(scratch.path(&format!("{name}.pem")));
    command.arg("--tls-key").arg(scratch.path(&format!("{name}.key")));
    command.args(flags);
}
