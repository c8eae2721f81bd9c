//! Session with a P4Runtime server.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use inart_p4::Outcome;
use inart_p4runtime::{
    Client, ClientError, Code, DeviceId, ElectionId, Entry, OwnError, Pipeline, PipelineAction,
};
use inart_tables::{
    DEFAULTS, Foreign, GroupId, PortNo, Steer, SwitchTables, Table, TableSpec, Update, Updates,
};

use super::ports;
use super::program::Compiled;
use super::rows;
use crate::counters::{Counts, PortTraffic, SwitchCounters, Traffic};
use crate::endpoint::{Access, Endpoint, Precedence};
use crate::error::SwitchError;
use crate::target::{Running, Session};

/// Updates per request: keeps messages well below gRPC's usual limit of 4 MiB.
const BATCH: usize = 1000;

/// Counters by port, in the order of [`PortTraffic`].
const PORT_COUNTERS: [&str; 4] = ["ingress_inart", "ingress_others", "egress_inart", "egress_others"];

/// Switch behind a P4Runtime server. The precedence is the election id.
pub struct P4Runtime {
    client: Client,
    program: Compiled,
}

impl P4Runtime {
    /// Connects, and becomes primary according to `access`.
    pub(super) async fn open(
        program: Compiled,
        place: Endpoint,
        access: Access,
    ) -> Result<Self, SwitchError> {
        let election = match access {
            Access::Read => None,
            Access::Write(precedence) | Access::Resume(precedence) => Some(ElectionId(precedence.0)),
        };
        let timeout = place.timeout;
        let client = Client::connect(target(place, election)).await.map_err(switch_error)?;
        match access {
            Access::Read => {}
            Access::Write(_) => client.wait_primary(timeout).await.map_err(switch_error)?,
            // The device's first report on the election has arrived already.
            Access::Resume(_) => client.wait_primary(Duration::ZERO).await.map_err(switch_error)?,
        }
        Ok(P4Runtime { client, program })
    }

    /// Returns the greatest election id that the device has seen in the default role.
    pub(super) async fn greatest(place: Endpoint) -> Result<Option<Precedence>, SwitchError> {
        let client = Client::connect(target(place, None)).await.map_err(switch_error)?;
        Ok(client.arbitration().greatest.map(|id| Precedence(id.0)))
    }

    /// Returns the entries of a table with their counters; none if a user's own program lacks the table.
    async fn read_counted(&self, table: &'static TableSpec) -> Result<Vec<Entry>, SwitchError> {
        match self.program.specs().contains(&table) {
            true => self.client.read_table(table.name).await.map_err(switch_error),
            false => Ok(Vec::new()),
        }
    }

    async fn read_counter(&self, name: &str) -> Result<Vec<Counts>, SwitchError> {
        let cells = self.client.read_counter(name).await.map_err(switch_error)?;
        Ok(cells.into_iter().map(Counts::from).collect())
    }
}

impl From<inart_p4runtime::Counts> for Counts {
    fn from(counts: inart_p4runtime::Counts) -> Self {
        Counts { packets: counts.packets, bytes: counts.bytes }
    }
}

/// Returns the device at an endpoint, for a client with that election id.
fn target(place: Endpoint, election: Option<ElectionId>) -> inart_p4runtime::Target {
    let Endpoint { address, device, security, timeout, .. } = place;
    let target = inart_p4runtime::Target::new(address, DeviceId(device));
    inart_p4runtime::Target { security, election, timeout, ..target }
}

/// Converts a client's error; its text has place and fix.
fn switch_error(error: ClientError) -> SwitchError {
    let text = error.to_string();
    match error {
        ClientError::Own(OwnError::NotPrimary { asked, greatest, .. }) if greatest > asked => {
            SwitchError::Superseded(text)
        }
        ClientError::Connect { .. }
        | ClientError::Tls { .. }
        | ClientError::Refused { .. }
        | ClientError::Timeout { .. }
        | ClientError::Rpc {
            code: Code::Unavailable | Code::Unknown | Code::Cancelled | Code::Internal,
            ..
        } => SwitchError::Unreachable(text),
        _ => SwitchError::Refused(text),
    }
}

impl Session for P4Runtime {
    fn precedence(&self) -> Option<Precedence> {
        self.client.target().election.map(|id| Precedence(id.0))
    }

    fn running(&mut self) -> BoxFuture<'_, Result<Running, SwitchError>> {
        async {
            if self.client.pipeline_cookie().await.map_err(switch_error)? == Some(self.program.cookie()) {
                self.client.set_schema(self.program.schema().clone());
                return Ok(Running::Ours);
            }
            let ours = self.program.pipeline();
            Ok(match self.client.pipeline().await.map_err(switch_error)? {
                None => Running::Nothing,
                Some(pipeline) if pipeline.device_config.is_empty() => Running::Nothing,
                Some(Pipeline { p4info, device_config, .. })
                    if p4info == ours.p4info && device_config == ours.device_config =>
                {
                    Running::Ours
                }
                Some(_) => Running::Other,
            })
        }
        .boxed()
    }

    fn load_program(&mut self) -> BoxFuture<'_, Result<(), SwitchError>> {
        let pipeline = Some(self.program.pipeline());
        let set = self.client.set_pipeline(PipelineAction::VerifyAndCommit, pipeline);
        set.map(|set| set.map_err(switch_error)).boxed()
    }

    fn read(&mut self) -> BoxFuture<'_, Result<SwitchTables, SwitchError>> {
        async {
            let mut tables = SwitchTables::default();
            for table in self.program.specs() {
                for entry in self.client.read_table(table.name).await.map_err(switch_error)? {
                    tables.add_row(&rows::row(table, &entry)?)?;
                }
            }
            for table in DEFAULTS {
                if let Some(entry) = self.client.read_default(table.name).await.map_err(switch_error)? {
                    tables.add_row(&rows::row(table, &entry)?)?;
                }
            }
            for group in self.client.read_multicast_groups().await.map_err(switch_error)? {
                let place = format!("multicast group {}", group.multicast_group_id);
                let number = u16::try_from(group.multicast_group_id);
                let number = number.map_err(|_| Foreign::new(&place, "the number has more than 16 bits"))?;
                let port = |port: Option<u32>| -> Result<PortNo, Foreign> {
                    let port = port.and_then(|port| ports::port_of(port.into()));
                    port.ok_or_else(|| Foreign::new(&place, "a port that no switch has"))
                };
                let ports = group.replicas.iter().map(|replica| port(replica.port_number()));
                tables.groups.insert(GroupId(number), ports.collect::<Result<_, _>>()?);
            }
            Ok(tables)
        }
        .boxed()
    }

    fn write<'a>(&'a mut self, updates: &'a [Update]) -> BoxFuture<'a, Result<(), SwitchError>> {
        async {
            let schema = self.client.schema().map_err(switch_error)?;
            for batch in updates.chunks(BATCH) {
                let batch: Result<_, _> = batch.iter().map(|update| rows::update(&schema, update)).collect();
                self.client.write(batch?).await.map_err(switch_error)?;
            }
            Ok(())
        }
        .boxed()
    }

    fn counters(&mut self) -> BoxFuture<'_, Result<SwitchCounters, SwitchError>> {
        async {
            let (drops, outcomes) = (self.read_counter("drops").await?, self.read_counter("outcomes").await?);
            let unwanted = self.read_counter("unwanted").await?;
            let (mut steer, mut updates) = (BTreeMap::new(), BTreeMap::new());
            for entry in self.read_counted(Steer::SPEC).await? {
                let (key, action) = Steer::entry(&rows::row(Steer::SPEC, &entry)?)?;
                steer.insert(key, (action, entry.counter.unwrap_or_default().into()));
            }
            for entry in self.read_counted(Updates::SPEC).await? {
                let (key, _) = Updates::entry(&rows::row(Updates::SPEC, &entry)?)?;
                updates.insert(key, entry.counter.unwrap_or_default().into());
            }
            Ok(SwitchCounters { drops, outcomes, steer, updates, unwanted })
        }
        .boxed()
    }

    fn traffic<'a>(&'a mut self, ports: &'a [PortNo]) -> BoxFuture<'a, Result<Traffic, SwitchError>> {
        async move {
            let known = ports.iter().filter_map(|&port| Some((port, ports::number(port)?)));
            let known: Vec<(PortNo, u64)> = known.collect();
            let of_port = |&(_, number): &(PortNo, u64)| PORT_COUNTERS.map(|name| (name, number as i64));
            let outcomes = (0..Outcome::ALL.len()).map(|index| ("outcomes", index as i64));
            let cells: Vec<_> = known.iter().flat_map(of_port).chain(outcomes).collect();
            let counts: Vec<Counts> = self
                .client
                .read_cells(&cells)
                .await
                .map_err(switch_error)?
                .into_iter()
                .map(Counts::from)
                .collect();
            let (of_ports, outcomes) = counts.split_at(known.len() * PORT_COUNTERS.len());
            let ports = known.iter().zip(of_ports.chunks(PORT_COUNTERS.len()));
            let ports = ports.map(|(&(port, _), counts)| {
                let at = |n: usize| counts.get(n).copied().unwrap_or_default();
                let (ours_in, others_in, ours_out, others_out) = (at(0), at(1), at(2), at(3));
                (port, PortTraffic { ours_in, others_in, ours_out, others_out })
            });
            Ok(Traffic { ports: ports.collect(), outcomes: outcomes.to_vec() })
        }
        .boxed()
    }

    fn lost(&mut self) -> BoxFuture<'_, SwitchError> {
        self.client.lost().map(switch_error).boxed()
    }
}
