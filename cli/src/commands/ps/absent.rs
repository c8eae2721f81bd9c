//! Participants that vanish: `--absent NAME=FROM..UNTIL`.

use anyhow::{Context, ensure};
use inart_simulator_ps::{Absence, CAPABILITIES};
use inart_topologies::faults::quantity::Span;
use inart_topologies::faults::{FaultEvent, Faults, Schedule};
use inart_topologies::ps::Job;
use inart_topologies::switched::{NodeId, Topology};

use crate::commands::values::seconds;

/// An absence of `--absent`: name, start and end.
#[derive(Debug, Clone)]
pub struct Absent {
    name: String,
    from_s: f64,
    until_s: Option<f64>,
}

const FORM: &str = "write NAME=FROM..UNTIL, like w3=20s..60s, or NAME=FROM.. for good";

impl std::str::FromStr for Absent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, times) = text.split_once('=').ok_or(FORM)?;
        let (from, until) = times.split_once("..").ok_or(FORM)?;
        let time = |text: &str| seconds(text).map_err(|_| FORM.to_owned());
        let until_s = if until.is_empty() { None } else { Some(time(until)?) };
        let from_s = time(from)?;
        if until_s.is_some_and(|until_s| until_s <= from_s) {
            return Err(FORM.to_owned());
        }
        Ok(Absent { name: name.to_owned(), from_s, until_s })
    }
}

/// Warns of absences that begin after the end of the run.
pub fn warn_late(absent: &[Absent], end_s: f64) {
    crate::commands::late::warn("absent", absent.iter().filter(|one| one.from_s > end_s).count(), end_s);
}

impl Absent {
    /// Returns the name of the absent participant.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the absence as an event of a fault schedule.
    pub fn event(&self) -> FaultEvent {
        let span = |seconds: f64| Span((seconds * 1e9).round() as u64);
        let Absent { name, from_s, until_s } = self;
        FaultEvent {
            at: span(*from_s),
            lasts: until_s.map(|until_s| span(until_s - from_s)),
            crash: Some(name.clone()),
            ..FaultEvent::default()
        }
    }

    /// Whether it ends.
    pub fn ends(&self) -> bool {
        self.until_s.is_some()
    }
}

/// Refuses two absences of one participant at the same time.
pub fn disjoint(absent: &[Absent]) -> anyhow::Result<()> {
    for (at, one) in absent.iter().enumerate() {
        for other in absent[..at].iter().filter(|other| other.name == one.name) {
            let is_before = |a: &Absent, b: &Absent| a.until_s.is_some_and(|until_s| until_s < b.from_s);
            ensure!(
                is_before(one, other) || is_before(other, one),
                "--absent {}: two of its absences overlap or touch; give one for both",
                one.name
            );
        }
    }
    Ok(())
}

/// Returns the absences of a job's participants, as predictions take them. `is_noticed`: the server is
/// notified, instead of timing the participant out.
pub fn absences(
    topology: &Topology,
    job: &Job,
    absent: &[Absent],
    is_noticed: bool,
) -> anyhow::Result<Vec<Absence>> {
    disjoint(absent)?;
    let planned = topology.jobs().iter().find(|planned| planned.name == job.name);
    let participants: &[NodeId] = planned.map_or(&[], |planned| &planned.workers);
    let mut all = Vec::new();
    for one in absent {
        let place = || format!("--absent {}: job {}", one.name, job.name);
        let faults = Faults { events: vec![one.event()], ..Faults::default() };
        let schedule = Schedule::new(topology, &faults, &CAPABILITIES).with_context(place)?;
        let found = Absence::all(&schedule.steps, participants, is_noticed);
        ensure!(!found.is_empty(), "{} has no such participant; name one of its workers or clients", place());
        all.extend(found);
    }
    Ok(all)
}
