//! A crew's process that dies, hangs or prints something else ends the emulation with its name.

use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use inart_emulator::Error;
use inart_emulator::machine::crew::{Crew, Heard, LOOK, Output};
use inart_report::monotonic_ns;
use serde::Deserialize;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Word {
    Began { at_ns: u64 },
    Over,
}

type Words = Crew<usize, Word>;

const BEGAN: &str = r#"echo '{"event":"began","at_ns":7}'"#;
const OVER: &str = r#"echo '{"event":"over"}'"#;

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn crew(scripts: &[&str]) -> Words {
    let mut crew = Words::new();
    for (at, script) in scripts.iter().enumerate() {
        crew.start(at, &format!("p{at}"), shell(script), Output::Lines).expect("sh starts");
    }
    crew
}

/// Hears all lines until each process has said that it is over.
fn until_over(
    crew: &mut Words,
    processes: usize,
    longest: Duration,
) -> Result<Vec<(usize, usize, Word)>, Error> {
    let mut heard = Vec::new();
    crew.until(longest, "the end of the rounds", &mut |crew| {
        crew.listen(LOOK, &mut |Heard { who, life, line }| {
            heard.push((who, life, line));
            Ok(())
        })?;
        Ok(heard.iter().filter(|(_, _, line)| *line == Word::Over).count() == processes)
    })?;
    Ok(heard)
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn lines_are_heard_in_order_and_exits_are_returned() {
    let mut crew = crew(&[&format!("{BEGAN}; {OVER}"), &format!("{BEGAN}; {OVER}; echo x >&2")]);
    let heard = until_over(&mut crew, 2, LONG).expect("both end");
    for who in 0..2 {
        let own: Vec<_> = heard.iter().filter(|heard| heard.0 == who).map(|heard| &heard.2).collect();
        assert_eq!(own, [&Word::Began { at_ns: 7 }, &Word::Over]);
    }
    let exits = crew.end(LONG, |_| true, &mut |_| Ok(())).expect("both have ended");
    assert_eq!(exits.values().map(ExitStatus::success).collect::<Vec<_>>(), [true, true]);
}

#[test]
fn a_process_that_dies_is_named_with_its_last_output() {
    let script = format!("{BEGAN}; echo 'error: no room' >&2; exit 3");
    let error = until_over(&mut crew(&["sleep 600", &script]), 2, LONG).expect_err("p1 died").to_string();
    assert!(error.starts_with("p1: ended with exit status: 3: ") && error.contains("no room"), "{error}");
}

#[test]
fn a_process_that_hangs_is_named_when_the_wait_ends() {
    let mut crew = crew(&[OVER, "sleep 600"]);
    let error = until_over(&mut crew, 2, Duration::from_millis(500)).expect_err("p1 hangs").to_string();
    assert_eq!(error, "p1: no sign of the end of the rounds within 0.5 s");
}

#[test]
fn processes_that_end_too_early_are_named_before_the_wait_ends() {
    let error = until_over(&mut crew(&[BEGAN, "exit 0"]), 2, LONG).expect_err("none is over").to_string();
    assert_eq!(error, "p0, p1: ended before the end of the rounds");
}

#[test]
fn a_line_of_another_kind_is_shown_with_its_process() {
    for garbage in ["half a li", r#"{"event":"bega","at_ns":7}"#, r#"{"event":"began"}"#] {
        let script = format!("printf '%s\\n' '{garbage}'; sleep 600");
        let error = until_over(&mut crew(&["sleep 600", &script]), 2, LONG).expect_err(garbage).to_string();
        let shown = format!("{garbage:?}");
        assert!(error.starts_with("p1: it printed ") && error.contains(&shown), "{error}");
    }
}

#[test]
fn a_process_that_stays_after_its_last_line_is_named() {
    let mut crew = crew(&[OVER, &format!("{OVER}; exec 1>&-; sleep 600")]);
    until_over(&mut crew, 2, LONG).expect("both have said so");
    let error =
        crew.end(Duration::from_millis(500), |_| true, &mut |_| Ok(())).expect_err("p1 stays").to_string();
    assert_eq!(error, "p1: did not end within 0.5 s after the last line");
}

#[test]
fn a_killed_process_may_start_again_and_its_cut_line_is_not_heard() {
    let mut crew = crew(&[&format!("{BEGAN}; printf '{{\"event\"'; sleep 600")]);
    let began = crew.first_time(LONG, &mut |heard| {
        assert_eq!(heard.line, Word::Began { at_ns: 7 });
        Ok(Some(monotonic_ns()))
    });
    assert!(began.expect("it began") <= Instant::now());
    assert_eq!((crew.kill(0), crew.kill(0), crew.is_killed(0)), (Some(0), None, true));
    crew.start(0, "p0", shell(OVER), Output::Lines).expect("sh starts");
    assert_eq!(until_over(&mut crew, 1, LONG).expect("it is over"), [(0, 1, Word::Over)]);
    assert_eq!(crew.kill(0), None, "it ended by itself");
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let mut crew = Words::new();
    let error = crew.start(0, "p0", Command::new("/no/such/program"), Output::Lines).expect_err("no program");
    assert!(error.to_string().starts_with("cannot start p0: "), "{error}");
}
