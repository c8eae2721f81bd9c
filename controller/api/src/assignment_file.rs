//! Files with the configuration of a job's hosts: `inart apply` writes them, and hosts read them.

use inart_formats::{DocumentError, Format};
use inart_protocol_aggregation::Assignment;

/// Formats of files with the configuration of a job's hosts. Format 1 has no number.
pub const ASSIGNMENT_FORMAT: Format = Format {
    kind: "configuration of a job's hosts",
    oldest: 1,
    newest: 2,
    fix: "install the job's plan again with inart apply, which writes the file",
};

/// Writes an assignment as one line of JSON, with its format first.
///
/// # Panics
/// Never: an assignment holds only texts and numbers.
pub fn assignment_to_json(assignment: &Assignment) -> String {
    ASSIGNMENT_FORMAT.write(assignment).expect("an assignment holds only texts and numbers")
}

/// Reads the contents of an assignment's file.
///
/// # Errors
/// A format that this version does not read, or contents that are not those of an assignment.
pub fn assignment_from_json(json: &[u8]) -> Result<Assignment, DocumentError> {
    ASSIGNMENT_FORMAT.read(json)
}
