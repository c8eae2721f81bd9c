//! `inart doctor` during a stalled training: it names the culprit and the place. Skipped without root.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use inart_controller::PortMap;
use inart_tables::{Item, Op, Update};
use inart_targets::{Access, Endpoint, Precedence, Running};
use inart_tests::{emulate, inart, turn, workspace};
use inart_topologies::switched::Topology;
use inart_wire::ValuesPerFrame;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// An emulation that is looked at; killed when dropped.
struct Emulation {
    process: Child,
    folder: tempfile::TempDir,
}

impl Drop for Emulation {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Emulation {
    /// Runs the doctor until `wish` finds its finding; a minute is far more than needed.
    fn doctor_until(&mut self, what: &str, wish: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        let mut last = String::new();
        while start.elapsed() < Duration::from_secs(90) {
            assert!(
                self.process.try_wait().expect("a child").is_none(),
                "the emulation ended; {what}: {last}"
            );
            let output = self.doctor(&["--json"]);
            last = format!("{output:?}");
            match serde_json::from_slice::<Value>(&output.stdout) {
                Ok(found) if wish(&found) => return found,
                // Nothing is installed yet, or something else is found for now.
                _ => std::thread::sleep(Duration::from_millis(100)),
            }
        }
        panic!("timed out waiting for {what}: {last}");
    }

    /// Returns the output of the doctor.
    fn doctor(&self, more: &[&str]) -> Output {
        let mut command = Command::new(inart());
        command.args(["doctor", "--watch", "1500ms"]).args(more);
        command.arg("--state").arg(self.folder.path().join("state"));
        command.arg("--hosts").arg(self.folder.path().join("hosts")).output().expect("runs")
    }

    /// Returns the number of a switch among the emulation's.
    fn device(&self, switch: &str) -> String {
        let records = fs::read(self.folder.path().join("state/fig1.json")).expect("the controller's records");
        let records: Value = serde_json::from_slice(&records).expect("JSON");
        let address = records["switches"][switch].as_str().expect("known");
        address.split_once(",device=").expect("with its number").1.to_owned()
    }

    /// Sets the longest frame of a port of a switch, in bytes without the Ethernet header.
    fn set_mtu(&self, switch: &str, port: u16, mtu: u16) {
        let process = self.child(&["--device-id", &self.device(switch)]);
        let line = fs::read_to_string(format!("/proc/{process}/cmdline")).expect("alive");
        let namespace =
            line.split('\0').skip_while(|word| *word != "--port-netns").nth(1).expect("it has one");
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={namespace}")).args(["ip", "link", "set", &format!("p{port}")]);
        assert!(command.args(["mtu", &mtu.to_string()]).status().expect("runs").success());
    }

    /// Returns the child that runs these arguments.
    fn child(&self, arguments: &[&str]) -> Pid {
        let parent = self.process.id().to_string();
        let wanted: Vec<u8> = arguments.iter().flat_map(|word| [word.as_bytes(), &[0]].concat()).collect();
        let found = fs::read_dir("/proc").expect("mounted").flatten().find_map(|entry| {
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            let is_child = stat.rsplit_once(')')?.1.split_whitespace().nth(1)? == parent;
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            let runs = line.windows(wanted.len()).any(|words| words == wanted);
            (is_child && runs).then(|| entry.file_name().to_str()?.parse().ok()).flatten()
        });
        Pid::from_raw(found.unwrap_or_else(|| panic!("no child runs {arguments:?}")))
    }
}

/// Returns the obstacles of every worker that something waits for: (worker, obstacle).
fn obstacles(report: &Value) -> Vec<(&str, &Value)> {
    let jobs = report["jobs"].as_array().into_iter().flatten();
    let waiting = jobs.flat_map(|job| job["waiting"].as_array().into_iter().flatten());
    let missing = waiting.flat_map(|waiting| waiting["missing"].as_array().into_iter().flatten());
    missing.map(|missing| (missing["worker"].as_str().expect("a name"), missing)).collect()
}

/// Returns whether the worker is the only one to blame, for this.
fn blames(report: &Value, worker: &str, obstacle: &str) -> bool {
    let found = obstacles(report);
    !found.is_empty() && found.iter().all(|(name, why)| *name == worker && why["obstacle"] == obstacle)
}

fn moves(report: &Value) -> bool {
    report["jobs"][0]["moves"] == true && obstacles(report).is_empty()
}

#[test]
fn the_culprit_is_named_with_the_place() {
    let Some(_turn) = turn() else { return };
    let (mut command, folder) = emulate(&["--rounds", "1000", "--schemes", "optimized", "--scale", "1/1000"]);
    let faults = folder.path().join("faults.yaml");
    fs::write(&faults, "events: [{at: 1 s, link_down: [w5, v2], duration: 8 s}]").expect("written");
    command.args(["--peer-timeout", "300s", "--faults"]).arg(&faults).arg("--debug-dir").arg(folder.path());
    let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let mut emulation = Emulation { process, folder };

    let found = emulation.doctor_until("the link", |report| blames(report, "w5", "not_arriving"));
    assert!(obstacles(&found).iter().all(|(_, why)| why["from"] == "w5" && why["to"] == "v2"), "{found}");
    let waiting = &found["jobs"][0]["waiting"][0];
    assert!(waiting["chunk"].is_u64() && found["jobs"][0]["round"].is_u64(), "{found}");
    emulation.doctor_until("the link's return", moves);

    let worker = emulation.child(&["--rank", "3"]);
    kill(worker, Signal::SIGSTOP).expect("alive");
    let found = emulation.doctor_until("the stopped worker", |report| blames(report, "w4", "host_silent"));
    assert!(found["problems"].to_string().contains("host w4 does not answer"), "{found}");
    kill(worker, Signal::SIGCONT).expect("alive");
    emulation.doctor_until("the worker's return", moves);

    kill(emulation.child(&["controller"]), Signal::SIGKILL).expect("alive");
    remove_entries(emulation.folder.path(), "v1", 1);
    let found = emulation.doctor_until("the missing entry", |report| blames(report, "w2", "no_entry"));
    assert!(obstacles(&found).iter().all(|(_, why)| why["switch"] == "v1" && why["from"] == "w2"), "{found}");
    assert!(found["problems"].to_string().contains("switch v1: its tables differ from the plan"), "{found}");
}

/// Long frames are lost where one end of a cable has a smaller MTU than the other: the shorter ones of a
/// probe arrive.
#[test]
fn a_port_whose_mtu_is_smaller_than_its_neighbors_is_named() {
    let Some(_turn) = turn() else { return };
    let (mut command, folder) = emulate(&["--rounds", "1000", "--schemes", "optimized", "--scale", "1/1000"]);
    command.args(["--peer-timeout", "300s", "--debug-dir"]).arg(folder.path());
    let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let mut emulation = Emulation { process, folder };
    emulation.doctor_until("the beginning", moves);

    let topology = fs::read_to_string(workspace().join("topologies/fig1.yaml")).expect("readable");
    let topology = Topology::from_yaml(&topology).expect("a network");
    let port = PortMap::new(&topology).expect("wired").port("v2", "w5").expect("linked").get();
    emulation.set_mtu("v2", port, 1000);
    let is_found = |report: &Value| {
        let found = obstacles(report);
        blames(report, "w5", "not_arriving") && found.iter().all(|(_, why)| why["others"].as_i64() > Some(0))
    };
    let found = emulation.doctor_until("the port", is_found);
    for (_, why) in obstacles(&found) {
        let link = json!({"from": "w5", "to": "v2", "port": port, "ours": 0, "mtu": 1500});
        for (field, value) in link.as_object().expect("it is one") {
            assert_eq!(&why[field], value, "{found}");
        }
    }
    let named = format!("the MTU (port {port} of v2), or of equipment between, is below 1054; raise it");
    // On a busy machine a look may end before a probe arrives.
    let words = || String::from_utf8_lossy(&emulation.doctor(&[]).stdout).into_owned();
    assert!((0..20).any(|_| words().contains(&named)), "{}", words());
    emulation.set_mtu("v2", port, 1500);
    emulation.doctor_until("the end of it", moves);
}

/// Deletes the entries of `steer` for a worker's frames, by rank, without the controller's knowledge.
fn remove_entries(folder: &Path, switch: &str, rank: u16) {
    let records = fs::read(folder.join("state/fig1.json")).expect("the controller's records");
    let records: Value = serde_json::from_slice(&records).expect("JSON");
    let address = records["switches"][switch].as_str().expect("known");
    let (address, device) = address.split_once(",device=").expect("with its number");
    let program = inart_targets::DEFAULT.program(ValuesPerFrame::N256, None).expect("ours");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("started");
    runtime.block_on(async {
        let place = Endpoint::local(address, device.parse().expect("a number"));
        let seen = program.greatest(place.clone()).await.expect("answers").map_or(0, |seen| seen.0);
        let access = Access::Write(Precedence(seen + 1));
        let mut session = program.open(place, access).await.expect("primary");
        assert_eq!(session.running().await.expect("answers"), Running::Ours);
        let tables = session.read().await.expect("readable");
        let of_worker = tables.steer.iter().filter(|(key, _)| key.worker.get() == rank);
        let updates: Vec<_> = of_worker
            .map(|(key, action)| Update { op: Op::Delete, item: Item::Steer(*key, *action) })
            .collect();
        assert!(!updates.is_empty());
        session.write(&updates).await.expect("written");
    });
}
