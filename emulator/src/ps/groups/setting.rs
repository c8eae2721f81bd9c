//! Settings of an emulation of hierarchical groups.

use std::path::PathBuf;
use std::time::Duration;

use inart_planner_aggregation::{Levels, Results, schemes};
use inart_planner_ps::Racks;
use inart_topologies::faults::Faults;
use inart_topologies::ps::Job;
use inart_topologies::switched::Topology;
use inart_training::{Config, ConfigError, Stepper};
use inart_wire::ValuesPerFrame;

use crate::aggregation::options::Options;
use crate::machine::fault::DropRate;
use crate::machine::scale::{Scale, Scaling};

/// Settings of an emulation of hierarchical groups.
pub struct RackSetting {
    /// The network.
    pub topology: Topology,
    /// The job, as the planner has it.
    pub planned: inart_topologies::switched::Job,
    /// The job at the rates and times that are emulated, with the model's own size.
    pub job: Job,
    /// Factor on the topology's rates.
    pub scale: Scale,
    /// Factor of times.
    pub times: f64,
    /// Iterations of every group.
    pub iterations: u32,
    /// Images per worker and iteration.
    pub batch: usize,
    /// The step along the gradient, of all workers together.
    pub step: f64,
    /// Decides data, weights and times to compute.
    pub seed: u64,
    /// Values per frame.
    pub values: ValuesPerFrame,
    /// Chunks in flight per worker and server.
    pub window_chunks: u32,
    /// Share of frames that every link drops.
    pub drop: DropRate,
    /// Peer timeout of hosts.
    pub peer_timeout: Duration,
    /// The `inart` command.
    pub program: PathBuf,
}

impl RackSetting {
    /// By how much the emulated network is smaller.
    pub fn scaling(&self) -> Scaling {
        Scaling { rates: self.scale.factor(), times: self.times }
    }

    /// The worker of a place in the job.
    ///
    /// # Errors
    /// As [`Stepper::new`].
    pub fn stepper(&self, rank: usize) -> Result<Stepper, ConfigError> {
        let workers = self.job.participants.len();
        let config = Config { seed: self.seed, rank, workers, batch: self.batch };
        Stepper::new(config, (self.step / workers as f64) as f32)
    }

    /// The jobs of the groups, as their plans name them.
    pub(super) fn jobs(&self, racks: &Racks) -> Vec<inart_topologies::switched::Job> {
        let job = |group: &inart_planner_ps::Group| {
            let mut job = self.planned.clone();
            job.name.clone_from(&group.plan.job);
            job.workers = group.members.iter().map(|&at| self.planned.workers[at]).collect();
            job
        };
        racks.groups.iter().map(job).collect()
    }

    /// Returns the options of the testbed.
    pub(super) fn options(&self) -> Options {
        Options {
            topology: self.topology.clone(),
            schemes: vec![schemes::DEFAULT],
            plans: Vec::new(),
            levels: Levels::One,
            results: Results::Counted,
            jobs: 1,
            target: inart_targets::DEFAULT,
            values: self.values,
            window_chunks: self.window_chunks,
            scale: None,
            drop: self.drop,
            faults: Faults::default(),
            peer_timeout: self.peer_timeout,
            expose: None,
            follow: false,
            changes: None,
            seed: self.seed,
            program: self.program.clone(),
            switch: None,
            external: None,
        }
    }
}
