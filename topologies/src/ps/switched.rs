//! A network of switches, with what its jobs say of training.

use super::jobs;
use super::network::Cluster;
use super::training::Training;
use crate::document::Document;
use crate::error::Result;
use crate::kind::Kind;
use crate::switched::Topology;
use crate::switched::entries::Detail;
use crate::switched::validate::build;

/// A network of switches, and what its jobs say of training by way of parameter servers.
#[derive(Debug, Clone)]
pub struct Switched {
    /// The network.
    pub topology: Topology,
    /// Of every job that the document states.
    training: Vec<Training>,
}

impl Switched {
    /// Builds the network of a document that has one of switches.
    pub(crate) fn build(document: Document) -> Result<Switched> {
        let training = document.jobs().iter().map(Training::of).collect();
        Ok(Switched { topology: build(document)?, training })
    }

    /// Whether a job says how long its participants compute, as `--sync` needs it.
    pub fn trains(&self) -> bool {
        self.training.iter().any(Training::says_how_long)
    }

    /// The jobs that train by way of parameter servers: those that say how long their participants compute.
    ///
    /// # Errors
    /// No job says so; the first thing that is wrong with one that does; switches that are slower than hosts.
    pub fn training(&self) -> Result<Cluster> {
        jobs::build(&self.topology, &self.training)
    }

    /// The document that reads back to the same network.
    pub(crate) fn document(&self) -> Document {
        let mut document = self.topology.document(Detail::WhatDiffers);
        for (job, training) in document.jobs.iter_mut().flat_map(|jobs| &mut jobs.value).zip(&self.training) {
            training.add_to(&mut job.value);
        }
        document
    }
}

impl Cluster {
    /// Reads the document of a network of switches whose jobs say how long their participants compute: YAML
    /// or JSON.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place in the document.
    pub fn from_yaml(text: &str) -> Result<Cluster> {
        let document = Document::from_yaml(text)?;
        document.expect(Kind::Switched)?;
        Switched::build(document)?.training()
    }
}
