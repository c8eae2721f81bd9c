//! A session with a BFRuntime server.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use inart_bfruntime::{
    Batch, Change, Client, ClientError, Code, Configs, DeviceId, Entry, Group, Info, Match, Program, Target,
    Value,
};
use inart_p4::{Outcome, Reason};
use inart_tables::{
    DEFAULTS, Entity, Foreign, GroupId, Op, PortNo, SPECS, Steer, SwitchTables, Table, TableSpec, Update,
};

use super::program::Compiled;
use super::{ports, rows, slots};
use crate::counters::{Counts, PortTraffic, SwitchCounters, Traffic};
use crate::error::SwitchError;
use crate::place::{Access, Place, Precedence};
use crate::target::{Running, Session};

/// Changes in one request.
const BATCH: usize = 1000;

/// The key of a counter.
const INDEX: &str = "$COUNTER_INDEX";

/// The counters by port, in the order of [`PortTraffic`].
const PORT_COUNTERS: [&str; 4] = ["ingress_inart", "ingress_others", "egress_inart", "egress_others"];

/// A switch behind a BFRuntime server.
pub struct BfRuntime {
    client: Client,
    program: Compiled,
    precedence: Option<Precedence>,
    /// How long to wait for a program that belongs to another client.
    patience: Duration,
    bound: bool,
}

impl BfRuntime {
    /// Connects; to write, becomes the client that the program belongs to, if it runs.
    pub(super) async fn open(program: Compiled, place: Place, access: Access) -> Result<Self, SwitchError> {
        let device = u32::try_from(place.device).map_err(|_| {
            SwitchError::Refused(format!("device {}: BFRuntime's devices have 32 bits", place.device))
        })?;
        let timeout = place.timeout;
        let target =
            Target { security: place.security, timeout, ..Target::new(place.address, DeviceId(device)) };
        let client = Client::connect(target).await.map_err(told)?;
        let (precedence, patience) = match access {
            Access::Read => (None, Duration::ZERO),
            // Nobody writes while this one is away, unless another took its place.
            Access::Resume(precedence) => (Some(precedence), Duration::ZERO),
            Access::Write(precedence) | Access::TakeOver(precedence) => (Some(precedence), timeout),
        };
        let mut session = BfRuntime { client, program, precedence, patience, bound: false };
        let configs = session.client.configs().await.map_err(told)?;
        if precedence.is_some() && configs.program(&session.program.program().name).is_some() {
            session.bind().await?;
        }
        session.look_at(&configs)?;
        Ok(session)
    }

    async fn bind(&mut self) -> Result<(), SwitchError> {
        self.client.bind(&self.program.program().name, self.patience).await.map_err(told)?;
        self.bound = true;
        Ok(())
    }

    /// What runs; if it is ours, its names are known from then on.
    async fn look(&mut self) -> Result<Running, SwitchError> {
        let configs = self.client.configs().await.map_err(told)?;
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
        let device = configs.device_info().map_err(|error| told(error.into()))?;
        let info = self.program.info().with(&device).map_err(|error| told(error.into()))?;
        self.client.use_program(&self.program.program().name, Arc::new(info));
        Ok(())
    }

    async fn write_all(&mut self, updates: &[Update]) -> Result<(), SwitchError> {
        slots::check(updates).map_err(SwitchError::Refused)?;
        let mut batch = Vec::new();
        for update in updates {
            match update.item.entity() {
                Entity::Row(row) => {
                    let refused = |error: Foreign| SwitchError::Refused(error.to_string());
                    batch.push(change(update.op, rows::entry(row).map_err(refused)?));
                    if batch.len() == BATCH {
                        self.flush(&mut batch).await?;
                    }
                }
                // In its place among the rows: those that name it come after it, and go before it.
                Entity::Group(id, ports) => {
                    self.flush(&mut batch).await?;
                    self.write_group(update.op, &group(id, ports)?).await?;
                }
            }
        }
        self.flush(&mut batch).await
    }

    /// Writes rows as one transaction.
    async fn flush(&self, batch: &mut Vec<Change>) -> Result<(), SwitchError> {
        let written = self.client.write(batch, Batch::Rollback).await.map_err(told);
        batch.clear();
        written
    }

    async fn write_group(&self, op: Op, group: &Group) -> Result<(), SwitchError> {
        let written = match op {
            Op::Insert => self.client.insert_group(group).await,
            Op::Modify => self.client.modify_group(group).await,
            Op::Delete => self.client.delete_group(group).await,
        };
        written.map_err(told)
    }

    async fn read_all(&self) -> Result<SwitchTables, SwitchError> {
        let mut tables = SwitchTables::default();
        for table in SPECS {
            for entry in self.client.read_table(table.full_name).await.map_err(told)? {
                tables.add_row(&rows::row(table, &entry)?)?;
            }
        }
        for table in DEFAULTS {
            if let Some(entry) = self.client.read_default(table.full_name).await.map_err(told)? {
                tables.add_row(&rows::row(table, &entry)?)?;
            }
        }
        for group in self.client.read_groups().await.map_err(told)? {
            let port = |port: &u32| {
                let foreign =
                    || Foreign::new(format!("multicast group {}", group.id), "a port that no switch has");
                ports::port_of(u64::from(*port)).ok_or_else(foreign)
            };
            let ports = group.ports.iter().map(port).collect::<Result<_, _>>()?;
            tables.groups.insert(GroupId(group.id), ports);
        }
        Ok(tables)
    }

    /// Some cells of a counter, in their order. Where both controls have a counter of that name, each counts
    /// frames that the other does not see, and the two are added.
    async fn read_cells(&self, name: &str, cells: &[u64]) -> Result<Vec<Counts>, SwitchError> {
        let mut sums: BTreeMap<u64, Counts> = BTreeMap::new();
        for table in self.client.counters(name).map_err(told)? {
            self.client.sync(&table).await.map_err(told)?;
            let wanted: Vec<_> = cells.iter().map(|cell| Entry::new(&table).exact(INDEX, *cell)).collect();
            if wanted.is_empty() {
                continue;
            }
            for entry in self.client.read(&wanted).await.map_err(told)? {
                if let Some(Match::Exact(cell)) = entry.key.get(INDEX)
                    && let Ok(cell) = u64::try_from(*cell)
                {
                    let (counted, sum) = (counts(&entry), sums.entry(cell).or_default());
                    sum.packets += counted.packets;
                    sum.bytes += counted.bytes;
                }
            }
        }
        Ok(cells.iter().map(|cell| sums.get(cell).copied().unwrap_or_default()).collect())
    }

    async fn read_outcomes(&self) -> Result<Vec<Counts>, SwitchError> {
        self.read_cells("outcomes", &cells(Outcome::ALL.len())).await
    }

    async fn read_steer(&self) -> Result<Vec<Entry>, SwitchError> {
        let table: &TableSpec = Steer::SPEC;
        self.client.sync(table.full_name).await.map_err(told)?;
        self.client.read_table(table.full_name).await.map_err(told)
    }
}

/// A program of that name is ours if it has the same tables and runs the same. Its `bf-rt.json` may come back
/// in other words.
fn is_same(ours: &Program, info: &Info, found: &Program) -> bool {
    let binaries =
        |program: &Program| program.profiles.iter().map(|it| it.binary.clone()).collect::<Vec<_>>();
    binaries(ours) == binaries(found) && Info::from_json(&found.info).is_ok_and(|theirs| theirs == *info)
}

/// The cells of a counter of that size.
fn cells(size: usize) -> Vec<u64> {
    (0..size as u64).collect()
}

fn change(op: Op, entry: Entry) -> Change {
    match op {
        Op::Insert => Change::insert(entry),
        Op::Modify => Change::modify(entry),
        Op::Delete => Change::delete(entry),
    }
}

fn group(id: GroupId, ports: &BTreeSet<PortNo>) -> Result<Group, SwitchError> {
    let number = |port: &PortNo| {
        let number = ports::number(*port).and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| SwitchError::Refused(format!("multicast group {id}: no port {port}")))
    };
    Ok(Group { id: id.0, ports: ports.iter().map(number).collect::<Result<_, _>>()? })
}

fn counts(entry: &Entry) -> Counts {
    let part = |name| entry.data.get(name).and_then(Value::to_u64).unwrap_or(0);
    let signed = |count| i64::try_from(count).unwrap_or(i64::MAX);
    Counts { packets: signed(part("$COUNTER_SPEC_PKTS")), bytes: signed(part("$COUNTER_SPEC_BYTES")) }
}

/// The client's words; they name the place and the fix.
fn told(error: ClientError) -> SwitchError {
    let text = error.to_string();
    match error {
        ClientError::Owned { .. } => SwitchError::Superseded(text),
        ClientError::Connect { .. }
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
            self.client.set_program(self.program.program().clone()).await.map_err(told)?;
            if !self.bound {
                self.bind().await?;
            }
            let configs = self.client.configs().await.map_err(told)?;
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
            let drops = self.read_cells("drops", &cells(Reason::ALL.len())).await?;
            let outcomes = self.read_outcomes().await?;
            let mut steer = BTreeMap::new();
            for entry in self.read_steer().await? {
                let (key, action) = Steer::entry(&rows::row(Steer::SPEC, &entry)?)?;
                steer.insert(key, (action, counts(&entry)));
            }
            Ok(SwitchCounters { drops, outcomes, steer })
        }
        .boxed()
    }

    fn traffic<'a>(&'a mut self, ports: &'a [PortNo]) -> BoxFuture<'a, Result<Traffic, SwitchError>> {
        async move {
            let known = ports.iter().filter_map(|&port| Some((port, ports::number(port)?)));
            let known: BTreeMap<PortNo, u64> = known.collect();
            let numbers: Vec<u64> = known.values().copied().collect();
            let mut counted = Vec::with_capacity(PORT_COUNTERS.len());
            for name in PORT_COUNTERS {
                counted.push(self.read_cells(name, &numbers).await?);
            }
            let of_port = |(at, port): (usize, PortNo)| {
                let count = |counter: usize| counted[counter][at];
                let (ours_in, others_in, ours_out, others_out) = (count(0), count(1), count(2), count(3));
                (port, PortTraffic { ours_in, others_in, ours_out, others_out })
            };
            let ports = known.into_keys().enumerate().map(of_port).collect();
            Ok(Traffic { ports, outcomes: self.read_outcomes().await? })
        }
        .boxed()
    }

    fn lost(&mut self) -> BoxFuture<'_, SwitchError> {
        self.client.lost().map(told).boxed()
    }
}
