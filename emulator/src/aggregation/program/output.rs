//! Output of ranks, line by line, with the rank before each line.

use std::sync::Arc;

use crate::machine::child::Lines;

/// Stream of a rank's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
}

/// Takes each line, with its prefix and its end; from several threads.
pub type Printer = Arc<dyn Fn(Stream, &[u8]) + Send + Sync>;

/// Returns the functions that pass the lines of a rank's two streams to a printer.
pub(crate) fn relayed(printer: &Printer, prefix: &str) -> [Lines; 2] {
    [Stream::Output, Stream::Errors].map(|stream| {
        let (printer, prefix) = (Arc::clone(printer), prefix.to_owned());
        let lines: Lines = Box::new(move |line| printer(stream, &prefixed(&prefix, line)));
        lines
    })
}

fn prefixed(prefix: &str, line: &[u8]) -> Vec<u8> {
    [b"[", prefix.as_bytes(), b"] ", line, b"\n"].concat()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn lines_get_the_rank_and_keep_their_bytes() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let taker = Arc::clone(&heard);
        let printer: Printer =
            Arc::new(move |stream, line| taker.lock().expect("free").push((stream, line.to_vec())));
        let [mut output, mut errors] = relayed(&printer, "a/3");
        output(b"caf\xe9");
        errors(b"");
        let expected =
            [(Stream::Output, b"[a/3] caf\xe9\n".to_vec()), (Stream::Errors, b"[a/3] \n".to_vec())];
        assert_eq!(*heard.lock().expect("free"), expected);
    }
}
