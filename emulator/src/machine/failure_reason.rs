//! The line of a failed program's output that states the reason.

/// First line that Python prints before the calls that led to an exception.
const TRACEBACK: &str = "Traceback (most recent call last)";
/// Beginnings of the line before, if the exception did not end the program: those of finalizers, of `atexit`
/// and of threads.
const SURVIVED: [&str; 2] = ["Exception ignored in", "Exception in thread"];

/// Returns the last exception of Python that may have ended the program, the last panic of Rust, or else the
/// last line; `None` if there are no lines.
///
/// Python prints more after an exception: notes of other processes, frames of C++, warnings at the end.
pub fn failure_reason(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if let Some(exception) = last_exception(&lines) {
        return Some(exception.trim_end().to_owned());
    }
    let panic = lines.iter().rposition(|line| line.contains(" panicked at "));
    if let Some(message) = panic.and_then(|at| lines.get(at + 1)) {
        return Some((*message).to_owned());
    }
    lines.last().map(|line| (*line).to_owned())
}

/// The line of the last exception that the program did not survive, else of the last one. Its class may have
/// any name; calls are indented, and it is not.
fn last_exception<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let tracebacks = lines.iter().enumerate().filter(|(_, line)| line.starts_with(TRACEBACK));
    let exceptions: Vec<(bool, &str)> = tracebacks
        .filter_map(|(at, _)| {
            let before = at.checked_sub(1).map_or("", |before| lines[before]);
            let survived = SURVIVED.iter().any(|words| before.starts_with(words));
            let named = lines[at + 1..].iter().find(|line| !line.starts_with(char::is_whitespace))?;
            Some((survived, *named))
        })
        .collect();
    let ending = exceptions.iter().rev().find(|(survived, _)| !survived);
    ending.or(exceptions.last()).map(|(_, named)| *named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exception_is_the_reason_and_not_what_follows_it() {
        let text = "W1127 socket.cpp: warning\nTraceback (most recent call last):\n  File \"cnn.py\", line 52\n    \
                    step()\nTensorError: the tensor is of torch.float64, only torch.float32 is summed: sum \
                    x.float()\n\
                    The above operation failed in:\n  cnn.py(52): <module>\n";
        let expected =
            "TensorError: the tensor is of torch.float64, only torch.float32 is summed: sum x.float()";
        assert_eq!(failure_reason(text).as_deref(), Some(expected));
        let twice = format!(
            "{text}Traceback (most recent call last):\n  x\ntorch.distributed.DistBackendError: gone\n"
        );
        assert_eq!(failure_reason(&twice).as_deref(), Some("torch.distributed.DistBackendError: gone"));
    }

    #[test]
    fn an_exception_of_any_name_is_the_reason_and_one_that_was_survived_is_not() {
        let chained = [
            "Traceback (most recent call last):",
            "  File \"a.py\", line 1",
            "    f()",
            "KeyError: 'x'",
            "",
            "During handling of the above exception, another exception occurred:",
            "",
            "Traceback (most recent call last):",
            "  File \"a.py\", line 3",
            "    g()",
            "    ^^^",
            "subprocess.TimeoutExpired: Command 'x' timed out\n",
        ];
        let chained = &chained.join("\n");
        assert_eq!(
            failure_reason(chained).as_deref(),
            Some("subprocess.TimeoutExpired: Command 'x' timed out")
        );
        let ignored = "Exception ignored in: <function D.__del__ at 0x1>\nTraceback (most recent call last):\n  File \
                       \"a.py\", line 9\nAttributeError: half made\n";
        let thread = "Exception in thread Thread-1:\nTraceback (most recent call last):\n  File \"a.py\", line \
                      2\nValueError: of a thread\n";
        let all = format!("{chained}{ignored}{thread}");
        assert_eq!(failure_reason(&all).as_deref(), Some("subprocess.TimeoutExpired: Command 'x' timed out"));
        assert_eq!(
            failure_reason(thread).as_deref(),
            Some("ValueError: of a thread"),
            "it is all that is known"
        );
    }

    #[test]
    fn a_panic_is_its_message_and_all_else_the_last_line() {
        let panic =
            "thread 'main' (7) panicked at src/main.rs:3:5:\nno room\nnote: run with `RUST_BACKTRACE=1`\n";
        assert_eq!(failure_reason(panic).as_deref(), Some("no room"));
        assert_eq!(failure_reason("one\nSomeError: x\n\nerror: two\n\n").as_deref(), Some("error: two"));
        assert_eq!(failure_reason(" \n"), None);
    }
}
