//! Networks whose links bind, with an unknown optimum: the rate, how much of it is proven, and the seconds.

use std::time::{Duration, Instant};

use inart_planner_aggregation::{Options, schemes};
use inart_topologies::switched::Topology;

use crate::networks;
use crate::table::{line, made, mbps, say, seconds};

/// Time for a plan in the column "1 s", less the time to read and check.
const BUDGET: Duration = Duration::from_secs(1);

/// Prints the table.
pub fn run() -> anyhow::Result<()> {
    say("Fat-trees whose links bind (fabric 2 to 6 Mbps, C 4 to 14 Mbps): within 1 s, and without a limit");
    let widths = [22, 9, 9, 9, 9, 9, 9, 9, 9, 10];
    let head = ["network", "f~", "known", "1 s", "bound", "proven", "no limit", "bound", "proven", "took"];
    line(&widths, &head.map(str::to_owned));
    let mut networks = Vec::new();
    for seed in 1..=10 {
        let workers = [20, 30, 40, 50, 50][seed as usize % 5];
        networks.push((
            format!("W={workers} seed {seed}"),
            networks::tight(6, networks::SERVERS, workers, seed)?,
        ));
    }
    let expected = networks::expected();
    networks.extend(networks::shared("tight-")?);
    let mut proven = Vec::new();
    for (name, topology) in &networks {
        let start = Instant::now();
        let left = || BUDGET.as_secs_f64() - start.elapsed().as_secs_f64();
        let quick = made(topology, &Options { time_left: &left, ..Options::new(schemes::OPTIMIZED) })?;
        let quick_s = start.elapsed();
        let start = Instant::now();
        let full = made(topology, &Options::new(schemes::OPTIMIZED))?;
        let full_s = start.elapsed().as_secs_f64();
        let known = expected.as_ref().and_then(|all| all[name.as_str()]["best_found_so_far_mbps"].as_f64());
        let part = |plan: &inart_planner_aggregation::Plan| plan.rate_bps / plan.bounds.integral_bps;
        proven.push([part(&quick), part(&full)]);
        line(
            &widths,
            &[
                name.clone(),
                full.bounds.lp_bps.map_or("-".into(), mbps),
                known.map_or("-".into(), |known| format!("{known:.3}")),
                mbps(quick.rate_bps),
                mbps(quick.bounds.integral_bps),
                format!("{:.3}", part(&quick)),
                mbps(full.rate_bps),
                mbps(full.bounds.integral_bps),
                format!("{:.3}", part(&full)),
                seconds(full_s),
            ],
        );
        if quick_s > BUDGET * 11 / 10 {
            say(&format!("  with a budget of 1 s it took {}", seconds(quick_s.as_secs_f64())));
        }
    }
    let mean = |column: usize| proven.iter().map(|parts| parts[column]).sum::<f64>() / proven.len() as f64;
    say(&format!("mean of rate / bound: {:.3} within 1 s, {:.3} without a limit\n", mean(0), mean(1)));
    equal(&networks)
}

/// Prints the networks with equal shares, without a limit: there the bound counts whole units on every link.
fn equal(networks: &[(String, Topology)]) -> anyhow::Result<()> {
    say("With equal shares, without a limit");
    let widths = [22, 9, 9, 9, 9, 10];
    line(&widths, &["network", "f~", "rate", "bound", "proven", "took"].map(str::to_owned));
    let mut proven = Vec::new();
    for (name, topology) in networks {
        let start = Instant::now();
        let plan = made(topology, &Options { equal_shares: true, ..Options::new(schemes::OPTIMIZED) })?;
        let took = start.elapsed().as_secs_f64();
        let bound = plan.bounds.integral_bps;
        let part = plan.rate_bps / bound;
        proven.push(part);
        let lp = plan.bounds.lp_bps.map_or("-".into(), mbps);
        line(
            &widths,
            &[name.clone(), lp, mbps(plan.rate_bps), mbps(bound), format!("{part:.3}"), seconds(took)],
        );
    }
    let mean = proven.iter().sum::<f64>() / proven.len() as f64;
    say(&format!("mean of rate / bound: {mean:.3}\n"));
    Ok(())
}
