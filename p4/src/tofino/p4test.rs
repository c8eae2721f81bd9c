//! Printing the program's intermediate form with p4c's front and mid end.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Variant;
use super::barefoot::{SUMS, Source};
use super::ir::shrink;
use crate::scratch::Scratch;
use crate::{Error, version};

const P4TEST: &str = "p4test";

/// The version of p4c that printed the artifacts, relative to the P4 folder.
pub(super) const VERSION_FILE: &str = "tofino/build/P4C_VERSION";

/// `p4test`, p4c's front and mid end, found on the PATH. It looks for `tna.p4` and `t2na.p4` in the folders
/// of `P4C_16_INCLUDE_PATH`, if they are not next to p4c's other files.
#[derive(Debug)]
pub struct P4test {
    version: String,
}

impl P4test {
    /// Looks for it on the PATH.
    pub fn find() -> Option<Self> {
        version::of_tool(Command::new(P4TEST).arg("--version")).map(|version| Self { version })
    }

    /// Returns the version and commit, in its own words.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the version that printed the artifacts in the P4 folder `dir`.
    ///
    /// # Errors
    /// If the file with the version cannot be read.
    pub fn version_used(dir: &Path) -> Result<String, Error> {
        version::noted(dir, VERSION_FILE)
    }

    /// Returns the intermediate form of `tofino/inart.p4` in the P4 folder `dir` after the mid end, for a
    /// variant.
    ///
    /// # Errors
    /// If p4test cannot be run, refuses the program, or prints something else than expected.
    pub fn compile(&self, dir: &Path, variant: Variant) -> Result<Vec<u8>, Error> {
        self.compile_source(dir, &SUMS, variant)
    }

    pub(super) fn compile_source(
        &self,
        dir: &Path,
        source: &Source,
        variant: Variant,
    ) -> Result<Vec<u8>, Error> {
        let scratch = Scratch::new(&format!("{}-{variant}", source.name))?;
        let json = scratch.path().join("program.json");
        let output = Command::new(P4TEST)
            .args(["--std", "p4-16", "--Wdisable"])
            .args(variant.defines())
            .arg("--toJSON")
            .arg(&json)
            .arg(source.file())
            .current_dir(dir.join(source.folder))
            .output()
            .map_err(Error::file(Path::new(P4TEST)))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Error::Tofino { variant, message });
        }
        let wrong = |message: String| Error::Tofino { variant, message };
        let printed = std::fs::read(&json).map_err(Error::file(&json))?;
        let program: Value = serde_json::from_slice(&printed).map_err(|error| wrong(error.to_string()))?;
        let mut text = shrink(&program).map_err(wrong)?.to_string().into_bytes();
        text.push(b'\n');
        Ok(text)
    }
}
