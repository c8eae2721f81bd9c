//! Cables between namespaces: veth pairs with a rate at each end that follows a trace. A cable with a delay
//! or with losses is cut in two, and our relay carries its frames across.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use inart_topologies::faults::LinkFaults;
use inart_topologies::faults::quantity::Share;

use crate::error::Error;
use crate::machine::namespace::Namespace;
use crate::machine::relay::Relay;
use crate::machine::shaping::{RateFollower, Rates, bucket};
use crate::machine::veth;
use crate::machine::wiring::namespace;

/// Bytes of the longest frame, without the Ethernet header.
const MTU: u16 = 1500;

/// A place that cables lead to.
#[derive(Debug)]
pub struct Endpoint {
    /// Name of the place in messages.
    pub name: String,
    /// Network namespace.
    pub namespace: Namespace,
    /// Lines for `ip` once its interfaces exist: addresses, bridges, routes, and that they are up.
    pub ip: String,
}

/// An interface of a place, which is named by its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Position of the place in [`Plan::places`].
    pub place: usize,
    /// Name of the interface.
    pub interface: String,
}

/// A cable.
#[derive(Debug, Clone)]
pub struct Cable {
    /// The interfaces that it connects.
    pub ends: [End; 2],
    /// Delay of every frame.
    pub delay: Duration,
    /// Share of frames that are lost.
    pub loss: Share,
}

impl Cable {
    fn is_relayed(&self) -> bool {
        !self.delay.is_zero() || self.loss.get() > 0.0
    }
}

/// A document's loss as a share.
pub fn share(loss: f64) -> Share {
    loss.to_string().parse().unwrap_or_default()
}

/// Rates over time of all cables, in seconds from the start of their traces.
pub trait Speeds: Send + Sync + std::fmt::Debug {
    /// Returns the time of the next change of a rate after a time; `None` if no rate changes.
    fn next_change(&self, after_s: f64) -> Option<f64>;

    /// Returns the rate of each end of each cable at a time, in bit/s.
    fn at(&self, now_s: f64) -> Vec<[f64; 2]>;
}

/// Places, cables and rates to build.
#[derive(Debug)]
pub struct Plan {
    /// Places that cables lead to.
    pub places: Vec<Endpoint>,
    /// With rates, in the order of `speeds`.
    pub cables: Vec<Cable>,
    /// As fast as the machine.
    pub unlimited: Vec<[End; 2]>,
    /// Rates over time of `cables`.
    pub speeds: Arc<dyn Speeds>,
    /// Longest wait of a frame at an end, in seconds; frames beyond it are dropped.
    pub queue_s: f64,
    /// Decides which frames are lost.
    pub seed: u64,
}

/// Built cables.
#[derive(Debug)]
pub struct Cables {
    /// Before the namespaces, so that it ends before they do.
    relay: Option<Relay>,
    places: Vec<Endpoint>,
    ends: Ends,
    _middle: Option<Namespace>,
}

/// Ends of all cables with their rates.
#[derive(Debug, Clone)]
struct Ends {
    of: Vec<[End; 2]>,
    speeds: Arc<dyn Speeds>,
    queue_s: f64,
}

impl Ends {
    /// Returns the commands for `tc` in a place that add or change rates.
    fn script_of(&self, verb: &str, place: usize, now_s: f64) -> String {
        let (start, now) = (self.speeds.at(0.0), self.speeds.at(now_s));
        let mut script = String::new();
        for (ends, (start, now)) in self.of.iter().zip(start.iter().zip(&now)) {
            for (side, end) in ends.iter().enumerate().filter(|(_, end)| end.place == place) {
                script += &bucket(verb, &end.interface, start[side], now[side], self.queue_s);
            }
        }
        script
    }
}

impl Rates for Ends {
    fn next_change(&self, after_s: f64) -> Option<f64> {
        self.speeds.next_change(after_s)
    }

    fn script(&self, place: usize, now_s: f64) -> String {
        self.script_of("change", place, now_s)
    }
}

impl Cables {
    /// Builds all cables and sets up all places.
    ///
    /// # Errors
    /// A refusal of the system, with the place.
    pub fn lay(plan: Plan) -> Result<Self, Error> {
        let Plan { places, cables, unlimited, speeds, queue_s, seed } = plan;
        let relayed: Vec<&Cable> = cables.iter().filter(|cable| cable.is_relayed()).collect();
        let middle = (!relayed.is_empty()).then(namespace).transpose()?;
        let script = links(&places, &cables, &unlimited, middle.as_ref());
        if let Some(first) = places.first() {
            first.namespace.batch("ip", &script).map_err(Error::system("make links"))?;
        }
        let ends = Ends { of: cables.iter().map(|cable| cable.ends.clone()).collect(), speeds, queue_s };
        for (at, place) in places.iter().enumerate() {
            let refused = || Error::system(format!("set up {}", place.name));
            place.namespace.batch("ip", &place.ip).map_err(refused())?;
            place.namespace.batch("tc", &ends.script_of("add", at, 0.0)).map_err(refused())?;
            // A relay on raw sockets passes checksums on as they are.
            for end in ends.of.iter().flatten().filter(|end| middle.is_some() && end.place == at) {
                place.namespace.disable_checksum_offload(&end.interface).map_err(refused())?;
            }
        }
        let relay = middle.as_ref().map(|middle| relay(middle, &relayed, seed)).transpose();
        let relay = relay.map_err(Error::system("start the relay"))?;
        Ok(Self { relay, places, ends, _middle: middle })
    }

    /// The namespace of a place.
    pub fn namespace(&self, place: usize) -> &Namespace {
        &self.places[place].namespace
    }

    /// Changes rates by the traces, whose time 0 was at `began`.
    ///
    /// # Errors
    /// An error of the system.
    pub fn follow(&self, began: Instant) -> Result<RateFollower, Error> {
        let handle = |place: &Endpoint| Ok((place.name.clone(), place.namespace.duplicate()?));
        let places = self.places.iter().map(handle).collect::<io::Result<_>>();
        let start = places.and_then(|places| RateFollower::start(self.ends.clone(), places, began));
        start.map_err(Error::system("follow the traces"))
    }

    /// Returns the number of frames that cables have lost at random.
    pub fn lost(&self) -> u64 {
        self.relay.as_ref().map_or(0, |relay| relay.counters().dropped)
    }

    /// Returns the bytes of frames that interfaces of a place have received and sent.
    ///
    /// # Errors
    /// An error of the system; an interface that the place does not have.
    pub fn carried(&self, place: usize, interfaces: &[&str]) -> Result<Vec<[u64; 2]>, Error> {
        let Endpoint { name, namespace, .. } = &self.places[place];
        let refused = || Error::system(format!("read what ports of {name} carry"));
        let table = namespace.run(|| std::fs::read_to_string("/proc/thread-self/net/dev"));
        let table = table.map_err(refused())?;
        let one = |interface: &&str| {
            let lacking = || io::Error::other(format!("the kernel's table of interfaces lacks {interface}"));
            carried_by(&table, interface).ok_or_else(lacking).map_err(refused())
        };
        interfaces.iter().map(one).collect()
    }
}

fn links(
    places: &[Endpoint],
    cables: &[Cable],
    unlimited: &[[End; 2]],
    middle: Option<&Namespace>,
) -> String {
    let interface = |end: &End| (end.interface.clone(), &places[end.place].namespace);
    let link = |ends: &[End; 2], cut| {
        let [(a, of_a), (b, of_b)] = ends.each_ref().map(interface);
        veth::link([(&a, of_a), (&b, of_b)], MTU, cut)
    };
    let relayed = cables.iter().filter(|cable| cable.is_relayed()).zip(0..);
    let relayed = relayed.map(|(cable, number)| link(&cable.ends, middle.map(|middle| (number, middle))));
    let direct = cables.iter().filter(|cable| !cable.is_relayed()).map(|cable| &cable.ends);
    relayed.chain(direct.chain(unlimited).map(|ends| link(ends, None))).collect()
}

fn relay(middle: &Namespace, cables: &[&Cable], seed: u64) -> io::Result<Relay> {
    middle.batch("ip", &veth::inner_ends_up(cables.len()))?;
    let both = || cables.iter().flat_map(|cable| [cable, cable]);
    let faults: Vec<LinkFaults> =
        both().map(|cable| LinkFaults { drop: cable.loss, ..LinkFaults::default() }).collect();
    let delays: Vec<Duration> = both().map(|cable| cable.delay).collect();
    Relay::start_delayed(middle, &faults, &delays, seed)
}

/// Bytes that an interface has received and sent, by the kernel's table.
fn carried_by(table: &str, interface: &str) -> Option<[u64; 2]> {
    let line = table.lines().find_map(|line| line.trim().strip_prefix(interface)?.strip_prefix(':'))?;
    let mut numbers = line.split_whitespace().map(str::parse);
    let received = numbers.next()?.ok()?;
    // Eight columns are of what was received.
    Some([received, numbers.nth(7)?.ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_table_is_read_by_whole_names() {
        let table = "Inter-|   Receive\n face |bytes packets\n  p12: 7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n    \
                     p1: 100 2 0 0 0 0 0 0 200 3 0 0 0 0 0 0\n";
        assert_eq!(carried_by(table, "p1"), Some([100, 200]));
        assert_eq!(carried_by(table, "p12"), Some([7, 8]));
        assert_eq!(carried_by(table, "p2"), None);
    }

    #[derive(Debug)]
    struct Halving;

    impl Speeds for Halving {
        fn next_change(&self, after_s: f64) -> Option<f64> {
            (after_s < 1.0).then_some(1.0)
        }

        fn at(&self, now_s: f64) -> Vec<[f64; 2]> {
            let share = if now_s < 1.0 { 1.0 } else { 0.5 };
            vec![[8e6 * share, 16e6], [24e6, 32e6 * share]]
        }
    }

    #[test]
    fn each_end_has_its_own_rate_in_its_own_place() {
        let end = |place, interface: &str| End { place, interface: interface.to_owned() };
        let of = vec![[end(0, "up"), end(2, "p1")], [end(1, "up"), end(2, "p2")]];
        let ends = Ends { of, speeds: Arc::new(Halving), queue_s: 0.2 };
        let of = |script: String| -> Vec<String> {
            let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
            script.lines().map(words).map(|words| format!("{} {} {}", words[1], words[3], words[9])).collect()
        };
        assert_eq!(of(ends.script_of("add", 0, 0.0)), ["add up 8000000bit"]);
        assert_eq!(of(ends.script_of("add", 2, 0.0)), ["add p1 16000000bit", "add p2 32000000bit"]);
        assert_eq!(of(ends.script(0, 1.0)), ["change up 4000000bit"]);
        assert_eq!(of(ends.script(2, 1.0)), ["change p1 16000000bit", "change p2 16000000bit"]);
    }
}
