//! Parts that runs of workers and of clients share.

use anyhow::ensure;

use crate::commands::ps::absent::Absent;

/// Arguments of both kinds of run.
pub struct Common<'a> {
    pub sync: &'a str,
    pub relaxation: Option<&'a str>,
    pub fraction: Option<f64>,
    pub patience_s: Option<f64>,
    pub absent: &'a [Absent],
    pub seed: u64,
}

/// Refuses a flag that has no effect here.
pub fn refuse(is_given: bool, flag: &str, wanted: &str) -> anyhow::Result<()> {
    ensure!(!is_given, "--{flag}: it is for --sync {wanted} only; leave it out");
    Ok(())
}
