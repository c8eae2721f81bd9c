//! Participants that vanish and return.

use inart_topologies::faults::quantity::Span;
use inart_topologies::faults::{Step, Victim};
use inart_topologies::switched::NodeId;

/// Temporary absence of a participant: its computations and transfers are lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Absence {
    /// Position among the job's participants.
    pub participant: usize,
    /// Start, in seconds.
    pub from_s: f64,
    /// End, in seconds; `None` for a permanent absence.
    pub until_s: Option<f64>,
    /// Whether the server is notified at the start, as by a broken connection; otherwise it must time out.
    pub is_noticed: bool,
}

impl Absence {
    /// Returns the absences of a job's participants, by position, in the steps of a schedule. Other faults
    /// are left out.
    pub fn all(steps: &[(Span, Step)], participants: &[NodeId], is_noticed: bool) -> Vec<Absence> {
        let mut all: Vec<Absence> = Vec::new();
        for (at, step) in steps {
            let (host, starts) = match *step {
                Step::Kill(Victim::Host(host)) => (host, false),
                Step::Start(Victim::Host(host)) => (host, true),
                _ => continue,
            };
            let Some(participant) = participants.iter().position(|own| *own == host) else { continue };
            let at_s = at.duration().as_secs_f64();
            let open =
                |absence: &&mut Absence| absence.participant == participant && absence.until_s.is_none();
            match (starts, all.iter_mut().find(open)) {
                (true, Some(absence)) => absence.until_s = Some(at_s),
                (false, None) => all.push(Absence { participant, from_s: at_s, until_s: None, is_noticed }),
                _ => {}
            }
        }
        all
    }
}
