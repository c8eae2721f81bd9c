//! Decentralised averaging: a peer's model becomes the mean of its own and those that it received.

use inart_wire::Rank;

/// A mean, and of what.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Average {
    /// The model.
    pub values: Vec<f32>,
    /// Whose models are in it beside one's own, ascending.
    pub of: Vec<Rank>,
    /// Whose had a NaN or an infinity: they are not in it.
    pub not_finite: Vec<Rank>,
    /// Whose had another length: they are not in it.
    pub other_length: Vec<Rank>,
}

/// Whether the words, bits of f32, are all finite numbers.
pub fn is_finite(words: &[u32]) -> bool {
    const EXPONENT: u32 = 0x7f80_0000;
    words.iter().all(|word| word & EXPONENT != EXPONENT)
}

/// The mean of `own`, which is finite and rank `me`'s, and of the received ones, in f64 in the order of ranks, rounded
/// to f32 once. So its bits do not depend on the order of arrival.
///
/// Error: at most half a unit in the last place of the result, and m·2⁻⁵²·mean|x| for m models.
pub fn average(me: Rank, own: &[f32], received: &[(Rank, Vec<u32>)]) -> Average {
    const BLOCK: usize = 1024;
    let mut average = Average { values: Vec::with_capacity(own.len()), ..Average::default() };
    let mut others: Vec<&(Rank, Vec<u32>)> = received.iter().collect();
    others.sort_by_key(|(rank, _)| *rank);
    others.retain(|(rank, words)| {
        let refused = match (words.len() == own.len(), is_finite(words)) {
            (false, _) => &mut average.other_length,
            (true, false) => &mut average.not_finite,
            (true, true) => &mut average.of,
        };
        refused.push(*rank);
        words.len() == own.len() && is_finite(words)
    });
    let count = (others.len() + 1) as f64;
    let before = others.iter().take_while(|(rank, _)| *rank < me).count();
    for (at, block) in own.chunks(BLOCK).enumerate() {
        let range = at * BLOCK..at * BLOCK + block.len();
        let mut sums = [0.0f64; BLOCK];
        let add = |sums: &mut [f64; BLOCK], words: &[u32]| {
            sums.iter_mut()
                .zip(&words[range.clone()])
                .for_each(|(sum, &word)| *sum += f64::from(f32::from_bits(word)));
        };
        others[..before].iter().for_each(|(_, words)| add(&mut sums, words));
        sums.iter_mut().zip(block).for_each(|(sum, &value)| *sum += f64::from(value));
        others[before..].iter().for_each(|(_, words)| add(&mut sums, words));
        average.values.extend(sums[..block.len()].iter().map(|sum| (sum / count) as f32));
    }
    average
}
