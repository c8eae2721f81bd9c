//! Switches as processes: ours, and the vendor's model with its driver.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use inart_p4::{Chip, Variant};
use serde_json::json;
use tempfile::TempDir;

use super::namespace::switch_end;
use crate::packets::network::MARKER_PORT;

/// Names the P4 folder with p4c's output for the chip, as `inart apply --p4` takes it.
const FOLDER: &str = "INART_TOFINO_P4";
const MODEL: &str = "tofino-model";
const DRIVER: &str = "bf_switchd";
/// BFRuntime address of the driver.
const ADDRESS: &str = "127.0.0.1:50052";
/// Longest wait for the driver's start.
const PATIENCE: Duration = Duration::from_secs(120);

/// Stopped when dropped.
pub struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to stop.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the command `inart`, as the whole workspace's tests build it: in the folder above that of this
/// test.
pub fn command() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.parent()?.parent()?.join("inart");
    path.is_file().then_some(path)
}

/// `inart switch --bfrt` with an interface per port; its address.
pub fn embedded(command: &Path) -> (Process, String) {
    let interfaces = (1..=MARKER_PORT).flat_map(|port| ["-i".into(), format!("{port}@{}", switch_end(port))]);
    let mut child = Command::new(command)
        .args(["switch", "--no-p4", "--bfrt", "127.0.0.1:0"])
        .args(interfaces)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it is built");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut line).expect("it prints its address");
    let address = line.trim().strip_prefix("listening on ").expect("its first line").to_owned();
    (Process(child), address)
}

/// The vendor's model of a chip, its driver, and the folder with their logs.
pub struct Model {
    _model: Process,
    _driver: Process,
    _logs: TempDir,
    pub address: &'static str,
}

/// Installation that the model needs.
pub struct Installed {
    install: PathBuf,
    pub folder: PathBuf,
}

impl Installed {
    pub fn find() -> Result<Self, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        for program in [MODEL, DRIVER] {
            if !std::env::split_paths(&path).any(|folder| folder.join(program).is_file()) {
                return Err(format!("{program} is not on the PATH"));
            }
        }
        let named = |name: &str, what: &str| {
            std::env::var_os(name).map(PathBuf::from).ok_or_else(|| format!("{name} does not name {what}"))
        };
        let install = named("SDE_INSTALL", "where the vendor's programs are installed")?;
        Ok(Installed { install, folder: named(FOLDER, "the P4 folder with p4c's output for the chip")? })
    }

    /// Returns the compiler's configuration for model and driver; none if this variant was not compiled.
    pub fn configuration(&self, variant: Variant) -> Option<PathBuf> {
        let path = self.folder.join(format!("tofino/build/inart-{variant}/inart.conf"));
        path.is_file().then_some(path)
    }

    /// Starts both; the driver without a program, which the session sends.
    pub fn start(&self, variant: Variant, configuration: &Path) -> Model {
        let logs = TempDir::new().expect("a folder");
        let port = |port| json!({"device_port": port, "if": switch_end(port)});
        let ports = json!({"PortToIf": (1..=MARKER_PORT).map(port).collect::<Vec<_>>()});
        let ports_file = logs.path().join("ports.json");
        std::fs::write(&ports_file, ports.to_string()).expect("it is written");
        let chip_type = match variant.chip {
            Chip::Tofino1 => "2",
            Chip::Tofino2 => "5",
        };
        let mut model = Command::new(MODEL);
        model.args(["--no-cli", "-d", "1", "--chip-type", chip_type, "-f"]).arg(ports_file);
        model.arg("--p4-target-config").arg(configuration);
        let mut driver = Command::new(DRIVER);
        driver.args(["--background", "--skip-p4", "--conf-file"]).arg(configuration);
        let start = |command: &mut Command, log: &str| {
            let log = File::create(logs.path().join(log)).expect("it is made");
            command.arg("--install-dir").arg(&self.install).current_dir(logs.path()).stdin(Stdio::null());
            command.stdout(log.try_clone().expect("a file")).stderr(log);
            Process(command.spawn().expect("it is on the PATH"))
        };
        let (model, driver) = (start(&mut model, "model.log"), start(&mut driver, "driver.log"));
        wait_for_server(&logs.path().join("driver.log"));
        Model { _model: model, _driver: driver, _logs: logs, address: ADDRESS }
    }
}

fn wait_for_server(log: &Path) {
    let step = Duration::from_millis(500);
    for _ in 0..PATIENCE.as_millis() / step.as_millis() {
        if TcpStream::connect(ADDRESS).is_ok() {
            return;
        }
        std::thread::sleep(step);
    }
    let said = std::fs::read_to_string(log).unwrap_or_default();
    panic!("{DRIVER} does not serve BFRuntime at {ADDRESS}; it printed:\n{said}");
}
