//! Switches as the doctor reads them: counters, traffic by port, tables.

use std::collections::BTreeMap;
use std::time::Duration;

use inart_controller::{Controller, InstallError, JobPlan, PortMap, Records};
use inart_tables::{PortNo, SwitchTables};
use inart_targets::{
    Access, Endpoint, Memory, Program, Running, Session, SwitchCounters, SwitchError, Traffic,
};
use inart_topologies::switched::Topology;
use inart_topologies::units::counted;

/// How long a switch may take to answer.
pub const TIMEOUT: Duration = Duration::from_secs(1);

pub type Answers<T> = BTreeMap<String, Result<T, String>>;

/// Opens read-only sessions with the switches that run our program.
pub async fn connect(places: BTreeMap<String, Endpoint>, program: &dyn Program) -> Answers<Box<dyn Session>> {
    let all = places.into_iter().map(async |(name, place)| {
        let place = Endpoint { timeout: TIMEOUT, ..place };
        let connected = async {
            let mut session = program.open(place, Access::Read).await?;
            let running = session.running().await?;
            Ok::<_, SwitchError>((session, running))
        };
        let answer = match tokio::time::timeout(2 * TIMEOUT, connected).await {
            Err(_) => Err(format!("does not answer within {TIMEOUT:?}; is its process stopped?")),
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok((session, Running::Ours))) => Ok(session),
            Ok(Ok((_, Running::Nothing))) => {
                Err("runs no program: push the plan, or start `inart controller`".into())
            }
            Ok(Ok((_, Running::Other))) => Err("runs another program".into()),
        };
        (name, answer)
    });
    futures::future::join_all(all).await.into_iter().collect()
}

/// Data to read from a switch.
pub trait Reading {
    type Output;
    async fn read(&self, session: &mut dyn Session) -> Result<Self::Output, SwitchError>;
}

/// The counters.
pub struct Counters;
/// The tables.
pub struct Tables;
/// Frames that arrived at these ports.
pub struct Arrivals<'a>(pub &'a [PortNo]);

impl Reading for Arrivals<'_> {
    type Output = Traffic;
    async fn read(&self, session: &mut dyn Session) -> Result<Traffic, SwitchError> {
        session.traffic(self.0).await
    }
}

/// Ports beyond the last one of the topology that are watched, too: a cable may be in one of them.
const MORE_PORTS: usize = 16;

/// Returns the ports at which frames may arrive.
pub fn watched_ports(ports: &PortMap, most: u16) -> Vec<PortNo> {
    let last = ports.switches().flat_map(|switch| ports.ports(switch)).map(|(port, _)| port.get()).max();
    let count = (usize::from(last.unwrap_or(0)) + MORE_PORTS).min(usize::from(most));
    (0..count).filter_map(PortNo::nth).collect()
}

impl Reading for Counters {
    type Output = SwitchCounters;
    async fn read(&self, session: &mut dyn Session) -> Result<SwitchCounters, SwitchError> {
        session.counters().await
    }
}

impl Reading for Tables {
    type Output = SwitchTables;
    async fn read(&self, session: &mut dyn Session) -> Result<SwitchTables, SwitchError> {
        session.read().await
    }
}

/// Reads from all switches at once.
pub async fn read_all<R: Reading>(
    sessions: &mut Answers<Box<dyn Session>>,
    reading: R,
) -> Answers<R::Output> {
    let reading = &reading;
    let all = sessions.iter_mut().map(async |(name, session)| {
        let answer = match session {
            Err(why) => Err(why.clone()),
            Ok(session) => match tokio::time::timeout(2 * TIMEOUT, reading.read(&mut **session)).await {
                Err(_) => Err(format!("does not answer within {:?}; is its process stopped?", 2 * TIMEOUT)),
                Ok(answer) => answer.map_err(|error| error.to_string()),
            },
        };
        (name.clone(), answer)
    });
    futures::future::join_all(all).await.into_iter().collect()
}

/// Differences between the switches' rows and the plans, in both directions.
pub async fn differences(
    topology: &Topology,
    program: &dyn Program,
    records: Records,
    tables: Answers<SwitchTables>,
    jobs: &[JobPlan],
) -> anyhow::Result<Vec<String>> {
    let mut held = BTreeMap::new();
    let mut known = Vec::new();
    for (name, answer) in tables {
        let mut switch = Memory::new(program.limits());
        if let Ok(tables) = answer {
            (switch.running, switch.tables) = (Running::Ours, tables);
            known.push(name.clone());
        }
        held.insert(name, switch);
    }
    let mut controller =
        Controller::new(topology.clone(), program.values(), program.limits(), held, records)?;
    let report = match controller.preview(jobs).await {
        Ok(report) => report,
        // The network has changed since that plan was pushed.
        Err(error @ (InstallError::Check { .. } | InstallError::Peers(_))) => {
            return Ok(vec![error.to_string()]);
        }
        Err(error) => return Err(error.into()),
    };
    let names = controller.names(jobs);
    let differing =
        report.switches.iter().filter(|(name, change)| known.contains(name) && !change.updates.is_empty());
    let of = if jobs.is_empty() { "network of peers" } else { "plan" };
    let said = differing.map(|(name, change)| {
        let first = names.describe(name, &change.updates[0]);
        format!(
            "switch {name}: its tables differ from the {of} in {}, such as \"{first}\"; `inart diff` lists them, \
             `inart controller` repairs them",
            counted(change.updates.len(), "place")
        )
    });
    Ok(said.collect())
}
