//! GML, as the Topology Zoo, NetworkX and igraph write it.

use std::rc::Rc;

use super::attributes::Attributes;
use super::graph::Graph;
use crate::NetworkError;

/// Lists within lists.
const MAX_DEPTH: usize = 64;

/// A value: text, a number as it is written, or a list of keys with values.
enum Value<'t> {
    Plain(String),
    List(Vec<(&'t str, Value<'t>)>),
}

pub(super) fn read(text: &str) -> Result<Graph, NetworkError> {
    let mut graph = Graph::new("gml");
    let mut parser = Parser { rest: text, line: 1 };
    let all = parser.list(0)?;
    let Some(Value::List(entries)) = value_of(&all, "graph") else {
        return Err(graph.wrong("it has no `graph [`", "name its format"));
    };
    let is_set = |key| matches!(value_of(entries, key), Some(Value::Plain(value)) if value == "1");
    graph.directed = is_set("directed");
    graph.multigraph = is_set("multigraph");
    for (_, node) in entries.iter().filter(|(key, _)| *key == "node") {
        let Some(id) = plain(node, "id") else {
            return Err(graph.wrong("a node has no id", "give each node an id"));
        };
        graph.declare(id)?.attributes = attributes(node);
    }
    for (_, edge) in entries.iter().filter(|(key, _)| *key == "edge") {
        let (Some(source), Some(target)) = (plain(edge, "source"), plain(edge, "target")) else {
            return Err(graph.wrong("an edge has no source or no target", "name both nodes by their ids"));
        };
        let ends = [graph.end(source)?, graph.end(target)?];
        graph.edge(ends, &Rc::new(attributes(edge)))?;
    }
    Ok(graph)
}

fn value_of<'v, 't>(entries: &'v [(&'t str, Value<'t>)], key: &str) -> Option<&'v Value<'t>> {
    entries.iter().find(|(known, _)| known.eq_ignore_ascii_case(key)).map(|(_, value)| value)
}

fn plain<'v>(entry: &'v Value<'_>, key: &str) -> Option<&'v str> {
    let Value::List(entries) = entry else { return None };
    match value_of(entries, key)? {
        Value::Plain(text) => Some(text),
        Value::List(_) => None,
    }
}

fn attributes(entry: &Value<'_>) -> Attributes {
    let mut attributes = Attributes::default();
    if let Value::List(entries) = entry {
        for (key, value) in entries {
            if let Value::Plain(text) = value {
                attributes.set(key, text);
            }
        }
    }
    attributes
}

struct Parser<'t> {
    rest: &'t str,
    line: u64,
}

impl<'t> Parser<'t> {
    fn wrong(&self, problem: impl Into<String>) -> NetworkError {
        NetworkError::new(self.line, "gml", problem, "write it with networkx.write_gml(graph, file)")
    }

    fn skip(&mut self, count: usize) -> &'t str {
        let (skipped, rest) = self.rest.split_at(count);
        self.line += skipped.bytes().filter(|&byte| byte == b'\n').count() as u64;
        self.rest = rest;
        skipped
    }

    /// Steps over blanks and comments; the next character.
    fn next(&mut self) -> Option<char> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.skip(blank);
            if !self.rest.starts_with('#') {
                return self.rest.chars().next();
            }
            self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
    }

    fn word(&mut self) -> &'t str {
        let ends = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"' | '#');
        self.skip(self.rest.find(ends).unwrap_or(self.rest.len()))
    }

    /// Keys with values, up to the end of the list or of the text.
    fn list(&mut self, depth: usize) -> Result<Vec<(&'t str, Value<'t>)>, NetworkError> {
        if depth > MAX_DEPTH {
            return Err(self.wrong(format!("lists are nested more than {MAX_DEPTH} deep")));
        }
        let mut entries = Vec::new();
        loop {
            match self.next() {
                None if depth == 0 => return Ok(entries),
                None => return Err(self.wrong("a list does not end: `]` is expected")),
                Some(']') if depth > 0 => {
                    self.skip(1);
                    return Ok(entries);
                }
                Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                    let key = self.word();
                    entries.push((key, self.value(key, depth)?));
                }
                Some(c) => return Err(self.wrong(format!("a key is expected, not {c:?}"))),
            }
        }
    }

    fn value(&mut self, key: &str, depth: usize) -> Result<Value<'t>, NetworkError> {
        match self.next() {
            Some('[') => {
                self.skip(1);
                self.list(depth + 1).map(Value::List)
            }
            Some('"') => {
                self.skip(1);
                let end = self.rest.find('"').ok_or_else(|| self.wrong("quoted text does not end"))?;
                let text = self.skip(end);
                self.skip(1);
                Ok(Value::Plain(without_entities(text)))
            }
            Some(c) if c != ']' => Ok(Value::Plain(self.word().to_owned())),
            _ => Err(self.wrong(format!("{key:?} has no value"))),
        }
    }
}

/// Text with `&amp;`, `&#233;` and the like as the characters that they stand for.
fn without_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let named =
            rest.find(';').filter(|&end| end <= 9).and_then(|end| Some((character(&rest[1..end])?, end)));
        let (character, length) = named.map_or(('&', 1), |(character, end)| (character, end + 1));
        out.push(character);
        rest = &rest[length..];
    }
    out + rest
}

fn character(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "lt" => Some('<'),
        "gt" => Some('>'),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_characters() {
        assert_eq!(without_entities("Z&#252;rich &amp; Gen&#xe8;ve"), "Z\u{fc}rich & Gen\u{e8}ve");
        assert_eq!(without_entities("A&B; &; &#x110000; é&"), "A&B; &; &#x110000; é&");
    }
}
