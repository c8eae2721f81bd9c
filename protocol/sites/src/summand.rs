//! Values that are summed.

/// Chunk of a gradient, or a placeholder. Addition must be exact, so that the order does not matter: the sum
/// has the same bits on every site and for every tree.
pub trait Summand: Clone {
    /// Adds another value of the same length.
    fn add(&mut self, other: &Self);
}

/// Placeholder without values, for times only.
impl Summand for () {
    fn add(&mut self, (): &Self) {}
}

/// Integers, such as quantized gradients; sums wrap around instead of panicking.
impl<const N: usize> Summand for [i64; N] {
    fn add(&mut self, other: &Self) {
        self.iter_mut().zip(other).for_each(|(sum, value)| *sum = sum.wrapping_add(*value));
    }
}
