//! Whole jobs on embedded switches that run the program for Tofino, controlled by BFRuntime. Every sum is
//! compared. Skipped without root.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use inart_tests::{document, inart, turn, workspace};
use serde_json::Value;
use tempfile::TempDir;

/// `inart emulate` on Fig. 1 and a target; its chart is in the folder.
fn on(target: &str, arguments: &[&str]) -> (Command, TempDir) {
    let folder = TempDir::new().expect("a folder");
    let mut command = Command::new(inart());
    command.arg("emulate").arg(workspace().join("topologies/fig1.yaml"));
    command.args(["--target", target, "--json", "--chart"]).arg(folder.path().join("chart.svg"));
    command.args(arguments);
    (command, folder)
}

fn run(target: &str, arguments: &[&str]) -> Value {
    let (mut command, _folder) = on(target, arguments);
    let summary = document(&command.output().expect("runs"));
    assert_eq!(summary["bit_exact"], true);
    summary
}

fn aggregated(figures: &Value) -> u64 {
    figures["packets_aggregated"].as_u64().expect("a count")
}

#[test]
fn every_scheme_is_bit_exact_on_tofino() {
    let Some(_turn) = turn() else { return };
    let summary = run("tofino", &["--rounds", "2", "--gradient", "40KB"]);
    assert_eq!(summary["values"], 32);
    // 10,000 values are 40 blocks.
    assert_eq!(summary["sums_checked"], 4 * 2 * 6 * 40);
    let schemes = summary["schemes"].as_object().expect("by name");
    assert_eq!(schemes.len(), 4, "{summary}");
    for (name, scheme) in schemes {
        assert_eq!(scheme["switch_drops"], serde_json::json!({}), "{name}: {scheme}");
        assert_eq!(aggregated(scheme) > 0, name != "lbmm", "{name}: {scheme}");
    }
}

#[test]
fn tofino_2_sums_frames_of_64_values() {
    let Some(_turn) = turn() else { return };
    let summary = run("tofino2", &["--rounds", "2", "--gradient", "40KB", "--schemes", "optimized"]);
    assert_eq!(summary["values"], 64);
    assert!(aggregated(&summary["schemes"]["optimized"]) > 0, "{summary}");
}

/// Frames of 64 values pass a Tofino twice.
#[test]
fn tofino_sums_frames_of_64_values_in_two_passes() {
    let Some(_turn) = turn() else { return };
    let arguments = ["--values", "64", "--rounds", "2", "--gradient", "40KB", "--schemes", "optimized"];
    let summary = run("tofino", &arguments);
    assert_eq!(summary["values"], 64);
    assert_eq!(summary["schemes"]["optimized"]["switch_drops"], serde_json::json!({}), "{summary}");
    assert!(aggregated(&summary["schemes"]["optimized"]) > 0, "{summary}");
}

/// The weights at the end are those on switches of v1model, with frames of as many values: the kind of switch
/// changes no bit. The model is trained on Tofino through faults.
#[test]
fn switches_and_the_controller_are_killed_and_training_continues() {
    let Some(_turn) = turn() else { return };
    let base = ["--rounds", "3", "--schemes", "optimized", "--scale", "1/2000", "--batch", "4"];
    let quiet = run("v1model", &[&base[..], &["--values", "32"]].concat());
    let (mut command, folder) = on("tofino", &base);
    let faults = folder.path().join("faults.yaml");
    let events = "events:
      - {at: 300 ms, restart: v1, duration: 300 ms}
      - {at: 1500 ms, restart: controller, duration: 300 ms}
      - {at: 2500 ms, restart: v2, duration: 200 ms}
      - {at: 2500 ms, restart: controller, duration: 300 ms}";
    std::fs::write(&faults, events).expect("written");
    let summary = document(&command.arg("--faults").arg(&faults).output().expect("runs"));
    assert_eq!(summary["bit_exact"], true);
    let [figures, before] = [&summary, &quiet].map(|summary| &summary["schemes"]["optimized"]);
    assert_eq!(figures["jobs"][0]["digest"], before["jobs"][0]["digest"], "the same bits");
    assert_eq!(figures["faults"].as_array().map(Vec::len), Some(8), "{figures}");
    // Without their tables the switches would neither sum nor forward.
    assert!(aggregated(figures) > 0, "{figures}");
}

#[test]
fn plans_change_in_a_row_and_no_round_is_lost() {
    let Some(_turn) = turn() else { return };
    let summary =
        run("tofino", &["--gradient", "20KB", "--scale", "1/1000", "--rounds", "90", "--changes", "3"]);
    assert_eq!((&summary["changes"], &summary["lost_rounds"]), (&3.into(), &0.into()), "{summary}");
    assert!(aggregated(&summary["schemes"]["optimized"]) > 0, "{summary}");
}

#[test]
fn two_jobs_at_once_are_audited_apart() {
    let Some(_turn) = turn() else { return };
    let summary = run("tofino", &["--rounds", "2", "--gradient", "20KB", "--jobs", "2", "--schemes", "atp"]);
    let jobs = summary["schemes"]["atp"]["jobs"].as_array().expect("one per job");
    assert_eq!(jobs.len(), 2, "{summary}");
    assert!(jobs.iter().all(|job| job["bit_exact"] == true), "{summary}");
}

/// Killed when dropped.
struct Emulation(Child);

impl Drop for Emulation {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads next to the controller, to which the switches are bound: the unreachable host first, then no
/// finding.
#[test]
fn the_doctor_finds_a_link_that_was_cut_until_it_is_back() {
    let Some(_turn) = turn() else { return };
    let (mut command, folder) = on(
        "tofino",
        &["--rounds", "1000", "--gradient", "40KB", "--schemes", "optimized", "--scale", "1/2000"],
    );
    let faults = folder.path().join("faults.yaml");
    std::fs::write(&faults, "events: [{at: 1 s, link_down: [w5, v2], duration: 12 s}]").expect("written");
    command.args(["--peer-timeout", "300s", "--faults"]).arg(&faults).arg("--debug-dir").arg(folder.path());
    let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let mut emulation = Emulation(process);
    let mut doctor_until = |what: &str, wish: &dyn Fn(&Value) -> bool| {
        let (start, mut last) = (Instant::now(), String::new());
        while start.elapsed() < Duration::from_secs(90) {
            assert!(emulation.0.try_wait().expect("a child").is_none(), "it ended; {what}: {last}");
            let mut doctor = Command::new(inart());
            doctor.args(["doctor", "--target", "tofino", "--json", "--watch", "1s"]);
            doctor.arg("--state").arg(folder.path().join("state"));
            let output = doctor.arg("--hosts").arg(folder.path().join("hosts")).output().expect("runs");
            last = format!("{output:?}");
            match serde_json::from_slice::<Value>(&output.stdout) {
                Ok(found) if wish(&found) => return,
                _ => std::thread::sleep(Duration::from_millis(100)),
            }
        }
        panic!("timed out waiting for {what}: {last}");
    };
    doctor_until("the link", &|report| {
        let waiting = report["jobs"][0]["waiting"].as_array().into_iter().flatten();
        let mut missing = waiting.flat_map(|waiting| waiting["missing"].as_array().into_iter().flatten());
        missing.any(|missing| {
            (&missing["worker"], &missing["obstacle"]) == (&"w5".into(), &"not_arriving".into())
        })
    });
    doctor_until("all to be well", &|report| {
        report["problems"] == serde_json::json!([]) && report["jobs"][0]["moves"] == true
    });
}

#[test]
fn what_no_program_is_for_gets_one_line_and_status_2() {
    for (target, arguments, expected) in [
        ("tofino", &["--values", "2048"][..], "--values: "),
        ("tofino", &["--values", "256"], "256"),
        (
            "tofino2",
            &["--values", "32"],
            "no program for 32 values per frame on tofino2 is built in: give 64",
        ),
        ("tofino", &["--switch", "simple_switch_grpc"], "--target: tofino"),
        ("tofino3", &[], "v1model, tofino, tofino2"),
    ] {
        let (mut command, _folder) = on(target, arguments);
        let output = command.output().expect("runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with("error: ") && said.contains(expected), "{said}");
    }
}
