//! Formats of files.

use std::collections::BTreeMap;

use inart_formats::{DocumentError, Format, FormatError};
use serde::{Deserialize, Serialize};

const FORMAT: Format = Format { kind: "note", oldest: 1, newest: 2, fix: "write the note again" };

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    text: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    counts: BTreeMap<u16, f64>,
}

fn note() -> Note {
    Note { text: "format".into(), counts: [(3, 0.1), (70, 1e300)].into() }
}

fn error(json: &str) -> String {
    FORMAT.read::<Note>(json.as_bytes()).unwrap_err().to_string()
}

#[test]
fn the_number_comes_first_and_is_not_part_of_the_document() {
    let text = FORMAT.write(&note()).unwrap();
    assert_eq!(text, r#"{"format":2,"text":"format","counts":{"3":0.1,"70":1e+300}}"#);
    assert_eq!(FORMAT.read::<Note>(text.as_bytes()).unwrap(), note());
    let last = r#"{"text": "a", "format": 2}"#;
    assert_eq!(FORMAT.read::<Note>(last.as_bytes()).unwrap().text, "a");
}

#[test]
fn a_document_without_a_number_is_of_format_1() {
    let old = br#"{"text": "a"}"#;
    assert_eq!((FORMAT.number(old).unwrap(), FORMAT.read::<Note>(old).unwrap().text), (1, "a".to_owned()));
    let newer = Format { oldest: 2, ..FORMAT };
    let refused = newer.read::<Note>(old).unwrap_err().to_string();
    assert_eq!(refused, "format 1 is older than this version of inart reads (only 2); write the note again");
}

#[test]
fn a_newer_format_is_refused_before_everything_else() {
    let named = "format 3 is newer than this version of inart reads (1 to 2); use a newer inart, or write the note again";
    for json in [
        r#"{"format": 3, "text": "a"}"#,
        r#"{"format": 3, "other": [1, {"a": null}], "text": 7}"#,
        r#"{"other": 1, "format": 3}"#,
        r#"{"format":3}"#,
    ] {
        assert_eq!(error(json), named, "{json}");
    }
    assert!(error(r#"{"format": 18446744073709551615}"#).starts_with("format 18446744073709551615 is newer"));
}

#[test]
fn what_is_not_a_number_is_refused_on_one_line() {
    for (json, value) in [
        (r#"{"format": "2", "text": "a"}"#, r#"format "2" is not a number of a format (1 to 2); write"#),
        (r#"{"format": -1}"#, "format -1 is not"),
        (r#"{"format": 1.5}"#, "format 1.5 is not"),
        (r#"{"format": {"a": "b\nc"}}"#, r#"format {"a":"b\nc"} is not"#),
    ] {
        assert!(error(json).starts_with(value), "{}", error(json));
        assert_eq!(error(json).lines().count(), 1);
    }
    assert!(error(r#"{"format": 0}"#).starts_with("format 0 is older than"));
    let long = error(&format!(r#"{{"format": "{}"}}"#, "x".repeat(1 << 20)));
    assert!(long.len() < 256, "{} bytes", long.len());
}

#[test]
fn contents_are_as_strict_as_without_a_number_and_errors_keep_their_lines() {
    for (json, named) in [
        (
            "{\"format\": 2,\n \"text\": \"a\",\n \"more\": 1}",
            "unknown field `more`, expected `text` or `counts` at line 3",
        ),
        ("{\"format\": 2, \"format\": 2, \"text\": \"a\"}", "unknown field `format`"),
        ("{\"format\": 2}", "missing field `text`"),
        ("{\"format\": 2, \"text\": \"a\"} 7", "trailing characters"),
        ("{\"format\": 2, \"text\": ", "EOF"),
        ("[2, \"a\"]", "invalid type: sequence"),
        ("7", "invalid type: integer"),
        ("", "EOF"),
    ] {
        assert!(matches!(FORMAT.read::<Note>(json.as_bytes()), Err(DocumentError::Contents(_))), "{json}");
        assert!(error(json).contains(named), "{json}: {}", error(json));
    }
    assert!(FORMAT.read::<Note>(b"{\"text\": \"\xff\"}").is_err());
}

#[test]
fn numbers_of_binary_files_are_checked_alike() {
    let only = Format { oldest: 3, newest: 3, ..FORMAT };
    assert_eq!(only.check(3), Ok(3));
    assert!(matches!(only.check(4), Err(FormatError::Newer { number: 4, .. })));
    assert!(matches!(only.check(2), Err(FormatError::Older { number: 2, .. })));
}
