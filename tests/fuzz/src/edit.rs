//! Documents that are nearly right: one that is, with some edits.

use arbitrary::{Result, Unstructured};
use serde_json::{Value, json};

/// More would only hide each other.
const MOST_EDITS: usize = 4;

/// Words that edits insert into a document.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    pub words: &'a [&'a str],
    pub numbers: &'a [f64],
}

const NUMBERS: [f64; 8] = [0.0, -1.0, 1e-320, 1e308, 0.1, 4_294_967_296.0, 9.3e18, 1e15];

/// Numbers that a solver refuses, a clock does not reach or a sum does not keep.
pub(crate) const EXTREMES: [f64; 12] = [
    1e30,
    -1e30,
    -0.0,
    5e-324,
    1e-300,
    1e-9,
    9_007_199_254_740_992.0,
    9_223_372_036_854_775_808.0,
    18_446_744_073_709_551_616.0,
    1e16,
    f64::MAX,
    f64::MIN,
];

/// As [`edited_with`], with a few numbers.
pub(crate) fn edited(document: &Value, words: &[&str], bytes: &[u8]) -> String {
    edited_with(document, Values { words, numbers: &NUMBERS }, bytes)
}

/// Returns the document as text, with as many edits as the input requests; or, one time in eight, the input
/// itself.
pub(crate) fn edited_with(document: &Value, values: Values, bytes: &[u8]) -> String {
    match bytes.split_first() {
        Some((0..32, text)) => String::from_utf8_lossy(text).into_owned(),
        Some((_, rest)) => {
            let mut document = document.clone();
            let mut input = Unstructured::new(rest);
            for _ in 0..MOST_EDITS {
                if input.is_empty() || edit(&mut document, values, &mut input).is_err() {
                    break;
                }
            }
            document.to_string()
        }
        None => document.to_string(),
    }
}

/// Makes one edit: a value is replaced, duplicated or removed.
fn edit(document: &mut Value, values: Values, input: &mut Unstructured) -> Result<()> {
    let other = match input.int_in_range(0..=3)? {
        0 => place(document, input)?.clone(),
        _ => scalar(values, input)?,
    };
    let place = place(document, input)?;
    match input.int_in_range(0..=3)? {
        0 => match place {
            Value::Array(list) if !list.is_empty() => {
                let at = input.choose_index(list.len())?;
                list.insert(at, list[at].clone());
            }
            place => *place = other,
        },
        1 => match place {
            Value::Array(list) if !list.is_empty() => {
                list.remove(input.choose_index(list.len())?);
            }
            Value::Object(fields) if !fields.is_empty() => {
                let name = fields.keys().nth(input.choose_index(fields.len())?).cloned();
                fields.remove(&name.unwrap_or_default());
            }
            place => *place = other,
        },
        2 => match place {
            Value::Object(fields) => {
                fields.insert((*input.choose(values.words)?).to_owned(), other);
            }
            place => *place = other,
        },
        _ => *place = other,
    }
    Ok(())
}

/// Returns a value in the document: down from the top, until the input stops.
fn place<'a>(document: &'a mut Value, input: &mut Unstructured) -> Result<&'a mut Value> {
    let mut place = document;
    loop {
        let children = match place {
            Value::Array(values) => values.len(),
            Value::Object(fields) => fields.len(),
            _ => 0,
        };
        if children == 0 || input.ratio(1, 6)? {
            return Ok(place);
        }
        let child = input.choose_index(children)?;
        place = match place {
            Value::Array(values) => &mut values[child],
            Value::Object(fields) => fields.values_mut().nth(child).expect("the child was counted"),
            _ => return Err(arbitrary::Error::IncorrectFormat),
        };
    }
}

fn scalar(values: Values, input: &mut Unstructured) -> Result<Value> {
    Ok(match input.int_in_range(0..=6)? {
        0 => Value::Null,
        1 => json!(input.arbitrary::<bool>()?),
        2 => json!(input.arbitrary::<i8>()?),
        3 => json!(input.arbitrary::<u64>()?),
        4 => json!(input.choose(values.numbers)?),
        5 => (*input.choose(&[json!([]), json!({}), json!("")])?).clone(),
        _ => json!(input.choose(values.words)?),
    })
}
