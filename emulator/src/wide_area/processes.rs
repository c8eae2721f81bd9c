//! The processes of sites and their scheduler, and what they say.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use inart_overlay::Knowledge;
use serde::Deserialize;

use super::certificates::SCHEDULER;
use super::setting::{Setting, Workload};
use super::wiring::{
    SITE_INTERFACE, WideAreaWiring, from_scheduler, listen, neighbours, scheduler_address, site_address,
};
use crate::child::Child;
use crate::clock::monotonic_ns;
use crate::error::Error;
use crate::scratch::Scratch;

/// What a site says about a round.
#[derive(Debug, Clone, Deserialize)]
pub struct SiteRound {
    pub round: u32,
    /// On the system's monotonic clock, in nanoseconds.
    pub began_ns: u64,
    pub ended_ns: u64,
    /// When all workers inside were in all chunks, where there are workers.
    pub own_ns: Option<u64>,
    /// The version of the plan.
    pub version: u64,
    /// SHA-256 of the sum's bits.
    pub sum: String,
}

/// What a site says in the end.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Counted {
    /// Share of test images that the trained model tells rightly; none without training.
    pub accuracy: Option<f64>,
    /// Chunks that it passed on for others.
    pub relayed: u64,
    /// Times that it asked for what it missed.
    pub asks: u64,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Round(SiteRound),
    End(Counted),
}

/// By round, then by site.
pub type Rounds = BTreeMap<u32, BTreeMap<usize, SiteRound>>;

/// What processes have said when all are over.
#[derive(Debug)]
pub struct Said {
    pub rounds: Rounds,
    pub counted: Vec<Counted>,
}

impl Said {
    /// How long a site took from a sum to its next gradient, the mean of all sites and rounds, in seconds.
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
    sites: Vec<Child>,
    _scheduler: Option<Child>,
    lines: Receiver<(usize, Vec<u8>)>,
    rounds: Rounds,
    counted: BTreeMap<usize, Counted>,
}

impl Processes {
    /// `inside`: what a site is told of its workers, if it has any.
    pub fn start(
        setting: &Setting,
        flags: &[String],
        rounds: u32,
        wiring: &WideAreaWiring,
        scratch: &Scratch,
        inside: &dyn Fn(&str) -> Option<Vec<OsString>>,
    ) -> Result<Self, Error> {
        let (told, lines) = mpsc::channel();
        let overlay = &setting.overlay;
        let mut command = wiring.scheduler().command(&setting.program);
        command.arg("scheduler").arg(scratch.path("network.yaml"));
        command.args(["--name", SCHEDULER, "--prior", &format!("{} bps", setting.prior_bps)]);
        let is_static = setting.knowledge == Knowledge::Static;
        command.args(["--knowledge", if is_static { "static" } else { "passive" }]);
        for (at, name) in overlay.sites().iter().enumerate() {
            command.arg("--peer").arg(format!("{name}={}", from_scheduler(at)));
        }
        common(&mut command, setting, flags, scratch, SCHEDULER);
        let start = super::refusal::system("start the scheduler");
        let scheduler =
            Child::spawn_heard("scheduler", command, Box::new(|_| {}), heard("scheduler")).map_err(start)?;
        let mut sites = Vec::new();
        for (at, name) in overlay.sites().iter().enumerate() {
            let mut command = wiring.site(at).command(&setting.program);
            command.args(["--json", "site"]).arg(scratch.path("network.yaml"));
            command.args(["--name", name, "--seed", &setting.seed.to_string()]);
            command.args(["--rounds", &rounds.to_string()]);
            match (inside(name), setting.workload) {
                (Some(arguments), _) => command.args(arguments),
                (None, Workload::Training { batch }) => command.args(["--batch", &batch.to_string()]),
                (None, Workload::Random) => command.arg("--random"),
            };
            command.arg("--scheduler").arg(format!("{SCHEDULER}={}", scheduler_address(at)));
            for (neighbour, address) in neighbours(overlay, at) {
                command.arg("--peer").arg(format!("{neighbour}={address}"));
            }
            common(&mut command, setting, flags, scratch, name);
            let told = told.clone();
            let lines = Box::new(move |line: &[u8]| drop(told.send((at, line.to_vec()))));
            let start = super::refusal::system("start a site");
            sites.push(Child::spawn_heard(name.clone(), command, lines, heard(name)).map_err(start)?);
        }
        let (rounds, counted) = Default::default();
        Ok(Self { sites, _scheduler: Some(scheduler), lines, rounds, counted })
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
        let (told, lines) = mpsc::channel();
        let (count, values) = (setting.overlay.sites().len(), setting.overlay.jobs()[0].gradient_bytes() / 4);
        let mut sites = Vec::new();
        for (at, name) in setting.overlay.sites().iter().enumerate() {
            let mut command = wiring.site(at).command(python);
            command.arg(&script).args([at.to_string(), count.to_string(), site_address(0).to_string()]);
            command.args([values.to_string(), rounds.to_string(), setting.seed.to_string()]);
            command.env("GLOO_SOCKET_IFNAME", SITE_INTERFACE).env("OMP_NUM_THREADS", "1");
            let told = told.clone();
            let lines = Box::new(move |line: &[u8]| drop(told.send((at, line.to_vec()))));
            let start = super::refusal::system("start Python");
            sites.push(Child::spawn_heard(name.clone(), command, lines, heard(name)).map_err(start)?);
        }
        let (rounds, counted) = Default::default();
        Ok(Self { sites, _scheduler: None, lines, rounds, counted })
    }

    pub fn rounds(&self) -> &Rounds {
        &self.rounds
    }

    /// Waits until a site has a sum; says when its round began.
    pub fn wait_for_first_round(&mut self, longest: Duration) -> Result<Instant, Error> {
        let deadline = Instant::now() + longest;
        loop {
            self.listen(Duration::from_millis(50))?;
            let first = self.rounds.values().flat_map(BTreeMap::values).map(|round| round.began_ns).min();
            if let Some(began_ns) = first {
                let ago = monotonic_ns().saturating_sub(began_ns);
                return Ok(Instant::now() - Duration::from_nanos(ago));
            }
            if Instant::now() > deadline {
                let cause = std::io::Error::other(format!("none in {} s", longest.as_secs()));
                return Err(Error::System { what: "wait for the first round".to_owned(), cause });
            }
        }
    }

    /// Takes what processes say for a while.
    pub fn listen(&mut self, time: Duration) -> Result<(), Error> {
        let until = Instant::now() + time;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((site, line)) => self.line(site, &line),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => break std::thread::sleep(time),
            }
        }
        for child in &mut self.sites {
            if let Err(message) = child.check() {
                let cause = std::io::Error::other(message);
                return Err(Error::System { what: format!("go on without {}", child.name()), cause });
            }
        }
        Ok(())
    }

    fn line(&mut self, site: usize, line: &[u8]) {
        match serde_json::from_slice(line) {
            Ok(Line::Round(round)) => {
                self.rounds.entry(round.round).or_default().insert(site, round);
            }
            Ok(Line::End(counted)) => {
                self.counted.insert(site, counted);
            }
            Err(error) => tracing::error!("a site says what is not understood: {error}"),
        }
    }

    pub fn are_over(&self) -> bool {
        self.counted.len() == self.sites.len()
    }

    pub fn end(mut self) -> Result<Said, Error> {
        self.listen(Duration::from_millis(100))?;
        if !self.are_over() {
            let missing: Vec<_> = (0..self.sites.len()).filter(|at| !self.counted.contains_key(at)).collect();
            let names: Vec<_> = missing.iter().map(|&at| self.sites[at].name()).collect();
            let cause = std::io::Error::other(format!("{} did not end", names.join(", ")));
            return Err(Error::System { what: "end the rounds".to_owned(), cause });
        }
        Ok(Said { rounds: self.rounds, counted: self.counted.into_values().collect() })
    }
}

fn common(command: &mut Command, setting: &Setting, flags: &[String], scratch: &Scratch, name: &str) {
    command.args(["--listen", &listen().to_string(), "--congestion", &setting.congestion]);
    command.arg("--tls-ca").arg(scratch.path("ca.pem"));
    command.arg("--tls-cert").arg(scratch.path(&format!("{name}.pem")));
    command.arg("--tls-key").arg(scratch.path(&format!("{name}.key")));
    command.args(flags);
}

fn heard(name: &str) -> crate::child::Lines {
    let name = name.to_owned();
    Box::new(move |line| tracing::debug!("{name}: {}", String::from_utf8_lossy(line)))
}
