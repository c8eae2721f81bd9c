//! Number of values per frame: the largest that fits the links, or the configured or running one.
#![allow(clippy::unwrap_used)]

use inart_controller::ValuesChoice::{Auto, Exactly};
use inart_controller::{ValuesChoice, frames_fit};
use inart_topologies::switched::Topology;
use inart_wire::ValuesPerFrame::{self, N32, N64, N256, N1024, N2048};

fn fig1() -> Topology {
    Topology::from_yaml(include_str!("../../topologies/fig1.yaml")).unwrap()
}

/// Returns Fig. 1 on links of one MTU, except for one link.
fn with_one(every: u16, ends: &str, mtu: u16) -> Topology {
    let text = fig1().with_mtu(every).to_yaml();
    let link = format!("{{ends: [{ends}], ");
    assert!(text.contains(&link), "{text}");
    Topology::from_yaml(&text.replacen(&link, &format!("{link}mtu: {mtu}, "), 1)).unwrap()
}

fn auto(topology: &Topology) -> ValuesPerFrame {
    Auto.of(topology, None, |_| true).unwrap()
}

#[test]
fn the_most_that_fits_is_chosen() {
    assert_eq!(auto(&fig1()), N256, "the default without a stated MTU");
    for (mtu, values) in [
        (576, N64),
        (1053, N64),
        (1054, N256),
        (1500, N256),
        (4125, N256),
        (4126, N1024),
        (8221, N1024),
        (8222, N2048),
        (9000, N2048),
        (9216, N2048),
    ] {
        let topology = fig1().with_mtu(mtu);
        assert_eq!(auto(&topology), values, "MTU {mtu}");
        for asked in ValuesPerFrame::ALL {
            assert_eq!(frames_fit(&topology, asked).is_ok(), asked <= values, "MTU {mtu}, {asked} values");
        }
    }
}

#[test]
fn one_small_link_decides_for_all_unless_no_job_uses_it() {
    assert_eq!(auto(&with_one(9000, "v1, v2", 1500)), N256, "between switches");
    let small = with_one(9000, "w6, v2", 4200);
    assert_eq!(auto(&small), N1024);
    let without = small.jobs()[0].workers[..5].to_vec();
    let job = inart_topologies::switched::Job { workers: without, ..small.jobs()[0].clone() };
    assert_eq!(auto(&small.with_jobs(vec![job])), N2048, "w6 has left the job");
}

#[test]
fn values_that_do_not_fit_are_refused_with_link_and_fix() {
    let topology = with_one(9000, "w6, v2", 4200);
    assert_eq!(Exactly(N1024).of(&topology, None, |_| true), Ok(N1024));
    assert_eq!(Exactly(N32).of(&topology, Some(N256), |_| true), Ok(N32), "whatever the switches run");
    let refused = Exactly(N2048).of(&topology, None, |_| true).unwrap_err();
    assert_eq!((refused.mtu, refused.room), (4200, N1024));
    let message = refused.to_string();
    for part in ["link w6-v2", "MTU of 4200", "2048 values need 8222", "`mtu`", "1024 values"] {
        assert!(message.contains(part) && !message.contains('\n'), "{message}");
    }
}

#[test]
fn the_running_number_is_kept_while_it_fits() {
    let running = |mtu, values| Auto.of(&fig1().with_mtu(mtu), Some(values), |_| true).unwrap();
    assert_eq!(running(9000, N64), N64);
    assert_eq!(running(1500, N64), N64);
    assert_eq!(running(1500, N2048), N256, "the links have changed");
}

#[test]
fn a_target_without_a_large_program_uses_the_next_smaller_one() {
    let jumbo = fig1().with_mtu(9000);
    assert_eq!(Auto.of(&jumbo, None, |values| values <= N256), Ok(N256));
    assert_eq!(Auto.of(&jumbo, None, |values| values != N2048), Ok(N1024));
    assert_eq!(Auto.of(&jumbo, None, |_| false), Ok(N2048), "the target's own error follows");
}

#[test]
fn choices_read_back() {
    for choice in [Auto, Exactly(N64), Exactly(N2048)] {
        assert_eq!(choice.to_string().parse::<ValuesChoice>().unwrap(), choice);
    }
    let error = "jumbo".parse::<ValuesChoice>().unwrap_err().to_string();
    assert!(error.contains("auto, 32, 64, 256, 1024 or 2048"), "{error}");
}
