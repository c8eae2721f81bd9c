//! Subjects of commits: at most 72 characters, as tools that show them in one line expect.

use std::process::Command;

use super::root;

/// The last commit before this rule. Later ones are checked.
const BASE: &str = "d76c525e";

const LONGEST: usize = 72;

/// Returns the output of git in the tree; none where git fails, as outside of a clone.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(root()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the lines of hash and subject with a too long subject.
fn too_long(log: &str) -> Vec<&str> {
    let is_long =
        |line: &&str| line.split_once(' ').is_some_and(|(_, subject)| subject.chars().count() > LONGEST);
    log.lines().filter(is_long).collect()
}

#[test]
fn subjects_of_commits_fit_in_a_line() {
    if git(&["merge-base", "--is-ancestor", BASE, "HEAD"]).is_none() {
        eprintln!("skipped: the tree has no history from {BASE} on");
        return;
    }
    let mut arguments = vec!["log", "-500", "--no-merges", "--format=%h %s", "HEAD"];
    let base = format!("^{BASE}");
    // Released commits stay unchanged.
    let tag = git(&["describe", "--tags", "--abbrev=0"]).map(|tag| format!("^{}", tag.trim()));
    arguments.extend([Some(&base), tag.as_ref()].into_iter().flatten().map(String::as_str));
    let log = git(&arguments).expect("the history of a commit that exists");
    let found = too_long(&log);
    assert!(found.is_empty(), "at most {LONGEST} characters; give the rest in the body: {found:#?}");
}

#[test]
fn a_subject_is_measured_in_characters() {
    let [fits, long] = [72, 73].map(|length| format!("0123abc {}", "²".repeat(length)));
    let log = format!("{fits}\n{long}\n");
    assert_eq!(too_long(&log), [long]);
}
