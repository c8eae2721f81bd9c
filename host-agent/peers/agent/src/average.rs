//! Decentralized averaging: a peer's model becomes the mean of its own and the received models.

use std::sync::Arc;

use inart_wire::Rank;

/// A complete update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Sender.
    pub from: Rank,
    /// Round of the sender.
    pub round: u32,
    /// Bits of the values.
    pub words: Arc<Vec<u32>>,
}

/// A mean and its contributors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Average {
    /// The model.
    pub values: Vec<f32>,
    /// Other peers in the mean, each with the round of its update; ascending.
    pub of: Vec<(Rank, u32)>,
    /// Whether the peer's own model is left out: after a restart it has no useful one.
    pub without_own: bool,
    /// Updates left out because of a NaN or an infinity.
    pub not_finite: Vec<(Rank, u32)>,
    /// Updates left out because of their length.
    pub other_length: Vec<(Rank, u32)>,
}

/// Returns whether the words, bits of f32, are all finite numbers.
pub fn is_finite(words: &[u32]) -> bool {
    const EXPONENT: u32 = 0x7f80_0000;
    words.iter().all(|word| word & EXPONENT != EXPONENT)
}

/// Returns the mean of `own`, which is finite and belongs to rank `me`, and of the received models: computed
/// in f64 in the order of ranks, rounded to f32 once. Its bits do not depend on the order of arrival.
///
/// Error: at most half a unit in the last place of the result, and m·2⁻⁵²·mean|x| for m models.
pub fn average(me: Rank, own: &[f32], received: &[Received]) -> Average {
    mean(me, own.len(), Some(own), received)
}

/// Returns the mean of received updates of `values` values, without an own model. `None` if no update is fit.
pub(crate) fn average_of_others(me: Rank, values: usize, received: &[Received]) -> Option<Average> {
    Some(mean(me, values, None, received)).filter(|average| !average.of.is_empty())
}

fn mean(me: Rank, values: usize, own: Option<&[f32]>, received: &[Received]) -> Average {
    const BLOCK: usize = 1024;
    let without_own = own.is_none();
    let mut average = Average { values: Vec::with_capacity(values), without_own, ..Average::default() };
    let mut others: Vec<&Received> = received.iter().collect();
    others.sort_by_key(|update| update.from);
    others.retain(|update| {
        let fits = (update.words.len() == values, is_finite(&update.words));
        let named = match fits {
            (false, _) => &mut average.other_length,
            (true, false) => &mut average.not_finite,
            (true, true) => &mut average.of,
        };
        named.push((update.from, update.round));
        fits == (true, true)
    });
    let count = (others.len() + usize::from(own.is_some())) as f64;
    let (before, after) = others.split_at(others.partition_point(|update| update.from < me));
    for first in (0..values).step_by(BLOCK) {
        let range = first..(first + BLOCK).min(values);
        let mut sums = [0.0f64; BLOCK];
        before.iter().for_each(|update| add_words(&mut sums, &update.words[range.clone()]));
        if let Some(own) = own {
            sums.iter_mut().zip(&own[range.clone()]).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        after.iter().for_each(|update| add_words(&mut sums, &update.words[range.clone()]));
        average.values.extend(sums[..range.len()].iter().map(|sum| (sum / count) as f32));
    }
    average
}

fn add_words(sums: &mut [f64], words: &[u32]) {
    sums.iter_mut().zip(words).for_each(|(sum, &word)| *sum += f64::from(f32::from_bits(word)));
}
