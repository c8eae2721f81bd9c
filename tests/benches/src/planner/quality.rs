//! A hundred fat-trees of §5.3, k = 6 (and the reference instances, if available): how often the optimum is
//! reached and proven, and the rates of the other schemes. Every plan is checked.

use anyhow::ensure;
use inart_planner_aggregation::{Options, Plan, Scheme, Violation, check, schemes};
use inart_topologies::switched::Topology;

use crate::networks;
use crate::table::{line, made, mbps, say};

/// Networks per size.
const SEEDS: u64 = 10;
const SIZES: [usize; 5] = [10, 20, 30, 40, 50];
/// Roundings of R-InArt whose mean and best are given.
const ROUNDINGS: u64 = 30;

/// Results on one network.
struct Row {
    name: String,
    free: Plan,
    equal: Plan,
    rounded_mean: f64,
    rounded_best: f64,
    baselines: Vec<Plan>,
}

const BASELINES: [&dyn Scheme; 3] = [schemes::ATP, schemes::ATP_UNLIMITED, schemes::LBMM];

fn measure(name: String, topology: &Topology) -> anyhow::Result<Row> {
    let plan =
        |scheme, equal_shares, seed| made(topology, &Options { equal_shares, seed, ..Options::new(scheme) });
    let rounded: Vec<f64> = (0..ROUNDINGS)
        .map(|seed| Ok(plan(schemes::INART, false, seed)?.rate_bps))
        .collect::<anyhow::Result<_>>()?;
    let baselines: Vec<Plan> =
        BASELINES.iter().map(|&scheme| plan(scheme, false, 1)).collect::<anyhow::Result<_>>()?;
    for nocap in &baselines {
        // A constraint that the plan declares as ignored is a violation if it does not declare it.
        let silent = Plan { ignores: Vec::new(), ..nocap.clone() };
        let overloads = |found: Vec<Violation>| found.iter().any(|v| matches!(v, Violation::Overload { .. }));
        let breaks = check(topology, &silent).err().is_some_and(overloads);
        ensure!(breaks == overloaded(nocap), "{name}: {} and the checker disagree", nocap.scheme);
    }
    Ok(Row {
        free: plan(schemes::OPTIMIZED, false, 1)?,
        equal: plan(schemes::OPTIMIZED, true, 1)?,
        rounded_mean: rounded.iter().sum::<f64>() / rounded.len() as f64,
        rounded_best: rounded.iter().copied().fold(0.0, f64::max),
        baselines,
        name,
    })
}

/// Returns whether a plan exceeds the aggregation capacity of some switch.
fn overloaded(plan: &Plan) -> bool {
    plan.load
        .iter()
        .any(|load| load.resource.starts_with("switch ") && load.used_bps > load.capacity_bps * (1.0 + 1e-6))
}

/// Prints the tables.
pub fn run() -> anyhow::Result<()> {
    say(
        "Fat-trees of §5.3, k = 6, 4 servers, mean Mbps over the networks of a row; every plan has passed the checker",
    );
    let widths = [22, 4, 9, 9, 9, 9, 10, 8, 8, 10, 8, 8];
    let head = [
        "networks",
        "n",
        "optimal",
        "optimal=",
        "optimized",
        "inart=",
        "inart",
        "best 30",
        "ratio",
        "atp-unlimited",
        "atp",
        "lbmm",
    ];
    line(&widths, &head.map(str::to_owned));
    let mut all: Vec<Row> = Vec::new();
    for kind in ["homogeneous", "heterogeneous"] {
        for workers in SIZES {
            let rows = (1..=SEEDS)
                .map(|seed| {
                    let topology = match kind {
                        "homogeneous" => networks::homogeneous(6, networks::SERVERS, workers, seed)?,
                        _ => networks::heterogeneous(6, networks::SERVERS, workers, seed)?,
                    };
                    measure(format!("{kind} W={workers} seed {seed}"), &topology)
                })
                .collect::<anyhow::Result<Vec<_>>>()?;
            summary(&widths, &format!("{kind} W={workers}"), &rows);
            all.extend(rows);
        }
    }
    summary(&widths, "all", &all);
    let shared = networks::shared("k6-")?
        .into_iter()
        .map(|(name, topology)| measure(name, &topology))
        .collect::<anyhow::Result<Vec<_>>>()?;
    if !shared.is_empty() {
        summary(&widths, "../shared/instances", &shared);
    }
    say(
        "optimal: plans equal to their proven bound; '=': with equal shares; ratio: optimized over inart's mean of 30 seeds.",
    );
    for (b, scheme) in BASELINES.iter().enumerate() {
        let above = |row: &&Row| row.baselines[b].rate_bps > row.free.rate_bps * (1.0 + 1e-6);
        let (count, of) = (all.iter().chain(&shared).filter(above).count(), all.len() + shared.len());
        say(&format!("{scheme} is above optimized on {count} of {of}"));
        for row in all.iter().chain(&shared).filter(above) {
            let plan = &row.baselines[b];
            let excuse = if overloaded(plan) { "it overloads switches" } else { "IT BREAKS NOTHING" };
            say(&format!("  {}: {} to {}; {excuse}", row.name, mbps(plan.rate_bps), mbps(row.free.rate_bps)));
        }
    }
    for row in all.iter().chain(&shared) {
        for (plan, shares) in [(&row.free, "free"), (&row.equal, "equal")] {
            if !plan.is_proven_optimal() {
                let (rate, bound) = (plan.rate_bps, plan.bounds.integral_bps);
                let part = 100.0 * rate / bound;
                say(&format!(
                    "not proven: {}, {shares} shares: {} of {} ({part:.2} %)",
                    row.name,
                    mbps(rate),
                    mbps(bound)
                ));
            }
        }
    }
    say("");
    Ok(())
}

fn summary(widths: &[usize], name: &str, rows: &[Row]) {
    let mean = |value: &dyn Fn(&Row) -> f64| rows.iter().map(value).sum::<f64>() / rows.len() as f64;
    let optimal = |plan: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| plan(row)).count().to_string();
    let mut cells = vec![
        name.to_owned(),
        rows.len().to_string(),
        optimal(&|row| row.free.is_proven_optimal()),
        optimal(&|row| row.equal.is_proven_optimal()),
        mbps(mean(&|row| row.free.rate_bps)),
        mbps(mean(&|row| row.equal.rate_bps)),
        mbps(mean(&|row| row.rounded_mean)),
        mbps(mean(&|row| row.rounded_best)),
        format!("{:.2}", mean(&|row| row.free.rate_bps / row.rounded_mean)),
    ];
    for b in [1, 0, 2] {
        cells.push(mbps(mean(&|row| row.baselines[b].rate_bps)));
    }
    line(widths, &cells);
}
