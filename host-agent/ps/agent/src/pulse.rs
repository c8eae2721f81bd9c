//! Times that both sides have in common.

use std::time::Duration;

/// What has failed is sent again after this.
pub const PAUSE: Duration = Duration::from_millis(10);
