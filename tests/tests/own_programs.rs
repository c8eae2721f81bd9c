//! `inart emulate TOPOLOGY -- COMMAND`: programs of a user's own, one process per worker. Real processes in
//! real namespaces; skipped with a message without root.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use inart_tests::{document, inart, turn, workspace};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::python::package::{has, package, python};

/// Three workers at one switch, and a server.
const STAR: &str = "{name: star, nodes: [{name: v, kind: switch, aggregation_capacity: 100 Mbps},
  {name: s, kind: server}, {name: w1, kind: worker}, {name: w2, kind: worker},
  {name: w3, kind: worker}],
  links: [{ends: [s, v], rate: 50 Mbps}, {ends: [w1, v], rate: 50 Mbps},
          {ends: [w2, v], rate: 50 Mbps}, {ends: [w3, v], rate: 50 Mbps}],
  jobs: [{name: digits}]}";

/// `inart emulate` on the star, with options and the program after `--`.
fn star(words: &[&str]) -> (Command, TempDir) {
    let folder = TempDir::new().expect("a folder");
    let topology = folder.path().join("star.yaml");
    std::fs::write(&topology, STAR).expect("written");
    let mut command = Command::new(inart());
    command.arg("emulate").arg(topology).args(words);
    (command, folder)
}

fn run(words: &[&str]) -> Output {
    let (mut command, _folder) = star(words);
    command.output().expect("runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Lines of ranks, in order of the ranks.
fn lines_of_ranks(bytes: &[u8]) -> Vec<String> {
    let mut lines: Vec<_> =
        text(bytes).lines().filter(|line| line.starts_with('[')).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Parses the JSON document of a success whose ranks print.
fn summary(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

/// Returns a program that Cargo builds next to the tests.
fn rank_program() -> String {
    let built = inart().with_file_name("examples").join("rank");
    assert!(built.is_file(), "{}", built.display());
    built.display().to_string()
}

#[test]
fn each_line_has_its_rank_and_a_rank_has_torchruns_environment() {
    let Some(_turn) = turn() else { return };
    let script = "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $MASTER_ADDR \
                  $GLOO_SOCKET_IFNAME $INART_INTERFACE $INART_JOB; \
                  test -r $INART_ASSIGNMENT && test -S $INART_REPORT && echo both >&2; \
                  printf '%s\\n' \"$0\" >&2";
    let output = run(&["--", "sh", "-c", script, "two  words"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let printed = ["0", "1", "2"].map(|rank| format!("[{rank}] {rank}/3 0/1 10.0.0.3 eth0 eth0 digits"));
    assert_eq!(lines_of_ranks(&output.stdout), printed);
    let errors: Vec<_> = ["0", "1", "2"]
        .iter()
        .flat_map(|rank| ["both", "two  words"].map(|line| format!("[{rank}] {line}")))
        .collect();
    assert_eq!(lines_of_ranks(&output.stderr), errors);
    let said = text(&output.stdout);
    assert!(said.contains("digits: 3 ranks succeeded. None was a worker of InArt's"), "{said}");
}

/// Lines appear while the program runs, and not only at its end.
#[test]
fn lines_are_passed_on_while_the_ranks_run() {
    use std::io::{BufRead, BufReader};
    let Some(_turn) = turn() else { return };
    let folder = TempDir::new().expect("a folder");
    let go = folder.path().join("go");
    let script = format!("echo started; while ! test -e {}; do sleep 0.02; done", go.display());
    let (mut command, _topology) = star(&["--", "sh", "-c", &script]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    // The ranks wait for the file, which is created once their lines have appeared.
    let begun: Vec<_> = lines.by_ref().take(3).collect::<Result<_, _>>().expect("lines");
    assert!(begun.iter().all(|line| line.ends_with("] started")), "{begun:?}");
    std::fs::write(&go, "").expect("written");
    assert!(child.wait().expect("a child").success());
    assert!(lines.any(|line| line.is_ok_and(|line| line.contains("3 ranks succeeded"))));
}

#[test]
fn the_first_rank_that_fails_is_named_with_its_status_and_ends_the_others() {
    let Some(_turn) = turn() else { return };
    let marker = format!("sleep 7{}", std::process::id());
    let script =
        format!("if test $RANK = 1; then echo first >&2; echo last words >&2; exit 7; fi; {marker} & wait");
    let output = run(&["--json", "--", "sh", "-c", &script]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let line = "rank 1 (worker w2 of job digits) ended with exit status 7: last words";
    assert_eq!(document["error"], line);
    assert_eq!(
        (&document["failed"]["rank"], &document["failed"]["exit_status"]),
        (&1.into(), &7.into()),
        "{document}"
    );
    let said = text(&output.stderr);
    assert!(said.ends_with(&format!("error: {line}\n")), "{said}");
    assert!(!is_running(&marker), "the child processes of the others have ended with them");

    let output = run(&["--", "sh", "-c", "test $RANK != 2 || kill -9 $$; sleep 1000"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = text(&output.stderr);
    assert!(
        said.contains("error: rank 2 (worker w3 of job digits) was ended by SIGKILL: it printed nothing"),
        "{said}"
    );
}

/// Returns whether a process has this command line.
fn is_running(command: &str) -> bool {
    let lines = std::fs::read_dir("/proc").expect("mounted").flatten().filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).trim_end_matches('\0').replace('\0', " "))
    });
    lines.into_iter().any(|line| line == command)
}

#[test]
fn ctrl_c_ends_all_ranks_and_what_they_started() {
    let Some(_turn) = turn() else { return };
    let marker = format!("sleep 8{}", std::process::id());
    for (signal, status) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let (mut command, _folder) = star(&["--", "sh", "-c", &format!("{marker} & wait")]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        wait_for("the ranks", || is_running(&marker));
        kill(Pid::from_raw(child.id() as i32), signal).expect("alive");
        let output = child.wait_with_output().expect("a child");
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        assert_eq!(text(&output.stderr), "error: interrupted; all ranks were ended\n");
        assert!(!is_running(&marker));
    }
}

fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "timed out waiting for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Full frames of 1514 bytes, and TCP from every rank to rank 0, over the switch.
#[test]
fn ranks_reach_each_other_by_ip() {
    let Some(_turn) = turn() else { return };
    let script = "
import hashlib, os, socket
rank, world = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
meet = (os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))
data = bytes(range(256)) * 2000
if rank == 0:
    server = socket.create_server(meet)
    for _ in range(1, world):
        peer, address = server.accept()
        got = b''.join(iter(lambda: peer.recv(1 << 16), b''))
        print(address[0], got == data)
else:
    for _ in range(500):
        try:
            peer = socket.create_connection(meet, timeout=20)
            break
        except ConnectionRefusedError:
            __import__('time').sleep(0.02)
    peer.sendall(data)
";
    let output = run(&["--scale", "1", "--", "python3", "-c", script]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(lines_of_ranks(&output.stdout), ["[0] 10.0.0.4 True", "[0] 10.0.0.5 True"]);
    // With the links relayed and lossy as well.
    let output = run(&["--scale", "1", "--drop", "1%", "--", "python3", "-c", script]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    if Command::new("ping").arg("-V").stdout(Stdio::null()).status().is_err() {
        return eprintln!("skipped: ping is not there (package iputils-ping)");
    }
    let ping = "test $RANK = 0 || ping -c 1 -W 20 -M do -s 1472 $MASTER_ADDR | grep -o '1480 bytes'";
    let output = run(&["--", "sh", "-c", ping]);
    assert_eq!(lines_of_ranks(&output.stdout), ["[1] 1480 bytes", "[2] 1480 bytes"], "{output:?}");
}

#[test]
fn tensors_of_a_program_are_audited_whatever_their_lengths() {
    let Some(_turn) = turn() else { return };
    let output = run(&["--json", "--drop", "1%", "--", &rank_program(), "5000", "3", "70000", "256"]);
    let summary = summary(&output);
    let scheme = &summary["schemes"]["optimized"];
    let job = &scheme["jobs"][0];
    // 20 + 1 + 274 + 1 blocks at three workers.
    assert_eq!((&summary["bit_exact"], &summary["sums_checked"]), (&true.into(), &(3 * 296).into()));
    assert_eq!((&job["tensors"], &job["tensors_not_compared"]), (&4.into(), &0.into()), "{job}");
    let lengths: Vec<_> =
        job["sizes"].as_array().expect("a list").iter().map(|size| &size["values"]).collect();
    assert_eq!(lengths, [3, 256, 5000, 70000]);
    for worker in job["workers"].as_array().expect("a list") {
        assert_eq!((&worker["tensors"], &worker["bytes"]), (&4.into(), &(4 * 75259).into()), "{worker}");
        assert!(worker["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{worker}");
    }
    assert!(scheme["packets_aggregated"].as_u64().is_some_and(|frames| frames >= 3 * 296), "{scheme}");
    // Its output is not in the document.
    assert_eq!(lines_of_ranks(&output.stderr).len(), 3 * 4, "{output:?}");
}

#[test]
fn several_jobs_and_schemes_run_the_program_each() {
    let Some(_turn) = turn() else { return };
    let output = run(&["--jobs", "2", "--schemes", "optimized,lbmm", "--", &rank_program(), "300"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let lines = lines_of_ranks(&output.stdout);
    assert_eq!(
        lines.iter().filter(|line| line.starts_with("[digits-2/1] 300 values of 6")).count(),
        2,
        "{lines:?}"
    );
    assert_eq!(lines.len(), 2 * 2 * 3, "{lines:?}");
    let said = text(&output.stdout);
    for job in
        ["digits under optimized", "digits-2 under optimized", "digits under lbmm", "digits-2 under lbmm"]
    {
        let line = format!("{job}: 3 ranks succeeded; 6 sums of 1 tensor compared bit for bit, all equal.");
        assert!(said.contains(&line), "{job}: {said}");
    }
}

/// A worker of InArt is killed: the others report the culprit.
#[test]
fn a_rank_that_a_fault_kills_is_the_culprit() {
    let Some(_turn) = turn() else { return };
    // A busy machine may keep the others from answering for seconds.
    let (mut command, folder) = star(&["--json", "--peer-timeout", "10s"]);
    let faults = folder.path().join("faults.yaml");
    std::fs::write(&faults, "events: [{at: 2 s, crash: w2}]").expect("written");
    // More than the links carry in two seconds: the fault ends the run.
    let lengths = ["200000"; 48];
    let output = command
        .arg("--faults")
        .arg(&faults)
        .arg("--")
        .arg(rank_program())
        .args(lengths)
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!(document["given_up"]["culprits"], serde_json::json!(["w2"]), "{document}");
    let ended = document["given_up"]["ended"].as_array().expect("a list");
    let workers: Vec<_> = ended.iter().filter(|end| end["worker"] == true).collect();
    assert_eq!(workers.len(), 2, "{document}");
    assert!(workers.iter().all(|end| end["names_culprit"] == true), "{document}");
}

#[test]
fn what_makes_no_sense_with_a_program_is_refused_with_the_fix() {
    for (words, named) in [
        (&["--gradient", "1MB", "--", "true"][..], "--gradient: is for InArt's own workers"),
        (&["--batch", "4", "--", "true"], "--batch: is for InArt's own workers"),
        (&["--rounds", "4", "--", "true"], "--rounds: is for InArt's own workers"),
        (&["--changes", "9", "--", "true"], "--changes: is for InArt's own workers"),
        (&["--chart", "x.svg", "--", "true"], "--chart: is for InArt's own workers"),
        (&["--", "no-such-program-here"], "COMMAND: no-such-program-here is not on the PATH"),
        (&["--", "./no/such"], "COMMAND: program ./no/such does not exist"),
    ] {
        let output = run(words);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.starts_with(&format!("error: {named}")) && said.lines().count() == 1, "{said}");
    }
    let (mut command, folder) = star(&["--", "true"]);
    let elastic = STAR.replace("name: digits", "name: digits, elastic: true");
    std::fs::write(folder.path().join("star.yaml"), elastic).expect("written");
    let output = command.output().expect("runs");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: COMMAND: job digits is elastic") && said.lines().count() == 1, "{said}");
}

/// The workers' reports equal those without a program.
#[test]
fn inart_worker_is_a_program_like_any_other() {
    let Some(_turn) = turn() else { return };
    let script = format!(
        "exec {} worker --rank $RANK --assignment $INART_ASSIGNMENT --interface $INART_INTERFACE \
         --report $INART_REPORT --peer-timeout ${{INART_PEER_TIMEOUT}}s --all-reduce 2000 --rounds 3",
        inart().display()
    );
    let summary = document(&run(&["--json", "--", "sh", "-c", &script]));
    assert_eq!(
        (&summary["bit_exact"], &summary["sums_checked"]),
        (&true.into(), &(3 * 3 * 8).into()),
        "{summary}"
    );
}

/// The unchanged example: DDP's buckets, whose lengths InArt does not know in advance, several in flight.
#[test]
fn ddp_learns_the_same_on_the_switch_as_with_gloo() {
    let Some(_turn) = turn() else { return };
    if !has(&["torch"]) {
        return;
    }
    let example = workspace().join("examples/ddp_digits.py").display().to_string();
    let python = python().into_string().expect("a path of text");
    let train = |how: &str| {
        let words = ["--json", "--", &python, &example, "--steps", "60", "--all-reduce", how];
        let (mut command, _folder) = star(&words);
        let output = command.env("PYTHONPATH", package()).output().expect("runs");
        let summary = summary(&output);
        // Of each rank: accuracy, digest of the weights.
        let ends: Vec<Vec<String>> = lines_of_ranks(&output.stderr)
            .iter()
            .filter_map(|line| line.split_once("accuracy "))
            .map(|(_, end)| end.split(',').map(str::to_owned).collect())
            .collect();
        assert_eq!(ends.len(), 3, "{output:?}");
        assert!(ends.iter().all(|end| end[1] == ends[0][1]), "{ends:?}");
        (summary, ends[0][0].trim_end_matches('%').parse::<f64>().expect("a number"))
    };
    let (inart, accuracy) = train("inart");
    // One bucket or more per step, whatever DDP makes of the model, of 50826 parameters together.
    let job = &inart["schemes"]["optimized"]["jobs"][0];
    assert_eq!((&inart["bit_exact"], &job["tensors_not_compared"]), (&true.into(), &0.into()), "{inart}");
    for worker in job["workers"].as_array().expect("a list") {
        assert_eq!(worker["bytes"], 60 * 4 * 50826, "{worker}");
    }
    let (gloo, other) = train("gloo");
    assert_eq!((&gloo["bit_exact"], &gloo["sums_checked"]), (&Value::Null, &0.into()), "{gloo}");
    assert!(accuracy > 50.0 && (accuracy - other).abs() < 3.0, "{accuracy} and {other}");
}
