//! A network of a server and three workers; what they tell, compared.

use std::collections::BTreeMap;

use serde_json::Value;

use super::processes::Running;

/// Three workers.
pub const WORKERS: [&str; 3] = ["w1", "w2", "w3"];
/// They and a server, s1.
pub const NETWORK: &str = "\
name: three
nodes:
  - {name: v, kind: switch}
  - {name: s1, kind: server}
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
  - {name: w3, kind: worker}
links:
  - {ends: [v, s1], rate: 80 Mbps}
  - {ends: [v, w1], rate: 40 Mbps}
  - {ends: [v, w2], rate: 40 Mbps}
  - {ends: [v, w3], rate: 40 Mbps}
jobs:
  - name: digits
    workers: [w1, w2, w3]
    servers: [s1]
    gradient: 203304 B
    compute: {mean: 20 ms, cv: 0.1}
    batch: 16
";

/// By worker and iteration: digests of what workers sent.
pub fn sent(printed: &[(&str, Vec<Value>)]) -> BTreeMap<(String, u64), Vec<String>> {
    let mut sent = BTreeMap::<_, Vec<String>>::new();
    for (name, lines) in printed {
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

/// By worker, the iterations whose updates the server has applied.
fn iterations(server: &[Value]) -> BTreeMap<&str, Vec<u64>> {
    let mut all = BTreeMap::<_, Vec<u64>>::new();
    for update in server.iter().filter_map(|line| line.get("updates")?.as_array()).flatten() {
        all.entry(update["worker"].as_str().unwrap())
            .or_default()
            .push(update["iteration"].as_u64().unwrap());
    }
    all
}

/// Kills and restarts a server with a checkpoint while three workers train. The server resumes from the last
/// version that it printed, applies no update twice, and leaves out no iteration of any worker. `start`:
/// starts a process by its name and further flags. Returns the server's.
pub fn server_is_killed(start: &dyn Fn(&str, &str) -> Running) -> &'static str {
    let flags = "--sync r2sp --iterations 30 --checkpoint model.kept";
    let server = start("s1", flags);
    let workers = WORKERS.map(|name| (name, start(name, "")));
    let mut version = 0;
    while version < 20 {
        version = server.next()["applied"].as_u64().unwrap_or(version);
    }
    drop(server);
    let server = start("s1", flags);
    let said = server.until("accuracy");
    let printed: Vec<_> = workers.iter().map(|(name, worker)| (*name, worker.until("iterations"))).collect();
    let first = said.iter().find_map(|line| line["applied"].as_u64()).unwrap();
    assert!(first > version, "it restarted from scratch: version {first} after {version}");
    assert!(applied(&said, &sent(&printed)) > 0);
    let iterations = iterations(&said);
    // In turn a version has one update: the counts of all workers are those of the version that was kept.
    assert_eq!(iterations.values().map(|own| own[0]).sum::<u64>(), first - 1, "{iterations:?}");
    for (worker, own) in &iterations {
        assert!(own.iter().zip(own[0]..).all(|(own, next)| *own == next), "{worker}: {own:?}");
        assert!(own.last().is_some_and(|last| *last >= 29), "{worker}: {own:?}");
    }
    flags
}
