#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::vec;
use std::vec::Vec;

use super::*;
use crate::scale::{largest_size, quantize};

const WORKERS: usize = 3;

/// Passes a chunk with all workers' contributions to the rule, as the server does.
fn gather(onward: &mut Onward, sequence: u32, exponent: Exponent, numbers: &[i32], last: bool) {
    let reduction = match exponent {
        Exponent::MAXIMA => Sum::Maxima(numbers.to_vec()),
        _ => Sum::Sums(numbers.to_vec()),
    };
    let (sequence, members) = (sequence.into(), WORKERS);
    let progress = Progress { cohort: 0, sequence, exponent, present: WORKERS, members };
    let length = numbers.len() as u16;
    onward.gather(&Gathered { progress, reduction: &reduction, length, last });
}

fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| float.to_bits()).collect()
}

/// Returns floats that no integers of one scale can represent: of all magnitudes, some not finite.
fn mixed() -> Vec<f32> {
    vec![1.0, -1e-38, 3e38, f32::MIN_POSITIVE / 8.0, -0.0, f32::from_bits(0x7fc0_1234), f32::NEG_INFINITY]
}

#[test]
fn workers_read_the_returned_bits_for_scaled_values() {
    let mut onward = Onward::new(WORKERS);
    let own: Vec<f32> = (0..7).map(|at| at as f32 - 3.0).collect();
    let exponent = exponent_of(largest_size(&own)).unwrap();
    let mut numbers = Vec::new();
    quantize(&own, step(exponent, WORKERS), &mut numbers);
    gather(&mut onward, 0, Exponent::MAXIMA, &[largest_size(&own)], false);
    assert_eq!(onward.next_sum(), None, "maxima do not go on");
    gather(&mut onward, 1, exponent, &numbers, true);
    let sum = onward.next_sum().unwrap();
    assert_eq!((sum.sequence.get(), &sum.values, sum.last), (1, &own, true));
    let (answer, read) = sum.answer(&mixed());
    assert_eq!((bits(&read), answer.exponent), (bits(&mixed()), Exponent::FLOATS));
    assert_eq!(answer.numbers.iter().map(|number| *number as u32).collect::<Vec<_>>(), bits(&mixed()));
}

#[test]
fn exact_sums_return_as_digits() {
    let (mut onward, digits) = (Onward::new(WORKERS), Digits::for_workers(WORKERS));
    let mut numbers = Vec::new();
    [1.5, -7e-30].iter().for_each(|value| digits.write(*value, &mut numbers));
    gather(&mut onward, 0, Exponent::DIGITS, &numbers, true);
    let sum = onward.next_sum().unwrap();
    assert_eq!(sum.values, [1.5, -7e-30]);
    let (answer, read) = sum.answer(&mixed());
    assert_eq!((answer.numbers.len(), answer.exponent), (7 * digits.per_float(), Exponent::DIGITS));
    // As workers read them: without the sign of zero and the payload of a NaN.
    let expected: Vec<f32> =
        mixed().iter().map(|value| if value.is_nan() { f32::NAN } else { value + 0.0 }).collect();
    assert_eq!(bits(&read), bits(&expected));
}

#[test]
fn floats_return_as_floats() {
    let mut onward = Onward::new(WORKERS);
    let mut sum = Sum::new(7, Exponent::FLOATS);
    let Sum::Floats(sums) = &mut sum else { panic!("floats are summed as floats") };
    sums.iter_mut().zip(mixed()).for_each(|(sum, value)| sum.add(value));
    let numbers = sum.result();
    gather(&mut onward, 0, Exponent::FLOATS, &numbers, true);
    let sum = onward.next_sum().unwrap();
    let own =
        mixed().iter().map(|value| if value.is_nan() { f32::NAN } else { value + 0.0 }).collect::<Vec<_>>();
    assert_eq!(bits(&sum.values), bits(&own));
    let (answer, read) = sum.answer(&mixed());
    assert_eq!((bits(&read), answer.exponent, answer.numbers.len()), (bits(&mixed()), Exponent::FLOATS, 7));
}

#[test]
fn a_placeholder_is_answered_with_its_zero() {
    let mut onward = Onward::new(WORKERS);
    gather(&mut onward, 0, Exponent::from(0), &[0], false);
    let sum = onward.next_sum().unwrap();
    assert_eq!(sum.values, []);
    let answer = Answer { sequence: 0.into(), numbers: vec![0], exponent: Exponent::from(0) };
    assert_eq!(sum.answer(&[]), (answer, vec![]));
}

/// Chunks that are complete early wait for the earlier ones, whose maxima define the scale.
#[test]
fn sums_go_on_in_the_order_of_chunks() {
    let mut onward = Onward::new(WORKERS);
    let size = |value: f32| largest_size(&[value]);
    let exponent = |value: f32| exponent_of(size(value)).unwrap();
    // A block of a frame and a half, and one that is not finite.
    gather(&mut onward, 2, exponent(1.0), &[1 << 20; 128], false);
    gather(&mut onward, 3, exponent(1.0), &[1 << 20; 160], true);
    gather(&mut onward, 1, exponent(1.0), &[1 << 20; 128], false);
    assert_eq!(onward.next_sum(), None);
    gather(&mut onward, 0, Exponent::MAXIMA, &[size(1.0), size(f32::INFINITY)], false);
    let sums: Vec<OwnSum> = core::iter::from_fn(|| onward.next_sum()).collect();
    assert_eq!(sums.iter().map(|sum| sum.sequence.get()).collect::<Vec<_>>(), [1, 2, 3]);
    let one = dequantize(1 << 20, step(exponent(1.0), WORKERS));
    assert_eq!([&sums[0].values, &sums[1].values], [&vec![one; 128]; 2]);
    assert!(sums[2].values.iter().all(|value| value.is_nan()) && sums[2].values.len() == 160);
}
