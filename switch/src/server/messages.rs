//! A pipeline driven by P4Runtime messages in this process: no connection, no arbitration, no other
//! controller.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use inart_p4runtime::p4::v1::{Entity, ForwardingPipelineConfig, Update};
use tonic::Status;

use super::clock::Clock;
use super::pipeline::Pipeline;
use super::verify::Verified;

/// A pipeline on a switch of its own, which answers updates and reads as the server does.
pub struct Messages(Pipeline);

impl Messages {
    /// Checks and loads a configuration.
    ///
    /// # Errors
    /// Returns the gRPC status that the P4Runtime specification requires.
    pub fn new(config: ForwardingPipelineConfig) -> Result<Self, Status> {
        Ok(Self(Pipeline::stage(Verified::new(config, &AtomicBool::new(false))?, Clock(Instant::now()))?))
    }

    /// Applies one update.
    ///
    /// # Errors
    /// Returns the gRPC status that the P4Runtime specification requires.
    pub fn write(&mut self, update: &Update) -> Result<(), Status> {
        self.0.write(update)
    }

    /// Returns the entities that a filter selects.
    ///
    /// # Errors
    /// Returns the gRPC status that the P4Runtime specification requires.
    pub fn read(&self, filter: &Entity) -> Result<Vec<Entity>, Status> {
        let mut all = Vec::new();
        self.0.read_all(filter, |found| {
            all.extend(found);
            Ok(())
        })?;
        Ok(all)
    }
}
