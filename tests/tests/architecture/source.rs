//! Imports and names of a Rust file, read without a compiler.

/// Items of its own crate and others that a file names.
#[derive(Debug, Default)]
pub struct Source {
    /// By `use`: the name that it has here, and the path.
    pub imported: Vec<(String, Vec<String>)>,
    /// Other paths.
    pub named: Vec<Vec<String>>,
}

impl Source {
    /// Reads a text without comments, strings and tests.
    pub fn parse(text: &str) -> Self {
        let mut source = Self::default();
        let mut rest = text;
        while let Some(start) = find_word(rest, "use") {
            source.name_all(&rest[..start]);
            let end = rest[start..].find(';').map_or(rest.len(), |end| start + end);
            for (path, alias) in paths(&rest[start + "use".len()..end]) {
                let name = alias.or_else(|| path.last().cloned()).unwrap_or_default();
                source.imported.push((name, path));
            }
            rest = &rest[end..];
        }
        source.name_all(rest);
        source
    }

    fn name_all(&mut self, text: &str) {
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
            let path: Vec<_> = word.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
            if path.len() > 1 {
                self.named.push(path);
            }
        }
    }
}

/// Returns the positions where a word stands on its own.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        !is_part(text[..*at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    })
}

/// Returns the paths of a tree like `a::{b, c::{self, D as E}}`, with the names that they are given.
pub fn paths(tree: &str) -> Vec<(Vec<String>, Option<String>)> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
        let path = path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty());
        return vec![(path.collect(), alias.map(|alias| alias.trim().to_owned()))];
    };
    let prefix: Vec<_> =
        tree[..open].split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
    let inner = &tree[open + 1..];
    let inner = &inner[..closing(inner).unwrap_or(inner.len())];
    let mut all = Vec::new();
    for branch in branches(inner) {
        for (path, alias) in paths(branch) {
            let path = if path == ["self"] { prefix.clone() } else { [prefix.clone(), path].concat() };
            all.push((path, alias));
        }
    }
    all
}

/// Returns the position of the closing bracket that was opened before the text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        (depth == 0).then_some(at)
    })
}

/// Returns the parts between commas outside brackets.
fn branches(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut all) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            all.push(&text[start..at]);
            start = at + 1;
        }
    }
    all.push(&text[start..]);
    all.retain(|branch| !branch.trim().is_empty());
    all
}

/// Returns the text without comments, without the contents of strings and characters, and without modules of
/// tests.
pub fn strip(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (String::new(), 0);
    while at < bytes.len() {
        let rest = &text[at..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            raw.find("\"#").map_or(rest.len(), |end| end + 5)
        } else if rest.starts_with('"') {
            string_length(rest)
        } else if rest.starts_with("'\"'") {
            3
        } else {
            let c = rest.chars().next().expect("there is text left");
            out.push(c);
            at += c.len_utf8();
            continue;
        };
        out.push(' ');
        at += length;
    }
    without_tests(&out)
}

/// Returns the length of a string literal at the start of a text.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

fn without_tests(text: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let Some(start) = text.find(MARK) else { return text.to_owned() };
    let rest = &text[start + MARK.len()..];
    // An item ends with a semicolon or a block, whichever is first.
    let end = match (rest.find(';'), rest.find('{')) {
        (Some(end), open) if open.is_none_or(|open| end < open) => end + 1,
        (_, Some(open)) => closing(&rest[open + 1..]).map_or(rest.len(), |end| open + 1 + end + 1),
        _ => rest.len(),
    };
    format!("{}{}", &text[..start], without_tests(&rest[end..]))
}
