//! Handling of the sites' reports by the scheduler.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use inart_planner_sites::{AuxiliaryUse, Options, OwnPlan, Plan, Scheme, complete};
use inart_protocol_sites::SiteNo;
use inart_sites_agent::message::{Report, SampleMessage};
use inart_sites_agent::{Scheduler, Setup};
use inart_topologies::sites::Overlay;

const NETWORK: &str = "name: ring
nodes: [{name: a, kind: site}, {name: b, kind: site}, {name: c, kind: site}]
links:
  - {ends: [a, b], rate: 8 Mbps, delay: 1 ms}
  - {ends: [b, c], rate: 8 Mbps, delay: 1 ms}
  - {ends: [a, c], rate: 8 Mbps, delay: 1 ms}
jobs: [{name: job, sites: [a, b, c], gradient: 40 KB, chunk: 1 KB}]
";

fn scheduler(scheme: Scheme) -> Scheduler {
    let overlay = Arc::new(Overlay::from_yaml(NETWORK).unwrap());
    let job = overlay.jobs()[0].clone();
    Scheduler::new(overlay, job, Options::new(scheme), 5e6)
}

fn report(version: u64, samples: &[(u32, f64, f64)], down: &[u32]) -> Report {
    let sample = |&(from, bits, seconds): &(u32, f64, f64)| SampleMessage { from, bits, seconds };
    Report { round: Some(1), version, samples: samples.iter().map(sample).collect(), down: down.to_vec() }
}

#[test]
fn measured_links_have_the_measured_rate_and_others_the_prior() {
    let mut scheduler = scheduler(Scheme::Optimized);
    assert!(scheduler.task().is_some(), "it plans before anything is known");
    assert!(scheduler.task().is_none(), "and not again");
    scheduler.report(SiteNo(1), &report(0, &[(0, 2e6, 1.0); 4], &[]));
    // From a to b, as measured by b; no site measured the other directions.
    assert_eq!(scheduler.believed().0, [2e6, 5e6, 5e6, 5e6, 5e6, 5e6]);
    assert!(scheduler.task().is_some(), "what was measured is news");
}

#[test]
fn probes_of_links_that_there_are_not_are_counted_and_dropped() {
    let mut scheduler = scheduler(Scheme::Optimized);
    scheduler.task().unwrap();
    // From an unknown site, from itself, by an unknown site, and with impossible rates.
    scheduler.report(SiteNo(1), &report(0, &[(9, 1e6, 1.0), (1, 1e6, 1.0)], &[]));
    scheduler.report(SiteNo(70), &report(0, &[(0, 1e6, 1.0)], &[]));
    let wrong = [(0, 0.0, 1.0), (0, 1e6, 0.0), (0, -1.0, 1.0), (0, f64::NAN, 1.0), (0, 1e6, f64::INFINITY)];
    scheduler.report(SiteNo(1), &report(0, &wrong, &[]));
    assert_eq!(scheduler.strange_samples(), 8);
    // Finite numbers whose rate is infinite or zero.
    let extreme = [(0, 1e300, 1e-300), (0, 1e-300, 1e300), (0, 1e20, 1.0), (0, f64::MIN_POSITIVE, 1.0)];
    scheduler.report(SiteNo(1), &report(0, &extreme, &[]));
    assert_eq!(scheduler.strange_samples(), 12);
    assert_eq!(scheduler.believed().0, [5e6; 6]);
    assert!(scheduler.task().is_none());
}

#[test]
fn a_link_that_both_ends_miss_is_planned_without_until_it_is_back() {
    let mut scheduler = scheduler(Scheme::Fapt);
    scheduler.task().unwrap();
    scheduler.report(SiteNo(0), &report(0, &[], &[1]));
    assert!(scheduler.task().is_none(), "one end alone may be a failed site");
    scheduler.report(SiteNo(1), &report(0, &[], &[0]));
    let task = scheduler.task().unwrap();
    assert_eq!(task.rates().0[..2], [0.0, 0.0]);
    let policy = task.plan().unwrap();
    let uses = |a: u16, b: u16| {
        let parent = |of: &[Option<SiteNo>]| of[usize::from(a)] == Some(SiteNo(b));
        policy.trees.iter().any(|tree| parent(&tree.up) || parent(&tree.down))
    };
    assert!(!uses(0, 1) && !uses(1, 0), "{policy:?}");
    // Without a second link site a is isolated: the last plan stays.
    scheduler.report(SiteNo(0), &report(0, &[], &[1, 2]));
    scheduler.report(SiteNo(2), &report(0, &[], &[0]));
    let said = scheduler.task().unwrap().plan().unwrap_err().to_string();
    assert!(said.contains("no link that is up leads to site"), "{said}");
    scheduler.report(SiteNo(0), &report(0, &[], &[]));
    assert_eq!(scheduler.task().unwrap().rates().0, [5e6; 6]);
}

#[test]
fn a_restarted_scheduler_continues_the_sites_versions() {
    let mut first = scheduler(Scheme::Optimized);
    let plan = |scheduler: &mut Scheduler| {
        let policy = scheduler.task().unwrap().plan().unwrap();
        scheduler.planned(policy)
    };
    let one = plan(&mut first).unwrap();
    first.report(SiteNo(1), &report(0, &[(0, 1e6, 1.0); 4], &[]));
    let two = plan(&mut first).unwrap();
    assert!(two.version > one.version);
    let mut second = scheduler(Scheme::Optimized);
    second.report(SiteNo(0), &report(two.version, &[], &[]));
    let three = plan(&mut second).unwrap();
    assert!(three.version > two.version);
    // A scheduler without reports counts as the first one did, and its plan has another version.
    let mut deaf = scheduler(Scheme::Fapt);
    let other = plan(&mut deaf).unwrap();
    assert_eq!(other.version >> 32, one.version >> 32);
    assert_ne!(other.version, one.version);
    // An equal plan is not offered again.
    deaf.report(SiteNo(1), &report(0, &[(0, 5e6, 1.0); 4], &[]));
    assert_eq!(plan(&mut deaf), None);
}

/// A version that no scheduler has reached: versions after it would be exhausted at once, and sites refuse
/// plans that are not newer than the last.
#[test]
fn a_site_that_reports_the_last_version_does_not_end_planning() {
    let mut scheduler = scheduler(Scheme::Optimized);
    scheduler.report(SiteNo(0), &report(u64::MAX, &[], &[]));
    assert_eq!(scheduler.strange_samples(), 1);
    let mut versions = Vec::new();
    for mbps in [5.0, 1.0, 9.0, 2.0] {
        scheduler.report(SiteNo(1), &report(0, &[(0, mbps * 1e6, 1.0); 4], &[]));
        let policy = scheduler.task().unwrap().plan().unwrap();
        versions.extend(scheduler.planned(policy).map(|offered| offered.version));
    }
    assert!(versions.len() > 1 && versions.is_sorted_by(|a, b| a < b), "{versions:x?}");
    let counts: Vec<_> = versions.iter().map(|version| version >> 32).collect();
    assert_eq!(counts, (1..=versions.len() as u64).collect::<Vec<_>>());
}

/// Returns a chain that no scheme chooses: a to b to c.
fn own() -> (Arc<Overlay>, Plan) {
    let overlay = Arc::new(Overlay::from_yaml(NETWORK).unwrap());
    let job = &overlay.jobs()[0];
    let mut star =
        inart_planner_sites::plan(&overlay, job, &overlay.rates_at(0.0), &Options::new(Scheme::Star))
            .unwrap();
    star.trees[0].root = "c".to_owned();
    star.trees[0].parents = [("a", "b"), ("b", "c")].map(|(a, b)| (a.to_owned(), b.to_owned())).into();
    let plan = complete(&overlay, job, &OwnPlan::of(&star), Scheme::Own).unwrap();
    (overlay, plan)
}

#[test]
fn a_given_plan_ignores_measurements_and_avoids_failed_links() {
    let (overlay, plan) = own();
    let (job, options) = (overlay.jobs()[0].clone(), Options::following(plan).unwrap());
    let setup = Setup::new(&overlay, &job, "a", &options, AuxiliaryUse::default()).unwrap();
    let mut scheduler = Scheduler::new(overlay, job, options, 5e6);
    let next = |scheduler: &mut Scheduler| {
        let policy = scheduler.task().unwrap().plan().unwrap();
        scheduler.planned(policy)
    };
    let first = next(&mut scheduler).unwrap();
    assert_eq!(first.trees[0].up, [Some(SiteNo(1)), Some(SiteNo(2)), None]);
    assert_eq!(
        (&first.trees, &first.chunk_trees),
        (&setup.first_policy.trees, &setup.first_policy.chunk_trees)
    );
    // Measured at a hundredth of the estimate: the plan is offered once.
    scheduler.report(SiteNo(1), &report(0, &[(0, 5e4, 1.0); 4], &[]));
    assert_eq!(next(&mut scheduler), None);
    scheduler.report(SiteNo(0), &report(0, &[], &[1]));
    scheduler.report(SiteNo(1), &report(0, &[], &[0]));
    let around = next(&mut scheduler).unwrap();
    assert_eq!(around.trees, first.trees);
    assert_eq!(around.routes[&(SiteNo(0), SiteNo(1))], [SiteNo(0), SiteNo(2), SiteNo(1)]);
    setup.check_plan(&around).unwrap();
    scheduler.report(SiteNo(0), &report(0, &[], &[]));
    assert!(next(&mut scheduler).unwrap().routes.is_empty());
}

#[test]
fn sites_and_a_scheduler_share_the_plan_that_was_given() {
    let (overlay, plan) = own();
    let job = &overlay.jobs()[0];
    let other = Plan { trees: vec![plan.trees[0].clone(), plan.trees[0].clone()], ..plan.clone() };
    let of = |options: &Options| {
        Scheduler::new(overlay.clone(), job.clone(), options.clone(), 1e6).terms().unwrap()
    };
    let [own, other] = [plan, other].map(|plan| of(&Options::following(plan).unwrap()));
    assert!(own.differs(&own).is_none());
    let named = own.differs(&other).unwrap().between("n1", "n2");
    assert!(named.contains("plan") && named.contains("SHA-256"), "{named}");
    assert!(own.differs(&of(&Options::new(Scheme::Optimized))).is_some());
}
