//! What runs of workers and of clients have in common.

use anyhow::ensure;

use crate::commands::ps::absent::Absent;

/// What both kinds of run take.
pub struct Common<'a> {
    pub sync: &'a str,
    pub relaxation: Option<&'a str>,
    pub fraction: Option<f64>,
    pub patience_s: Option<f64>,
    pub absent: &'a [Absent],
    pub seed: u64,
}

/// A flag that was given and means nothing here.
pub fn refuse(is_given: bool, flag: &str, wanted: &str) -> anyhow::Result<()> {
    ensure!(!is_given, "--{flag}: it is for --sync {wanted} only; leave it out");
    Ok(())
}
