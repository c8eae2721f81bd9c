//! A worker of a group.

use inart_host_agent::{Options, RoundStats, Transport, Worker};
use inart_protocol_aggregation::{Assignment, RoundRecord};
use inart_wire::Rank;

use crate::agreed::Agreed;
use crate::error::RackError;
use crate::shape::Shape;

/// A worker's record of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Statistics of the tensor *ready*: the wait for the turn, shared by the group's workers; `None` in a
    /// single group.
    pub ready: Option<RoundStats>,
    /// Statistics of the gradient.
    pub push: RoundStats,
    /// Pushed and received values, bit for bit.
    pub record: RoundRecord,
}

/// A worker of a group, and its model.
pub struct RackWorker {
    worker: Worker,
    shape: Shape,
    model: Vec<f32>,
    job: String,
    servers: Vec<String>,
    /// Settings to share, until they are compared.
    agreed: Option<Agreed>,
}

impl RackWorker {
    /// Creates the worker of that rank of its group's job, one of `groups` groups; all start with the same
    /// model.
    ///
    /// # Errors
    /// The assignment or the transport is invalid.
    pub fn new(
        assignment: Assignment,
        rank: Rank,
        groups: usize,
        model: Vec<f32>,
        (transport, options): (Box<dyn Transport>, Options),
    ) -> Result<Self, RackError> {
        assignment.validate().map_err(inart_host_agent::Error::from)?;
        let shape = Shape::new(&assignment, model.len(), groups)?;
        let job = assignment.name.clone();
        let servers = assignment.shards.iter().map(|shard| shard.server.clone()).collect();
        let agreed = Some(Agreed::new(groups, &model, None));
        let worker = Worker::with_options(assignment, rank, transport, options)?;
        Ok(RackWorker { worker, shape, model, job, servers, agreed })
    }

    /// Adds a setting that all must share, such as the seed; without a value if workers do not know it.
    /// Servers must add the same settings in the same order.
    #[must_use]
    pub fn with_term(mut self, name: &str, value: Option<String>) -> Self {
        if let Some(agreed) = &mut self.agreed {
            agreed.add(name, value);
        }
        self
    }

    /// Compares the shared settings, before the first turn.
    fn agree(&mut self) -> Result<(), RackError> {
        let Some(agreed) = self.agreed.take() else { return Ok(()) };
        let mut tensor: Vec<f32> = (0..self.shape.terms()).map(|at| agreed.value(at)).collect();
        self.worker.all_reduce(&mut tensor)?;
        let Some((name, first, second)) = agreed.differs(&tensor) else { return Ok(()) };
        let server = |at: usize| self.servers.get(self.shape.terms_shard(at)).cloned().unwrap_or_default();
        let (job, name, first, second) = (self.job.clone(), name.to_owned(), server(first), server(second));
        Err(RackError::OtherServer { job, name, first, second })
    }

    /// Returns the model after the last turn.
    pub fn model(&self) -> &[f32] {
        &self.model
    }

    /// Returns the handle that migrates the worker to another plan of its job.
    pub fn migrator(&self) -> inart_host_agent::Migrator {
        self.worker.migrator()
    }

    /// Pushes a change of the model in the group's turn; afterwards the model equals the servers'.
    ///
    /// # Errors
    /// The training has ended.
    pub fn push(&mut self, update: &mut [f32]) -> Result<Turn, RackError> {
        if update.len() != self.model.len() {
            return Err(RackError::Model { given: update.len(), values: self.model.len() });
        }
        // A non-finite update is pushed unchanged: it ends the job with its worker's name.
        if update.iter().all(|value| value.is_finite()) {
            self.agree()?;
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
