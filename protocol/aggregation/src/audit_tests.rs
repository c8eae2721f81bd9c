use std::string::ToString;
use std::vec;

use super::*;
use crate::completion_rule::{Lockstep, Receivers};

#[derive(Clone)]
struct Report {
    sent: Vec<f32>,
    result: Vec<f32>,
}

/// Creates two workers' reports of `len` values, with the right sums.
fn pair(len: usize, exact: bool) -> (Report, Report) {
    let tensor = |factor: f32| (0..len).map(|index| factor * (index as f32 + 0.1)).collect::<Vec<_>>();
    let (a, b) = (tensor(1.7), tensor(-0.3));
    let result = sum_of(&[&a, &b], 2, exact);
    (Report { sent: a, result: result.clone() }, Report { sent: b, result })
}

fn check_with(rule: &impl ContributionRule, a: &Report, b: &Report, exact: bool) -> Result<(), Mismatch> {
    let named = [(0, "w1", a), (1, "w2", b)];
    let sent = named.map(|(_, worker, report)| Sent { worker, values: &report.sent });
    let received = named.map(|(rank, worker, report)| Received { rank, worker, result: &report.result });
    check_round(rule, 4, &sent, &received, exact)
}

fn check(a: &Report, b: &Report) -> Result<(), Mismatch> {
    check_with(&Lockstep, a, b, false)
}

#[test]
fn right_sums_pass() {
    for (len, exact) in [(1, false), (256, false), (257, false), (1000, false), (1000, true)] {
        let (a, b) = pair(len, exact);
        assert_eq!(check_with(&Lockstep, &a, &b, exact), Ok(()));
    }
    assert_eq!(check_round(&Lockstep, 0, &[], &[], false), Ok(()));
}

#[test]
fn one_flipped_bit_anywhere_is_found_and_named() {
    for len in [3, 300] {
        for index in [0, 1, len - 1] {
            for bit in 0..32 {
                let (a, mut b) = pair(len, false);
                let expected = b.result[index];
                b.result[index] = f32::from_bits(expected.to_bits() ^ 1 << bit);
                let mismatch = check(&a, &b).expect_err("another bit");
                assert_eq!((mismatch.round, &*mismatch.worker), (4, "w2"));
                let Difference::Value { index: place, seen, .. } = mismatch.what else { panic!("a length") };
                assert_eq!((place, seen.to_bits()), (index, b.result[index].to_bits()));
            }
        }
    }
}

#[test]
fn a_contribution_that_did_not_count_is_found_at_every_worker() {
    let report = |sent: f32, result| Report { sent: vec![sent], result: vec![result] };
    let error = check(&report(2.0, 2.0), &report(1.0, 2.0)).expect_err("the sum lacks 1");
    assert_eq!(error.to_string(), "round 4, worker w1: it received 2 instead of 3 as value 0 of the tensor");
}

/// Rule of a job in which each worker receives only its own values.
struct Alone;

impl ContributionRule for Alone {
    fn requires(&self, contributor: usize, receiver: usize) -> bool {
        contributor == receiver
    }

    fn receivers(&self) -> Receivers {
        Receivers::Cohort
    }
}

#[test]
fn the_completion_rule_defines_the_contributors_of_a_sum() {
    let report = |sent: f32| Report { sent: vec![sent], result: vec![sent] };
    assert_eq!(check_with(&Alone, &report(1.0), &report(10.0), false), Ok(()));
    assert!(check(&report(1.0), &report(10.0)).is_err());
}

#[test]
fn lengths_are_checked() {
    let (a, mut b) = pair(3, false);
    b.result.pop();
    let what = check(&a, &b).map_err(|error| error.what);
    assert_eq!(what, Err(Difference::Length { items: "received values", seen: 2, expected: 3 }));
    let (a, mut b) = pair(3, false);
    b.sent.push(1.0);
    assert!(matches!(check(&a, &b).map_err(|error| error.what), Err(Difference::Length { .. })));
}

#[test]
fn exact_sums_are_those_of_the_floats() {
    let bits =
        |tensors: &[&[f32]]| sum_of(tensors, 2, true).iter().map(|sum| sum.to_bits()).collect::<Vec<_>>();
    let sums = bits(&[&[16_777_216.0, -0.0, f32::MAX, 1e30], &[1.5, -0.0, f32::MAX, 1.0]]);
    assert_eq!(sums, [16_777_218.0, 0.0, f32::INFINITY, 1e30].map(f32::to_bits));
    let sums = sum_of(&[&[f32::INFINITY, f32::NAN, f32::INFINITY], &[1.0, 1.0, f32::NEG_INFINITY]], 2, true);
    assert!(sums[0] == f32::INFINITY && sums[1].is_nan() && sums[2].is_nan());
}

#[test]
fn values_of_a_block_are_rounded_by_its_largest() {
    // The largest is below 2^4, and two workers' sums take a bit: multiples of 2^-26.
    let mut a = vec![0.0f32; 300];
    (a[0], a[1], a[299]) = (15.0, 1.0 + 1.0 / 8_388_608.0, 2f32.powi(-60));
    a[2] = 1.75 / 67_108_864.0;
    let b = vec![0.0; 300];
    let sum = sum_of(&[&a, &b], 2, false);
    assert_eq!((sum[0], sum[1], sum[299]), (a[0], a[1], a[299]), "a separate block is as precise");
    assert_eq!(sum[2], 2.0 / 67_108_864.0);
    a[256] = f32::NAN;
    let sum = sum_of(&[&a, &b], 2, false);
    assert!(sum[0] == 15.0 && sum[256..].iter().all(|value| value.is_nan()));
}
