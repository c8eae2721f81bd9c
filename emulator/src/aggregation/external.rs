//! A testbed that exists already on this machine: built by Mininet (`mininet/run.py`), or by hand with `ip`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use inart_topologies::switched::{NodeKind, Topology};
use serde::Deserialize;

use crate::error::Error;
use crate::machine::scale::Scale;

/// The name by which errors call an external testbed's description.
pub const EXTERNAL: &str = "external testbed";

/// Addresses of a topology's hosts and switches.
///
/// As JSON: `{"scale": 0.01, "hosts": {"w1": {"namespace": "/proc/7/ns/net", "interface": "w1-eth0"}},
/// "switches": {"v1": {"address": "127.0.0.1:9559", "device_id": 0}}}`. Ports and addresses are those of
/// `inart topology wiring`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalTestbed {
    /// Factor on the topology's rates.
    pub scale: Scale,
    /// By name.
    pub hosts: BTreeMap<String, ExternalHost>,
    /// By name.
    pub switches: BTreeMap<String, ExternalSwitch>,
}

/// Location of a worker or server.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalHost {
    /// File of its network namespace, like `/proc/PID/ns/net` or `/run/netns/NAME`.
    pub namespace: PathBuf,
    /// Interface in the namespace.
    pub interface: String,
}

/// Address of a switch.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalSwitch {
    /// `host:port` or `unix:/path`.
    pub address: String,
    /// Number of the switch at its address.
    pub device_id: u64,
}

impl ExternalTestbed {
    /// Reads the JSON.
    ///
    /// # Errors
    /// [`Error::Option`] for text that is not such a document.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| refuse(error.to_string()))
    }

    /// Checks that the names of the network are the topology's.
    ///
    /// # Errors
    /// [`Error::Option`] names the first host or switch that is missing or unknown.
    pub fn validate(&self, topology: &Topology) -> Result<(), Error> {
        let named = |is_switch: bool| {
            let nodes = topology.nodes().iter();
            let nodes = nodes.filter(move |node| (node.kind == NodeKind::Switch) == is_switch);
            nodes.map(|node| node.name.as_str()).collect::<BTreeSet<_>>()
        };
        let hosts = self.hosts.keys().map(String::as_str).collect();
        let switches = self.switches.keys().map(String::as_str).collect();
        for (what, given, wanted) in [("hosts", hosts, named(false)), ("switches", switches, named(true))] {
            if let Some(name) = wanted.difference(&given).next() {
                return Err(refuse(format!(
                    "{what}: {name} of topology {} is missing; add it",
                    topology.name()
                )));
            }
            if let Some(name) = given.difference(&wanted).next() {
                return Err(refuse(format!(
                    "{what}: topology {} has no {name}; leave it out",
                    topology.name()
                )));
            }
        }
        Ok(())
    }
}

fn refuse(problem: String) -> Error {
    Error::Option { option: EXTERNAL, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK: &str = r#"{"scale": 0.5,
        "hosts": {"w": {"namespace": "/proc/1/ns/net", "interface": "w-eth0"},
                  "s": {"namespace": "/proc/2/ns/net", "interface": "s-eth0"}},
        "switches": {"v": {"address": "127.0.0.1:9559", "device_id": 0}}}"#;

    fn topology(more: &str) -> Topology {
        let text = format!(
            "{{name: pair, nodes: [{{name: v, kind: switch}}, {{name: s, kind: server}}, {{name: w, kind: worker}}{more}],
              links: [{{ends: [w, v], rate: 3 Gbps}}, {{ends: [s, v], rate: 3 Gbps}}]}}"
        );
        Topology::from_yaml(&text).expect("valid")
    }

    #[test]
    fn names_have_to_be_the_topologys() {
        let network = ExternalTestbed::from_json(NETWORK).expect("valid");
        assert!(network.validate(&topology("")).is_ok());
        let refusal_of = |text: &str| {
            let network = ExternalTestbed::from_json(text);
            network.and_then(|network| network.validate(&topology(""))).expect_err(text).to_string()
        };
        for (from, to, named) in [
            ("\"w\"", "\"w9\"", "external testbed: hosts: w of topology pair is missing"),
            (
                "\"v\": {",
                "\"v\": {\"address\": \"127.0.0.1:1\", \"device_id\": 1}, \"x\": {",
                "switches: topology pair has no x",
            ),
            ("0.5", "7", "scale"),
            ("\"interface\"", "\"inteface\"", "inteface"),
            ("0.5,", "", "external testbed: "),
        ] {
            let message = refusal_of(&NETWORK.replacen(from, to, 1));
            assert!(message.contains(named), "{message}");
        }
    }
}
