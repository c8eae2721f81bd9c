//! A port against values computed by hand, and against steps of a fixed length.
#![allow(clippy::unwrap_used)]

use inart_virtual::{Port, SplitMix64};

#[test]
fn flows_share_what_their_other_ends_leave() {
    let mut port = Port::new(4.0);
    // Eight flows of 1 bit: half a bit each per second.
    for flow in 0..8 {
        port.begin(0.0, 1.0, 1.0, flow);
    }
    for flow in 0..8 {
        assert_eq!(port.end(), Some((2.0, flow)));
    }
    // Alone, a flow is as fast as its other end; a slow one leaves its part unused.
    port.begin(2.0, 1.0, 1.0, 8);
    port.begin(2.0, 0.25, 1.0, 9);
    assert_eq!(port.end(), Some((3.0, 8)));
    assert_eq!(port.end(), Some((6.0, 9)));
    assert_eq!(port.end(), None);
    assert_eq!(port.passed(7.0), 10.0);
}

#[test]
fn a_stopped_flow_makes_room() {
    let mut port = Port::new(2.0);
    let flow = port.begin(0.0, 9.0, 4.0, "given up");
    port.begin(0.0, 9.0, 4.0, "stays");
    assert_eq!(port.give_up(2.0, flow), Some("given up"));
    assert_eq!(port.give_up(2.0, flow), None);
    assert_eq!(port.flows(), 1);
    assert_eq!(port.end(), Some((3.0, "stays")));
    assert_eq!(port.passed(3.0), 6.0);
}

#[test]
fn a_flow_that_stops_keeps_the_bits_that_are_left() {
    let mut port = Port::new(2.0);
    let flow = port.begin(0.0, 9.0, 4.0, "first");
    assert_eq!(port.stop(0.5, flow), Some(("first", 3.0)));
    assert_eq!((port.stop(0.5, flow), port.flows()), (None, 0));
    // At half the port's rate.
    port.set_rate(1.0, 1.0);
    port.begin(1.0, 9.0, 3.0, "first");
    assert_eq!(port.end(), Some((4.0, "first")));
}

/// Flows as numbers that shrink in small steps.
#[test]
fn as_in_small_steps() {
    const STEP: f64 = 1e-4;
    for seed in 0..20 {
        let mut random = SplitMix64::new(seed);
        let begins: Vec<[f64; 3]> = (0..12)
            .map(|_| {
                [
                    random.uniform(0.0, 5.0),
                    [0.4, 1.0, 2.5][(random.fraction() * 3.0) as usize],
                    random.uniform(0.2, 3.0),
                ]
            })
            .collect();
        let mut port = Port::new(3.0);
        let mut order: Vec<usize> = (0..begins.len()).collect();
        order.sort_by(|a, b| begins[*a][0].total_cmp(&begins[*b][0]));
        let mut ends = vec![0.0; begins.len()];
        for &flow in &order {
            let [at, most, bits] = begins[flow];
            while port.next_end_s().is_some_and(|end| end <= at) {
                let (end, flow): (f64, usize) = port.end().unwrap();
                ends[flow] = end;
            }
            port.begin(at, most, bits, flow);
        }
        while let Some((end, flow)) = port.end() {
            ends[flow] = end;
        }
        let mut left: Vec<f64> = begins.iter().map(|[_, _, bits]| *bits).collect();
        let mut now = 0.0;
        let mut ended = vec![0.0; begins.len()];
        while left.iter().any(|left| *left > 0.0) {
            let on: Vec<usize> =
                (0..left.len()).filter(|&flow| begins[flow][0] <= now && left[flow] > 0.0).collect();
            now += STEP;
            for &flow in &on {
                left[flow] -= STEP * begins[flow][1].min(3.0 / on.len() as f64);
                if left[flow] <= 0.0 {
                    ended[flow] = now;
                }
            }
        }
        for (flow, (exact, stepped)) in ends.iter().zip(&ended).enumerate() {
            assert!((exact - stepped).abs() < 0.01, "seed {seed}, flow {flow}: {exact} {stepped}");
        }
    }
}
