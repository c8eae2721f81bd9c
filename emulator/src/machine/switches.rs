//! Switch processes: the embedded switch, or another one with the command line of bmv2's
//! `simple_switch_grpc`.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command};
use std::thread;
use std::time::{Duration, Instant};

use inart_targets::Target;

use crate::error::Error;
use crate::machine::child::Child;
use crate::machine::namespace::Namespace;

/// Longest time until a switch answers.
const START: Duration = Duration::from_secs(20);

/// A switch to run, and its place.
#[derive(Clone)]
pub struct SwitchSpec {
    /// Kind of the switch.
    pub target: &'static dyn Target,
    /// The program to start.
    pub program: PathBuf,
    /// Name of the switch.
    pub name: String,
    /// Number of the switch among those behind its address.
    pub device: u64,
    /// Numbers of the ports; the interfaces are named `p1`, `p2`, … in its namespace.
    pub ports: Vec<u64>,
    /// `None` for our own switch, which chooses an address on the loopback interface out here, where people's
    /// own clients can reach it too; for another switch, the Unix socket that it shall listen on.
    pub socket: Option<PathBuf>,
}

/// A switch process that has been started.
pub struct SwitchProcess {
    spec: SwitchSpec,
    child: Child,
    /// Kept open: the switch may still write.
    stdout: BufReader<ChildStdout>,
    /// Address, once it is known.
    address: Option<String>,
}

impl SwitchProcess {
    /// Starts a switch. An other one runs inside the namespace, ours opens its ports there only.
    pub fn start(spec: SwitchSpec, place: &Namespace) -> Result<Self, Error> {
        let (child, stdout) = spec.spawn(place, "127.0.0.1:0")?;
        Ok(Self { spec, child, stdout, address: None })
    }

    /// Kills it as a crash would.
    pub fn kill(&mut self) {
        self.child.kill();
    }

    /// Starts it again after it was killed, at the same address; it has forgotten everything.
    pub fn restart(&mut self, place: &Namespace) -> Result<(), Error> {
        let address = self.address()?;
        if let Some(socket) = &self.spec.socket {
            let _ = std::fs::remove_file(socket); // the killed one left it
        }
        (self.child, self.stdout) = self.spec.spawn(place, &address)?;
        Ok(())
    }

    /// The switch's name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Returns its number among those behind its address.
    pub fn device(&self) -> u64 {
        self.spec.device
    }

    /// Waits until it can be reached and returns its address.
    pub fn address(&mut self) -> Result<String, Error> {
        if let Some(address) = &self.address {
            return Ok(address.clone());
        }
        let address = match &self.spec.socket {
            None => self.printed_address()?,
            Some(socket) => self.socket_address(&socket.clone())?,
        };
        Ok(self.address.insert(address).clone())
    }

    fn printed_address(&mut self) -> Result<String, Error> {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line);
        let address = line.split_whitespace().find(|word| word.parse::<SocketAddr>().is_ok());
        match (read, address) {
            (Ok(_), Some(address)) => Ok(address.to_owned()),
            _ => Err(self.failed(None)),
        }
    }

    fn socket_address(&mut self, socket: &Path) -> Result<String, Error> {
        let give_up = Instant::now() + START;
        while UnixStream::connect(socket).is_err() {
            self.child.check().map_err(|why| self.failed(Some(why)))?;
            if Instant::now() > give_up {
                let why = format!("its control server did not start within {} s", START.as_secs());
                return Err(self.failed(Some(why)));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(format!("unix:{}", socket.display()))
    }

    /// Why it failed; in its last output if nothing else is known.
    fn failed(&mut self, why: Option<String>) -> Error {
        let who = format!("switch {}", self.name());
        Error::Failed { who, why: why.unwrap_or_else(|| self.child.exit_message()) }
    }
}

impl SwitchSpec {
    /// Starts a process; our own switch listens at `address`.
    fn spawn(&self, place: &Namespace, address: &str) -> Result<(Child, BufReader<ChildStdout>), Error> {
        let arguments = arguments(self.device, &self.ports);
        let command = match &self.socket {
            None => {
                let mut command = Command::new(&self.program);
                command.arg("switch").args(arguments);
                command.arg("--port-netns").arg(place.path()).args(self.target.embedded_switch(address));
                command
            }
            Some(socket) => {
                let mut command = place.command(&self.program);
                command.args(arguments);
                command.args(["--", "--grpc-server-addr", &format!("unix:{}", socket.display())]);
                command
            }
        };
        let what = format!("start switch {} ({})", self.name, self.program.display());
        Child::spawn(&self.name, command).map_err(Error::system(what))
    }
}

/// Returns the arguments of every switch: its number, no program yet, and its ports.
fn arguments(device: u64, ports: &[u64]) -> Vec<String> {
    let mut arguments = vec!["--device-id".to_owned(), device.to_string(), "--no-p4".to_owned()];
    for (number, interface) in ports.iter().zip(1..) {
        arguments.extend(["-i".to_owned(), format!("{number}@p{interface}")]);
    }
    arguments
}
