//! LP-InArt compared with the literal Eq. (5), written in Pyomo and solved by HiGHS: both on one thread, in
//! turns, on the same networks; model building counted on both sides, reading the network on neither. Seconds
//! are of processor time, so that other work on the machine favors neither.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use inart_planner_aggregation::{LpMethod, lp_bound};
use inart_topologies::switched::Topology;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::sys::time::TimeVal;
use serde_json::Value;

use crate::networks;
use crate::table::{line, mbps, say, seconds};

/// Both on PyPI.
const PACKAGES: [&str; 2] = ["pyomo==6.10.1", "highspy==1.15.1"];
/// Six digits.
const SAME: f64 = 5e-7;
/// Turns of ours; the quickest counts, as noise only ever adds.
const TURNS: usize = 3;
/// Heading of the table's columns.
const WIDTHS: [usize; 10] = [15, 6, 10, 12, 10, 10, 10, 10, 10, 10];

/// Prints the table; a run of Pyomo is ended after `limit` seconds of processor time.
pub fn run(limit: u64) -> anyhow::Result<()> {
    say(
        "LP-InArt, k = 6, 50 workers, 4 servers: the literal Eq. (5) in Pyomo and HiGHS, and ours, one thread each",
    );
    let python = match python() {
        Ok(python) => python,
        Err(reason) => {
            say(&format!("skipped: {reason}"));
            return Ok(());
        }
    };
    let head =
        ["network", "shares", "f~ Mbps", "Pyomo", "build", "HiGHS", "program", "ratio", "planner", "ratio"];
    line(&WIDTHS, &head.map(str::to_owned));
    let instances = [
        ("homogeneous", networks::homogeneous(6, networks::SERVERS, 50, 1)?),
        ("heterogeneous", networks::heterogeneous(6, networks::SERVERS, 50, 1)?),
        ("tight", networks::tight(6, networks::SERVERS, 50, 1)?),
    ];
    for (name, topology) in &instances {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(topology.to_json().as_bytes())?;
        for equal in [false, true] {
            let [program, planner] =
                [LpMethod::Program, LpMethod::Quickest].map(|method| ours(topology, equal, method));
            let ours = [program?, planner?];
            let shares = if equal { "equal" } else { "free" };
            for method in ["choose", "ipm"] {
                let name = format!("{name}, {method}");
                let theirs = pyomo(&python, file.path(), shares, method, limit)?;
                let cells = compared(&name, shares, &ours, theirs, limit)?;
                line(&WIDTHS, &[&[name, shares.to_owned()][..], &cells].concat());
            }
        }
    }
    say(
        "choose: HiGHS as Pyomo calls it; ipm: set to interior point without presolve and crossover, its fastest here.",
    );
    say(
        "program: our LP in any case; planner: the closed form where even routing certifies it, else our LP.",
    );
    say("Every f~ is equal to six digits.\n");
    Ok(())
}

/// Returns the result of our LP, in bit/s, and its seconds.
fn ours(topology: &Topology, equal: bool, method: LpMethod) -> anyhow::Result<(f64, f64)> {
    let mut best = f64::INFINITY;
    let mut found = 0.0;
    for _ in 0..TURNS {
        let start = processor_s()?;
        found = lp_bound(topology, &topology.jobs()[0], equal, method)?;
        best = best.min(processor_s()? - start);
    }
    Ok((found, best))
}

/// Returns the cells of a line after its name and shares: ours, the program and the planner, next to Pyomo's
/// output.
fn compared(
    name: &str,
    shares: &str,
    ours: &[(f64, f64); 2],
    theirs: Option<Value>,
    limit: u64,
) -> anyhow::Result<Vec<String>> {
    let [(found, program_s), (_, planner_s)] = *ours;
    let Some(theirs) = theirs else {
        let at_least = |ours: f64| format!("> {:.0}", limit as f64 / ours);
        return Ok(vec![
            mbps(found),
            format!("> {limit} s"),
            "-".into(),
            "-".into(),
            seconds(program_s),
            at_least(program_s),
            seconds(planner_s),
            at_least(planner_s),
        ]);
    };
    let number = |key: &str| theirs[key].as_f64().with_context(|| format!("Pyomo's {key}"));
    let (objective, build, solve) = (number("objective_bps")?, number("build_s")?, number("solve_s")?);
    for (found, _) in ours {
        ensure!(
            (found / objective - 1.0).abs() < SAME,
            "{name}, {shares} shares: ours is {found}, Pyomo's is {objective}"
        );
    }
    let ratio = |ours: f64| format!("{:.0}", (build + solve) / ours);
    Ok(vec![
        mbps(objective),
        seconds(build + solve),
        seconds(build),
        seconds(solve),
        seconds(program_s),
        ratio(program_s),
        seconds(planner_s),
        ratio(planner_s),
    ])
}

/// Processor time of this process so far, in seconds.
fn processor_s() -> anyhow::Result<f64> {
    let used = getrusage(UsageWho::RUSAGE_SELF)?;
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    Ok(seconds(used.user_time()) + seconds(used.system_time()))
}

/// Returns one run of Pyomo; `None` if it took longer than `limit` seconds.
fn pyomo(
    python: &Path,
    topology: &Path,
    shares: &str,
    method: &str,
    limit: u64,
) -> anyhow::Result<Option<Value>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("pyomo/lp_inart.py");
    let output = Command::new("sh")
        .args(["-c", "ulimit -S -t \"$1\" && shift && exec \"$@\"", "sh"])
        .arg(limit.to_string())
        .arg(python)
        .arg(script)
        .arg(topology)
        .args(["--shares", shares, "--method", method])
        // Linear algebra libraries below NumPy take all cores by default.
        .env("OMP_NUM_THREADS", "1")
        .output()
        .context("sh")?;
    match (output.status.code(), output.status.signal()) {
        (Some(0), _) => {
            Ok(Some(serde_json::from_slice(&output.stdout).context("the output of lp_inart.py")?))
        }
        (_, Some(signal)) if signal == Signal::SIGXCPU as i32 => Ok(None),
        _ => bail!("lp_inart.py: {}", String::from_utf8_lossy(&output.stderr).trim()),
    }
}

/// Returns the Python that has Pyomo and HiGHS, installed below `target/` once; an error names the reason if
/// it is missing.
fn python() -> anyhow::Result<PathBuf> {
    let root = Path::new(env!("INART_ROOT"));
    let output = Command::new("sh")
        .arg(root.join("p4/p4runtime/tests/venv.sh"))
        .arg(root.join("target/venvs/pyomo"))
        .args(PACKAGES)
        .output()
        .context("sh")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}
