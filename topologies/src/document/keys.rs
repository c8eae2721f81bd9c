//! The keys of a document: one list for all kinds of networks.

use crate::kind::Kind;

/// A key of a document, and the kinds of networks that know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The section whose entries have the key: `network` for the document itself.
    pub section: &'static str,
    /// The key.
    pub name: &'static str,
    /// The kinds of networks that know it.
    pub kinds: &'static [Kind],
    /// Type in Rust.
    pub value: &'static str,
    /// Meaning.
    pub about: &'static str,
    /// The value of a document without it, in words; empty where it must be given.
    pub default: &'static str,
    /// A value in YAML.
    pub example: &'static str,
}

impl Key {
    /// Returns the kinds that know the key, in words: "switches and sites".
    pub fn kinds_in_words(&self) -> String {
        let names: Vec<_> = self.kinds.iter().map(|kind| kind.name()).collect();
        match names.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, ahead)) => format!("{} and {last}", ahead.join(", ")),
            None => String::new(),
        }
    }

    /// Returns the values that the key takes, in words: "size, with unit".
    pub fn value_in_words(&self) -> String {
        match self.value {
            "String" | "Sum" => "text".to_owned(),
            "bool" => "`true` or `false`".to_owned(),
            "i64" => "whole number".to_owned(),
            "f64" => "number".to_owned(),
            "Part" => "share, 0 to 1 or in %".to_owned(),
            "Rate" | "RatePair<Rate>" => "rate with unit".to_owned(),
            "Seconds" => "duration with unit".to_owned(),
            "Size" => "size with unit".to_owned(),
            "TimeEntry" => "distribution of durations".to_owned(),
            "[String; 2]" => "two names".to_owned(),
            "PerHost<TimeEntry>" => "distribution of durations, or one per host".to_owned(),
            "PerHost<Size>" => "size with unit, or one per host".to_owned(),
            "PerHost<i64>" => "whole number, or one per host".to_owned(),
            value if value.starts_with("Vec<") => "list".to_owned(),
            _ => "map from names".to_owned(),
        }
    }
}

/// Declares the entry of a section: for each key its type, the kinds of networks that accept it, its meaning,
/// its default, and an example. Entries are read and written by this list alone.
macro_rules! keys {
    ($(#[$doc:meta])* $name:ident, $section:literal,
     {$($key:ident: $value:ty, [$($kind:ident),*],
        $about:literal, $default:literal, $example:literal;)*}) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(#[doc = $about] pub $key: Option<At<$value>>,)*
        }

        impl $name {
            /// The keys, in the order in which they are written.
            pub const KEYS: &'static [Key] = &[$(Key {
                section: $section,
                name: stringify!($key),
                kinds: &[$(Kind::$kind),*],
                value: stringify!($value),
                about: $about,
                default: $default,
                example: $example,
            }),*];

            /// Returns the keys that are given, each with its line.
            pub fn given(&self) -> Vec<(&'static Key, u64)> {
                let lines = [$(self.$key.as_ref().map(|value| value.line)),*];
                Self::KEYS.iter().zip(lines).filter_map(|(key, line)| Some((key, line?))).collect()
            }
        }

        impl Field for $name {
            fn yaml(&self) -> String {
                let mut all: Vec<String> = Vec::new();
                $(if let Some(value) = &self.$key {
                    all.push(format!("{}: {}", stringify!($key), value.value.yaml()));
                })*
                format!("{{{}}}", all.join(", "))
            }
            fn json(&self) -> serde_json::Value {
                let mut all = serde_json::Map::new();
                $(if let Some(value) = &self.$key {
                    all.insert(stringify!($key).to_owned(), value.value.json());
                })*
                serde_json::Value::Object(all)
            }
        }
    };
}

pub(super) use keys;
