//! Processes that tell in lines of JSON, and certificates for them.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::Value;

use super::Workbench;

/// Longer than anything takes; only a failure waits for it.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Writes `ca.pem`, and a certificate and key for every name.
pub fn certify<'a>(bench: &Workbench, names: impl IntoIterator<Item = &'a str>) {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.distinguished_name.push(DnType::CommonName, "authority");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    bench.write("ca.pem", ca.self_signed(&ca_key).unwrap().pem());
    let issuer = Issuer::from_params(&ca, &ca_key);
    for name in names {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer);
        bench.write(&format!("{name}.pem"), certificate.unwrap().pem());
        bench.write(&format!("{name}.key"), key.serialize_pem());
    }
}

/// A line as JSON, once watchers can read it, too.
pub fn event(line: &str) -> Value {
    inart_report::Line::read(line.as_bytes()).unwrap_or_else(|error| panic!("{error}: {line}"));
    serde_json::from_str(line).unwrap()
}

/// A process that tells in lines of JSON. Killed when dropped.
pub struct Running {
    pub child: Child,
    lines: Receiver<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// Returns the next line unparsed.
    pub fn line(&self) -> String {
        self.lines.recv_timeout(TIMEOUT).unwrap()
    }

    pub fn next(&self) -> Value {
        event(&self.line())
    }

    /// Waits until the process has ended by itself, and its port is free.
    pub fn ended(mut self) {
        let until = Instant::now() + TIMEOUT;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Kills the process. Returns its lines that were not read before.
    pub fn killed(mut self) -> Vec<Value> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        // The pipe has an end now.
        self.lines.iter().map(|line| event(&line)).collect()
    }

    /// Returns the lines up to now that were not read before.
    pub fn so_far(&self) -> Vec<Value> {
        self.lines.try_iter().map(|line| event(&line)).collect()
    }

    /// Returns all lines up to the first one with this key, which is included.
    pub fn until(&self, key: &str) -> Vec<Value> {
        let mut printed = vec![self.next()];
        while printed.last().unwrap().get(key).is_none() {
            printed.push(self.next());
        }
        printed
    }
}
