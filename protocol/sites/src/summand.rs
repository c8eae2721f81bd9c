//! What is summed.

/// A gradient's chunk, or what stands for it. Addition must be exact, so that the order does not matter: the
/// sum has the same bits on every site and for every tree.
pub trait Summand: Clone {
    /// Adds another of the same length.
    fn add(&mut self, other: &Self);
}

/// Nothing: for times alone.
impl Summand for () {
    fn add(&mut self, (): &Self) {}
}

/// Integers, as quantized gradients are; sums wrap around rather than end the program.
impl<const N: usize> Summand for [i64; N] {
    fn add(&mut self, other: &Self) {
        self.iter_mut().zip(other).for_each(|(sum, value)| *sum = sum.wrapping_add(*value));
    }
}
