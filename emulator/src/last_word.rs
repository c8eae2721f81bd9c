//! Which line of a failed program's output says why it failed.

/// What Python prints before the calls that led to an exception.
const TRACEBACK: &str = "Traceback (most recent call last)";
/// How the line of an exception without a message ends, or that of one with a message goes on.
const EXCEPTIONS: [&str; 5] = ["Error", "Exception", "Interrupt", "Exit", "Warning"];

/// The last exception of Python, the last panic of Rust, else the last line; `None` if there is no line.
///
/// Python prints more after an exception: notes of other processes, frames of C++, warnings at the end.
pub fn last_word(text: &str) -> Option<String> {
    if text.contains(TRACEBACK)
        && let Some(line) = text.lines().rev().find(|line| is_exception(line))
    {
        return Some(line.trim_end().to_owned());
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let panic = lines.iter().rposition(|line| line.contains(" panicked at "));
    if let Some(message) = panic.and_then(|at| lines.get(at + 1)) {
        return Some((*message).to_owned());
    }
    lines.last().map(|line| (*line).to_owned())
}

/// Whether a line names an exception: `ValueError: text`, `torch.OutOfMemoryError: text`,
/// `KeyboardInterrupt`.
fn is_exception(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default().trim_end();
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    !name.is_empty() && name.chars().all(is_path) && EXCEPTIONS.iter().any(|end| name.ends_with(end))
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
        assert_eq!(last_word(text).as_deref(), Some(expected));
        let twice = format!(
            "{text}Traceback (most recent call last):\n  x\ntorch.distributed.DistBackendError: gone\n"
        );
        assert_eq!(last_word(&twice).as_deref(), Some("torch.distributed.DistBackendError: gone"));
    }

    #[test]
    fn a_panic_is_its_message_and_all_else_the_last_line() {
        let panic =
            "thread 'main' (7) panicked at src/main.rs:3:5:\nno room\nnote: run with `RUST_BACKTRACE=1`\n";
        assert_eq!(last_word(panic).as_deref(), Some("no room"));
        assert_eq!(last_word("one\nSomeError: x\n\nerror: two\n\n").as_deref(), Some("error: two"));
        assert_eq!(last_word(" \n"), None);
    }
}
