//! `inart plan --complete`: a plan from routes that a user's own program has chosen.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use inart_formats::DocumentError;
use inart_planner_aggregation::{Options, PLAN_FORMAT, Plan, PlanError, Problem, Promises, Scheme, Shares};
use inart_topologies::switched::{Job, NodeId, Topology};
use serde::Deserialize;

use crate::commands::document;

/// Fields of a plan that are not derived. Further fields of a plan are derived again.
#[derive(Deserialize)]
struct Routes {
    /// Needed where the topology has several jobs.
    job: Option<String>,
    /// One per server; without them, as is best for the routes.
    shards: Option<Vec<Shard>>,
    flows: Vec<Flow>,
    #[serde(default)]
    trunks: Vec<Trunk>,
    #[serde(default)]
    results: Vec<Results>,
}

#[derive(Deserialize)]
struct Shard {
    server: String,
    share: f64,
}

#[derive(Deserialize)]
struct Flow {
    worker: String,
    server: String,
    path: Vec<String>,
}

#[derive(Deserialize)]
struct Trunk {
    aggregator: String,
    server: String,
    path: Vec<String>,
}

#[derive(Deserialize)]
struct Results {
    server: String,
    links: Vec<[String; 2]>,
}

/// Routes with the nodes of a topology in place of names.
struct NamedRoutes {
    flows: Vec<(NodeId, NodeId, Vec<NodeId>)>,
    trunks: Vec<(NodeId, NodeId, Vec<NodeId>)>,
    results: Vec<(NodeId, Vec<[NodeId; 2]>)>,
    shares: Option<Vec<f64>>,
}

impl Scheme for NamedRoutes {
    fn name(&self) -> &'static str {
        "own"
    }

    fn summary(&self) -> &'static str {
        "routes of a user's own"
    }

    fn promises(&self) -> Promises {
        Promises { shares: Shares::Free, levels: u8::MAX, ..Promises::default() }
    }

    fn plan(&self, problem: &Problem<'_>) -> Result<Plan, PlanError> {
        let mut draft = problem.draft();
        for (worker, server, path) in &self.flows {
            draft.flow(*worker, *server, path.clone());
        }
        for (switch, server, path) in &self.trunks {
            draft.trunk(*switch, *server, path.clone());
        }
        for (server, links) in &self.results {
            draft.results(*server, links.clone());
        }
        if let Some(shares) = &self.shares {
            draft.shares(shares.clone());
        }
        draft.plan()
    }
}

/// Reads routes, and makes the plan with all that follows from them: rate, loads, bounds, groups, results.
pub fn run<'t>(
    flag: &str,
    topology: &'t Topology,
    path: &Path,
    options: &Options<'_>,
) -> anyhow::Result<(Plan, &'t Job)> {
    let place = || format!("{flag} {}", path.display());
    let text = document::read(path).with_context(place)?;
    document::refuse_network(&text, "routes (JSON)").with_context(place)?;
    let fix =
        "give flows as {\"worker\": \"w1\", \"server\": \"s1\", \"path\": [\"w1\", \"v1\"]}, and trunks";
    let routes: Routes = PLAN_FORMAT.read(text.as_bytes()).map_err(|error| match error {
        DocumentError::Format(error) => anyhow::Error::new(error).context(place()),
        DocumentError::Contents(error) => anyhow::Error::new(error).context(format!("{}: {fix}", place())),
    })?;
    let job = match &routes.job {
        Some(name) => crate::commands::plan::aggregation::chosen::jobs(topology, std::slice::from_ref(name))
            .with_context(place)?[0],
        None => {
            let all: Vec<_> = topology.jobs().iter().map(|job| job.name.as_str()).collect();
            anyhow::ensure!(all.len() == 1, "{}: it names no `job`; name one of {}", place(), all.join(", "));
            &topology.jobs()[0]
        }
    };
    let own = own(topology, job, &routes).with_context(place)?;
    let plan = inart_planner_aggregation::plan(topology, job, &Options { scheme: &own, ..*options })
        .with_context(place)?;
    Ok((plan, job))
}

fn own(topology: &Topology, job: &Job, routes: &Routes) -> anyhow::Result<NamedRoutes> {
    let node = |name: &String| {
        topology
            .node_named(name)
            .with_context(|| format!("topology {} has no node {name:?}", topology.name()))
    };
    let nodes = |names: &[String]| names.iter().map(node).collect::<anyhow::Result<Vec<_>>>();
    let mut own = NamedRoutes { flows: Vec::new(), trunks: Vec::new(), results: Vec::new(), shares: None };
    for Flow { worker, server, path } in &routes.flows {
        let place = || format!("flow {worker} to {server}");
        let ends = nodes(&[worker.clone(), server.clone()]).with_context(place)?;
        own.flows.push((ends[0], ends[1], nodes(path).with_context(place)?));
    }
    for Trunk { aggregator, server, path } in &routes.trunks {
        let place = || format!("trunk {aggregator} to {server}");
        let ends = nodes(&[aggregator.clone(), server.clone()]).with_context(place)?;
        own.trunks.push((ends[0], ends[1], nodes(path).with_context(place)?));
    }
    for Results { server, links } in &routes.results {
        let link = |[near, far]: &[String; 2]| Ok([node(near)?, node(far)?]);
        let links = links.iter().map(link).collect::<anyhow::Result<Vec<_>>>();
        own.results.push((node(server)?, links.with_context(|| format!("results of {server}"))?));
    }
    if let Some(shards) = &routes.shards {
        let given: BTreeMap<&str, f64> = shards.iter().map(|shard| (&*shard.server, shard.share)).collect();
        let share = |&server: &NodeId| {
            let name = &topology.node(server).name;
            given
                .get(&**name)
                .copied()
                .with_context(|| format!("shards: server {name} has none; give its share"))
        };
        own.shares = Some(job.servers.iter().map(share).collect::<anyhow::Result<_>>()?);
    }
    Ok(own)
}
