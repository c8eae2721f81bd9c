//! The entries of a document: their keys, types and kinds.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::Deserialize;

use super::at::At;
use super::field::Field;
use super::keys::{Key, keys};
use super::part::Part;
use crate::kind::Kind;
use crate::switch_port::SwitchPort;
use crate::trace::Trace;
use crate::units::{Rate, RatePair, Seconds, Size};

/// How the tensors of a job are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sum {
    /// The sums of the floats, rounded once.
    Exact,
}

impl Field for Sum {
    fn yaml(&self) -> String {
        "exact".to_owned()
    }
    fn json(&self) -> serde_json::Value {
        self.yaml().into()
    }
}

keys! {
    /// A node.
    NodeEntry, "nodes", {
        name: String, [Switched, Sites, Peers], "unique name, without blanks";
        kind: String, [Switched, Sites, Peers], "`switch`, `server` or `worker`; `site`; `peer` or `switch`";
        site: String, [Sites], "the site that a switch or a worker is inside";
        aggregation: Rate, [Switched], "sum of the rates that a switch can add up; 0 if left out";
        ingress: Rate, [Switched], "rate that a server can take in; as its links if left out";
        board: String, [Switched], "board of a switch, which names its ports";
    }
}

keys! {
    /// A link.
    LinkEntry, "links", {
        ends: [String; 2], [Switched, Sites, Peers], "the two nodes";
        rate: RatePair<Rate>, [Switched, Sites, Peers],
            "one rate for both directions, or `[first end to second, back]`";
        delay: Seconds, [Switched, Sites, Peers], "propagation delay; 0 if left out";
        loss: Part, [Switched, Sites, Peers], "part of the packets that is lost, like `0.02%`; 0 if left out";
        mtu: i64, [Switched], "longest frame in bytes, without the Ethernet header; the network's if left out";
        ports: IndexMap<String, SwitchPort>, [Switched], "port of each end that is a switch, like `{v1: 9/0}`";
    }
}

keys! {
    /// Other traffic.
    BackgroundEntry, "background", {
        link: [String; 2], [Switched], "direction of a link, from the first node to the second";
        node: String, [Switched], "a switch or a server, instead of a link";
        rate: Rate, [Switched], "rate of the other traffic";
    }
}

keys! {
    /// How the rate of one direction of a link changes.
    TraceEntry, "traces", {
        link: [String; 2], [Sites, Peers], "direction of a link, from the first node to the second";
        every: Seconds, [Sites, Peers], "time that each rate holds";
        rates: Vec<Rate>, [Sites, Peers], "rates that follow each other; the last one holds on";
    }
}

keys! {
    /// How long something takes: a distribution that is log-normal.
    TimeEntry, "compute", {
        mean: Seconds, [Switched, Peers], "mean time";
        cv: f64, [Switched, Peers], "coefficient of variation; 0 if left out";
        speed: f64, [Switched], "samples per second of a batch beyond the first one";
    }
}

keys! {
    /// A job.
    JobEntry, "jobs", {
        name: String, [Switched, Sites, Peers], "unique name, without blanks";
        workers: Vec<String>, [Switched], "workers; all if left out";
        clients: Vec<String>, [Switched], "clients of federated training, instead of workers";
        servers: Vec<String>, [Switched], "parameter servers; all if left out";
        sites: Vec<String>, [Sites], "sites; all if left out";
        peers: Vec<String>, [Peers], "peers; all if left out";
        gradient: Size, [Switched, Sites], "size of the gradient";
        tensors: Vec<Size>, [Sites], "sizes of the tensors, instead of `gradient`";
        chunk: Size, [Sites], "longest chunk; 4 MB if left out";
        sum: Sum, [Switched], "`exact`: sums of the floats, rounded once";
        elastic: bool, [Switched], "whether hosts may join and leave while the job runs";
        receivers: i64, [Peers], "fewest receivers of an update";
        update: Size, [Peers], "size of each update";
        updates: BTreeMap<String, Size>, [Peers], "sizes of the updates of some peers";
        required: Vec<[String; 2]>, [Peers], "pairs `[sender, receiver]` of the next round";
        waited: Vec<(String, String, i64)>, [Peers], "rounds since a sender last sent to a receiver";
        compute: TimeEntry, [Switched, Peers], "time to compute, like `{mean: 700 ms, cv: 0.05}`";
        computes: BTreeMap<String, TimeEntry>, [Switched, Peers], "times to compute of some hosts";
        batch: i64, [Switched], "samples of a batch; 1 if left out";
        batches: BTreeMap<String, i64>, [Switched], "batches of some hosts";
        pause: TimeEntry, [Switched], "time that a client waits before each push";
    }
}

/// The entries of a section, with their lines.
pub type Section<E> = Option<At<Vec<At<E>>>>;

impl<E: Field> Field for At<E> {
    fn yaml(&self) -> String {
        self.value.yaml()
    }
    fn json(&self) -> serde_json::Value {
        self.value.json()
    }
}

keys! {
    /// A document.
    Document, "network", {
        name: String, [Switched, Sites, Peers], "name of the network";
        mtu: i64, [Switched], "MTU of links that state none, in bytes; 1500 if left out";
        nodes: Vec<At<NodeEntry>>, [Switched, Sites, Peers], "the nodes";
        links: Vec<At<LinkEntry>>, [Switched, Sites, Peers], "the links";
        background: Vec<At<BackgroundEntry>>, [Switched], "traffic that is not of the jobs";
        traces: Vec<At<TraceEntry>>, [Sites, Peers], "rates of links that change";
        jobs: Vec<At<JobEntry>>, [Switched, Sites, Peers], "the jobs; of switches, one of all hosts if left out";
    }
}

impl NodeEntry {
    /// A node of a kind, without any other key.
    pub fn new(name: impl Into<String>, kind: &str) -> Self {
        let (name, kind) = (Some(At::new(name.into())), Some(At::new(kind.to_owned())));
        NodeEntry { name, kind, ..Self::default() }
    }
}

impl LinkEntry {
    /// A link with its rates in bit/s, from its first end to its second and back.
    pub fn new(ends: [impl Into<String>; 2], rates_bps: [f64; 2]) -> Self {
        let rate = Some(At::new(RatePair(rates_bps.map(Rate))));
        LinkEntry { ends: Some(At::new(ends.map(Into::into))), rate, ..Self::default() }
    }

    /// The link with a delay in seconds, if that is above 0.
    pub fn with_delay(self, seconds: f64) -> Self {
        LinkEntry { delay: (seconds > 0.0).then(|| At::new(Seconds(seconds))), ..self }
    }

    /// The link with a part of the packets lost, if that is above 0.
    pub fn with_loss(self, part: f64) -> Self {
        LinkEntry { loss: (part > 0.0).then(|| At::new(Part(part))), ..self }
    }
}

impl TraceEntry {
    /// The trace of a direction.
    pub fn new(link: [String; 2], trace: &Trace) -> Self {
        TraceEntry {
            link: Some(At::new(link)),
            every: Some(At::new(Seconds(trace.every_seconds))),
            rates: Some(At::new(trace.rates_bps.iter().map(|bps| Rate(*bps)).collect())),
        }
    }
}

impl TimeEntry {
    /// A mean in seconds and its coefficient of variation.
    pub fn new(mean_seconds: f64, cv: f64) -> Self {
        TimeEntry { mean: Some(At::new(Seconds(mean_seconds))), cv: Some(At::new(cv)), speed: None }
    }
}

/// Entries that were not read, as a section.
pub fn section<E>(entries: impl IntoIterator<Item = E>) -> Section<E> {
    Some(At::new(entries.into_iter().map(At::new).collect()))
}
