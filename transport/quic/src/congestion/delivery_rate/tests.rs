//! Connections over a path that is simulated packet by packet.

use std::collections::VecDeque;

use inart_virtual::{SplitMix64, Timeline};

use super::*;

const MTU: u64 = 1400;
const BASE_S: f64 = 0.06;
/// Packets that are acknowledged after one was sent, until it counts as lost (RFC 9002).
const REORDERED: u64 = 3;

/// A bottleneck with a queue, that loses packets for no reason, too.
#[derive(Clone, Copy)]
struct Path {
    bytes_per_s: f64,
    queue_s: f64,
    loss: f64,
    /// There and back, without a queue.
    base_s: f64,
    /// Acknowledgements are taken at multiples of this.
    late_s: f64,
}

#[derive(Clone, Copy)]
struct Packet {
    number: u64,
    sent_s: f64,
}

/// One direction, whose acknowledgements return without a queue.
struct Connection {
    start: Instant,
    controller: DeliveryRate,
    random: SplitMix64,
    now_s: f64,
    next: u64,
    /// Packets sent and neither acknowledged nor lost.
    open: VecDeque<Packet>,
    free_at_s: f64,
    /// Acknowledgements by time, in nanoseconds.
    coming: Timeline<u64, u64>,
    delivered: u64,
    longest_queue_s: f64,
}

impl Connection {
    fn new() -> Self {
        let start = Instant::now();
        Connection {
            start,
            controller: DeliveryRate::new(start, MTU as u16),
            random: SplitMix64::new(7),
            now_s: 0.0,
            next: 0,
            open: VecDeque::new(),
            free_at_s: 0.0,
            coming: Timeline::new(),
            delivered: 0,
            longest_queue_s: 0.0,
        }
    }

    fn at(&self, seconds: f64) -> Instant {
        self.start + Duration::from_secs_f64(seconds)
    }

    fn send(&mut self, path: Path) {
        let number = self.next;
        self.next += 1;
        self.open.push_back(Packet { number, sent_s: self.now_s });
        let queue_s = (self.free_at_s - self.now_s).max(0.0);
        if queue_s > path.queue_s || self.random.fraction() < path.loss {
            return;
        }
        self.longest_queue_s = self.longest_queue_s.max(queue_s);
        self.free_at_s = self.now_s + queue_s + MTU as f64 / path.bytes_per_s;
        let back_s = self.free_at_s + path.base_s;
        let back_s = if path.late_s > 0.0 { (back_s / path.late_s).ceil() * path.late_s } else { back_s };
        self.coming.at((back_s * 1e9) as u64, number);
    }

    /// Sends for a time as much as the window permits; at most at `app_bytes_per_s`.
    fn run(&mut self, seconds: f64, path: Path, app_bytes_per_s: f64) {
        let (end_s, began_s, first) = (self.now_s + seconds, self.now_s, self.next);
        while self.now_s < end_s {
            let had = (self.now_s - began_s + 1e-9) * app_bytes_per_s;
            let has_more = |this: &Self| (this.next - first) as f64 * (MTU as f64) < had;
            while (self.open.len() as u64 + 1) * MTU <= self.controller.window_bytes() && has_more(self) {
                self.send(path);
            }
            let is_app_limited = !has_more(self);
            let app_s = if is_app_limited {
                self.now_s + (MTU as f64 / app_bytes_per_s).max(1e-6)
            } else {
                f64::INFINITY
            };
            let next_s = self.coming.next_at().map_or(self.now_s + 0.5, |next| next as f64 * 1e-9);
            self.now_s = next_s.min(app_s).max(self.now_s);
            if next_s <= self.now_s {
                self.take_acknowledgement(is_app_limited, path);
            }
        }
    }

    fn take_acknowledgement(&mut self, is_app_limited: bool, path: Path) {
        let Some((_, number)) = self.coming.take() else {
            // All that is open was lost.
            self.open.clear();
            return self.controller.lost(self.at(self.now_s), MTU, true);
        };
        while let Some(first) = self.open.front().copied()
            && first.number + REORDERED <= number
        {
            self.open.pop_front();
            self.controller.lost(self.at(first.sent_s), MTU, false);
        }
        let Some(at) = self.open.iter().position(|packet| packet.number == number) else { return };
        let Some(packet) = self.open.remove(at) else { return };
        let (now, sent) = (self.at(self.now_s), self.at(packet.sent_s));
        self.delivered += MTU;
        self.controller.acknowledged(now, sent, MTU, is_app_limited, Duration::from_secs_f64(path.base_s));
    }

    /// Runs for a time. Returns the share of the link, and the longest queue in seconds.
    fn share(&mut self, seconds: f64, path: Path) -> (f64, f64) {
        let before = self.delivered;
        self.longest_queue_s = 0.0;
        self.run(seconds, path, f64::INFINITY);
        ((self.delivered - before) as f64 / path.bytes_per_s / seconds, self.longest_queue_s)
    }
}

const FAST: Path = Path { bytes_per_s: 12.5e6, queue_s: 0.1, loss: 0.0, base_s: BASE_S, late_s: 0.0 };

#[test]
fn a_link_is_full_and_its_queue_is_short() {
    for megabits_per_s in [2.0, 25.0, 100.0] {
        let path = Path { bytes_per_s: megabits_per_s * 1e6 / 8.0, ..FAST };
        let mut connection = Connection::new();
        connection.share(3.0, path);
        let (share, queue_s) = connection.share(10.0, path);
        let packets_s = 8.0 * MTU as f64 / path.bytes_per_s;
        assert!(share > 0.99, "{megabits_per_s} Mbps: {share}");
        assert!(queue_s < 0.42 * BASE_S + packets_s, "{megabits_per_s} Mbps: {queue_s} s");
    }
}

#[test]
fn packets_lost_without_congestion_do_not_slow_it() {
    for (loss, least) in [(0.0002, 0.98), (0.01, 0.95)] {
        let path = Path { loss, ..FAST };
        let mut connection = Connection::new();
        connection.share(3.0, path);
        let (share, _) = connection.share(10.0, path);
        assert!(share > least, "{loss}: {share}");
    }
}

#[test]
fn it_follows_the_rate_down_and_up() {
    let slow = Path { bytes_per_s: FAST.bytes_per_s / 8.0, ..FAST };
    let mut connection = Connection::new();
    connection.share(3.0, FAST);
    connection.share(2.0, slow);
    let (share, queue_s) = connection.share(5.0, slow);
    assert!(share > 0.98 && queue_s < 0.42 * BASE_S + 0.01, "{share} {queue_s}");
    connection.share(2.0, FAST);
    let (share, _) = connection.share(5.0, FAST);
    assert!(share > 0.98, "{share}");
}

#[test]
fn a_short_way_to_a_process_that_is_not_always_there_is_full() {
    let path = Path { bytes_per_s: 125e6, base_s: 0.0001, late_s: 0.002, ..FAST };
    let mut connection = Connection::new();
    connection.share(1.0, path);
    let (share, _) = connection.share(1.0, path);
    assert!(share > 0.95, "{share}");
}

#[test]
fn a_short_queue_that_overflows_is_congestion() {
    let path = Path { queue_s: 0.002, ..FAST };
    let mut connection = Connection::new();
    connection.share(3.0, path);
    let sent = connection.next;
    let (share, _) = connection.share(10.0, path);
    let lost = 1.0 - share * 10.0 * path.bytes_per_s / ((connection.next - sent) * MTU) as f64;
    assert!(share > 0.9, "{share}");
    assert!(lost < 0.15, "{lost}");
}

#[test]
fn a_connection_with_little_to_send_keeps_the_window() {
    let mut connection = Connection::new();
    connection.share(3.0, FAST);
    let window = connection.controller.window_bytes();
    connection.run(20.0, FAST, FAST.bytes_per_s / 10.0);
    let after = connection.controller.window_bytes();
    assert!(after * 10 > window * 8, "{window} {after}");
}

#[test]
fn after_silence_the_start_repeats() {
    let (start, mtu) = (Instant::now(), MTU as u16);
    let mut controller = DeliveryRate::new(start, mtu);
    controller.window = 1e6;
    controller.lost(start, MTU, true);
    assert_eq!(controller.window_bytes(), 4 * MTU);
    controller.set_mtu(2 * mtu);
    assert_eq!(controller.window_bytes(), 8 * MTU);
    let at = |ms: u64| start + Duration::from_millis(ms);
    controller.acknowledged(at(60), start, 2 * MTU, false, Duration::from_millis(60));
    assert_eq!(controller.window_bytes(), 10 * MTU);
}
