//! Compressed files in this crate.

use std::sync::OnceLock;

use crate::compressed::decompress;

/// A compressed file in this crate. Its first use decompresses it; the contents stay in memory.
pub(crate) struct Embedded {
    compressed: &'static [u8],
    contents: OnceLock<Vec<u8>>,
}

impl Embedded {
    pub(crate) const fn new(compressed: &'static [u8]) -> Self {
        Self { compressed, contents: OnceLock::new() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.contents.get_or_init(|| decompress(self.compressed).expect("what is embedded is whole"))
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(self.bytes()).expect("p4c printed text")
    }
}

/// The [`Embedded`] file at a path relative to the source file.
macro_rules! embedded {
    ($path:expr) => {{
        static FILE: crate::embedded::Embedded = crate::embedded::Embedded::new(include_bytes!($path));
        &FILE
    }};
}
pub(crate) use embedded;
