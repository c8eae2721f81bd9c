//! Documents that a former version wrote, such as those in records.

use serde_json::{Map, Value};

use crate::renamed;

/// Returns a network's document with the present keys in place of old ones. A text without old keys, and one
/// that is not a document, stay as they are.
pub fn with_present_keys(text: &str) -> String {
    let options = serde_saphyr::options! { with_snippet: false };
    let Ok(mut document) = serde_saphyr::from_str_with_options::<Value>(text, options) else {
        return text.to_owned();
    };
    let before = document.clone();
    for section in ["nodes", "jobs"] {
        let entries = document.get_mut(section).and_then(Value::as_array_mut);
        for entry in entries.into_iter().flatten().filter_map(Value::as_object_mut) {
            renew(entry);
        }
    }
    if document == before { text.to_owned() } else { document.to_string() }
}

fn renew(entry: &mut Map<String, Value>) {
    for (default, overrides) in [("compute", "computes"), ("batch", "batches"), ("update", "updates")] {
        let Some(overrides) = entry.remove(overrides) else { continue };
        let mut both = Map::new();
        both.extend(entry.remove(default).map(|value| ("default".to_owned(), value)));
        both.insert("overrides".to_owned(), overrides);
        entry.insert(default.to_owned(), both.into());
    }
    rename(entry);
}

/// Renames the keys of an entry and of the times inside it. Names of hosts, which `overrides` have as keys,
/// stay.
fn rename(entry: &mut Map<String, Value>) {
    for (old, new) in renamed::moved() {
        if let Some(value) = entry.remove(old) {
            entry.insert(new.to_owned(), value);
        }
    }
    for (key, value) in entry.iter_mut() {
        match value.as_object_mut() {
            Some(overrides) if key == "overrides" => {
                overrides.values_mut().filter_map(Value::as_object_mut).for_each(rename);
            }
            Some(inner) if key != "ports" => rename(inner),
            _ => {}
        }
    }
}
