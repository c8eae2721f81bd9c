//! Text of a message between hosts.

use core::fmt;

/// Up to [`ShortText::MOST_BYTES`] bytes of text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ShortText {
    length: u8,
    bytes: [u8; Self::MOST_BYTES],
}

impl ShortText {
    /// Number of bytes that fit the shortest frame after a message's other words.
    pub const MOST_BYTES: usize = 4 * Self::WORDS;
    /// Number of 32-bit words.
    pub(crate) const WORDS: usize = 20;

    /// Creates the text, truncated if it does not fit.
    pub fn new(text: &str) -> Self {
        let mut length = text.len().min(Self::MOST_BYTES);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        let mut bytes = [0; Self::MOST_BYTES];
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self { length: length as u8, bytes }
    }

    /// Returns the text, up to the first byte that is not UTF-8.
    pub fn as_str(&self) -> &str {
        let bytes = &self.bytes[..usize::from(self.length)];
        match core::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
        }
    }

    /// The text in words, its first byte first, with zeros behind it.
    pub(crate) fn words(&self) -> [u32; Self::WORDS] {
        core::array::from_fn(|at| {
            let bytes = &self.bytes[4 * at..4 * at + 4];
            u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
        })
    }

    /// Creates the text of these words, up to the first zero byte.
    pub(crate) fn of_words(words: impl Iterator<Item = u32>) -> Self {
        let mut bytes = [0; Self::MOST_BYTES];
        for (at, word) in words.take(Self::WORDS).enumerate() {
            bytes[4 * at..4 * at + 4].copy_from_slice(&word.to_be_bytes());
        }
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(Self::MOST_BYTES);
        bytes[length..].fill(0);
        Self { length: length as u8, bytes }
    }
}

impl fmt::Debug for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Display for ShortText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ShortText {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for ShortText {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = ShortText;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ShortText, E> {
                Ok(ShortText::new(text))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}
