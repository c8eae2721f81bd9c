//! Plans that do not fit the network of the site that receives them.

use inart_planner_sites::{Options, Scheme};
use inart_protocol_sites::{SiteNo, TransmissionPolicy, Tree};
use inart_sites_agent::message::Body;
use inart_sites_agent::policy_message::policy_message;
use inart_sites_agent::{Output, Peer, PlanFault, version};
use inart_topologies::sites::Overlay;

use crate::hostile::world::{LINE, World, carry_out, setups, site};

const TRIANGLE: &str = "name: triangle
nodes: [{name: a, kind: site}, {name: b, kind: site}, {name: c, kind: site}]
links: [{ends: [a, b], rate: 8 Mbps}, {ends: [b, c], rate: 8 Mbps}, {ends: [a, c], rate: 8 Mbps}]
jobs: [{name: job, gradient: 12 B, chunk: 12 B}]
";

/// Returns a plan with its own version.
fn numbered(count: u32, mut policy: TransmissionPolicy) -> TransmissionPolicy {
    policy.version = version(count, &policy);
    policy
}

/// Returns the plan of a scheduler whose document has one more link.
fn of_a_newer_document() -> TransmissionPolicy {
    let newer = LINE.replace("links: [", "links: [{ends: [a, c], rate: 800 Mbps}, ");
    let overlay = Overlay::from_yaml(&newer).unwrap();
    let (job, rates) = (&overlay.jobs()[0], overlay.rates_at(0.0));
    let policy =
        inart_planner_sites::plan_and_policy(&overlay, job, &rates, &Options::new(Scheme::Optimized))
            .unwrap()
            .1;
    let tree = &policy.trees[0];
    assert!(
        tree.up[0] == Some(SiteNo(2)) || tree.up[2] == Some(SiteNo(0)),
        "it takes the new link: {tree:?}"
    );
    numbered(1, policy)
}

#[test]
fn a_plan_with_a_link_that_the_sites_do_not_have_is_refused_once_by_name_and_rounds_go_on() {
    let mut world = World::ready(LINE, Scheme::Optimized);
    let plan = of_a_newer_document();
    for at in 0..3 {
        for _ in 0..2 {
            world.deliver(at, Peer::Scheduler, Body::Offer(policy_message(&plan)));
        }
        assert_eq!(world.sites[at].counters().1.refused_offers, 2);
    }
    for _ in 0..3 {
        let sums = world.round(&[(0, 1.0), (1, 10.0), (2, 100.0)]);
        assert_eq!(sums.into_values().collect::<Vec<_>>(), vec![vec![111.0; 3]; 3]);
    }
    for at in 0..3 {
        assert_eq!(world.sites[at].policy_version(), 0, "the first plan stays");
        let said = world.warnings(at);
        let [said] = said[..] else { panic!("one warning: {said:?}") };
        assert!(said.starts_with("a plan of the scheduler was refused: tree 0 leads from "), "{said}");
        assert!(said.contains("no such link; give all sites and the scheduler the same document"), "{said}");
    }
}

#[test]
fn errors_of_a_plan_are_named() {
    let setup = &setups(LINE, Scheme::Optimized)[0];
    let good = TransmissionPolicy::clone(&setup.first_policy);
    assert_eq!(setup.check_plan(&good), Ok(()));
    assert_eq!(setup.check_plan(&numbered(4, good.clone())), Ok(()));
    let link = |what: &str, from: &str, to: &str| PlanFault::Link {
        what: what.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
    };
    let with = |change: &dyn Fn(&mut TransmissionPolicy)| {
        let mut policy = good.clone();
        change(&mut policy);
        numbered(4, policy)
    };
    let site = |at: u16| Some(SiteNo(at));
    let chain =
        Tree { root: SiteNo(0), up: vec![None, site(2), site(0)], down: vec![None, site(2), site(0)] };
    let four = Tree { root: SiteNo(3), up: vec![site(1), site(3), site(1), None], down: vec![None; 4] };
    let down = vec![site(1), site(3), site(1), None];
    let ends = (SiteNo(0), SiteNo(2));
    for (policy, fault) in [
        (with(&|policy| policy.chunk_trees.clear()), PlanFault::Chunks { given: 0, expected: 1 }),
        (with(&|policy| policy.sites.truncate(2)), PlanFault::Sites),
        (with(&|policy| policy.trees = vec![chain.clone()]), link("tree 0", "c", "a")),
        (
            with(&|policy| policy.trees = vec![Tree { down: down.clone(), ..four.clone() }]),
            PlanFault::Stranger { tree: 0, site: 3 },
        ),
        (
            with(&|policy| drop(policy.routes.insert(ends, vec![SiteNo(0), SiteNo(2)]))),
            link("the route a-c", "a", "c"),
        ),
        (
            with(&|policy| {
                policy.auxiliary.insert(ends, vec![vec![SiteNo(0), SiteNo(7), SiteNo(2)]]);
            }),
            link("the route a-7-c", "a", "7"),
        ),
        (TransmissionPolicy { version: 4 << 32, ..good.clone() }, PlanFault::Version { version: 4 << 32 }),
    ] {
        assert_eq!(setup.check_plan(&policy), Err(fault));
    }
    // A plan other than the first one, with the version of the first one.
    let mut other = with(&|policy| policy.trees[0].root = SiteNo(1));
    other.routes.insert((SiteNo(0), SiteNo(1)), vec![SiteNo(0), SiteNo(1)]);
    other.version = 0;
    assert_eq!(setup.check_plan(&other), Err(PlanFault::Version { version: 0 }));
    // More sites than the maximum.
    let long = Tree {
        root: good.trees[0].root,
        up: [&good.trees[0].up[..], &[None; 70_000]].concat(),
        down: good.trees[0].down.clone(),
    };
    let fault = PlanFault::Parents { tree: 0, given: 70_003, sites: 3 };
    assert_eq!(setup.check_plan(&with(&|policy| policy.trees = vec![long.clone()])), Err(fault));
    // A tree with a cycle.
    let circle =
        Tree { root: SiteNo(2), up: vec![site(1), site(0), None], down: vec![site(1), site(2), None] };
    let said =
        setup.check_plan(&with(&|policy| policy.trees = vec![circle.clone()])).unwrap_err().to_string();
    assert!(said.contains("tree 0: site 0 has no path up to the root"), "{said}");
}

/// Sites send plans only on request.
#[test]
fn a_plan_of_a_neighbor_that_was_not_asked_is_refused() {
    let mut world = World::ready(LINE, Scheme::Optimized);
    let plan = numbered(9, TransmissionPolicy::clone(&world.setups[0].first_policy));
    world.deliver(0, site(1), Body::Offer(policy_message(&plan)));
    assert_eq!(world.sites[0].counters().1.refused_offers, 1);
    world.exchange();
    assert_eq!(
        world.warnings(0),
        [
            "a plan of b was refused: this site has not asked for it; give all sites and the scheduler the same document"
        ]
    );
    // The scheduler may.
    world.deliver(0, Peer::Scheduler, Body::Offer(policy_message(&plan)));
    assert_eq!(world.sites[0].counters().1.refused_offers, 1);
}

/// A site that joins with another site's state checks the plan in it, too.
#[test]
fn a_state_with_a_plan_that_does_not_fit_is_refused() {
    let all = setups(LINE, Scheme::Optimized);
    let mut world = World::connected(vec![all[0].clone()]);
    let hello = inart_sites_agent::message::Hello {
        round: Some(4),
        terms: all[1].terms.message(),
        ..Default::default()
    };
    world.deliver(0, site(1), Body::Hello(hello));
    carry_out(&mut world.sites[0], &[1], world.now);
    let state = inart_sites_agent::message::State {
        round: 4,
        policy: Some(policy_message(&of_a_newer_document())),
        ..Default::default()
    };
    world.deliver(0, site(1), Body::State(state));
    assert_eq!(world.sites[0].counters().1.refused_offers, 1);
    let outputs = world.sites[0].next_output();
    assert!(matches!(&outputs, Some(Output::Warned(text)) if text.contains("no such link")), "{outputs:?}");
}

/// Two plans with one version: collisions of a 32-bit fingerprint can be found. The plan that arrived first
/// stays.
#[test]
fn of_two_plans_with_one_version_the_second_is_refused() {
    let mut world = World::ready(TRIANGLE, Scheme::Mst);
    let good = TransmissionPolicy::clone(&world.setups[0].first_policy);
    let ways = [vec![SiteNo(0), SiteNo(1)], vec![SiteNo(0), SiteNo(2), SiteNo(1)]];
    let with = |bits: u32| {
        let paths = (0..18).map(|bit| ways[(bits >> bit & 1) as usize].clone()).collect();
        let mut policy = good.clone();
        policy.auxiliary.insert((SiteNo(0), SiteNo(1)), paths);
        numbered(4, policy)
    };
    let mut known = std::collections::HashMap::new();
    let found = (0..1 << 18).find_map(|bits| Some((known.insert(with(bits).version, bits)?, bits)));
    let (first, second) = found.expect("a quarter of a million plans have two of one version");
    let plans = [first, second].map(with);
    assert!(plans[0] != plans[1] && plans[0].version == plans[1].version);
    for plan in &plans {
        world.deliver(0, Peer::Scheduler, Body::Offer(policy_message(plan)));
    }
    assert_eq!(world.sites[0].counters().1.refused_offers, 1);
    world.exchange();
    assert!(world.warnings(0)[0].contains("another plan has the same version"), "{:?}", world.warnings(0));
}
