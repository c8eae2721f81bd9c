//! `inart controller --follow` and what is asked of it, through the command.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

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
    let nobody = "127.0.0.1:1";
    bench.refused(&["controller", "fig1.yaml", "--follow", "--dry-run"], &["--follow", "--dry-run"]);
    bench.refused(&["controller", "--why", nobody, "--follow"], &["--follow", "--why"]);
    bench.refused(&["controller", "--why", nobody, "--ask", nobody], &["--why", "--ask"]);
    bench.refused(&["controller", "--replan", nobody, "--why", nobody], &["--replan", "--why"]);
    bench.refused(&["controller", "fig1.yaml", "--replan", nobody], &["--replan"]);
    bench.refused(&["controller", "fig1.yaml", "--shares"], &["--shares", "TOPOLOGY"]);
    bench.refused(&["controller", "--follow"], &["TOPOLOGY"]);
    for asked in [&["--why", nobody][..], &["--replan", nobody], &["--replan", nobody, "--shares"]] {
        bench.refused(&[&["controller"], asked].concat(), &["nothing answers at 127.0.0.1:1"]);
    }
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

/// What is printed once the controller has installed its plans.
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
    for replan in [
        &["controller", "--replan", "unix:api.sock"][..],
        &["controller", "--replan", "unix:api.sock", "--shares"],
    ] {
        let output = ask(&bench, replan);
        is_refusal(&output, replan, &["no host of any job follows this controller"]);
    }
    let why = ask(&bench, &["controller", "--why", "unix:api.sock"]);
    assert_eq!(String::from_utf8_lossy(&why.stdout), "nothing was decided yet\n");
    let why = ask(&bench, &["controller", "--why", "unix:api.sock", "--json"]);
    assert_eq!(String::from_utf8_lossy(&why.stdout), "{\"decisions\":[]}\n");
}

#[test]
fn a_controller_that_does_not_watch_says_so() {
    let bench = Workbench::new();
    let _controller = Controller::start(&bench, &[]);
    let replan = ["controller", "--replan", "unix:api.sock"];
    is_refusal(&ask(&bench, &replan), &replan, &["--follow"]);
}
