//! Programs as sent to a device and returned by it.

use crate::bfrt_proto::{ForwardingPipelineConfig, forwarding_pipeline_config};
use crate::info::{Info, InfoError};

/// Program of a set of pipes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// Name of the profile; `pipe` if p4c had no name.
    pub name: String,
    /// `context.json`; the embedded switch needs none.
    pub context: Vec<u8>,
    /// `tofino.bin`, or the program in the form that the embedded switch runs.
    pub binary: Vec<u8>,
    /// The pipes; all, if there are none.
    pub pipes: Vec<u32>,
}

/// A compiled program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// The name by which clients bind to it.
    pub name: String,
    /// `bf-rt.json`.
    pub info: Vec<u8>,
    /// Running programs.
    pub profiles: Vec<Profile>,
}

/// Programs of a device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configs {
    /// Programs.
    pub programs: Vec<Program>,
    /// `bf-rt.json` of the tables that it has with any program, such as `$PORT`.
    pub device_info: Vec<u8>,
}

impl Configs {
    /// Returns the program of that name.
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.programs.iter().find(|program| program.name == name)
    }

    /// Returns the index of the device's own tables.
    ///
    /// # Errors
    /// [`InfoError`] if the device has none.
    pub fn device_info(&self) -> Result<Info, InfoError> {
        Info::from_json(&self.device_info)
    }
}

impl From<Program> for ForwardingPipelineConfig {
    fn from(program: Program) -> Self {
        let profiles = program.profiles.into_iter().map(|profile| forwarding_pipeline_config::Profile {
            profile_name: profile.name,
            context: profile.context,
            binary: profile.binary,
            pipe_scope: profile.pipes,
        });
        Self { p4_name: program.name, bfruntime_info: program.info, profiles: profiles.collect() }
    }
}

impl From<ForwardingPipelineConfig> for Program {
    fn from(config: ForwardingPipelineConfig) -> Self {
        let profiles = config.profiles.into_iter().map(|profile| Profile {
            name: profile.profile_name,
            context: profile.context,
            binary: profile.binary,
            pipes: profile.pipe_scope,
        });
        Self { name: config.p4_name, info: config.bfruntime_info, profiles: profiles.collect() }
    }
}
