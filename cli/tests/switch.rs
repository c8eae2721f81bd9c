//! `inart switch` as a process: what it prints, how it ends, what it says of bad input.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

fn inart(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A running switch; killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(arguments: &[&str]) -> (Running, String) {
    let mut child = inart(arguments).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Running(child), line)
}

#[test]
fn it_prints_the_address_it_listens_on_and_ends_well_when_asked() {
    let arguments = ["switch", "--device-id", "3", "--no-p4", "--thrift-port", "9090", "--log-console", "--"];
    for signal in ["TERM", "INT"] {
        let (mut running, line) = start(&[&arguments[..], &["--grpc-server-addr", "127.0.0.1:0"]].concat());
        let address: SocketAddr = line.trim().strip_prefix("listening on ").unwrap().parse().unwrap();
        assert_ne!(address.port(), 0);
        TcpStream::connect(address).unwrap();
        let sent = Command::new("kill").args(["-s", signal, &running.0.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(running.0.wait().unwrap().code(), Some(0), "after {signal}");
        assert!(TcpStream::connect(address).is_err());
    }
}

#[test]
fn json_says_the_same() {
    let (_running, line) =
        start(&["switch", "--json", "--device-id", "3", "--no-p4", "--grpc-server-addr", "127.0.0.1:0"]);
    let document: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(document["device_id"], 3);
    let address: SocketAddr = document["address"].as_str().unwrap().parse().unwrap();
    TcpStream::connect(address).unwrap();
}

/// The one line that a command which cannot run leaves on standard error.
fn refusal(arguments: &[&str]) -> String {
    let output = inart(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("error: "), "{text}");
    text
}

fn one_line(text: &str) {
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let text = refusal(&["switch", "--no-p4", "--", "--grpc-server-addr", &address]);
    one_line(&text);
    assert!(
        text.contains(&format!("cannot listen on {address}")) && text.contains("--grpc-server-addr"),
        "{text}"
    );

    let free = ["--grpc-server-addr", "127.0.0.1:0"];
    let text = refusal(&[&["switch", "--no-p4", "-i", "1@nosuchinterface"], &free[..]].concat());
    one_line(&text);
    assert!(text.contains("no network interface nosuchinterface"), "{text}");
    let text = refusal(&[&["switch", "--no-p4", "--port-netns", "nosuchplace"], &free[..]].concat());
    one_line(&text);
    assert!(text.contains("nosuchplace"), "{text}");
    let text = refusal(&[&["switch", "nosuchprogram.json"], &free[..]].concat());
    one_line(&text);
    assert!(text.contains("cannot read nosuchprogram.json"), "{text}");
    let text =
        refusal(&[&["switch", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")], &free[..]].concat());
    one_line(&text);
    assert!(text.contains("bmv2 JSON"), "{text}");
    let text = refusal(&["switch", "--no-p4", "--", "--nosuchoption"]);
    one_line(&text);
    assert!(text.contains("--nosuchoption"), "{text}");
    assert!(refusal(&["switch", "--no-p4", "-i", "veth0"]).contains("PORT@INTERFACE"));
    assert!(refusal(&["switch", "--no-p4", "-i", "511@veth0"]).contains("0 to 510"));
    one_line(&refusal(&["switch", "--conformance", "nosuchfolder"]));
    let text = refusal(&["switch", "--no-p4", "--", "--drop-port", "7"]);
    one_line(&text);
    assert!(text.contains("--drop-port") && text.contains("511"), "{text}");
}

#[test]
fn options_that_do_nothing_are_noted() {
    let wrong = ["-i", "1@nosuchinterface", "--", "--grpc-server-addr", "127.0.0.1:0", "--drop-port", "511"];
    let noted = |options: &[&str], after: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
        let output =
            command.args(["switch", "--no-p4"]).args(options).args(wrong).args(after).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        text.lines().filter(|line| line.starts_with("note: ")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(noted(&[], &[]), "");
    assert!(noted(&["--pcap", "folder"], &[]).contains("tcpdump"));
    assert!(noted(&["--pcap"], &[]).contains("--pcap is ignored"));
    let tls = [
        "--grpc-server-ssl",
        "--grpc-server-cert",
        "c",
        "--grpc-server-key",
        "k",
        "--grpc-server-cacert",
        "ca",
    ];
    assert!(noted(&[], &tls).contains("clients need no certificate"));
    assert_eq!(noted(&[], &[&tls[..], &["--grpc-server-with-client-auth"]].concat()), "");
}
