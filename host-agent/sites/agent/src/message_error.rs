//! What can be wrong with a message.

use inart_protocol_sites::SiteNo;

/// What is wrong with a message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MessageError {
    /// No protocol buffer, or one without anything that is known.
    #[error("{0} bytes that are not a message of a site")]
    Unknown(usize),
    /// Half a run of a chunk.
    #[error("runs of {0} bytes, which is not an even number")]
    Runs(usize),
    /// A field with a value that it cannot have.
    #[error("{field} is {value}, which is not allowed; at most {most}")]
    Field {
        /// Its name.
        field: &'static str,
        /// Its value.
        value: i64,
        /// What it may be at most.
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
