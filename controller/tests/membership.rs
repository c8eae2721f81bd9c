//! Rendezvous of an elastic job alone: hosts are calls, and times are numbers.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use inart_controller::membership::*;
use inart_wire::{Incarnation, PlanVersion};

/// Returns a time in seconds.
fn at(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn roster() -> Roster {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Roster { job: "digits".to_owned(), workers: names(&["w1", "w2", "w3"]), servers: names(&["s1", "s2"]) }
}

/// Returns an incarnation by the host's name; a later one has another number.
fn incarnation(host: &str, number: u32) -> Incarnation {
    Incarnation::new(1 + number * 100 + host.bytes().map(u32::from).sum::<u32>())
}

fn fresh(host: &str) -> Joining {
    let must_load_state = host.starts_with('w');
    Joining {
        host: host.to_owned(),
        incarnation: incarnation(host, 0),
        last: None,
        stop_point: None,
        rounds: 0,
        must_load_state,
    }
}

/// Returns the request of a host from view `last` with completed rounds.
fn back(host: &str, last: u16, rounds: u64) -> Joining {
    Joining { last: Some(PlanVersion::from(last)), rounds, must_load_state: false, ..fresh(host) }
}

fn asks(job: &mut Membership, now: f64, joining: Joining) -> String {
    match job.join(at(now), joining) {
        Ok(Reply::Waiting(why)) => why,
        other => panic!("{other:?}"),
    }
}

fn membership(job: &mut Membership, now: f64, joining: Joining) -> ViewMembership {
    match job.join(at(now), joining) {
        Ok(Reply::Admitted(membership)) => membership,
        other => panic!("{other:?}"),
    }
}

fn names(hosts: &[(String, Incarnation)]) -> Vec<&str> {
    hosts.iter().map(|(host, _)| host.as_str()).collect()
}

/// Returns the ordered formation, by names.
fn formed(job: &mut Membership) -> (Vec<String>, Vec<String>) {
    let orders = job.orders();
    let formation = orders.iter().find_map(|order| match order {
        Order::Form(formation) => Some(formation.clone()),
        Order::Announce(_) => None,
    });
    let formation = formation.unwrap_or_else(|| panic!("{orders:?}, {}", job.status().phase));
    let owned = |hosts: &[(String, Incarnation)]| names(hosts).into_iter().map(str::to_owned).collect();
    (owned(&formation.workers), owned(&formation.servers))
}

/// Returns the endings that the view's members got, in order.
fn endings(job: &mut Membership) -> Vec<Ending> {
    let orders = job.orders().into_iter();
    orders
        .map(|order| match order {
            Order::Announce(ending) => ending,
            Order::Form(formation) => panic!("{formation:?}"),
        })
        .collect()
}

/// Returns a job whose first view, number 1, is active with these hosts, all connected.
fn running(hosts: &[&str]) -> Membership {
    let mut job = Membership::new(roster(), Timing::default());
    for host in hosts {
        asks(&mut job, 0.0, fresh(host));
    }
    // All repeat their requests while the job waits for the other hosts.
    for now in 1..=10 {
        for host in hosts {
            let _ = job.join(at(f64::from(now)), fresh(host)).unwrap();
        }
    }
    formed(&mut job);
    job.formed(at(10.0), Ok(PlanVersion::from(1)));
    for host in hosts {
        membership(&mut job, 10.0, fresh(host));
        job.connected(at(10.0), host, incarnation(host, 0));
    }
    assert_eq!(job.orders(), []);
    job
}

const ALL: [&str; 5] = ["w1", "w2", "w3", "s1", "s2"];

#[test]
fn the_first_view_starts_at_once_when_all_hosts_are_connected() {
    let mut job = Membership::new(roster(), Timing::default());
    for host in ["s2", "w3", "w1", "s1"] {
        asks(&mut job, 0.1, fresh(host));
        assert_eq!(job.orders(), [], "w2 is not connected");
    }
    assert_eq!(asks(&mut job, 0.2, fresh("s1")), "w2 is waited for");
    asks(&mut job, 0.3, fresh("w2"));
    let (workers, servers) = formed(&mut job);
    assert_eq!((workers, servers), (roster().workers, roster().servers), "in the topology's order");
    assert!(asks(&mut job, 0.4, fresh("w1")).contains("is being planned"));
    job.formed(at(0.5), Ok(PlanVersion::from(7)));
    let member = membership(&mut job, 0.6, fresh("w3"));
    assert_eq!(
        member,
        ViewMembership {
            view: PlanVersion::from(7),
            place: MemberRole::Worker(2),
            newest: 0,
            rounds: 0,
            must_load_state: true
        }
    );
    assert_eq!(membership(&mut job, 0.6, fresh("s2")).place, MemberRole::Server(1));
    assert_eq!(membership(&mut job, 0.7, fresh("s2")).place, MemberRole::Server(1), "its answer was lost");
}

#[test]
fn the_first_view_starts_without_missing_hosts_after_the_time_limit() {
    let mut job = Membership::new(roster(), Timing::default());
    for now in 0..10 {
        asks(&mut job, f64::from(now), fresh("w2"));
        asks(&mut job, f64::from(now), fresh("s1"));
    }
    assert_eq!(job.orders(), []);
    assert_eq!(job.deadline(at(9.5)), Some(at(10.0)));
    job.tick(at(10.0));
    assert_eq!(formed(&mut job), (vec!["w2".to_owned()], vec!["s1".to_owned()]));
}

#[test]
fn without_a_server_hosts_learn_what_is_missing_and_wait() {
    let mut job = Membership::new(roster(), Timing::default());
    for now in 0..20 {
        let why = asks(&mut job, f64::from(now), fresh("w1"));
        assert_eq!(why, "no server of job digits is connected: start one of s1, s2");
    }
    asks(&mut job, 20.0, fresh("s2"));
    assert_eq!(formed(&mut job), (vec!["w1".to_owned()], vec!["s2".to_owned()]));
    job.formed(at(20.1), Err("no path from w1 to s2".to_owned()));
    assert_eq!(asks(&mut job, 20.2, fresh("w1")), "no view can be formed of 2 hosts: no path from w1 to s2");
    asks(&mut job, 20.9, fresh("s2"));
    assert_eq!(job.orders(), []);
    job.tick(at(21.1));
    formed(&mut job);
}

#[test]
fn hosts_that_stop_asking_are_not_in_a_view() {
    let mut job = Membership::new(roster(), Timing::default());
    asks(&mut job, 0.0, fresh("w1"));
    for now in 0..=10 {
        asks(&mut job, f64::from(now), fresh("w2"));
        if now < 10 {
            asks(&mut job, f64::from(now), fresh("s1"));
        }
    }
    assert_eq!(formed(&mut job).0, ["w2"]);
}

#[test]
fn after_an_abort_the_remaining_hosts_start_another_view() {
    let mut job = running(&ALL);
    job.disconnected(at(20.0), "w2", incarnation("w2", 0));
    // The other workers notice later; the first one reports to the controller.
    asks(&mut job, 22.5, back("w1", 1, 5));
    assert_eq!(endings(&mut job), [Ending::Now], "the others need not notice themselves");
    asks(&mut job, 22.6, back("w3", 1, 6));
    assert_eq!(endings(&mut job), [Ending::Now], "servers too, since no worker is missing");
    asks(&mut job, 22.7, back("s1", 1, 0));
    assert_eq!(job.orders(), []);
    asks(&mut job, 22.8, back("s2", 1, 0));
    let (workers, servers) = formed(&mut job);
    assert_eq!((workers, servers), (vec!["w1".to_owned(), "w3".to_owned()], roster().servers));
    job.formed(at(22.9), Ok(PlanVersion::from(2)));
    let member = membership(&mut job, 23.0, back("w3", 1, 6));
    assert_eq!(
        member,
        ViewMembership {
            view: PlanVersion::from(2),
            place: MemberRole::Worker(1),
            newest: 1,
            rounds: 6,
            must_load_state: true
        }
    );
    assert_eq!(membership(&mut job, 23.0, back("w1", 1, 5)).newest, 1);
}

#[test]
fn hung_members_time_out() {
    let mut job = running(&ALL);
    asks(&mut job, 20.0, back("w1", 1, 5));
    for now in [21.0, 22.0] {
        asks(&mut job, now, back("w1", 1, 5));
        asks(&mut job, now, back("w2", 1, 5));
        asks(&mut job, now, back("s1", 1, 0));
    }
    // w3 and s2 are connected and do not rejoin.
    let _ = endings(&mut job);
    for now in [23.0, 24.0, 25.0] {
        for host in ["w1", "w2", "s1"] {
            asks(&mut job, now, back(host, 1, if host == "s1" { 0 } else { 5 }));
        }
    }
    assert_eq!(endings(&mut job), [Ending::Now], "servers are waited for from 23 s on");
    job.tick(at(26.0));
    assert_eq!(formed(&mut job), (vec!["w1".to_owned(), "w2".to_owned()], vec!["s1".to_owned()]));
}

#[test]
fn a_new_host_ends_the_view_at_a_stop_point_that_all_agree_on() {
    let mut job = running(&["w1", "w2", "s1"]);
    asks(&mut job, 20.0, fresh("w3"));
    assert_eq!(endings(&mut job), [Ending::Prepare]);
    job.answered(at(20.0), "w1", incarnation("w1", 0), Ending::Prepare, 7, true);
    job.answered(at(20.0), "s1", incarnation("s1", 0), Ending::Prepare, 0, true);
    assert_eq!(job.orders(), [], "w2 has not answered");
    job.answered(at(20.1), "w2", incarnation("w2", 0), Ending::Prepare, 8, true);
    assert_eq!(endings(&mut job), [Ending::Before(10)]);
    job.answered(at(20.2), "w1", incarnation("w1", 0), Ending::Before(10), 9, true);
    job.answered(at(20.2), "w2", incarnation("w2", 0), Ending::Before(10), 11, false);
    assert_eq!(endings(&mut job), [Ending::Before(15)], "w2 had started the tensor, so a larger one");
    job.answered(at(20.2), "w2", incarnation("w2", 0), Ending::Before(10), 11, true);
    job.answered(at(20.3), "w1", incarnation("w1", 0), Ending::Before(15), 10, true);
    assert_eq!(job.orders(), [], "an answer to an earlier request does not count");
    job.answered(at(20.3), "w2", incarnation("w2", 0), Ending::Before(15), 12, true);
    assert_eq!(endings(&mut job), [Ending::Agreed(15)]);
    assert_eq!(asks(&mut job, 20.4, fresh("w3")), "the view ends before tensor 15");
    // Members rejoin one by one, however long the tensors take, and none leaves within a tensor.
    let at_it = |host: &str| Joining { stop_point: Some(15), ..back(host, 1, 15) };
    asks(&mut job, 25.0, at_it("w1"));
    assert_eq!(job.orders(), []);
    for now in 26..50 {
        asks(&mut job, f64::from(now), at_it("w1"));
        asks(&mut job, f64::from(now), fresh("w3"));
    }
    assert_eq!(job.orders(), [], "w2 still computes");
    asks(&mut job, 50.0, at_it("w2"));
    assert_eq!(endings(&mut job), [Ending::Now], "for the servers");
    asks(&mut job, 50.1, back("s1", 1, 0));
    assert_eq!(formed(&mut job), (roster().workers, vec!["s1".to_owned()]));
    job.formed(at(50.2), Ok(PlanVersion::from(2)));
    let member = membership(&mut job, 50.3, fresh("w3"));
    assert_eq!(
        member,
        ViewMembership {
            view: PlanVersion::from(2),
            place: MemberRole::Worker(2),
            newest: 0,
            rounds: 15,
            must_load_state: true
        }
    );
}

#[test]
fn no_worker_loads_state_if_only_the_plan_changes() {
    let mut job = running(&ALL);
    // The controller knows the members.
    let _ = job.orders();
    job.end_view(at(20.0));
    assert_eq!(endings(&mut job), [Ending::Prepare]);
    let workers = ["w1", "w2", "w3"];
    for ending in [Ending::Prepare, Ending::Before(6), Ending::Agreed(6)] {
        for host in workers {
            job.answered(at(20.1), host, incarnation(host, 0), ending, 4, true);
        }
    }
    assert_eq!(endings(&mut job), [Ending::Before(6), Ending::Agreed(6)]);
    for host in workers {
        asks(&mut job, 21.0, Joining { stop_point: Some(6), ..back(host, 1, 6) });
    }
    asks(&mut job, 21.1, back("s1", 1, 0));
    asks(&mut job, 21.1, back("s2", 1, 0));
    formed(&mut job);
    job.formed(at(21.2), Ok(PlanVersion::from(2)));
    assert!(!membership(&mut job, 21.3, back("w2", 1, 6)).must_load_state);
    for host in ALL {
        job.connected(at(21.3), host, incarnation(host, 0));
    }
    job.tick(at(60.0));
    assert_eq!(job.orders(), [], "only once");
}

#[test]
fn holding_workers_continue_while_another_is_unreachable() {
    let mut job = running(&["w1", "w2", "s1"]);
    asks(&mut job, 20.0, fresh("w3"));
    for host in ["w1", "w2"] {
        job.answered(at(20.0), host, incarnation(host, 0), Ending::Prepare, 3, true);
    }
    job.answered(at(20.1), "w1", incarnation("w1", 0), Ending::Before(5), 4, true);
    assert_eq!(endings(&mut job), [Ending::Prepare, Ending::Before(5)]);
    job.disconnected(at(20.1), "w2", incarnation("w2", 0));
    job.tick(at(22.9));
    assert_eq!(job.orders(), []);
    job.tick(at(23.1));
    assert_eq!(endings(&mut job), [Ending::Prepare]);
    // A worker that stays unreachable although it runs: the view ends.
    job.tick(at(80.1));
    assert_eq!(endings(&mut job), [Ending::Now]);
}

#[test]
fn an_abort_before_the_stop_point_ends_the_view_for_all() {
    let mut job = running(&["w1", "w2", "s1"]);
    asks(&mut job, 20.0, fresh("w3"));
    for ending in [Ending::Prepare, Ending::Before(2)] {
        for host in ["w1", "w2"] {
            job.answered(at(20.0), host, incarnation(host, 0), ending, 0, true);
        }
    }
    assert_eq!(endings(&mut job).last(), Some(&Ending::Agreed(2)));
    asks(&mut job, 21.0, Joining { stop_point: Some(2), ..back("w1", 1, 2) });
    assert_eq!(job.orders(), []);
    asks(&mut job, 21.5, back("w2", 1, 1));
    assert_eq!(endings(&mut job), [Ending::Now, Ending::Now]);
    asks(&mut job, 21.6, back("s1", 1, 0));
    asks(&mut job, 21.6, fresh("w3"));
    formed(&mut job);
    job.formed(at(21.7), Ok(PlanVersion::from(2)));
    assert_eq!(membership(&mut job, 21.8, back("w2", 1, 1)).newest, 0, "w1 has the last round's sum");
}

#[test]
fn a_member_that_never_starts_does_not_block_the_others() {
    let mut job = Membership::new(roster(), Timing::default());
    for host in ALL {
        asks(&mut job, 0.0, fresh(host));
    }
    formed(&mut job);
    job.formed(at(0.1), Ok(PlanVersion::from(1)));
    for host in &ALL[1..] {
        job.connected(at(0.2), host, incarnation(host, 0));
    }
    job.tick(at(3.0));
    assert_eq!(job.orders(), []);
    job.tick(at(3.2));
    assert_eq!(endings(&mut job), [Ending::Now]);
    for host in &ALL[1..] {
        asks(&mut job, 3.3, back(host, 1, 0));
    }
    assert!(matches!(job.orders()[..], [Order::Announce(Ending::Now), Order::Form(_)]));
}

#[test]
fn the_newer_of_two_hosts_of_a_name_waits_until_the_older_is_silent() {
    let mut job = running(&ALL);
    let newer = || Joining { incarnation: incarnation("w1", 1), ..fresh("w1") };
    assert_eq!(asks(&mut job, 20.0, newer()), "an earlier w1 was active a moment ago");
    assert_eq!(job.orders(), [], "the view continues");
    // Killed, as its connection shows.
    job.disconnected(at(20.5), "w1", incarnation("w1", 0));
    asks(&mut job, 22.0, newer());
    assert_eq!(job.orders(), []);
    asks(&mut job, 22.6, newer());
    assert_eq!(endings(&mut job), [Ending::Now], "the view cannot continue without the older one");

    let mut job = running(&ALL);
    for now in [20.0, 21.0, 22.0, 23.0, 24.0, 25.0] {
        asks(&mut job, now, newer());
    }
    let refused = job.join(at(26.1), newer()).unwrap_err().to_string();
    assert_eq!(refused, IN_USE);
    assert_eq!(job.orders(), [], "the view continues");
}

const IN_USE: &str =
    "w1 of job digits is already running (same name, different incarnation); stop one of them";

/// Without an active view, both ask once a second: the newer one is refused within seconds.
#[test]
fn the_newer_of_two_hosts_of_a_name_is_refused_while_the_older_waits_for_a_view() {
    let newer = || Joining { incarnation: incarnation("w1", 1), ..fresh("w1") };
    for paused in [false, true] {
        let mut job = Membership::new(roster(), Timing::default());
        if paused {
            job.pause(at(0.0));
        }
        for second in 0..7 {
            asks(&mut job, f64::from(second), fresh("w1"));
            if second > 0 {
                asks(&mut job, f64::from(second) - 0.5, newer());
            }
        }
        asks(&mut job, 6.6, fresh("w1"));
        let refused = job.join(at(6.7), newer()).unwrap_err().to_string();
        assert_eq!(refused, IN_USE, "paused: {paused}");
        assert_eq!(job.status().waiting, ["w1"], "the older one stays");
        assert!(job.join(at(6.8), fresh("w1")).is_ok());
    }
}

#[test]
fn the_newer_of_two_hosts_of_a_name_is_admitted_when_the_older_has_ended() {
    let newer = || Joining { incarnation: incarnation("w1", 1), ..fresh("w1") };
    for leaves in [false, true] {
        let mut job = Membership::new(roster(), Timing::default());
        asks(&mut job, 0.0, fresh("w1"));
        assert_eq!(asks(&mut job, 0.5, newer()), "an earlier w1 was active a moment ago");
        if leaves {
            job.leave(at(0.6), "w1", incarnation("w1", 0), 0, false);
        }
        // A dead host is forgotten two seconds after its last request.
        let admitted = if leaves { 1.0 } else { 2.1 };
        assert_eq!(
            asks(&mut job, admitted, newer()),
            "no server of job digits is connected: start one of s1, s2"
        );
        assert_eq!(job.status().waiting, ["w1"]);
        // Now the first one contends.
        assert_eq!(asks(&mut job, 2.2, fresh("w1")), "an earlier w1 was active a moment ago");
    }
}

#[test]
fn reports_of_hosts_are_checked() {
    let mut job = running(&ALL);
    let refused = |job: &mut Membership, joining| job.join(at(30.0), joining).unwrap_err().to_string();
    let unknown = Joining { host: "w9".to_owned(), ..fresh("w1") };
    assert_eq!(refused(&mut job, unknown), "job digits has no host w9: give one of w1, w2, w3, s1, s2");
    let lifeless = Joining { incarnation: Incarnation::UNKNOWN, ..fresh("w1") };
    assert!(refused(&mut job, lifeless).starts_with("w1: incarnation 0 is reserved"));
    asks(&mut job, 30.0, back("w1", 1, 9));
    assert_eq!(
        refused(&mut job, back("w1", 1, 8)),
        "w1 reported 8 completed rounds after reporting 9; restart it"
    );
}

#[test]
fn a_finished_job_admits_no_host() {
    let mut job = running(&ALL);
    for host in ["w1", "w2"] {
        job.leave(at(30.0), host, incarnation(host, 0), 12, true);
    }
    let again = Joining { incarnation: incarnation("w1", 1), ..fresh("w1") };
    asks(&mut job, 30.0, again.clone());
    assert_eq!(job.orders(), [], "the last worker is almost done");
    job.leave(at(31.0), "w3", incarnation("w3", 0), 12, true);
    assert_eq!(
        job.join(at(31.0), again).unwrap_err(),
        Refusal::Finished { job: "digits".to_owned(), rounds: 12 }
    );
    asks(&mut job, 31.0, back("s1", 1, 0));
    assert_eq!(job.orders(), []);
}

/// The connection ends with the process, and the controller may notice later.
#[test]
fn a_worker_whose_connection_ends_after_it_is_done_stays_done() {
    let mut job = running(&ALL);
    for host in ["w1", "w2", "w3"] {
        assert_eq!(job.finished(), None);
        job.leave(at(30.0), host, incarnation(host, 0), 12, true);
        job.disconnected(at(30.1), host, incarnation(host, 0));
    }
    assert_eq!(job.finished(), Some(12));
}

#[test]
fn a_job_is_done_without_a_worker_that_failed_meanwhile() {
    let mut job = running(&ALL);
    job.disconnected(at(30.0), "w3", incarnation("w3", 0));
    for host in ["w1", "w2"] {
        job.leave(at(30.0), host, incarnation(host, 0), 12, true);
    }
    assert_eq!(job.finished(), None, "it may return");
    let again = Joining { incarnation: incarnation("w3", 1), ..fresh("w3") };
    asks(&mut job, 31.0, again.clone());
    assert_eq!(job.orders(), [], "no rounds are left for it");
    job.tick(job.deadline(at(31.0)).unwrap());
    assert_eq!(job.finished(), Some(12));
    assert!(matches!(job.join(at(33.0), again), Err(Refusal::Finished { rounds: 12, .. })));
}

#[test]
fn workers_that_are_done_at_a_stop_point_end_the_job() {
    let mut job = running(&["w1", "w2", "s1"]);
    asks(&mut job, 20.0, fresh("w3"));
    for ending in [Ending::Prepare, Ending::Before(12)] {
        for host in ["w1", "w2"] {
            job.answered(at(20.0), host, incarnation(host, 0), ending, 10, true);
        }
    }
    assert_eq!(endings(&mut job).last(), Some(&Ending::Agreed(12)));
    for host in ["w1", "w2"] {
        job.leave(at(20.5), host, incarnation(host, 0), 12, true);
    }
    assert_eq!(job.finished(), Some(12));
}

#[test]
fn a_job_is_done_although_its_view_was_broken_in_the_last_round() {
    let mut job = running(&ALL);
    job.leave(at(30.0), "w1", incarnation("w1", 0), 12, true);
    asks(&mut job, 30.1, Joining { incarnation: incarnation("s1", 1), ..fresh("s1") });
    assert_eq!(endings(&mut job), [], "the earlier one may still run");
    job.disconnected(at(30.1), "s1", incarnation("s1", 0));
    asks(&mut job, 32.5, Joining { incarnation: incarnation("s1", 1), ..fresh("s1") });
    assert_eq!(endings(&mut job), [Ending::Now]);
    for host in ["w2", "w3"] {
        job.leave(at(32.6), host, incarnation(host, 0), 12, true);
    }
    asks(&mut job, 32.7, back("s2", 1, 0));
    job.tick(at(40.0));
    assert_eq!(job.finished(), Some(12));
}

#[test]
fn the_job_does_not_wait_for_a_stopped_worker() {
    let mut job = running(&ALL);
    job.leave(at(30.0), "w2", incarnation("w2", 0), 4, false);
    for host in ["w1", "w3", "s1", "s2"] {
        asks(&mut job, 30.1, back(host, 1, if host.starts_with('w') { 4 } else { 0 }));
    }
    let orders = job.orders();
    assert!(
        matches!(orders.last(), Some(Order::Form(form)) if names(&form.workers) == ["w1", "w3"]),
        "{orders:?}"
    );
}

#[test]
fn a_paused_job_waits_until_it_is_resumed() {
    let mut job = running(&["w1", "s1"]);
    job.pause(at(20.0));
    for ending in [Ending::Prepare, Ending::Before(3)] {
        job.answered(at(20.0), "w1", incarnation("w1", 0), ending, 1, true);
    }
    asks(&mut job, 20.5, Joining { stop_point: Some(3), ..back("w1", 1, 3) });
    asks(&mut job, 20.6, back("s1", 1, 0));
    assert_eq!(endings(&mut job).last(), Some(&Ending::Now));
    for now in 21..40 {
        assert_eq!(asks(&mut job, f64::from(now), back("w1", 1, 3)), "the job is paused");
        asks(&mut job, f64::from(now), back("s1", 1, 0));
    }
    job.resume(at(39.5));
    formed(&mut job);
}

#[test]
fn a_restarted_controller_continues_the_view() {
    let mut job = Membership::new(roster(), Timing::default());
    let member = |host: &str, place| Member::new(host.to_owned(), incarnation(host, 0), place);
    let members =
        [("w1", MemberRole::Worker(0)), ("w2", MemberRole::Worker(1)), ("s1", MemberRole::Server(0))];
    job.adopt(at(0.0), PlanVersion::from(4), members.map(|(host, place)| member(host, place)).to_vec());
    assert_eq!(job.host_in("worker-1"), Some("w2"));
    for (host, _) in members {
        job.connected(at(0.5), host, incarnation(host, 0));
    }
    job.tick(at(100.0));
    assert_eq!(job.orders(), []);
    // A worker that left at the stop point that was agreed on before.
    asks(&mut job, 100.0, Joining { stop_point: Some(9), ..back("w1", 4, 9) });
    assert_eq!(endings(&mut job), [Ending::Agreed(9)]);
    asks(&mut job, 101.0, Joining { stop_point: Some(9), ..back("w2", 4, 9) });
    asks(&mut job, 101.1, back("s1", 4, 0));
    assert!(matches!(job.orders()[..], [Order::Announce(Ending::Now), Order::Form(_)]));
}

/// No member of the view is left to rejoin, which would end the view.
#[test]
fn a_view_whose_workers_all_fail_before_the_agreed_stop_point_ends_there() {
    let mut job = running(&["w1", "w2", "s1"]);
    asks(&mut job, 20.0, fresh("w3"));
    for ending in [Ending::Prepare, Ending::Before(3)] {
        for host in ["w1", "w2"] {
            job.answered(at(20.0), host, incarnation(host, 0), ending, 1, true);
        }
    }
    assert_eq!(endings(&mut job).last(), Some(&Ending::Agreed(3)));
    job.leave(at(20.5), "w1", incarnation("w1", 0), 1, false);
    job.disconnected(at(21.0), "w2", incarnation("w2", 0));
    asks(&mut job, 21.5, fresh("w3"));
    asks(&mut job, 22.9, fresh("w3"));
    assert_eq!(job.orders(), [], "its connection may recover");
    assert_eq!(job.deadline(at(22.9)), Some(at(23.0)));
    job.tick(at(23.0));
    assert_eq!(endings(&mut job).last(), Some(&Ending::Now));
    asks(&mut job, 23.1, fresh("w3"));
    asks(&mut job, 23.1, back("s1", 1, 0));
    assert_eq!(formed(&mut job), (vec!["w3".to_owned()], vec!["s1".to_owned()]));
}
