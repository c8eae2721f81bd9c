//! Errors of the system.

use crate::error::Error;

/// An error of the system while something was tried.
pub fn system(what: &str) -> impl FnOnce(std::io::Error) -> Error + '_ {
    move |cause| Error::System { what: what.to_owned(), cause }
}
