//! The switch as clients see it: connected clients, the program that runs, and the staged one.

use std::sync::{Arc, Mutex as Lock};

use inart_bfruntime::bfrt_proto::set_forwarding_pipeline_config_request::Action;
use inart_bfruntime::bfrt_proto::stream_message_response::Update as Event;
use inart_bfruntime::bfrt_proto::write_request::Atomicity;
use inart_bfruntime::bfrt_proto::{
    Entity, ForwardingPipelineConfig, GetForwardingPipelineConfigResponse, NonP4Config,
    PortStatusChgNotification, SetForwardingPipelineConfigRequest, SetForwardingPipelineConfigResponse,
    SetForwardingPipelineConfigResponseType as Stage, StreamMessageResponse, WriteRequest,
};
use inart_bfruntime::{DeviceId, Entry, update_errors_status};
use tokio::sync::{Mutex, OwnedRwLockReadGuard, RwLock, mpsc};
use tonic::Status;

use super::batch;
use super::clients::{Clients, Stay};
use super::config::DEVICE_INFO;
use super::pipeline::Pipeline;
use super::ports::{PortChange, Ports};
use super::reads::Reading;
use super::status::{invalid, misfit, unserved};
use super::verify::Verified;
use crate::Switch;
use crate::server::compiling::{Compiling, check_arrays};
use crate::server::limits::{self, at_most};

/// Notification channel of a client, and whether the client subscribed to port events.
#[derive(Debug, Clone)]
pub(super) struct Listener {
    pub out: mpsc::Sender<Result<StreamMessageResponse, Status>>,
    pub ports: bool,
}

impl Listener {
    /// Notifies the client, unless its queue is full.
    pub fn notify(&self, event: Event) {
        let message = StreamMessageResponse { update: Some(event) };
        if let Err(mpsc::error::TrySendError::Full(_)) = self.out.try_send(Ok(message)) {
            tracing::warn!("a controller is slow: a message for it was dropped");
        }
    }
}

/// One switch and its clients.
pub(super) struct Device {
    id: DeviceId,
    switch: Arc<Lock<Switch>>,
    compiling: Compiling,
    /// Reads share it, a write has it alone: a read finds all of a write or nothing of it.
    turn: Arc<RwLock<()>>,
    state: Mutex<State>,
    /// As they are before any program.
    ports: Ports,
}

#[derive(Default)]
struct State {
    clients: Clients<Listener>,
    running: Option<Pipeline>,
    /// Started by VERIFY_AND_WARM_INIT_BEGIN: reads and writes go to it until WARM_INIT_END makes it run.
    staged: Option<Pipeline>,
    /// Counts changes that clients made.
    writes: u64,
}

impl State {
    /// Returns the program that reads and writes go to.
    fn current(&self) -> Option<&Pipeline> {
        self.staged.as_ref().or(self.running.as_ref())
    }

    /// Returns the program of that name, or that the client is bound to.
    fn pipeline_mut(&mut self, client: u32, name: &str) -> Result<&mut Pipeline, Status> {
        self.check(client, name)?;
        self.staged.as_mut().or(self.running.as_mut()).ok_or_else(no_program)
    }

    fn check(&self, client: u32, name: &str) -> Result<(), Status> {
        let name = if name.is_empty() { self.clients.bound(client) } else { Some(name) };
        let name = name.ok_or_else(|| {
            Status::failed_precondition(format!(
                "client {client} is bound to no program: bind it with SetForwardingPipelineConfig first"
            ))
        })?;
        self.known(name)
    }

    fn known(&self, name: &str) -> Result<(), Status> {
        match self.current() {
            None => Err(no_program()),
            Some(pipeline) if pipeline.config.p4_name == name => Ok(()),
            Some(pipeline) => Err(Status::not_found(format!(
                "there is no program {name} here, but {}",
                pipeline.config.p4_name
            ))),
        }
    }

    /// Handles a changed program: disconnects clients bound to another name, and notifies the others.
    fn changed(&mut self, stages: &[Stage]) {
        self.writes += 1;
        let Some(pipeline) = self.staged.as_ref().or(self.running.as_ref()) else { return };
        for gone in self.clients.keep_bound_to(&pipeline.config.p4_name) {
            let status =
                Status::cancelled("another program was loaded in place of the one that you were bound to");
            // A client with a full queue is disconnected as well when its stream is dropped here.
            let _ = gone.out.try_send(Err(status));
        }
        for stage in stages {
            let message = SetForwardingPipelineConfigResponse {
                set_forwarding_pipeline_config_response_type: (*stage).into(),
            };
            let event = Event::SetForwardingPipelineConfigResponse(message);
            self.clients.streams().for_each(|client| client.notify(event.clone()));
        }
    }

    fn notify_ports(&self, changes: &[PortChange]) -> Result<(), Status> {
        let Some(pipeline) = &self.running else { return Ok(()) };
        for (port, port_up) in changes {
            let entry = Entry::new("$PORT").exact("$DEV_PORT", *port);
            let table_entry = Some(pipeline.info.encode(&entry).map_err(misfit)?);
            let event = Event::PortStatusChangeNotification(PortStatusChgNotification {
                table_entry,
                port_up: *port_up,
            });
            self.clients
                .streams()
                .filter(|client| client.ports)
                .for_each(|client| client.notify(event.clone()));
        }
        Ok(())
    }
}

impl Device {
    pub fn new(id: DeviceId, switch: Arc<Lock<Switch>>, ports: Ports) -> Self {
        let (compiling, turn, state) = Default::default();
        Self { id, switch, compiling, turn, state, ports }
    }

    /// Refuses a call that is for another device.
    pub fn check_id(&self, id: u32) -> Result<(), Status> {
        match id == self.id.0 {
            true => Ok(()),
            false => Err(Status::not_found(format!("there is no device {id} here, only {}", self.id))),
        }
    }

    /// Takes in a client.
    pub async fn join(&self, client: u32, listener: Listener) -> Result<Stay, Status> {
        self.state.lock().await.clients.join(client, listener)
    }

    /// Forgets a client whose stream ended.
    pub async fn leave(&self, stay: Stay) {
        self.state.lock().await.clients.leave(stay);
    }

    /// Applies a batch of updates.
    pub async fn write(&self, request: WriteRequest) -> Result<(), Status> {
        at_most(request.updates.len(), limits::UPDATES, "updates in a write", "send them in several")?;
        let atomicity = Atomicity::try_from(request.atomicity)
            .map_err(|_| invalid(format!("atomicity {} is not known", request.atomicity)))?;
        let _turn = self.turn.write().await;
        let mut state = self.state.lock().await;
        let pipeline = state.pipeline_mut(request.client_id, &request.p4_name)?;
        let applied = batch::apply(pipeline, &request.updates, atomicity);
        state.writes += 1;
        state.notify_ports(&applied.ports)?;
        match applied.results.iter().all(Result::is_ok) {
            true => Ok(()),
            false => Err(update_errors_status(&applied.results)),
        }
    }

    /// Starts a read of the entities that filters select. Writes wait while its client holds the turn, which
    /// it releases soon.
    pub async fn begin_read(
        &self,
        client: u32,
        name: &str,
        filters: Vec<Entity>,
    ) -> Result<(Reading, OwnedRwLockReadGuard<()>), Status> {
        at_most(filters.len(), limits::FILTERS, "entities in a read", "ask for them in several")?;
        let turn = self.turn.clone().read_owned().await;
        let state = self.state.lock().await;
        state.check(client, name)?;
        Ok((Reading::new(filters, state.writes), turn))
    }

    /// Returns the next answer of a read, which may be empty; `None` after the last. An error ends the read.
    pub async fn read(&self, reading: &mut Reading) -> Result<Option<Vec<Entity>>, Status> {
        let state = self.state.lock().await;
        reading.next(state.current().ok_or_else(no_program)?, state.writes)
    }

    /// Binds a client, or verifies, starts or ends a program.
    pub async fn set_program(&self, request: SetForwardingPipelineConfigRequest) -> Result<(), Status> {
        let action = Action::try_from(request.action)
            .map_err(|_| invalid(format!("action {} is not known", request.action)))?;
        let config = one(action, request.config)?;
        let verified = match (action, config) {
            (Action::Bind, Some(config)) => {
                let mut state = self.state.lock().await;
                state.known(&config.p4_name)?;
                return state.clients.bind(request.client_id, &config.p4_name);
            }
            (Action::ReconcileAndWarmInitEnd, _) => return Err(unserved("no program is reconciled here")),
            (Action::WarmInitEnd, _) => None,
            (_, config) => Some(self.verify(config.unwrap_or_default()).await?),
        };
        let mut state = self.state.lock().await;
        if action != Action::Verify
            && let Some(verified) = &verified
        {
            let held = [state.running.as_ref(), state.staged.as_ref()].into_iter().flatten();
            check_arrays(held.map(|pipeline| pipeline.program.clone()), &verified.program)?;
        }
        let ports = state.running.as_ref().map_or(&self.ports, |running| &running.ports).clone();
        match (action, verified) {
            (Action::VerifyAndWarmInitBegin, Some(verified)) => {
                state.staged = Some(Pipeline::stage(verified, ports)?);
                state.changed(&[Stage::WarmInitStarted]);
            }
            (Action::VerifyAndWarmInitBeginAndEnd, Some(verified)) => {
                state.running = Some(Pipeline::stage(verified, ports)?.run_on(&self.switch));
                state.staged = None;
                state.changed(&[Stage::WarmInitStarted, Stage::WarmInitFinished]);
            }
            (Action::WarmInitEnd, _) => {
                let staged = state.staged.take();
                let staged =
                    staged.ok_or_else(|| invalid("no program was started: send WARM_INIT_BEGIN first"))?;
                state.running = Some(staged.run_on(&self.switch));
                state.changed(&[Stage::WarmInitFinished]);
            }
            // VERIFY alone.
            _ => {}
        }
        Ok(())
    }

    /// Compiling a large program takes a while: other calls go on meanwhile, but no other compilation.
    async fn verify(&self, config: ForwardingPipelineConfig) -> Result<Verified, Status> {
        self.compiling.run(|stop| Verified::new(config, stop)).await
    }

    /// Returns the running programs, and the tables that the device has with any program.
    pub async fn programs(&self) -> GetForwardingPipelineConfigResponse {
        let state = self.state.lock().await;
        let pipeline = state.current();
        GetForwardingPipelineConfigResponse {
            config: pipeline.map(|pipeline| pipeline.config.clone()).into_iter().collect(),
            non_p4_config: Some(NonP4Config { bfruntime_info: DEVICE_INFO.to_vec() }),
        }
    }
}

/// Returns the one config of a request; none for the action that takes none.
fn one(
    action: Action,
    mut configs: Vec<ForwardingPipelineConfig>,
) -> Result<Option<ForwardingPipelineConfig>, Status> {
    match (action, configs.len()) {
        (Action::WarmInitEnd, 0) => Ok(None),
        (Action::WarmInitEnd, _) => Err(invalid("WARM_INIT_END takes no config: send it without one")),
        (_, 1) => Ok(configs.pop()),
        (_, many) => Err(invalid(format!("{} takes one config, not {many}", action.as_str_name()))),
    }
}

fn no_program() -> Status {
    Status::not_found("no program is loaded: send one with SetForwardingPipelineConfig first")
}
