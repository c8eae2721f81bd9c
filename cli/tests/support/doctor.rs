//! `inart doctor` and processes that publish their status.

use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Workbench;

/// Longer than anything takes; only a failure waits for it.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Creates the folder of the status sockets.
pub fn create_folder(bench: &Workbench) {
    std::fs::create_dir(bench.path("hosts")).unwrap();
}

/// The address of a process's status socket.
pub fn socket(bench: &Workbench, name: &str) -> String {
    bench.path(&format!("hosts/{name}.sock")).display().to_string()
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

/// Asks the doctor until it says that.
pub fn says(bench: &Workbench, words: &str) {
    let until = Instant::now() + TIMEOUT;
    loop {
        let (status, said) = ask(bench);
        if status == 1 && said.contains(words) {
            return;
        }
        assert!(Instant::now() < until, "never {words:?}: {said}");
    }
}

/// Asks the doctor: its exit status and what it prints.
fn ask(bench: &Workbench) -> (i32, String) {
    let arguments = ["doctor", "--state", "no-state", "--hosts", "hosts", "--watch", "1s"];
    let output = bench.inart(&arguments);
    let said = String::from_utf8(output.stdout).unwrap();
    // Without records of plans it looks at processes alone, and says so.
    let said: String =
        said.lines().filter(|line| !line.starts_with("note: ")).map(|l| format!("{l}\n")).collect();
    (output.status.code().unwrap(), said + &String::from_utf8_lossy(&output.stderr))
}

/// Asks until the doctor finds nothing.
pub fn is_content(bench: &Workbench) {
    let until = Instant::now() + TIMEOUT;
    loop {
        let (status, said) = ask(bench);
        if status == 0 && said.contains("made progress") && !said.contains("; 0 made progress") {
            return;
        }
        assert!(Instant::now() < until, "{said}");
    }
}

/// Processes train; one is stopped, and the doctor must name it alone as the cause for which `waiting` wait,
/// such as "n1, n3 wait". Once the process runs again, the doctor must find nothing.
pub fn names_the_stopped(bench: &Workbench, stopped: (&str, &Child), waiting: &str) {
    let (name, child) = stopped;
    is_content(bench);
    signal(child, Signal::SIGSTOP);
    let silent = format!("{name} does not answer (");
    let until = Instant::now() + TIMEOUT;
    loop {
        let (status, said) = ask(bench);
        assert_eq!(status, 1, "{said}");
        let lines: Vec<_> = said.lines().collect();
        assert!(lines.iter().any(|line| line.starts_with(&silent)), "{said}");
        let last = lines.last().expect("a first line");
        assert!(last.contains(" processes answered; "), "{said}");
        // At first a process that the others wait for may not have noticed yet that it waits itself, and on a
        // busy machine another process may answer too late. A scheduler says that it waits too once its
        // connection has ended.
        let sentence = lines[0].replace(", scheduler wait", " wait");
        if lines.len() == 2 && sentence.starts_with(&silent) && sentence.ends_with(&format!("; {waiting}")) {
            break;
        }
        assert!(Instant::now() < until, "it never says that {waiting}: {said}");
    }
    signal(child, Signal::SIGCONT);
    is_content(bench);
}
