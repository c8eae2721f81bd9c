//! Sites and schedulers with different trainings.

use inart_planner_sites::Scheme;
use inart_protocol_sites::TransmissionPolicy;
use inart_sites_agent::message::{Body, Ended, Hello, PolicyWanted, decode};
use inart_sites_agent::policy_message::policy_message;
use inart_sites_agent::{DriverError, Output, Peer, Setup, version};

use crate::hostile::world::{LINE, World, carry_out, setups, site};

/// Creates three setups of the line, each with its own training.
fn trained(terms: [&[(&str, &str)]; 3]) -> Vec<Setup> {
    let with = |(setup, terms): (Setup, &[(&str, &str)])| setup.with_training(terms.iter().copied()).unwrap();
    setups(LINE, Scheme::Optimized).into_iter().zip(terms).map(with).collect()
}

fn failures(world: &World) -> Vec<Option<String>> {
    let of = |outputs: &Vec<Output>| {
        outputs.iter().find_map(|output| match output {
            Output::Failed(error) => Some(error.to_string()),
            _ => None,
        })
    };
    world.outputs.iter().map(of).collect()
}

#[test]
fn other_terms_end_all_sites_before_the_first_round_with_both_values() {
    for (name, one, other) in [("seed", "1", "9"), ("rounds", "100", "20"), ("first state", "ab12", "cd34")] {
        let mine = [(name, one)];
        let theirs = [(name, other)];
        let mut world = World::connected(trained([&mine, &mine, &theirs]));
        world.exchange();
        world.pass(10);
        let said = failures(&world);
        let expected = [
            format!(
                "c has {name} {other}, b has {name} {one}; give all sites the same; the job has ended at all sites"
            ),
            format!("c has {name} {other}, this site has {name} {one}; give all sites the same"),
            format!("b has {name} {one}, this site has {name} {other}; give all sites the same"),
        ];
        assert_eq!(said, expected.map(Some));
        assert!(world.sites.iter().all(|site| site.round().is_none()), "no round has begun");
    }
}

#[test]
fn other_rates_chunks_and_schemes_are_named() {
    for (part, by, named) in [
        ("[a, b], rate: 8 Mbps", "[a, b], rate: [8 Mbps, 5 Mbps]", "link a-b 8 Mbps there, 5 Mbps back"),
        ("gradient: 12 B", "gradient: 16 B", "tensors 16 B"),
        ("name: job", "name: other", "job other"),
        ("links: [", "links: [{ends: [a, c], rate: 1 kbps}, ", "link a-c 1000 bps there, 1000 bps back"),
        ("{name: c, kind: site}]", "{name: c, kind: site}, {name: d, kind: site}]", "sites a, b, c, d"),
        ("chunk: 12 B", "chunk: 8 B", "chunk 8 B"),
    ] {
        let text = LINE.replace(part, by).replace("jobs: [{", "jobs: [{sites: [a, b, c], ");
        let other = setups_of_job(&text);
        let mut world = World::connected(vec![setups(LINE, Scheme::Optimized)[0].clone()]);
        let hello = Hello { terms: other.terms.message(), ..Hello::default() };
        world.deliver(0, site(1), Body::Hello(hello));
        let outputs: Vec<Output> = std::iter::from_fn(|| world.sites[0].next_output()).collect();
        let Some(Output::Failed(error @ DriverError::Differs { .. })) = outputs.last() else {
            panic!("{by}")
        };
        assert!(error.to_string().starts_with(&format!("b has {named}, this site has ")), "{error}");
    }
    let (inart, netstorm) = (&setups(LINE, Scheme::Optimized)[0], &setups(LINE, Scheme::Netstorm)[1]);
    let difference = inart.terms.differs(&netstorm.terms).unwrap();
    assert_eq!(difference.between("b", "a"), "b has scheme netstorm, a has scheme optimized");
}

fn setups_of_job(text: &str) -> Setup {
    let overlay = inart_topologies::sites::Overlay::from_yaml(text).unwrap();
    let options = inart_planner_sites::Options::new(Scheme::Optimized);
    Setup::new(&overlay, &overlay.jobs()[0], "b", &options, Default::default()).unwrap()
}

/// A site that restarts with other terms ends, and the other sites continue.
#[test]
fn a_site_that_restarts_with_other_terms_ends_alone() {
    let own: &[(&str, &str)] = &[("seed", "1")];
    let mut world = World::connected(trained([own, own, own]));
    world.exchange();
    world.pass(3);
    world.sums();
    world.round(&[(0, 1.0), (1, 1.0), (2, 1.0)]);
    let terms = setups(LINE, Scheme::Optimized).remove(2).with_training([("seed", "9")]).unwrap().terms;
    world.sites[1].down(site(2), world.now);
    world.sites[1].up(site(2), world.now);
    for _ in 0..2 {
        let hello = Hello { terms: terms.message(), ..Hello::default() };
        world.deliver(1, site(2), Body::Hello(hello));
    }
    let hello = std::iter::from_fn(|| world.sites[1].next_output()).find_map(|output| match output {
        Output::Send { to, data, .. } if to == site(2) => decode(data).ok(),
        _ => None,
    });
    assert!(
        matches!(hello, Some(Body::Hello(hello)) if hello.round == Some(1)),
        "c learns that others are ahead"
    );
    assert_eq!(world.sites[1].counters().1.unknown_senders, 2);
    // At the restarting site: it asks no site to end.
    let mut restarted = World::connected(vec![setups(LINE, Scheme::Optimized)[0].clone()]);
    carry_out(&mut restarted.sites[0], &[1], restarted.now);
    let hello = Hello { round: Some(7), terms: terms.message(), ..Hello::default() };
    restarted.deliver(0, site(1), Body::Hello(hello));
    let outputs: Vec<Output> = std::iter::from_fn(|| restarted.sites[0].next_output()).collect();
    let ends = outputs.iter().filter_map(|output| match output {
        Output::Send { data, .. } => decode(data.clone()).ok(),
        _ => None,
    });
    assert!(ends.into_iter().all(|body| matches!(body, Body::Hello(_))), "{outputs:?}");
    assert!(matches!(outputs.last(), Some(Output::Failed(DriverError::Differs { .. }))), "{outputs:?}");
}

/// Other sites could not start, and this one trains.
#[test]
fn a_site_that_trains_does_not_end_for_sites_that_could_not_begin() {
    let mut world = World::ready(LINE, Scheme::Optimized);
    world.round(&[(0, 1.0), (1, 10.0), (2, 100.0)]);
    let reason = "c has seed 2, b has seed 1".to_owned();
    world.deliver(0, site(1), Body::Ended(Ended { reason: reason.clone(), is_before_start: true }));
    let sums = world.round(&[(0, 1.0), (1, 10.0), (2, 100.0)]);
    assert_eq!(sums.into_values().collect::<Vec<_>>(), vec![vec![111.0; 3]; 3]);
    world.deliver(0, site(1), Body::Ended(Ended { reason, is_before_start: false }));
    let ends = |output: &Output| matches!(output, Output::Failed(DriverError::Elsewhere { .. }));
    assert!(std::iter::from_fn(|| world.sites[0].next_output()).any(|output| ends(&output)));
}

#[test]
fn a_scheduler_with_another_document_is_named_and_its_plans_are_refused() {
    let mut world = World::ready(LINE, Scheme::Optimized);
    let other = setups_of_job(&LINE.replace("[b, c], rate: 8 Mbps", "[b, c], rate: 9 Mbps"));
    let hello = |setup: &Setup| Body::Hello(Hello { terms: setup.plan_terms.message(), ..Hello::default() });
    let first = TransmissionPolicy::clone(&world.setups[0].first_policy);
    let plan = TransmissionPolicy { version: version(3, &first), ..first };
    world.sites[0].up(Peer::Scheduler, world.now);
    carry_out(&mut world.sites[0], &[1], world.now);
    world.deliver(0, Peer::Scheduler, hello(&other));
    world.deliver(0, Peer::Scheduler, Body::Offer(policy_message(&plan)));
    let said = world.sites[0].next_output();
    let expected = "the scheduler has link b-c 9 Mbps there, 9 Mbps back, this site has link b-c 8 Mbps there, 8 Mbps back; \
                    its plans are refused: give both the same document and scheme";
    assert_eq!(said, Some(Output::Warned(expected.to_owned())));
    assert_eq!(world.sites[0].counters().1.refused_offers, 1);
    // A scheduler with equal terms replaces it.
    world.sites[0].down(Peer::Scheduler, world.now);
    world.sites[0].up(Peer::Scheduler, world.now);
    let setup = world.setups[0].clone();
    world.deliver(0, Peer::Scheduler, hello(&setup));
    world.deliver(0, Peer::Scheduler, Body::Offer(policy_message(&plan)));
    assert_eq!(world.sites[0].counters().1.refused_offers, 1);
}

/// Each message is a stream, so a plan may arrive before the hello of its scheduler.
#[test]
fn a_plan_that_overtakes_the_schedulers_hello_waits_for_it() {
    let other = setups_of_job(&LINE.replace("[b, c], rate: 8 Mbps", "[b, c], rate: 9 Mbps"));
    let mut world = World::ready(LINE, Scheme::Optimized);
    let (own, first) = (world.setups[0].clone(), TransmissionPolicy::clone(&world.setups[0].first_policy));
    let hello = |setup: &Setup| Body::Hello(Hello { terms: setup.plan_terms.message(), ..Hello::default() });
    let plans =
        [3, 4, 2].map(|count| TransmissionPolicy { version: version(count, &first), ..first.clone() });
    let is_offer = |output: &Output| match output {
        Output::Send { data, .. } => matches!(decode(data.clone()), Ok(Body::Offer(_))),
        _ => false,
    };
    // A site sends a plan that it holds to a neighbor that asks for it.
    let held_by = |world: &mut World| {
        plans.each_ref().map(|plan| {
            world.deliver(0, site(1), Body::PolicyWanted(PolicyWanted { version: plan.version }));
            std::iter::from_fn(|| world.sites[0].next_output()).filter(is_offer).count() == 1
        })
    };
    for (terms, held, refused) in [(&other, [false; 3], 1), (&*own, [false, true, false], 1)] {
        world.sites[0].down(Peer::Scheduler, world.now);
        world.sites[0].up(Peer::Scheduler, world.now);
        for plan in &plans {
            world.deliver(0, Peer::Scheduler, Body::Offer(policy_message(plan)));
        }
        assert_eq!(held_by(&mut world), [false; 3], "no plan is taken before the hello");
        world.deliver(0, Peer::Scheduler, hello(terms));
        assert_eq!(held_by(&mut world), held);
        assert_eq!(world.sites[0].counters().1.refused_offers, refused);
    }
    // An offer that was pending when its connection closed is not accepted with the next hello.
    world.sites[0].down(Peer::Scheduler, world.now);
    world.deliver(0, Peer::Scheduler, Body::Offer(policy_message(&plans[0])));
    world.sites[0].down(Peer::Scheduler, world.now);
    world.deliver(0, Peer::Scheduler, hello(&own));
    assert_eq!(held_by(&mut world), [false, true, false]);
}

/// The scheduler sends the inputs of its plans, and sites send theirs to the scheduler.
#[test]
fn a_scheduler_and_its_sites_have_the_same_terms() {
    let overlay = std::sync::Arc::new(inart_topologies::sites::Overlay::from_yaml(LINE).unwrap());
    let options = inart_planner_sites::Options::new(Scheme::Optimized);
    let (job, rates) = (overlay.jobs()[0].clone(), overlay.rates_at(0.0));
    let scheduler = inart_sites_agent::Scheduler::knowing(overlay, job, options, rates);
    let setup = setups(LINE, Scheme::Optimized).remove(0).with_training([("seed", 4)]).unwrap();
    assert_eq!(scheduler.terms(), Ok(setup.plan_terms.clone()));
    assert_eq!(setup.terms.value("seed"), Some("4"));
    assert_eq!(setup.plan_terms.value("seed"), None, "a scheduler does not know it");
}
