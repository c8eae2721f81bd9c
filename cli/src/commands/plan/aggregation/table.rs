//! Plans as tables for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use inart_planner_aggregation::plan::Trunk;
use inart_planner_aggregation::{JobPlans, Order, Plan};
use inart_protocol_aggregation::exact_sum::Digits;
use inart_topologies::switched::Job;
use inart_topologies::units::{counted, display_rate, display_seconds, display_size};

/// Returns the words of a frame that each value takes.
fn words_per_value(job: &Job) -> f64 {
    if job.exact { Digits::for_workers(job.workers.len()).per_float() as f64 } else { 1.0 }
}

/// Returns the table of a plan: rate and bound, servers, groups, and the fullest resources.
pub fn of_plan(plan: &Plan, job: &Job) -> String {
    let mut out = String::new();
    let bound = plan.bound_bps();
    let verdict = if plan.is_proven_optimal() {
        "proven optimal".to_owned()
    } else {
        format!("{:.1} % of the proven bound {}", 100.0 * plan.rate_bps / bound, display_rate(bound))
    };
    let exact = if plan.exact { ", exact sums" } else { "" };
    let _ = writeln!(out, "{} on {}, job {}{exact}", plan.scheme, plan.topology, plan.job);
    let _ = writeln!(out, "  rate    {} per worker ({verdict})", display_rate(plan.rate_bps));
    if let Some(lp) = plan.bounds.lp_bps {
        let _ = writeln!(out, "  LP      {}", display_rate(lp));
    }
    if let Some(paths) = plan.paths {
        let _ = writeln!(out, "  paths   {paths}");
    }
    if plan.levels > 1 {
        let second = plan.trunks.iter().filter(|trunk| trunk.path.last() != Some(&trunk.server)).count();
        let one_level = display_rate(plan.bounds.integral_bps);
        let _ = writeln!(
            out,
            "  levels  {}: {second} sums are summed again; with one level {one_level} at most",
            plan.levels
        );
    }
    if let Some(bytes) = job.gradient_bytes {
        let seconds = bytes as f64 * 8.0 * words_per_value(job) / plan.rate_bps;
        let size = display_size(bytes as f64);
        let _ = writeln!(out, "  sending {} for a gradient of {size}", display_seconds(seconds));
    }
    if let Some(violation) = &plan.violation {
        let at = display_rate(violation.at_bps);
        let _ = writeln!(
            out,
            "  rounded: at the LP's {at} switches would be {:.2}, servers {:.2}, links {:.2} times full",
            violation.switch, violation.server, violation.link
        );
        let claimed = &violation.published;
        let _ = writeln!(
            out,
            "           (published factors: {:.2}, {:.2}, {:.2}; the servers' does not hold in general)",
            claimed.switch, claimed.server, claimed.link
        );
    }
    if let Some(moved) = plan.moved {
        let (flows, trunks) = (plan.flows.len(), plan.trunks.len());
        let _ =
            writeln!(out, "  moved   {} of {flows} flows, {} of {trunks} trunks", moved.flows, moved.trunks);
    }
    let _ = writeln!(out, "  solved  in {:.1} ms\n", plan.solve_ms);
    let width = plan.shards.iter().map(|shard| shard.server.len()).max().unwrap_or(0).max(6);
    let _ = writeln!(out, "  {:width$}  share   rate         direct  groups (switch x workers)", "server");
    for shard in &plan.shards {
        let direct = plan.flows.iter().filter(|f| f.server == shard.server && f.aggregator.is_none()).count();
        let groups: BTreeMap<&str, String> = plan
            .trunks
            .iter()
            .filter(|trunk| trunk.server == shard.server)
            .map(|trunk| (trunk.aggregator.as_str(), group(trunk)))
            .collect();
        let groups: Vec<String> = groups.into_values().collect();
        let _ = writeln!(
            out,
            "  {:width$}  {:<6.3}  {:<11}  {direct:<6}  {}",
            shard.server,
            shard.share,
            display_rate(shard.share * plan.rate_bps),
            if groups.is_empty() { "-".to_owned() } else { groups.join("  ") }
        );
    }
    out.push_str(&fullest(plan.load.iter().map(|load| (&*load.resource, load.used_bps, load.capacity_bps))));
    out
}

/// Returns the table of several jobs: rate and possible rate of each, then the fullest resources.
pub fn of_jobs(plans: &JobPlans, jobs: &[&Job]) -> String {
    let mut out = String::new();
    let proven = if plans.is_proven_optimal() { " (proven optimal)" } else { "" };
    let scheme = plans.plans.first().map_or("", |plan| plan.scheme.as_str());
    let _ = writeln!(
        out,
        "{scheme} on {}, {} {}",
        plans.topology,
        counted(plans.plans.len(), "job"),
        plans.order
    );
    let _ = writeln!(out, "  slowest {} per worker{proven}", display_rate(plans.min_rate_bps));
    if let Some(paths) = plans.plans.first().and_then(|plan| plan.paths) {
        let _ = writeln!(out, "  paths   {paths}");
    }
    let _ = writeln!(out, "  solved  in {:.1} ms\n", plans.solve_ms);
    let width = jobs.iter().map(|job| job.name.len()).max().unwrap_or(0).max(3);
    let bound = match plans.order {
        Order::Together => "alone, at most",
        Order::InTurn => "after those before, at most",
    };
    let _ = writeln!(out, "  {:width$}  workers  rate         groups  {bound}", "job");
    for (plan, job) in plans.plans.iter().zip(jobs) {
        let sending = job.gradient_bytes.map_or_else(String::new, |bytes| {
            let seconds = bytes as f64 * 8.0 * words_per_value(job) / plan.rate_bps;
            format!("  {} for {}", display_seconds(seconds), display_size(bytes as f64))
        });
        let _ = writeln!(
            out,
            "  {:width$}  {:<7}  {:<11}  {:<6}  {}{sending}",
            plan.job,
            job.workers.len(),
            display_rate(plan.rate_bps),
            plan.trunks.len(),
            display_rate(plan.bounds.integral_bps),
        );
    }
    if let Some(bounds) = plans.max_min_bound_bps.as_ref().filter(|_| !plans.is_proven_optimal()) {
        let least = bounds.iter().copied().fold(f64::INFINITY, f64::min);
        let part = 100.0 * plans.min_rate_bps / least;
        let _ = writeln!(
            out,
            "\n  the slowest is at {part:.1} % of what any plans can give all jobs: {}",
            display_rate(least)
        );
    }
    let mut full: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for plan in &plans.plans {
        for load in &plan.load {
            // A plan's capacities exclude the load of other jobs.
            let others = plan.other_jobs.iter().find(|taken| taken.resource == load.resource);
            let others = others.map_or(0.0, |taken| taken.used_bps);
            full.insert(&load.resource, (load.used_bps + others, load.capacity_bps + others));
        }
    }
    let mut full: Vec<_> = full.into_iter().collect();
    full.sort_by(|(_, a), (_, b)| (b.0 / b.1).total_cmp(&(a.0 / a.1)));
    out.push_str(&fullest(full.into_iter().map(|(name, (used, capacity))| (name, used, capacity))));
    out
}

/// Returns the first five resources, with bars.
fn fullest<'a>(loads: impl Iterator<Item = (&'a str, f64, f64)>) -> String {
    let loads: Vec<_> = loads.take(5).collect();
    let width = loads.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let mut out = "\n  fullest resources\n".to_owned();
    for (name, used, capacity) in loads {
        let part = used / capacity;
        let bar = "#".repeat((part.clamp(0.0, 1.0) * 20.0).round() as usize);
        let (used, capacity) = (display_rate(used), display_rate(capacity));
        let _ = writeln!(out, "  {name:width$}  {bar:<20} {:5.1} %  {used} of {capacity}", 100.0 * part);
    }
    out
}

/// Returns a group as `v1 x4`, or `v1 x4 > v2` if v2 aggregates the sum again.
fn group(trunk: &Trunk) -> String {
    let group = format!("{} x{}", trunk.aggregator, trunk.workers.len());
    match trunk.path.last() {
        Some(end) if *end != trunk.server => format!("{group} > {end}"),
        _ => group,
    }
}
