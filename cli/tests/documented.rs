//! The command blocks of README.md and docs/ run as printed; what a container lacks is named.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::process::{Command, Output};

use support::{Workbench, is_refusal, root, turn};

fn documented(arguments: &[&str]) -> Output {
    let mut command = Command::new("python3");
    command.arg(root().join("tests/scripts/documented.py")).args(arguments);
    command.args(["--inart", env!("CARGO_BIN_EXE_inart")]).output().unwrap()
}

#[test]
fn every_quick_block_runs_as_printed() {
    let _turn = turn();
    let output = documented(&[]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.lines().any(|line| line.starts_with("README.md: ")), "{said}");
}

#[test]
fn a_command_that_fails_is_named_with_its_place() {
    let _turn = turn();
    // A copy of the script judges a tree of its own.
    let tree = tempfile::TempDir::new().unwrap();
    std::fs::create_dir_all(tree.path().join("tests/scripts")).unwrap();
    let script = tree.path().join("tests/scripts/documented.py");
    std::fs::copy(root().join("tests/scripts/documented.py"), &script).unwrap();
    std::fs::write(tree.path().join("README.md"), "```sh\ntrue\n\ninart plan missing.yaml\n```\n").unwrap();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        assert!(command.args(arguments).current_dir(tree.path()).output().unwrap().status.success());
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    let mut command = Command::new("python3");
    let output = command.arg(&script).args(["--inart", env!("CARGO_BIN_EXE_inart")]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in ["README.md:4: inart plan missing.yaml", "missing.yaml: there is no such file"] {
        assert!(said.contains(part), "{said}");
    }
}

/// Lines of a here-document and of a loop were taken for commands of their own.
#[test]
fn a_document_and_a_loop_are_one_command_each() {
    let script = "import documented\n\
                  lines = ['cat > a <<END', 'b', 'END', 'for x in 1 2; do', '    echo $x', 'done', 'true']\n\
                  print([line for line, _ in documented.Block('a.md', 1, 'quick', lines).commands()])\n";
    let mut command = Command::new("python3");
    let output =
        command.args(["-B", "-c", script]).current_dir(root().join("tests/scripts")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "[1, 4, 7]");
}

/// What does not run by default is listed, so that it can be counted.
#[test]
fn blocks_that_do_not_run_are_listed() {
    let output = documented(&["--list"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.lines().count() > 10, "{said}");
    assert!(said.lines().all(|line| line.contains(": long: ") || line.contains(": lab: ")), "{said}");
}

/// As in a container without privileges, and in a network namespace as it is made.
#[test]
fn an_emulation_that_the_system_would_refuse_is_refused_first() {
    let bench = Workbench::new();
    let inart = env!("CARGO_BIN_EXE_inart");
    let less = ["setpriv", "--bounding-set", "-net_admin,-sys_admin", inart, "emulate", "fig1.yaml"];
    let apart = ["unshare", "--net", inart, "emulate", "fig1.yaml"];
    let named = ["CAP_NET_ADMIN, CAP_SYS_ADMIN", "--privileged", "--cap-add NET_ADMIN"];
    for (words, named) in [(&less[..], &named[..]), (&apart, &["lo is down", "ip link set lo up"])] {
        let output = Command::new(words[0]).args(&words[1..]).current_dir(bench.path(".")).output().unwrap();
        is_refusal(&output, words, named);
    }
}
