//! Compiling the program with p4c.

use std::path::Path;
use std::process::Command;

use inart_wire::ValuesPerFrame;
use serde_json::Value;

use crate::artifact::files;
use crate::folder::write;
use crate::scratch::Scratch;
use crate::{Error, version, write_manifest};

const P4C: &str = "p4c-bm2-ss";

/// The version of p4c that printed the artifacts, relative to the P4 folder.
const VERSION_FILE: &str = "build/P4C_VERSION";

/// `p4c-bm2-ss`, found on the PATH.
#[derive(Debug)]
pub struct P4c {
    version: String,
}

impl P4c {
    /// Looks for it on the PATH.
    pub fn find() -> Option<Self> {
        version::of_tool(Command::new(P4C).arg("--version")).map(|version| Self { version })
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

    /// Compiles `inart.p4` in the P4 folder `dir` for `values` values per frame: bmv2 JSON and P4Info.
    ///
    /// The JSON is without spaces and without positions in the source, which no switch needs: less than a
    /// third is left.
    ///
    /// # Errors
    /// If p4c cannot be run, refuses the program, or prints something else than expected.
    pub fn compile(&self, dir: &Path, values: ValuesPerFrame) -> Result<(Vec<u8>, String), Error> {
        let scratch = Scratch::new(&format!("n{values}"))?;
        let (json, p4info) = (scratch.path().join("program.json"), scratch.path().join("p4info.txtpb"));
        let output = Command::new(P4C)
            .args(["--arch", "v1model", "-D", &format!("VALUES_PER_FRAME={values}"), "-o"])
            .arg(&json)
            .arg("--p4runtime-files")
            .arg(&p4info)
            .arg("inart.p4")
            .current_dir(dir)
            .output()
            .map_err(Error::file(Path::new(P4C)))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Error::Compile { values, message });
        }
        let printed = std::fs::read(&json).map_err(Error::file(&json))?;
        let mut program: Value =
            serde_json::from_slice(&printed).map_err(|source| Error::Json { values, source })?;
        remove_positions(&mut program);
        let mut json = program.to_string().into_bytes();
        json.push(b'\n');
        Ok((json, std::fs::read_to_string(&p4info).map_err(Error::file(&p4info))?))
    }

    /// Compiles all artifacts of the P4 folder `dir` and lists the hashes they belong to.
    ///
    /// # Errors
    /// If p4c fails, or a file cannot be written.
    pub fn build(&self, dir: &Path) -> Result<(), Error> {
        let mut artifacts = Vec::new();
        for values in ValuesPerFrame::ALL {
            let (json, p4info) = self.compile(dir, values)?;
            let [json_file, p4info_file] = files(values);
            write(dir, &json_file, &json)?;
            write(dir, &p4info_file, p4info.as_bytes())?;
            artifacts.extend([json_file, p4info_file]);
        }
        write(dir, VERSION_FILE, format!("{}\n", self.version).as_bytes())?;
        write_manifest(dir, &artifacts)
    }
}

fn remove_positions(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("source_info");
            fields.values_mut().for_each(remove_positions);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_positions),
        _ => {}
    }
}
