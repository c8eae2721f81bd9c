//! Events by time.

use inart_virtual::{Seconds, Timeline};

#[test]
fn events_happen_by_time_and_those_of_one_time_in_the_order_given() {
    let mut timeline = Timeline::new();
    assert!(timeline.is_empty() && timeline.next_at().is_none());
    for (at_s, name) in [(2.0, 'c'), (1.0, 'a'), (2.0, 'd'), (1.0, 'b'), (-0.0, 'z')] {
        timeline.at(Seconds(at_s), name);
    }
    assert_eq!((timeline.next_at(), timeline.events().count()), (Some(Seconds(-0.0)), 5));
    let order: String = std::iter::from_fn(|| timeline.take()).map(|(_, name)| name).collect();
    assert_eq!(order, "zabcd");
}

#[test]
fn events_that_are_given_while_others_happen_keep_the_order() {
    let mut timeline = Timeline::<u32, u64>::new();
    (0..3).for_each(|event| timeline.at(5, event));
    assert_eq!(timeline.take(), Some((5, 0)));
    timeline.at(5, 3);
    timeline.at(4, 4);
    let rest: Vec<_> = std::iter::from_fn(|| timeline.take()).map(|(_, event)| event).collect();
    assert_eq!(rest, [4, 1, 2, 3]);
}
