//! Random trials: network, jobs and faults drawn from a seed, and shrinking of failing trials.

mod active;
mod more;
mod part;

use std::sync::Arc;

use inart_planner_aggregation::{Levels, Scheme, plan_all, schemes};
use inart_protocol_aggregation::NonFinite;
use inart_protocol_aggregation::exact_sum::EXACT_VALUES;
use inart_topologies::faults::quantity::{QueueLimit, Share, Span};
use inart_topologies::faults::{Background, FaultEvent, Faults, LinkFaults, Protocol};
use inart_topologies::switched::generate::{Equipment, fat_tree, leaf_spine, random_regular};
use inart_topologies::switched::{Job, NodeId, NodeKind, Topology};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use more::{PEER_TIMEOUT, span};

use crate::gradients::Sizes;
use crate::{
    Changes, Dataplane, Error, InstalledNetwork, Live, LiveChange, Options, Report, alternatives, simulate,
};

/// A random run of the simulation.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The network and its jobs.
    pub topology: Topology,
    /// Planning scheme.
    pub scheme: &'static dyn Scheme,
    /// Aggregation depth: at how many switches a gradient may be summed.
    pub levels: Levels,
    /// Chunks in flight.
    pub window_chunks: u32,
    /// Options of the run.
    pub options: Options,
    /// The fault schedule.
    pub faults: Faults,
}

impl Trial {
    /// Draws a trial. The same seed gives the same trial.
    pub fn of_seed(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let topology = more::some_idle(seed, some_exact(seed, network(&mut rng)));
        let scheme = *[schemes::OPTIMIZED, schemes::INART, schemes::ATP, schemes::LBMM, schemes::R_INART]
            .choose(&mut rng)
            .expect("the list is not empty");
        let two = scheme.promises().levels > 1 && topology.jobs().len() == 1 && rng.random_bool(0.3);
        let options = Options {
            rounds: rng.random_range(1..=4),
            gradient_values: more::some_around_a_block(seed, rng.random_range(1..=600)),
            spikes: share(&mut rng, 0.3, 0.2),
            seed,
            peer_timeout: PEER_TIMEOUT,
            limit: Span(100 * PEER_TIMEOUT.as_nanos() as u64),
            ..Options::default()
        };
        let rate_bps = topology.links()[0].rate_bps();
        let exact = topology.jobs().iter().any(|job| job.exact) || options.gradient_values <= EXACT_VALUES;
        let per_frame = if exact { 2.0 } else { 32.0 };
        let chunks = f64::from(options.rounds) * (options.gradient_values as f64 / per_frame + 3.0);
        let ideal = Span((chunks * 172.0 * 8e9 / rate_bps * 2.0) as u64 + 500_000);
        let mut trial = Self {
            levels: if two { Levels::Two } else { Levels::One },
            window_chunks: 1 << rng.random_range(0..=5),
            faults: faults(&mut rng, &topology, ideal),
            topology,
            scheme,
            options,
        };
        more::add_more(&mut trial.options, &mut trial.faults, &trial.topology, seed, ideal);
        if trial.levels == Levels::One {
            active::add_live_events(&mut trial.topology, &mut trial.options, &mut trial.faults, seed);
        }
        part::hand_on(&mut trial.options, &trial.faults, &trial.topology, trial.window_chunks, seed);
        more::spoil(&mut trial.options, seed);
        more::skip(&mut trial.options, &trial.topology, seed);
        trial
    }

    /// Runs the trial.
    ///
    /// # Errors
    ///
    /// [`Error`] if a job has no plan, or the plans cannot be installed. A wrong sum is not an error; the
    /// report contains it.
    pub fn run(&self, dataplane: &Arc<Dataplane>) -> Result<Report, Error> {
        self.run_logged(dataplane, None)
    }

    /// Runs the trial and writes a line to `log` for every hop.
    ///
    /// # Errors
    /// As [`run`](Self::run), and if the log cannot be written.
    pub fn run_logged(
        &self,
        dataplane: &Arc<Dataplane>,
        log: Option<&mut dyn std::io::Write>,
    ) -> Result<Report, Error> {
        let how = inart_planner_aggregation::Options {
            seed: self.options.seed,
            levels: self.levels,
            // Any plan will do; the best takes long.
            time_left: &|| 0.0,
            ..inart_planner_aggregation::Options::new(self.scheme)
        };
        let plans = plan_all(&self.first_jobs(), &how)?;
        let network = InstalledNetwork::install(&self.topology, dataplane, &plans, self.window_chunks)?;
        let mut options = self.options.clone();
        if let Some(changes) = &mut options.changes {
            changes.plans = alternatives(&self.topology, &plans, self.options.seed, 1);
        }
        let mut report = match log {
            Some(log) => simulate(&network, &self.faults, &options, Some(log)),
            None => simulate(&network, &self.faults, &options, None),
        }?;
        if report.failure.is_none() && self.has_only_nans() {
            let finite = simulate(&network, &self.faults, &Options { spoilt: None, ..options }, None)?;
            report.failure = too_dear(&report, &finite);
        }
        Ok(report)
    }

    /// Returns whether the only disturbance is NaNs and infinities that pass.
    fn has_only_nans(&self) -> bool {
        let Options { spoilt, changes, watch, others, odd_length, .. } = &self.options;
        let Faults { links, events, background, .. } = &self.faults;
        let passes = spoilt.is_some_and(|spoilt| spoilt.handling == NonFinite::Pass);
        let has_faults = !links.is_empty() || !events.is_empty() || !background.is_empty();
        let has_others = changes.is_some() || watch.is_some() || !others.is_empty() || odd_length.is_some();
        passes && !has_faults && !has_others
    }

    /// Returns the network with the jobs of the start only.
    fn first_jobs(&self) -> Topology {
        let comes = |job: &Job| {
            let events = self.options.live.iter().flat_map(|live| &live.events);
            let first = events.filter(|event| event.job == job.name).min_by_key(|event| event.at.0);
            first.is_some_and(|event| event.what == LiveChange::Submit)
        };
        let first = self.topology.jobs().iter().filter(|job| !comes(job)).cloned();
        self.topology.with_jobs(first.collect())
    }

    /// Removes from a failing trial everything that the failure does not need.
    pub fn shrink(self, dataplane: &Arc<Dataplane>) -> Self {
        let fails = |trial: &Self| trial.run(dataplane).is_ok_and(|report| report.failure.is_some());
        let mut trial = self;
        while let Some(smaller) = trial.smaller().into_iter().find(fails) {
            trial = smaller;
        }
        trial
    }

    /// The trial with one thing less, for each thing.
    fn smaller(&self) -> Vec<Self> {
        let mut all = Vec::new();
        let mut push = |change: &dyn Fn(&mut Self)| {
            let mut smaller = self.clone();
            change(&mut smaller);
            all.push(smaller);
        };
        let Faults { queue, links, events, background, .. } = &self.faults;
        for index in 0..background.len() {
            push(&|trial| drop(trial.faults.background.remove(index)));
        }
        for index in 0..events.len() {
            push(&|trial| drop(trial.faults.events.remove(index)));
        }
        for (index, link) in links.iter().enumerate() {
            push(&|trial| drop(trial.faults.links.remove(index)));
            let rates: [fn(&mut LinkFaults) -> &mut Share; 5] = [
                |link| &mut link.drop,
                |link| &mut link.duplicate,
                |link| &mut link.corrupt,
                |link| &mut link.reorder,
                |link| &mut link.delay,
            ];
            for rate in rates {
                if rate(&mut link.clone()).get() > 0.0 {
                    push(&|trial| *rate(&mut trial.faults.links[index]) = Share::default());
                }
            }
        }
        if *queue != QueueLimit::default() {
            push(&|trial| trial.faults.queue = QueueLimit::default());
        }
        if self.options.spikes.get() > 0.0 {
            push(&|trial| trial.options.spikes = Share::default());
        }
        if self.options.sizes != Sizes::default() {
            push(&|trial| trial.options.sizes = Sizes::default());
        }
        all.extend(self.less_dynamic());
        let mut push = |change: &dyn Fn(&mut Self)| {
            let mut smaller = self.clone();
            change(&mut smaller);
            all.push(smaller);
        };
        if self.options.spoilt.is_some() {
            push(&|trial| trial.options.spoilt = None);
        }
        if self.options.skip.is_some() {
            push(&|trial| trial.options.skip = None);
        }
        if self.options.odd_length.is_some() {
            push(&|trial| trial.options.odd_length = None);
        }
        if let Some(changes) = &self.options.changes {
            push(&|trial| trial.options.changes = None);
            let (fewer, undone) = (changes.count - 1, changes.undone.get() > 0.0);
            let mut change = |change: &dyn Fn(&mut Changes)| {
                push(&|trial| trial.options.changes.iter_mut().for_each(change));
            };
            if fewer > 0 {
                change(&|changes| changes.count = fewer);
            }
            if undone {
                change(&|changes| changes.undone = Share::default());
            }
        }
        if self.options.runs > 1 {
            push(&|trial| trial.options.runs -= 1);
        }
        if self.options.tensors > 1 {
            push(&|trial| trial.options.tensors -= 1);
        }
        if self.options.rounds > 1 {
            push(&|trial| trial.options.rounds -= 1);
        }
        if self.options.gradient_values > 1 {
            push(&|trial| trial.options.gradient_values /= 2);
        }
        all
    }

    /// Returns variants without refusing switches, replanning, job and host changes, or forwarded sums.
    fn less_dynamic(&self) -> Vec<Self> {
        let mut all = Vec::new();
        let mut push = |change: &dyn Fn(&mut Self)| {
            let mut smaller = self.clone();
            change(&mut smaller);
            all.push(smaller);
        };
        if self.options.refused.get() > 0.0 {
            push(&|trial| trial.options.refused = Share::default());
        }
        for index in 0..self.options.others.len() {
            push(&|trial| drop(trial.options.others.remove(index)));
        }
        if self.options.watch.is_some() {
            push(&|trial| trial.options.watch = None);
        }
        if let Some(onward) = &self.options.onward {
            push(&|trial| trial.options.onward = None);
            if onward.ends.is_some() {
                push(&|trial| trial.options.onward.iter_mut().for_each(|onward| onward.ends = None));
            }
        }
        if let Some(live) = &self.options.live {
            let mut change = |change: &dyn Fn(&mut Live)| {
                push(&|trial| trial.options.live.iter_mut().for_each(change));
            };
            for index in 0..live.events.len() {
                change(&|live| drop(live.events.remove(index)));
            }
            for index in 0..live.doubles.len() {
                change(&|live| drop(live.doubles.remove(index)));
            }
            for index in 0..live.interrupts.len() {
                change(&|live| drop(live.interrupts.remove(index)));
            }
            if !live.looks.is_empty() {
                change(&|live| live.looks.clear());
            }
            if live.computes.0 > 0 {
                change(&|live| live.computes.0 = 0);
            }
            if live.plans_within.0 > 0 {
                change(&|live| live.plans_within.0 = 0);
            }
            if let [_, .., last] = self.topology.jobs() {
                push(&|trial| {
                    let jobs = trial.topology.jobs();
                    trial.topology = trial.topology.with_jobs(jobs[..jobs.len() - 1].to_vec());
                    trial.options.live.iter_mut().for_each(|live| {
                        live.events.retain(|event| event.job != last.name);
                        live.doubles.retain(|double| double.job != last.name);
                        live.interrupts.retain(|interrupt| interrupt.job != last.name);
                    });
                });
            }
        }
        all
    }
}

/// A round with a NaN takes at most as much as two without.
fn too_dear(spoilt: &Report, finite: &Report) -> Option<String> {
    let is_dear = spoilt.packet_hops > 2 * finite.packet_hops || spoilt.seconds > 2.0 * finite.seconds;
    is_dear.then(|| {
        format!(
            "with NaNs it takes {} packet-hops and {} s, without {} and {} s",
            spoilt.packet_hops, spoilt.seconds, finite.packet_hops, finite.seconds
        )
    })
}

/// A small network of one of the usual shapes, mostly with one job.
fn network(rng: &mut ChaCha8Rng) -> Topology {
    let servers = rng.random_range(1..=3);
    let workers = rng.random_range(1..=7);
    let rate_bps = *[20e6, 100e6, 1e9].choose(rng).expect("the list is not empty");
    let equipment = Equipment {
        servers,
        workers,
        rate_bps,
        aggregation_bps: rate_bps * rng.random_range(0.0..4.0),
        ingress_bps: rate_bps,
        delay_seconds: *[0.0, 1e-6, 50e-6, 1e-3].choose(rng).expect("the list is not empty"),
        gradient_bytes: 1000,
        seed: rng.random(),
    };
    let hosts = servers + workers;
    let drawn = match rng.random_range(0..20) {
        0 => fat_tree(4, &equipment),
        1..=4 => random_regular(6, 3, hosts, &equipment),
        _ => {
            let leaves = rng.random_range(1..=3);
            leaf_spine(leaves, rng.random_range(1..=2), hosts, &equipment)
        }
    };
    let topology =
        drawn.or_else(|_| leaf_spine(2, 2, hosts, &equipment)).expect("all hosts fit on two leaves");
    if rng.random_bool(0.2) {
        let first = topology.jobs()[0].clone();
        let second = Job { name: "other".to_owned(), ..first.clone() };
        return topology.with_jobs(vec![first, second]);
    }
    topology
}

/// Makes some jobs exact. Uses a separate random stream, so all other draws stay the same.
fn some_exact(seed: u64, topology: Topology) -> Topology {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(1);
    let jobs = topology.jobs().iter();
    let drawn = jobs.map(|job| Job { exact: rng.random_bool(0.15), ..job.clone() }).collect();
    topology.with_jobs(drawn)
}

/// Draws zero or a share up to `most`, log-uniform.
fn share(rng: &mut ChaCha8Rng, likely: f64, most: f64) -> Share {
    if !rng.random_bool(likely) {
        return Share::default();
    }
    Share::near(most * 10f64.powf(-2.0 * rng.random::<f64>()))
}

fn link_faults(rng: &mut ChaCha8Rng) -> LinkFaults {
    LinkFaults {
        link: None,
        drop: share(rng, 0.5, 0.03),
        duplicate: share(rng, 0.3, 0.1),
        corrupt: share(rng, 0.2, 0.02),
        reorder: share(rng, 0.3, 0.2),
        reorder_by: Some(span(rng, Span(1_000), Span(30_000_000))),
        delay: share(rng, 0.2, 0.05),
        delay_by: Some(span(rng, Span(1_000), Span(30_000_000))),
    }
}

fn faults(rng: &mut ChaCha8Rng, topology: &Topology, ideal: Span) -> Faults {
    let names = |kinds: &[NodeKind]| -> Vec<String> {
        let nodes = topology.nodes().iter().filter(|node| kinds.contains(&node.kind));
        nodes.map(|node| node.name.clone()).collect()
    };
    let ends = |[a, b]: [NodeId; 2]| [a, b].map(|id| topology.node(id).name.clone());
    let hosts = names(&[NodeKind::Worker, NodeKind::Server]);
    let mut faults = Faults::default();
    if rng.random_bool(0.3) {
        faults.queue = QueueLimit::Frames(rng.random_range(4..=64));
    }
    if rng.random_bool(0.8) {
        faults.links.push(link_faults(rng));
    }
    for _ in 0..rng.random_range(0..=1) {
        let link = topology.links().choose(rng).expect("hosts have links");
        faults.links.push(LinkFaults { link: Some(ends(link.ends)), ..link_faults(rng) });
    }
    for _ in 0..rng.random_range(0..=3) {
        let at = match rng.random_bool(0.8) {
            true => Span((ideal.0 as f64 * 2.0 * rng.random::<f64>()) as u64),
            false => span(rng, Span(1_000_000), Span(1_000_000_000)),
        };
        // Mostly shorter than any peer timeout.
        let longest = if rng.random_bool(0.9) { PEER_TIMEOUT / 4 } else { 4 * PEER_TIMEOUT };
        let lasts = Some(span(rng, Span(10_000), Span(longest.as_nanos() as u64)));
        let event = FaultEvent { at, lasts, ..FaultEvent::default() };
        let mut one_of = |kinds: &[NodeKind]| names(kinds).choose(rng).cloned();
        let host = one_of(&[NodeKind::Worker, NodeKind::Server]);
        let (switch, server) = (one_of(&[NodeKind::Switch]), one_of(&[NodeKind::Server]));
        faults.events.push(match rng.random_range(0..20) {
            0..=5 => FaultEvent { restart: switch, ..event },
            6..=8 => {
                let link = topology.links().choose(rng).expect("hosts have links");
                FaultEvent { link_down: Some(ends(link.ends)), ..event }
            }
            9..=11 => FaultEvent { pause: host, ..event },
            12 => FaultEvent { crash: host, lasts: None, ..event },
            13 => FaultEvent { crash: server, ..event },
            14..=15 => {
                let all = names(&[NodeKind::Switch, NodeKind::Worker, NodeKind::Server]);
                let group = all.into_iter().filter(|_| rng.random_bool(0.5)).collect();
                FaultEvent { partition: Some(group), ..event }
            }
            _ => FaultEvent { stale: host, count: Some(rng.random_range(1..=32)), lasts: None, ..event },
        });
    }
    if rng.random_bool(0.15) && hosts.len() > 1 {
        let pair: Vec<_> = hosts.choose_multiple(rng, 2).cloned().collect();
        let rate_bps = (topology.links()[0].rate_bps() * rng.random_range(0.05..0.5)).round().min(100e6);
        let frame_bytes = rng.random_range(300..=1500);
        faults.background.push(Background {
            from: pair[0].clone(),
            to: pair[1].clone(),
            rate_bps,
            frame_bytes,
            at: Span(0),
            lasts: None,
            protocol: Protocol::Frames,
        });
    }
    faults
}
