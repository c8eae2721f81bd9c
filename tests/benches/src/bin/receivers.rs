//! Time to choose receivers: rounds of a thousand peers, and of other numbers, by each scheme.
//!
//! Rates lie uniformly from 0.75 to 1.25 of their mean; updates are equal, or lie uniformly from 0.5 to 1.5
//! of theirs, with three required receivers per peer.
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use inart_planner_peers::{Multicast, Pairs, Problem, Scheme, SplitMix64, Waits, bound_seconds, select};
use inart_topologies::peers::draw_ports;

/// Measures how long schemes take to choose receivers.
#[derive(Parser)]
struct Arguments {
    /// Peers; may be repeated.
    #[arg(long, default_values_t = [200, 1000])]
    peers: Vec<usize>,
    /// Runs, of which the median is shown.
    #[arg(long, default_value_t = 5)]
    runs: usize,
}

fn problem(peers: usize, receivers: usize, is_equal: bool, multicast: Multicast) -> Problem {
    let mut random = SplitMix64::new(1);
    let ports = draw_ports(peers, 0.25, 1.0, 40e9, &mut random);
    let mut size = || if is_equal { 1.6e9 } else { random.uniform(0.8e9, 2.4e9) };
    let bits: Vec<f64> = (0..peers).map(|_| size()).collect();
    let mut required = Pairs::none(peers);
    while !is_equal && required.len() < 3 * peers {
        let (from, to) = (random.uniform(0.0, peers as f64), random.uniform(0.0, peers as f64));
        if from as usize != to as usize {
            required.insert(from as usize, to as usize);
        }
    }
    Problem { ports, bits, receivers, required, waited: Waits::none(peers), multicast }
}

fn main() -> Result<()> {
    let Arguments { peers, runs } = Arguments::parse();
    ensure!(runs > 0, "--runs must be at least 1");
    println!("peers  receivers  updates  copies  scheme    median ms  over the bound  receivers_mean");
    for n in peers {
        ensure!((2..=4096).contains(&n), "--peers {n}: give a number from 2 to 4096");
        for receivers in [(n * 3).div_ceil(10), 10.min(n - 1), 2.min(n - 1)] {
            for is_equal in [true, false] {
                for multicast in [Multicast::Switch, Multicast::Hosts] {
                    let problem = problem(n, receivers, is_equal, multicast);
                    for scheme in [Scheme::Optimized, Scheme::Selmcast, Scheme::Orpheus] {
                        measure(&problem, is_equal, scheme, runs)?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn measure(problem: &Problem, is_equal: bool, scheme: Scheme, runs: usize) -> Result<()> {
    let mut times = Vec::with_capacity(runs);
    let mut chosen = None;
    for _ in 0..runs {
        let start = Instant::now();
        chosen = Some(select(problem, scheme, true, &mut SplitMix64::new(1), "bench")?);
        times.push(start.elapsed());
    }
    times.sort();
    let chosen = chosen.context("at least one run")?;
    let median: Duration = times[times.len() / 2];
    println!(
        "{:5}  {:9}  {:7}  {:6}  {:8}  {:9.2}  {:13.3}%  {:.1}",
        problem.peers(),
        problem.receivers,
        if is_equal { "equal" } else { "unequal" },
        problem.multicast.name(),
        scheme.name(),
        median.as_secs_f64() * 1e3,
        (problem.seconds(&chosen) / bound_seconds(problem)? - 1.0) * 100.0,
        chosen.len() as f64 / problem.peers() as f64
    );
    Ok(())
}
