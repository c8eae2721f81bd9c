//! Lines as scripts of users know them: each is read, and printed with the same keys.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use inart_report::{LINE_BYTES, Line, LineError, shown};
use serde_json::Value;

/// A line of each event, with all keys.
const LINES: &[&str] = &[
    r#"{"event":"worker_ended","rank":1,"rounds":2,"comm_seconds":[0.5,0.25],"retransmissions":3,"trained":{"loss":0.1,"accuracy":0.9,"digest":"ab"}}"#,
    r#"{"event":"round","round":1,"began_ns":1,"ended_ns":3,"version":4294967296,"sum":"ab"}"#,
    r#"{"event":"round","round":1,"began_ns":1,"own_ns":2,"ended_ns":3,"version":4294967296,"sum":"ab"}"#,
    r#"{"event":"site_ended","accuracy":0.5,"relayed":1,"asks":2,"failed":3,"dropped":{"chunks_twice":4}}"#,
    r#"{"event":"site_ended","accuracy":null,"relayed":1,"asks":2,"failed":3,"dropped":{},"summed_in_switches":9}"#,
    r#"{"event":"offered","version":4294967296,"trees":3}"#,
    r#"{"event":"averaged","averaged":"ab","round":1,"of":[["p1",1],["p2",0]]}"#,
    r#"{"event":"peer_sent","sent":"ab","round":1,"began_ns":1,"computed_ns":2}"#,
    r#"{"event":"received","received":"ab","from":"p1","round":1}"#,
    r#"{"event":"multicast_ended","round":1,"complete":["p2"],"withdrawn":[],"given_up":["p3"],"seconds":0.5,"ended_ns":9,"rounds_with_previous_receivers":false}"#,
    r#"{"event":"peer_ended","accuracy":null,"complete":1,"abandoned":2,"given_up":3,"failed":4,"gone":5,"back":6,"rounds_with_previous_receivers":7,"rounds_skipped":8,"restarted_from_init":9,"forced":10,"superseded":11,"stale_incarnation":12,"unknown_senders":13,"asks":14,"repairs":15,"misdelivered":16,"other_job":17,"other_plan_version":18,"unknown":19,"malformed":20}"#,
    r#"{"event":"in_charge","term":7,"peers":["p1","p2"]}"#,
    r#"{"event":"chosen","from":"p1","round":1,"to":["p2"],"rate_bps":1000000.0}"#,
    r#"{"event":"selection_failed","reason":"no peer is connected"}"#,
    r#"{"event":"other_job","other_job":"p3"}"#,
    r#"{"event":"resumed","resumed":"model.kept","from_version":20,"updates":20}"#,
    r#"{"event":"worker_sent","sent":"ab","iteration":1,"batch":16,"base":2,"model":"cd","began_ns":3}"#,
    r#"{"event":"pushed","pushed":"ab","worker":"w1","iteration":1,"base":2,"refusal":null,"at_ns":3}"#,
    r#"{"event":"applied","applied":3,"model":"ab","updates":[{"worker":"w1","iteration":1,"staleness":0,"scale":1.0}],"at_ns":4}"#,
    r#"{"event":"pulls","pulls":"w1","version":3,"at_ns":4}"#,
    r#"{"event":"joined","joined":"w1","at_ns":4}"#,
    r#"{"event":"gone","gone":"w1","at_ns":4}"#,
    r#"{"event":"rejected","name":"w1","why":"its batch is 8"}"#,
    r#"{"event":"leaves_out","leaves_out":"c1","at_ns":4}"#,
    r#"{"event":"discarded","discarded":"w1","iteration":1,"why":"a NaN"}"#,
    r#"{"event":"ps_server_ended","version":1,"accuracy":0.5,"applied_updates":2,"refused":3,"given_up":4,"relaxation":0.8,"dropped":5,"repeated":6,"unasked":7,"malformed":8,"stale_incarnation":9,"other_model":10,"unknown_senders":11,"connections":{"ended":1,"unknown_senders":2,"malformed":3,"repeated":4,"sent_again":5,"other_connection":6}}"#,
    r#"{"event":"ps_server_ended","version":1,"accuracy":0.5,"applied_updates":2,"refused":3,"given_up":4,"relaxation":null,"dropped":5,"repeated":6,"unasked":7,"malformed":8,"stale_incarnation":9,"other_model":10,"unknown_senders":11,"connections":{"ended":1,"unknown_senders":2,"malformed":3,"repeated":4,"sent_again":5,"other_connection":6},"resumed_from_version":20,"late":1,"repeated_rounds":2,"excluded":3,"rounds_unscored":4,"left_out":["c1"]}"#,
    r#"{"event":"ps_worker_ended","iterations":1,"version":2,"sent_again":3,"repeated":4,"superseded":5,"unasked":6,"malformed":7,"stale_incarnation":8,"left_out":null,"connections":{"ended":1,"unknown_senders":2,"malformed":3,"repeated":4,"sent_again":5,"other_connection":6}}"#,
    r#"{"event":"listening"}"#,
    r#"{"event":"ready","group":0,"at_ns":1}"#,
    r#"{"event":"begins","group":0,"turn":2,"at_ns":1}"#,
    r#"{"event":"ends","group":0,"turn":2,"staleness":1,"digest":"ab","at_ns":1}"#,
    r#"{"event":"over","frames":12}"#,
    r#"{"event":"group_worker_ended","job":"digits-1","rank":1,"iterations":30,"waiting_s":0.5,"push_s":0.25,"trained":{"loss":0.1,"accuracy":0.9,"digest":"ab"}}"#,
];

#[test]
fn each_event_is_read_and_printed_with_the_same_keys() {
    for text in LINES {
        let line = Line::read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        let [own, given] = [&*line.to_json(), text].map(|text| serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(own, given);
        assert_eq!(line.to_json().find(r#"{"event":"#), Some(0), "the event is first");
    }
}

#[test]
fn the_end_of_a_server_has_its_counters() {
    let line = Line::ServerEnded(Box::default());
    let value: Value = serde_json::from_str(&line.to_json()).unwrap();
    assert_eq!((&value["event"], &value["chunks"]), (&"server_ended".into(), &0.into()));
    assert_eq!(Line::read(line.to_json().as_bytes()).unwrap(), line);
}

#[test]
fn an_event_that_lacks_a_key_that_all_of_its_kind_have_is_an_error() {
    // `null` and a lacking key are the same to a reader of these.
    const OPTIONAL: &[&str] = &[
        "trained",
        "own_ns",
        "accuracy",
        "summed_in_switches",
        "refusal",
        "model",
        "relaxation",
        "resumed_from_version",
        "late",
        "repeated_rounds",
        "excluded",
        "rounds_unscored",
        "left_out",
    ];
    let always = |event: &str, key: &str| match (event, key) {
        ("worker_sent", "model") | ("ps_server_ended", "accuracy") | ("group_worker_ended", "trained") => {
            true
        }
        _ => !OPTIONAL.contains(&key),
    };
    for text in LINES {
        let Value::Object(all) = serde_json::from_str(text).unwrap() else { panic!("{text}") };
        let event = all["event"].as_str().unwrap().to_owned();
        for key in all.keys().filter(|key| always(&event, key)) {
            let mut fewer = all.clone();
            fewer.remove(key);
            let error = Line::read(Value::Object(fewer).to_string().as_bytes()).expect_err(text).to_string();
            assert!(error.starts_with(&format!("missing field `{key}`")), "{text}: {error}");
        }
    }
}

#[test]
fn invalid_lines_are_errors_with_a_reason() {
    let error = |text: &[u8]| Line::read(text).expect_err("not an event").to_string();
    assert_eq!(error(br#"{"event":"rounds","round":1}"#), "unknown event `rounds`");
    assert_eq!(error(br#"{"round":1}"#), "missing field `event` at column 11");
    assert!(error(b"over: 3 frames").starts_with("expected value"), "{}", error(b"over: 3 frames"));
    assert!(error(b"\xff\xfe").starts_with("expected value"));
    assert!(error(br#"{"event":"over","frames":-1}"#).contains("-1"));
    for cut in 0..LINES[1].len() {
        assert!(matches!(Line::read(&LINES[1].as_bytes()[..cut]), Err(LineError::Truncated)), "{cut} bytes");
    }
    let spaces = " ".repeat(LINE_BYTES - LINES[1].len());
    assert!(Line::read(format!("{}{spaces}", LINES[1]).as_bytes()).is_ok());
    assert!(matches!(Line::read(format!("{} {spaces}", LINES[1]).as_bytes()), Err(LineError::TooLong)));
}

#[test]
fn a_shown_line_has_at_most_200_characters() {
    assert_eq!(shown(b"a \"b\"\n"), r#""a \"b\"\n""#);
    assert_eq!(shown("é".repeat(300).as_bytes()), format!("{:?}", "é".repeat(200)));
    assert_eq!(shown(&[0xff; 5]).chars().count(), 7);
}

/// The tables of `docs/reference/events.md`: by event, the keys.
fn documented() -> BTreeMap<String, String> {
    let page =
        std::fs::read_to_string(Path::new(env!("INART_ROOT")).join("docs/reference/events.md")).unwrap();
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let event = cells.next()?.trim().trim_end_matches('`').to_owned();
        Some((event, cells.nth(1)?.to_owned()))
    };
    page.lines().filter_map(row).filter(|(event, _)| event != "event").collect()
}

#[test]
fn the_page_of_events_lists_each_event_and_its_keys() {
    let documented = documented();
    let mut events = BTreeSet::from(["server_ended".to_owned()]);
    for text in LINES {
        let Value::Object(all) = serde_json::from_str(text).unwrap() else { panic!("{text}") };
        let event = all["event"].as_str().unwrap();
        let keys = documented.get(event).unwrap_or_else(|| panic!("docs/reference/events.md lacks {event}"));
        for key in all.keys().filter(|key| *key != "event") {
            assert!(keys.contains(&format!("`{key}`")), "docs/reference/events.md lacks {key} of {event}");
        }
        events.insert(event.to_owned());
    }
    assert_eq!(documented.into_keys().collect::<BTreeSet<_>>(), events);
    // serde lists all events in the error for an unknown one: each has an example.
    let all = serde_json::from_str::<Line>(r#"{"event":"?"}"#).unwrap_err().to_string();
    assert_eq!(all.matches('`').count() / 2 - 1, events.len(), "{all}");
}
