//! The entries of a document: their keys, types and kinds.

use indexmap::IndexMap;
use serde::Deserialize;

use super::at::At;
use super::field::Field;
use super::keys::{Key, keys};
use super::part::Part;
use super::per_host::PerHost;
use crate::kind::Kind;
use crate::switch_port::SwitchPort;
use crate::trace::Trace;
use crate::units::{Rate, RatePair, Seconds, Size};

/// Number format of a job's sums.
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
        name: String, [Switched, Sites, Peers], "unique name, without blanks", "", "w1";
        kind: String, [Switched, Sites, Peers], "`switch`, `server` or `worker`; `site`; `peer` or `switch`",
            "", "switch";
        site: String, [Sites], "the site that a switch or a worker is inside", "", "n1";
        aggregation_capacity: Rate, [Switched], "sum of the rates that a switch can aggregate",
            "0", "80 Gbps";
        ingress_capacity: Rate, [Switched], "rate at which a server can receive",
            "as its links", "10 Gbps";
        board: String, [Switched], "board of a switch, which names its ports", "", "wedge100bf-32x";
    }
}

keys! {
    /// A link.
    LinkEntry, "links", {
        ends: [String; 2], [Switched, Sites, Peers], "the two nodes", "", "[w1, v1]";
        rate: RatePair<Rate>, [Switched, Sites, Peers],
            "one rate for both directions, or `[first end to second, back]`", "", "20 Mbps";
        delay: Seconds, [Switched, Sites, Peers], "propagation delay", "0", "30 ms";
        loss: Part, [Switched, Sites, Peers], "share of packets that is lost", "0", "0.02%";
        mtu: i64, [Switched], "longest frame in bytes, without the Ethernet header",
            "the network's", "9000";
        ports: IndexMap<String, SwitchPort>, [Switched], "port of each end that is a switch",
            "numbered in the order of links", "{v1: 9/0}";
    }
}

keys! {
    /// Other traffic.
    BackgroundEntry, "background", {
        link: [String; 2], [Switched], "direction of a link, from the first node to the second",
            "", "[v1, s1]";
        node: String, [Switched], "a switch or a server, instead of a link", "", "v1";
        rate: Rate, [Switched], "rate of the other traffic", "", "5 Gbps";
    }
}

keys! {
    /// Change of the rate of one direction of a link over time.
    TraceEntry, "traces", {
        link: [String; 2], [Sites, Peers], "direction of a link, from the first node to the second",
            "", "[n1, n2]";
        every: Seconds, [Sites, Peers], "time that each rate holds", "", "10 s";
        rates: Vec<Rate>, [Sites, Peers], "rates that follow each other; the last one stays", "",
            "[20 Mbps, 5 Mbps]";
    }
}

keys! {
    /// Log-normal distribution of a duration.
    TimeEntry, "compute", {
        mean: Seconds, [Switched, Peers], "mean time", "", "700 ms";
        cv: f64, [Switched, Peers], "coefficient of variation", "0", "0.05";
        samples_per_second: f64, [Switched], "samples per second of a batch beyond the first one",
            "`batch` / `mean`", "2000";
    }
}

keys! {
    /// A job.
    JobEntry, "jobs", {
        name: String, [Switched, Sites, Peers], "unique name, without blanks", "", "digits";
        workers: Vec<String>, [Switched], "workers", "all", "[w1, w2]";
        clients: Vec<String>, [Switched], "clients of federated training, instead of workers", "", "[w1, w2]";
        servers: Vec<String>, [Switched], "parameter servers", "all", "[s1]";
        sites: Vec<String>, [Sites], "sites", "all", "[n1, n2]";
        peers: Vec<String>, [Peers], "peers", "all", "[p1, p2]";
        gradient: Size, [Switched, Sites], "size of the gradient", "", "548 MB";
        tensors: Vec<Size>, [Sites], "sizes of the tensors, instead of `gradient`", "", "[4 MB, 90 KB]";
        chunk: Size, [Sites], "longest chunk", "4 MB", "1 MB";
        sum: Sum, [Switched], "`exact`: sums of the floats, rounded once", "fixed-point sums", "exact";
        elastic: bool, [Switched], "whether hosts may join and leave while the job runs", "false", "true";
        receivers: i64, [Peers], "fewest receivers of an update", "", "2";
        update: PerHost<Size>, [Peers], "size of each update", "",
            "{default: 200 MB, overrides: {p1: 100 MB}}";
        required_pairs: Vec<[String; 2]>, [Peers], "pairs `[sender, receiver]` of the next round", "none",
            "[[p1, p2]]";
        rounds_since_contact: Vec<(String, String, i64)>, [Peers], "rounds since a sender last sent to a receiver",
            "none", "[[p1, p2, 3]]";
        compute: PerHost<TimeEntry>, [Switched, Peers], "compute time", "",
            "{mean: 700 ms, cv: 0.05}";
        batch: PerHost<i64>, [Switched], "samples of a batch", "1", "{default: 32, overrides: {w1: 64}}";
        upload_delay: TimeEntry, [Switched], "time that a client waits before each push", "0", "{mean: 1 s}";
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
        name: String, [Switched, Sites, Peers], "name of the network", "", "fig1";
        mtu: i64, [Switched], "MTU of links that state none, in bytes", "1500", "9000";
        nodes: Vec<At<NodeEntry>>, [Switched, Sites, Peers], "the nodes", "",
            "[{name: v1, kind: switch}]";
        links: Vec<At<LinkEntry>>, [Switched, Sites, Peers], "the links", "",
            "[{ends: [w1, v1], rate: 1 Gbps}]";
        background: Vec<At<BackgroundEntry>>, [Switched], "traffic that is not of the jobs", "none",
            "[{node: v1, rate: 1 Gbps}]";
        traces: Vec<At<TraceEntry>>, [Sites, Peers], "rates of links that change", "none",
            "[{link: [n1, n2], every: 10 s, rates: [5 Mbps, 9 Mbps]}]";
        jobs: Vec<At<JobEntry>>, [Switched, Sites, Peers], "the jobs",
            "of switches: one job of all hosts", "[{name: j, gradient: 4 MB}]";
    }
}

impl NodeEntry {
    /// Creates a node of a kind, without any other key.
    pub fn new(name: impl Into<String>, kind: &str) -> Self {
        let (name, kind) = (Some(At::new(name.into())), Some(At::new(kind.to_owned())));
        NodeEntry { name, kind, ..Self::default() }
    }
}

impl LinkEntry {
    /// Creates a link with its rates in bit/s, from its first end to its second and back.
    pub fn new(ends: [impl Into<String>; 2], rates_bps: [f64; 2]) -> Self {
        let rate = Some(At::new(RatePair(rates_bps.map(Rate))));
        LinkEntry { ends: Some(At::new(ends.map(Into::into))), rate, ..Self::default() }
    }

    /// Returns the link with a delay in seconds, if that is above 0.
    pub fn with_delay(self, seconds: f64) -> Self {
        LinkEntry { delay: (seconds > 0.0).then(|| At::new(Seconds(seconds))), ..self }
    }

    /// Returns the link with a part of the packets lost, if that is above 0.
    pub fn with_loss(self, part: f64) -> Self {
        LinkEntry { loss: (part > 0.0).then(|| At::new(Part(part))), ..self }
    }
}

impl TraceEntry {
    /// Returns the trace of a direction.
    pub fn new(link: [String; 2], trace: &Trace) -> Self {
        TraceEntry {
            link: Some(At::new(link)),
            every: Some(At::new(Seconds(trace.every_seconds))),
            rates: Some(At::new(trace.rates_bps.iter().map(|bps| Rate(*bps)).collect())),
        }
    }
}

impl TimeEntry {
    /// Creates a mean in seconds and its coefficient of variation.
    pub fn new(mean_seconds: f64, cv: f64) -> Self {
        TimeEntry {
            mean: Some(At::new(Seconds(mean_seconds))),
            cv: Some(At::new(cv)),
            samples_per_second: None,
        }
    }
}

/// Entries that were not read, as a section.
pub fn section<E>(entries: impl IntoIterator<Item = E>) -> Section<E> {
    Some(At::new(entries.into_iter().map(At::new).collect()))
}
