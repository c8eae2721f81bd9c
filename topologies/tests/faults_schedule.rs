//! Faults on the nodes and links of a topology.
#![allow(clippy::unwrap_used, reason = "tests")]

use inart_topologies::faults::{Capabilities, Faults, LinkFaults, Schedule};
use inart_topologies::switched::Topology;

const RUNNER: Capabilities = Capabilities {
    controller: true,
    scheduler: false,
    frames: true,
    lasting: false,
    worker_restart: true,
    injection: true,
    rates: false,
    connections: false,
    tcp: true,
    frame_bytes: 64..=9000,
};

fn topology() -> Topology {
    Topology::from_yaml(
        "{name: t, nodes: [{name: w, kind: worker}, {name: v, kind: switch}, {name: s, kind: server}],
          links: [{ends: [w, v], rate: 8 Mbps}, {ends: [s, v], rate: 5 Mbps}]}",
    )
    .unwrap()
}

fn schedule(faults: &str) -> Schedule {
    Schedule::new(&topology(), &Faults::from_yaml(faults).unwrap(), &RUNNER).unwrap()
}

/// Returns each step with its time in milliseconds.
fn steps_of(schedule: &Schedule) -> Vec<String> {
    let topology = topology();
    let step = |(at, step): &(_, inart_topologies::faults::Step)| {
        let at: inart_topologies::faults::quantity::Span = *at;
        let end = if step.ends_fault() { " (end)" } else { "" };
        format!("{} {}{end}", at.duration().as_millis(), step.describe(&topology))
    };
    schedule.steps.iter().map(step).collect()
}

#[test]
fn names_become_nodes_and_links_in_order_of_time() {
    let schedule = schedule(
        "{events: [{at: 2 s, restart: v, duration: 300 ms}, {at: 1 s, restart: controller, duration: 1 s},
          {at: 0 s, partition: [w], duration: 1 ms}, {at: 3 s, interface_down: s, duration: 100 ms},
          {at: 4 s, link_down: [v, s], duration: 10 ms}, {at: 5 s, pause: w, duration: 20 ms},
          {at: 6 s, crash: s, duration: 30 ms}, {at: 7 s, crash: w}, {at: 8 s, stale: w, count: 3},
          {at: 9 s, forge: s, count: 4}]}",
    );
    let expected = [
        "0 link w-v down",
        "1 link w-v up (end)",
        "1000 the controller killed",
        "2000 switch v killed",
        "2000 the controller started again (end)",
        "2300 switch v started again (end)",
        "3000 interface of host s down",
        "3100 interface of host s up (end)",
        "4000 link s-v down",
        "4010 link s-v up (end)",
        "5000 host w stopped",
        "5020 host w resumed (end)",
        "6000 host s killed",
        "6030 host s started again (end)",
        "7000 host w killed",
        "8000 the last 3 frames of host w again",
        "9000 4 forged frames of host s",
    ];
    assert_eq!(steps_of(&schedule), expected);
}

#[test]
fn a_partition_cuts_the_links_between_its_nodes_and_the_others() {
    let cut = |nodes: &str| {
        steps_of(&schedule(&format!("{{events: [{{at: 0 s, partition: {nodes}, duration: 1 s}}]}}")))
    };
    let both = ["0 link w-v down", "0 link s-v down", "1000 link w-v up (end)", "1000 link s-v up (end)"];
    assert_eq!(cut("[v]"), both);
    assert_eq!(cut("[w, s]"), both);
    assert_eq!(cut("[w, v]"), ["0 link s-v down", "1000 link s-v up (end)"]);
    assert!(cut("[w, v, s]").is_empty());
}

#[test]
fn a_later_entry_replaces_an_earlier_one_for_the_same_direction() {
    let drop = |share: &str| LinkFaults { drop: share.parse().unwrap(), ..LinkFaults::default() };
    let faults = "{links: [{drop: 5%}, {link: [v, s], drop: 2%}, {link: [w, v]}]}";
    let links = schedule(faults).links;
    assert_eq!(links, [[drop("0"), drop("5%")], [drop("5%"), drop("2%")]]);

    let faults = Faults::from_yaml("{links: [{link: [w, v]}]}").unwrap();
    let schedule = Schedule::with_default(&topology(), &faults, &RUNNER, &drop("1%")).unwrap();
    assert_eq!(schedule.links, [[drop("0"), drop("1%")], [drop("1%"), drop("1%")]]);
}

#[test]
fn a_schedule_touches_links_if_frames_are_harmed_or_a_link_goes_down() {
    for (faults, touches) in [
        ("", false),
        ("{links: [{drop: 0%, reorder_by: 1 ms}]}", false),
        ("{links: [{link: [v, w], corrupt: 1%}]}", true),
        ("{events: [{at: 1 s, interface_down: w, duration: 1 s}]}", false),
        ("{events: [{at: 1 s, link_down: [w, v], duration: 1 s}]}", true),
        ("{events: [{at: 1 s, partition: [w], duration: 1 s}]}", true),
    ] {
        assert_eq!(schedule(faults).touches_links(), touches, "{faults}");
    }
}
