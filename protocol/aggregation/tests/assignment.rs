//! Assignments as the controller writes and hosts read them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use inart_protocol_aggregation::Assignment;

const JSON: &str = r#"{
    "job": 1, "name": "vgg19", "plan_version": 2, "values_per_frame": 256, "window_chunks": 64,
    "workers": [{"name": "w1", "mac": "02:00:00:00:00:01"}, {"name": "w2", "mac": "02:00:00:00:00:02"}],
    "shards": [
        {"server": "s1", "mac": "02:00:00:00:00:11", "share": 0.6, "rate_bps": 1.5e9},
        {"server": "s2", "mac": "02:00:00:00:00:12", "share": 0.4, "rate_bps": 1e9}
    ]
}"#;

/// The assignment with one piece of its text replaced.
fn with(old: &str, new: &str) -> Assignment {
    assert!(JSON.contains(old));
    serde_json::from_str(&JSON.replacen(old, new, 1)).unwrap()
}

fn complaint(old: &str, new: &str) -> String {
    with(old, new).validate().unwrap_err().to_string()
}

#[test]
fn a_right_one_is_read_and_written() {
    let assignment = with("", "");
    assert_eq!(assignment.validate(), Ok(()));
    assert_eq!(assignment.workers[1].mac.to_string(), "02:00:00:00:00:02");
    let again: Assignment = serde_json::from_str(&serde_json::to_string(&assignment).unwrap()).unwrap();
    assert_eq!(again, assignment);
}

#[test]
fn errors_name_the_field_and_the_expected_value() {
    assert_eq!(complaint("64", "48"), "window_chunks: 48; expected a power of two from 1 to 65536");
    assert_eq!(complaint("64", "0"), "window_chunks: 0; expected a power of two from 1 to 65536");
    assert_eq!(complaint("0.6", "-0.6"), "shards[0].share: -0.6 for s1; expected a number from 0 to 1");
    assert_eq!(complaint("0.4", "0.3"), "shards: shares sum to 0.8999999999999999; expected 1");
    assert_eq!(complaint("1e9", "0"), "shards[1].rate_bps: 0 for s2; expected a rate above 0 bit/s");
    assert_eq!(
        complaint("00:12", "00:02"),
        "mac: 02:00:00:00:00:02 belongs to both w2 and s2; give each host its own"
    );
    assert_eq!(
        complaint("02:00:00:00:00:01", "03:00:00:00:00:01"),
        "mac: 03:00:00:00:00:01 of w1 is a multicast address; a host needs a unicast address"
    );
    let no_workers = Assignment { workers: Vec::new(), ..with("", "") };
    assert_eq!(
        no_workers.validate().unwrap_err().to_string(),
        "workers: none listed; a job needs at least one"
    );
    let no_servers = Assignment { shards: Vec::new(), ..with("", "") };
    assert_eq!(
        no_servers.validate().unwrap_err().to_string(),
        "shards: none listed; a job needs at least one"
    );
}

#[test]
fn bitmap_indices_are_one_for_each_worker() {
    let bitmap_indices =
        |bitmap_indices: &str| format!(r#""rate_bps": 1.5e9, "bitmap_indices": [{bitmap_indices}]"#);
    assert_eq!(with(r#""rate_bps": 1.5e9"#, &bitmap_indices("64, 3")).validate(), Ok(()));
    assert_eq!(
        complaint(r#""rate_bps": 1.5e9"#, &bitmap_indices("64")),
        "shards[0].bitmap indices: 1 for s1; expected one for each of 2 workers, or none"
    );
    assert_eq!(
        complaint(r#""rate_bps": 1.5e9"#, &bitmap_indices("7, 7")),
        "shards[0].bitmap indices: 7 for both w1 and w2; give each worker its own"
    );
}

#[test]
fn unknown_ranks_and_shards() {
    let assignment = with("", "");
    let rank = 2u16.try_into().unwrap();
    assert_eq!(assignment.worker(rank).unwrap_err().to_string(), "rank 2: the job vgg19 has ranks 0 to 1");
    assert_eq!(
        assignment.shard(5.into()).unwrap_err().to_string(),
        "shard 5: the job vgg19 has shards 0 to 1"
    );
}

#[test]
fn text_that_is_no_assignment_is_refused_at_its_place() {
    let refusal =
        |old, new| serde_json::from_str::<Assignment>(&JSON.replacen(old, new, 1)).unwrap_err().to_string();
    assert!(
        refusal("256", "128")
            .starts_with("values per frame 128: expected 32, 64, 256, 1024 or 2048 at line 2")
    );
    assert!(refusal("02:00:00:00:00:01", "nobody").starts_with("not a MAC address: expected six bytes"));
    assert!(refusal(r#""job""#, r#""jib""#).starts_with("unknown field `jib`"));
    assert!(
        refusal(r#""plan_version": 2"#, r#""plan_version": 65536"#)
            .starts_with("plan version 65536: expected")
    );
}
