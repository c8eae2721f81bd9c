//! Schemes compared with an enumeration of all selections.
#![allow(clippy::unwrap_used)]

use crate::support;

use inart_planner_peers::{Multicast, Options, Plan, PlanError, Scheme, check, plan};
use proptest::prelude::*;
use support::Instance;

/// Returns the least time of any selection, and the most receivers at it: every set of receivers of every
/// sender.
fn enumerated(instance: &Instance, multicast: Multicast) -> (f64, usize) {
    let n = instance.up.len();
    let sets = |from: usize| {
        let required: u32 =
            instance.required.iter().filter(|pair| pair.0 == from).map(|pair| 1 << pair.1).sum();
        (0u32..1 << n).filter(move |set| set >> from & 1 == 0 && set & required == required)
    };
    let sets = |from: usize| -> Vec<u32> {
        sets(from).filter(|set| set.count_ones() as usize >= instance.receivers).collect()
    };
    let all: Vec<Vec<u32>> = (0..n).map(sets).collect();
    let mut best = (f64::INFINITY, 0);
    let mut search = Enumeration { instance, multicast, all: &all, best: &mut best };
    search.go(0, &mut vec![0.0; n], 0.0, 0);
    best
}

struct Enumeration<'e> {
    instance: &'e Instance,
    multicast: Multicast,
    all: &'e [Vec<u32>],
    best: &'e mut (f64, usize),
}

impl Enumeration<'_> {
    fn go(&mut self, from: usize, down: &mut Vec<f64>, up_s: f64, receivers: usize) {
        let loads = down.iter().zip(&self.instance.down).map(|(load, rate)| load / rate);
        let seconds = loads.fold(up_s, f64::max);
        let slack = 1.0 + 1e-9;
        if seconds > self.best.0 * slack {
            return;
        }
        if from == self.all.len() {
            if seconds * slack < self.best.0 || receivers > self.best.1 {
                *self.best = (seconds.min(self.best.0), receivers);
            }
            return;
        }
        for &set in &self.all[from] {
            let count = set.count_ones() as usize;
            let copies = if self.multicast == Multicast::Switch { 1 } else { count };
            let own = self.instance.updates[from] * copies as f64 / self.instance.up[from];
            let to = |at: &usize| set >> at & 1 == 1;
            (0..down.len()).filter(to).for_each(|at| down[at] += self.instance.updates[from]);
            self.go(from + 1, down, up_s.max(own), receivers + count);
            (0..down.len()).filter(to).for_each(|at| down[at] -= self.instance.updates[from]);
        }
    }
}

fn receivers(plan: &Plan) -> usize {
    plan.tasks.iter().map(|task| task.to.len()).sum()
}

prop_compose! {
    fn instances(most: usize)(n in 3..=most)(
        n in Just(n),
        up in prop::collection::vec(0.5..1.5f64, n),
        down in prop::collection::vec(0.5..1.5f64, n),
        updates in prop::collection::vec(0.2..1.8f64, n),
        is_equal in any::<bool>(),
        receivers in 1..n,
        pairs in prop::collection::btree_set((0..n, 0..n), 0..n),
    ) -> Instance {
        Instance {
            up,
            down,
            updates: if is_equal { vec![1.0; n] } else { updates },
            receivers,
            required: pairs.into_iter().filter(|(from, to)| from != to).collect(),
            waited: Vec::new(),
        }
    }
}

/// Every cut ends without load outside it: a rounding error of the load once "proved" a feasible time too
/// short.
#[test]
fn rounding_errors_of_a_load_prove_nothing() {
    let instance = Instance {
        up: vec![0.5, 0.5, 0.5, 0.5475849405002399],
        down: vec![0.6012260818948074, 0.7343490834122643, 1.1491319427671, 1.427356053452227],
        updates: vec![1.290269461149547, 0.5877649112913863, 0.26988736078689163, 1.6308926659595289],
        receivers: 2,
        required: vec![(1, 2)],
        waited: Vec::new(),
    };
    let mesh = instance.mesh();
    let plan = plan(&mesh, &mesh.jobs()[0], &Options::new(Scheme::Optimized, Multicast::Switch)).unwrap();
    let (least, _) = enumerated(&instance, Multicast::Switch);
    assert!(plan.bounds.seconds <= least * (1.0 + 1e-9), "{} {least}", plan.bounds.seconds);
    assert!(plan.seconds <= 1.03 * least, "{} {least}", plan.seconds);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// No scheme beats the enumeration, `optimal` reaches it, `optimized` with equal updates too, and every
    /// bound is valid.
    #[test]
    fn optimal_is_optimal_and_bounds_are_bounds(instance in instances(4)) {
        let mesh = instance.mesh();
        let job = &mesh.jobs()[0];
        for multicast in [Multicast::Switch, Multicast::Hosts] {
            let (least, most) = enumerated(&instance, multicast);
            let is_equal = instance.updates.iter().all(|bits| *bits == instance.updates[0]);
            for scheme in Scheme::ALL {
                let plan = plan(&mesh, job, &Options::new(scheme, multicast)).unwrap();
                prop_assert_eq!(check(&mesh, job, &plan), Vec::<String>::new());
                prop_assert!(plan.bounds.seconds <= least * (1.0 + 1e-9), "{} {:?} {}", scheme, plan, least);
                prop_assert!(plan.seconds >= least * (1.0 - 1e-9), "{} {:?} {}", scheme, plan, least);
                let is_best = scheme == Scheme::Optimal || (scheme == Scheme::Optimized && is_equal);
                if is_best {
                    prop_assert!(plan.seconds <= least * (1.0 + 1e-6), "{} {} {}", scheme, plan.seconds, least);
                    prop_assert_eq!(receivers(&plan), most, "{}", scheme);
                }
                if scheme == Scheme::Optimized {
                    prop_assert!(plan.seconds <= 1.03 * plan.bounds.seconds, "{:?}", plan);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Larger networks: near the bound with few receivers as with many, with and without required pairs.
    #[test]
    fn ours_is_within_three_percent_of_its_bound(instance in instances(24)) {
        let mesh = instance.mesh();
        let job = &mesh.jobs()[0];
        for multicast in [Multicast::Switch, Multicast::Hosts] {
            let ours = plan(&mesh, job, &Options::new(Scheme::Optimized, multicast)).unwrap();
            prop_assert_eq!(check(&mesh, job, &ours), Vec::<String>::new());
            prop_assert!(ours.seconds <= 1.03 * ours.bounds.seconds, "{} {}", ours.seconds, ours.bounds.seconds);
        }
    }
}

fn twelve() -> Instance {
    let rates = |step: usize| (0..12).map(|at| 1.0 + ((at * step) % 7) as f64 / 10.0).collect();
    Instance {
        up: rates(3),
        down: rates(5),
        updates: vec![1.0; 12],
        receivers: 4,
        required: vec![(0, 11), (3, 4)],
        waited: Vec::new(),
    }
}

#[test]
fn a_spoiled_plan_is_refused_with_its_place() {
    let mesh = twelve().mesh();
    let job = &mesh.jobs()[0];
    let good = plan(&mesh, job, &Options::new(Scheme::Optimized, Multicast::Switch)).unwrap();
    let spoiled = |spoil: &dyn Fn(&mut Plan)| {
        let mut plan = good.clone();
        spoil(&mut plan);
        check(&mesh, job, &plan).join("; ")
    };
    for (said, named) in [
        (
            spoiled(&|plan| plan.tasks[0].to.retain(|name| name != "p11")),
            "tasks[0] (from p0).to: p11 is required",
        ),
        (spoiled(&|plan| plan.tasks[1].to.truncate(3)), "tasks[1] (from p1).to: 3 receivers"),
        (
            spoiled(&|plan| plan.tasks[1].to.push("p1".into())),
            "tasks[1] (from p1).to: the peer sends to itself",
        ),
        (spoiled(&|plan| plan.tasks[1].to.push("p99".into())), "\"p99\" is not a peer of the job"),
        (
            spoiled(&|plan| {
                let first = plan.tasks[1].to[0].clone();
                plan.tasks[1].to.push(first);
            }),
            "is listed twice",
        ),
        (
            spoiled(&|plan| {
                plan.tasks.remove(2);
            }),
            "tasks: peer p2 has none",
        ),
        (
            spoiled(&|plan| {
                let task = plan.tasks[2].clone();
                plan.tasks.push(task);
            }),
            "has a task already",
        ),
        (spoiled(&|plan| plan.tasks[2].from = "q".into()), "tasks[2] (from q): not a peer of the job"),
        (spoiled(&|plan| plan.seconds *= 1.01), "seconds: "),
        (spoiled(&|plan| plan.receivers_mean += 1.0), "receivers_mean: "),
        (spoiled(&|plan| plan.bounds.seconds *= 1.01), "bounds.seconds: "),
        (spoiled(&|plan| plan.bounds.seconds = 0.0), "bounds.seconds: "),
        (spoiled(&|plan| plan.multicast = "air".into()), "multicast: \"air\""),
        (spoiled(&|plan| plan.scheme = "atp".into()), "scheme: \"atp\""),
        (spoiled(&|plan| plan.topology = "x".into()), "topology: the plan is for \"x\""),
        (spoiled(&|plan| plan.job = "x".into()), "job: the plan is for \"x\""),
    ] {
        assert!(said.contains(named), "{named}: {said}");
    }
    // An invalid bound of a plan far from the best one.
    let mut slow = plan(&mesh, job, &Options::new(Scheme::Orpheus, Multicast::Switch)).unwrap();
    slow.bounds.seconds = slow.seconds;
    assert!(check(&mesh, job, &slow).join("; ").contains("is not a bound: another plan takes"));
}

#[test]
fn unequal_updates_of_many_peers_are_not_for_the_optimal_scheme() {
    let n = 25;
    let instance = Instance {
        up: vec![1.0; n],
        down: vec![1.0; n],
        updates: (0..n).map(|at| 1.0 + at as f64 / 10.0).collect(),
        receivers: 2,
        ..Instance::default()
    };
    let mesh = instance.mesh();
    let error = plan(&mesh, &mesh.jobs()[0], &Options::new(Scheme::Optimal, Multicast::Switch)).unwrap_err();
    assert!(matches!(error, PlanError::TooLarge { peers: 25, most: 24, .. }), "{error}");
    assert!(error.to_string().contains("plan with optimized"));
}

#[test]
fn receivers_that_have_waited_longest_are_forced_and_come_first() {
    let mut instance = twelve();
    instance.waited = vec![(5, 6, 4), (5, 7, 3)];
    let mesh = instance.mesh();
    for scheme in Scheme::ALL {
        let options = Options { force_after: Some(4), ..Options::new(scheme, Multicast::Hosts) };
        let plan = plan(&mesh, &mesh.jobs()[0], &options).unwrap();
        assert!(plan.tasks[5].to.contains(&"p6".to_owned()), "{scheme}");
        assert_eq!(check(&mesh, &mesh.jobs()[0], &plan), Vec::<String>::new());
        let mut without = plan.clone();
        without.tasks[5].to.retain(|name| name != "p6");
        assert!(check(&mesh, &mesh.jobs()[0], &without).join("; ").contains("p6 is required and missing"));
    }
}
