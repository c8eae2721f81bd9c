//! `inart emulate NETWORK` on a network of sites.

mod both;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};
use inart_emulator::Measured;
use inart_emulator::machine::scale::{Scale, Scaling, check_slowest};
use inart_emulator::sites::{Method, Report, Setting, Variant, Workload, chart, emulate_sites};
use inart_planner_sites::{Disjoint, Options, Plan, Scheme};
use inart_quic::Congestion;
use inart_simulator_sites::ideal::Knowledge;
use inart_topologies::sites::{Hierarchy, Overlay};
use inart_topologies::units::{Rate, Size, counted, display_size};
use inart_training::{Config, Trainer};
use indicatif::{ProgressBar, ProgressStyle};

use crate::commands::drawing::{try_file, write_file};
use crate::commands::emulate::aggregation::refused::with_flag;
use crate::commands::network;
use crate::commands::output::print;
use crate::commands::sites::own;
use crate::commands::values::{Time, batch, emulated_size, link_rate};
use crate::line::section::{SITES, Section};
use crate::line::{Invocation, OnNetwork};

/// Arguments of `inart emulate` on a network of sites.
#[derive(clap::Args)]
pub struct Args {
    /// Job to run [default: the only one].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Schemes to compare.
    ///
    /// netstorm+ is netstorm with node-disjoint auxiliary paths, chosen lazily. gloo is PyTorch's ring
    /// all-reduce (Debian's python3-torch) over routes of the fewest hops. [default:
    /// inart,netstorm,netstorm+,fapt,mst,bkt,star; on networks of both levels inart].
    #[arg(long, value_delimiter = ',')]
    schemes: Vec<String>,
    /// Plan (JSON) to run under the name `own`, alone or together with --schemes.
    ///
    /// The file is as `inart plan --json` prints it, or has its trees only. The scheduler never replaces the
    /// plan.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Duration per scheme; runs as many rounds as begin within this time in simulation.
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = Time::read)]
    duration: Time,
    /// Largest number of rounds per scheme.
    #[arg(long, default_value_t = 1000)]
    rounds: u32,
    /// Factor on the network's rates, such as 1/40; traces and delays scale along.
    ///
    /// Printed times are at the network's own rates [default: the model's gradient takes a fifteenth of the
    /// time of the job's].
    #[arg(long)]
    scale: Option<Scale>,
    /// Sum random gradients of this size, such as 1 MB, in place of training.
    #[arg(long, value_name = "SIZE", conflicts_with = "batch", value_parser = emulated_size)]
    gradient: Option<Size>,
    /// Images per site and round.
    #[arg(long, default_value_t = 32, value_parser = batch::<usize>())]
    batch: usize,
    /// Knowledge of the scheduler: passive (rates measured by sites) or static (initial rates).
    #[arg(long, default_value = "passive", value_parser = ["passive", "static"])]
    knowledge: String,
    /// Rate assumed for links without a measurement, before scaling.
    #[arg(long = "default-rate", default_value = "87.5Mbps", value_parser = link_rate)]
    default_rate: Rate,
    /// Congestion control of QUIC connections.
    #[arg(long, default_value = "delivery-rate", value_parser = Congestion::NAMES)]
    congestion: String,
    /// With gloo: Python interpreter that has torch.
    #[arg(long, value_name = "PROGRAM", default_value = "/usr/bin/python3")]
    python: PathBuf,
    /// Random seed of data, weights and losses.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// SVG file for a chart of the rounds' durations.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

/// Default schemes of a comparison.
const SCHEMES: [&str; 7] = ["optimized", "netstorm", "netstorm+", "fapt", "mst", "bkt", "star"];

/// Rounds take this part of their time, unless a scale is given.
const TIME: f64 = 1.0 / 15.0;

fn variant(name: &str, python: &Path) -> anyhow::Result<Variant> {
    if name == "gloo" {
        return Ok(Variant { name: name.to_owned(), method: Method::Gloo { python: python.to_owned() } });
    }
    let (plain, paths) = match name.strip_suffix('+') {
        Some(plain) => (plain, Some(Disjoint::Nodes)),
        None => (name, None),
    };
    let known = || Scheme::ALL.map(Scheme::name).join(", ");
    let scheme = Scheme::named(plain).ok_or_else(|| {
        anyhow!("--schemes {name}: no such scheme; name some of {}, netstorm+, gloo", known())
    })?;
    let mut flags = vec!["--scheme".to_owned(), plain.to_owned()];
    if paths.is_some() {
        flags.extend(["--auxiliary", "node-disjoint"].map(str::to_owned));
    }
    let plan = Options { auxiliary: paths, ..Options::new(scheme) };
    Ok(Variant { name: name.to_owned(), method: Method::Planned { plan, flags } })
}

/// Returns the user's own plan on the scaled network. Processes start with the plan in place of flags.
fn own_variant(plan: &Plan, scaled: &Overlay, size: f64) -> anyhow::Result<Variant> {
    let plan = Options::following(own::for_scaled(plan, scaled, size)?)?;
    Ok(Variant { name: "own".to_owned(), method: Method::Planned { plan, flags: Vec::new() } })
}

impl OnNetwork for Args {
    type Network = Hierarchy;
    const SECTION: &'static Section = &SITES;

    fn run(self, network: Hierarchy, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, &network, invocation)
    }
}

fn run(args: &Args, hierarchy: &Hierarchy, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let (overlay, json) = (&hierarchy.overlay, invocation.json);
    let has_insides = !hierarchy.insides.is_empty();
    let given = args.given(overlay, has_insides, &invocation.path)?;
    let named = given.as_ref().map(|plan| plan.job.clone()).or_else(|| args.job.clone());
    let job = network::site_job(overlay, named.as_deref())?;
    ensure!(args.rounds > 0, "--rounds 0: give at least 1");
    ensure!(job.sites.len() == overlay.sites().len(), "job {}: it has to have all sites", job.name);
    let config = Config { seed: args.seed, rank: 0, workers: job.sites.len(), batch: args.batch };
    let model_bytes = 4 * Trainer::new(config)?.gradient_len() as u64;
    let bytes = args.gradient.map_or(model_bytes, |size| (size.0 as u64).next_multiple_of(4));
    let factor = match args.scale {
        Some(scale) => scale.factor(),
        None => (bytes as f64 / job.gradient_bytes() as f64 / TIME).min(1.0),
    };
    let rates = overlay.rates_at(0.0);
    check_slowest(overlay.arcs().map(|arc| rates.of(arc)), factor)
        .map_err(|problem| anyhow!("--scale: {problem}"))?;
    let (scaled, times) = overlay.scaled(job, bytes, factor);
    let default = if has_insides { &SCHEMES[..1] } else { &SCHEMES[..] };
    let names: Vec<String> = match &args.schemes[..] {
        [] if given.is_some() => Vec::new(),
        [] => default.iter().map(|name| (*name).to_owned()).collect(),
        given => given.to_vec(),
    };
    let own = given.iter().map(|plan| own_variant(plan, &scaled, bytes as f64 / job.gradient_bytes() as f64));
    let variants = own.chain(names.iter().map(|name| variant(name, &args.python)));
    let variants = variants.collect::<anyhow::Result<_>>()?;
    let setting = Setting {
        overlay: Arc::new(scaled),
        scale: Scaling { rates: factor, times },
        variants,
        workload: match args.gradient {
            Some(_) => Workload::Random,
            None => Workload::Training { batch: args.batch },
        },
        duration: args.duration.duration,
        most_rounds: args.rounds,
        seed: args.seed,
        knowledge: if args.knowledge == "static" { Knowledge::Static } else { Knowledge::Passive },
        prior_bps: args.default_rate.0 * factor,
        program: std::env::current_exe().context("this program's own file")?,
        congestion: args.congestion.clone(),
    };
    if has_insides {
        hierarchy.fits(job)?;
        ensure!(
            args.chart.is_none(),
            "--chart: it is drawn of networks of sites without insides only; leave it out"
        );
        if let Some(ring) =
            setting.variants.iter().find(|variant| matches!(variant.method, Method::Gloo { .. }))
        {
            bail!("--schemes {}: no workers are inside its sites; name schemes of trees", ring.name);
        }
        setting.check().map_err(with_flag)?;
        let (hierarchy, _) = hierarchy.scaled(job, bytes, factor);
        let (text, problem) = both::run(&hierarchy, &setting, job.gradient_bytes(), json)?;
        print(&text)?;
        return problem.map_or(Ok(ExitCode::SUCCESS), Err);
    }
    args.chart.as_deref().map_or(Ok(()), |file| try_file("--chart", file))?;
    let bar = ProgressBar::new(1000);
    let style = ProgressStyle::with_template("{msg:12} {bar:40} {percent}%, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let report = emulate_sites(&setting, &mut |progress| {
        bar.set_position((progress.seconds_done / progress.seconds_total * 1000.0) as u64);
        bar.set_message(progress.stage.to_owned());
    });
    bar.finish_and_clear();
    let Measured { report, problem } = report.map_err(with_flag)?;
    // Figures from before a failure are printed, too.
    let drawing = |file: &PathBuf| write_file("--chart", file, &chart(&report, overlay));
    let drawn = args.chart.as_ref().map_or(Ok(()), drawing);
    let text = match json {
        true => serde_json::to_string(&report)? + "\n",
        false => table(&report, job.gradient_bytes(), args),
    };
    print(&text)?;
    drawn?;
    problem.map_or(Ok(ExitCode::SUCCESS), |error| Err(error.into()))
}

impl Args {
    fn given(&self, overlay: &Overlay, has_insides: bool, topology: &Path) -> anyhow::Result<Option<Plan>> {
        let Some(path) = &self.plan else { return Ok(None) };
        ensure!(!has_insides, "--plan: on networks of sites without insides only; leave it out");
        let place = format!("--plan {}", path.display());
        own::read(&place, path, topology, overlay, self.job.as_deref()).map(Some)
    }
}

fn table(report: &Report, own_bytes: u64, args: &Args) -> String {
    let mut out = format!(
        "{}: {}, with a gradient of {}; rounds as many as begin within {} by the clock\n\
         Times are the network's own: at its rates, with its gradient of {}.\n",
        report.network,
        report.scale,
        display_size(report.gradient_bytes as f64),
        args.duration.text,
        display_size(own_bytes as f64),
    );
    let _ = writeln!(out, "                              after the first round");
    let _ = writeln!(
        out,
        "scheme      rounds   mean s   real s  simulated s  ratio  computing s  vs optimized  accuracy  relayed"
    );
    let ours = report.schemes.iter().find(|scheme| scheme.scheme == "optimized").map(|scheme| scheme.mean_s);
    for scheme in &report.schemes {
        let beside = ours.map_or(String::new(), |ours| format!("{:.2}", scheme.mean_s / ours));
        let simulated_s = scheme.simulated.map(|simulated| simulated.after_first_s);
        let evaluations = scheme.accuracy.map_or(String::new(), |share| format!("{:.1}%", share * 100.0));
        let _ = writeln!(
            out,
            "{:10}  {:>6}  {:>7.2}  {:>7.2}  {:>11}  {:>5}  {:>11.2}  {:>12}  {:>8}  {:>7}",
            scheme.scheme,
            scheme.rounds.len(),
            scheme.mean_s,
            scheme.after_first_s,
            simulated_s.map_or(String::new(), |seconds| format!("{seconds:.2}")),
            simulated_s.map_or(String::new(), |seconds| format!("{:.2}", scheme.after_first_s / seconds)),
            scheme.compute_s,
            beside,
            evaluations,
            scheme.relayed,
        );
    }
    if let Some(scheme) = report.schemes.first() {
        let _ = writeln!(
            out,
            "at the rates at the start no schedule takes less than {:.2} s; computing is not in it, and takes what it \
             takes on this machine",
            scheme.bound_s
        );
    }
    let checked: u64 = report.schemes.iter().map(|scheme| scheme.sums_checked).sum();
    let lost: u64 = report.schemes.iter().map(|scheme| scheme.frames_lost).sum();
    let _ = writeln!(
        out,
        "{checked} values of sums compared bit for bit, all equal; the network lost {lost}",
        lost = counted(lost, "frame")
    );
    if let Some(path) = &args.chart {
        let _ = writeln!(out, "chart: {}", path.display());
    }
    out
}
