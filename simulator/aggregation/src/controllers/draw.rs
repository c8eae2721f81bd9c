//! Draws a trial of controllers.

use std::time::Duration;

use inart_planner_aggregation::{Scheme, schemes};
use inart_topologies::switched::generate::{Equipment, leaf_spine};
use inart_topologies::switched::{Job, NodeKind, Topology};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::trial::{Event, Fault, Trial};

/// Faults happen within this time.
const WITHIN: Duration = Duration::from_secs(12);

impl Trial {
    /// Draws a trial. The same seed gives the same trial.
    pub fn of_seed(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // Separate from what the seed draws for other trials.
        rng.set_stream(40);
        let topology = network(&mut rng);
        let schemes: [&'static dyn Scheme; 4] =
            [schemes::OPTIMIZED, schemes::INART, schemes::ATP, schemes::R_INART];
        let mut trial = Self {
            seed,
            scheme: *schemes.choose(&mut rng).expect("the list is not empty"),
            window_chunks: 1 << rng.random_range(0..=5),
            first_come: rng.random_bool(0.3),
            one_folder: rng.random_bool(0.6),
            check_every: Duration::from_millis(rng.random_range(400..=5000)),
            switches_within: Duration::from_millis(rng.random_range(50..=5000)),
            events: Vec::new(),
            topology,
        };
        trial.events = trial.draw_events(&mut rng);
        trial
    }

    fn draw_events(&self, rng: &mut ChaCha8Rng) -> Vec<Event> {
        let switches = self.topology.nodes().iter().filter(|node| node.kind == NodeKind::Switch);
        let switches: Vec<_> = switches.map(|node| node.name.clone()).collect();
        let machines = rng.random_range(1..=3);
        let mut events = vec![Event { at: Duration::ZERO, fault: start(rng, machines) }];
        for _ in 0..rng.random_range(0..=7) {
            let at = at(rng, &events);
            if rng.random_bool(0.1) {
                events.extend(cut_off(rng, at, &switches, machines));
                continue;
            }
            let switch = switches.choose(rng).expect("a network has a switch").clone();
            let fault = self.fault(rng, switch, machines);
            if let Fault::Kill { machine } = fault
                && rng.random_bool(0.8)
            {
                let at = at + Duration::from_millis(rng.random_range(0..=2000));
                let fault = Fault::Start { machine, other_plans: rng.random_bool(0.4), clock_back: false };
                events.push(Event { at, fault });
                if rng.random_bool(0.6) {
                    // In the middle of its writes.
                    let at = at + Duration::from_millis(rng.random_range(25..=75));
                    events.push(Event { at, fault: Fault::Kill { machine } });
                    let at = at + Duration::from_millis(rng.random_range(0..=500));
                    events.push(Event { at, fault: start_on(rng, machine) });
                }
            }
            events.push(Event { at, fault });
        }
        events.sort_by_key(|event| event.at);
        events
    }

    fn fault(&self, rng: &mut ChaCha8Rng, switch: String, machines: usize) -> Fault {
        let most = if rng.random_bool(0.5) { 1500 } else { 8000 };
        let lasts = Duration::from_millis(rng.random_range(1..=most));
        match rng.random_range(0..20) {
            0..=4 => {
                let of = rng.random_bool(0.4).then(|| rng.random_range(0..machines));
                let lasts = Some(lasts).filter(|_| rng.random_bool(0.7));
                Fault::Away { switch, of, lasts }
            }
            5..=7 => Fault::Restart { switch, lasts },
            8..=10 => start(rng, machines),
            11..=13 => Fault::Kill { machine: rng.random_range(0..machines) },
            14..=16 => {
                let (after, stops) = (rng.random_range(0..=24), rng.random_bool(0.5));
                Fault::Refuse { switch, after, stops }
            }
            17 => Fault::Stand { switch, lasts },
            _ => Fault::Lose { switch, percent: rng.random_range(1..=100) },
        }
    }
}

/// A time: half of them soon after a start, when switches are read and written.
fn at(rng: &mut ChaCha8Rng, events: &[Event]) -> Duration {
    let starts = events.iter().filter(|event| matches!(event.fault, Fault::Start { .. }));
    let starts: Vec<_> = starts.map(|event| event.at).collect();
    match starts.choose(rng).filter(|_| rng.random_bool(0.5)) {
        Some(start) => *start + Duration::from_millis(rng.random_range(0..=150)),
        None => Duration::from_millis(rng.random_range(0..WITHIN.as_millis() as u64)),
    }
}

/// Disconnects a machine from all switches for a while; meanwhile a controller starts on another one.
fn cut_off(rng: &mut ChaCha8Rng, at: Duration, switches: &[String], machines: usize) -> Vec<Event> {
    let of = rng.random_range(0..machines);
    let lasts = Duration::from_millis(rng.random_range(200..=6000));
    let mut events: Vec<_> = switches
        .iter()
        .map(|switch| {
            let fault = Fault::Away { switch: switch.clone(), of: Some(of), lasts: Some(lasts) };
            Event { at, fault }
        })
        .collect();
    let machine = (of + 1) % machines.max(2);
    let at = at + Duration::from_millis(rng.random_range(0..=lasts.as_millis() as u64));
    let other_plans = rng.random_bool(0.3);
    events.push(Event { at, fault: Fault::Start { machine, other_plans, clock_back: false } });
    events
}

fn start(rng: &mut ChaCha8Rng, machines: usize) -> Fault {
    let machine = rng.random_range(0..machines);
    start_on(rng, machine)
}

fn start_on(rng: &mut ChaCha8Rng, machine: usize) -> Fault {
    let (other_plans, clock_back) = (rng.random_bool(0.25), rng.random_bool(0.15));
    Fault::Start { machine, other_plans, clock_back }
}

/// Draws one to three leaves, one or two spines, few hosts, and usually one job.
fn network(rng: &mut ChaCha8Rng) -> Topology {
    let equipment = Equipment {
        servers: rng.random_range(1..=2),
        workers: rng.random_range(1..=4),
        rate_bps: 1e9,
        aggregation_bps: 1e9 * rng.random_range(1.0..4.0),
        ingress_bps: 1e9,
        delay_seconds: 1e-6,
        gradient_bytes: 1000,
        seed: rng.random(),
    };
    let hosts = equipment.servers + equipment.workers;
    let (leaves, spines) = (rng.random_range(1..=2), rng.random_range(1..=2));
    let topology = leaf_spine(leaves, spines, hosts, &equipment).expect("all hosts fit on the leaves");
    if rng.random_bool(0.3) {
        let first = topology.jobs()[0].clone();
        let second = Job { name: "other".to_owned(), ..first.clone() };
        return topology.with_jobs(vec![first, second]);
    }
    topology
}
