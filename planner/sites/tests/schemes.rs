//! Options that schemes refuse, and plans that the checker refuses.
#![allow(clippy::unwrap_used)]

use inart_planner_sites::{Disjoint, Options, PlanError, Scheme, check, plan};
use inart_topologies::sites::Overlay;

use crate::support;

#[test]
fn unsupported_options_are_refused_by_name() {
    let overlay = support::equal(100, 1);
    let job = &overlay.jobs()[0];
    let root = overlay.site_named("n4");
    for (options, named) in [
        (Options { root, ..Options::new(Scheme::Optimized) }, "scheme optimized chooses its roots itself"),
        (Options { root, ..Options::new(Scheme::Netstorm) }, "leave the root out"),
        (Options { roots: Some(2), ..Options::new(Scheme::Fapt) }, "does not take a number of roots"),
        (Options { roots: Some(10), ..Options::new(Scheme::Netstorm) }, "give a number of roots from 1 to 9"),
        (Options { roots: Some(0), ..Options::new(Scheme::Netstorm) }, "0 roots"),
        (Options { degree: 0, ..Options::new(Scheme::Bkt) }, "a degree of 0"),
        (
            Options { auxiliary: Some(Disjoint::Edges), ..Options::new(Scheme::Star) },
            "uses no auxiliary paths",
        ),
    ] {
        let error: PlanError = plan(&overlay, job, &overlay.rates_at(0.0), &options).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[test]
fn a_spoiled_plan_is_refused_with_its_place() {
    let overlay = support::equal(100, 61);
    let job = &overlay.jobs()[0];
    let options = Options { auxiliary: Some(Disjoint::Nodes), ..Options::new(Scheme::Netstorm) };
    let good = plan(&overlay, job, &overlay.rates_at(0.0), &options).unwrap();
    assert_eq!(check(&overlay, job, &good), Vec::<String>::new());
    let spoiled = |spoil: &dyn Fn(&mut inart_planner_sites::Plan)| {
        let mut plan = good.clone();
        spoil(&mut plan);
        check(&overlay, job, &plan).join("; ")
    };
    let parent = |plan: &mut inart_planner_sites::Plan, child: &str, parent: &str| {
        plan.trees[0].parents.insert(child.to_owned(), parent.to_owned());
    };
    for (said, named) in [
        (spoiled(&|plan| parent(plan, "n3", "n4")), "trees[0] (root n1).parents: from n3"),
        (spoiled(&|plan| parent(plan, "n2", "n99")), "\"n99\" is not a site of the job"),
        (spoiled(&|plan| plan.trees[1].weight_s_per_mbit *= 1.1), "trees[1] (root n2).weight_s_per_mbit"),
        (spoiled(&|plan| plan.trees[1].quality_mbps += 1.0), "quality_mbps"),
        (spoiled(&|plan| plan.trees[8].share += 0.1), "the sum of shares"),
        (spoiled(&|plan| plan.trees[8].chunks += 1), "the trees have 62 chunks"),
        (
            spoiled(&|plan| plan.trees[7..].iter_mut().for_each(|tree| tree.chunks = u64::MAX)),
            "the trees have 1844",
        ),
        (
            spoiled(&|plan| {
                plan.trees[7].share += 2.0;
                plan.trees[8].share -= 2.0;
            }),
            "trees[8].share: -1",
        ),
        (spoiled(&|plan| plan.bounds.seconds *= 1.01), "bounds.seconds"),
        (spoiled(&|plan| plan.predicted_s = 1.0), "predicted_s: 1 is below the bound"),
        (spoiled(&|plan| plan.auxiliary[0].paths.reverse()), "auxiliary[0]"),
        (
            spoiled(&|plan| plan.auxiliary[0].paths[1][1] = "n9".to_owned()),
            "takes a link that does not exist",
        ),
        (spoiled(&|plan| plan.scheme = "atp".to_owned()), "scheme: \"atp\""),
        (spoiled(&|plan| plan.topology = "x".to_owned()), "topology: it is for \"x\""),
        (spoiled(&|plan| plan.trees.clear()), "trees: the list is empty"),
    ] {
        assert!(said.contains(named), "{named}: {said}");
    }
}

/// a-b-c-d in a row, and a slow link from a to c.
const ROW: &str = "name: row
nodes: [{name: a, kind: site}, {name: b, kind: site}, {name: c, kind: site}, {name: d, kind: site}]
links:
  - {ends: [a, b], rate: 100 Mbps}
  - {ends: [b, c], rate: 100 Mbps}
  - {ends: [c, d], rate: 100 Mbps}
  - {ends: [a, c], rate: 1 Mbps}
jobs: [{name: j, gradient: 1 MB, chunk: 10 KB}]
";

#[test]
fn edges_without_a_link_and_times_that_no_link_allows_are_refused() {
    let overlay = Overlay::from_yaml(ROW).unwrap();
    let job = &overlay.jobs()[0];
    let made = |scheme| {
        let options = Options { root: overlay.site_named("a"), ..Options::new(scheme) };
        plan(&overlay, job, &overlay.rates_at(0.0), &options).unwrap()
    };
    let said = |plan: &inart_planner_sites::Plan| check(&overlay, job, plan).join("; ");
    let mst = made(Scheme::Mst);
    assert_eq!(said(&mst), "");
    // A hop that the network does not have, up and down.
    let mut apart = mst.clone();
    apart.trees[0].parents.insert("d".to_owned(), "a".to_owned());
    assert!(said(&apart).contains("trees[0] (root a): there is no link from d to a"), "{}", said(&apart));
    let mut down = mst.clone();
    down.trees[0].broadcast = Some(apart.trees[0].parents.clone());
    assert!(said(&down).contains("there is no link from a to d"), "{}", said(&down));
    // The slow link, with its weight, and the time of the tree without it: 8 s for 1 MB.
    let mut slow = mst.clone();
    let tree = &mut slow.trees[0];
    tree.parents.insert("c".to_owned(), "a".to_owned());
    (tree.weight_s_per_mbit, tree.quality_mbps) = (1.01, 1.0 / 1.01);
    let named = "predicted_s is ";
    assert!(said(&slow).contains(named) && said(&slow).contains("take 8"), "{}", said(&slow));
    slow.predicted_s = 9.0;
    assert_eq!(said(&slow), "");
    // From d to a the route of the fewest hops takes the slow link.
    let star = made(Scheme::Star);
    assert_eq!((said(&star), star.trees[0].weight_s_per_mbit), (String::new(), 1.01));
    for weight in [1.0, 0.03, 1.02, f64::NAN] {
        let mut light = star.clone();
        (light.trees[0].weight_s_per_mbit, light.trees[0].quality_mbps) = (weight, 1.0 / weight);
        assert!(said(&light).contains("weight_s_per_mbit"), "{weight}: {}", said(&light));
    }
}

#[test]
fn a_parsed_plan_gives_the_same_policy() {
    for scheme in Scheme::ALL {
        let overlay = support::equal(90, 61);
        let job = &overlay.jobs()[0];
        let made = plan(&overlay, job, &overlay.rates_at(0.0), &Options::new(scheme)).unwrap();
        let read: inart_planner_sites::Plan =
            serde_json::from_str(&serde_json::to_string(&made).unwrap()).unwrap();
        assert_eq!(read, made);
        let policy = inart_planner_sites::policy(&overlay, job, &read, 3).unwrap();
        assert_eq!((policy.version, policy.trees.len()), (3, made.trees.len()));
        let mut other = made.clone();
        other.trees[0].chunks += 1;
        let error = inart_planner_sites::policy(&overlay, job, &other, 3).unwrap_err().to_string();
        assert!(error.contains("tree 0") && error.contains("plan again"), "{error}");
    }
}
