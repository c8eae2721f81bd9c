//! `inart simulate --background` and `--follow`: other traffic on a link, and the gain of plans that follow.

use std::process::ExitCode;

use anyhow::{Context, ensure};
use inart_planner_aggregation::Plan;
use inart_simulator_aggregation::{
    Follow, InstalledNetwork, LinkTraffic, Options, Report, Watch, Watched, simulate,
};
use inart_steering::ReplanThresholds;
use inart_topologies::faults::Faults;
use inart_topologies::faults::quantity::Span;
use inart_topologies::switched::{NodeKind, Topology};
use inart_topologies::units::display_rate;

use crate::commands::output::print;
use crate::commands::simulate::aggregation::args::{Args, with_flag};
use crate::commands::simulate::aggregation::inputs::{Inputs, plan};

/// Longest delay until a host is notified of a change.
const NOTIFIED_WITHIN: Span = Span(2_000_000);
/// Time after the traffic begins, or the first fault, in which plans may settle.
const SETTLES: Span = Span(2_000_000_000);
/// Time after that in which the run is measured.
const MEASURED: Span = Span(4_000_000_000);

/// The moments of a run.
struct Moments {
    /// Start of the traffic, or of the first fault.
    begin: Span,
    settled: Span,
    end: Span,
}

/// Runs the jobs under the traffic: with plans that follow, without, and with plans that knew of it.
pub fn run(args: &Args, topology: Topology, json: bool) -> anyhow::Result<ExitCode> {
    let mut inputs = Inputs::new(args, topology)?;
    let begin =
        args.background_at.max(crate::commands::simulate::aggregation::changes::warm_up(&inputs.network));
    let settled = Span(begin.0 + SETTLES.0);
    let moments = Moments { begin, settled, end: Span(settled.0 + MEASURED.0) };
    let plans = inputs.network.plans();
    let topology = inputs.network.topology().clone();
    let traffic =
        args.background.map(|part| traffic(args, part.get(), &topology, &plans, begin)).transpose()?;
    inputs.options.others.extend(traffic.clone());
    let once = |network: &InstalledNetwork, follows: bool| {
        let follow = follows.then(|| Follow {
            thresholds: ReplanThresholds::default(),
            notify_within: NOTIFIED_WITHIN,
            quick: false,
        });
        let watch = Some(Watch { every: args.watch_every, until: Some(moments.end), follow });
        let options = Options { watch, ..inputs.options.clone() };
        simulate(network, &inputs.faults, &options, None).map_err(with_flag)
    };
    let report = once(&inputs.network, args.follow)?;
    let mut compared = Vec::new();
    if args.follow {
        compared.push(("goodput_ratio", once(&inputs.network, false)?));
        if let Some(traffic) = &traffic {
            let known = with_traffic(&topology, traffic);
            let network = inputs.network.another(&known, &plan(&known, args)?, args.window)?;
            compared.push(("vs_oracle", once(&network, false)?));
        }
    }
    let document =
        document(&report, &compared, traffic.as_ref(), &moments, inputs.faults == Faults::default())?;
    print(&if json { format!("{}\n", serde_json::to_string(&document)?) } else { text(&report, &document) })?;
    let failures = compared.iter().filter(|(name, _)| *name == "vs_oracle");
    let failure = failures.map(|(_, run)| run).chain([&report]).find_map(|run| run.failure.as_ref());
    Ok(match failure {
        None => ExitCode::SUCCESS,
        Some(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    })
}

/// Returns the other traffic: on the requested link, or on the link between two switches with the largest
/// load.
fn traffic(
    args: &Args,
    part: f64,
    topology: &Topology,
    plans: &[Plan],
    at: Span,
) -> anyhow::Result<LinkTraffic> {
    ensure!(part > 0.0, "--background: {part}; give a part of the link's rate, such as 0.5");
    let ends = match &args.background_link {
        Some(link) => link.split_once('-').map(|(from, to)| [from.to_owned(), to.to_owned()]),
        None => busiest(topology, plans),
    };
    let [from, to] =
        ends.context("--background-link: no link between two switches is used; name one as A-B")?;
    let node = |name: &str| {
        topology.node_named(name).with_context(|| format!("--background-link: no node {name}; give A-B"))
    };
    let link = topology.link_between(node(&from)?, node(&to)?);
    let link = link.with_context(|| format!("--background-link: no link joins {from} and {to}"))?;
    let link = topology.link(link);
    let rate_bps = link.rates_bps[usize::from(topology.node(link.ends[0]).name != from)];
    Ok(LinkTraffic { rate_bps: part * rate_bps, from, to, at })
}

/// Returns the direction of a link between two switches with the largest load of all plans together.
fn busiest(topology: &Topology, plans: &[Plan]) -> Option<[String; 2]> {
    let is_switch =
        |name: &str| topology.node_named(name).is_some_and(|id| topology.node(id).kind == NodeKind::Switch);
    let mut loads: Vec<(&str, f64)> = Vec::new();
    for load in plans.iter().flat_map(|plan| &plan.load) {
        let part = load.used_bps / load.capacity_bps;
        match loads.iter_mut().find(|(name, _)| *name == load.resource) {
            Some((_, sum)) => *sum += part,
            None => loads.push((&load.resource, part)),
        }
    }
    let loads = loads
        .into_iter()
        .filter_map(|(name, part)| Some((name.strip_prefix("link ")?.split_once("->")?, part)));
    let between = loads.filter(|((from, to), _)| is_switch(from) && is_switch(to));
    // The first of equals: the plan lists the fullest first.
    let most = between.reduce(|most, next| if next.1 > most.1 { next } else { most })?;
    Some([most.0.0.to_owned(), most.0.1.to_owned()])
}

/// Returns the topology with the traffic as background load.
fn with_traffic(topology: &Topology, traffic: &LinkTraffic) -> Topology {
    let mut background = topology.background();
    let [from, to] = [&traffic.from, &traffic.to].map(|name| topology.node_named(name));
    if let (Some(from), Some(to)) = (from, to)
        && let Some(link) = topology.link_between(from, to)
    {
        let back = usize::from(topology.link(link).ends[0] != from);
        background.links[link.index()][back] += traffic.rate_bps;
    }
    topology.with_background(&background)
}

fn document(
    report: &Report,
    compared: &[(&str, Report)],
    traffic: Option<&LinkTraffic>,
    moments: &Moments,
    is_whole: bool,
) -> anyhow::Result<serde_json::Value> {
    let none = Watched::default();
    let seen = report.watched.as_ref().unwrap_or(&none);
    let Moments { begin, settled, end } = *moments;
    let mut document = serde_json::to_value(report)?;
    document["background"] = traffic.map_or(serde_json::Value::Null, |traffic| {
        serde_json::json!({
            "link": format!("{}->{}", traffic.from, traffic.to), "rate_bps": traffic.rate_bps,
            "at_seconds": traffic.at.0 as f64 / 1e9,
        })
    });
    for (name, other) in compared {
        let other = other.watched.as_ref().unwrap_or(&none);
        document[*name] = seen.goodput_ratio(other, settled, end).into();
        if is_whole {
            document[format!("{name}_whole")] = seen.goodput_ratio(other, begin, end).into();
        }
    }
    document["settled_after"] = seen.changed_at.last().map(|at| (*at as f64 - begin.0 as f64) / 1e9).into();
    let results = seen
        .results
        .iter()
        .map(|(at, results)| serde_json::json!({ "at_seconds": *at as f64 / 1e9, "results": results }));
    document["results"] = results.collect();
    document["plan_changes"] = seen.changed_at.len().into();
    document["decisions"] = serde_json::to_value(&seen.decisions)?;
    Ok(document)
}

fn text(report: &Report, document: &serde_json::Value) -> String {
    let mut text = report.to_string();
    if let (Some(link), Some(rate)) =
        (document["background"]["link"].as_str(), document["background"]["rate_bps"].as_f64())
    {
        text += &format!("other traffic on link {link}: {}\n", display_rate(rate));
    }
    for decision in report.watched.iter().flat_map(|watched| &watched.decisions) {
        text += &format!("{decision}\n");
    }
    let percent = |name: &str| document[name].as_f64().map(|ratio| format!("{:.1} %", 100.0 * ratio));
    if let Some(ratio) = percent("goodput_ratio") {
        text += &format!("goodput {ratio} of that without following, after {} s", SETTLES.0 / 1_000_000_000);
        if let Some(ratio) = percent("vs_oracle") {
            text += &format!("; {ratio} of that of a plan that knew of the traffic");
        }
        text.push('\n');
    }
    text
}
