//! The document of faults: accepted documents, and the errors of invalid ones.
#![allow(clippy::unwrap_used, reason = "tests")]

use inart_topologies::faults::{Capabilities, Faults, Schedule};
use inart_topologies::switched::Topology;

const ALL: Capabilities = Capabilities {
    controller: true,
    scheduler: false,
    frames: true,
    lasting: false,
    worker_restart: true,
    injection: true,
    rates: true,
    connections: true,
    tcp: true,
    frame_bytes: 64..=9000,
};

fn refused(text: &str, runner: &Capabilities) -> String {
    let topology = Topology::from_yaml(include_str!("../fig1.yaml")).unwrap();
    let schedule = Faults::from_yaml(text).and_then(|faults| Schedule::new(&topology, &faults, runner));
    let error = schedule.map(drop).expect_err(text).to_string();
    assert!(!error.contains('\n'), "{text}: {error}");
    error
}

#[test]
fn every_mistake_is_one_line_that_names_the_place_and_the_fix() {
    let runner = Capabilities { controller: false, worker_restart: false, ..ALL };
    let texts = [
        "links: 7",
        "lnks: []",
        "links: [{drop: 101%}]",
        "links: [{drop: often}]",
        "links: [{reorder: 1%}]",
        "links: [{link: [v1, missing], drop: 1%}]",
        "links: [{link: [w1, w2], drop: 1%}]",
        "queue: 0 frames",
        "queue: long",
        "events: [{at: 1 ms}]",
        "events: [{at: 1 ms, crash: w1, pause: w2, duration: 1 s}]",
        "events: [{at: 1 ms, pause: w1}]",
        "events: [{at: soon, crash: w1}]",
        "events: [{at: 1 ms, restart: w1, duration: 1 ms}]",
        "events: [{at: 1 ms, interface_down: v1, duration: 1 ms}]",
        "events: [{at: 1 ms, interface_down: w1}]",
        "events: [{at: 1 ms, crash: v1}]",
        "events: [{at: 1 ms, crash: w1, duration: 1 ms}]",
        "events: [{at: 1 ms, stale: w1}]",
        "events: [{at: 1 ms, partition: [w1, w9], duration: 1 ms}]",
        "events: [{at: 1 ms, slow: [w1, v1]}]",
        "events: [{at: 1 ms, slow: [w1, v1], rate: 0}]",
        "events: [{at: 1 ms, crash: w1, rate: 1 Gbps}]",
        "events: [{at: 1 ms, disconnect: v1}]",
        "events: [{at: 1 ms, disconnect: w1, duration: 1 s}]",
        "background: [{from: w1, to: w1, rate: 1 Gbps}]",
        "background: [{from: w1, to: v1, rate: 1 Gbps}]",
        "background: [{from: w1, to: s1, rate: 0}]",
        "background: [{from: w1, to: s1, rate: 1 Gbps, frame_bytes: 20}]",
        "background: [{from: w1, to: s1, rate: 1 Gbps, protocol: sctp}]",
        "background: [{from: w1, to: s1, rate: 1 Gbps, at: 1 s, duration: 0 s}]",
    ];
    let errors = texts.map(|text| format!("{text}\n    {}", refused(text, &runner)));
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn what_the_runner_cannot_do_is_refused() {
    let topology = Topology::from_yaml(include_str!("../fig1.yaml")).unwrap();
    for (runner, text, named) in [
        (
            Capabilities { controller: false, ..ALL },
            "events: [{at: 1 s, restart: controller, duration: 1 s}]",
            "events[0]: topology fig1 has no node controller",
        ),
        (
            Capabilities { worker_restart: false, ..ALL },
            "events: [{at: 1 s, crash: w1, duration: 1 s}]",
            "events[0]: a worker that was killed has lost its job",
        ),
        (
            Capabilities { injection: false, ..ALL },
            "events: [{at: 1 s, stale: w1, count: 1}]",
            "events[0]: stale and forged frames exist in simulation only",
        ),
        (
            Capabilities { injection: false, ..ALL },
            "events: [{at: 1 s, forge: w1, count: 1}]",
            "events[0]: stale and forged frames exist in simulation only",
        ),
        (
            Capabilities { rates: false, ..ALL },
            "events: [{at: 1 s, slow: [w1, v1], rate: 1 Mbps, duration: 1 s}]",
            "events[0]: rates change in simulations of parameter servers only",
        ),
        (
            Capabilities { connections: false, ..ALL },
            "events: [{at: 1 s, disconnect: w1}]",
            "events[0]: connections end in simulations of parameter servers only",
        ),
        (
            Capabilities { tcp: false, ..ALL },
            "background: [{from: w1, to: s1, rate: 1 Gbps, protocol: tcp}]",
            "background[0]: TCP exists in emulation only",
        ),
        (
            Capabilities { frame_bytes: 64..=1514, ..ALL },
            "background: [{from: w1, to: s1, rate: 1 Gbps, frame_bytes: 1515}]",
            "background[0]: frames of 1515 B; give 64 to 1514",
        ),
    ] {
        let error = refused(text, &runner);
        assert!(error.starts_with(named), "{error}");
        let faults = Faults::from_yaml(text).unwrap();
        assert!(
            Schedule::new(&topology, &faults, &ALL).is_ok(),
            "{text} is right for a runner that can do all"
        );
    }
}
