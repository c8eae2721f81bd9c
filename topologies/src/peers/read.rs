//! Reads and writes documents of networks of peers.

use super::network::Mesh;
use super::validate::build;
use crate::document::Document;
use crate::error::Result;
use crate::kind::Kind;

impl Mesh {
    /// Reads and validates the document of a network of peers: YAML or JSON.
    ///
    /// # Errors
    /// Returns the first problem, with its place in the document.
    pub fn from_yaml(text: &str) -> Result<Mesh> {
        let document = Document::from_yaml(text)?;
        document.expect(Kind::Peers)?;
        build(document)
    }

    /// Writes the document that [`Mesh::from_yaml`] reads back to the same network.
    pub fn to_yaml(&self) -> String {
        self.document().to_yaml()
    }
}
