//! STF scripts on both switches: those of p4testgen for our program, and those of the embedded switch's own
//! v1model programs.

use std::path::{Path, PathBuf};

use inart_p4::{Artifact, CASES_FOR, artifact, cases, check_cases};
use inart_p4runtime::p4::config::v1::match_field::{Match as Kind, MatchType};
use inart_p4runtime::{ActionCall, Entry, Match, Schema, TableAction, Value};
use inart_switch::conformance::run_on_all_ports;
use inart_switch::conformance::stf::{Call, Statement, number, parse};

use super::bmv2::Bmv2;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns p4testgen's output for our program, by file name.
fn printed() -> Vec<(String, Vec<Statement>)> {
    let read = |(name, text): (String, String)| {
        let script = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, script)
    };
    cases(folder()).expect("the cases are there").into_iter().map(read).collect()
}

#[test]
fn the_cases_are_of_these_sources() {
    check_cases(folder()).unwrap_or_else(|error| panic!("{error}"));
}

/// Checks that every action is among the cases' entries, and that their packets have different results.
#[test]
fn the_cases_go_many_ways() {
    let statements: Vec<_> = printed().into_iter().flat_map(|(_, script)| script).collect();
    let called = |wanted: &str| {
        statements.iter().any(
            |statement| matches!(statement, Statement::Add { action, .. } if action.action.ends_with(wanted)),
        )
    };
    for action in ["forward", "add", "refuse", "replicate", "send", "flood", "trust"] {
        assert!(called(&format!(".{action}")), "no case calls {action}");
    }
    let packets = statements.iter().filter(|statement| matches!(statement, Statement::Packet { .. })).count();
    let leave = statements.iter().filter(|statement| matches!(statement, Statement::Expect { .. })).count();
    assert!(packets >= 200 && leave >= 20 && leave < packets, "{leave} of {packets} packets leave");
}

#[test]
fn the_embedded_switch_agrees_with_p4testgen() {
    let json = artifact(CASES_FOR).json;
    let mut failed = Vec::new();
    for (name, script) in printed() {
        failed.extend(run_on_all_ports(&json, &script).err().map(|why| format!("{name}: {why}")));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[tokio::test]
async fn bmv2_agrees_with_p4testgen() {
    let Some(mut switch) = Bmv2::start().await else {
        eprintln!("skipped: simple_switch_grpc is not on the PATH");
        return;
    };
    let artifact = artifact(CASES_FOR);
    let mut failed = Vec::new();
    for (name, script) in printed() {
        failed.extend(run(&mut switch, &artifact, &script).await.err().map(|why| format!("{name}: {why}")));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Programs that bmv2 does not load: it takes no header stack with a computed index within an index or a key.
const NOT_ON_BMV2: [&str; 1] = ["stacks"];

/// The embedded switch's own programs, or those in the folder that `INART_CONFORMANCE` names: `NAME.json`,
/// `NAME.p4info.txtpb` and `NAME.stf`.
#[tokio::test]
async fn bmv2_agrees_on_other_programs() {
    let own = || Path::new(env!("INART_ROOT")).join("switch/tests/programs/v1model");
    let programs = std::env::var_os("INART_CONFORMANCE").map_or_else(own, PathBuf::from);
    let scripts = std::fs::read_dir(&programs).expect("the folder can be read");
    let mut scripts: Vec<_> = scripts.map(|entry| entry.expect("an entry").path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|ending| ending == "stf"));
    scripts.retain(|path| NOT_ON_BMV2.iter().all(|name| !path.ends_with(format!("{name}.stf"))));
    scripts.sort();
    let mut failed = Vec::new();
    for script in &scripts {
        // A frame may end the process, so each has its own.
        let Some(mut switch) = Bmv2::start().await else {
            eprintln!("skipped: simple_switch_grpc is not on the PATH");
            return;
        };
        let read =
            |ending: &str| std::fs::read_to_string(script.with_extension(ending)).expect("a file there");
        let (json, p4info) = (read("json").into_bytes().into(), read("p4info.txtpb").into());
        let statements = parse(&read("stf")).expect("a script");
        if let Err(why) = run(&mut switch, &Artifact { values: CASES_FOR, json, p4info }, &statements).await {
            failed.push(format!("{}: {why}", script.display()));
        }
    }
    eprintln!("{} of {} pass", scripts.len() - failed.len(), scripts.len());
    assert!(failed.is_empty() && !scripts.is_empty(), "{}", failed.join("\n"));
}

/// Runs a script on bmv2: its entries first, wherever they are in it. Output that the script does not expect
/// is an error.
async fn run(switch: &mut Bmv2, program: &Artifact, script: &[Statement]) -> Result<(), String> {
    let schema = Schema::from_text(&program.p4info).map_err(|error| error.to_string())?;
    let mut entries = Vec::new();
    for statement in script {
        if let Statement::Add { table, priority, key, action } = statement {
            entries.push(entry(&schema, table, *priority, key, action)?);
        }
    }
    switch.load_with(program, entries).await?;
    let mut frames = Vec::new();
    let mut expected = Vec::new();
    for statement in script {
        match statement {
            Statement::Packet { port, bytes } => frames.push((*port as u16, bytes.clone())),
            Statement::Expect { port, digits } => expected.push((*port as u16, digits.clone())),
            Statement::Add { .. } | Statement::Wait => {}
            other => return Err(format!("P4Runtime has no equivalent of {other:?}")),
        }
    }
    let mut out = switch.send_all(&frames, expected.len()).await?;
    for (port, digits) in expected {
        let place = out.iter().position(|(at, frame)| *at == port && fits(digits.as_deref(), frame));
        let place = place.ok_or_else(|| format!("port {port}: expected {digits:?}, there is {out:02x?}"))?;
        out.remove(place);
    }
    if out.is_empty() { Ok(()) } else { Err(format!("not expected: {out:02x?}")) }
}

/// Returns whether a frame matches a script: `*` is any digit, a final `$` its end.
fn fits(expected: Option<&str>, frame: &[u8]) -> bool {
    let Some(expected) = expected else { return true };
    let wanted = expected.to_ascii_lowercase();
    let (digits, whole) = wanted.strip_suffix('$').map_or((&*wanted, false), |digits| (digits, true));
    let got: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
    let same = digits.bytes().zip(got.bytes()).all(|(wanted, got)| wanted == b'*' || wanted == got);
    same && got.len() >= digits.len() && (!whole || got.len() == digits.len())
}

fn value(text: &str) -> Result<(Value, Value), String> {
    let (value, mask, _) = number(text).ok_or_else(|| format!("{text} is not a number"))?;
    let value_of = |bytes: &[u8]| Value::from_bytes(bytes).map_err(|error| error.to_string());
    Ok((value_of(&value)?, value_of(&mask)?))
}

/// Returns an `add` of a script as P4Runtime has it.
fn entry(
    schema: &Schema,
    table: &str,
    priority: Option<i32>,
    key: &[(String, String)],
    action: &Call,
) -> Result<Entry, String> {
    let info = schema.table(table).map_err(|error| error.to_string())?;
    let mut entry = Entry::new(table);
    let mut prioritized = false;
    for field in &info.match_fields {
        prioritized |= !matches!(kind(&field.r#match), MatchType::Exact | MatchType::Lpm);
    }
    for (name, text) in key {
        let field = info.match_field(name).map_err(|error| error.to_string())?;
        let (text, prefix) =
            text.split_once('/').map_or((text.as_str(), None), |(text, prefix)| (text, Some(prefix)));
        let (value, mask) = value(text)?;
        let found = match kind(&field.r#match) {
            MatchType::Exact => Match::Exact(value),
            MatchType::Lpm => {
                let prefix_len =
                    prefix.and_then(|prefix| prefix.parse().ok()).unwrap_or(field.bitwidth as u32);
                Match::Lpm { value, prefix_len }
            }
            MatchType::Ternary => {
                let mask = mask.masked(&Value::ones(field.bitwidth as u32));
                Match::Ternary { value: value.masked(&mask), mask }
            }
            MatchType::Range => Match::Range { low: value.clone(), high: value },
            MatchType::Optional => Match::Optional(value),
            MatchType::Unspecified => return Err(format!("{table}: {name} is matched in an unknown way")),
        };
        // A field without a bit that counts is left out.
        let anything = matches!(&found, Match::Ternary { mask, .. } if mask.is_zero())
            || matches!(found, Match::Lpm { prefix_len: 0, .. });
        if !anything {
            entry.matches.insert(name.clone(), found);
        }
    }
    entry.priority = if prioritized { priority.unwrap_or(0).saturating_add(1) } else { 0 };
    let params = action.arguments.iter().map(|(name, text)| Ok((name.clone(), value(text)?.0)));
    let params = params.collect::<Result<Vec<_>, String>>()?;
    entry.action = Some(TableAction::Call(ActionCall::new(action.action.clone(), params)));
    Ok(entry)
}

fn kind(field: &Option<Kind>) -> MatchType {
    match field {
        Some(Kind::MatchType(kind)) => MatchType::try_from(*kind).unwrap_or(MatchType::Unspecified),
        _ => MatchType::Unspecified,
    }
}
