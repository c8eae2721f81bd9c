//! Switches on the loopback interface.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use super::Workbench;

/// A switch without ports; killed when dropped.
pub struct Switch {
    process: Child,
    pub address: String,
}

impl Drop for Switch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One that listens on `address`.
pub fn start(bench: &Workbench, address: &str) -> Switch {
    let arguments = ["switch", "--no-p4", "--", "--grpc-server-addr", address];
    let mut process = bench.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
    Switch { process, address }
}

/// Returns the JSON output of a command.
pub fn document(bench: &Workbench, arguments: &[&str]) -> Value {
    let output = bench.inart(&[arguments, &["--json", "--state", "state"]].concat());
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("one document")
}
