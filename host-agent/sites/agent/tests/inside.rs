//! Frames of workers and chunks between sites: cut, collected, answered, for any lengths and in any order.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use inart_protocol_aggregation::completion_rule::{Answer, OwnSum};
use inart_protocol_aggregation::{Assignment, Chunk, ShardAssignment, Split, WorkerAddress};
use inart_sites_agent::{Inside, InsideError};
use inart_wire::{MacAddr, ValuesPerFrame};
use proptest::prelude::*;

fn assignment(values_per_frame: ValuesPerFrame, window_chunks: u32) -> Assignment {
    let worker = |host: u8| WorkerAddress { name: format!("w{host}"), mac: MacAddr([2, 0, 0, 0, 0, host]) };
    Assignment {
        job: 1.into(),
        name: "inside".into(),
        plan_version: 1.into(),
        values_per_frame,
        window_chunks,
        exact_sums: false,
        workers: (0..3).map(worker).collect(),
        shards: vec![ShardAssignment {
            server: "n1".into(),
            mac: MacAddr([2, 0, 0, 0, 0, 100]),
            share: 1.0,
            rate_bps: 1e9,
            bitmap_indices: Vec::new(),
        }],
    }
}

/// Returns the sums of a round's frames by their numbers, without those of maxima, and the number of frames.
/// The values count up from 1.
fn sums(assignment: &Assignment, tensors: &[usize]) -> (BTreeMap<u32, OwnSum>, u32) {
    let (mut all, mut number, mut first) = (BTreeMap::new(), 0, 0);
    for &tensor in tensors {
        for chunk in Split::new(assignment, tensor).chunks() {
            if !matches!(chunk, Chunk::Maxima(_)) {
                let range = chunk.values();
                let values = range.clone().map(|at| (first + at + 1) as f32).collect();
                all.insert(number, OwnSum::exact(number.into(), values, range.end == tensor));
            }
            number += 1;
        }
        first += tensor;
    }
    (all, number)
}

proptest! {
    #[test]
    fn sums_of_workers_go_up_whole_and_results_return_to_their_frames(
        tensors in prop::collection::vec(prop_oneof![1..=256usize, 257..3000usize], 1..4),
        frame_values in prop::sample::select(vec![ValuesPerFrame::N32, ValuesPerFrame::N256]),
        per_chunk in 1..5usize,
        rounds in 1..4u32,
        order in prop::collection::vec(any::<prop::sample::Index>(), 40),
    ) {
        let chunk = per_chunk * 256;
        let cut = |&tensor: &usize| {
            let whole = std::iter::repeat_n(chunk, tensor / chunk);
            whole.chain((tensor % chunk > 0).then_some(tensor % chunk)).collect::<Vec<_>>()
        };
        let chunk_values: Vec<usize> = tensors.iter().flat_map(cut).collect();
        let assignment = assignment(frame_values, 128);
        let mut inside = Inside::new(&tensors, &chunk_values, &assignment).unwrap();
        let (of_round, frames) = sums(&assignment, &tensors);
        for round in 1..=rounds {
            let first = (round - 1) * frames;
            for (number, sum) in &of_round {
                let mut sum = sum.clone();
                sum.sequence = (first + number).into();
                inside.take(sum, None).unwrap();
            }
            prop_assert_eq!(inside.next_ready(round + 1), None);
            let ready: Vec<_> = std::iter::from_fn(|| inside.next_ready(round)).collect();
            let lengths: Vec<usize> = ready.iter().map(|ready| ready.values.len()).collect();
            prop_assert_eq!(&lengths, &chunk_values);
            let floats: Vec<f32> = ready.into_iter().flat_map(|ready| ready.values).collect();
            let own: Vec<f32> = of_round.values().flat_map(|sum| sum.values.clone()).collect();
            prop_assert_eq!(&floats, &own);
            // Sums over all sites arrive in any order; results are sent in the order of frames.
            let mut chunks: Vec<usize> = (0..chunk_values.len()).collect();
            for (at, index) in order.iter().enumerate().take(chunks.len()) {
                let other = index.index(chunks.len());
                chunks.swap(at, other);
            }
            let mut results = Vec::new();
            for chunk in chunks {
                let start: usize = chunk_values[..chunk].iter().sum();
                let of = own[start..start + chunk_values[chunk]].iter().map(|value| value / 8.0).collect();
                results.extend(inside.complete(round, chunk, of));
            }
            let right: Vec<_> = of_round.iter().map(|(number, sum)| {
                let (answer, _) = sum.answer(&sum.values.iter().map(|value| value / 8.0).collect::<Vec<_>>());
                Answer { sequence: (first + number).into(), ..answer }
            }).collect();
            prop_assert_eq!(results, right);
        }
        prop_assert_eq!(inside.end_of(rounds).get(), rounds * frames);
    }
}

#[test]
fn a_tensor_without_values_is_refused() {
    let assignment = assignment(ValuesPerFrame::N32, 16);
    for (tensors, tensor) in [(vec![0], 0), (vec![300, 0], 1)] {
        let error = Inside::new(&tensors, &[300], &assignment).unwrap_err();
        assert_eq!(error, InsideError::Empty { tensor });
    }
}

#[test]
fn frames_of_maxima_take_numbers_and_no_window() {
    // A block and a half: a frame of maxima, and 12 of 32 values. Then digits, two values in a frame.
    let job = |window| Inside::new(&[384, 5], &[256, 128, 5], &assignment(ValuesPerFrame::N32, window));
    let inside = job(8).unwrap();
    assert_eq!([1, 2].map(|rounds| inside.end_of(rounds).get()), [16, 32]);
    assert_eq!(job(4).unwrap_err(), InsideError::Window { window: 4, needed: 8, least: 8 });
}

#[test]
fn mismatches_are_named() {
    let narrow = |window| assignment(ValuesPerFrame::N32, window);
    let error = Inside::new(&[2000], &[1280, 720], &narrow(16)).unwrap_err();
    assert_eq!(error, InsideError::Window { window: 16, needed: 40, least: 64 });
    // Neither whole frames nor whole blocks, and only whole frames.
    for chunk in [600, 640] {
        let error = Inside::new(&[1000], &[chunk, 1000 - chunk], &narrow(64)).unwrap_err();
        assert_eq!(error, InsideError::Frames { frame: 32, chunk });
    }
    let error = Inside::new(&[3000], &[1280, 1280, 440], &assignment(ValuesPerFrame::N1024, 64)).unwrap_err();
    assert_eq!(error, InsideError::Frames { frame: 1024, chunk: 1280 });
    // Tensors that end too early, whatever workers have reported for the previous one, and a tensor that is
    // too long.
    for (length, last, reported, theirs) in [(20, true, 340, 20), (32, true, 340, 32), (32, false, 350, 350)]
    {
        let mut inside = Inside::new(&[340], &[340], &narrow(16)).unwrap();
        let sum = |sequence: u32, length, last| OwnSum::exact(sequence.into(), vec![1.0; length], last);
        let taken = inside.take(sum(1, length, last), Some(reported));
        let taken = taken.and_then(|()| inside.take(sum(2, 20, false), Some(reported)));
        let error = taken.unwrap_err().to_string();
        assert!(error.contains(&format!("the job's tensor 0 of 340 values: one of {theirs};")), "{error}");
    }
    // Wrong numbers of frames of maxima, including none where they are required.
    for (sequence, reported) in [(0u32, 200), (2, 9000)] {
        let mut inside = Inside::new(&[340], &[340], &narrow(16)).unwrap();
        let error =
            inside.take(OwnSum::exact(sequence.into(), vec![1.0; 32], false), Some(reported)).unwrap_err();
        assert_eq!(error, InsideError::Length { tensor: 0, expected: 340, reported: Some(reported) });
    }
}
