//! Layout of a state, which all workers that load it must agree on. Pure.

/// Layout of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Number of values.
    pub values: u64,
    /// Digest of the layout, such as names and shapes of tensors.
    pub digest: u64,
}

impl Layout {
    /// Floats that a layout travels as.
    pub(crate) const WORDS: usize = 4;

    /// Returns the layout's bits as floats.
    pub(crate) fn to_words(self) -> [f32; Self::WORDS] {
        let halves = [self.values, self.values >> 32, self.digest, self.digest >> 32];
        halves.map(|half| f32::from_bits((half & u64::from(u32::MAX)) as u32))
    }

    /// Returns the layout with these bits.
    pub(crate) fn from_words(words: [f32; Self::WORDS]) -> Self {
        let [values, high_values, digest, high_digest] = words.map(|word| u64::from(word.to_bits()));
        Self { values: values | high_values << 32, digest: digest | high_digest << 32 }
    }

    /// Describes how the newest state differs from this one.
    pub(crate) fn difference(self, newest: Self) -> String {
        if newest.values == self.values {
            format!("has other arrays than those given here, of {} values as well", self.values)
        } else {
            format!("has {} values, and the arrays given here have {}", newest.values, self.values)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_give_back_every_bit() {
        for (values, digest) in [(0, 0), (u64::MAX, 1), (0x7f80_0001_ffff_ffff, 0x8000_0000_7fc0_0000)] {
            let layout = Layout { values, digest };
            assert_eq!(Layout::from_words(layout.to_words()), layout);
        }
    }
}
