//! Jobs whose gradients switches sum: a testbed, the processes of its hosts, and the audit of every sum.

pub mod abort;
pub(crate) mod agents;
pub(crate) mod auditor;
pub(crate) mod changing;
pub mod chart;
pub(crate) mod controller;
pub(crate) mod emulation;
pub mod external;
pub mod figures;
pub(crate) mod flags;
pub(crate) mod grid;
pub(crate) mod job;
pub(crate) mod layout;
pub(crate) mod news;
pub(crate) mod options;
pub(crate) mod own;
pub mod program;
pub(crate) mod runs;
pub mod si;
pub mod site;
pub(crate) mod supervisor;
pub(crate) mod table;
pub(crate) mod task;
pub(crate) mod testbed;
pub mod timeline;
pub(crate) mod work;
