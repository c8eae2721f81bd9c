//! Checks that all variants can run, before the first one runs.

use std::path::Path;
use std::process::{Command, Stdio};

use inart_planner_sites::plan;

use super::setting::{Method, Setting, Variant};
use crate::error::Error;

/// Ends with status 0 if Python finds torch, without loading it.
const FINDS_TORCH: &str = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)";

impl Setting {
    /// Checks that each variant has a name of its own, can be planned on this network, and finds its program.
    ///
    /// # Errors
    /// The setting, what is wrong, and the fix.
    pub fn check(&self) -> Result<(), Error> {
        for (at, variant) in self.variants.iter().enumerate() {
            if self.variants[..at].iter().any(|other| other.name == variant.name) {
                return Err(wrong("schemes", format!("{} is named twice; name it once", variant.name)));
            }
            self.check_variant(variant)?;
        }
        Ok(())
    }

    fn check_variant(&self, variant: &Variant) -> Result<(), Error> {
        match &variant.method {
            Method::Planned { plan: options, .. } => {
                let (overlay, job) = (&self.overlay, &self.overlay.jobs()[0]);
                let planned = plan(overlay, job, &overlay.rates_at(0.0), options);
                planned.map(drop).map_err(|error| wrong("schemes", format!("{}: {error}", variant.name)))
            }
            Method::Gloo { python } => finds_torch(python).map_err(|problem| wrong("python", problem)),
        }
    }
}

fn wrong(option: &'static str, problem: String) -> Error {
    Error::Option { option, problem }
}

fn finds_torch(python: &Path) -> Result<(), String> {
    const FIX: &str = "name the Python that has torch, or leave the scheme gloo out";
    let mut command = Command::new(python);
    command.args(["-c", FINDS_TORCH]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{} does not find torch; {FIX}", python.display())),
        Err(error) => Err(format!("cannot start {}: {error}; {FIX}", python.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::finds_torch;

    #[test]
    fn a_python_without_torch_is_named() {
        for (python, named) in [("/no/such/python", "cannot start"), ("/bin/false", "does not find torch")] {
            let problem = finds_torch(python.as_ref()).expect_err("has no torch");
            assert!(problem.contains(python) && problem.contains(named), "{problem}");
        }
        assert_eq!(finds_torch("/bin/true".as_ref()), Ok(()));
    }
}
