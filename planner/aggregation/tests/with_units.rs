//! Reference instances, whose numbers are bits per second, as documents, whose rates have units. The
//! planner's tests and its benchmarks share this file.

use serde_json::Value;

/// Keys of instances, and those of documents.
const KEYS: [(&str, &str); 2] = [("aggregation", "aggregation_capacity"), ("ingress", "ingress_capacity")];
/// Where an instance has rates.
const RATES: [(&str, &str); 4] = [
    ("nodes", "aggregation_capacity"),
    ("nodes", "ingress_capacity"),
    ("links", "rate"),
    ("background", "rate"),
];

/// Writes the present keys and the unit of rates to a reference instance.
///
/// # Errors
/// A text that is not JSON.
pub fn with_units(text: &str) -> Result<String, serde_json::Error> {
    let mut document: Value = serde_json::from_str(text)?;
    let nodes = document.get_mut("nodes").and_then(Value::as_array_mut).into_iter().flatten();
    for node in nodes.filter_map(Value::as_object_mut) {
        for (old, new) in KEYS {
            if let Some(value) = node.remove(old) {
                node.insert(new.to_owned(), value);
            }
        }
    }
    for (list, key) in RATES {
        let entries = document.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        for rate in entries.filter_map(|entry| entry.get_mut(key)).filter(|rate| rate.is_number()) {
            *rate = format!("{rate} bps").into();
        }
    }
    Ok(document.to_string())
}
