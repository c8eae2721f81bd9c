//! What a server and its workers tell, compared.

use std::collections::BTreeMap;

use serde_json::Value;

/// By worker and iteration: digests of what workers sent.
pub fn sent(told: &[(&str, Vec<Value>)]) -> BTreeMap<(String, u64), Vec<String>> {
    let mut sent = BTreeMap::<_, Vec<String>>::new();
    for (name, lines) in told {
        for line in lines.iter().filter(|line| line.get("sent").is_some()) {
            let key = ((*name).to_owned(), line["iteration"].as_u64().unwrap());
            sent.entry(key).or_default().push(line["sent"].as_str().unwrap().to_owned());
        }
    }
    sent
}

/// Each update that the server took is one that its worker sent; how many it has applied, each once.
pub fn applied(server: &[Value], sent: &BTreeMap<(String, u64), Vec<String>>) -> usize {
    let key =
        |line: &Value| (line["worker"].as_str().unwrap().to_owned(), line["iteration"].as_u64().unwrap());
    for line in server.iter().filter(|line| line.get("pushed").is_some()) {
        let digest = line["pushed"].as_str().unwrap().to_owned();
        assert!(sent[&key(line)].contains(&digest), "{line}");
    }
    let updates = server.iter().filter_map(|line| line.get("updates")?.as_array());
    let mut all: Vec<_> = updates.flatten().map(key).collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count, "an update was applied twice");
    count
}
