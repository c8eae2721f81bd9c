//! A crew's process that dies, hangs or prints something else ends the emulation with its name.

use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use inart_emulator::Error;
use inart_emulator::machine::crew::{Crew, LOOK, PrintedLine};
use inart_report::{LINE_BYTES, Line, monotonic_ns};

const READY: &str = r#"echo '{"event":"ready","group":0,"at_ns":7}'"#;
const OVER: &str = r#"echo '{"event":"over","frames":3}'"#;

fn ready() -> Line {
    Line::Ready { group: 0, at_ns: 7 }
}

fn over() -> Line {
    Line::Over { frames: 3 }
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn crew(scripts: &[&str]) -> Crew<usize> {
    let mut crew = Crew::new();
    for (at, script) in scripts.iter().enumerate() {
        crew.start(at, &format!("p{at}"), shell(script)).expect("sh starts");
    }
    crew
}

/// Hears all lines until each process has said that it is over.
fn until_over(
    crew: &mut Crew<usize>,
    processes: usize,
    longest: Duration,
) -> Result<Vec<(usize, usize, Line)>, Error> {
    let mut lines = Vec::new();
    crew.until(longest, "the end of the rounds", &mut |crew| {
        crew.listen(LOOK, &mut |PrintedLine { who, incarnation, line, .. }| {
            lines.push((who, incarnation, line));
            Ok(())
        })?;
        Ok(lines.iter().filter(|(_, _, line)| *line == over()).count() == processes)
    })?;
    Ok(lines)
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn lines_are_read_in_order_and_exits_are_returned() {
    let mut crew = crew(&[&format!("{READY}; {OVER}"), &format!("{READY}; {OVER}; echo x >&2")]);
    let lines = until_over(&mut crew, 2, LONG).expect("both end");
    for who in 0..2 {
        let own: Vec<_> = lines.iter().filter(|printed| printed.0 == who).map(|printed| &printed.2).collect();
        assert_eq!(own, [&ready(), &over()]);
    }
    let exits = crew.end(LONG, |_| true, &mut |_| Ok(())).expect("both have ended");
    assert_eq!(exits.values().map(ExitStatus::success).collect::<Vec<_>>(), [true, true]);
}

#[test]
fn a_process_that_dies_is_named_with_its_last_output() {
    let script = format!("{READY}; echo 'error: no room' >&2; exit 3");
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
    let error = until_over(&mut crew(&[READY, "exit 0"]), 2, LONG).expect_err("none is over").to_string();
    assert_eq!(error, "p0, p1: ended before the end of the rounds");
}

/// The error of a crew whose second process prints this as its third line.
fn error_of_third_line(print: &str) -> String {
    let script = format!("{READY}; {READY}; {print}; sleep 600");
    until_over(&mut crew(&["sleep 600", &script]), 2, LONG).expect_err(print).to_string()
}

#[test]
fn a_line_that_is_no_event_is_an_error_with_its_process_number_and_text() {
    for (text, problem) in [
        ("half a li", "expected"),
        (r#"{"event":"bega","at_ns":7}"#, "(unknown event `bega`)"),
        (r#"{"event":"ready","at_ns":7}"#, "(missing field `group`)"),
        (r#"{"group":0,"at_ns":7}"#, "(missing field `event` at column 21)"),
        (r#"{"event":"ready","group":0"#, "(it ends too early)"),
        ("", "(it ends too early)"),
    ] {
        let error = error_of_third_line(&format!("printf '%s\\n' '{text}'"));
        assert!(error.starts_with("p1: line 3 of its output is not a line of a host process ("), "{error}");
        assert!(error.contains(problem) && error.contains(&format!("): {text:?}; run one")), "{error}");
    }
}

#[test]
fn the_error_of_a_long_line_shows_its_first_200_characters() {
    let text = "é".repeat(300);
    let error = error_of_third_line(&format!("echo {text}"));
    assert!(error.contains(&format!(": {:?};", "é".repeat(200))), "{error}");
}

#[test]
fn a_line_has_a_bound_in_bytes() {
    // An event of exactly that many bytes is read, one byte more is not.
    let print = |bytes: usize| {
        let around = r#"{"event":"selection_failed","reason":""}"#.len();
        format!(
            "printf '{{\"event\":\"selection_failed\",\"reason\":\"'; head -c {} /dev/zero | tr '\\0' x; echo '\"}}'",
            bytes - around
        )
    };
    let longest = format!("{}; {OVER}", print(LINE_BYTES));
    let lines = until_over(&mut crew(&[&longest]), 1, LONG).expect("it is over");
    let Line::SelectionFailed { reason } = &lines[0].2 else { panic!("{lines:?}") };
    assert!(reason.len() > LINE_BYTES - 100);
    let error = error_of_third_line(&print(LINE_BYTES + 1));
    assert!(error.starts_with("p1: line 3 of its output ") && error.contains("longer than"), "{error}");
    assert!(error.len() < 600, "{error}");
}

#[test]
fn an_event_of_another_kind_of_process_is_an_error_with_its_place() {
    let script = format!("{READY}; {OVER}");
    let mut crew = crew(&[&script]);
    let mut number = 0;
    let error = crew
        .until(LONG, "an error", &mut |crew| {
            crew.listen(LOOK, &mut |printed| {
                number += 1;
                if number == 2 { Err(printed.place.unexpected(&printed.line)) } else { Ok(()) }
            })?;
            Ok(false)
        })
        .expect_err("the second line");
    let text = r#"{"event":"over","frames":3}"#;
    assert_eq!(
        error.to_string(),
        format!(
            "p0: line 2 of its output is of another kind of process: {text:?}; run one version of inart everywhere"
        )
    );
}

#[test]
fn a_whole_line_of_a_killed_process_is_read_like_any_other() {
    // Both lines are in the pipe at once.
    let script = r#"printf '{"event":"listening"}\n{"event":"bega"}\n'; sleep 600"#;
    let mut crew = crew(&[script]);
    let mut result = crew.first_time(LONG, &mut |_| Ok(Some(monotonic_ns()))).map(drop);
    if result.is_ok() {
        crew.kill(0);
        result = crew.listen(LOOK, &mut |_| Ok(()));
    }
    let error = result.expect_err("an unknown event").to_string();
    assert!(error.starts_with("p0: line 2 of its output is not a line"), "{error}");
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
fn a_killed_process_may_start_again_and_its_cut_line_is_not_read() {
    let mut crew = crew(&[&format!("{READY}; printf '{{\"event\"'; sleep 600")]);
    let began = crew.first_time(LONG, &mut |printed| {
        assert_eq!(printed.line, ready());
        Ok(Some(monotonic_ns()))
    });
    assert!(began.expect("it began") <= Instant::now());
    assert_eq!((crew.kill(0), crew.kill(0), crew.is_killed(0)), (Some(0), None, true));
    crew.start(0, "p0", shell(OVER)).expect("sh starts");
    assert_eq!(until_over(&mut crew, 1, LONG).expect("it is over"), [(0, 1, over())]);
    assert_eq!(crew.kill(0), None, "it ended by itself");
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let mut crew = Crew::new();
    let error = crew.start(0, "p0", Command::new("/no/such/program")).expect_err("no program");
    assert!(error.to_string().starts_with("cannot start p0: "), "{error}");
}
