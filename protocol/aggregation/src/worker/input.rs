//! Input of a worker to a sum.

use alloc::string::String;
use alloc::vec::Vec;

use crate::scale::{BLOCK_VALUES, exponent_of, largest_size};

/// A worker's tensor, and the largest magnitude of each block, computed in one pass over the values.
#[derive(Clone, Debug, Default)]
pub struct TensorInput {
    floats: Vec<f32>,
    /// Largest magnitude by block; infinity if the block has a NaN.
    maxima: Vec<i32>,
    label: String,
}

impl TensorInput {
    /// Labels the tensor with program data such as a name, a shape, or a step number. A job whose workers
    /// start tensors with different labels in the same position ends with an error that names them.
    #[must_use]
    pub fn with_label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// Returns the label, once.
    pub(super) fn take_label(&mut self) -> String {
        core::mem::take(&mut self.label)
    }

    /// Replaces the values in place.
    pub fn copy_from(&mut self, values: &[f32]) {
        self.floats.clear();
        self.floats.reserve(values.len());
        self.maxima.clear();
        // Each block is copied and scanned while it is in a core's nearest cache.
        self.maxima.extend(values.chunks(BLOCK_VALUES).map(|block| {
            self.floats.extend_from_slice(block);
            largest_size(block)
        }));
    }

    /// Index of the first NaN or infinity.
    pub(super) fn first_not_finite(&self) -> Option<usize> {
        let block = self.maxima.iter().position(|largest| exponent_of(*largest).is_none())?;
        let place = self.floats[block * BLOCK_VALUES..].iter().position(|value| !value.is_finite())?;
        Some(block * BLOCK_VALUES + place)
    }

    /// Returns the values.
    pub(super) fn floats(&self) -> &[f32] {
        &self.floats
    }

    /// Returns the largest magnitude by block.
    pub(super) fn maxima(&self) -> &[i32] {
        &self.maxima
    }
}

impl From<Vec<f32>> for TensorInput {
    fn from(floats: Vec<f32>) -> Self {
        let maxima = floats.chunks(BLOCK_VALUES).map(largest_size).collect();
        Self { floats, maxima, label: String::new() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::vec;

    use super::*;

    /// Numbers of all sizes, most of them finite.
    fn value() -> impl Strategy<Value = f32> {
        prop_oneof![
            20 => any::<u32>().prop_map(|bits| f32::from_bits(bits & !0x4000_0000)),
            1 => prop::sample::select(vec![
                0.0, -0.0, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN,
                f32::from_bits(0x7f80_0001), f32::from_bits(1), -f32::from_bits(1), f32::MIN_POSITIVE,
            ]),
        ]
    }

    proptest! {
        /// Checks the rule of docs/protocol/numbers.md, section *Maxima*, value by value instead of
        /// vectorized. Blocks may have only finite values; the last may be short.
        #[test]
        fn maxima_are_those_of_the_values(
            mut values in proptest::collection::vec(value(), 0..1030),
            is_finite in any::<bool>(),
        ) {
            if is_finite {
                values.retain(|value| value.is_finite());
            }
            let size = |value: &f32| if value.is_nan() { f32::INFINITY } else { value.abs() };
            let largest = |block: &[f32]| block.iter().map(size).fold(0.0, f32::max).to_bits() as i32;
            let maxima: Vec<i32> = values.chunks(256).map(largest).collect();
            let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            let mut copied = TensorInput::from(vec![f32::NAN; 700]);
            copied.copy_from(&values);
            for input in [copied, values.clone().into()] {
                prop_assert_eq!(input.maxima(), &maxima[..]);
                prop_assert_eq!(bits(input.floats()), bits(&values));
                let first = values.iter().position(|value| !value.is_finite());
                prop_assert_eq!(input.first_not_finite(), first);
            }
        }
    }
}
