//! A switched network, with the training settings of its jobs.

use super::jobs;
use super::network::Cluster;
use super::training::Training;
use crate::document::Document;
use crate::error::Result;
use crate::kind::Kind;
use crate::switched::Topology;
use crate::switched::entries::Detail;
use crate::switched::validate::build;

/// A switched network, and the settings of its jobs for training with parameter servers.
#[derive(Debug, Clone)]
pub struct Switched {
    /// The network.
    pub topology: Topology,
    /// Training settings of every job of the document.
    training: Vec<Training>,
}

impl Switched {
    /// Builds the network of a document that has one of switches.
    pub(crate) fn build(document: Document) -> Result<Switched> {
        let training = document.jobs().iter().map(Training::of).collect();
        Ok(Switched { topology: build(document)?, training })
    }

    /// Returns whether a job states its participants' compute time, as `--sync` requires.
    pub fn trains(&self) -> bool {
        self.training.iter().any(Training::says_how_long)
    }

    /// Returns the jobs that train with parameter servers: those that state their participants' compute time.
    ///
    /// # Errors
    /// Returns an error if no job states it; the first problem of one that does; or switches slower than
    /// hosts.
    pub fn training(&self) -> Result<Cluster> {
        jobs::build(&self.topology, &self.training)
    }

    /// Returns the document that reads back to the same network.
    pub(crate) fn document(&self) -> Document {
        let mut document = self.topology.document(Detail::WhatDiffers);
        for (job, training) in document.jobs.iter_mut().flat_map(|jobs| &mut jobs.value).zip(&self.training) {
            training.add_to(&mut job.value);
        }
        document
    }
}

impl Cluster {
    /// Reads the document of a switched network whose jobs state their participants' compute time: YAML or
    /// JSON.
    ///
    /// # Errors
    /// Returns the first problem, with its place in the document.
    pub fn from_yaml(text: &str) -> Result<Cluster> {
        let document = Document::from_yaml(text)?;
        document.expect(Kind::Switched)?;
        Switched::build(document)?.training()
    }
}
