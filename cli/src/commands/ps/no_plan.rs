//! `--plan` where no plan decides anything.

use std::path::PathBuf;

use anyhow::bail;

/// A plan of a user's own, which orders refuse by name.
#[derive(clap::Args)]
pub struct NoPlan {
    /// Not with --sync: the order decides.
    #[arg(long, value_name = "FILE", hide = true)]
    plan: Option<PathBuf>,
}

impl NoPlan {
    /// Says why no plan is followed, and what to set in its place.
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
