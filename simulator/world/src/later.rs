//! Events that follow from others.

use std::time::Duration;

/// Events or commands, each after a time.
pub type Later<C> = Vec<(Duration, C)>;
