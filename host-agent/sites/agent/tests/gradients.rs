//! Sums of gradients: exact, equal in any order, and within the stated bound. Messages: decoded as encoded.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use bytes::Bytes;
use inart_protocol_sites::{
    ChunkNo, ChunkTransfer, Direction, SiteNo, Summand, TransmissionPolicy, Tree, TreeNo,
};
use inart_sites_agent::audit::sum_of_sites;
use inart_sites_agent::gradient::{ChunkSum, Run, round};
use inart_sites_agent::message::{self, Body, decode, encode};
use inart_sites_agent::policy_message::{policy, policy_message};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Finite floats: of all magnitudes, of similar magnitudes, integers, zeros, and the largest and smallest
/// floats.
fn values(len: usize) -> impl Strategy<Value = Vec<f32>> {
    let finite = any::<f32>().prop_filter("finite", |value| value.is_finite());
    let edges = prop::sample::select(
        [
            f32::MAX,
            f32::MIN,
            f32::MIN_POSITIVE,
            f32::from_bits(1),
            -0.0,
            2f32.powi(106),
            2f32.powi(107),
            2f32.powi(127),
        ]
        .to_vec(),
    );
    let whole = (-1000..1000i32).prop_map(|value| value as f32);
    prop_oneof![
        4 => prop::collection::vec(-4.0f32..4.0, len),
        1 => prop::collection::vec(finite, len),
        1 => prop::collection::vec(whole, len),
        1 => prop::collection::vec(edges, len),
        1 => Just(vec![0.0; len]),
        2 => (prop::collection::vec(-1.0f32..1.0, len), -140..120i32)
            .prop_map(|(values, power)| values.iter().map(|value| value * 2f32.powi(power)).collect()),
    ]
}

/// Gradients of some sites: of one tensor, or of two.
fn gradients() -> impl Strategy<Value = (Vec<Vec<f32>>, Vec<usize>)> {
    let tensors = prop_oneof![
        (1..=256usize).prop_map(|len| vec![len]),
        (257..900usize).prop_map(|len| vec![len]),
        (1..=256usize, 257..600usize).prop_map(|(short, long)| vec![short, long]),
    ];
    (tensors, 1..9usize).prop_flat_map(|(tensors, sites)| {
        let one = tensors.iter().map(|len| values(*len)).collect::<Vec<_>>().prop_map(|all| all.concat());
        (prop::collection::vec(one, sites), Just(tensors))
    })
}

/// Returns each site's contribution to a chunk that is its whole gradient.
fn given(gradients: &[Vec<f32>], tensors: &[usize]) -> Vec<ChunkSum> {
    let of = |(site, gradient): (usize, &Vec<f32>)| {
        let (mut rounded, mut first) = (gradient.clone(), 0);
        for &tensor in tensors {
            round(&mut rounded[first..first + tensor], tensor);
            first += tensor;
        }
        ChunkSum::of(&rounded, SiteNo(site as u16))
    };
    gradients.iter().enumerate().map(of).collect()
}

fn added(parts: &[ChunkSum], indices: &[usize]) -> ChunkSum {
    let mut sum = ChunkSum::empty();
    indices.iter().for_each(|&at| sum.add(&parts[at]));
    sum
}

fn floats(sum: &ChunkSum, len: usize) -> Vec<f32> {
    let mut floats = vec![f32::NAN; len];
    sum.write(&mut floats);
    floats
}

fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| float.to_bits()).collect()
}

proptest! {
    #[test]
    fn sums_are_equal_in_any_order_and_follow_the_rule(
        (gradients, tensors) in gradients(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 8),
        cut in any::<prop::sample::Index>(),
    ) {
        let (parts, len) = (given(&gradients, &tensors), gradients[0].len());
        prop_assert!(parts.iter().all(|part| part.is_of(len)));
        let mut indices: Vec<usize> = (0..parts.len()).collect();
        let sum = added(&parts, &indices);
        for (at, index) in order.iter().enumerate().take(parts.len()) {
            indices.swap(at, index.index(parts.len()));
        }
        prop_assert_eq!(&added(&parts, &indices), &sum);
        // In the order of two subtrees.
        let (some, others) = indices.split_at(cut.index(parts.len()));
        prop_assert_eq!(&added(&[added(&parts, some), added(&parts, others)], &[0, 1]), &sum);
        prop_assert!(sum.is_of(len) && !sum.is_of(len + 256));
        let of: Vec<&[f32]> = gradients.iter().map(|gradient| &gradient[..]).collect();
        prop_assert_eq!(bits(&floats(&sum, len)), bits(&sum_of_sites(&of, &tensors)));
    }

    #[test]
    fn sums_of_long_tensors_are_within_the_bound(gradients in (1..9usize).prop_flat_map(|sites| {
        prop::collection::vec(prop::collection::vec(-1.0f32..1.0, 300), sites)
    }), sizes in prop::collection::vec(-20..20i32, 9)) {
        let scaled = |(gradient, size): (&Vec<f32>, &i32)| {
            gradient.iter().map(|value| value * 2f32.powi(*size)).collect::<Vec<_>>()
        };
        let gradients: Vec<_> = gradients.iter().zip(&sizes).map(scaled).collect();
        let parts = given(&gradients, &[300]);
        let sum = floats(&added(&parts, &(0..parts.len()).collect::<Vec<_>>()), 300);
        for (block, range) in [0..256, 256..300].into_iter().enumerate() {
            let of_block = || gradients.iter().flat_map(|gradient| &gradient[range.clone()]);
            let largest = of_block().fold(0.0f64, |largest, value| largest.max(f64::from(value.abs())));
            for at in range {
                // Exact: similar magnitudes.
                let exact: f64 = gradients.iter().map(|gradient| f64::from(gradient[at])).sum();
                let bound = gradients.len() as f64 * 2f64.powi(-24) * largest;
                let reading = exact.abs() * 2f64.powi(-24) + 2f64.powi(-149);
                let off = (f64::from(sum[at]) - exact).abs();
                prop_assert!(off <= bound * (1.0 + 2f64.powi(-24)) + reading, "block {block}: {off} {bound}");
            }
        }
    }

    #[test]
    fn chunks_are_read_back_as_written(
        numbers in (any::<u32>(), any::<u64>(), any::<u32>(), any::<u16>(), any::<u16>(), any::<u8>()),
        way in 0..3usize,
        route in prop::collection::vec(any::<u16>(), 0..5),
        policies in prop::collection::vec(any::<u64>(), 0..5),
        runs in prop::collection::vec(any::<(u8, u8)>(), 0..4),
        words in prop::collection::vec(any::<u8>(), 0..30),
        not_finite in prop::option::of(any::<u16>()),
    ) {
        let (round, version, chunk, from, to, path) = numbers;
        let transfer = ChunkTransfer {
            round,
            version,
            chunk: ChunkNo(chunk),
            direction: [Direction::Push, Direction::Pull, Direction::Answer][way],
            from: SiteNo(from),
            to: SiteNo(to),
            path,
            route: route.into_iter().map(SiteNo).collect(),
            policies,
            data: ChunkSum {
                runs: runs.into_iter().map(|(unit, words)| Run { unit, words }).collect(),
                words: Bytes::from(words),
                not_finite: not_finite.map(SiteNo),
            },
        };
        let Ok(Body::Chunk(read)) = decode(encode(Body::Chunk(message::chunk_message(&transfer)))) else {
            return Err(TestCaseError::fail("no chunk"));
        };
        prop_assert_eq!(message::transfer(read).unwrap(), transfer);
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        match decode(bytes.into()) {
            Ok(Body::Chunk(chunk)) => drop(message::transfer(chunk)),
            Ok(Body::Ask(ask)) => drop(message::ask(ask)),
            Ok(Body::Offer(offer)) => drop(policy(offer)),
            _ => {}
        }
    }
}

proptest! {
    /// Arbitrary runs and words are refused, or form a valid sum.
    #[test]
    fn made_up_sums_are_refused_or_added(
        runs in prop::collection::vec((any::<u8>(), 0..12u8), 2),
        bytes in prop::collection::vec(any::<u8>(), 0..200 * 4),
        values in values(300),
    ) {
        let runs: Vec<_> = runs.into_iter().map(|(unit, words)| Run { unit, words }).collect();
        let length = 4 * (256 * usize::from(runs[0].words) + 44 * usize::from(runs[1].words));
        let words: Bytes = bytes.iter().chain(&[1]).copied().cycle().take(length).collect();
        let mut made_up = ChunkSum { runs, words, not_finite: None };
        if made_up.is_of(300) {
            made_up.add(&ChunkSum::of(&values, SiteNo(0)));
            prop_assert!(made_up.is_of(300));
            floats(&made_up, 300);
        }
    }
}

#[test]
fn a_nan_is_reported_as_the_lowest_site_that_has_one() {
    let mut sum = ChunkSum::of(&[1.0, 2.0], SiteNo(0));
    sum.add(&ChunkSum::of(&[f32::NAN, 0.0], SiteNo(2)));
    sum.add(&ChunkSum::of(&[0.0, f32::INFINITY], SiteNo(1)));
    assert_eq!(sum, ChunkSum { not_finite: Some(SiteNo(1)), ..ChunkSum::empty() });
    assert!(sum.is_of(2) && floats(&sum, 2).iter().all(|value| value.is_nan()));
}

/// The cases of decision 40, between sites.
#[test]
fn small_values_next_to_large_ones_are_not_lost() {
    let sum = |gradients: &[Vec<f32>], tensors: &[usize]| {
        let parts = given(gradients, tensors);
        floats(&added(&parts, &(0..parts.len()).collect::<Vec<_>>()), gradients[0].len())
    };
    // Counts and mean losses in one tensor.
    let metrics: Vec<_> = (0..4).map(|site| vec![10_000.0 + site as f32, 0.0123]).collect();
    assert_eq!(sum(&metrics, &[2]), [40_006.0, 0.0492]);
    assert_eq!(sum(&[vec![8_000_000.0], vec![24.0]], &[1]), [8_000_024.0]);
    // Two consecutive tensors of one length.
    let of = |size: f32| (0..300).map(move |at| size * (at as f32 - 150.0));
    let buckets: Vec<f32> = of(1.0).chain(of(1e-6)).collect();
    let doubled: Vec<f32> = buckets.iter().map(|value| 2.0 * value).collect();
    assert!(sum(&[buckets.clone(), buckets], &[300, 300]).iter().zip(&doubled).all(|(sum, right)| {
        (sum - right).abs() <= 2f32.powi(-22) * if right.abs() > 1e-3 { 300.0 } else { 3e-4 }
    }));
}

/// Gradients of nine sites, whose magnitudes differ by up to a factor of four: one word per value, plus half
/// a percent for everything else.
#[test]
fn sums_of_like_gradients_take_a_word_per_value() {
    let mut draws = ChaCha8Rng::seed_from_u64(5);
    let len = 100_000;
    let gradients: Vec<Vec<f32>> = (0..9)
        .map(|_| {
            let size = draws.random_range(0.5f32..2.0);
            // Approximately normally distributed.
            let value =
                |draws: &mut ChaCha8Rng| (0..12).map(|_| draws.random_range(-1.0f32..1.0)).sum::<f32>();
            (0..len).map(|_| size * value(&mut draws)).collect()
        })
        .collect();
    let parts = given(&gradients, &[len]);
    for sites in 1..=9 {
        let data = added(&parts, &(0..sites).collect::<Vec<_>>());
        assert_eq!(data.words.len(), 4 * len, "{sites} sites");
        let transfer = ChunkTransfer {
            round: 1,
            version: 1 << 40,
            chunk: ChunkNo(0),
            direction: Direction::Push,
            from: SiteNo(0),
            to: SiteNo(1),
            path: 0,
            route: Vec::new(),
            policies: vec![1 << 40],
            data,
        };
        let bytes = encode(Body::Chunk(message::chunk_message(&transfer))).len();
        assert!(bytes as f64 <= 1.005 * 4.0 * len as f64, "{bytes} bytes");
    }
}

#[test]
fn policies_are_read_back_as_written() {
    let line = vec![Some(SiteNo(1)), Some(SiteNo(2)), None];
    let other = vec![Some(SiteNo(2)), Some(SiteNo(0)), None];
    let tree = |down: &[Option<SiteNo>]| Tree { root: SiteNo(2), up: line.clone(), down: down.to_vec() };
    let ends = (SiteNo(0), SiteNo(2));
    let around = vec![SiteNo(0), SiteNo(1), SiteNo(2)];
    let written = TransmissionPolicy {
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

/// Enough sites that a sum needs one bit more than a 32-bit word, with the largest value below a power of two
/// at each: a sum never wraps. N times such a value is a float, since N is a power of two.
#[test]
fn sums_of_256_sites_and_more_at_the_top_of_a_power_of_two_do_not_wrap() {
    for sites in [255usize, 256, 257, 512, 1024] {
        for top in [0.999_999_94f32, -0.999_999_94, 1.0, f32::MAX / 2048.0] {
            for length in [3, 300] {
                let gradients = vec![vec![top; length]; sites];
                let parts = given(&gradients, &[length]);
                let sum = floats(&added(&parts, &(0..sites).collect::<Vec<_>>()), length);
                let exact = (f64::from(top) * sites as f64) as f32;
                assert_eq!(sum, vec![exact; length], "{sites} sites with {top}");
            }
        }
    }
}

/// Values that are multiples of the last bit of any value.
#[test]
fn the_least_floats_are_not_rounded() {
    for largest in [1, 0x007f_ffff, 0x0080_0001, 0x00ff_ffff] {
        let mut values: Vec<f32> = (0..300).map(|at| f32::from_bits(largest - at.min(largest - 1))).collect();
        let before = values.clone();
        round(&mut values, 300);
        assert_eq!(bits(&values), bits(&before), "{largest:#x}");
        assert_eq!(bits(&sum_of_sites(&[&before], &[300])), bits(&before));
    }
}

/// The longest sum of the longest chunk fits a message.
#[test]
fn no_chunk_of_a_document_is_too_long_for_a_message() {
    const MESSAGE: u64 = 1 << 30;
    let values = inart_topologies::sites::MOST_CHUNK_BYTES as usize / 4;
    assert!(ChunkSum::most_bytes(values) <= MESSAGE);
    // Next to 2^127 and 2^-149 a sum has the maximum number of words.
    let mut sum = ChunkSum::of(&vec![f32::MAX; 512], SiteNo(0));
    sum.add(&ChunkSum::of(&vec![f32::from_bits(1); 512], SiteNo(1)));
    let transfer = ChunkTransfer {
        round: u32::MAX,
        version: u64::MAX,
        chunk: ChunkNo(u32::MAX),
        direction: Direction::Push,
        from: SiteNo(u16::MAX),
        to: SiteNo(u16::MAX),
        path: u8::MAX,
        route: vec![SiteNo(u16::MAX); 64],
        policies: vec![u64::MAX; 64],
        data: sum,
    };
    let bytes = encode(Body::Chunk(message::chunk_message(&transfer))).len() as u64;
    assert!(bytes <= ChunkSum::most_bytes(512), "{bytes}");
}
