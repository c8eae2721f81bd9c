//! A worker of an elastic job, as Python holds it. A thread has the worker and does one call after the other,
//! so that Ctrl-C ends any wait.

mod calls;
mod class;
mod join;
mod orders;
mod thread;

pub(crate) use class::Elastic;
pub(crate) use join::{Audit, join};
