//! Conversion of plans to tables, without switches: every frame must reach its destination in the plan.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use inart_controller::requirements::{self, PlanError, Roles};
use inart_controller::tables::NoRoom;
use inart_controller::{IntentError, Known, Network, PortMap, Wanted, intent};
use inart_planner_aggregation::plan::{Flow, Trunk};
use inart_planner_aggregation::{Options, Plan, plan, schemes};
use inart_tables::Limits;
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use support::walker::{Walker, check_mac, check_own_slots};
use support::{LIMITS, fig1, plans};

fn wanted(topology: &Topology, ports: &PortMap, job: u16, plan: &Plan) -> Result<Wanted, PlanError> {
    let found = topology.job_named(&plan.job).unwrap();
    let workers = found.workers.iter().map(|id| topology.node(*id).name.as_str());
    let requirements = requirements::of_plan(ports, &Roles::new(workers, plan)?, plan)?;
    Ok(Wanted {
        job: JobId::from(job),
        name: plan.job.clone(),
        requirements,
        window: 64,
        new_plan_version: false,
        known: Known::default(),
    })
}

fn empty(ports: &PortMap) -> Network {
    ports.switches().map(|switch| (switch.to_owned(), Default::default())).collect()
}

/// Installs the plan as job 1 on an empty network and walks it.
fn walk(topology: &Topology, plan: &Plan) -> Result<Network, String> {
    let ports = PortMap::new(topology).unwrap();
    let wanted = wanted(topology, &ports, 1, plan).map_err(|error| error.to_string())?;
    let intent = intent(&ports, LIMITS, &empty(&ports), &[wanted]).map_err(|error| error.to_string())?;
    let (job, plan_version) = (JobId::from(1), PlanVersion::from(1));
    Walker::new(topology, &intent.desired, &ports, plan, job, plan_version).check()?;
    check_own_slots(&intent.desired)?;
    Ok(intent.desired)
}

#[test]
fn every_scheme_walks_on_fig1() {
    let topology = fig1();
    for &scheme in schemes::ALL {
        let plan = plan(&topology, &topology.jobs()[0], &Options::new(scheme)).unwrap();
        let tables = walk(&topology, &plan).unwrap();
        check_mac(&tables, &PortMap::new(&topology).unwrap()).unwrap();
    }
}

#[test]
fn ports_and_addresses_depend_on_the_topology_alone() {
    let ports = PortMap::new(&fig1()).unwrap();
    let of = |switch| ports.ports(switch).map(|(port, peer)| format!("{port} {peer}")).collect::<Vec<_>>();
    assert_eq!(of("v1"), ["1 w1", "2 w2", "3 w3", "4 w4", "5 v2"]);
    assert_eq!(of("v2"), ["1 v1", "2 w5", "3 w6", "4 s1", "5 s2"]);
    assert_eq!(ports.mac("s1").unwrap().to_string(), "02:49:4e:41:00:02");
    assert_eq!(ports.mac("v1"), None);
}

fn names(path: &[&str]) -> Vec<String> {
    path.iter().map(|name| (*name).to_owned()).collect()
}

/// One switch per rack and one above both; w0 and the server share a rack.
const TREE: &str = "
name: tree
nodes: [{name: t1, kind: switch}, {name: t2, kind: switch},
  {name: core, kind: switch, aggregation_capacity: 1 Gbps},
  {name: s, kind: server}, {name: w0, kind: worker}, {name: w1, kind: worker}]
links: [{ends: [t1, core], rate: 1 Gbps}, {ends: [t2, core], rate: 1 Gbps}, {ends: [s, t1], rate: 1 Gbps},
  {ends: [w0, t1], rate: 1 Gbps}, {ends: [w1, t2], rate: 1 Gbps}]
";

fn tree_plan(topology: &Topology) -> Plan {
    let mut plan = plan(topology, &topology.jobs()[0], &Options::new(schemes::LBMM)).unwrap();
    plan.flows = [("w0", "t1"), ("w1", "t2")]
        .map(|(worker, rack)| Flow {
            worker: worker.into(),
            server: "s".into(),
            aggregator: Some("core".into()),
            path: names(&[worker, rack, "core"]),
        })
        .into();
    plan.trunks = vec![Trunk {
        aggregator: "core".into(),
        server: "s".into(),
        workers: names(&["w0", "w1"]),
        path: names(&["core", "t1", "s"]),
    }];
    plan
}

/// Frames of w0 cross t1 twice: up to the aggregator, down on the trunk.
#[test]
fn a_path_may_cross_a_switch_twice() {
    let topology = Topology::from_yaml(TREE).unwrap();
    walk(&topology, &tree_plan(&topology)).unwrap();
}

#[test]
fn a_trunk_may_end_at_another_aggregator() {
    let topology = Topology::from_yaml(TREE).unwrap();
    let mut plan = tree_plan(&topology);
    plan.flows[0].aggregator = Some("t1".into());
    plan.flows[0].path = names(&["w0", "t1"]);
    plan.trunks[0].workers = names(&["w1"]);
    plan.trunks[0].path = names(&["core", "t1"]);
    plan.trunks.push(Trunk {
        aggregator: "t1".into(),
        server: "s".into(),
        workers: names(&["w0", "w1"]),
        path: names(&["t1", "s"]),
    });
    walk(&topology, &plan).unwrap();
}

#[test]
fn two_paths_on_one_port_are_refused() {
    let topology = Topology::from_yaml(TREE).unwrap();
    let mut plan = tree_plan(&topology);
    // Down to t2, which w1's frames pass on their way up, and back: core sees them from t2 twice.
    plan.trunks[0].path = names(&["core", "t2", "core", "t1", "s"]);
    let error = walk(&topology, &plan).unwrap_err();
    assert!(
        error.starts_with("switch core: frames of worker w1 for server s come in from t2 on two paths"),
        "{error}"
    );
}

#[test]
fn a_plan_with_unknown_names_is_refused() {
    let topology = Topology::from_yaml(TREE).unwrap();
    let mut plan = tree_plan(&topology);
    plan.flows[0].worker = "w9".into();
    assert!(walk(&topology, &plan).unwrap_err().starts_with("job tree has no worker w9, which"));
    let mut plan = tree_plan(&topology);
    plan.trunks[0].path = names(&["core", "s"]);
    assert!(walk(&topology, &plan).unwrap_err().contains("core has no link to s"));
    let mut plan = tree_plan(&topology);
    plan.trunks.clear();
    assert!(walk(&topology, &plan).unwrap_err().starts_with("job tree has no trunk from aggregator core"));
}

/// Host agents use one interface, the first; the planner may use any.
#[test]
fn a_second_interface_is_refused() {
    let twice = TREE.replace("{ends: [w1, t2]", "{ends: [w1, t1], rate: 1 Gbps}, {ends: [w1, t2]");
    let topology = Topology::from_yaml(&twice).unwrap();
    let error = walk(&topology, &tree_plan(&topology)).unwrap_err();
    assert!(
        error.contains("w1 sends and receives by its link to t1, not t2: list that link first"),
        "{error}"
    );
}

/// A server multicasts by its first link; a worker that listens elsewhere would wait forever.
#[test]
fn results_that_no_worker_receives_are_refused() {
    let aside = TREE.replace("{ends: [w1, t2]", "{ends: [w1, s], rate: 1 Gbps}, {ends: [w1, t2]");
    let topology = Topology::from_yaml(&aside).unwrap();
    let mut plan = tree_plan(&topology);
    plan.flows.pop();
    let error = walk(&topology, &plan).unwrap_err();
    let refusal = "host s sends and receives by its link to t1, not w1";
    assert!(error.contains(refusal), "{error}");
    // The same for a plan without trees, as older versions made it.
    plan.results.clear();
    let error = walk(&topology, &plan).unwrap_err();
    assert!(error.contains(refusal), "{error}");
}

/// Bitmap indices are in blocks of 64: each block has its own slots and its own partial.
#[test]
fn a_group_of_more_than_64_workers_is_summed_in_blocks() {
    let workers = 150;
    let mut text =
        "name: star\nnodes: [{name: v, kind: switch, aggregation_capacity: 1 Tbps}, {name: s, kind: server}"
            .to_owned();
    (0..workers).for_each(|w| text += &format!(", {{name: w{w}, kind: worker}}"));
    text += "]\nlinks: [{ends: [s, v], rate: 1 Gbps}";
    (0..workers).for_each(|w| text += &format!(", {{ends: [w{w}, v], rate: 1 Gbps}}"));
    let topology = Topology::from_yaml(&(text + "]\n")).unwrap();
    let mut plan = plan(&topology, &topology.jobs()[0], &Options::new(schemes::LBMM)).unwrap();
    for flow in &mut plan.flows {
        flow.aggregator = Some("v".into());
        flow.path.pop();
    }
    plan.trunks = vec![Trunk {
        aggregator: "v".into(),
        server: "s".into(),
        workers: (0..workers).map(|w| format!("w{w}")).collect(),
        path: names(&["v", "s"]),
    }];
    let tables = walk(&topology, &plan).unwrap();
    let ranges: std::collections::BTreeSet<_> = tables["v"].slot_ranges().map(|(_, range)| range).collect();
    assert_eq!(ranges.len(), 3);
}

#[test]
fn too_few_slots_or_entries_name_the_switch_and_the_fix() {
    let topology = fig1();
    let ports = PortMap::new(&topology).unwrap();
    let plan = plan(&topology, &topology.jobs()[0], &Options::new(schemes::ATP)).unwrap();
    let wanted = [wanted(&topology, &ports, 1, &plan).unwrap()];
    let error = intent(&ports, Limits { slots: 100, ..LIMITS }, &empty(&ports), &wanted).unwrap_err();
    assert!(matches!(error, IntentError::NoRoom { reason: NoRoom::Slots { ranges: 2, .. }, .. }));
    assert_eq!(
        error.to_string(),
        "switch v1: job digits needs 2 x 64 slots, 100 of 100 are free: take a window of 32 chunks or less"
    );
    let error = intent(&ports, Limits { steer: 3, ..LIMITS }, &empty(&ports), &wanted).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("switch v1: table steer would hold 8 entries, the program has room for 3")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Random networks, two jobs with random plans: each walks, neither uses the other's slots, and
    /// ordinary traffic works.
    #[test]
    fn random_plans_walk(seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let topology = plans::network(&mut rng);
        let ports = PortMap::new(&topology).unwrap();
        let plans = [1, 2].map(|number| (number, plans::random(&topology, &mut rng)));
        let wanted = plans.each_ref().map(|(number, plan)| wanted(&topology, &ports, *number, plan).unwrap());
        let intent = intent(&ports, LIMITS, &empty(&ports), &wanted).unwrap();
        for (number, plan) in &plans {
            let walker =
                Walker::new(&topology, &intent.desired, &ports, plan, JobId::from(*number), 1.into());
            prop_assert_eq!(walker.check(), Ok(()));
        }
        prop_assert_eq!(check_own_slots(&intent.desired), Ok(()));
        prop_assert_eq!(check_mac(&intent.desired, &ports), Ok(()));
    }
}

/// An installation under plan version 2 (or 1, without an active plan) was started and did not end; one
/// switch is missing since.
#[test]
fn a_plan_version_that_a_missing_switch_may_hold_is_not_reused() {
    let topology = fig1();
    let ports = PortMap::new(&topology).unwrap();
    let of = |scheme| plan(&topology, &topology.jobs()[0], &Options::new(scheme)).unwrap();
    let [one, other] = [schemes::OPTIMIZED, schemes::R_INART]
        .map(|scheme| wanted(&topology, &ports, 1, &of(scheme)).unwrap());
    let plan_version = |current: &Network, wanted: Wanted| {
        let intent = intent(&ports, LIMITS, current, &[wanted]).unwrap();
        intent.plan_versions[&JobId::from(1)].get()
    };
    let without = |network: &Network| {
        let mut network = network.clone();
        network.pop_last().unwrap();
        network
    };
    let nothing = empty(&ports);
    let begun = Known { stale: [PlanVersion::from(1)].into(), ..Known::default() };
    let first = Wanted { known: begun, ..other.clone() };
    assert_eq!(plan_version(&nothing, first.clone()), 1, "all switches are reachable and hold none of it");
    assert_eq!(plan_version(&without(&nothing), first), 2);
    let active = intent(&ports, LIMITS, &nothing, std::slice::from_ref(&one)).unwrap().desired;
    let known = |same_plan| Known {
        live: Some(PlanVersion::from(1)),
        stale: [PlanVersion::from(2)].into(),
        same_plan,
        own_plan_versions_only: true,
        ..Known::default()
    };
    let next = Wanted { known: known(false), ..other };
    assert_eq!(plan_version(&active, next.clone()), 2);
    assert_eq!(plan_version(&without(&active), next.clone()), 3);
    let others = Known { stale: [PlanVersion::from(2)].into(), ..Known::default() };
    let with_others = Wanted { known: others, ..next };
    assert_eq!(
        plan_version(&active, with_others),
        3,
        "other controllers have installed plan version 1, and maybe plan version 2"
    );
    let again = Wanted { known: known(true), ..one };
    assert_eq!(plan_version(&without(&active), again), 1, "the active plan stays active");
}
