//! Compiling the program for the chip with p4c's back end for Tofino.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::resources::Resources;
use super::{Chip, Variant};
use crate::scratch::Scratch;
use crate::{Error, version};

const BAREFOOT: &str = "p4c-barefoot";
const ASSEMBLER: &str = "bfas";

/// A program: the folder of its sources under the P4 folder, and its name.
pub(super) struct Source {
    pub folder: &'static str,
    pub name: &'static str,
}

impl Source {
    /// Returns the file to compile, in its folder.
    pub fn file(&self) -> String {
        format!("{}.p4", self.name)
    }
}

/// The one that sums.
pub(super) const SUMS: Source = Source { folder: "tofino", name: "inart" };

/// `p4c-barefoot` and its assembler, found on the PATH. They look for `tna.p4` and `t2na.p4` where `p4test`
/// does.
#[derive(Debug)]
pub struct Barefoot {
    version: String,
}

/// Output of the back end for a variant.
#[derive(Debug)]
pub struct Compiled {
    /// Tables as BFRuntime names them: `bf-rt.json`.
    pub bf_rt: Vec<u8>,
    /// P4Info, as protobuf text.
    pub p4info: String,
    /// Resources of the chip: [`Resources`] as JSON.
    pub resources: Vec<u8>,
}

impl Barefoot {
    /// Looks for it on the PATH.
    pub fn find() -> Option<Self> {
        let version = version::of_tool(Command::new(BAREFOOT).arg("--version"))?;
        // The assembler does not print its version; a successful start is enough.
        Command::new(ASSEMBLER).arg("--help").output().ok()?;
        Some(Self { version })
    }

    /// Returns the version, in its own words.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Compiles and assembles `tofino/inart.p4` in the P4 folder `dir` for a variant. It succeeds only if the
    /// program fits the chip.
    ///
    /// # Errors
    /// If a tool cannot be run, the program does not fit, or something else is printed than expected.
    pub fn compile(&self, dir: &Path, variant: Variant) -> Result<Compiled, Error> {
        self.compile_source(dir, &SUMS, variant)
    }

    pub(super) fn compile_source(
        &self,
        dir: &Path,
        source: &Source,
        variant: Variant,
    ) -> Result<Compiled, Error> {
        let name = source.name;
        let scratch = Scratch::new(&format!("chip-{name}-{variant}"))?;
        let (bf_rt, p4info) = (scratch.path().join("bf-rt.json"), scratch.path().join("p4info.txtpb"));
        let (target, arch) = match variant.chip {
            Chip::Tofino1 => ("tofino", "tna"),
            Chip::Tofino2 => ("tofino2", "t2na"),
        };
        let mut compiler = Command::new(BAREFOOT);
        compiler.args(["--std", "p4-16", "--Wdisable", "-g", "--target", target, "--arch", arch]);
        compiler.args(variant.defines());
        compiler.arg("-o").arg(scratch.path()).arg("--bf-rt-schema").arg(&bf_rt);
        // As the specification has counters and registers, not as extensions of the vendor's.
        compiler.args(["--p4runtime-force-std-externs", "--p4runtime-files"]).arg(&p4info).arg(source.file());
        run(compiler.current_dir(dir.join(source.folder)), variant)?;
        let pipe = scratch.path().join("pipe");
        let mut assembler = Command::new(ASSEMBLER);
        assembler.args(["--target", target, "-o"]).arg(&pipe).arg(pipe.join(format!("{name}.bfa")));
        parser_is_whole(&run(assembler.current_dir(&pipe), variant)?, variant)?;

        let json = |path: &Path| -> Result<Value, Error> {
            let text = std::fs::read(path).map_err(Error::file(path))?;
            serde_json::from_slice(&text).map_err(|error| Error::Chip { variant, message: error.to_string() })
        };
        let logs = pipe.join("logs");
        let resources =
            Resources::of_logs(&json(&logs.join("resources.json"))?, &json(&logs.join("phv.json"))?)
                .map_err(|message| Error::Chip { variant, message })?;
        Ok(Compiled {
            bf_rt: line(&in_order(json(&bf_rt)?)),
            p4info: std::fs::read_to_string(&p4info).map_err(Error::file(&p4info))?,
            resources: line(&resources.to_json()),
        })
    }
}

/// Tables for debuggers that stop the chip at a stage. The compiler gives them now these numbers, now those.
const SNAPSHOTS: &str = "pipe.snapshot.";

/// Returns the tables of a `bf-rt.json` by name, without those of snapshots: so it is the same whenever it is
/// printed.
fn in_order(mut info: Value) -> Value {
    if let Some(tables) = info.get_mut("tables").and_then(Value::as_array_mut) {
        tables.retain(|table| table["name"].as_str().is_none_or(|name| !name.starts_with(SNAPSHOTS)));
        tables.sort_by_cached_key(|table| table["name"].as_str().unwrap_or_default().to_owned());
        for table in tables {
            if let Some(others) = table.get_mut("depends_on").and_then(Value::as_array_mut) {
                others.sort_by_key(|id| id.as_u64());
            }
        }
    }
    info
}

/// Runs a tool, and returns its words.
fn run(command: &mut Command, variant: Variant) -> Result<String, Error> {
    let tool = command.get_program().to_owned();
    let output = command.output().map_err(Error::file(Path::new(&tool)))?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    Err(Error::Chip { variant, message: said.trim().to_owned() })
}

/// Rejects a program whose parser cannot distinguish frames. Some versions of p4c generate one for every
/// source, and the assembler accepts it, with a warning.
fn parser_is_whole(said: &str, variant: Variant) -> Result<(), Error> {
    if !said.contains("Can't match parser state due to previous match") {
        return Ok(());
    }
    let message = "the assembler reports that parser states cannot be matched: this p4c-barefoot loses what parsers \
                   compare (p4c's pull request 5753); take one from September 2026 or later, or from before February"
        .to_owned();
    Err(Error::Chip { variant, message })
}

fn line(json: &Value) -> Vec<u8> {
    let mut text = json.to_string().into_bytes();
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_are_in_one_order() {
        let table = |name: &str, others: [u64; 2]| json!({"name": name, "depends_on": others});
        let printed =
            [("b", [2, 1], "a", [3, 4]), ("a", [4, 3], "b", [1, 2])].map(|(first, x, second, y)| {
                let tables = [table(first, x), table("pipe.snapshot.cfg", [0, 0]), table(second, y)];
                in_order(json!({"schema_version": "1.0.0", "tables": tables}))
            });
        assert_eq!(printed[0], printed[1]);
        assert_eq!(printed[0]["tables"], json!([table("a", [3, 4]), table("b", [1, 2])]));
    }

    #[test]
    fn a_parser_that_lost_its_comparisons_is_refused() {
        let variant = Variant::ALL[0];
        let merged = "inart.bfa:522: warning: Input xbar hash group 1 mergeable conflict in stage 11\n";
        assert!(parser_is_whole(merged, variant).is_ok());
        let lost = "inart.bfa:479: warning: Can't match parser state due to previous match\n";
        let refused =
            parser_is_whole(&[merged, lost].concat(), variant).expect_err("it is broken").to_string();
        assert!(refused.contains("tofino1-n32") && refused.contains("5753"), "{refused}");
    }
}
