//! The choice of one of several by weight.

/// Weights in order. As if there were a slot for each unit of weight, but each weight takes one number.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    /// Sums of the weights up to each.
    ends: Vec<u64>,
}

impl FromIterator<u32> for Weights {
    fn from_iter<I: IntoIterator<Item = u32>>(weights: I) -> Self {
        let add = |sum: &mut u64, weight: u32| {
            *sum += u64::from(weight.max(1));
            Some(*sum)
        };
        Self { ends: weights.into_iter().scan(0, add).collect() }
    }
}

impl Weights {
    /// Returns the index of the weight that a hash selects.
    pub fn select(&self, hash: u64) -> Option<usize> {
        let slot = hash.checked_rem(*self.ends.last()?)?;
        Some(self.ends.partition_point(|end| *end <= slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_selects_as_if_each_unit_of_weight_had_a_slot() {
        for weights in [vec![1], vec![3, 1, 2], vec![65_535, 1], vec![1, 1, 1, 7]] {
            let slots: Vec<usize> =
                weights.iter().enumerate().flat_map(|(n, weight)| vec![n; *weight as usize]).collect();
            let made: Weights = weights.iter().copied().collect();
            for hash in (0..200_000).step_by(7).chain([u64::MAX, u64::MAX - 1]) {
                assert_eq!(made.select(hash), Some(slots[(hash % slots.len() as u64) as usize]), "{hash}");
            }
        }
        assert_eq!(Weights::default().select(1), None);
    }

    #[test]
    fn heavy_members_take_no_more_memory_than_light_ones() {
        let weights: Weights = [u32::MAX; 3].into_iter().collect();
        assert_eq!(weights.ends.len(), 3);
        assert_eq!(weights.select(u64::from(u32::MAX)), Some(1));
    }
}
