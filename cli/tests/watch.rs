//! `inart controller --follow` and what is asked of it, through the command.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use inart_host_agent::status::{AnyStatus, ProcessStatus, ProcessWait, StatusSocket};

use support::switches::{Switch, start};
use support::{Workbench, is_refusal};

#[test]
fn thresholds_that_make_no_sense_are_refused_by_name() {
    let bench = Workbench::new();
    for (flag, value, named) in [
        ("--gain", "0.9", "a factor of 1 or more, such as 1.1"),
        ("--gain", "much", "a factor of 1 or more, such as 1.1"),
        ("--hysteresis", "1.5", "a part from 0 to 1, such as 0.05"),
        ("--hysteresis", "nan", "a part from 0 to 1, such as 0.05"),
        ("--watch-every", "0", "a time above 0 with its unit"),
        ("--plan-within", "soon", "a time above 0 with its unit"),
        ("--min-change-interval", "soon", "a time above 0 with its unit"),
        ("--background-decay", "inf", "a time above 0 with its unit"),
        ("--hold-down", "", "a time above 0 with its unit"),
        ("--changes-per-hour", "2.5", "give a whole number"),
        ("--shares-every", "4", "a time above 0 with its unit"),
        ("--shares-every", "0h", "a time above 0 with its unit"),
        ("--shares-every", "4 weeks", "a time above 0 with its unit"),
    ] {
        let value = format!("{flag}={value}");
        bench.refused(&["controller", "fig1.yaml", "--follow", &value], &[flag, named]);
    }
    bench.refused(&["controller", "fig1.yaml", "--follow", "--changes-per-hour=-1"], &["--changes-per-hour"]);
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let bench = Workbench::new();
    let closed = "127.0.0.1:1";
    bench.refused(&["controller", "fig1.yaml", "--follow", "--dry-run"], &["--follow", "--dry-run"]);
    bench.refused(&["controller", "--follow"], &["TOPOLOGY"]);
    bench.refused(&["status", closed, "--socket", "w1.sock"], &["--socket", "[CONTROLLER]"]);
    bench.refused(&["status", "--insecure", "--socket", "w1.sock"], &["--socket", "--insecure"]);
    for asked in [&["status"][..], &["decisions"], &["replan"], &["replan", "--shares"]] {
        bench.refused(&[asked, &[closed]].concat(), &["nothing answers at 127.0.0.1:1"]);
    }
}

#[test]
fn client_flags_of_the_controller_are_refused_with_the_new_command() {
    let bench = Workbench::new();
    for (flags, old, new) in [
        (&["--ask", "unix:api.sock"][..], "--ask", "inart status"),
        (&["--why", "unix:api.sock", "--json"], "--why", "inart decisions"),
        (&["--replan", "unix:api.sock", "--shares"], "--replan", "inart replan"),
        (&["fig1.yaml", "--shares"], "--shares", "inart replan --shares"),
    ] {
        let named = format!("inart controller {old} is now called {new}; ");
        bench.refused(&[&["controller"], flags].concat(), &[&named]);
    }
}

#[test]
fn the_status_of_a_process_is_read_at_its_socket() {
    let bench = Workbench::new();
    let socket = bench.path("w1.sock");
    let socket = socket.to_str().unwrap();
    bench.refused(&["status", "--socket", socket], &["--socket", "w1.sock", "--status"]);
    let mut status = StatusSocket::<AnyStatus>::listen(socket).unwrap();
    let said = |arguments: &[&str]| {
        let output = bench.inart(&[&["status", "--socket", socket], arguments].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(said(&[]), "the process has not started its work yet\n");
    assert_eq!(said(&["--json"]), "null\n");
    let wait = ProcessWait { on: "n2".into(), why: "no hello".into(), seconds: 9.0, disconnected: true };
    let process = ProcessStatus { name: "n1".into(), role: "site".into(), progress: 4, ..Default::default() };
    status.take(AnyStatus::Process(ProcessStatus { waits: vec![wait], ..process }));
    let text = said(&[]);
    assert!(text.starts_with("site n1: progress 4 ("), "{text}");
    assert!(text.ends_with("  has waited 9.0 s for n2: no hello\n"), "{text}");
    let document: serde_json::Value = serde_json::from_str(&said(&["--json"])).unwrap();
    assert_eq!(document["process"]["waits"][0]["on"], "n2", "{document}");
}

/// A controller of Fig. 1 with these flags besides; it ends with the test.
struct Controller {
    process: std::process::Child,
    _switches: [Switch; 2],
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Controller {
    fn start(bench: &Workbench, flags: &[&str]) -> Self {
        let switches = [(); 2].map(|()| start(bench, "127.0.0.1:0"));
        let places = [format!("v1={}", switches[0].address), format!("v2={}", switches[1].address)];
        let base = ["controller", "fig1.yaml", "--plan", "plan.json", "--state", "state"];
        let places = ["--listen", "unix:api.sock", "--switch", &places[0], "--switch", &places[1]];
        let mut command = bench.command(&[&base[..], &places, flags].concat());
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Controller { process, _switches: switches }
    }
}

/// Returns the output of a command once the controller has installed its plans.
fn ask(bench: &Workbench, arguments: &[&str]) -> Output {
    let begun = Instant::now();
    loop {
        let output = bench.inart(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !said.contains("nothing answers at unix:api.sock") && !said.contains("has not installed") {
            return output;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{said}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_controller_that_watches_is_asked_why_and_to_plan_again() {
    let bench = Workbench::new();
    let flags = "--check-every 1s --switches-within 1s --join-timeout 2s --rejoin-timeout 1s --remove-departed \
                 --dry-run --watch-every 200ms --plan-within 200ms --gain 1.2 --min-change-interval 2s \
                 --changes-per-hour 10 --hysteresis 0.1 --background-decay 1s --hold-down 1s --shares-every 4h";
    let _controller = Controller::start(&bench, &flags.split_whitespace().collect::<Vec<_>>());
    for replan in [&["replan", "unix:api.sock"][..], &["replan", "unix:api.sock", "--shares"]] {
        let output = ask(&bench, replan);
        is_refusal(&output, replan, &["no host watches this controller"]);
    }
    let why = ask(&bench, &["decisions", "unix:api.sock"]);
    assert_eq!(String::from_utf8_lossy(&why.stdout), "no decisions yet\n");
    let why = ask(&bench, &["decisions", "unix:api.sock", "--json"]);
    assert_eq!(String::from_utf8_lossy(&why.stdout), "{\"decisions\":[]}\n");
}

#[test]
fn a_controller_that_does_not_watch_says_so() {
    let bench = Workbench::new();
    let _controller = Controller::start(&bench, &[]);
    let replan = ["replan", "unix:api.sock"];
    is_refusal(&ask(&bench, &replan), &replan, &["--follow"]);
}
