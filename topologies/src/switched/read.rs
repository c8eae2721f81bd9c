//! Reads and writes documents of networks of switches.

use super::Topology;
use super::entries::Detail;
use super::validate::build;
use crate::document::Document;
use crate::error::Result;
use crate::kind::Kind;

impl Topology {
    /// Reads and validates the document of a network of switches: YAML or JSON.
    ///
    /// # Errors
    /// Returns the first problem, with its place in the document.
    pub fn from_yaml(text: &str) -> Result<Topology> {
        let document = Document::from_yaml(text)?;
        document.expect(Kind::Switched)?;
        build(document)
    }

    /// Writes the document that [`Topology::from_yaml`] reads back to an equal topology.
    pub fn to_yaml(&self) -> String {
        self.document(Detail::WhatDiffers).to_yaml()
    }

    /// Writes the same document as JSON: rates in `bps`, delays in `s`, sizes in `B`.
    pub fn to_json(&self) -> String {
        self.document(Detail::Everything).to_json()
    }
}
