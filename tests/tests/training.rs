//! How the exponents of chunks follow the gradients of a real training, by the rules that workers and servers
//! go by.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and prints what it counted")]

use inart_core::quantise::{
    first_exponent, fit_sums, have_vanished, least_exponent, next_exponent, quantise,
};
use inart_trainer::{Config, Trainer};
use inart_wire::Exponent;

const WORKERS: usize = 6;
const VALUES: usize = 32;
const ROUNDS: usize = 80;

/// What became of the chunks of all rounds.
#[derive(Debug, Default)]
struct Counts {
    chunks: usize,
    /// Some worker's values did not fit.
    clipped: usize,
    /// The sum is zero though some worker's values were not.
    lost: usize,
}

/// Sums a chunk; the exponent of the next round.
fn sum(gradients: &[&[f32]], agreed: Exponent, counts: &mut Counts) -> Exponent {
    let mut quantised = vec![0; gradients[0].len()];
    let mut fits = |values: &&&[f32]| quantise(values, agreed, &mut quantised).is_ok();
    let needed = gradients.iter().filter(|values| !fits(values)).map(|values| least_exponent(values)).max();
    let used = needed.unwrap_or(agreed);
    let (mut sums, mut vanished) = (vec![0i64; quantised.len()], false);
    for values in gradients {
        quantise(values, used, &mut quantised).unwrap();
        vanished |= have_vanished(values, &quantised);
        sums.iter_mut().zip(&quantised).for_each(|(sum, value)| *sum += i64::from(*value));
    }
    let result_exponent = fit_sums(&mut sums, used);
    let result: Vec<_> = sums.iter().map(|sum| i32::try_from(*sum).unwrap()).collect();
    let is_zero = result.iter().all(|value| *value == 0);
    counts.chunks += 1;
    counts.clipped += usize::from(needed.is_some());
    counts.lost +=
        usize::from(is_zero && gradients.iter().any(|values| values.iter().any(|value| *value != 0.0)));
    next_exponent(gradients.len(), &result, result_exponent, vanished)
}

#[test]
fn few_chunks_of_a_training_are_clipped_and_fewer_are_lost() {
    let trainer = |rank| Trainer::new(Config { seed: 1, rank, workers: WORKERS, batch: 32 }).unwrap();
    let mut trainers: Vec<_> = (0..WORKERS).map(trainer).collect();
    let len = trainers[0].gradient_len();
    let mut agreed = vec![first_exponent(WORKERS); len.div_ceil(VALUES)];
    let mut counts = Counts::default();
    for _ in 0..ROUNDS {
        let mut gradients = vec![vec![0.0; len]; WORKERS];
        for (trainer, gradient) in trainers.iter_mut().zip(&mut gradients) {
            trainer.gradient(gradient);
        }
        for (chunk, agreed) in agreed.iter_mut().enumerate() {
            let range = chunk * VALUES..len.min((chunk + 1) * VALUES);
            let chunks: Vec<_> = gradients.iter().map(|gradient| &gradient[range.clone()]).collect();
            *agreed = sum(&chunks, *agreed, &mut counts);
        }
        let total: Vec<f32> =
            (0..len).map(|index| gradients.iter().map(|gradient| gradient[index]).sum()).collect();
        trainers.iter_mut().for_each(|trainer| trainer.apply(&total));
    }
    println!("{counts:?}");
    assert!(counts.clipped * 200 < counts.chunks, "{counts:?}");
    assert!(counts.lost * 10_000 < counts.chunks, "{counts:?}");
}
