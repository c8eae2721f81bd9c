//! `--plan` for orders, which have no plan.

use std::path::PathBuf;

use anyhow::bail;

/// A user's own plan, which orders refuse by name.
#[derive(clap::Args)]
pub struct NoPlan {
    /// Not with --sync: the order decides.
    #[arg(long, value_name = "FILE", hide = true)]
    plan: Option<PathBuf>,
}

impl NoPlan {
    /// Returns the reason why an order follows no plan, and the setting in its place.
    pub fn refuse(&self, in_groups: bool) -> anyhow::Result<()> {
        match (&self.plan, in_groups) {
            (None, _) => Ok(()),
            (Some(_), false) => bail!(
                "--plan: an order at a parameter server follows no plan, its server decides at every push; leave \
                 it out and set the order by --sync and its flags (docs/how-to/compare-ps-orders.md)"
            ),
            (Some(_), true) => bail!(
                "--plan: groups are divided and planned for the run; leave it out and set their number by --aggregated-groups"
            ),
        }
    }
}
