//! Superword fusion: runs of isomorphic operations over consecutive fields and registers.

use crate::program::Program;

/// A fused run.
#[derive(Debug)]
pub(crate) struct Run {}

pub(crate) fn fuse(_program: &mut Program) {}
