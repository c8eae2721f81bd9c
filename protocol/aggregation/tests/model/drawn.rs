//! Tensors of all sizes and lengths, and plans to sum them by.

use std::time::Duration;

use inart_protocol_aggregation::{Assignment, NonFinite};
use inart_wire::ValuesPerFrame;
use proptest::prelude::*;

use super::network::{Network, assignment};
use super::tensors;
use super::trouble::{FaultRates, fate_in};

/// Exceptional values of a tensor, in place of those of its magnitude.
#[derive(Clone, Copy, Debug)]
enum Exceptions {
    None,
    /// Zeros of both signs, and the smallest and the largest floats.
    Edges,
    /// Any finite bits.
    Any,
    /// A NaN or an infinity now and then.
    NotFinite,
}

/// Distribution of a tensor's values: a function of the worker's rank and the index.
#[derive(Clone, Debug)]
pub struct Drawn {
    len: usize,
    seed: u64,
    /// The largest values are near 2 to this.
    size: i32,
    /// Number of powers of two by which blocks, workers and values may be smaller.
    less: [i32; 3],
    others: Exceptions,
    /// Whether every other worker has nearly the negative of the previous one.
    cancels: bool,
}

/// SplitMix64's mixing.
fn mixed(seed: u64, places: [usize; 3]) -> u64 {
    places.into_iter().fold(seed, |state, place| {
        let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_add(place as u64);
        let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^ (state >> 31)
    })
}

impl Drawn {
    fn value(&self, rank: usize, index: usize) -> f32 {
        let roll = mixed(self.seed, [1, rank, index]);
        if self.cancels && rank % 2 == 1 {
            let before = self.value(rank - 1, index);
            let near = f32::from_bits(before.to_bits() ^ u32::from(roll.is_multiple_of(8)));
            return if near.is_finite() { -near } else { before };
        }
        let other = match (self.others, roll % 97) {
            (Exceptions::Edges, place @ 0..30) => {
                let edges = [0.0, f32::from_bits(1), f32::MIN_POSITIVE, f32::MIN_POSITIVE / 3.0, f32::MAX];
                // The largest are rare: they rule their block.
                let edge = edges[place as usize % if index % 256 < 100 { 4 } else { 5 }];
                Some(if place % 2 == 0 { -edge } else { edge })
            }
            (Exceptions::Any, 0..50) => {
                Some(f32::from_bits((roll >> 32) as u32)).filter(|value| value.is_finite())
            }
            (Exceptions::NotFinite, 0) if roll >> 32 & 7 == 0 => {
                let values = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
                Some(values[(roll >> 40) as usize % 3])
            }
            _ => None,
        };
        other.unwrap_or_else(|| self.of_size(roll, rank, index))
    }

    fn of_size(&self, roll: u64, rank: usize, index: usize) -> f32 {
        let less = |roll: u64, most: i32| (roll % (most as u64 + 1)) as i32;
        let [of_block, of_worker, of_value] = self.less;
        let block = index / 256;
        let power = self.size
            - less(mixed(self.seed, [2, 0, block]), of_block)
            - less(mixed(self.seed, [3, rank, block]), of_worker)
            - less(mixed(self.seed, [4, rank, index]), of_value);
        // One, two or all bits: short ones are halfway between two integers more often.
        let fraction = match roll >> 8 & 3 {
            0 => 1.0,
            1 => 1.5,
            _ => 1.0 + (roll >> 41) as f64 / f64::from(1 << 23),
        };
        let sign = if roll >> 16 & 1 == 0 { 1.0 } else { -1.0 };
        (sign * fraction * 2f64.powi(power)) as f32
    }

    /// Every worker's tensor.
    pub fn tensors(&self, workers: usize) -> Vec<Vec<f32>> {
        (0..workers).map(|rank| (0..self.len).map(|index| self.value(rank, index)).collect()).collect()
    }
}

/// Returns lengths near the limits between number formats.
fn len() -> impl Strategy<Value = usize> {
    prop_oneof![
        2 => 0..4usize,
        1 => 63..=65usize,
        3 => 255..=258usize,
        2 => 511..=513usize,
        1 => 1000..1300usize,
    ]
}

/// Returns any tensor: of one magnitude or mixed, from the smallest to the largest floats.
pub fn drawn() -> impl Strategy<Value = Drawn> {
    let size = prop_oneof![1 => -150..=127i32, 1 => -30..30i32, 1 => -149..-120i32, 1 => 120..=127i32];
    let less = || prop_oneof![2 => Just(0), 1 => 0..8i32, 2 => 20..40i32, 1 => 0..200i32];
    let others = prop_oneof![
        4 => Just(Exceptions::None),
        2 => Just(Exceptions::Edges),
        1 => Just(Exceptions::Any),
        1 => Just(Exceptions::NotFinite)
    ];
    let less = [less(), less(), less()];
    (len(), any::<u64>(), size, less, others, proptest::bool::weighted(0.2))
        .prop_map(|(len, seed, size, less, others, cancels)| Drawn { len, seed, size, less, others, cancels })
}

/// All that must change no bit of a sum, and that is settled for a job.
#[derive(Clone, Debug)]
pub struct Plan {
    shares: Vec<f64>,
    values: ValuesPerFrame,
    window_log: u32,
    /// Ranks that the switch sums.
    aggregated: u64,
    faults: FaultRates,
    seed: u64,
    /// Tensors in flight.
    most: usize,
}

pub fn plan() -> impl Strategy<Value = Plan> {
    let shares = proptest::sample::select(vec![
        vec![1.0],
        vec![0.6, 0.4],
        vec![0.2, 0.0, 0.8],
        vec![0.25; 4],
        vec![0.01, 0.99],
    ]);
    let values = proptest::sample::select(&ValuesPerFrame::ALL[..]);
    let calm = FaultRates { lost_percent: 0, duplicated_percent: 0, late_percent: 0, latest_micros: 1 };
    let bad = (0..8u32, 0..8u32, 0..30u32, 1..3000u64).prop_map(|(lost, duplicated, late, latest_micros)| {
        FaultRates { lost_percent: lost, duplicated_percent: duplicated, late_percent: late, latest_micros }
    });
    let faults = prop_oneof![1 => Just(calm), 2 => bad];
    (shares, values, 0..6u32, any::<u64>(), faults, any::<u64>(), 1..6usize).prop_map(
        |(shares, values, window_log, aggregated, faults, seed, most)| Plan {
            shares,
            values,
            window_log,
            aggregated,
            faults,
            seed,
            most,
        },
    )
}

impl Plan {
    /// The job by this plan.
    pub fn assignment(&self, workers: usize, exact_sums: bool) -> Assignment {
        Assignment {
            values_per_frame: self.values,
            exact_sums,
            ..assignment(workers, &self.shares, 1 << self.window_log)
        }
    }

    /// A network on which NaN and infinities pass.
    pub fn network(&self, workers: usize, exact_sums: bool) -> Network {
        let job = self.assignment(workers, exact_sums);
        // The switch sums bitmap indices of one block.
        let aggregated = self.aggregated & u64::MAX >> (64 - workers.min(64));
        let fate = fate_in(self.faults.clone(), self.seed);
        let mut network = Network::with_peer_timeout(job, aggregated, fate, Duration::from_secs(250));
        for worker in &mut network.workers {
            *worker = worker.clone().with_non_finite(NonFinite::Pass);
        }
        network
    }

    /// Sums a stream of tensors, by tensor and worker; returns the sums that every worker got, which are
    /// those of the rules.
    pub fn sums(&self, stream: &[Vec<Vec<f32>>], exact_sums: bool) -> Vec<Vec<f32>> {
        let workers = stream[0].len();
        let records = tensors::run(&mut self.network(workers, exact_sums), stream, self.most);
        let of_one = |(records, tensors): (Vec<_>, &Vec<Vec<f32>>)| {
            super::check_records(&records, tensors, exact_sums);
            records[0].result.clone()
        };
        records.into_iter().zip(stream).map(of_one).collect()
    }
}
