//! A network of any kind.

use std::path::Path;
use std::time::Duration;

use crate::document::Document;
use crate::error::NetworkError;
use crate::kind::Kind;
use crate::peers::{self, Mesh};
use crate::ps::Switched;
use crate::read::{ReadError, text};
use crate::sites::{self, Hierarchy};

/// A network of any kind, as its document states it.
#[derive(Debug, Clone)]
pub enum Network {
    /// Switches, servers and workers.
    Switched(Switched),
    /// Sites, with the networks inside them.
    Sites(Hierarchy),
    /// Peers and switches.
    Peers(Mesh),
}

impl Network {
    /// Opens a document once and reads it. A pipe or a terminal is read until it ends.
    ///
    /// # Errors
    /// The file or the document, with the file's path.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        Self::read_watched(path, &mut |_| ())
    }

    /// Reads a document as [`Network::read`] does. `waits` is called every few seconds while a pipe or a
    /// terminal is silent, with the time since the start of the wait.
    ///
    /// # Errors
    /// As [`Network::read`].
    pub fn read_watched(path: &Path, waits: &mut dyn FnMut(Duration)) -> Result<Self, ReadError> {
        let document = |error| ReadError::Document { path: path.to_owned(), error };
        Self::from_yaml(&text(path, waits)?).map_err(document)
    }

    /// Reads and validates a document: YAML or JSON.
    ///
    /// # Errors
    /// Returns the first problem, with its place in the document.
    pub fn from_yaml(text: &str) -> Result<Self, NetworkError> {
        let document = Document::from_yaml(text)?;
        match document.kind() {
            Kind::Switched => Switched::build(document).map(Network::Switched),
            Kind::Sites => sites::build(document).map(Network::Sites),
            Kind::Peers => peers::build(document).map(Network::Peers),
        }
    }

    /// Returns the kind of the network.
    pub fn kind(&self) -> Kind {
        match self {
            Network::Switched(_) => Kind::Switched,
            Network::Sites(_) => Kind::Sites,
            Network::Peers(_) => Kind::Peers,
        }
    }

    /// Returns the document's name.
    pub fn name(&self) -> &str {
        match self {
            Network::Switched(switched) => switched.topology.name(),
            Network::Sites(sites) => sites.overlay.name(),
            Network::Peers(mesh) => mesh.name(),
        }
    }

    /// Writes the document that [`Network::from_yaml`] reads back to the same network.
    pub fn to_yaml(&self) -> String {
        let document = match self {
            Network::Switched(switched) => switched.document(),
            Network::Sites(sites) => sites.document(),
            Network::Peers(mesh) => mesh.document(),
        };
        document.to_yaml()
    }
}
