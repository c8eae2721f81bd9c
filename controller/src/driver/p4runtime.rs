//! A switch behind a P4Runtime server: our tables in the program's names, and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::join_all;
use inart_p4runtime::p4::v1;
use inart_p4runtime::{
    ActionCall, Client, ElectionId, Entry, EntryError, Match, Pipeline, PipelineAction, Schema, TableAction,
    Target,
};
use inart_wire::{Contributors, MacAddr, WorkerId};

use super::{DriverError, Running, SwitchDriver, SwitchErrors};
use crate::diff::{Item, Op, Update};
use crate::entries::{GroupId, MacAction, ResultsAction, ResultsKey, SteerAction, SteerKey, SwitchTables};
use crate::ports::PortNo;
use crate::program::Program;
use crate::slots::SlotRange;

/// Updates in one request: keeps messages well below gRPC's usual limit of 4 MiB.
const BATCH: usize = 1000;

const EPOCH: &str = "epoch";
const JOB: &str = "job";
const SHARD: &str = "shard";
const WORKER: &str = "worker";
const INGRESS: &str = "ingress";
const DESTINATION: &str = "dst";

/// A P4Runtime switch that this controller is primary for.
pub struct P4Runtime {
    client: Client,
    program: Arc<Program>,
}

impl P4Runtime {
    /// Connects and becomes primary, or says who is. Without an election id in `target` it only reads.
    pub async fn connect(target: Target, program: Arc<Program>) -> Result<Self, DriverError> {
        let timeout = target.timeout;
        let client = Client::connect(target).await?;
        if client.target().election.is_some() {
            client.wait_primary(timeout).await?;
        }
        Ok(P4Runtime { client, program })
    }

    /// As [`P4Runtime::connect`], to all switches (by name) at once.
    pub async fn connect_all(
        targets: BTreeMap<String, Target>,
        program: &Arc<Program>,
    ) -> Result<BTreeMap<String, Self>, SwitchErrors> {
        let all = targets.into_iter().map(async |(name, target)| {
            let driver = Self::connect(target, program.clone()).await;
            (name, driver)
        });
        let (mut drivers, mut failed) = (BTreeMap::new(), Vec::new());
        for (name, driver) in join_all(all).await {
            match driver {
                Ok(driver) => drop(drivers.insert(name, driver)),
                Err(error) => failed.push((name, error)),
            }
        }
        if failed.is_empty() { Ok(drivers) } else { Err(SwitchErrors(failed)) }
    }

    /// Connects and becomes primary under the target's election id, or under the next one after the greatest that the
    /// switch has seen, if that is greater.
    pub async fn take_over(target: Target, program: Arc<Program>) -> Result<Self, DriverError> {
        let timeout = target.timeout;
        let mut client = Client::connect(target).await?;
        if !client.is_primary() {
            let seen = client.arbitration().greatest;
            let above = seen.max(client.target().election).map_or(1, |id| id.0.saturating_add(1));
            client.set_election(Some(ElectionId(above))).await?;
            client.wait_primary(timeout).await?;
        }
        Ok(P4Runtime { client, program })
    }

    /// Connects and becomes primary under the target's election id; an error at once if the switch has seen a greater one.
    pub async fn connect_as_known(target: Target, program: Arc<Program>) -> Result<Self, DriverError> {
        let client = Client::connect(target).await?;
        // The device's first word on the election is there already.
        client.wait_primary(std::time::Duration::ZERO).await?;
        Ok(P4Runtime { client, program })
    }

    /// The connection, for reads that are not the controller's business.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

impl SwitchDriver for P4Runtime {
    async fn running(&mut self) -> Result<Running, DriverError> {
        if self.client.pipeline_cookie().await? == Some(self.program.cookie) {
            self.client.set_schema(self.program.schema.clone());
            return Ok(Running::Ours);
        }
        let ours = self.program.pipeline();
        Ok(match self.client.pipeline().await? {
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

    async fn set_pipeline(&mut self) -> Result<(), DriverError> {
        Ok(self.client.set_pipeline(PipelineAction::VerifyAndCommit, Some(self.program.pipeline())).await?)
    }

    async fn read(&mut self) -> Result<SwitchTables, DriverError> {
        let mut tables = SwitchTables::default();
        for entry in self.client.read_table("steer").await? {
            let (key, action) = Fields(&entry).steer()?;
            tables.steer.insert(key, action);
        }
        for entry in self.client.read_table("results").await? {
            let (key, action) = Fields(&entry).results()?;
            tables.results.insert(key, action);
        }
        for entry in self.client.read_table("mac").await? {
            let fields = Fields(&entry);
            let [.., a, b, c, d, e, f] = fields.key(DESTINATION)?.to_be_bytes();
            tables.mac.insert(MacAddr([a, b, c, d, e, f]), fields.mac_action()?);
        }
        if let Some(entry) = self.client.read_default("mac").await? {
            tables.mac_default = Fields(&entry).mac_action()?;
        }
        for entry in self.client.read_table("trunks").await? {
            tables.trunks.insert(Fields(&entry).trunk()?);
        }
        for group in self.client.read_multicast_groups().await? {
            let foreign = || DriverError::Foreign(format!("multicast group {}", group.multicast_group_id));
            let id = u16::try_from(group.multicast_group_id).map_err(|_| foreign())?;
            let ports = group.replicas.iter().map(|replica| {
                let port = replica.port_number().and_then(|port| PortNo::try_from(u64::from(port)).ok());
                port.ok_or_else(foreign)
            });
            tables.groups.insert(GroupId(id), ports.collect::<Result<_, _>>()?);
        }
        Ok(tables)
    }

    async fn write(&mut self, updates: &[Update]) -> Result<(), DriverError> {
        let schema = self.client.schema()?;
        for batch in updates.chunks(BATCH) {
            let batch = batch.iter().map(|update| encode(&schema, update)).collect::<Result<_, _>>();
            self.client.write(batch.map_err(inart_p4runtime::ClientError::from)?).await?;
        }
        Ok(())
    }
}

fn encode(schema: &Schema, update: &Update) -> Result<v1::Update, EntryError> {
    let entity: v1::Entity = match &update.item {
        Item::Steer(key, action) => schema.encode(&steer_entry(key, action))?.into(),
        Item::Results(key, action) => schema.encode(&results_entry(key, action))?.into(),
        Item::Mac(address, action) => {
            schema.encode(&mac_action(Entry::new("mac").exact(DESTINATION, address.0), action))?.into()
        }
        Item::MacDefault(action) => schema.encode(&mac_action(Entry::default_of("mac"), action))?.into(),
        Item::Trunk(port) => {
            schema.encode(&Entry::new("trunks").exact(INGRESS, port.get()).plain_action("trust"))?.into()
        }
        Item::Group(group, ports) => {
            let replicas = ports.iter().map(|port| (u32::from(port.get()), 1));
            v1::MulticastGroupEntry::new(u32::from(group.0), replicas).into()
        }
    };
    Ok(match update.op {
        Op::Insert => v1::Update::insert(entity),
        Op::Modify => v1::Update::modify(entity),
        Op::Delete => v1::Update::delete(entity),
    })
}

fn steer_entry(key: &SteerKey, action: &SteerAction) -> Entry {
    let entry = Entry::new("steer")
        .exact(EPOCH, key.epoch.get())
        .exact(JOB, key.job.get())
        .exact(SHARD, key.shard.get())
        .exact(WORKER, key.worker.get())
        .exact(INGRESS, key.ingress.get());
    match *action {
        SteerAction::Forward { port, members } => {
            entry.action("forward", [("port", u64::from(port.get())), ("members", members.bitmap)])
        }
        SteerAction::Add { port, slots, members, expected } => entry.action(
            "add",
            [
                ("port", u64::from(port.get())),
                ("base", u64::from(slots.base)),
                ("mask", u64::from(slots.len.saturating_sub(1))),
                ("members", members.bitmap),
                ("expected", expected.bitmap),
            ],
        ),
        SteerAction::Refuse => entry.plain_action("refuse"),
    }
}

fn results_entry(key: &ResultsKey, action: &ResultsAction) -> Entry {
    let entry = Entry::new("results")
        .exact(EPOCH, key.epoch.get())
        .exact(JOB, key.job.get())
        .exact(SHARD, key.shard.get())
        .exact(INGRESS, key.ingress.get());
    match action {
        ResultsAction::Replicate(group) => entry.action("replicate", [("group", group.0)]),
        ResultsAction::Refuse => entry.plain_action("refuse"),
    }
}

fn mac_action(entry: Entry, action: &MacAction) -> Entry {
    match action {
        MacAction::Send(port) => entry.action("send", [("port", port.get())]),
        MacAction::Flood(group) => entry.action("flood", [("group", group.0)]),
        MacAction::Refuse => entry.plain_action("refuse"),
    }
}

/// Takes an entry of `steer` apart.
pub(crate) fn steer_of(entry: &Entry) -> Result<(SteerKey, SteerAction), DriverError> {
    Fields(entry).steer()
}

/// An entry as read back.
struct Fields<'a>(&'a Entry);

impl Fields<'_> {
    fn foreign(&self) -> DriverError {
        DriverError::Foreign(self.0.to_string())
    }

    fn key(&self, field: &str) -> Result<u64, DriverError> {
        match self.0.matches.get(field) {
            Some(Match::Exact(value)) => value.to_u64().ok_or_else(|| self.foreign()),
            _ => Err(self.foreign()),
        }
    }

    fn id<T: TryFrom<u16>>(&self, field: &str) -> Result<T, DriverError> {
        let number = u16::try_from(self.key(field)?).map_err(|_| self.foreign())?;
        T::try_from(number).map_err(|_| self.foreign())
    }

    fn call(&self) -> Result<&ActionCall, DriverError> {
        match &self.0.action {
            Some(TableAction::Call(call)) => Ok(call),
            _ => Err(self.foreign()),
        }
    }

    fn param(&self, name: &str) -> Result<u64, DriverError> {
        let value = self.call()?.params.get(name).and_then(|value| value.to_u64());
        value.ok_or_else(|| self.foreign())
    }

    fn port(&self, number: u64) -> Result<PortNo, DriverError> {
        PortNo::try_from(number).map_err(|_| self.foreign())
    }

    fn group(&self) -> Result<GroupId, DriverError> {
        u16::try_from(self.param("group")?).map(GroupId).map_err(|_| self.foreign())
    }

    fn steer(&self) -> Result<(SteerKey, SteerAction), DriverError> {
        let worker: WorkerId = self.id(WORKER)?;
        let key = SteerKey {
            epoch: self.id(EPOCH)?,
            job: self.id(JOB)?,
            shard: self.id(SHARD)?,
            worker,
            ingress: self.port(self.key(INGRESS)?)?,
        };
        let ranks = |name| {
            Ok::<_, DriverError>(Contributors { bitmap: self.param(name)?, ..Contributors::one(worker) })
        };
        let action = match self.call()?.action.as_str() {
            "forward" => {
                SteerAction::Forward { port: self.port(self.param("port")?)?, members: ranks("members")? }
            }
            "add" => {
                let base = u32::try_from(self.param("base")?).map_err(|_| self.foreign())?;
                let len = u32::try_from(self.param("mask")?.wrapping_add(1)).map_err(|_| self.foreign())?;
                SteerAction::Add {
                    port: self.port(self.param("port")?)?,
                    slots: SlotRange { base, len },
                    members: ranks("members")?,
                    expected: ranks("expected")?,
                }
            }
            "refuse" => SteerAction::Refuse,
            _ => return Err(self.foreign()),
        };
        Ok((key, action))
    }

    fn results(&self) -> Result<(ResultsKey, ResultsAction), DriverError> {
        let key = ResultsKey {
            epoch: self.id(EPOCH)?,
            job: self.id(JOB)?,
            shard: self.id(SHARD)?,
            ingress: self.port(self.key(INGRESS)?)?,
        };
        let action = match self.call()?.action.as_str() {
            "replicate" => ResultsAction::Replicate(self.group()?),
            "refuse" => ResultsAction::Refuse,
            _ => return Err(self.foreign()),
        };
        Ok((key, action))
    }

    fn trunk(&self) -> Result<PortNo, DriverError> {
        match self.call()?.action.as_str() {
            "trust" => self.port(self.key(INGRESS)?),
            _ => Err(self.foreign()),
        }
    }

    fn mac_action(&self) -> Result<MacAction, DriverError> {
        Ok(match self.call()?.action.as_str() {
            "send" => MacAction::Send(self.port(self.param("port")?)?),
            "flood" => MacAction::Flood(self.group()?),
            "refuse" => MacAction::Refuse,
            _ => return Err(self.foreign()),
        })
    }
}
