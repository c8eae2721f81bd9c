//! Session with a BFRuntime server.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use inart_bfruntime::{
    Batch, Change, Client, ClientError, Code, Configs, DeviceId, Entry, Group, Info, OwnError, Program,
    Target,
};
use inart_p4::{Outcome, Reason};
use inart_tables::{
    DEFAULTS, Entity, Foreign, GroupId, Op, PortNo, Steer, SwitchTables, Table, TableSpec, Update, Updates,
};

use super::ports::Numbering;
use super::program::Compiled;
use super::slots::{self, Held};
use super::{cells, rows};
use crate::counters::{PortTraffic, SwitchCounters, Traffic};
use crate::endpoint::{Access, Endpoint, Precedence};
use crate::error::SwitchError;
use crate::target::{Running, Session};

/// Cells of counter `drops`: one per reason, and the first, which has no reason.
fn drops() -> (&'static str, Vec<u64>) {
    let reasons =
        Reason::ALL.iter().filter(|reason| reason.is_on_tofino()).map(|reason| reason.index() as u64);
    ("drops", std::iter::once(0).chain(reasons).collect())
}

/// Cells of counter `drops` in the program that copies updates, which has all reasons.
fn multicast_drops() -> (&'static str, Vec<u64>) {
    let reasons = Reason::ALL.iter().map(|reason| reason.index() as u64);
    ("drops", std::iter::once(0).chain(reasons).collect())
}

/// Cells of counter `outcomes`, one per outcome.
fn outcomes() -> (&'static str, Vec<u64>) {
    ("outcomes", (0..Outcome::ALL.len() as u64).collect())
}

/// Changes per request.
const BATCH: usize = 1000;

/// Counters by port, in the order of [`PortTraffic`].
const PORT_COUNTERS: [&str; 4] = ["ingress_inart", "ingress_others", "egress_inart", "egress_others"];

/// Switch behind a BFRuntime server.
pub struct BfRuntime {
    client: Client,
    program: Compiled,
    precedence: Option<Precedence>,
    /// Longest wait for a program that belongs to another client.
    patience: Duration,
    bound: bool,
    numbering: Numbering,
    /// Entries that aggregate, while known: no other client writes while this one is bound.
    held: Option<Held>,
}

impl BfRuntime {
    /// Connects; to write, becomes the client that the program belongs to, if the program runs.
    pub(super) async fn open(
        program: Compiled,
        place: Endpoint,
        access: Access,
    ) -> Result<Self, SwitchError> {
        let (timeout, numbering) = (place.timeout, Numbering::new(place.ports.clone()));
        let client = connect(place).await?;
        let (precedence, patience) = match access {
            Access::Read => (None, Duration::ZERO),
            // A resuming client also waits: the server may not know yet that the previous session has
            // ended.
            Access::Write(precedence) | Access::Resume(precedence) => (Some(precedence), timeout),
        };
        let mut session =
            BfRuntime { client, program, precedence, patience, bound: false, numbering, held: None };
        let configs = session.client.configs().await.map_err(switch_error)?;
        if precedence.is_some() && configs.program(&session.program.program().name).is_some() {
            session.bind().await?;
        }
        session.look_at(&configs)?;
        Ok(session)
    }

    async fn bind(&mut self) -> Result<(), SwitchError> {
        self.client.bind(&self.program.program().name, self.patience).await.map_err(switch_error)?;
        self.bound = true;
        Ok(())
    }

    /// Returns what runs; if it is ours, its names are known from then on.
    async fn look(&mut self) -> Result<Running, SwitchError> {
        let configs = self.client.configs().await.map_err(switch_error)?;
        self.look_at(&configs)
    }

    fn look_at(&self, configs: &Configs) -> Result<Running, SwitchError> {
        if configs.programs.is_empty() {
            return Ok(Running::Nothing);
        }
        let ours = self.program.program();
        let found = configs.program(&ours.name).filter(|found| is_same(ours, self.program.info(), found));
        if found.is_none() {
            return Ok(Running::Other);
        }
        self.know(configs)?;
        Ok(Running::Ours)
    }

    fn know(&self, configs: &Configs) -> Result<(), SwitchError> {
        let device = configs.device_info().map_err(|error| switch_error(error.into()))?;
        let info = self.program.info().with(&device).map_err(|error| switch_error(error.into()))?;
        self.client.use_program(&self.program.program().name, Arc::new(info));
        Ok(())
    }

    async fn write_all(&mut self, updates: &[Update]) -> Result<(), SwitchError> {
        // Only entries that aggregate can violate a constraint: without one, the held entries need not be
        // known.
        if self.held.is_none() && slots::adds_any(updates) {
            self.held = Some(self.read_held().await?);
        }
        let after = self.held.as_ref().map(|held| held.after(updates, &self.numbering));
        let after = after.transpose().map_err(SwitchError::Refused)?;
        // Unknown until all updates are written.
        self.held = None;
        self.write_batches(updates).await?;
        self.held = after;
        Ok(())
    }

    async fn write_batches(&self, updates: &[Update]) -> Result<(), SwitchError> {
        let mut batch = Vec::new();
        for update in updates {
            match update.item.entity() {
                Entity::Row(row) => {
                    let refused = |error: Foreign| SwitchError::Refused(error.to_string());
                    batch.push(change(update.op, rows::entry(row, &self.numbering).map_err(refused)?));
                    if batch.len() == BATCH {
                        self.flush(&mut batch).await?;
                    }
                }
                // In its position among the rows: rows that name it come after it, and are removed before
                // it.
                Entity::Group(id, ports) => {
                    self.flush(&mut batch).await?;
                    self.write_group(update.op, &self.group(id, ports)?).await?;
                }
            }
        }
        self.flush(&mut batch).await
    }

    fn group(&self, id: GroupId, ports: &BTreeSet<PortNo>) -> Result<Group, SwitchError> {
        let number = |port: &PortNo| {
            let number = self.numbering.number(*port).and_then(|number| u32::try_from(number).ok());
            number.ok_or_else(|| SwitchError::Refused(format!("multicast group {id}: no port {port}")))
        };
        Ok(Group { id: id.0, ports: ports.iter().map(number).collect::<Result<_, _>>()? })
    }

    /// Writes rows as one transaction.
    async fn flush(&self, batch: &mut Vec<Change>) -> Result<(), SwitchError> {
        let written = self.client.write(batch, Batch::Rollback).await.map_err(switch_error);
        batch.clear();
        written
    }

    async fn write_group(&self, op: Op, group: &Group) -> Result<(), SwitchError> {
        let written = match op {
            Op::Insert => self.client.insert_group(group).await,
            Op::Modify => self.client.modify_group(group).await,
            Op::Delete => self.client.delete_group(group).await,
        };
        written.map_err(switch_error)
    }

    async fn read_held(&self) -> Result<Held, SwitchError> {
        let mut steer = BTreeMap::new();
        for entry in self.client.read_table(Steer::SPEC.full_name).await.map_err(switch_error)? {
            let (key, action) = Steer::entry(&rows::row(Steer::SPEC, &entry, &self.numbering)?)?;
            steer.insert(key, action);
        }
        Ok(Held::new(&steer))
    }

    async fn read_all(&mut self) -> Result<SwitchTables, SwitchError> {
        let mut tables = SwitchTables::default();
        for table in self.program.specs() {
            for entry in self.client.read_table(table.full_name).await.map_err(switch_error)? {
                tables.add_row(&rows::row(table, &entry, &self.numbering)?)?;
            }
        }
        for table in DEFAULTS {
            if let Some(entry) = self.client.read_default(table.full_name).await.map_err(switch_error)? {
                tables.add_row(&rows::row(table, &entry, &self.numbering)?)?;
            }
        }
        for group in self.client.read_groups().await.map_err(switch_error)? {
            let port = |port: &u32| {
                let foreign =
                    || Foreign::new(format!("multicast group {}", group.id), "a port that no switch has");
                self.numbering.port_of(u64::from(*port)).ok_or_else(foreign)
            };
            let ports = group.ports.iter().map(port).collect::<Result<_, _>>()?;
            tables.groups.insert(GroupId(group.id), ports);
        }
        self.held = Some(Held::new(&tables.steer));
        Ok(tables)
    }

    /// Returns the entries of a table with their current counts.
    async fn read_counted(&self, table: &TableSpec) -> Result<Vec<Entry>, SwitchError> {
        self.client.sync(table.full_name).await.map_err(switch_error)?;
        self.client.read_table(table.full_name).await.map_err(switch_error)
    }
}

/// Returns whether a program of that name is ours: same tables and same image. Its `bf-rt.json` may return
/// in another form.
fn is_same(ours: &Program, info: &Info, found: &Program) -> bool {
    let binaries =
        |program: &Program| program.profiles.iter().map(|it| it.binary.clone()).collect::<Vec<_>>();
    binaries(ours) == binaries(found) && Info::from_json(&found.info).is_ok_and(|theirs| theirs == *info)
}

fn change(op: Op, entry: Entry) -> Change {
    match op {
        Op::Insert => Change::insert(entry),
        Op::Modify => Change::modify(entry),
        Op::Delete => Change::delete(entry),
    }
}

/// Connects without binding to a program.
pub(super) async fn connect(place: Endpoint) -> Result<Client, SwitchError> {
    let device = u32::try_from(place.device).map_err(|_| {
        SwitchError::Refused(format!("device {}: BFRuntime's devices have 32 bits", place.device))
    })?;
    let target = Target::new(place.address, DeviceId(device));
    let target = Target { security: place.security, timeout: place.timeout, ..target };
    Client::connect(target).await.map_err(switch_error)
}

/// Converts a client's error; its text has place and fix.
pub(super) fn switch_error(error: ClientError) -> SwitchError {
    let text = error.to_string();
    match error {
        ClientError::Own(OwnError::Owned { .. }) => SwitchError::Superseded(text),
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

impl Session for BfRuntime {
    fn precedence(&self) -> Option<Precedence> {
        self.precedence
    }

    fn running(&mut self) -> BoxFuture<'_, Result<Running, SwitchError>> {
        self.look().boxed()
    }

    fn load_program(&mut self) -> BoxFuture<'_, Result<(), SwitchError>> {
        async {
            self.held = None;
            self.client.set_program(self.program.program().clone()).await.map_err(switch_error)?;
            if !self.bound {
                self.bind().await?;
            }
            let configs = self.client.configs().await.map_err(switch_error)?;
            self.know(&configs)
        }
        .boxed()
    }

    fn read(&mut self) -> BoxFuture<'_, Result<SwitchTables, SwitchError>> {
        self.read_all().boxed()
    }

    fn write<'a>(&'a mut self, updates: &'a [Update]) -> BoxFuture<'a, Result<(), SwitchError>> {
        self.write_all(updates).boxed()
    }

    fn counters(&mut self) -> BoxFuture<'_, Result<SwitchCounters, SwitchError>> {
        async {
            if !self.program.sums() {
                let ports = (0..512).collect();
                let wanted = [multicast_drops(), ("unwanted", ports)];
                let [drops, unwanted] = cells::read(&self.client, wanted).await.map_err(switch_error)?;
                let mut updates = BTreeMap::new();
                for entry in self.read_counted(Updates::SPEC).await? {
                    let (key, _) = Updates::entry(&rows::row(Updates::SPEC, &entry, &self.numbering)?)?;
                    updates.insert(key, cells::counts(&entry));
                }
                return Ok(SwitchCounters { drops, updates, unwanted, ..SwitchCounters::default() });
            }
            let [drops, outcomes] =
                cells::read(&self.client, [drops(), outcomes()]).await.map_err(switch_error)?;
            let mut steer = BTreeMap::new();
            for entry in self.read_counted(Steer::SPEC).await? {
                let (key, action) = Steer::entry(&rows::row(Steer::SPEC, &entry, &self.numbering)?)?;
                steer.insert(key, (action, cells::counts(&entry)));
            }
            Ok(SwitchCounters { drops, outcomes, steer, ..SwitchCounters::default() })
        }
        .boxed()
    }

    fn traffic<'a>(&'a mut self, ports: &'a [PortNo]) -> BoxFuture<'a, Result<Traffic, SwitchError>> {
        async move {
            let known = ports.iter().filter_map(|&port| Some((port, self.numbering.number(port)?)));
            let known: BTreeMap<PortNo, u64> = known.collect();
            let numbers: Vec<u64> = known.values().copied().collect();
            let [ours_in, others_in, ours_out, others_out] =
                PORT_COUNTERS.map(|counter| (counter, numbers.clone()));
            let wanted = [ours_in, others_in, ours_out, others_out, outcomes()];
            let [ours_in, others_in, ours_out, others_out, outcomes] =
                cells::read(&self.client, wanted).await.map_err(switch_error)?;
            let of_port = |(at, port): (usize, PortNo)| {
                let (ours_in, others_in) = (ours_in[at], others_in[at]);
                let (ours_out, others_out) = (ours_out[at], others_out[at]);
                (port, PortTraffic { ours_in, others_in, ours_out, others_out })
            };
            let ports = known.into_keys().enumerate().map(of_port).collect();
            Ok(Traffic { ports, outcomes })
        }
        .boxed()
    }

    fn lost(&mut self) -> BoxFuture<'_, SwitchError> {
        self.client.lost().map(switch_error).boxed()
    }
}
