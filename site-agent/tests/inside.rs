//! Frames of workers and chunks between sites: cut, gathered, answered, for any lengths and in any order.
#![allow(clippy::unwrap_used)]

use inart_core::policy::OwnSum;
use inart_site_agent::{Inside, InsideError};
use inart_wire::Exponent;
use proptest::prelude::*;

/// The frames of a round: their values, by the lengths of tensors. The values are their places.
fn frames(tensors: &[usize], frame_values: usize, first: i32) -> Vec<(Vec<i32>, bool)> {
    let mut all = Vec::new();
    let mut at = first;
    for &tensor in tensors {
        let end = at + tensor as i32;
        while at < end {
            let length = (frame_values as i32).min(end - at);
            all.push(((at..at + length).collect(), at + length == end));
            at += length;
        }
    }
    all
}

proptest! {
    #[test]
    fn what_workers_sum_goes_up_whole_and_comes_back_to_the_frames_it_is_of(
        tensors in prop::collection::vec(1..700usize, 1..4),
        frame_values in prop::sample::select(vec![32usize, 64]),
        per_chunk in 1..5usize,
        rounds in 1..3u32,
        order in prop::collection::vec(any::<prop::sample::Index>(), 40),
    ) {
        let chunk = per_chunk * 64;
        let cut = |&tensor: &usize| {
            let whole = std::iter::repeat_n(chunk, tensor / chunk);
            whole.chain((tensor % chunk > 0).then_some(tensor % chunk)).collect::<Vec<_>>()
        };
        let chunk_values: Vec<usize> = tensors.iter().flat_map(cut).collect();
        let values: usize = tensors.iter().sum();
        let mut inside = Inside::new(&tensors, &chunk_values, frame_values, 16).unwrap();
        let exponent = Exponent::saturating(-3);
        let (mut sequence, mut answered) = (0u32, 0u32);
        for round in 1..=rounds {
            let mut sums: Vec<(OwnSum, usize)> = Vec::new();
            for (place, (values, last)) in frames(&tensors, frame_values, 1).into_iter().enumerate() {
                sums.push((OwnSum { sequence: sequence.into(), values, exponent, last }, place));
                sequence += 1;
            }
            let right: Vec<Vec<i32>> = sums.iter().map(|(sum, _)| sum.values.clone()).collect();
            // Neighbours change places, as far as a window allows.
            for (at, index) in order.iter().enumerate().take(sums.len()) {
                let other = (at + index.index(8)).min(sums.len() - 1);
                sums.swap(at, other);
            }
            for (sum, _) in sums {
                inside.take(sum, None).unwrap();
            }
            prop_assert_eq!(inside.next_ready(round + 1), None);
            let ready: Vec<_> = std::iter::from_fn(|| inside.next_ready(round)).collect();
            let lengths: Vec<usize> = ready.iter().map(|ready| ready.values.len()).collect();
            prop_assert_eq!(&lengths, &chunk_values);
            let floats: Vec<f32> = ready.iter().flat_map(|ready| ready.values.clone()).collect();
            prop_assert_eq!(floats, (1..=values as i32).map(|at| at as f32 / 8.0).collect::<Vec<_>>());
            // Sums of all come back in any order; results go in that of the frames.
            let mut chunks: Vec<usize> = (0..chunk_values.len()).collect();
            for (at, index) in order.iter().enumerate().take(chunks.len()) {
                let other = index.index(chunks.len());
                chunks.swap(at, other);
            }
            let mut results = Vec::new();
            for chunk in chunks {
                let start: usize = chunk_values[..chunk].iter().sum();
                let of = (start + 1..=start + chunk_values[chunk]).map(|at| at as i32).collect();
                results.extend(inside.complete(round, chunk, of, Exponent::saturating(5)));
            }
            prop_assert_eq!(results.len(), right.len());
            for (answer, right) in results.into_iter().zip(right) {
                prop_assert_eq!(answer.sequence.get(), answered);
                prop_assert_eq!((answer.values, i32::from(answer.exponent)), (right, 5));
                answered += 1;
            }
        }
        prop_assert_eq!(inside.end_of(rounds).get(), sequence);
    }
}

#[test]
fn a_frame_of_zeros_keeps_its_own_exponent() {
    let mut inside = Inside::new(&[64], &[64], 32, 2).unwrap();
    for sequence in 0..2u32 {
        let (values, exponent) = (vec![3; 32], Exponent::saturating(-20 - sequence as i32));
        inside
            .take(OwnSum { sequence: sequence.into(), values, exponent, last: sequence == 1 }, None)
            .unwrap();
    }
    let sum = [vec![0; 32], vec![7; 32]].concat();
    let answers = inside.complete(1, 0, sum, Exponent::saturating(4));
    assert_eq!(answers.iter().map(|answer| i32::from(answer.exponent)).collect::<Vec<_>>(), [-20, 4]);
}

#[test]
fn what_does_not_fit_is_named() {
    let error = Inside::new(&[1000], &[640, 360], 32, 16).unwrap_err();
    assert_eq!(error, InsideError::Window { window: 16, needed: 20, least: 32 });
    let error = Inside::new(&[1000], &[600, 400], 32, 32).unwrap_err();
    assert_eq!(error, InsideError::Frames { frame: 32, chunk: 600 });
    // Tensors that end too early, whatever workers have told of the one before, and one that goes on.
    for (length, last, told, theirs) in [(20, true, 40, 20), (32, true, 40, 32), (32, false, 50, 50)] {
        let mut inside = Inside::new(&[40], &[40], 32, 2).unwrap();
        let sum = |sequence: u32, length, last| OwnSum {
            sequence: sequence.into(),
            values: vec![1; length],
            exponent: Exponent::saturating(0),
            last,
        };
        let taken = inside.take(sum(0, length, last), Some(told));
        let taken = taken.and_then(|()| inside.take(sum(1, 32, false), Some(told)));
        let error = taken.unwrap_err().to_string();
        assert!(error.contains(&format!("the job's tensor 0 of 40 values: one of {theirs};")), "{error}");
    }
}
