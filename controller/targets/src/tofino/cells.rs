//! Cells of counters. Where both controls have a counter of one name, each counts frames that the other
//! does not see, and the two are added.

use std::collections::BTreeMap;

use futures::future::try_join_all;
use inart_bfruntime::{Client, ClientError, Entry, Match, Value};

use crate::counters::Counts;

/// Key of a counter.
const INDEX: &str = "$COUNTER_INDEX";

/// Reads some cells of some counters in one request: by name, in the requested order. Cells that the switch
/// lacks count as 0.
pub async fn read<const N: usize>(
    client: &Client,
    counters: [(&str, Vec<u64>); N],
) -> Result<[Vec<Counts>; N], ClientError> {
    let mut tables = Vec::new();
    for (place, (name, _)) in counters.iter().enumerate() {
        tables.extend(client.counters(name)?.into_iter().map(|table| (table, place)));
    }
    try_join_all(tables.iter().map(|(table, _)| client.sync(table))).await?;
    let cells = |(table, place): &(String, usize)| {
        let cells = counters[*place].1.iter();
        cells.map(|cell| Entry::new(table).exact(INDEX, *cell)).collect::<Vec<_>>()
    };
    let wanted: Vec<Entry> = tables.iter().flat_map(cells).collect();
    // An empty read would return all cells.
    let found = if wanted.is_empty() { Vec::new() } else { client.read(&wanted).await? };
    // An entry has its table's short name, which counters to be added share.
    let short = |table: &str| table.rsplit('.').next().unwrap_or_default().to_owned();
    let places: BTreeMap<String, usize> =
        tables.iter().map(|(table, place)| (short(table), *place)).collect();
    let mut sums: [BTreeMap<u64, Counts>; N] = std::array::from_fn(|_| BTreeMap::new());
    for entry in found {
        let cell = match entry.key.get(INDEX) {
            Some(Match::Exact(cell)) => u64::try_from(*cell).ok(),
            _ => None,
        };
        if let (Some(cell), Some(place)) = (cell, places.get(&short(&entry.table))) {
            let (counted, sum) = (counts(&entry), sums[*place].entry(cell).or_default());
            sum.packets += counted.packets;
            sum.bytes += counted.bytes;
        }
    }
    let of = |place: usize| {
        let cells = counters[place].1.iter();
        cells.map(|cell| sums[place].get(cell).copied().unwrap_or_default()).collect()
    };
    Ok(std::array::from_fn(of))
}

/// Returns the counts of an entry.
pub fn counts(entry: &Entry) -> Counts {
    let part = |name| entry.data.get(name).and_then(Value::to_u64).unwrap_or(0);
    let signed = |count| i64::try_from(count).unwrap_or(i64::MAX);
    Counts { packets: signed(part("$COUNTER_SPEC_PKTS")), bytes: signed(part("$COUNTER_SPEC_BYTES")) }
}
