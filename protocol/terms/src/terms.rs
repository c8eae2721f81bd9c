//! A bounded, ordered list of terms.

use std::fmt::Display;

use prost::Message as _;

use crate::bounds::{MOST_BYTES, MOST_NAME_BYTES, MOST_TERMS, MOST_VALUE_BYTES};
use crate::difference::Difference;
use crate::digest::digest_of_bytes;
use crate::error::TermsError;
use crate::message::Term;
use crate::printable::printable;

/// Terms in the order of comparison: put those first that explain the others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Terms(Vec<Term>);

/// A list of terms in bytes.
#[derive(Clone, PartialEq, prost::Message)]
struct List {
    #[prost(message, repeated, tag = "1")]
    terms: Vec<Term>,
}

impl Terms {
    /// Creates the terms of this process from (name, value) pairs. A value of more than [`MOST_VALUE_BYTES`]
    /// is truncated, followed by its SHA-256 digest, so that values that differ anywhere still differ.
    /// Control characters of values are escaped.
    ///
    /// # Errors
    /// More than [`MOST_TERMS`]; a name that is empty, longer than [`MOST_NAME_BYTES`] or there twice.
    pub fn new<N, V>(pairs: impl IntoIterator<Item = (N, V)>) -> Result<Self, TermsError>
    where
        N: Into<String>,
        V: Display,
    {
        let term = |(name, value): (N, V)| Term { name: name.into(), value: bounded(&value.to_string()) };
        Terms::from_message(pairs.into_iter().map(term).collect())
    }

    /// Checks terms that another process has sent.
    ///
    /// # Errors
    /// The first bound that they break.
    pub fn from_message(terms: Vec<Term>) -> Result<Self, TermsError> {
        if terms.len() > MOST_TERMS {
            return Err(TermsError::Many(terms.len()));
        }
        for (at, Term { name, value }) in terms.iter().enumerate() {
            if name.is_empty() || name.len() > MOST_NAME_BYTES {
                return Err(TermsError::Name(name.len()));
            }
            if name.chars().any(char::is_control) {
                return Err(TermsError::Control(name.clone()));
            }
            if value.len() > MOST_VALUE_BYTES {
                return Err(TermsError::Value { name: name.clone(), bytes: value.len() });
            }
            if value.chars().any(char::is_control) {
                return Err(TermsError::Control(name.clone()));
            }
            if terms[..at].iter().any(|before| before.name == *name) {
                return Err(TermsError::Twice(name.clone()));
            }
        }
        Ok(Terms(terms))
    }

    /// Returns the terms for a hello that is a protocol buffer.
    pub fn message(&self) -> Vec<Term> {
        self.0.clone()
    }

    /// Returns the terms as bytes, for a hello that is not a protocol buffer.
    pub fn encode(&self) -> Vec<u8> {
        List { terms: self.0.clone() }.encode_to_vec()
    }

    /// Reads the output of [`encode`](Self::encode).
    ///
    /// # Errors
    /// Bytes that are not a list of terms, and the first bound that a list breaks. Longer input than any list
    /// has is refused before it is read.
    pub fn decode(bytes: &[u8]) -> Result<Self, TermsError> {
        let list = Some(bytes).filter(|bytes| bytes.len() <= MOST_BYTES).map(List::decode);
        match list {
            Some(Ok(list)) => Terms::from_message(list.terms),
            _ => Err(TermsError::Encoding(bytes.len())),
        }
    }

    /// Returns the value of a term.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|term| term.name == name).map(|term| &*term.value)
    }

    /// Returns the first term whose value differs at the other process or that one process lacks, by its
    /// later position in the two lists: both processes name the same term, and a term that only one of them
    /// has precedes those that follow from it. `None` if both have equal terms, in any order.
    pub fn differs(&self, other: &Terms) -> Option<Difference> {
        let place = |name: &str| {
            let places = [self, other]
                .into_iter()
                .filter_map(|terms| terms.0.iter().position(|term| term.name == name));
            places.max()
        };
        let of = |terms: &Terms, name: &str| terms.value(name).map(str::to_owned);
        let names = self.0.iter().chain(&other.0).map(|term| &term.name);
        names
            .map(|name| Difference { name: name.clone(), own: of(self, name), other: of(other, name) })
            .filter(|difference| difference.own != difference.other)
            .min_by_key(|difference| (place(&difference.name), difference.name.clone()))
    }
}

/// A value as a term has it: printable, and of at most [`MOST_VALUE_BYTES`].
fn bounded(value: &str) -> String {
    printable(value, MOST_VALUE_BYTES, || format!("... (SHA-256 {})", digest_of_bytes(value.as_bytes())))
}
