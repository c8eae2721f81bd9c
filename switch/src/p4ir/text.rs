//! Prepares the text: integers of any length become strings, and nesting is bounded.

use crate::error::{CompileError, Result};

/// JSON nesting that is still read.
const MAX_DEPTH: usize = 10_000;
/// Digits that always fit in 64 bits.
const SHORT: usize = 18;

/// Returns the document with every integer of more than 18 digits in quotes: a JSON reader would round it.
///
/// # Errors
/// If the document nests too deeply.
pub(super) fn quote_long_numbers(document: &[u8]) -> Result<Vec<u8>> {
    let mut to = Vec::with_capacity(document.len());
    let (mut depth, mut at) = (0usize, 0);
    while at < document.len() {
        let start = at;
        match document[at] {
            b'"' => {
                at = string_end(document, at);
                to.extend(&document[start..at]);
            }
            b'-' | b'0'..=b'9' => {
                let digit =
                    |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
                at += document[at..].iter().take_while(|byte| digit(byte)).count();
                let number = &document[start..at];
                let whole = number.iter().skip(1).all(u8::is_ascii_digit);
                if whole && number.len() > SHORT {
                    to.push(b'"');
                    to.extend(number);
                    to.push(b'"');
                } else {
                    to.extend(number);
                }
            }
            byte => {
                match byte {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth > MAX_DEPTH {
                    let problem = format!("nested deeper than {MAX_DEPTH} levels");
                    return Err(CompileError::new("p4c's intermediate form", problem));
                }
                to.push(byte);
                at += 1;
            }
        }
    }
    Ok(to)
}

/// Returns the position after a string that starts at `at`.
fn string_end(document: &[u8], at: usize) -> usize {
    let mut escaped = false;
    for (offset, &byte) in document[at..].iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + offset + 1,
            _ => {}
        }
    }
    document.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_integers_are_quoted() {
        let quoted = |text: &str| {
            let bytes = quote_long_numbers(text.as_bytes()).expect("shallow");
            String::from_utf8(bytes).expect("text")
        };
        assert_eq!(quoted("[1,-12,1.5]"), "[1,-12,1.5]");
        assert_eq!(quoted("[12345678901234567890]"), "[\"12345678901234567890\"]");
        let inside = r#"{"a \" 12345678901234567890":"b"}"#;
        assert_eq!(quoted(inside), inside);
        assert!(quote_long_numbers(&vec![b'['; MAX_DEPTH + 1]).is_err());
    }
}
