//! The registers of the compiled programs, compared with the model's slots.

use inart_model::{Config, MAX_WINDOW, Slot, Slots, slot_of};
use inart_switch::Switch;

use super::codec::{plan_version_of, server_of};
use super::switch::base;

/// Reads registers of one slot, by their names in a program.
struct Cell<'s> {
    switch: &'s mut Switch,
    cell: usize,
}

impl Cell<'_> {
    fn read(&mut self, register: &str) -> u64 {
        let bytes = self.switch.register(register, self.cell).expect("the program has the register");
        bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Returns two words that lie in one register: the first above the second.
    fn read_pair(&mut self, register: &str, [first, second]: [&str; 2]) -> u64 {
        self.read(&format!("{register}.{first}")) << 32 | self.read(&format!("{register}.{second}"))
    }
}

/// Start of the cells of a second pass, in the model and in the program.
const SECOND_PASS: [usize; 2] = [MAX_WINDOW as usize / 2, 0x1000];

/// Compares the registers of every slot.
pub fn check(config: &Config, switch: &mut Switch, slots: &Slots) {
    let ranges = if config.moves { 2 } else { 1 };
    for place in 0..ranges * usize::from(config.window) {
        // The 4096 slots are a ring.
        let cell = (base(config) as usize + place) % 4096;
        check_slot(config, switch, &slots[place], place, [cell, cell]);
        if config.halves {
            let cells = [cell + SECOND_PASS[1], cell];
            check_slot(config, switch, &slots[place + SECOND_PASS[0]], place, cells);
        }
    }
}

/// Compares the registers of a slot of a pass: its cells in ingress, and in egress.
fn check_slot(
    config: &Config,
    switch: &mut Switch,
    slot: &Slot,
    place: usize,
    [cell, of_egress]: [usize; 2],
) {
    let mut cell = Cell { switch: &mut *switch, cell };
    let seen = match config.tofino {
        Some(_) => cell.read("InArtIngress.slots.seen_hi") << 32 | cell.read("InArtIngress.slots.seen_lo"),
        None => cell.read("InArtIngress.aggregate.contributors"),
    };
    assert_eq!(seen, u64::from(slot.seen), "slot {place}: {slot:?}");
    if seen == 0 {
        assert_eq!(*slot, Slot::default());
        return;
    }
    assert_eq!(slot_of(config, slot.run, slot.sequence), place);
    let differs = if config.tofino.is_some() {
        let mut differs = tofino(config, &mut cell, slot);
        // The second pass has the repeats.
        if !config.halves || cell.cell != of_egress {
            cell.cell = of_egress;
            differs.extend(tofino_egress(&mut cell, slot));
        }
        differs
    } else {
        v1model(config, &mut cell, slot)
    };
    assert_eq!(differs, Vec::<&str>::new(), "slot {place}: {slot:?}");
}

/// Registers that differ from the slot.
fn v1model(config: &Config, cell: &mut Cell<'_>, slot: &Slot) -> Vec<&'static str> {
    let mut read = |name: &str| cell.read(&format!("InArtIngress.aggregate.{name}"));
    differing(&[
        ("tags", read("tags") >> 40, plan_version_of(slot.run).into()),
        ("incarnations", read("incarnations"), server_of(config, slot.run).get().into()),
        ("shapes", read("shapes") >> 4 & 1, slot.last.into()),
        ("sequences", read("sequences"), slot.sequence.into()),
        ("flags", read("flags") >> 2 & 1, slot.overflow.into()),
    ])
}

/// Reads the slot of the program for Tofino: the repeats are in its egress. Words that lie in one register
/// are one number, the first above the second.
fn tofino(config: &Config, cell: &mut Cell<'_>, slot: &Slot) -> Vec<&'static str> {
    let low = u64::from(u32::MAX);
    let words = ["first", "second"];
    let marks = cell.read_pair("InArtIngress.slots.marks", ["mark", "sequence"]);
    let runs = cell.read_pair("InArtIngress.slots.runs", words);
    let plans = cell.read_pair("InArtIngress.slots.plans", words);
    let mut read = |name: &str| cell.read(&format!("InArtIngress.slots.{name}"));
    differing(&[
        ("marks", marks & low, slot.tofino.marked.into()),
        ("sequences", read("sequences"), slot.sequence.into()),
        ("runs: incarnation", runs & low, server_of(config, slot.run).get().into()),
        ("plans: plan version", plans >> 48, plan_version_of(slot.run).into()),
        ("plans: last", plans >> 16 & 1, slot.last.into()),
        ("flags", read("flags") >> 2 & 1, slot.overflow.into()),
    ])
}

/// Reads the egress registers of the repeats.
fn tofino_egress(cell: &mut Cell<'_>, slot: &Slot) -> Vec<&'static str> {
    let mut read = |name: &str| cell.read(&format!("InArtEgress.waves.{name}"));
    differing(&[
        ("asked_hi", read("asked_hi"), 0),
        ("asked_lo", read("asked_lo"), slot.asked.into()),
        ("wave", read("wave"), slot.tofino.parity.into()),
    ])
}

fn differing(registers: &[(&'static str, u64, u64)]) -> Vec<&'static str> {
    registers.iter().filter(|(_, real, model)| real != model).map(|(name, ..)| *name).collect()
}
