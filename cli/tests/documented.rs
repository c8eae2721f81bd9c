//! The command blocks of README.md and docs/ run as printed; what a container lacks is named.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use support::{Workbench, is_refusal, root, turn};
use tempfile::TempDir;

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

/// A copy of the script in a tree of its own, with documents that have one block of these commands each.
struct Tree(TempDir);

impl Tree {
    fn with(documents: &[(&str, &str)]) -> Self {
        let tree = Self(TempDir::new().unwrap());
        for folder in ["tests/scripts", "docs"] {
            std::fs::create_dir_all(tree.0.path().join(folder)).unwrap();
        }
        let script = "tests/scripts/documented.py";
        std::fs::copy(root().join(script), tree.0.path().join(script)).unwrap();
        for (document, commands) in documents {
            std::fs::write(tree.0.path().join(document), format!("```sh\n{commands}\n```\n")).unwrap();
        }
        for arguments in [&["init", "-q"][..], &["add", "."]] {
            let mut git = Command::new("git");
            assert!(git.args(arguments).current_dir(tree.0.path()).output().unwrap().status.success());
        }
        tree
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("python3");
        command.arg(self.0.path().join("tests/scripts/documented.py")).args(arguments).output().unwrap()
    }
}

#[test]
fn a_command_that_fails_is_named_with_its_place() {
    let _turn = turn();
    let tree = Tree::with(&[("README.md", "true\n\ninart plan missing.yaml")]);
    let output = tree.run(&["--inart", env!("CARGO_BIN_EXE_inart")]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in ["README.md:4: inart plan missing.yaml", "missing.yaml: there is no such file"] {
        assert!(said.contains(part), "{said}");
    }
}

/// Opens its ports, says so, and opens its status socket, each 3 s later than the thing before.
const SLOW: &str = r#"#!/usr/bin/env python3
import pathlib, socket, sys, time
time.sleep(3)
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
port.bind(("127.0.0.1", 0))
pathlib.Path(sys.argv[1]).touch()
if sys.argv[1] == "controller":
    print("listening on 127.0.0.1:9558", flush=True)
else:
    time.sleep(3)
    status = socket.socket(socket.AF_UNIX)
    status.bind(sys.argv[-1])
time.sleep(600)
"#;

/// A command had two seconds to start, also on a machine where that was too short.
#[test]
fn a_command_follows_when_the_process_before_it_is_ready() {
    let _turn = turn();
    let commands =
        "inart controller &\ntest -e controller\ninart host --status w1.sock &   # a host\ntest -S w1.sock";
    let tree = Tree::with(&[("README.md", commands)]);
    let slow = tree.0.path().join("slow");
    std::fs::write(&slow, SLOW).unwrap();
    std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = tree.run(&["--inart", slow.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    // One that ends instead is not waited for.
    let tree = Tree::with(&[("README.md", "inart controller &\ntest ! -e controller")]);
    assert!(tree.run(&["--inart", "/bin/true"]).status.success());
}

/// Each of two documents waits for the other one.
#[test]
fn documents_run_side_by_side() {
    let _turn = turn();
    let meet = |own: &str, other: &str| {
        format!("touch $ROOT/{own}\nuntil test -e $ROOT/{other}; do\n    sleep 0.1\ndone")
    };
    let tree =
        Tree::with(&[("README.md", &meet("one", "two")), (concat!("docs/", "page.md"), &meet("two", "one"))]);
    let output = tree.run(&["--at-once", "2", "--inart", "/bin/true"]);
    assert!(output.status.success(), "{output:?}");
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

/// Blocks that do not run by default are listed, so that they can be counted.
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
