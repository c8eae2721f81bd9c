//! The independent check of every sum: what each worker received, against the 64-bit sum of what all workers
//! report to have sent, encoded by the rule of `docs/protocol.md`; in an exact-sum job, against the exact sum
//! of their floats. Whose values have to be in a sum is what the job's policy says ([`Due`]). Shares no other
//! code with the switches and the hosts.

mod digits;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use inart_wire::Exponent;

use crate::policy::Due;

/// What a worker reports to have sent in a round. Values in the gradient's order, exponents per chunk in that
/// of [`Split::chunks`](crate::Split::chunks).
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// Its name.
    pub worker: &'a str,
    /// Its values: scaled integers, or the bits of floats where the exponent is [`Exponent::FLOATS`].
    pub values: &'a [i32],
    /// What they are scaled by.
    pub exponents: &'a [i8],
}

/// What a worker reports to have received, in the same order.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// Its rank: its place in `sent`.
    pub rank: usize,
    /// Its name.
    pub worker: &'a str,
    /// The sums.
    pub result: &'a [i32],
    /// What they are scaled by.
    pub exponents: &'a [i8],
}

/// The first difference found, with what is needed to look for its cause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("round {round}, chunk {chunk}, worker {worker}: {what}")]
pub struct Mismatch {
    /// The round, from 0.
    pub round: u32,
    /// The chunk of the gradient, from 0.
    pub chunk: usize,
    /// The worker that received (or sent) something wrong.
    pub worker: String,
    /// What is wrong.
    pub what: Difference,
}

/// How a worker's report differs from what it has to be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// Not one value per parameter, or not one exponent per chunk.
    #[error("the report holds {seen} {items} instead of {expected}")]
    Length {
        /// What was counted.
        items: &'static str,
        /// How many there are.
        seen: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The worker sent by another exponent than the first worker whose values are in the same sum.
    #[error("it sent exponent {seen}, the first worker {expected}")]
    SentExponent {
        /// What the worker used.
        seen: i8,
        /// What the first worker used.
        expected: i8,
    },
    /// The sum came with another exponent.
    #[error("it received exponent {seen} instead of {expected}")]
    Exponent {
        /// What was received.
        seen: i8,
        /// What is right.
        expected: i32,
    },
    /// A value of the sum differs.
    #[error("it received {seen} instead of {expected} as value {index} of the gradient")]
    Value {
        /// Index in the gradient.
        index: usize,
        /// What was received.
        seen: i32,
        /// What is right.
        expected: i32,
    },
    /// A value of an exact sum differs.
    #[error("it received {} instead of {} as value {index} of the gradient",
        f32::from_bits(*seen as u32), f32::from_bits(*expected as u32))]
    Float {
        /// Index in the gradient.
        index: usize,
        /// The bits of what was received.
        seen: i32,
        /// The bits of what is right.
        expected: i32,
    },
}

/// Checks one round. `sent` is of every worker of the job in order of rank, `received` of those that ended
/// the round, `chunks` the range of values of each chunk. What is in a sum, `due` says.
///
/// # Errors
/// The first difference.
pub fn check_round(
    due: &impl Due,
    round: u32,
    sent: &[Sent<'_>],
    received: &[Received<'_>],
    chunks: &[Range<usize>],
) -> Result<(), Mismatch> {
    let wrong = |chunk, worker: &str, what| Mismatch { round, chunk, worker: worker.to_owned(), what };
    check_lengths(sent, received, chunks).map_err(|(worker, what)| wrong(0, worker, what))?;
    let is_due = |receiver: &Received| -> Vec<bool> {
        (0..sent.len()).map(|contributor| due.is_due(contributor, receiver.rank)).collect()
    };
    let mut sums = Vec::<(Vec<bool>, Sums)>::new();
    let received: Vec<_> = received.iter().map(|received| (is_due(received), received)).collect();
    for (chunk, range) in chunks.iter().enumerate() {
        sums.clear();
        for (contributors, received) in &received {
            if sums.iter().all(|(of, _)| of != contributors) {
                let counted = sent.iter().zip(contributors).filter(|(_, due)| **due).map(|(sent, _)| *sent);
                let right = Sums::of(&counted.collect::<Vec<_>>(), chunk, range);
                let right = right.map_err(|(worker, what)| wrong(chunk, worker, what))?;
                sums.push((contributors.clone(), right));
            }
            let Some((_, right)) = sums.iter().find(|(of, _)| of == contributors) else { continue };
            right.check(received, chunk, range).map_err(|what| wrong(chunk, received.worker, what))?;
        }
    }
    Ok(())
}

/// Checks that every report has a value per parameter and an exponent per chunk; else whose does not, and
/// what it lacks.
fn check_lengths<'a>(
    sent: &[Sent<'a>],
    received: &[Received<'a>],
    chunks: &[Range<usize>],
) -> Result<(), (&'a str, Difference)> {
    let values = chunks.iter().map(ExactSizeIterator::len).sum();
    let lengths = |worker, items: [(&'static str, usize); 2]| {
        for ((items, seen), expected) in items.into_iter().zip([values, chunks.len()]) {
            if seen != expected {
                return Err((worker, Difference::Length { items, seen, expected }));
            }
        }
        Ok(())
    };
    for sent in sent {
        lengths(sent.worker, [("sent values", sent.values.len()), ("sent exponents", sent.exponents.len())])?;
    }
    for received in received {
        let exponents = received.exponents.len();
        lengths(
            received.worker,
            [("received values", received.result.len()), ("received exponents", exponents)],
        )?;
    }
    Ok(())
}

/// What the result of a chunk has to be.
struct Sums {
    values: Vec<i32>,
    exponent: i32,
    floats: bool,
}

impl Sums {
    /// That of the sum of those, who have to have sent by one exponent; else who has not, and what it sent
    /// by.
    fn of<'a>(sent: &[Sent<'a>], chunk: usize, range: &Range<usize>) -> Result<Self, (&'a str, Difference)> {
        let expected = sent.first().map_or(0, |first| first.exponents[chunk]);
        if let Some(sent) = sent.iter().find(|sent| sent.exponents[chunk] != expected) {
            let seen = sent.exponents[chunk];
            return Err((sent.worker, Difference::SentExponent { seen, expected }));
        }
        let floats = expected == Exponent::FLOATS.get();
        let (values, exponent) = match floats {
            true => (exact_sums(sent, range), expected.into()),
            false => integer_sums(sent, range, expected),
        };
        Ok(Self { values, exponent, floats })
    }

    /// Compares what a worker got.
    fn check(&self, received: &Received<'_>, chunk: usize, range: &Range<usize>) -> Result<(), Difference> {
        let seen = received.exponents[chunk];
        if i32::from(seen) != self.exponent {
            return Err(Difference::Exponent { seen, expected: self.exponent });
        }
        let values = range.clone().zip(&received.result[range.clone()]).zip(&self.values);
        match values.map(|((index, &seen), &expected)| (index, seen, expected)).find(|(_, a, b)| a != b) {
            Some((index, seen, expected)) if self.floats => Err(Difference::Float { index, seen, expected }),
            Some((index, seen, expected)) => Err(Difference::Value { index, seen, expected }),
            None => Ok(()),
        }
    }
}

/// The sums of a chunk's scaled integers, and their exponent.
fn integer_sums(sent: &[Sent<'_>], range: &Range<usize>, exponent: i8) -> (Vec<i32>, i32) {
    let mut sums = alloc::vec![0i64; range.len()];
    for sent in sent {
        for (sum, value) in sums.iter_mut().zip(&sent.values[range.clone()]) {
            *sum += i64::from(*value);
        }
    }
    let shift = encode(&mut sums);
    (sums.into_iter().map(|sum| sum as i32).collect(), i32::from(exponent) + shift as i32)
}

/// The bits of the exact sums of a chunk's floats.
fn exact_sums(sent: &[Sent<'_>], range: &Range<usize>) -> Vec<i32> {
    let floats = |index: usize| sent.iter().map(move |sent| f32::from_bits(sent.values[index] as u32));
    range.clone().map(|index| digits::rounded_sum(floats(index)).to_bits() as i32).collect()
}

/// Scales exact sums down by the smallest power of two with which all of them fit 32 bits, and returns its
/// exponent.
fn encode(sums: &mut [i64]) -> u32 {
    let fits = |shift| move |&sum: &i64| i32::try_from(round_half_even(sum, shift)).is_ok();
    let shift = (0..64).find(|&shift| sums.iter().all(fits(shift))).expect("anything shifted by 63 fits");
    sums.iter_mut().for_each(|sum| *sum = round_half_even(*sum, shift));
    shift
}

/// `value / 2^shift`, to the nearest integer, to the even one of two equally near.
fn round_half_even(value: i64, shift: u32) -> i64 {
    if shift == 0 {
        return value;
    }
    let floor = value >> shift;
    let rest = value - (floor << shift);
    let half = 1i64 << (shift - 1);
    floor + i64::from(rest > half || (rest == half && floor & 1 == 1))
}

#[cfg(test)]
mod tests {
    use std::string::ToString;
    use std::vec;

    use super::*;
    use crate::policy::{Lockstep, Receivers};

    #[derive(Clone)]
    struct Report {
        sent: Vec<i32>,
        exponents: Vec<i8>,
        result: Vec<i32>,
        result_exponents: Vec<i8>,
    }

    fn report(sent: Vec<i32>, result: Vec<i32>) -> Report {
        Report { sent, exponents: vec![-20, -18], result, result_exponents: vec![-20, -18] }
    }

    fn check(a: &Report, b: &Report) -> Result<(), Mismatch> {
        let named = [(0, "w1", a), (1, "w2", b)];
        let sent = named.map(|(_, worker, report)| Sent {
            worker,
            values: &report.sent,
            exponents: &report.exponents,
        });
        let received = named.map(|(rank, worker, report)| Received {
            rank,
            worker,
            result: &report.result,
            exponents: &report.result_exponents,
        });
        check_round(&Lockstep::default(), 4, &sent, &received, &[0..2, 2..3])
    }

    fn pair() -> (Report, Report) {
        (report(vec![1, -2, 30], vec![11, -7, 0]), report(vec![10, -5, -30], vec![11, -7, 0]))
    }

    #[test]
    fn exact_sums_pass() {
        let (a, b) = pair();
        assert_eq!(check(&a, &b), Ok(()));
        assert_eq!(check_round(&Lockstep::default(), 0, &[], &[], &[]), Ok(()));
    }

    #[test]
    fn one_flipped_bit_anywhere_is_found_and_named() {
        for index in 0..3 {
            for bit in 0..32 {
                let (a, mut b) = pair();
                let expected = b.result[index];
                b.result[index] ^= 1 << bit;
                let what = Difference::Value { index, seen: b.result[index], expected };
                let chunk = usize::from(index == 2);
                let mismatch = Mismatch { round: 4, chunk, worker: "w2".into(), what };
                assert_eq!(check(&a, &b), Err(mismatch));
            }
        }
    }

    #[test]
    fn a_contribution_that_did_not_count_is_found_at_every_worker() {
        let (mut a, b) = pair();
        a.sent[2] += 1;
        let error = check(&a, &b).expect_err("the sum lacks 1");
        assert_eq!(
            error.to_string(),
            "round 4, chunk 1, worker w1: it received 0 instead of 1 as value 2 of the gradient"
        );
    }

    /// Every worker gets its own values back.
    struct Alone;

    impl Due for Alone {
        fn is_due(&self, contributor: usize, receiver: usize) -> bool {
            contributor == receiver
        }

        fn receivers(&self) -> Receivers {
            Receivers::Cohort
        }
    }

    #[test]
    fn the_policy_says_what_is_in_a_sum() {
        let (mut a, mut b) = pair();
        (a.result, b.result) = (a.sent.clone(), b.sent.clone());
        let sent =
            [&a, &b].map(|report| Sent { worker: "any", values: &report.sent, exponents: &report.exponents });
        let received = |rank, report: &Report| {
            let (result, exponents) = (report.result.clone(), report.result_exponents.clone());
            let received = [Received { rank, worker: "any", result: &result, exponents: &exponents }];
            check_round(&Alone, 4, &sent, &received, &[0..2, 2..3])
        };
        assert_eq!((received(0, &a), received(1, &b)), (Ok(()), Ok(())));
        let what = received(1, &a).map_err(|error| error.what);
        assert_eq!(what, Err(Difference::Value { index: 0, seen: 1, expected: 10 }));
    }

    #[test]
    fn exponents_and_lengths_are_checked() {
        let (a, mut b) = pair();
        b.exponents[1] = -17;
        let seen = check(&a, &b).map_err(|e| e.what);
        assert_eq!(seen, Err(Difference::SentExponent { seen: -17, expected: -18 }));
        let (mut a, b) = pair();
        a.result_exponents[0] = -19;
        let seen = check(&a, &b).map_err(|e| e.what);
        assert_eq!(seen, Err(Difference::Exponent { seen: -19, expected: -20 }));
        let (a, mut b) = pair();
        b.result.pop();
        assert!(matches!(check(&a, &b).map_err(|e| e.what), Err(Difference::Length { .. })));
    }

    /// Three values of two workers in an exact-sum job.
    fn exact_pair() -> (Report, Report) {
        let bits = |floats: [f32; 3]| floats.map(|float| float.to_bits() as i32).to_vec();
        let report = |sent| Report {
            exponents: vec![-128; 2],
            result_exponents: vec![-128; 2],
            ..report(bits(sent), bits([16_777_218.0, 0.0, f32::INFINITY]))
        };
        (report([16_777_216.0, -0.0, f32::MAX]), report([1.5, -0.0, f32::MAX]))
    }

    #[test]
    fn exact_jobs_have_the_exact_sum_of_the_floats() {
        let (a, b) = exact_pair();
        assert_eq!(check(&a, &b), Ok(()));
        for index in 0..3 {
            for bit in 0..32 {
                let (a, mut b) = exact_pair();
                let expected = b.result[index];
                b.result[index] ^= 1 << bit;
                let seen = check(&a, &b).map_err(|error| error.what);
                assert_eq!(seen, Err(Difference::Float { index, seen: b.result[index], expected }));
            }
        }
        let (mut a, b) = exact_pair();
        a.sent[0] = 16_777_214f32.to_bits() as i32;
        let error = check(&a, &b).expect_err("another sum");
        assert_eq!(
            error.to_string(),
            "round 4, chunk 0, worker w1: it received 16777218 instead of 16777216 as value 0 of the gradient"
        );
        let (a, mut b) = exact_pair();
        b.result_exponents[0] = -127;
        let seen = check(&a, &b).map_err(|error| error.what);
        assert_eq!(seen, Err(Difference::Exponent { seen: -127, expected: -128 }));
    }

    #[test]
    fn sums_beyond_32_bits_are_shifted_as_little_as_possible() {
        for (sums, shift, encoded) in [
            (
                vec![i64::from(i32::MAX), i64::from(i32::MIN)],
                0,
                vec![i64::from(i32::MAX), i64::from(i32::MIN)],
            ),
            (vec![1 << 31, 3, 1, -1], 1, vec![1 << 30, 2, 0, 0]),
            // 2^32 - 1 halves to 2^31 - 1/2, which rounds to the even 2^31: too large by one.
            (vec![(1 << 32) - 1, 2, 6, -6], 2, vec![1 << 30, 0, 2, -2]),
            (vec![-(1 << 32), 0], 1, vec![-(1 << 31), 0]),
        ] {
            let mut seen = sums.clone();
            assert_eq!((encode(&mut seen), seen), (shift, encoded), "{sums:?}");
        }
    }
}
