//! Fields of structs, values of enums and numbers of P4 enums, with their comments, read without a compiler.

use super::{cell, without_links};

/// A field or a variant.
#[derive(Debug, Default, PartialEq)]
struct Item {
    docs: String,
    attributes: String,
    /// The text up to the comma.
    text: String,
}

/// Returns whether a line starts the declaration of a type: `struct Plan<S> {`, `enum bit<8> Reason {`.
fn declares(line: &str, name: &str) -> bool {
    let Some(head) = line.trim().strip_suffix('{').map(str::trim) else { return false };
    let keyword = ["struct ", "enum "].iter().find_map(|keyword| Some(head.split_once(keyword)?.1));
    let is_named =
        |rest: &str| rest.split(['<', ' ']).next() == Some(name) || rest.ends_with(&format!("> {name}"));
    keyword.is_some_and(is_named)
}

/// Returns the lines of a type's declaration, without the first and the last.
fn block<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    // In a macro, a declaration is `Counts {`. So are variants of enums, which may have the name of a type.
    let in_macro = format!("{name} {{");
    let first = text.lines().position(|line| declares(line, name));
    let first = first.or_else(|| text.lines().position(|line| line.trim() == in_macro));
    let mut lines = text.lines().skip(first.unwrap_or_else(|| panic!("no {name}")));
    let first = lines.next().unwrap_or_else(|| panic!("no {name}"));
    let indent = first.len() - first.trim_start().len();
    let close = format!("{}}}", " ".repeat(indent));
    lines.take_while(|line| *line != close).collect()
}

/// Returns the fields or variants of a block, those in nested braces left out.
fn items(lines: &[&str]) -> Vec<Item> {
    let (mut items, mut item, mut depth) = (Vec::new(), Item::default(), 0);
    for line in lines.iter().map(|line| line.trim()) {
        if depth > 0 {
            depth += level(line);
        } else if let Some(docs) = line.strip_prefix("///") {
            item.docs += docs;
        } else if line.starts_with("#[") || !item.attributes.is_empty() && !item.attributes.ends_with(']') {
            item.attributes += line;
        } else if !line.is_empty() && !line.starts_with("//") {
            depth = level(line);
            item.text = line.trim_end_matches([',', '{', ' ']).to_owned();
            items.push(std::mem::take(&mut item));
        }
    }
    items
}

fn level(line: &str) -> i32 {
    let count = |c: char| i32::try_from(line.matches(c).count()).expect("a line is short");
    count('{') - count('}')
}

/// Returns the table of a struct's fields in documents: name, type, and the comment.
pub fn fields(text: &str, name: &str) -> String {
    let items = items(&block(text, name));
    assert!(!items.is_empty(), "{name} has no fields");
    let row = |item: &Item| {
        let field = item.text.strip_prefix("pub ").unwrap_or(&item.text);
        let (field, kind) = field.split_once(": ").unwrap_or((field, "u64"));
        let field = renamed(&item.attributes).unwrap_or(field);
        let may_lack = item.attributes.contains("skip_serializing_if") || kind.starts_with("Option<");
        let kind = kind.strip_prefix("Option<").and_then(|kind| kind.strip_suffix('>')).unwrap_or(kind);
        let kind = words(kind) + if may_lack { ", optional" } else { "" };
        format!("| `{field}` | {kind} | {} |\n", cell(&sentence(&item.docs)))
    };
    // The fields of a flattened field are in its place.
    let rows: String = items.iter().filter(|item| !item.attributes.contains("flatten")).map(row).collect();
    format!("| Field | Type | Meaning |\n|---|---|---|\n{rows}")
}

fn renamed(attributes: &str) -> Option<&str> {
    attributes.split_once("rename = \"")?.1.split('"').next()
}

/// Returns a comment in one line.
fn sentence(docs: &str) -> String {
    without_links(docs.trim()).replace("; `None` (null)", "; `null`").replace("`None`", "`null`")
}

/// Returns a type of Rust as one of JSON and YAML.
fn words(kind: &str) -> String {
    let inner = |prefix: &str| kind.strip_prefix(prefix).and_then(|rest| rest.strip_suffix('>'));
    if let Some(item) = inner("Vec<") {
        return format!("list of {}", several(words(item)));
    }
    if let Some(item) = inner("Box<") {
        return words(item);
    }
    if let Some(pair) = inner("BTreeMap<") {
        let (key, value) = pair.split_once(", ").expect("a map has two types");
        return format!("map from {} to {}", words(key), several(words(value)));
    }
    if let Some((item, count)) =
        kind.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).and_then(|rest| rest.split_once("; "))
    {
        return format!("list of {count} {}", several(words(item)));
    }
    match kind.rsplit("::").next().unwrap_or(kind) {
        "String" => "text".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => "integer".to_owned(),
        "JobId" | "Plan version" | "Rank" | "ShardId" | "ChunkSeq" | "Bitmap index" | "ValuesPerFrame" => {
            "integer".to_owned()
        }
        "f32" | "f64" => "number".to_owned(),
        "bool" => "`true` or `false`".to_owned(),
        "Span" => "duration".to_owned(),
        "Share" => "share".to_owned(),
        "BitRate" => "rate".to_owned(),
        "MacAddr" | "QueueLimit" => "text".to_owned(),
        // Enums without values of their own, which pages list as values.
        "Limit" | "Order" | "Paths" | "Protocol" => "text".to_owned(),
        _ => "object".to_owned(),
    }
}

/// Returns the plural of a type, where it has one.
fn several(word: String) -> String {
    match &*word {
        "object" | "integer" | "number" | "text" => word + "s",
        _ => word,
    }
}

/// Returns the table of an enum's values, as documents have them.
pub fn values(text: &str, name: &str) -> String {
    let before = text.split(&format!("enum {name} {{")).next().expect("a part before");
    let attributes = before.lines().rev().take_while(|line| !line.is_empty());
    let rename = attributes.filter_map(|line| line.split_once("rename_all = \"")?.1.split('"').next()).next();
    let row = |item: &Item| {
        let variant = item.text.split(['(', ' ']).next().unwrap_or_default();
        let value = match rename {
            Some("lowercase") => variant.to_lowercase(),
            Some("snake_case") => separated(variant, '_'),
            Some("kebab-case") => separated(variant, '-'),
            _ => variant.to_owned(),
        };
        let value = renamed(&item.attributes).map_or(value, str::to_owned);
        format!("| `{value}` | {} |\n", cell(&sentence(&item.docs)))
    };
    let items = items(&block(text, name));
    assert!(!items.is_empty(), "{name} has no values");
    format!("| Value | Meaning |\n|---|---|\n{}", items.iter().map(row).collect::<String>())
}

/// `InTurn` as `in-turn`.
fn separated(name: &str, by: char) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push(by);
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// Returns the table of a P4 enum's names with their numbers and comments.
pub fn numbers(text: &str, name: &str) -> String {
    let row = |line: &&str| {
        let (name, rest) = line.trim().split_once(" = ")?;
        let (number, comment) = rest.split_once("//").unwrap_or((rest, ""));
        let number = number.trim().trim_end_matches(',');
        Some(format!("| {number} | `{name}` | {} |\n", cell(comment.trim())))
    };
    let rows: String = block(text, name).iter().filter_map(row).collect();
    assert!(!rows.is_empty(), "{name} has no numbers");
    format!("| Number | Name | Meaning |\n|---|---|---|\n{rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "/// A.
#[serde(rename_all = \"kebab-case\")]
pub enum Order {
    /// One | two.
    #[default]
    InTurn,
    /// Both:
    /// [`Order::InTurn`].
    Both { x: u8 },
}

impl Order {
    fn f() {}
}

pub enum Wrong {
    /// Has the name of a type.
    Plan {
        /// Why.
        why: String,
    },
}

counters!(
    /// C.
    Counts {
        /// Frames.
        frames,
        bytes,
    }
);

pub struct Plan<S = u8> {
    /// When.
    #[serde(rename = \"for\",
        skip_serializing_if = \"a\")]
    pub lasts: Option<[String; 2]>,
    /// All.
    pub all: Vec<BTreeMap<String, f64>>,
}

enum bit<8> Reason {
    NONE = 0,   // not dropped
    SHORT = 1
}
";

    #[test]
    fn declarations_become_tables() {
        let rows = |table: String| table.lines().skip(2).map(str::to_owned).collect::<Vec<_>>();
        let of_values = ["| `in-turn` | One \\| two. |", "| `both` | Both: `InTurn`. |"];
        assert_eq!(rows(values(TEXT, "Order")), of_values);
        assert_eq!(
            rows(fields(TEXT, "Counts")),
            ["| `frames` | integer | Frames. |", "| `bytes` | integer |  |"]
        );
        let of_plan = [
            "| `for` | list of 2 texts, optional | When. |",
            "| `all` | list of map from text to numbers | All. |",
        ];
        assert_eq!(rows(fields(TEXT, "Plan")), of_plan);
        assert_eq!(rows(numbers(TEXT, "Reason")), ["| 0 | `NONE` | not dropped |", "| 1 | `SHORT` |  |"]);
    }
}
