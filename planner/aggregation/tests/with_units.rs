//! Reference instances, whose numbers are bits per second, as documents, whose rates have units. The
//! planner's tests and its benchmarks share this file.

use serde_json::Value;

/// Where an instance has rates.
const RATES: [(&str, &str); 4] =
    [("nodes", "aggregation"), ("nodes", "ingress"), ("links", "rate"), ("background", "rate")];

/// Writes the unit to the rates of a reference instance.
///
/// # Errors
/// A text that is not JSON.
pub fn with_units(text: &str) -> Result<String, serde_json::Error> {
    let mut document: Value = serde_json::from_str(text)?;
    for (list, key) in RATES {
        let entries = document.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        for rate in entries.filter_map(|entry| entry.get_mut(key)).filter(|rate| rate.is_number()) {
            *rate = format!("{rate} bps").into();
        }
    }
    Ok(document.to_string())
}
