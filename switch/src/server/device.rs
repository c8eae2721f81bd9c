//! One switch as controllers see it: the election, the pipeline that runs, the one that waits, and the
//! streams.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use inart_p4runtime::p4::v1::{self, MasterArbitrationUpdate, stream_message_response::Update as Event};
use inart_p4runtime::{DeviceId, update_errors_status};
use prost::bytes::Bytes;
use tokio::sync::{Mutex, OwnedRwLockReadGuard, RwLock, mpsc};
use tonic::Status;

use super::arbitration::{ClientId, Elections, Notices};
use super::check::{invalid, known};
use super::clock::{Clock, epoch_ns};
use super::compiling::{Compiling, check_arrays};
use super::outbox::Outbox;
use super::pipeline::Pipeline;
use super::plane::Plane;
use super::quiet::Quiet;
use super::reads::Reading;
use super::verify::Verified;
use super::{batch, data, limits, packet_io, request};
use crate::{Digest, ports};

/// Interval of examinations of the first entry that may be idle.
const IDLE_SCAN: Duration = Duration::from_millis(50);

/// One switch and its controllers.
pub(super) struct Device {
    id: DeviceId,
    plane: Plane,
    clock: Clock,
    inject: Box<dyn Fn(Vec<u8>) -> bool + Send + Sync>,
    /// Reads share it, a write has it alone: a read finds all of a write or nothing of it.
    turn: Arc<RwLock<()>>,
    compiling: Compiling,
    state: Mutex<State>,
}

struct State {
    elections: Elections,
    streams: HashMap<ClientId, Outbox>,
    /// Messages dropped for controllers that are slow, packets and digests that do not fit the program.
    slow: Quiet,
    misfits: Quiet,
    running: Option<Pipeline>,
    /// Saved by VERIFY_AND_SAVE: reads and writes go to it until COMMIT makes it run.
    saved: Option<Pipeline>,
    /// Counts changes that controllers made.
    writes: u64,
}

impl State {
    fn pipeline(&self) -> Result<&Pipeline, Status> {
        self.saved.as_ref().or(self.running.as_ref()).ok_or_else(no_pipeline)
    }

    fn pipeline_mut(&mut self) -> Result<&mut Pipeline, Status> {
        self.saved.as_mut().or(self.running.as_mut()).ok_or_else(no_pipeline)
    }

    fn notify(&mut self, notices: Notices) {
        for (client, update) in notices {
            self.send(client, Event::Arbitration(update));
        }
    }

    fn send(&mut self, client: ClientId, event: Event) {
        let Some(out) = self.streams.get(&client) else { return };
        if !out.send(v1::StreamMessageResponse { update: Some(event) })
            && let Some(dropped) = self.slow.happens(Instant::now())
        {
            tracing::warn!(client = client.0, dropped, "a controller is slow: messages for it were dropped");
        }
    }

    fn notify_primaries(&mut self, event: &Event) {
        let primaries: Vec<_> = self.elections.primaries().collect();
        primaries.into_iter().for_each(|client| self.send(client, event.clone()));
    }
}

impl Device {
    pub fn new(
        id: DeviceId,
        plane: Plane,
        clock: Clock,
        inject: Box<dyn Fn(Vec<u8>) -> bool + Send + Sync>,
    ) -> Self {
        let state = State {
            elections: Elections::new(id),
            streams: HashMap::new(),
            slow: Quiet::default(),
            misfits: Quiet::default(),
            running: None,
            saved: None,
            writes: 0,
        };
        let (turn, compiling) = Default::default();
        Self { id, plane, clock, inject, turn, compiling, state: Mutex::new(state) }
    }

    pub fn id(&self) -> DeviceId {
        self.id
    }

    /// Handles an arbitration of a client whose messages go to `out`. An error ends its stream.
    pub async fn arbitrate(
        &self,
        client: ClientId,
        update: &MasterArbitrationUpdate,
        out: &Outbox,
    ) -> Result<(), Status> {
        let mut state = self.state.lock().await;
        let notices = state.elections.update(client, update)?;
        state.streams.insert(client, out.clone());
        state.notify(notices);
        Ok(())
    }

    /// Forgets a client whose stream ended.
    pub async fn leave(&self, client: ClientId) {
        let mut state = self.state.lock().await;
        state.streams.remove(&client);
        let notices = state.elections.leave(client);
        state.notify(notices);
    }

    /// Sends a packet through the pipeline, as from the CPU port.
    pub async fn packet_out(&self, client: ClientId, packet: &v1::PacketOut) -> Result<(), Status> {
        let state = self.state.lock().await;
        if !state.elections.is_primary(client) {
            return Err(Status::permission_denied("only the primary controller may send packets"));
        }
        if packet.payload.len() > limits::FRAME_BYTES {
            let most = limits::FRAME_BYTES;
            return Err(invalid(format!("the payload is longer than {most} bytes: no port sends that")));
        }
        let schema = state.running.as_ref().map(|pipeline| pipeline.schema.clone());
        drop(state);
        let schema = schema.ok_or_else(|| Status::failed_precondition("no pipeline runs yet"))?;
        match (self.inject)(packet_io::frame(&schema, packet)?) {
            true => Ok(()),
            false => Err(Status::failed_precondition("this switch has no CPU port: start it with one")),
        }
    }

    /// Takes the primary's word that it has a list of digests.
    pub async fn acknowledge(&self, client: ClientId, ack: v1::DigestListAck) -> Result<(), Status> {
        let mut state = self.state.lock().await;
        if !state.elections.is_primary(client) {
            return Err(Status::permission_denied("only the primary controller may acknowledge digests"));
        }
        // Lists are those of the pipeline that runs, also while another one is saved.
        let pipeline = state.running.as_mut().ok_or_else(no_pipeline)?;
        known(pipeline.schema.digest_by_id(ack.digest_id))?;
        pipeline.digests.acknowledge(ack.digest_id, ack.list_id);
        Ok(())
    }

    /// Applies a batch of updates, once the reads before it are done.
    pub async fn write(&self, request: request::Write) -> Result<(), Status> {
        let election = request.election();
        self.state.lock().await.elections.check_primary(&request.role, election)?;
        let _turn = self.turn.write().await;
        let mut state = self.state.lock().await;
        state.elections.check_primary(&request.role, election)?;
        let results = batch::apply(state.pipeline_mut()?, &request.updates, request.atomicity);
        state.writes += 1;
        let results = results?;
        if results.iter().all(Result::is_ok) { Ok(()) } else { Err(update_errors_status(&results)) }
    }

    /// Starts a read. Writes wait while its client holds the turn, which it releases soon.
    pub async fn begin_read(
        &self,
        filters: Vec<Bytes>,
    ) -> Result<(Reading, OwnedRwLockReadGuard<()>), Status> {
        let turn = self.turn.clone().read_owned().await;
        let state = self.state.lock().await;
        state.pipeline()?;
        Ok((Reading::new(filters, state.writes), turn))
    }

    /// Returns the next answer of a read, which may be empty; `None` after the last. An error ends the read.
    pub async fn read(&self, reading: &mut Reading) -> Result<Option<Vec<v1::Entity>>, Status> {
        let state = self.state.lock().await;
        reading.next(state.pipeline()?, state.writes)
    }

    /// Verifies, saves or commits a pipeline.
    pub async fn set_pipeline(&self, request: request::SetPipeline) -> Result<(), Status> {
        use v1::set_forwarding_pipeline_config_request::Action;
        let election = request.election();
        self.state.lock().await.elections.check_primary(&request.role, election)?;
        let action = Action::try_from(request.action).unwrap_or(Action::Unspecified);
        let verified = match (action, request.config) {
            (Action::Unspecified, _) => {
                return Err(invalid(format!("action {} is not known", request.action)));
            }
            (Action::Commit, None) => None,
            (Action::Commit, Some(_)) => {
                return Err(invalid("COMMIT commits what VERIFY_AND_SAVE saved: send no config with it"));
            }
            (_, None) => return Err(invalid(format!("{} needs a config", action.as_str_name()))),
            (_, Some(config)) => {
                request::check_config(&config)?;
                // Compiling a large program takes a while: other calls go on meanwhile, but no other
                // compilation.
                let work = |stop: &AtomicBool| Verified::new(request::decode(config, "the config")?, stop);
                Some(self.compiling.run(work).await?)
            }
        };
        let _turn = self.turn.write().await;
        let mut state = self.state.lock().await;
        state.elections.check_primary(&request.role, election)?;
        if action != Action::Verify
            && let Some(verified) = &verified
        {
            let held = [state.running.as_ref(), state.saved.as_ref()].into_iter().flatten();
            check_arrays(held.filter_map(|pipeline| pipeline.plane.program()), &verified.program)?;
        }
        state.writes += 1;
        match (action, verified) {
            (Action::VerifyAndSave, Some(verified)) => {
                state.saved = Some(Pipeline::stage(verified, self.clock)?)
            }
            (Action::VerifyAndCommit, Some(verified)) => {
                state.running = Some(Pipeline::stage(verified, self.clock)?.commit(&self.plane));
                state.saved = None;
            }
            (Action::ReconcileAndCommit, Some(verified)) => {
                let pipeline = match &state.running {
                    None => Pipeline::stage(verified, self.clock)?,
                    Some(old) => Pipeline::reconcile(old, verified)?,
                };
                state.running = Some(pipeline.commit(&self.plane));
                state.saved = None;
            }
            (Action::Commit, _) => {
                let saved = state.saved.take();
                let saved = saved.ok_or_else(|| {
                    Status::not_found("no pipeline is saved: save one with VERIFY_AND_SAVE first")
                })?;
                state.running = Some(saved.commit(&self.plane));
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the pipeline's configuration, or the requested parts; `None` without a pipeline.
    pub async fn get_pipeline(
        &self,
        request: &v1::GetForwardingPipelineConfigRequest,
    ) -> Result<Option<v1::ForwardingPipelineConfig>, Status> {
        use v1::get_forwarding_pipeline_config_request::ResponseType;
        let parts = ResponseType::try_from(request.response_type)
            .map_err(|_| invalid(format!("response type {} is not known", request.response_type)))?;
        let state = self.state.lock().await;
        let Ok(pipeline) = state.pipeline() else { return Ok(None) };
        let all = &pipeline.config;
        let (p4info, device_config) = match parts {
            ResponseType::All => (true, true),
            ResponseType::CookieOnly => (false, false),
            ResponseType::P4infoAndCookie => (true, false),
            ResponseType::DeviceConfigAndCookie => (false, true),
        };
        Ok(Some(v1::ForwardingPipelineConfig {
            p4info: all.p4info.clone().filter(|_| p4info),
            p4_device_config: if device_config { all.p4_device_config.clone() } else { Vec::new() },
            cookie: all.cookie,
        }))
    }

    /// Forwards the switch's events to the primaries, until the switch ends.
    pub async fn pump(&self, mut feed: mpsc::Receiver<ports::Event>) {
        let mut scan = tokio::time::interval(IDLE_SCAN);
        scan.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            let deadline = {
                let state = self.state.lock().await;
                state.running.as_ref().and_then(|pipeline| pipeline.digests.deadline_ns())
            };
            let wait = deadline.map(|at| Duration::from_nanos(at.saturating_sub(self.clock.now_ns())));
            tokio::select! {
                event = feed.recv() => match event {
                    Some(ports::Event::PacketIn(frame)) => self.packet_in(&frame).await,
                    Some(ports::Event::Digest(digest)) => self.learn(digest).await,
                    None => return,
                },
                () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {
                    self.send_digests().await;
                }
                _ = scan.tick() => self.send_idle().await,
            }
        }
    }

    async fn packet_in(&self, frame: &[u8]) {
        let mut state = self.state.lock().await;
        let Some(pipeline) = &state.running else { return };
        match packet_io::packet_in(&pipeline.schema, frame) {
            Some(packet) => state.notify_primaries(&Event::Packet(packet)),
            None => {
                if let Some(dropped) = state.misfits.happens(Instant::now()) {
                    let bytes = frame.len();
                    tracing::warn!(
                        bytes,
                        dropped,
                        "a packet to the controller is shorter than its packet_in header"
                    );
                }
            }
        }
    }

    async fn learn(&self, digest: Digest) {
        let mut state = self.state.lock().await;
        let Some(pipeline) = &mut state.running else { return };
        let Ok(declared) = pipeline.schema.digest(&digest.name) else { return };
        let id = declared.id();
        if !pipeline.digests.wanted(id) {
            return;
        }
        let mut values = digest.values.into_iter();
        let list = match data::decode(&pipeline.schema, declared.type_spec.as_ref(), &mut values) {
            Ok(datum) => pipeline.digests.learn(id, datum, self.clock.now_ns()),
            Err(status) => {
                if let Some(dropped) = state.misfits.happens(Instant::now()) {
                    tracing::warn!(%status, digest = digest.name, dropped, "digests were dropped");
                }
                return;
            }
        };
        if let Some(list) = list {
            state.notify_primaries(&Event::Digest(v1::DigestList { timestamp: epoch_ns(), ..list }));
        }
    }

    async fn send_digests(&self) {
        let mut state = self.state.lock().await;
        let Some(pipeline) = &mut state.running else { return };
        for list in pipeline.digests.due(self.clock.now_ns()) {
            state.notify_primaries(&Event::Digest(v1::DigestList { timestamp: epoch_ns(), ..list }));
        }
    }

    /// Examines some entries at a time, so that neither packets nor calls wait for all.
    async fn send_idle(&self) {
        loop {
            let mut state = self.state.lock().await;
            let Some(pipeline) = state.running.as_mut() else { return };
            let found = pipeline.idle_entries();
            if let Some(notice) = found.notice {
                state.notify_primaries(&Event::IdleTimeoutNotification(notice));
            }
            if !found.is_cut {
                return;
            }
        }
    }
}

fn no_pipeline() -> Status {
    Status::failed_precondition("no pipeline is loaded: send one with SetForwardingPipelineConfig first")
}
