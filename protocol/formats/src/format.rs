//! Formats of files: one version of inart writes a file, another one reads it.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::without_format::WithoutFormat;

/// The format of documents that were written before they had a number.
pub const UNNUMBERED: u32 = 1;

/// The most characters of a value that an error shows.
const MOST_SHOWN: usize = 64;

/// A kind of file that inart writes and reads back, with the formats that this version reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// The kind, such as "plan of a network of sites".
    pub kind: &'static str,
    /// The oldest format that this version reads.
    pub oldest: u32,
    /// The newest format that this version reads, which is the one that it writes.
    pub newest: u32,
    /// How a user gets a file that this version reads.
    pub fix: &'static str,
}

/// A format that this version does not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// A number above all known ones.
    #[error(
        "format {number} is newer than this version of inart reads ({range}); use a newer inart, or {fix}"
    )]
    Newer {
        /// The file's number.
        number: u64,
        /// The numbers that are read.
        range: String,
        /// How to get another file.
        fix: &'static str,
    },
    /// A number below those that are read.
    #[error("format {number} is older than this version of inart reads ({range}); {fix}")]
    Older {
        /// The file's number.
        number: u64,
        /// The numbers that are read.
        range: String,
        /// How to get another file.
        fix: &'static str,
    },
    /// Something else in place of a number.
    #[error("format {value} is not a number of a format ({range}); {fix}")]
    Unknown {
        /// The file's value, on one line.
        value: String,
        /// The numbers that are read.
        range: String,
        /// How to get another file.
        fix: &'static str,
    },
}

/// A document that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// Another format.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Other contents.
    #[error(transparent)]
    Contents(#[from] serde_json::Error),
}

#[derive(Deserialize)]
struct Head {
    format: Option<Value>,
}

#[derive(Serialize)]
struct Numbered<'d, D> {
    format: u32,
    #[serde(flatten)]
    document: &'d D,
}

impl Format {
    /// Returns the formats that are read, in words: `1 to 2`, or `only 3`.
    pub fn range(&self) -> String {
        match self.oldest == self.newest {
            true => format!("only {}", self.newest),
            false => format!("{} to {}", self.oldest, self.newest),
        }
    }

    /// Checks a file's number.
    ///
    /// # Errors
    /// A number that this version does not read.
    pub fn check(&self, number: u64) -> Result<u32, FormatError> {
        let (range, fix) = (self.range(), self.fix);
        match u32::try_from(number) {
            Ok(known) if (self.oldest..=self.newest).contains(&known) => Ok(known),
            Ok(known) if known < self.oldest => Err(FormatError::Older { number, range, fix }),
            _ => Err(FormatError::Newer { number, range, fix }),
        }
    }

    /// Returns the number of a JSON document: [`UNNUMBERED`] without one, and of a text that is not an
    /// object.
    ///
    /// # Errors
    /// A number that this version does not read, whatever else the document has.
    pub fn number(&self, json: &[u8]) -> Result<u32, FormatError> {
        let head = serde_json::from_slice(json).unwrap_or(Head { format: None });
        head.format.map_or_else(|| self.check(UNNUMBERED.into()), |value| self.check_value(&value))
    }

    fn check_value(&self, value: &Value) -> Result<u32, FormatError> {
        match value.as_u64() {
            Some(number) => self.check(number),
            None => {
                let value = value.to_string().chars().take(MOST_SHOWN).collect();
                Err(FormatError::Unknown { value, range: self.range(), fix: self.fix })
            }
        }
    }

    /// Returns a deserializer of a document that may be part of another one. The document's type has no field
    /// for the number, which is checked.
    pub fn inside<'de, D: Deserializer<'de>>(
        &self,
        document: D,
    ) -> impl Deserializer<'de, Error = D::Error> + use<'_, 'de, D> {
        WithoutFormat { inner: document, check: |value: &Value| self.check_value(value) }
    }

    /// Writes a document as one line of JSON, with its format first.
    ///
    /// # Errors
    /// A document that JSON cannot hold.
    pub fn write(&self, document: &impl Serialize) -> Result<String, serde_json::Error> {
        serde_json::to_string(&Numbered { format: self.newest, document })
    }

    /// Reads a JSON document. Its format is checked before everything else.
    ///
    /// # Errors
    /// A format that this version does not read, and contents that are not those of such a document.
    pub fn read<D: DeserializeOwned>(&self, json: &[u8]) -> Result<D, DocumentError> {
        self.number(json)?;
        let mut reader = serde_json::Deserializer::from_slice(json);
        let document = D::deserialize(self.inside(&mut reader))?;
        reader.end()?;
        Ok(document)
    }
}
