//! Unsigned numbers of any width, in P4Runtime's canonical byte strings.

use std::fmt;

/// An unsigned number of any width. Holds P4Runtime's canonical form: big endian, no leading zero byte, zero
/// is one zero byte.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Value(Vec<u8>);

/// Reason that bytes or text are not a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// P4Runtime has no empty byte strings.
    #[error("the byte string is empty; zero is one zero byte")]
    Empty,
    /// The number needs more bits than its field has.
    #[error("{value} needs {needed} bits, the field has {width}")]
    TooWide {
        /// The number.
        value: Value,
        /// Bits it needs.
        needed: u32,
        /// Bits there are.
        width: u32,
    },
}

impl Value {
    /// Takes big-endian bytes of any length, with or without leading zeros.
    ///
    /// # Errors
    /// [`ValueError::Empty`] for no bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ValueError> {
        if bytes.is_empty() {
            return Err(ValueError::Empty);
        }
        Ok(Self::trimmed(bytes))
    }

    fn trimmed(bytes: &[u8]) -> Self {
        let first = bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len().saturating_sub(1));
        Self(bytes[first..].to_vec())
    }

    /// Returns the number whose lowest `width` bits are ones: the mask that compares all bits.
    pub fn ones(width: u32) -> Self {
        let mut bytes = vec![0xff; width.div_ceil(8).max(1) as usize];
        bytes[0] = match width {
            0 => 0,
            width => 0xff >> ((8 - width % 8) % 8),
        };
        Self::trimmed(&bytes)
    }

    /// Returns the canonical byte string.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Bits needed to write the number; 0 for zero.
    pub fn bit_len(&self) -> u32 {
        self.0.len() as u32 * 8 - self.0[0].leading_zeros()
    }

    /// Returns whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.0 == [0]
    }

    /// Returns the number, if it fits 128 bits.
    pub fn to_u128(&self) -> Option<u128> {
        (self.0.len() <= 16).then(|| self.0.iter().fold(0, |sum, &byte| sum << 8 | u128::from(byte)))
    }

    /// Returns the number, if it fits 64 bits.
    pub fn to_u64(&self) -> Option<u64> {
        self.to_u128().and_then(|value| value.try_into().ok())
    }

    /// Refuses a number that needs more than `width` bits. Width 0 stands for a field without a width (a
    /// translated string), which holds anything.
    ///
    /// # Errors
    /// [`ValueError`] for a number that needs more bits.
    pub fn check_width(&self, width: u32) -> Result<(), ValueError> {
        let needed = self.bit_len();
        if width != 0 && needed > width {
            return Err(ValueError::TooWide { value: self.clone(), needed, width });
        }
        Ok(())
    }

    /// Returns the number with every bit cleared that is clear in `mask`.
    pub fn masked(&self, mask: &Self) -> Self {
        let length = self.0.len().min(mask.0.len());
        let low = |value: &Self| value.0[value.0.len() - length..].to_vec();
        Self::trimmed(&low(self).iter().zip(low(mask)).map(|(a, b)| a & b).collect::<Vec<_>>())
    }

    /// Returns the mask that keeps the highest `prefix_len` of `width` bits.
    pub fn prefix_mask(prefix_len: u32, width: u32) -> Self {
        let mut bytes = Self::ones(width).padded(width);
        for bit in 0..width.saturating_sub(prefix_len) {
            let place = bytes.len() - 1 - (bit / 8) as usize;
            bytes[place] &= !(1 << (bit % 8));
        }
        Self::trimmed(&bytes)
    }

    /// Returns the number in exactly `ceil(width / 8)` big-endian bytes, cut from the left if it is wider.
    pub fn padded(&self, width: u32) -> Vec<u8> {
        let length = width.div_ceil(8).max(1) as usize;
        let mut bytes = vec![0; length.saturating_sub(self.0.len())];
        bytes.extend_from_slice(&self.0[self.0.len().saturating_sub(length)..]);
        bytes
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0.len(), &self.0).cmp(&(other.0.len(), &other.0))
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

macro_rules! from_unsigned {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Value {
            fn from(value: $kind) -> Self {
                Self::trimmed(&value.to_be_bytes())
            }
        }
    )*};
}
from_unsigned!(u8, u16, u32, u64, u128);

/// For addresses: six bytes of a MAC address, four of an IPv4 one.
impl<const N: usize> From<[u8; N]> for Value {
    fn from(bytes: [u8; N]) -> Self {
        const { assert!(N > 0, "a value has at least one byte") };
        Self::trimmed(&bytes)
    }
}

/// Decimal up to 64 bits, hexadecimal above.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.to_u64() {
            return write!(f, "{value}");
        }
        write!(f, "0x")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
#[path = "value_tests.rs"]
#[allow(clippy::unwrap_used)]
mod tests;
