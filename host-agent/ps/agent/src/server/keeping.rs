//! Versions on the disk: a server reports a version, and sends what follows from it, once it is kept.

use std::fmt;
use std::sync::Arc;

use inart_terms::Terms;

use crate::sequencer::Kept;

/// Training as a server keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptTraining {
    /// The training's number.
    pub number: u64,
    /// Terms that its processes share.
    pub terms: Terms,
    /// The model and its counts.
    pub kept: Kept,
}

/// Place where a server keeps its model, such as a file.
pub trait Keeper: fmt::Debug + Send + Sync {
    /// Replaces what is kept. Returns once a restarted server would find it.
    ///
    /// # Errors
    /// The reason, as a line that names the place.
    fn keep(&self, training: &KeptTraining) -> Result<(), String>;
}

/// Progress of keeping.
#[derive(Debug, Clone, Default)]
pub struct Keeping {
    pub keeper: Option<Arc<dyn Keeper>>,
    /// A version that is not kept.
    pub is_due: bool,
    pub is_writing: bool,
    /// Reports that the last write covers.
    pub covered: usize,
}
