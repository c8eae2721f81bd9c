//! Seconds to a plan, one thread, each row in a process of its own so that its memory can be measured.

use std::process::Command;

use anyhow::{Context, bail};
use inart_planner_aggregation::{LpMethod, Options, lp_bound, schemes};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

use crate::networks;
use crate::table::{line, made, mbps, say, seconds, timed};

/// Seconds after which a row is aborted.
const LIMIT: u64 = 300;

/// Name of the row, its measurement, and the target in seconds.
const ROWS: [(&str, &str, f64); 8] = [
    ("k6", "k = 6, 50 workers, 4 servers: plan", 0.05),
    ("k6-equal", "k = 6, equal shares: plan", 0.05),
    ("k16", "k = 16, 1016 workers, 8 servers: plan", 2.0),
    ("k16-equal", "k = 16, equal shares: plan", 2.0),
    ("lp12", "k = 12, 388 workers, 8 servers: f~ as planned", 60.0),
    ("lp12-program", "k = 12: f~ by the program", 60.0),
    ("lp12-het", "k = 12, 10 to 30 Mbps: f~ as planned", 60.0),
    ("lp12-tight", "k = 12, links bind: f~ as planned", 60.0),
];

/// Prints the table.
pub fn run() -> anyhow::Result<()> {
    say("Time to a plan and its proof on one thread, homogeneous fat-trees; the quickest of a few turns");
    let widths = [50, 10, 10, 9, 9, 10, 9];
    line(&widths, &["", "took", "target", "MiB", "Mbps", "bound", "proven"].map(str::to_owned));
    for (name, what, target) in ROWS {
        let output = Command::new("timeout")
            .arg(LIMIT.to_string())
            .arg(std::env::current_exe()?)
            .args(["row", name])
            .output()
            .context("timeout (coreutils)")?;
        let row: Value = match output.status.code() {
            Some(0) => serde_json::from_slice(&output.stdout)?,
            Some(124) => {
                line(&widths, &[what.into(), format!("> {LIMIT} s"), seconds(target)]);
                continue;
            }
            _ => bail!("{what}: {}", String::from_utf8_lossy(&output.stderr).trim()),
        };
        let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
        let proven = if number("bps") >= number("bound_bps") * (1.0 - 1e-6) {
            "yes".to_owned()
        } else {
            format!("{:.1} %", 100.0 * number("bps") / number("bound_bps"))
        };
        line(
            &widths,
            &[
                what.into(),
                seconds(number("seconds")),
                seconds(target),
                format!("{:.0}", number("peak_mib")),
                mbps(number("bps")),
                mbps(number("bound_bps")),
                proven,
            ],
        );
    }
    say("");
    Ok(())
}

/// Measures one row and prints it as JSON.
pub fn row(name: &str) -> anyhow::Result<()> {
    let plan = |k, servers, workers, equal_shares, turns| {
        let topology = networks::homogeneous(k, servers, workers, 1)?;
        let options = Options { equal_shares, ..Options::new(schemes::OPTIMIZED) };
        let (plan, took) =
            timed(turns, || Ok(inart_planner_aggregation::plan(&topology, &topology.jobs()[0], &options)?))?;
        made(&topology, &options)?;
        anyhow::Ok((took, plan.rate_bps, plan.bounds.integral_bps))
    };
    let bound = |topology: inart_topologies::switched::Topology, method| {
        let (bps, took) = timed(1, || Ok(lp_bound(&topology, &topology.jobs()[0], false, method)?))?;
        anyhow::Ok((took, bps, bps))
    };
    let (took, bps, bound_bps) = match name {
        "k6" => plan(6, networks::SERVERS, 50, false, 5)?,
        "k6-equal" => plan(6, networks::SERVERS, 50, true, 5)?,
        "k16" => plan(16, 8, 1016, false, 2)?,
        "k16-equal" => plan(16, 8, 1016, true, 2)?,
        "lp12" => bound(networks::homogeneous(12, 8, 388, 1)?, LpMethod::Quickest)?,
        "lp12-program" => bound(networks::homogeneous(12, 8, 388, 1)?, LpMethod::Program)?,
        "lp12-het" => bound(networks::heterogeneous(12, 8, 388, 1)?, LpMethod::Quickest)?,
        "lp12-tight" => bound(networks::tight(12, 8, 388, 1)?, LpMethod::Quickest)?,
        _ => bail!("there is no row {name}"),
    };
    let peak_mib = getrusage(UsageWho::RUSAGE_SELF)?.max_rss() as f64 / 1024.0;
    let row = json!({"seconds": took, "bps": bps, "bound_bps": bound_bps, "peak_mib": peak_mib});
    say(&row.to_string());
    Ok(())
}
