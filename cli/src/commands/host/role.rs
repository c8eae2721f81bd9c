//! Roles of hosts, with the words for their flags.

use crate::line::section::Section;

/// Workers of jobs whose gradients the network sums.
pub static WORKER: Section =
    Section { heading: "Workers", is_for: "workers (--assignment or --controller)", has: "is a worker" };
/// Parameter servers of such jobs.
pub static SERVER: Section =
    Section { heading: "Servers", is_for: "servers (--assignment or --controller)", has: "is a server" };
/// Sites.
pub static SITE: Section = Section { heading: "Sites", is_for: "sites", has: "is a site" };
/// Peers.
pub static PEER: Section = Section { heading: "Peers", is_for: "peers", has: "is a peer" };
/// Parameter servers that workers meet in an order.
pub static PS_SERVER: Section = Section {
    heading: "Parameter servers (--sync)",
    is_for: "parameter servers (--sync)",
    has: "is a parameter server (--sync)",
};
/// Their workers and clients.
pub static PS_WORKER: Section = Section {
    heading: "Workers and clients of parameter servers (--server)",
    is_for: "workers of parameter servers (--server)",
    has: "is a worker of a parameter server (--server)",
};
/// Parameter servers that groups of workers meet in turn.
pub static GROUP_SERVER: Section = Section {
    heading: "Servers of groups (--concurrent-groups)",
    is_for: "servers of groups (--concurrent-groups)",
    has: "is a server of groups (--concurrent-groups)",
};
/// Workers of such groups.
pub static GROUP_WORKER: Section = Section {
    heading: "Workers of groups (--groups)",
    is_for: "workers of groups (--groups)",
    has: "is a worker of a group (--groups)",
};
