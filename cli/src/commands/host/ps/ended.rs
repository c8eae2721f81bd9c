//! How a server's process ends.

use std::path::PathBuf;

use inart_protocol_ps::SyncModel;
use inart_ps_agent::{InGroups, InOrder, Sequencer, ServerCounters};
use inart_ps_host::{Connections, Job};
use inart_report::{ConnectionCounts, Line, PsServerEnd};
use inart_topologies::units::counted;

/// Counters of the server's agent and of its connections.
pub type Host = (ServerCounters, Connections);

/// Checkpoint from which a server resumed.
#[derive(Debug, Clone)]
pub struct Resumed {
    pub path: PathBuf,
    pub version: u64,
    /// Updates that the checkpoint includes, applied or discarded.
    pub updates: u64,
}

impl Resumed {
    /// Returns the text for people.
    pub fn text(&self) -> String {
        let Resumed { path, version, updates } = self;
        format!(
            "resumed from {} at version {version}: {updates} applied",
            path.display(),
            updates = counted(*updates, "update")
        )
    }

    /// Returns the event of a line.
    pub fn event(&self) -> Line {
        let Resumed { path, version, updates } = self;
        Line::Resumed { resumed: path.display().to_string(), from_version: *version, updates: *updates }
    }
}

/// Summary of a server at its end.
pub struct Ended {
    host: Host,
    resumed: Option<Resumed>,
    version: u64,
    accuracy: f64,
    /// Updates, or models of clients.
    applied: u64,
    refused: u64,
    given_up: u64,
    relaxation: Option<f64>,
    groups: Option<Groups>,
}

/// Counters of groups.
struct Groups {
    late: u64,
    repeated: u64,
    excluded: u64,
    rounds_unscored: u64,
    left_out: Vec<String>,
}

impl Ended {
    /// Returns the summary of a job of workers.
    pub fn in_order(sequencer: &InOrder<SyncModel>, host: Host, accuracy: f64) -> Self {
        let order = sequencer.server().counters();
        Ended {
            version: sequencer.version(),
            accuracy,
            applied: order.applied,
            refused: order.other_model + order.not_finite,
            given_up: order.silent + host.0.absent,
            relaxation: Some(sequencer.server().relaxation().as_f64()),
            groups: None,
            host,
            resumed: None,
        }
    }

    /// Returns the summary of a job of clients in groups.
    pub fn in_groups(sequencer: &InGroups, host: Host, job: &Job, accuracy: f64) -> Self {
        let counters = sequencer.server().counters();
        let left_out = sequencer.left_out().iter().filter_map(|client| job.workers.get(client.index()));
        Ended {
            version: sequencer.version(),
            accuracy,
            applied: counters.aggregated,
            refused: counters.other_model + counters.not_finite,
            given_up: counters.silent + host.0.absent,
            relaxation: None,
            groups: Some(Groups {
                late: counters.late,
                repeated: counters.repeated,
                excluded: counters.excluded,
                rounds_unscored: counters.rounds_unscored,
                left_out: left_out.cloned().collect(),
            }),
            host,
            resumed: None,
        }
    }

    /// Adds the checkpoint from which the server resumed.
    pub fn resumed(self, resumed: Option<Resumed>) -> Self {
        Ended { resumed, ..self }
    }

    fn dropped(&self) -> u64 {
        let ServerCounters {
            repeated,
            unasked,
            malformed,
            stale_incarnation,
            pulls_repeated,
            not_permitted,
            ..
        } = self.host.0;
        repeated + unasked + malformed + stale_incarnation + pulls_repeated + not_permitted
    }

    /// Returns the event of a line.
    pub fn event(&self) -> Line {
        let ((agent, connections), groups) = (&self.host, self.groups.as_ref());
        Line::PsServerEnded(Box::new(PsServerEnd {
            version: self.version,
            accuracy: self.accuracy,
            applied_updates: self.applied,
            refused: self.refused,
            given_up: self.given_up,
            relaxation: self.relaxation,
            dropped: self.dropped(),
            repeated: agent.repeated,
            unasked: agent.unasked,
            malformed: agent.malformed,
            stale_incarnation: agent.stale_incarnation,
            other_model: agent.other_model,
            unknown_senders: connections.unknown_senders,
            connections: connection_counts(connections),
            resumed_from_version: self.resumed.as_ref().map(|resumed| resumed.version),
            late: groups.map(|groups| groups.late),
            repeated_rounds: groups.map(|groups| groups.repeated),
            excluded: groups.map(|groups| groups.excluded),
            rounds_unscored: groups.map(|groups| groups.rounds_unscored),
            left_out: groups.map(|groups| groups.left_out.clone()),
        }))
    }

    /// Returns the text for people.
    pub fn text(&self) -> String {
        let what = if self.groups.is_some() { "models of clients" } else { "updates" };
        let mut out = format!(
            "accuracy {:.1}%; version {}, {} {what} applied, {} refused, {}, {} dropped",
            self.accuracy * 100.0,
            self.version,
            self.applied,
            self.refused,
            counted(self.given_up, "eviction"),
            counted(self.dropped(), "packet")
        );
        if let Some(resumed) = &self.resumed {
            out += &format!("; {}", resumed.text());
        }
        if let Some(groups) = &self.groups {
            out += &format!("; {} came after their round", groups.late);
            if !groups.left_out.is_empty() {
                out += &format!("; left out for their data: {}", groups.left_out.join(", "));
            }
        }
        out
    }
}

/// Returns the counts of connections, as lines have them.
pub fn connection_counts(connections: &Connections) -> ConnectionCounts {
    let Connections { unknown_senders, malformed, ended, frames, .. } = connections;
    ConnectionCounts {
        ended: *ended,
        unknown_senders: *unknown_senders,
        malformed: malformed + frames.malformed,
        repeated: frames.repeated,
        sent_again: frames.sent_again,
        other_connection: frames.other_connection,
    }
}
