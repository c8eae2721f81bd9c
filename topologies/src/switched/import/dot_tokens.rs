//! The words of a DOT text: <https://graphviz.org/doc/info/lang.html>.

/// A token of DOT.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name, number, quoted text or HTML; only an unquoted name can be a keyword.
    Id { text: String, bare: bool },
    /// `--` or `->`.
    EdgeOp,
    /// One of `{ } [ ] ; , = : +`.
    Mark(char),
}

/// Splits a text into tokens, each with its line. The error is a line and the problem there.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, u64)>, (u64, String)> {
    let mut found: Vec<(Token, u64)> = Vec::new();
    let mut rest = text;
    let line = |rest: &str, before: u64, from: &str| {
        before + from[..from.len() - rest.len()].bytes().filter(|&byte| byte == b'\n').count() as u64
    };
    let mut at = 1;
    let mut line_start = true;
    while let Some(first) = rest.chars().next() {
        let from = rest;
        let second = rest[first.len_utf8()..].chars().next();
        let token = match (first, second) {
            _ if first.is_whitespace() => {
                rest = &rest[first.len_utf8()..];
                line_start |= first == '\n';
                at = line(rest, at, from);
                continue;
            }
            ('#', _) if line_start => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            ('/', Some('/')) => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            ('/', Some('*')) => {
                let end = rest.find("*/").ok_or_else(|| (at, "a comment does not end".to_owned()))?;
                rest = &rest[end + 2..];
                at = line(rest, at, from);
                continue;
            }
            ('-', Some('-' | '>')) => {
                rest = &rest[2..];
                Token::EdgeOp
            }
            ('{' | '}' | '[' | ']' | ';' | ',' | '=' | ':' | '+', _) => {
                rest = &rest[1..];
                Token::Mark(first)
            }
            ('"', _) => {
                let (text, after) =
                    quoted(&rest[1..]).ok_or_else(|| (at, "quoted text does not end".to_owned()))?;
                rest = after;
                Token::Id { text, bare: false }
            }
            ('<', _) => {
                let end = html_end(rest).ok_or_else(|| (at, "text in <> does not end".to_owned()))?;
                let text = rest[1..end].to_owned();
                rest = &rest[end + 1..];
                Token::Id { text, bare: false }
            }
            _ => {
                // Rates are often written without quotes, so a number may go on as a name does.
                let number = first.is_ascii_digit() || matches!(first, '-' | '.');
                let part = |c: char| c.is_alphanumeric() || c == '_' || number && c == '.';
                let begin = first.len_utf8();
                let end = rest[begin..].find(|c| !part(c)).map_or(rest.len(), |end| begin + end);
                if !(part(first) || first == '-' && end > 1) {
                    return Err((at, format!("{first:?} is not expected here")));
                }
                let text = rest[..end].to_owned();
                rest = &rest[end..];
                Token::Id { text, bare: true }
            }
        };
        line_start = false;
        found.push((token, at));
        at = line(rest, at, from);
    }
    Ok(joined(found))
}

/// Returns quoted text and the text after it: `\"` is a quote, a backslash at a line's end joins lines, all
/// other characters are kept.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                '"' => out.push('"'),
                '\n' => {}
                other => out.extend(['\\', other]),
            },
            _ => out.push(c),
        }
    }
    None
}

/// Returns the position of the `>` of a `<` that may hold pairs of its own.
fn html_end(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

/// Quoted texts with `+` between are one.
fn joined(found: Vec<(Token, u64)>) -> Vec<(Token, u64)> {
    let mut out: Vec<(Token, u64)> = Vec::with_capacity(found.len());
    for (token, line) in found {
        if let (
            Token::Id { text, bare: false },
            [.., (Token::Id { text: before, bare: false }, _), (Token::Mark('+'), _)],
        ) = (&token, &mut out[..])
        {
            before.push_str(text);
            out.pop();
        } else {
            out.push((token, line));
        }
    }
    out
}
