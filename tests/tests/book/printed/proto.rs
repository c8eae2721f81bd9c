//! The reference of a `.proto` file: services, messages and enums with their comments.

use std::fmt::Write as _;

use super::cell;

/// The words of a line without `;`, and the comment lines before it.
struct Line<'t> {
    words: Vec<&'t str>,
    comment: String,
    depth: usize,
}

/// Returns the statements of a file, each with its comment.
fn lines(text: &str) -> Vec<Line<'_>> {
    let (mut found, mut comment, mut depth) = (Vec::new(), Vec::new(), 0);
    for line in text.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("//") {
            comment.push(text.trim());
            continue;
        }
        // `message A {}` opens and closes.
        let words: Vec<_> = line.trim_end_matches(['{', '}', ';', ' ']).split_whitespace().collect();
        if !words.is_empty() {
            found.push(Line { words, comment: comment.join(" "), depth });
        }
        comment.clear();
        depth += line.matches('{').count();
        depth -= line.matches('}').count();
    }
    found
}

/// Returns the sections of a file.
pub fn reference(text: &str) -> String {
    let mut out = String::new();
    let mut open = "";
    for line in lines(text) {
        let Line { words, comment, depth } = line;
        let comment = cell(&comment);
        match (words[..].as_ref(), depth) {
            (["service", name], 0) => {
                open = "service";
                let _ = write!(out, "\n## Service `{name}`\n\n");
                about(&mut out, &comment);
                out += "| Method | Request | Answer | Meaning |\n|---|---|---|---|\n";
            }
            ([kind @ ("message" | "enum"), name], 0) => {
                open = kind;
                let _ = write!(out, "\n## `{name}`\n\n");
                about(&mut out, &comment);
                let is_empty = text.contains(&format!("{kind} {name} {{}}"));
                out += match (is_empty, *kind) {
                    (true, _) => "No fields.\n",
                    (_, "message") => "| Field | Number | Type | Meaning |\n|---|---|---|---|\n",
                    _ => "| Value | Number | Meaning |\n|---|---|---|\n",
                };
            }
            (["rpc", ..], 1) => {
                let line = words.join(" ");
                let parts: Vec<_> = line["rpc ".len()..].split(['(', ')']).map(str::trim).collect();
                let [name, request, _, answer] = parts[..4] else { panic!("{line}") };
                let answer = match answer.strip_prefix("stream ") {
                    Some(answer) => format!("stream of {}", linked(answer)),
                    None => linked(answer),
                };
                let _ = writeln!(out, "| `{name}` | {} | {answer} | {comment} |", linked(request));
            }
            (["oneof", name], 1) => {
                let _ = writeln!(out, "| `{name}` |  | one of these |  |");
            }
            ([kind @ .., name, "=", number], 1 | 2) => {
                let kind: Vec<_> = kind.iter().map(|word| linked(word)).collect();
                let kind = kind.join(" ").replace("repeated ", "list of ");
                let _ = match open {
                    "enum" => writeln!(out, "| `{name}` | {number} | {comment} |"),
                    _ => writeln!(out, "| `{name}` | {number} | {kind} | {comment} |"),
                };
            }
            _ => {}
        }
    }
    out
}

fn about(out: &mut String, comment: &str) {
    if !comment.is_empty() {
        let _ = write!(out, "{comment}\n\n");
    }
}

/// Returns a message's name with a link to its section; other types as they are.
fn linked(name: &str) -> String {
    match name.starts_with(|c: char| c.is_uppercase()) {
        true => format!("[{name}](#{})", name.to_lowercase()),
        false => name.to_owned(),
    }
}

#[test]
fn services_messages_and_enums_become_tables() {
    let text = "// File.
syntax = \"proto3\";

service S {
  // Does
  // it.
  rpc Get(A) returns (stream B);
}
// About.
message A {
  // One.
  repeated B b = 1;
  oneof o {
    uint32 c = 2;
  }
}
message B {}
enum E {
  // Zero.
  Z = 0;
}
";
    let expected = "
## Service `S`

| Method | Request | Answer | Meaning |
|---|---|---|---|
| `Get` | [A](#a) | stream of [B](#b) | Does it. |

## `A`

About.

| Field | Number | Type | Meaning |
|---|---|---|---|
| `b` | 1 | list of [B](#b) | One. |
| `o` |  | one of these |  |
| `c` | 2 | uint32 |  |

## `B`

No fields.

## `E`

| Value | Number | Meaning |
|---|---|---|
| `Z` | 0 | Zero. |
";
    assert_eq!(reference(text), expected);
}
