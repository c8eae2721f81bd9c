//! `inart plan NETWORK` on a network of sites.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use inart_planner_sites::{Disjoint, Options, Plan, Scheme};
use inart_topologies::sites::{Hierarchy, Overlay, SiteJob};
use inart_topologies::units::{counted, display_size};

use crate::commands::output::print;
use crate::commands::plans::PLAN;
use crate::commands::sites::{both_levels, own};
use crate::commands::{document, network};
use crate::line::section::{SITES, Section};
use crate::line::{Invocation, OnNetwork};

/// Arguments of `inart plan` on a network of sites.
#[derive(clap::Args)]
pub struct Args {
    /// Job to plan [default: the only one].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    #[command(flatten)]
    trees: Trees,
    /// Complete a plan of your own (JSON) with its chunks, round time and bound.
    ///
    /// The file has trees with their parents, and optionally shares.
    #[arg(long, value_name = "FILE",
        conflicts_with_all = ["check", "scheme", "root", "degree", "roots", "auxiliary"])]
    complete: Option<PathBuf>,
    /// Verify a plan (JSON) against the network, in place of planning.
    ///
    /// Exit status: 0 if the plan holds, 1 if it violates a constraint, 2 if the file is not a plan.
    #[arg(long, value_name = "PLAN", conflicts_with_all = ["scheme", "root", "degree", "roots", "auxiliary"])]
    check: Option<PathBuf>,
}

/// How trees are chosen.
#[derive(clap::Args)]
pub struct Trees {
    /// Scheme of the trees that carry chunks.
    #[arg(long, default_value = Scheme::Optimized.name(), value_parser = scheme())]
    pub scheme: Scheme,
    /// Root of the tree, for schemes with one root.
    ///
    /// [default: the first site for star and bkt, the root of least w(T) for mst and fapt].
    #[arg(long, value_name = "SITE")]
    root: Option<String>,
    /// With bkt: children per site in the tree.
    #[arg(long, value_name = "K", default_value_t = 2)]
    degree: usize,
    /// With netstorm: number of roots, the best ones [default: all sites].
    #[arg(long, value_name = "N")]
    roots: Option<usize>,
    /// With netstorm, fapt and mst: auxiliary paths between neighbors.
    #[arg(long, default_value = "none", value_parser = auxiliary())]
    auxiliary: Auxiliary,
}

#[derive(Debug, Clone, Copy)]
struct Auxiliary(Option<Disjoint>);

fn scheme() -> impl TypedValueParser<Value = Scheme> {
    let known = Scheme::ALL.map(|scheme| PossibleValue::new(scheme.name()).help(scheme.summary()));
    PossibleValuesParser::new(known).map(|name| Scheme::named(&name).expect("one of the possible values"))
}

fn auxiliary() -> impl TypedValueParser<Value = Auxiliary> {
    PossibleValuesParser::new(["none", "edge-disjoint", "node-disjoint"]).map(|name| match &*name {
        "edge-disjoint" => Auxiliary(Some(Disjoint::Edges)),
        "node-disjoint" => Auxiliary(Some(Disjoint::Nodes)),
        _ => Auxiliary(None),
    })
}

impl Trees {
    /// Returns the options with names resolved to sites of this network.
    pub fn options(&self, overlay: &Overlay) -> anyhow::Result<Options> {
        let known = |name: &String| {
            let all = || overlay.sites().join(", ");
            overlay
                .site_named(name)
                .ok_or_else(|| anyhow!("--root {name}: no such site; name one of {}", all()))
        };
        Ok(Options {
            scheme: self.scheme,
            root: self.root.as_ref().map(known).transpose()?,
            degree: self.degree,
            roots: self.roots,
            auxiliary: self.auxiliary.0,
            given: None,
        })
    }
}

impl OnNetwork for Args {
    type Network = Hierarchy;
    const SECTION: &'static Section = &SITES;

    fn run(self, network: Hierarchy, invocation: &Invocation) -> anyhow::Result<ExitCode> {
        run(&self, network, invocation)
    }
}

fn run(args: &Args, hierarchy: Hierarchy, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let json = invocation.json;
    if args.check.is_none() && args.complete.is_none() && !hierarchy.insides.is_empty() {
        let trees = |overlay: &Overlay| args.trees.options(overlay);
        let between = |job: &SiteJob, plan: &Plan| table(&hierarchy.overlay, job, plan);
        let text = both_levels::planned(&hierarchy, args.job.as_deref(), trees, json, between)?;
        print(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let flag = if args.complete.is_some() { "--complete" } else { "--check" };
    both_levels::refuse(&hierarchy, &invocation.path, flag)?;
    let overlay = hierarchy.overlay;
    if let Some(path) = &args.complete {
        let plan = own::complete_file(&overlay, args.job.as_deref(), path)?;
        return printed(&overlay, network::site_job(&overlay, Some(&plan.job))?, &plan, json);
    }
    let job = network::site_job(&overlay, args.job.as_deref())?;
    if let Some(path) = &args.check {
        return check(&overlay, path, json);
    }
    let plan =
        inart_planner_sites::plan(&overlay, job, &overlay.rates_at(0.0), &args.trees.options(&overlay)?)?;
    printed(&overlay, job, &plan, json)
}

fn printed(overlay: &Overlay, job: &SiteJob, plan: &Plan, json: bool) -> anyhow::Result<ExitCode> {
    print(&if json { plan.to_json() + "\n" } else { table(overlay, job, plan) })?;
    Ok(ExitCode::SUCCESS)
}

fn check(overlay: &Overlay, path: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let place = || path.display().to_string();
    let text = document::read(path).with_context(place)?;
    document::refuse_network(&text, PLAN).with_context(place)?;
    let plan = Plan::from_json(&text).with_context(place)?;
    let job = overlay.job_named(&plan.job).with_context(|| {
        format!("{}: it is for job {}, which network {} does not have", place(), plan.job, overlay.name())
    })?;
    let wrong = inart_planner_sites::check(overlay, job, &plan);
    if json {
        print(&format!("{}\n", serde_json::json!({ "holds": wrong.is_empty(), "violations": wrong })))?;
    } else if wrong.is_empty() {
        print("the plan holds\n")?;
    } else {
        print(&(wrong.join("\n") + "\n"))?;
    }
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn table(overlay: &Overlay, job: &SiteJob, plan: &Plan) -> String {
    let mut out = format!(
        "{}, job {}: {}, gradient {}, scheme {}, chunks of at most {}\n",
        overlay.name(),
        job.name,
        counted(job.sites.len(), "site"),
        display_size(job.gradient_bytes() as f64),
        plan.scheme,
        display_size(plan.chunk_bytes as f64),
    );
    let name = plan.trees.iter().map(|tree| tree.root.len()).max().unwrap_or(0).max(4);
    let _ = writeln!(out, "{:name$}  share  chunks  quality Mbps  parents", "root");
    for tree in &plan.trees {
        let pairs: Vec<_> = tree.parents.iter().map(|(child, parent)| format!("{child}>{parent}")).collect();
        let _ = writeln!(
            out,
            "{:name$}  {:>4.1}%  {:>6}  {:>12.2}  {}",
            tree.root,
            tree.share * 100.0,
            tree.chunks,
            tree.quality_mbps,
            pairs.join(" ")
        );
    }
    let paths: usize = plan.auxiliary.iter().map(|entry| entry.paths.len().saturating_sub(1)).sum();
    if paths > 0 {
        let _ = writeln!(
            out,
            "{} between {}",
            counted(paths, "auxiliary path"),
            counted(plan.auxiliary.len(), "ordered pair")
        );
    }
    let _ = writeln!(
        out,
        "predicted {:.3} s per round; no schedule takes less than {:.3} s ({:.2} times)",
        plan.predicted_s,
        plan.bounds.seconds,
        plan.predicted_s / plan.bounds.seconds
    );
    out
}
