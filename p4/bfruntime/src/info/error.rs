//! Errors of an index, and of lookups in it.

use std::fmt;

/// Reason that a `bf-rt.json` cannot be read, or lacks a name or number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InfoError {
    /// The text is no `bf-rt.json`.
    #[error("not a bf-rt.json: {0}")]
    Text(String),
    /// Two tables with the same name or number.
    #[error("the bf-rt.json is inconsistent: {0}")]
    Inconsistent(String),
    /// The end of a name that several tables have.
    #[error("\"{name}\" may be {one} or {other}: give more of the name")]
    Ambiguous {
        /// Requested name.
        name: String,
        /// A table that it may be.
        one: String,
        /// Another one.
        other: String,
    },
    /// Nothing of this kind has this name.
    #[error("{owner} has no {what} \"{name}\"{}", did_you_mean(.nearest))]
    NoName {
        /// Owner of the requested object: "the program", or its table or action.
        owner: String,
        /// Kind of the requested object.
        what: &'static str,
        /// Requested name.
        name: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },
    /// Nothing of this kind has this number.
    #[error("{owner} has no {what} with id {id} (0x{id:08x})")]
    NoId {
        /// Owner of the requested object: "the program", or its table or action.
        owner: String,
        /// Kind of the requested object.
        what: &'static str,
        /// Requested number.
        id: u32,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean \"{name}\"?")).unwrap_or_default()
}

pub(super) fn no_name<'a>(
    owner: impl fmt::Display,
    what: &'static str,
    name: &str,
    all: impl Iterator<Item = &'a str>,
) -> InfoError {
    let nearest = all
        .map(|known| (strsim::jaro_winkler(&known.to_lowercase(), &name.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known.to_owned());
    InfoError::NoName { owner: owner.to_string(), what, name: name.to_owned(), nearest }
}

pub(super) fn no_id(owner: impl fmt::Display, what: &'static str, id: u32) -> InfoError {
    InfoError::NoId { owner: owner.to_string(), what, id }
}
