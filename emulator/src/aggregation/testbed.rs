//! A testbed: the site of a network's hosts and switches, and the controller's process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use inart_controller::JobPlan;
use inart_p4::Reason;
use inart_protocol_aggregation::Assignment;
use inart_targets::{Access, Endpoint, Program, Running, Target};
use inart_topologies::faults::{Schedule, Step, Victim};
use inart_topologies::switched::Topology;
use tokio::runtime::Runtime;

use crate::aggregation::controller::ControllerProcess;
use crate::aggregation::controller_events::ControllerEvents;
use crate::aggregation::options::Options;
use crate::aggregation::site::{HostEndpoint, Site};
use crate::error::Error;
use crate::machine::relay::RelayCounters;
use crate::machine::scratch::Scratch;

/// Seconds between two looks of a controller that follows its network.
const WATCH_EVERY: &str = "200ms";

/// A running network on which plans can be installed and hosts started. Dropping it ends its processes and
/// removes its namespaces.
pub struct Testbed {
    topology: Topology,
    target: &'static dyn Target,
    program: Arc<dyn Program>,
    /// The `inart` command.
    command: PathBuf,
    controller: Option<ControllerProcess>,
    runtime: Runtime,
    schedule: Schedule,
    site: Site,
    scratch: Scratch,
    /// A folder for what `inart doctor` reads.
    expose: Option<PathBuf>,
    /// Whether controllers watch the network.
    follow: bool,
    news: ControllerEvents,
}

/// Counters of switches and links since the start of the testbed.
#[derive(Clone, Debug, Default)]
pub struct TestbedCounters {
    /// Frames that became part of a sum.
    pub aggregated: u64,
    /// Frames dropped by switches, in the order of [`Reason::ALL`].
    pub drops: Vec<u64>,
    /// Counters of injected frame faults.
    pub links: RelayCounters,
}

impl Testbed {
    /// Builds the network at `scale` times its rates and starts its switches, or attaches to an external
    /// testbed. No program is loaded yet. `topology` has the jobs that will run.
    ///
    /// # Errors
    /// [`Error`] if the faults do not fit the topology, or namespaces, links or switches cannot be made.
    pub fn start(topology: &Topology, options: &Options, scale: f64) -> Result<Self, Error> {
        let scratch = Scratch::new().map_err(Error::system("create a directory in memory"))?;
        let schedule = options.schedule(topology)?;
        if let Some(folder) = &options.expose {
            // Records of an earlier emulation, whose switches have ended; the folder may hold those of others
            // too.
            let file = inart_controller::file_name(topology.name());
            let _ = std::fs::remove_file(folder.join("state").join(file));
        }
        let site = match &options.external {
            Some(testbed) => Site::external(testbed)?,
            None => Site::build(topology, options, scale, &schedule, &scratch)?,
        };
        Ok(Self {
            target: options.target,
            program: options.target.program(options.values, None)?,
            runtime: Runtime::new().map_err(Error::system("start threads"))?,
            topology: topology.clone(),
            command: options.program.clone(),
            controller: None,
            schedule,
            site,
            scratch,
            expose: options.expose.clone(),
            follow: options.follow,
            news: ControllerEvents::default(),
        })
    }

    /// Starts a controller with the plans of a scheme, in place of the one before, and waits until all are
    /// installed, under new plan versions; returns the assignment of each job's hosts.
    ///
    /// # Errors
    /// [`Error::Controller`] if the controller ends or does not install the plans in time.
    pub fn install(&mut self, scheme: &str, plans: &[JobPlan]) -> Result<Vec<Assignment>, Error> {
        if let Some(before) = self.controller.take() {
            before.stop();
        }
        let file = |name: String, text: String| {
            let path = self.scratch.path(&name);
            std::fs::write(&path, text).map_err(Error::system("write a file for the controller"))?;
            Ok::<_, Error>(OsString::from(path))
        };
        let first = plans.first();
        let mut arguments = vec![file("topology.yaml".into(), self.topology.to_yaml())?];
        for plan in plans {
            let path = file(format!("{scheme}-{}.json", plan.job), plan.plan.to_json())?;
            arguments.extend(["--plan".into(), path]);
        }
        for switch in self.site.switches()? {
            let target = format!("{}={},device={}", switch.name, switch.address, switch.device);
            arguments.extend(["--switch".into(), target.into()]);
        }
        let window = first.map_or(1, |plan| plan.window_chunks);
        let rate_scale = first.map_or(1.0, |plan| plan.rate_scale);
        for (option, value) in [
            ("--target", self.target.name().to_owned()),
            ("--values", self.program.values().to_string()),
            ("--window", window.to_string()),
            ("--rate-scale", rate_scale.to_string()),
        ] {
            arguments.extend([option.into(), value.into()]);
        }
        if self.follow {
            arguments.extend(["--follow", "--watch-every", WATCH_EVERY].map(OsString::from));
        }
        let open =
            |name: &str| self.expose.as_ref().map_or_else(|| self.scratch.path(name), |dir| dir.join(name));
        arguments.extend(["--state".into(), open("state").into()]);
        self.news = ControllerEvents::default();
        let socket = open("controller.sock");
        let controller = ControllerProcess::start(&self.command, &socket, arguments)?;
        let jobs: Vec<_> = plans.iter().map(|plan| plan.plan.job.as_str()).collect();
        self.controller.insert(controller).assignments(&self.runtime, &jobs)
    }

    /// Returns the address of the controller, once plans were installed.
    pub fn controller_address(&self) -> Option<&str> {
        self.controller.as_ref().map(ControllerProcess::address)
    }

    /// The fault schedule.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Performs a step, except for actions on hosts.
    ///
    /// # Errors
    /// [`Error`] if a process or a link cannot be changed.
    pub fn act(&mut self, step: Step) -> Result<(), Error> {
        match step {
            Step::Kill(Victim::Controller) => {
                self.controller.iter_mut().for_each(ControllerProcess::kill);
                Ok(())
            }
            Step::Start(Victim::Controller) => {
                self.controller.as_mut().map_or(Ok(()), ControllerProcess::restart)
            }
            _ => self.site.act(step),
        }
    }

    /// Starts and stops the background traffic that is due at this time after the start of the run; returns
    /// the started and stopped flows as text.
    ///
    /// # Errors
    /// [`Error::System`] for a flow that cannot be started.
    pub fn tend_traffic(&mut self, elapsed: Duration) -> Result<Vec<String>, Error> {
        self.site.tend_traffic(elapsed)
    }

    /// Returns the events at the controller since the last query, as text; empty while it is not running.
    pub fn news(&mut self) -> Vec<String> {
        let Some(controller) = &self.controller else { return Vec::new() };
        let Ok((status, decisions)) = controller.status_and_decisions(&self.runtime) else {
            return Vec::new();
        };
        let mut news = self.news.of_decisions(&decisions);
        news.extend(self.news.of(&status));
        news
    }

    /// Stops all background traffic; the next run begins from scratch. Returns the first flow that has not
    /// run, if any, as text.
    pub fn stop_traffic(&mut self) -> Option<String> {
        self.site.stop_traffic()
    }

    /// Waits until the controller has reconciled every switch.
    ///
    /// # Errors
    /// [`Error::Controller`] if the controller ends or does not finish in time.
    pub fn settle(&mut self) -> Result<(), Error> {
        self.controller.as_mut().map_or(Ok(()), |controller| controller.settle(&self.runtime))
    }

    /// The network with the jobs that run, and the capacities that each may use.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns the location of a host.
    pub fn host(&self, name: &str) -> HostEndpoint<'_> {
        self.site.host(name)
    }

    /// A file in a directory that is removed with the testbed.
    pub fn scratch_path(&self, name: &str) -> PathBuf {
        self.scratch.path(name)
    }

    /// Reads the counters of all switches and of the relay. A switch that was killed counts from 0 again.
    ///
    /// # Errors
    /// [`Error::Switch`] for a switch that cannot be asked.
    pub fn counters(&mut self) -> Result<TestbedCounters, Error> {
        let mut sum = TestbedCounters { drops: vec![0; Reason::ALL.len()], ..Default::default() };
        let mut places = BTreeMap::new();
        for switch in self.site.switches()? {
            places.insert(switch.name, Endpoint::local(switch.address, switch.device));
        }
        for (switch, place) in places {
            let cause = |cause| Error::Switch { switch: switch.clone(), cause: Box::new(cause) };
            let read = async {
                let mut session = self.program.open(place, Access::Read).await?;
                match session.running().await? {
                    Running::Ours => Ok(Some(session.counters().await?)),
                    Running::Nothing | Running::Other => Ok(None),
                }
            };
            let Some(counters) = self.runtime.block_on(read).map_err(cause)? else { continue };
            sum.aggregated += counters.summed().max(0) as u64;
            for (total, reason) in sum.drops.iter_mut().zip(Reason::ALL) {
                *total += counters.drops(*reason).packets.max(0) as u64;
            }
        }
        sum.links = self.site.link_counters();
        Ok(sum)
    }
}

impl TestbedCounters {
    /// Frames dropped by switches since `earlier`, by reason; reasons that did not occur are left out.
    pub fn drops_since(&self, earlier: &Self) -> BTreeMap<String, u64> {
        let counts = Reason::ALL.iter().zip(self.drops.iter().zip(&earlier.drops));
        counts
            .filter(|(_, (now, then))| now > then)
            .map(|(why, (now, then))| (why.to_string(), now - then))
            .collect()
    }
}
