//! Switch processes: the embedded switch, or another one with the command line of bmv2's `simple_switch_grpc`.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command};
use std::thread;
use std::time::{Duration, Instant};

use crate::child::Child;
use crate::error::Error;
use crate::namespace::Namespace;
use crate::scratch::Scratch;

/// How long a switch may take until its P4Runtime server answers.
const START: Duration = Duration::from_secs(20);

/// A switch process that has been started.
#[derive(Debug)]
pub struct SwitchProcess {
    child: Child,
    /// Kept open: the switch may still write.
    stdout: BufReader<ChildStdout>,
    /// Where the P4Runtime server will be; an embedded switch chooses and prints it.
    socket: Option<PathBuf>,
}

impl SwitchProcess {
    /// Starts our own switch: its ports are `p1`, `p2`, … of the namespace, its server listens on the loopback interface
    /// out here, where people's P4Runtime clients can reach it too.
    pub fn embedded(
        program: &Path,
        name: &str,
        device: u64,
        place: &Namespace,
        ports: usize,
    ) -> Result<Self, Error> {
        let mut command = Command::new(program);
        command.arg("switch").args(arguments(device, ports));
        command.arg("--port-netns").arg(place.path()).args(["--", "--grpc-server-addr", "127.0.0.1:0"]);
        Self::spawn(name, command, None)
    }

    /// Starts another switch inside the namespace, with its server on a Unix socket.
    pub fn other(
        program: &Path,
        name: &str,
        device: u64,
        place: &Namespace,
        ports: usize,
        scratch: &Scratch,
    ) -> Result<Self, Error> {
        let socket = scratch.path(&format!("switch-{device}.sock"));
        let mut command = place.command(program);
        command.args(arguments(device, ports));
        command.args(["--", "--grpc-server-addr", &format!("unix:{}", socket.display())]);
        Self::spawn(name, command, Some(socket))
    }

    fn spawn(name: &str, command: Command, socket: Option<PathBuf>) -> Result<Self, Error> {
        let program = command.get_program().to_string_lossy().into_owned();
        let (child, stdout) =
            Child::spawn(name, command).map_err(Error::system(format!("start switch {name} ({program})")))?;
        Ok(Self { child, stdout, socket })
    }

    /// The switch's name.
    pub fn name(&self) -> &str {
        self.child.name()
    }

    /// Waits for the P4Runtime server and returns its address.
    pub fn address(&mut self) -> Result<String, Error> {
        let failed = |child: &Child, why| Error::Failed { who: format!("switch {}", child.name()), why };
        let Some(socket) = &self.socket else {
            let mut line = String::new();
            let read = self.stdout.read_line(&mut line);
            let address = line.split_whitespace().find(|word| word.parse::<SocketAddr>().is_ok());
            return match (read, address) {
                (Ok(_), Some(address)) => Ok(address.to_owned()),
                _ => {
                    let why = self.child.epitaph();
                    Err(failed(&self.child, why))
                }
            };
        };
        let give_up = Instant::now() + START;
        while UnixStream::connect(socket).is_err() {
            self.child.check().map_err(|why| failed(&self.child, why))?;
            if Instant::now() > give_up {
                let why = format!("its P4Runtime server did not start within {} s", START.as_secs());
                return Err(failed(&self.child, why));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(format!("unix:{}", socket.display()))
    }
}

/// What all switches are told: their number, no program yet, and their ports.
fn arguments(device: u64, ports: usize) -> Vec<String> {
    let mut arguments = vec!["--device-id".to_owned(), device.to_string(), "--no-p4".to_owned()];
    for port in 1..=ports {
        arguments.extend(["-i".to_owned(), format!("{port}@p{port}")]);
    }
    arguments
}
