//! Sections of flags: one for each kind of network, and one for each role of a host's process.

use inart_topologies::Network;

/// Flags that belong together: a heading in `--help`, and the words of refusals.
#[derive(Debug, PartialEq, Eq)]
pub struct Section {
    /// The heading of its flags in `--help`.
    pub heading: &'static str,
    /// Networks or hosts that its flags are for, as in "--knowledge is for networks of sites".
    pub is_for: &'static str,
    /// Property of a network or a host that takes these flags, as in "fig1.yaml has switches".
    pub has: &'static str,
}

/// Networks of switches, servers and workers.
pub static SWITCHES: Section =
    Section { heading: "Networks of switches", is_for: "networks of switches", has: "has switches" };

/// Networks of sites.
pub static SITES: Section =
    Section { heading: "Networks of sites", is_for: "networks of sites", has: "has sites" };

/// Networks of peers.
pub static PEERS: Section =
    Section { heading: "Networks of peers", is_for: "networks of peers", has: "has peers" };

/// Training at a parameter server, with the synchronization of `--sync`.
pub static SERVERS: Section = Section {
    heading: "Parameter servers (--sync)",
    is_for: "parameter servers (--sync)",
    has: "trains at a parameter server, by --sync",
};

/// Groups of workers in round-robin order at the parameter servers.
pub static GROUPS: Section = Section {
    heading: "Groups at parameter servers (--sync r2sp --aggregated-groups)",
    is_for: "groups at parameter servers (--sync r2sp --aggregated-groups)",
    has: "trains in groups, by --aggregated-groups",
};

/// Returns the section of a command that a network's kind decides.
pub fn of(network: &Network) -> &'static Section {
    match network {
        Network::Switched(_) => &SWITCHES,
        Network::Sites(_) => &SITES,
        Network::Peers(_) => &PEERS,
    }
}
