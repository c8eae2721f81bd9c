//! What can be wrong with a message.

use inart_protocol_sites::SiteNo;

/// Error of decoding a message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MessageError {
    /// Invalid protocol buffer, or a message of an unknown kind.
    #[error("{0} bytes that are not a message of a site")]
    Unknown(usize),
    /// Chunk runs of an odd number of bytes.
    #[error("runs of {0} bytes, which is not an even number")]
    Runs(usize),
    /// Field with a value out of range.
    #[error("{field} is {value}, which is not allowed; at most {most}")]
    Field {
        /// Name of the field.
        field: &'static str,
        /// Value of the field.
        value: i64,
        /// Maximum of the field.
        most: i64,
    },
}

pub(crate) fn site(field: &'static str, value: u32) -> Result<SiteNo, MessageError> {
    let number = u16::try_from(value);
    number.map(SiteNo).map_err(|_| MessageError::Field { field, value: value.into(), most: 65_535 })
}

pub(crate) fn sites(field: &'static str, values: Vec<u32>) -> Result<Vec<SiteNo>, MessageError> {
    values.into_iter().map(|value| site(field, value)).collect()
}
