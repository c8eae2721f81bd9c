//! `inart emulate --plan`: plans of a user's own.

use std::path::PathBuf;

use anyhow::ensure;
use inart_emulator::OWN;
use inart_planner_aggregation::{Levels, Plan, Results, Scheme};
use inart_topologies::switched::Topology;

use crate::commands::plan::aggregation::read_given;

/// Plans to run.
#[derive(clap::Args)]
pub struct OwnArgs {
    /// Plans to run under the name `own`, as of `inart plan --json` or `inart plan --complete`.
    ///
    /// Only their jobs run. With --schemes, the schemes run too.
    #[arg(long, value_name = "FILE", conflicts_with = "jobs")]
    plan: Option<PathBuf>,
}

impl OwnArgs {
    pub fn is_given(&self) -> bool {
        self.plan.is_some()
    }

    /// Reads the plans; they hold.
    pub fn read(&self, topology: &Topology) -> anyhow::Result<Vec<Plan>> {
        self.plan.as_ref().map_or_else(|| Ok(Vec::new()), |path| read_given("--plan", topology, path))
    }

    /// Refuses flags of planned schemes if no planned scheme runs.
    pub fn refuse_settings_of_schemes(
        &self,
        schemes: &[&'static dyn Scheme],
        levels: Levels,
        results: Results,
    ) -> anyhow::Result<()> {
        let is_alone = self.is_given() && schemes == [OWN];
        for (flag, is_set) in
            [("aggregation-depth", levels != Levels::One), ("results", results != Results::Counted)]
        {
            ensure!(
                !(is_alone && is_set),
                "--{flag}: is for plans that schemes make, and --plan gives them; leave it out, or name --schemes"
            );
        }
        Ok(())
    }
}
