//! A worker of a group.

use inart_core::{Assignment, RoundRecord};
use inart_host_agent::{Options, RoundStats, Transport, Worker};
use inart_wire::Rank;

use crate::error::RackError;
use crate::shape::Shape;

/// A turn, as a worker has seen it.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Of the tensor *ready*: how long its turn was waited for, with the last of the group's workers; none in
    /// a single group.
    pub ready: Option<RoundStats>,
    /// Of the gradient.
    pub push: RoundStats,
    /// What this worker put in and got, bit for bit.
    pub record: RoundRecord,
}

/// A worker of a group, and its model.
pub struct RackWorker {
    worker: Worker,
    shape: Shape,
    model: Vec<f32>,
}

impl RackWorker {
    /// The worker of that rank of its group's job, one of so many groups; all begin with the same model.
    ///
    /// # Errors
    /// What is wrong with the assignment or the transport.
    pub fn new(
        assignment: Assignment,
        rank: Rank,
        groups: usize,
        model: Vec<f32>,
        (transport, options): (Box<dyn Transport>, Options),
    ) -> Result<Self, RackError> {
        assignment.validate().map_err(inart_host_agent::Error::from)?;
        let shape = Shape::new(&assignment, model.len(), groups)?;
        let worker = Worker::with_options(assignment, rank, transport, options)?;
        Ok(RackWorker { worker, shape, model })
    }

    /// The model as the last turn left it.
    pub fn model(&self) -> &[f32] {
        &self.model
    }

    /// What tells it to move to another plan of its job.
    pub fn mover(&self) -> inart_host_agent::Mover {
        self.worker.mover()
    }

    /// Pushes what is to be added to the model, when it is the group's turn; then the model is as the servers
    /// have it.
    ///
    /// # Errors
    /// Why the training has ended.
    pub fn push(&mut self, update: &mut [f32]) -> Result<Turn, RackError> {
        if update.len() != self.model.len() {
            return Err(RackError::Model { given: update.len(), values: self.model.len() });
        }
        let ready = match self.shape.ready {
            0 => None,
            values => Some(self.worker.all_reduce(&mut vec![0.0; values])?),
        };
        let push = self.worker.all_reduce(update)?;
        self.model.iter_mut().zip(&*update).for_each(|(value, change)| *value += change);
        let Some(record) = self.worker.record() else {
            return Err(inart_host_agent::Error::Ended("a round without a record".into()).into());
        };
        Ok(Turn { ready, push, record })
    }
}
