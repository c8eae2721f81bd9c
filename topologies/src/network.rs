//! A network of any kind.

use std::path::Path;
use std::time::Duration;

use inart_cluster::Cluster;
use inart_hierarchy::{Hierarchy, HierarchyError};
use inart_overlay::Overlay;
use inart_peers::Mesh;
use inart_planner::Topology;

use crate::NetworkError;
use crate::kind::Kind;
use crate::read::{ReadError, text};

/// A network of any kind, as its document states it.
#[derive(Debug, Clone)]
pub enum Network {
    /// Switches, servers and workers.
    Switched(Switched),
    /// Sites, and what is inside them.
    Sites(Hierarchy),
    /// Peers and switches.
    Peers(Mesh),
}

/// A network of switches, and what its jobs say of training by way of parameter servers.
#[derive(Debug, Clone)]
pub struct Switched {
    /// The network.
    pub topology: Topology,
    text: String,
}

impl Switched {
    /// Whether a job says how long its participants compute, as `--sync` needs it.
    pub fn trains(&self) -> bool {
        Cluster::is_one(&self.text)
    }

    /// The jobs that train by way of parameter servers: those that say how long their participants compute.
    ///
    /// # Errors
    /// No job says so; the first thing that is wrong with one that does; switches that are slower than hosts.
    pub fn training(&self) -> Result<Cluster, NetworkError> {
        Cluster::from_yaml(&self.text)
    }
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
    /// terminal is silent, with the time since the reader began to wait.
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
    /// The first thing that is wrong, with its place in the document.
    pub fn from_yaml(text: &str) -> Result<Self, NetworkError> {
        if Hierarchy::is_one(text) {
            Hierarchy::from_yaml(text).map(Network::Sites).map_err(of_document)
        } else if Overlay::is_one(text) {
            let overlay = Overlay::from_yaml(text)?;
            Ok(Network::Sites(Hierarchy { overlay, insides: Vec::new() }))
        } else if Mesh::is_one(text) {
            Mesh::from_yaml(text).map(Network::Peers)
        } else {
            let topology = Topology::from_yaml(text)?;
            Ok(Network::Switched(Switched { topology, text: text.to_owned() }))
        }
    }

    /// The kind of the network.
    pub fn kind(&self) -> Kind {
        match self {
            Network::Switched(_) => Kind::Switched,
            Network::Sites(_) => Kind::Sites,
            Network::Peers(_) => Kind::Peers,
        }
    }

    /// The document's name.
    pub fn name(&self) -> &str {
        match self {
            Network::Switched(switched) => switched.topology.name(),
            Network::Sites(sites) => sites.overlay.name(),
            Network::Peers(mesh) => mesh.name(),
        }
    }

    /// Writes the document that [`Network::from_yaml`] reads back to the same network.
    pub fn to_yaml(&self) -> String {
        match self {
            Network::Switched(switched) => switched.topology.to_yaml(),
            Network::Sites(sites) if sites.insides.is_empty() => sites.overlay.to_yaml(),
            Network::Sites(sites) => sites.to_yaml(),
            Network::Peers(mesh) => mesh.to_yaml(),
        }
    }
}

fn of_document(error: HierarchyError) -> NetworkError {
    match error {
        HierarchyError::Document(error) => error,
        HierarchyError::Inside { site, error } => NetworkError::new(
            error.line,
            format!("inside site {site}: {}", error.place),
            error.problem,
            error.fix,
        ),
        error => NetworkError::new(None, "document", error.to_string(), ""),
    }
}
