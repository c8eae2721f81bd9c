//! What can be wrong with an index, or with what is looked up in it.

use std::fmt;

/// Why a `bf-rt.json` could not be read, or has no such name or number.
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
        /// The name asked for.
        name: String,
        /// A table that it may be.
        one: String,
        /// Another one.
        other: String,
    },
    /// Nothing of this kind has this name.
    #[error("{owner} has no {what} \"{name}\"{}", did_you_mean(.nearest))]
    NoName {
        /// "the program", or the table or action whose part was asked for.
        owner: String,
        /// The kind of thing asked for.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },
    /// Nothing of this kind has this number.
    #[error("{owner} has no {what} with id {id} (0x{id:08x})")]
    NoId {
        /// "the program", or the table or action whose part was asked for.
        owner: String,
        /// The kind of thing asked for.
        what: &'static str,
        /// The number asked for.
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
