//! Finds words, phrases and stems in a text, whatever breaks its lines.

use std::collections::HashMap;

use super::Found;
use super::rules::{BRITISH, PHRASES};

/// What a word may be: a stem that it has, and phrases that it begins.
#[derive(Debug, Default, Clone)]
struct Word {
    stem: Option<&'static str>,
    begins: Vec<&'static str>,
}

/// Looks words up once per spelling.
#[derive(Debug, Default)]
pub struct Words {
    known: HashMap<String, Word>,
}

impl Words {
    /// Returns each word, phrase and stem that a text has, with its line.
    pub fn scan(&mut self, text: &str) -> Vec<Found> {
        let words = split(text);
        let mut found = Vec::new();
        for (at, (word, line)) in words.iter().enumerate() {
            let Some(word) = word else { continue };
            let word = self.look_up(word);
            found.extend(word.stem.map(|stem| (stem, *line)));
            let follows = |phrase: &&&str| {
                let parts = phrase.split(' ').enumerate();
                parts.into_iter().all(|(nth, part)| {
                    words.get(at + nth).is_some_and(|(word, _)| word.as_deref() == Some(part))
                })
            };
            found.extend(word.begins.iter().filter(follows).map(|phrase| (*phrase, *line)));
        }
        found
    }

    fn look_up(&mut self, word: &str) -> &Word {
        self.known.entry(word.to_owned()).or_insert_with(|| Word {
            stem: BRITISH.iter().copied().find(|stem| word.contains(stem)),
            begins: PHRASES.iter().copied().filter(|phrase| phrase.split(' ').next() == Some(word)).collect(),
        })
    }
}

/// Words in lower case with their lines, and `None` where punctuation separates two of them. Marks of
/// comments separate nothing, so that a phrase is found across lines. Parts of a name like `is_none` are
/// words of their own.
fn split(text: &str) -> Vec<(Option<String>, usize)> {
    let mut words: Vec<(Option<String>, usize)> = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let (mut word, mut before) = (String::new(), ' ');
        for c in content.chars().chain([' ']) {
            // Parts of names are words, too: `is_told`, `WasTold`.
            let is_hump = c.is_uppercase() && before.is_lowercase();
            if !word.is_empty() && (!c.is_alphabetic() || is_hump) {
                words.push((Some(std::mem::take(&mut word)), line));
            }
            if c.is_alphabetic() {
                word.extend(c.to_lowercase());
            } else if !c.is_whitespace() && !"/!*#\\>-|".contains(c) {
                words.push((None, line));
            }
            before = c;
        }
    }
    words
}

#[test]
fn words_are_found_across_lines_in_names_and_not_across_sentences() {
    let mut words = Words::default();
    let text = "/// So\n/// many were told.\nfn is_told(x: WasTold) { x.is_none() }\n# so, many\nretold Neighbours, centred\n\
                that. There is\n\"goes on \\\n  from 3\"\nThe paper's, the papers\n";
    let found = words.scan(text);
    let expected = [
        ("so many", 1),
        ("told", 2),
        ("told", 3),
        ("told", 3),
        ("neighbour", 5),
        ("centre", 5),
        ("goes on from", 7),
        ("the paper", 9),
    ];
    assert_eq!(found, expected);
}
