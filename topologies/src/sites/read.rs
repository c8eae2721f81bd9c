//! Reads and writes documents of networks of sites.

use super::network::Overlay;
use super::two_levels::Hierarchy;
use super::validate;
use crate::document::Document;
use crate::error::{NetworkError, Result};
use crate::kind::Kind;

/// Builds the network of a document that has one of sites.
pub(crate) fn build(document: Document) -> Result<Hierarchy> {
    match document.nodes().iter().any(|node| node.value.site.is_some()) {
        true => Hierarchy::build(document),
        false => Ok(Hierarchy { overlay: validate::build(document)?, insides: Vec::new() }),
    }
}

impl Hierarchy {
    /// Reads and validates the document of a network of sites: YAML or JSON.
    ///
    /// # Errors
    /// Returns the first problem, with its place in the document.
    pub fn from_yaml(text: &str) -> Result<Hierarchy> {
        let document = Document::from_yaml(text)?;
        document.expect(Kind::Sites)?;
        build(document)
    }
}

impl Overlay {
    /// Reads and validates the document of a network of sites without anything inside them: YAML or JSON.
    ///
    /// # Errors
    /// Returns the first problem, with its place in the document.
    pub fn from_yaml(text: &str) -> Result<Overlay> {
        let Hierarchy { overlay, insides } = Hierarchy::from_yaml(text)?;
        match insides.first() {
            None => Ok(overlay),
            Some(inside) => {
                let problem = "it has nodes inside";
                let place = format!("site {}", inside.site);
                Err(NetworkError::new(None, place, problem, "leave them out: this is about sites only"))
            }
        }
    }

    /// Writes the document that [`Overlay::from_yaml`] reads back to the same network.
    pub fn to_yaml(&self) -> String {
        self.document().to_yaml()
    }
}
