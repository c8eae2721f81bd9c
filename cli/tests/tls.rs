//! P4Runtime by mutual TLS: `inart apply` to `inart switch`, and to `simple_switch_grpc` where it is on the
//! PATH; both take the same options.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use crate::support;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use support::{Workbench, is_refusal};

/// Longer than anything here takes; only a failure waits for it.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Writes `NAME-ca.pem`, and certificates with keys of that authority for a switch and for a controller.
fn found_authority(bench: &Workbench, name: &str) {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.distinguished_name.push(DnType::CommonName, format!("authority {name}"));
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    bench.write(&format!("{name}-ca.pem"), ca.self_signed(&ca_key).unwrap().pem());
    let issuer = Issuer::from_params(&ca, &ca_key);
    for holder in ["switch", "controller"] {
        let key = KeyPair::generate().unwrap();
        let names = vec![holder.to_owned(), "127.0.0.1".to_owned()];
        let mut certificate = CertificateParams::new(names).unwrap();
        certificate.distinguished_name.push(DnType::CommonName, holder);
        let certificate = certificate.signed_by(&key, &issuer).unwrap();
        bench.write(&format!("{name}-{holder}.pem"), certificate.pem());
        bench.write(&format!("{name}-{holder}.key"), key.serialize_pem());
    }
}

/// Killed when dropped.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A switch without ports that serves by TLS.
struct Switch {
    _process: Running,
    address: SocketAddr,
    log: PathBuf,
}

fn start(bench: &Workbench, program: &str, name: &str, clients: &[&str]) -> Switch {
    // Free a moment ago: simple_switch_grpc does not say which port it takes.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let log = bench.path(&format!("{name}.log"));
    let listen = if program == "inart" { "127.0.0.1:0".to_owned() } else { free.to_string() };
    // A bmv2 with a Thrift server ends when another one has its port, 9090 unless stated.
    let thrift = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let identity = ["--grpc-server-cert", "our-switch.pem", "--grpc-server-key", "our-switch.key"];
    let base =
        ["--no-p4", "--thrift-port", &thrift, "--", "--grpc-server-addr", &listen, "--grpc-server-ssl"];
    let arguments = [&base[..], &identity, clients];
    let mut command = match program {
        "inart" => bench.command(&["switch"]),
        _ => {
            let mut command = Command::new(program);
            command.current_dir(bench.path("."));
            command
        }
    };
    command.env("INART_LOG", "trace").args(arguments.concat());
    File::create(&log).unwrap();
    let [out, err] = [(); 2].map(|()| File::options().append(true).open(&log).unwrap());
    let mut process = Running(command.stdout(out).stderr(err).spawn().unwrap());
    let listens_at = || match program {
        "inart" => std::fs::read_to_string(&log).unwrap().lines().find_map(|line| {
            let address = line.strip_prefix("listening on ")?;
            address.parse().ok()
        }),
        _ => TcpStream::connect(free).ok().map(|_| free),
    };
    let begun = Instant::now();
    let address = loop {
        if let Some(address) = listens_at() {
            break address;
        }
        assert!(
            begun.elapsed() < TIMEOUT && process.0.try_wait().unwrap().is_none(),
            "{program} did not start"
        );
        std::thread::sleep(Duration::from_millis(10));
    };
    Switch { _process: process, address, log }
}

const MUTUAL: [&str; 3] = ["--grpc-server-cacert", "our-ca.pem", "--grpc-server-with-client-auth"];
const OURS: [&str; 6] =
    ["--tls-ca", "our-ca.pem", "--tls-cert", "our-controller.pem", "--tls-key", "our-controller.key"];

fn push(bench: &Workbench, switches: &[Switch; 2], options: &[&str], log: &str) -> Output {
    // What a push leaves there is of no use to the next.
    let state = tempfile::tempdir_in(bench.path(".")).unwrap();
    let state = state.path().to_str().unwrap();
    let [one, two] = [&switches[0], &switches[1]].map(|switch| switch.address);
    let (one, two) = (format!("v1={one}"), format!("v2={two}"));
    let push = ["apply", "plan.json", "fig1.yaml", "--state", state, "--switch", &one, "--switch", &two];
    bench.command(&[&push[..], options].concat()).env("INART_LOG", log).output().unwrap()
}

fn serve_only_who_is_known(bench: &Workbench, program: &str) {
    let switches = ["v1", "v2"].map(|name| start(bench, program, name, &MUTUAL));
    let as_who = |authority: &str, holder: &str| -> Vec<String> {
        let file = |what: &str| format!("{holder}-{what}");
        let options = [
            "--tls-ca",
            &format!("{authority}-ca.pem"),
            "--tls-cert",
            &file("controller.pem"),
            "--tls-key",
            &file("controller.key"),
        ];
        options.map(str::to_owned).to_vec()
    };
    let strangers: [(Vec<String>, &str); 5] = [
        // A client of another authority, one without a certificate, one that does not believe the switch, one
        // that wants another switch, one without TLS.
        (as_who("our", "their"), "--tls-cert"),
        (as_who("our", "our")[..2].to_vec(), "--tls-cert"),
        (as_who("their", "our"), "certificate"),
        ([as_who("our", "our"), vec!["--tls-name".to_owned(), "elsewhere".to_owned()]].concat(), "elsewhere"),
        (vec![], "--tls-ca"),
    ];
    for (options, named) in &strangers {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        is_refusal(&push(bench, &switches, &options, "error"), &options, &["switch v1", named]);
    }

    for options in [&OURS[..], &[&OURS[..], &["--tls-name", "switch"]].concat()] {
        let output = push(bench, &switches, options, "trace");
        assert!(output.status.success(), "{program}: {output:?}");
        let logs = switches.each_ref().map(|switch| std::fs::read_to_string(&switch.log).unwrap());
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        for key in ["our-switch.key", "our-controller.key"] {
            let secret = bench.read(key);
            for line in secret.lines().filter(|line| !line.starts_with('-')) {
                assert!(!said.concat().contains(line) && !logs.concat().contains(line), "{key} is in a log");
            }
        }
    }

    // Without client authentication TLS only protects the connection, and says who the switch is.
    let open = ["v1", "v2"].map(|name| start(bench, program, name, &[]));
    let output = push(bench, &open, &["--tls-ca", "our-ca.pem"], "error");
    assert!(output.status.success(), "{program}: {output:?}");
}

#[test]
fn only_clients_of_the_authority_are_served() {
    let bench = Workbench::new();
    ["our", "their"].iter().for_each(|name| found_authority(&bench, name));
    serve_only_who_is_known(&bench, "inart");
    if Command::new("simple_switch_grpc").arg("--version").output().is_err() {
        println!("skipped: simple_switch_grpc is not on the PATH");
        return;
    }
    serve_only_who_is_known(&bench, "simple_switch_grpc");
}

#[test]
fn the_controller_answers_only_who_is_known() {
    let bench = Workbench::new();
    ["our", "their"].iter().for_each(|name| found_authority(&bench, name));
    let switches = ["v1", "v2"].map(|name| start(&bench, "inart", name, &MUTUAL));
    let [one, two] =
        [("v1", &switches[0]), ("v2", &switches[1])].map(|(name, at)| format!("{name}={}", at.address));
    let serve =
        ["controller", "fig1.yaml", "--plan", "plan.json", "--state", "state", "--listen", "127.0.0.1:0"];
    let identity =
        ["--listen-ca", "our-ca.pem", "--listen-cert", "our-switch.pem", "--listen-key", "our-switch.key"];
    let arguments = [&serve[..], &identity, &["--switch", &one, "--switch", &two], &OURS].concat();
    let mut controller = Running(bench.command(&arguments).stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(controller.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on ").unwrap();

    let ask = |options: &[&str]| bench.inart(&[&["status", "--json", address], options].concat());
    let begun = Instant::now();
    let installed = || {
        let answer = ask(&OURS);
        assert!(answer.status.success(), "{answer:?}");
        serde_json::from_slice::<serde_json::Value>(&answer.stdout).unwrap()["installed"] == true
    };
    while !installed() {
        assert!(begun.elapsed() < TIMEOUT, "the plan was not installed");
        std::thread::sleep(Duration::from_millis(50));
    }
    let their =
        ["--tls-ca", "our-ca.pem", "--tls-cert", "their-controller.pem", "--tls-key", "their-controller.key"];
    for options in [&their[..], &OURS[..2], &[]] {
        let answer = ask(options);
        is_refusal(&answer, options, &[address]);
        // Nor does it change a plan for them.
        let push = ["apply", "plan.json", "fig1.yaml", "--controller", address];
        is_refusal(&bench.inart(&[&push[..], options].concat()), options, &[address]);
    }
    let status: serde_json::Value = serde_json::from_slice(&ask(&OURS).stdout).unwrap();
    assert_eq!(status["changes"], serde_json::json!([]));
}

#[test]
fn plain_connections_stay_on_this_machine() {
    let bench = Workbench::new();
    let push = ["apply", "plan.json", "fig1.yaml", "--switch", "v2=127.0.0.1:1", "--switch"];
    // An address for documentation (RFC 5737): no process listens there.
    let remote = "v1=192.0.2.1:9559";
    bench.refused(
        &[&push[..], &[remote]].concat(),
        &["192.0.2.1:9559 is another machine", "--tls-ca", "--insecure"],
    );
}

#[test]
fn files_that_will_not_do_are_named() {
    let bench = Workbench::new();
    ["our", "their"].iter().for_each(|name| found_authority(&bench, name));
    bench.write("empty.pem", "");
    bench.write("broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    bench.write("broken.key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    let push = [
        "apply",
        "plan.json",
        "fig1.yaml",
        "--switch",
        "v1=127.0.0.1:1",
        "--switch",
        "v2=127.0.0.1:1",
        "--tls-ca",
    ];
    let switch = ["switch", "--no-p4", "--grpc-server-addr", "127.0.0.1:0", "--grpc-server-cert"];
    let cases: [(&[&str], &[&str], &[&str]); 10] = [
        (&push, &["nowhere.pem"], &["cannot read nowhere.pem"]),
        (&push, &["empty.pem"], &["empty.pem", "no certificate", "BEGIN CERTIFICATE"]),
        (&push, &["broken.pem"], &["broken.pem", "broken"]),
        (
            &push,
            &["our-ca.pem", "--tls-cert", "our-controller.pem", "--tls-key", "our-switch.key"],
            &["our-switch.key is not that of the certificate in our-controller.pem"],
        ),
        (
            &push,
            &["our-ca.pem", "--tls-cert", "our-controller.pem", "--tls-key", "our-controller.pem"],
            &["our-controller.pem", "no key", "BEGIN PRIVATE KEY"],
        ),
        (
            &push,
            &["our-ca.pem", "--tls-cert", "our-controller.pem", "--tls-key", "broken.key"],
            &["broken.key", "broken"],
        ),
        (&switch, &["our-switch.pem"], &["--grpc-server-ssl"]),
        (&switch, &["our-switch.pem", "--grpc-server-ssl"], &["--grpc-server-key"]),
        (
            &switch,
            &["our-switch.pem", "--grpc-server-key", "their-switch.key", "--grpc-server-ssl"],
            &["their-switch.key"],
        ),
        (
            &switch,
            &[
                "our-switch.pem",
                "--grpc-server-key",
                "our-switch.key",
                "--grpc-server-ssl",
                "--grpc-server-with-client-auth",
            ],
            &["--grpc-server-cacert"],
        ),
    ];
    for (command, files, named) in cases {
        bench.refused(&[command, files].concat(), named);
    }
}
