//! Links in virtual time.
#![allow(clippy::unwrap_used)]

use inart_virtual::{Event, Links, Sharing};
use proptest::prelude::*;

/// Returns the arrival time of each transfer, by its number.
fn arrivals(links: &mut Links<u32, u32>) -> Vec<(u32, f64)> {
    let mut arrived = Vec::new();
    while let Some(event) = links.step(f64::INFINITY) {
        if let Event::Arrived { item, .. } = event {
            arrived.push((item, links.now_s()));
        }
    }
    arrived
}

#[test]
fn streams_share_a_link_equally_and_each_keeps_its_order() {
    let mut links = Links::new([(10.0, 0.5, Sharing::Fair)]);
    links.send(0, 1, 10.0, 1);
    links.send(0, 1, 10.0, 2);
    links.send(0, 2, 10.0, 3);
    // Both first ones at 5 bit/s until 2 s; then the second of stream 1 alone.
    assert_eq!(arrivals(&mut links), [(1, 2.5), (3, 2.5), (2, 3.5)]);
    assert!(links.is_idle());
}

#[test]
fn a_queue_serves_one_after_the_other() {
    let mut links = Links::new([(10.0, 0.0, Sharing::Fifo)]);
    links.send(0, 1, 10.0, 1);
    links.send(0, 2, 20.0, 2);
    links.send(0, 1, 10.0, 3);
    assert_eq!(arrivals(&mut links), [(1, 1.0), (2, 3.0), (3, 4.0)]);
}

#[test]
fn a_new_rate_applies_to_transfers_in_flight() {
    let mut links = Links::new([(10.0, 0.0, Sharing::Fifo), (1.0, 0.0, Sharing::Fair)]);
    links.send(0, 1, 30.0, 1);
    assert_eq!(links.step(1.0), None);
    assert_eq!(links.now_s(), 1.0);
    links.set_rate(0, 5.0);
    assert_eq!(arrivals(&mut links), [(1, 5.0)]);
}

#[test]
fn the_next_event_is_known_and_time_passes_no_further() {
    let mut links = Links::new([(10.0, 0.5, Sharing::Fifo)]);
    assert_eq!(links.next_s(), f64::INFINITY);
    links.pass(1.0);
    links.send(0, 1, 10.0, 1);
    assert_eq!((links.now_s(), links.next_s()), (1.0, 2.0));
    links.pass(1.5);
    assert_eq!(links.now_s(), 1.5);
    links.pass(9.0);
    assert_eq!((links.now_s(), links.next_s()), (2.0, 2.0));
    assert_eq!(links.step(links.next_s()), Some(Event::Sent { link: 0 }));
    assert_eq!(links.next_s(), 2.5);
    assert_eq!(arrivals(&mut links), [(1, 2.5)]);
    assert_eq!(links.next_s(), f64::INFINITY);
}

proptest! {
    /// Whatever is sent, a link is never idle while it has something, and nothing is lost.
    #[test]
    fn links_are_work_conserving(sizes in prop::collection::vec((1u32..100, 0u32..5), 1..60), fair: bool) {
        let sharing = if fair { Sharing::Fair } else { Sharing::Fifo };
        let mut links = Links::new([(7.0, 0.25, sharing)]);
        for (number, (bits, stream)) in (0..).zip(&sizes) {
            links.send(0, *stream, f64::from(*bits), number);
        }
        let mut arrived = arrivals(&mut links);
        let sum: u32 = sizes.iter().map(|(bits, _)| bits).sum();
        let last = arrived.last().unwrap().1;
        prop_assert!((last - f64::from(sum) / 7.0 - 0.25).abs() < 1e-9);
        for stream in 0..5 {
            let numbers = arrived.iter().map(|(number, _)| *number);
            let own: Vec<_> = numbers.filter(|number| sizes[*number as usize].1 == stream).collect();
            prop_assert!(own.is_sorted());
        }
        arrived.sort_by_key(|(number, _)| *number);
        let numbers: Vec<_> = arrived.iter().map(|(number, _)| *number).collect();
        prop_assert_eq!(numbers, (0..sizes.len() as u32).collect::<Vec<_>>());
    }
}
