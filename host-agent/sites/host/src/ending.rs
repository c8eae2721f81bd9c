//! Counters of a site at its end.

use inart_protocol_sites::Counters;
use inart_sites_agent::AgentCounters;

/// Counters of a site at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Counters of its state machine.
    pub site: Counters,
    /// Counters of its driver.
    pub agent: AgentCounters,
    /// Counters of its connections.
    pub connections: inart_quic::Counters,
}

impl Ending {
    /// Returns the number of dropped or refused messages by reason, without reasons that never occurred.
    pub fn dropped(&self) -> Vec<(&'static str, u64)> {
        let Ending { site, agent, connections } = self;
        let all = [
            ("connections_refused", connections.refused),
            ("connections_of_unknown_senders", connections.unknown_senders),
            ("messages_too_long", connections.too_long),
            ("messages_too_many", connections.too_many),
            ("messages_malformed", agent.malformed),
            ("messages_of_unknown_senders", agent.unknown_senders),
            ("messages_in_anothers_name", agent.impostors),
            ("answers_not_asked_for", agent.unasked),
            ("messages_without_a_link", agent.astray),
            ("chunks_for_others_too_many", agent.crowded),
            ("plans_refused", agent.refused_offers),
            ("chunks_of_rounds_over", site.late),
            ("chunks_of_rounds_ahead", site.ahead),
            ("chunks_by_another_plan", site.other_policy),
            ("chunks_of_nobody", site.strange),
            ("chunks_twice", site.repeated),
            ("chunks_without_a_way", site.lost),
            ("questions_unanswerable", site.unanswerable),
            ("states_with_a_wrong_digest", agent.wrong_states),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}
