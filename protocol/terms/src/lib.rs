//! Terms of a training job: settings that all its processes must share, as names and values in a hello.
//!
//! Two processes compare their [`Terms`] before they train. The first [`Difference`] names the setting and
//! both values, so a user knows what to correct. Pure: no I/O and no clock.

mod agreement;
mod bounds;
mod difference;
mod digest;
mod error;
mod fingerprint;
mod message;
mod printable;
mod terms;

pub use agreement::Agreement;
pub use bounds::{MOST_LINE_BYTES, MOST_NAME_BYTES, MOST_TERMS, MOST_VALUE_BYTES};
pub use difference::Difference;
pub use digest::{digest_of_bytes, digest_of_values};
pub use error::TermsError;
pub use fingerprint::{extended_fingerprint, fingerprint};
pub use message::Term;
pub use printable::one_line;
pub use terms::Terms;
