//! Sums of gradients: exact, the same in any order, and within the stated bound. Messages: read back as
//! written.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use bytes::Bytes;
use inart_site_agent::gradient::{ChunkSum, first_exponent};
use inart_site_agent::message::{self, Body, decode, encode};
use inart_site_agent::policy_message::{policy, policy_message};
use inart_sites::{ChunkNo, Parcel, Policy, SiteNo, Summand, Tree, TreeNo, Way};
use inart_wire::Exponent;
use proptest::prelude::*;

/// Finite floats of all sizes.
fn float() -> impl Strategy<Value = f32> {
    prop_oneof![any::<f32>().prop_filter("finite", |value| value.is_finite()), -4.0f32..4.0, Just(0.0)]
}

fn of(values: &[f32], agreed: Exponent, sites: usize, site: usize) -> ChunkSum {
    ChunkSum::of(values, agreed, sites, SiteNo(site as u16))
}

proptest! {
    #[test]
    fn sums_are_the_same_in_any_order_and_within_the_bound(
        gradients in prop::collection::vec(prop::collection::vec(float(), 5), 1..10),
        agreed in -40i32..20,
        order in any::<prop::sample::Index>(),
    ) {
        let (sites, agreed) = (gradients.len(), Exponent::saturating(agreed));
        let parts: Vec<ChunkSum> =
            gradients.iter().enumerate().map(|(site, values)| of(values, agreed, sites, site)).collect();
        let add = |indices: &[usize]| {
            let mut sum = ChunkSum::empty();
            indices.iter().for_each(|&at| sum.add(&parts[at]));
            sum
        };
        let mut indices: Vec<usize> = (0..sites).collect();
        let sum = add(&indices);
        indices.rotate_left(order.index(sites));
        indices.reverse();
        prop_assert_eq!(&add(&indices), &sum);
        // Each site errs by half a unit of its part at most; then the result is rounded.
        let (integers, exponent) = sum.integers(5).unwrap();
        let last = if sum.parts.len() > 1 { 2f64.powi(i32::from(exponent) - 1) } else { 0.0 };
        let bound: f64 =
            parts.iter().map(|part| 2f64.powi(i32::from(*part.parts.keys().next().unwrap()) - 1)).sum();
        let bound = bound + last;
        let mut floats = vec![0.0; 5];
        sum.write(&mut floats);
        for (float, integer) in floats.iter().zip(&integers) {
            let read = (f64::from(*integer) * 2f64.powi(exponent.into())) as f32;
            prop_assert_eq!(float.to_bits(), read.to_bits());
        }
        for (at, float) in floats.iter().enumerate() {
            let exact: f64 = gradients.iter().map(|values| f64::from(values[at])).sum();
            let size: f64 = gradients.iter().map(|values| f64::from(values[at]).abs()).sum();
            if exact.abs() < f64::from(f32::MAX) {
                let rounding = exact.abs() * 2f64.powi(-23) + size * 2f64.powi(-45) + 2f64.powi(-149);
                prop_assert!((f64::from(*float) - exact).abs() <= bound + rounding, "{float} {exact} {bound}");
            }
        }
        // With the next exponent nothing of this size needs a part of its own, even four times as large.
        let next = sum.next_exponent(agreed, sites);
        for values in &gradients {
            let larger: Vec<f32> = values.iter().map(|value| value * 3.9).collect();
            if larger.iter().all(|value| value.is_finite()) && values.iter().any(|value| *value != 0.0) {
                let part = of(&larger, next, sites, 0);
                prop_assert!(i32::from(*part.parts.keys().next().unwrap()) <= i32::from(next));
            }
        }
    }

    #[test]
    fn chunks_are_read_back_as_written(
        numbers in (any::<u32>(), any::<u64>(), any::<u32>(), any::<u16>(), any::<u16>(), any::<u8>()),
        way in 0..3usize,
        route in prop::collection::vec(any::<u16>(), 0..5),
        policies in prop::collection::vec(any::<u64>(), 0..5),
        parts in prop::collection::btree_map(any::<i8>(), prop::collection::vec(any::<u8>(), 0..30), 0..4),
        (needs, not_finite) in (-127i32..127, prop::option::of(any::<u16>())),
    ) {
        let (round, version, chunk, from, to, path) = numbers;
        let parcel = Parcel {
            round,
            version,
            chunk: ChunkNo(chunk),
            way: [Way::Push, Way::Pull, Way::Answer][way],
            from: SiteNo(from),
            to: SiteNo(to),
            path,
            route: route.into_iter().map(SiteNo).collect(),
            policies,
            data: ChunkSum {
                parts: parts.into_iter().map(|(at, part)| (at, Bytes::from(part))).collect(),
                needs: Exponent::saturating(needs),
                not_finite: not_finite.map(SiteNo),
            },
        };
        let Ok(Body::Chunk(read)) = decode(encode(Body::Chunk(message::chunk_message(&parcel)))) else {
            return Err(TestCaseError::fail("no chunk"));
        };
        prop_assert_eq!(message::parcel(read).unwrap(), parcel);
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        match decode(bytes.into()) {
            Ok(Body::Chunk(chunk)) => drop(message::parcel(chunk)),
            Ok(Body::Ask(ask)) => drop(message::ask(ask)),
            Ok(Body::Offer(offer)) => drop(policy(offer)),
            _ => {}
        }
    }
}

#[test]
fn a_nan_is_told_as_the_least_site_that_has_one() {
    let agreed = first_exponent(3);
    let mut sum = of(&[1.0, 2.0], agreed, 3, 0);
    sum.add(&of(&[f32::NAN, 0.0], agreed, 3, 2));
    sum.add(&of(&[0.0, f32::INFINITY], agreed, 3, 1));
    assert_eq!(sum.not_finite, Some(SiteNo(1)));
    let mut floats = [0.0; 2];
    sum.write(&mut floats);
    assert!(floats.iter().all(|value| value.is_nan()));
}

#[test]
fn policies_are_read_back_as_written() {
    let line = vec![Some(SiteNo(1)), Some(SiteNo(2)), None];
    let other = vec![Some(SiteNo(2)), Some(SiteNo(0)), None];
    let tree = |down: &[Option<SiteNo>]| Tree { root: SiteNo(2), up: line.clone(), down: down.to_vec() };
    let ends = (SiteNo(0), SiteNo(2));
    let around = vec![SiteNo(0), SiteNo(1), SiteNo(2)];
    let written = Policy {
        version: 1 << 40 | 7,
        sites: (0..3).map(SiteNo).collect(),
        trees: vec![tree(&line), tree(&other)],
        chunk_trees: vec![TreeNo(0), TreeNo(1), TreeNo(0)],
        routes: BTreeMap::from([(ends, around.clone())]),
        auxiliary: BTreeMap::from([(ends, vec![around.clone(), vec![SiteNo(0), SiteNo(2)]])]),
    };
    assert_eq!(policy(policy_message(&written)).unwrap(), written);
    let mut wrong = policy_message(&written);
    wrong.trees[0].root = 70_000;
    assert_eq!(policy(wrong).unwrap_err().to_string(), "root is 70000, which is not allowed; at most 65535");
}
