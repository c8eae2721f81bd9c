//! Plans as tables for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use inart_planner::plan::Trunk;
use inart_planner::units::{display_rate, display_seconds, display_size};
use inart_planner::{Job, Plan};

/// The plan as a person reads it: rate and bound, the servers, the groups, and what is full.
pub fn of_plan(plan: &Plan, job: &Job) -> String {
    let mut out = String::new();
    let bound = plan.bound_bps();
    let verdict = if plan.is_proven_optimal() {
        "proven optimal".to_owned()
    } else {
        format!("{:.1} % of the proven bound {}", 100.0 * plan.rate_bps / bound, display_rate(bound))
    };
    let _ = writeln!(out, "{} on {}, job {}", plan.scheme, plan.topology, plan.job);
    let _ = writeln!(out, "  rate    {} per worker ({verdict})", display_rate(plan.rate_bps));
    if let Some(lp) = plan.bounds.lp_bps {
        let _ = writeln!(out, "  LP      {}", display_rate(lp));
    }
    if plan.levels > 1 {
        let second = plan.trunks.iter().filter(|trunk| trunk.path.last() != Some(&trunk.server)).count();
        let one_level = display_rate(plan.bounds.integral_bps);
        let _ = writeln!(
            out,
            "  levels  {}: {second} sums are added up again; with one level {one_level} at most",
            plan.levels
        );
    }
    if let Some(bytes) = job.gradient_bytes {
        let seconds = bytes as f64 * 8.0 / plan.rate_bps;
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
    let width = plan.load.iter().take(5).map(|load| load.resource.len()).max().unwrap_or(0);
    let _ = writeln!(out, "\n  fullest resources");
    for load in plan.load.iter().take(5) {
        let part = load.used_bps / load.capacity_bps;
        let bar = "#".repeat((part.clamp(0.0, 1.0) * 20.0).round() as usize);
        let (used, capacity) = (display_rate(load.used_bps), display_rate(load.capacity_bps));
        let _ = writeln!(
            out,
            "  {:width$}  {bar:<20} {:5.1} %  {used} of {capacity}",
            load.resource,
            100.0 * part
        );
    }
    out
}

/// A group as `v1 x4`, or `v1 x4 > v2` if its sum is added up again at v2.
fn group(trunk: &Trunk) -> String {
    let group = format!("{} x{}", trunk.aggregator, trunk.workers.len());
    match trunk.path.last() {
        Some(end) if *end != trunk.server => format!("{group} > {end}"),
        _ => group,
    }
}
