//! Serialization of assignments within reports as JSON, since assignments leave out default values, which
//! postcard does not support.

use inart_protocol_aggregation::Assignment;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub fn serialize<S: Serializer>(assignment: &Assignment, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::to_string(assignment).map_err(S::Error::custom)?.serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<Assignment>, D::Error> {
    let text = String::deserialize(deserializer)?;
    serde_json::from_str(&text).map(Box::new).map_err(D::Error::custom)
}
