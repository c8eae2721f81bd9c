//! `inart plan NETWORK` on a network of peers.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use inart_planner_peers::{Multicast, Options, Plan, Scheme};
use inart_topologies::peers::{Mesh, PeerJob};
use inart_topologies::units::{counted, display_size};

use crate::commands::output::print;
use crate::commands::peers::own;
use crate::commands::plans::PLAN;
use crate::commands::{document, network};
use crate::line::section::{PEERS, Section};
use crate::line::{Invocation, OnNetwork};

/// Arguments of `inart plan` on a network of peers.
#[derive(clap::Args)]
pub struct Args {
    /// Job to plan [default: the only one].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    #[command(flatten)]
    receivers: Receivers,
    /// Fairness bound K: peers left out of K rounds must receive [default: no bound].
    #[arg(long = "fairness-bound", value_name = "K")]
    force_after: Option<u32>,
    /// Complete a plan of your own (JSON) with its round time and bound.
    ///
    /// The file has tasks, each with a sender and its receivers, and optionally `multicast` and
    /// `force_after`.
    #[arg(long, value_name = "FILE",
        conflicts_with_all = ["check", "scheme", "seed", "first_pass_only", "force_after"])]
    complete: Option<PathBuf>,
    /// Verify a plan (JSON) against the network, in place of planning.
    ///
    /// Exit status: 0 if the plan holds, 1 if it violates a constraint, 2 if the file is not a plan.
    #[arg(long, value_name = "PLAN",
        conflicts_with_all = ["scheme", "multicast", "seed", "first_pass_only", "force_after"])]
    check: Option<PathBuf>,
}

/// How receivers are chosen.
#[derive(clap::Args)]
pub struct Receivers {
    /// Scheme that chooses receivers.
    #[arg(long, default_value = Scheme::Optimized.name(), value_parser = scheme())]
    pub scheme: Scheme,
    /// Where updates are copied: switch (sent once) or hosts (sent once per receiver).
    #[arg(long, default_value = "switch", value_parser = multicast())]
    pub multicast: Multicast,
    /// Random seed; the same inputs give the same receivers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// With --scheme selmcast: skip the second pass, which adds receivers that cost no time.
    #[arg(long)]
    pub first_pass_only: bool,
}

/// Returns the parser of schemes that choose receivers.
pub fn scheme() -> impl TypedValueParser<Value = Scheme> {
    let known = Scheme::ALL.map(|scheme| PossibleValue::new(scheme.name()).help(scheme.summary()));
    PossibleValuesParser::new(known).map(|name| Scheme::named(&name).expect("one of the possible values"))
}

fn multicast() -> impl TypedValueParser<Value = Multicast> {
    PossibleValuesParser::new(["switch", "hosts"])
        .map(|name| Multicast::named(&name).expect("one of the possible values"))
}

impl Receivers {
    pub fn options(&self, force_after: Option<u32>) -> Options {
        Options {
            seed: self.seed,
            second_pass: !self.first_pass_only,
            force_after,
            ..Options::new(self.scheme, self.multicast)
        }
    }
}

impl OnNetwork for Args {
    type Network = Mesh;
    const SECTION: &'static Section = &PEERS;

    fn run(self, network: Mesh, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, &network, invocation.json)
    }
}

fn run(args: &Args, mesh: &Mesh, json: bool) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.check {
        return check(mesh, path, json);
    }
    let (job, plan) = match &args.complete {
        Some(path) => {
            let plan = own::complete_file(mesh, args.job.as_deref(), path, args.receivers.multicast)?;
            (network::peer_job(mesh, Some(&plan.job))?, plan)
        }
        None => {
            let job = network::peer_job(mesh, args.job.as_deref())?;
            (job, inart_planner_peers::plan(mesh, job, &args.receivers.options(args.force_after))?)
        }
    };
    print(&if json { plan.to_json() + "\n" } else { table(mesh, job, &plan) })?;
    Ok(ExitCode::SUCCESS)
}

fn check(mesh: &Mesh, path: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let place = || path.display().to_string();
    let text = document::read(path).with_context(place)?;
    document::refuse_network(&text, PLAN).with_context(place)?;
    let plan = Plan::from_json(&text).with_context(place)?;
    let job = mesh.job_named(&plan.job).with_context(|| {
        format!("{}: it is for job {}, which network {} does not have", place(), plan.job, mesh.name())
    })?;
    let wrong = inart_planner_peers::check(mesh, job, &plan);
    if json {
        print(&format!("{}\n", serde_json::json!({ "holds": wrong.is_empty(), "violations": wrong })))?;
    } else if wrong.is_empty() {
        print("the plan holds\n")?;
    } else {
        print(&(wrong.join("\n") + "\n"))?;
    }
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn table(mesh: &Mesh, job: &PeerJob, plan: &Plan) -> String {
    let least = job.update_bytes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = job.update_bytes.iter().copied().fold(0.0, f64::max);
    let sizes = match least == most {
        true => display_size(most),
        false => format!("{} to {}", display_size(least), display_size(most)),
    };
    let mut out = format!(
        "{}, job {}: {}, updates of {sizes} to at least {}, scheme {}, copies by {}\n",
        mesh.name(),
        job.name,
        counted(job.peers.len(), "peer"),
        counted(job.receivers, "receiver"),
        plan.scheme,
        match &*plan.multicast {
            "switch" => "the switch",
            _ => "the hosts",
        }
    );
    let name = plan.tasks.iter().map(|task| task.from.len()).max().unwrap_or(0).max(4);
    let _ = writeln!(out, "{:name$}  receivers", "from");
    for task in &plan.tasks {
        let _ = writeln!(out, "{:name$}  {:>3}: {}", task.from, task.to.len(), task.to.join(" "));
    }
    let _ = writeln!(
        out,
        "{:.6} s per round, {:.2} receivers on average; no plan takes less than {:.6} s ({:.3} times)",
        plan.seconds,
        plan.receivers_mean,
        plan.bounds.seconds,
        plan.seconds / plan.bounds.seconds
    );
    out
}
