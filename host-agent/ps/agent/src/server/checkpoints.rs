//! Checkpoints: a server reports a version, and sends messages that depend on it, once it is stored.

use std::fmt;
use std::sync::Arc;

use inart_terms::Terms;

use crate::sequencer::Checkpoint;

/// Training in a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingCheckpoint {
    /// The training's number.
    pub number: u64,
    /// Settings that all processes share.
    pub terms: Terms,
    /// Model and counts.
    pub kept: Checkpoint,
}

/// Storage of a server's checkpoint, such as a file.
pub trait CheckpointStore: fmt::Debug + Send + Sync {
    /// Replaces the checkpoint. Returns once a restarted server would find it.
    ///
    /// # Errors
    /// The reason, as a line that names the storage.
    fn keep(&self, training: &TrainingCheckpoint) -> Result<(), String>;
}

/// Progress of checkpoints.
#[derive(Debug, Clone, Default)]
pub struct Checkpoints {
    pub store: Option<Arc<dyn CheckpointStore>>,
    /// Whether a version waits to be stored.
    pub is_due: bool,
    pub is_writing: bool,
    /// Reports that the write in progress covers.
    pub covered: usize,
}
