//! Runs `inart experiment --measure`: emulates the points of the figures one by one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use inart_emulator::aggregation::figures::SchemeFigures;
use inart_emulator::machine::scale::Scale;
use inart_emulator::{Emulation, Options, Work, Workload};
use inart_experiments::{
    EMBEDDED_SWITCH, Experiment, MEASURED_SCHEMES, MEASURED_SEED, Measurement, MeasurementKey, Network,
    Point, measured_table, read_measured, write_measured,
};
use inart_planner_aggregation::{Levels, Results, Scheme};
use inart_topologies::switched::Topology;
use inart_wire::ValuesPerFrame;

use crate::commands::experiment::files::{make, place};
use crate::commands::output::print;

/// Arguments of measuring.
#[derive(clap::Args)]
pub struct MeasureArgs {
    /// Emulate the points on the network of seed 1 in place of planning them (needs root).
    ///
    /// The results go to measured.csv in the folder. Points that the file has already are skipped.
    #[arg(long)]
    measure: bool,
    /// With --measure: factor on all rates.
    #[arg(long, requires = "measure", default_value = "1/5")]
    scale: Scale,
    /// With --measure: schemes to run [default: optimized, inart, atp-unlimited, atp, lbmm].
    #[arg(long, requires = "measure", value_delimiter = ',', value_parser = crate::commands::scheme::parser())]
    schemes: Vec<&'static dyn Scheme>,
    /// With --measure: points on the figures' axes to run, such as 10,20 [default: all].
    #[arg(long, requires = "measure", value_name = "X", value_delimiter = ',')]
    at: Vec<String>,
    /// With --measure: program of another switch, with simple_switch_grpc's command line.
    #[arg(long, requires = "measure", value_name = "PROGRAM")]
    switch: Option<PathBuf>,
}

/// Least duration of all rounds together, in seconds.
const LEAST_SECONDS: f64 = 6.0;
const MOST_ROUNDS: f64 = 20.0;
/// Share of the planned rate below which a measurement may have been disturbed and is repeated.
const GOOD: f64 = 0.9;
const MOST_TRIES: u32 = 3;
/// Peer timeout of hosts at the topology's own rates, in seconds. It is long, so that few notices travel
/// between the frames.
const PEER_TIMEOUT_SECONDS: f64 = 10.0;
const VALUES: ValuesPerFrame = ValuesPerFrame::N256;

impl MeasureArgs {
    pub fn is_wanted(&self) -> bool {
        self.measure
    }

    fn schemes(&self) -> &[&'static dyn Scheme] {
        if self.schemes.is_empty() { &MEASURED_SCHEMES } else { &self.schemes }
    }

    fn switch_name(&self) -> String {
        let stem = self.switch.as_deref().and_then(Path::file_stem);
        stem.map_or_else(|| EMBEDDED_SWITCH.to_owned(), |stem| stem.to_string_lossy().into_owned())
    }
}

/// Measures missing points, writes the file in folder `out` after each measurement, and prints the tables.
pub fn run(
    args: &MeasureArgs,
    out: &Path,
    experiments: &[Experiment],
    json: bool,
) -> anyhow::Result<ExitCode> {
    let file = out.join("measured.csv");
    let mut sheet = Sheet::read(&file)?;
    let chosen: Vec<&Experiment> = experiments.iter().filter(|e| e.measurable_points().count() > 0).collect();
    ensure!(
        !chosen.is_empty(),
        "--measure: {} is planned only; inart-fig8 to inart-fig13 are measured",
        experiments.iter().map(|experiment| experiment.name).collect::<Vec<_>>().join(", ")
    );
    let skipped = experiments.iter().filter(|e| e.measurable_points().count() == 0).map(|e| e.name);
    let skipped: Vec<_> = skipped.collect();
    if !skipped.is_empty() {
        eprintln!("note: planned only, not measured: {}", skipped.join(", "));
    }

    let wanted = |point: &&&Point| args.at.is_empty() || args.at.contains(&point.x);
    let all: Vec<&Point> = chosen.iter().flat_map(|experiment| experiment.measurable_points()).collect();
    let mut points: Vec<&Point> = Vec::new();
    for point in all.iter().filter(wanted) {
        let is_known =
            |known: &&Point| (known.network, known.gradient_bytes) == (point.network, point.gradient_bytes);
        if !points.iter().any(is_known) {
            points.push(point);
        }
    }
    ensure!(
        !points.is_empty(),
        "--at: no figure has this point; give points of the tables, such as 10 or lstm"
    );
    let mut networks: Vec<Network> = points.iter().map(|point| point.network).collect();
    networks.sort();
    networks.dedup();
    make(out)?;
    for network in networks {
        let here = points.iter().copied().filter(|point| point.network == network);
        measure(args, network, here, &mut sheet)?;
    }

    for experiment in chosen.iter().filter(|_| !json) {
        let text = measured_table(experiment, &sheet.rows);
        print(&format!("{}: {}\n\n{text}", experiment.name, experiment.title))?;
    }
    if json {
        print(&format!("{}\n", serde_json::to_string(&sheet.rows)?))?;
    } else {
        print(&format!("measurements: {}\n", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures missing points on one network.
fn measure<'p>(
    args: &MeasureArgs,
    network: Network,
    points: impl Iterator<Item = &'p Point>,
    sheet: &mut Sheet,
) -> anyhow::Result<()> {
    let switch = args.switch_name();
    let mut missing = Vec::new();
    for point in points {
        for &scheme in args.schemes() {
            let key = point.key(&switch, scheme).expect("measurable points are on fat-trees");
            if !sheet.has(&key) {
                missing.push((scheme, key));
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let mut emulation = Emulation::start(options(args, network.topology(MEASURED_SEED))?, &mut |_| ())
        .with_context(|| network.to_string())?;
    for (scheme, key) in missing {
        let row = measure_best(&mut emulation, scheme, key)?;
        let [rate, planned] = [row.rate_bps, row.planned_rate_bps].map(|rate| rate / 1e6);
        eprintln!(
            "{network}, {} KB, {scheme}: {rate:.2} Mbps of {planned:.2}, {} sums, {} tries",
            row.gradient_bytes / 1000,
            row.sums,
            row.tries
        );
        sheet.add(row)?;
    }
    Ok(())
}

/// Returns the best of up to three tries. A try whose job was aborted for lack of processor time does not
/// count.
fn measure_best(
    emulation: &mut Emulation,
    scheme: &dyn Scheme,
    key: MeasurementKey,
) -> anyhow::Result<Measurement> {
    let planned_bps = emulation.planned_rate_bps(scheme).expect("one of the schemes that were planned");
    let bytes = key.gradient_bytes as f64;
    let round_seconds = 8.0 * bytes / planned_bps / emulation.scale();
    let rounds = (LEAST_SECONDS / round_seconds).ceil().clamp(1.0, MOST_ROUNDS) as u32;
    let work = Work { rounds, workload: Workload::AllReduce { values: key.gradient_bytes as usize / 4 } };
    let (mut best, mut all_sums): (Option<SchemeFigures>, u64) = (None, 0);
    let mut tries = 0;
    while tries < MOST_TRIES && best.as_ref().is_none_or(|best| best.rate_bps < GOOD * planned_bps) {
        tries += 1;
        let figures = match emulation.run(scheme, work, &mut |_| ()) {
            Ok((figures, sums)) => {
                all_sums += sums;
                figures
            }
            Err(inart_emulator::Error::Failed { who, why }) if tries < MOST_TRIES => {
                eprintln!("note: {scheme}, try {tries}: {who}: {why}");
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if best.as_ref().is_none_or(|best| best.rate_bps < figures.rate_bps) {
            best = Some(figures);
        }
    }
    let figures = best.context("no try came to an end")?;
    // Significant digits.
    let digits = |value: f64, unit: f64| (value / unit).round() * unit;
    let micro = |seconds: f64| (seconds * 1e6).round() / 1e6;
    Ok(Measurement {
        switch: key.switch,
        links: key.links,
        servers: key.servers,
        workers: key.workers,
        gradient_bytes: key.gradient_bytes,
        scheme: key.scheme,
        seed: MEASURED_SEED,
        scale: emulation.scale(),
        values: VALUES.get(),
        rounds,
        tries,
        sums: all_sums,
        rate_bps: digits(figures.rate_bps, 1.0),
        planned_rate_bps: digits(figures.planned_rate_bps, 1.0),
        comm_seconds: micro(figures.comm_seconds),
        planned_comm_seconds: micro(figures.planned.comm_seconds),
        ingress_bytes: digits(figures.ps_ingress_bytes as f64 / f64::from(rounds), 1.0),
        planned_ingress_bytes: digits(figures.planned.ps_ingress_bytes, 1.0),
        sent_again: figures.retransmissions,
    })
}

fn options(args: &MeasureArgs, topology: Topology) -> anyhow::Result<Options> {
    Ok(Options {
        topology,
        schemes: args.schemes().to_vec(),
        plans: Vec::new(),
        levels: Levels::One,
        // As in the InArt paper and its figures.
        results: Results::Ignored,
        jobs: 1,
        target: inart_targets::DEFAULT,
        values: VALUES,
        window_chunks: 64,
        scale: Some(args.scale),
        drop: Default::default(),
        faults: Default::default(),
        peer_timeout: Duration::from_secs_f64(PEER_TIMEOUT_SECONDS / args.scale.factor()),
        expose: None,
        follow: false,
        changes: None,
        seed: MEASURED_SEED,
        program: std::env::current_exe().context("finding this command's own file")?,
        switch: args.switch.clone(),
        external: None,
    })
}

/// File of measurements.
struct Sheet {
    file: PathBuf,
    rows: Vec<Measurement>,
}

impl Sheet {
    const COMMAND: &str = "inart experiment all --measure";

    fn read(file: &Path) -> anyhow::Result<Sheet> {
        let rows = match std::fs::read_to_string(file) {
            Ok(text) => read_measured(&text).with_context(|| file.display().to_string())?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error).with_context(|| place("--out", file)),
        };
        Ok(Sheet { file: file.to_owned(), rows })
    }

    fn has(&self, key: &MeasurementKey) -> bool {
        self.rows.iter().any(|row| row.key() == *key)
    }

    fn add(&mut self, row: Measurement) -> anyhow::Result<()> {
        self.rows.push(row);
        let text = write_measured(Self::COMMAND, &self.rows)?;
        std::fs::write(&self.file, text).with_context(|| place("--out", &self.file))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use inart_experiments::experiment;

    use super::*;

    /// Committed measurements have the name of the default switch, so a second run measures nothing.
    #[test]
    fn committed_measurements_are_found() {
        let args = MeasureArgs {
            measure: true,
            scale: "1/5".parse().unwrap(),
            schemes: Vec::new(),
            at: Vec::new(),
            switch: None,
        };
        let root = Path::new(env!("INART_ROOT"));
        let sheet = Sheet::read(&root.join("experiments/results/measured.csv")).unwrap();
        let figure = experiment("inart-fig9").unwrap();
        let hom = figure.panels.iter().filter(|panel| panel.key == "hom").flat_map(|panel| &panel.points);
        for point in hom {
            for scheme in args.schemes() {
                let key = point.key(&args.switch_name(), *scheme).unwrap();
                assert!(sheet.has(&key), "{key:?}");
            }
        }
    }
}
