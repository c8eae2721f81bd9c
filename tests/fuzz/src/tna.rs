//! The compiled program for Tofino in the embedded switch: as target `switch`, and on any frames. An output
//! frame is a valid frame of ours, or another's unchanged; and no pass touches a register twice.

use std::cell::RefCell;

use inart_p4::{Chip, Variant, tofino_artifact};
use inart_switch::{Port, Program, Sink};
use inart_wire::{ETHER_TYPE, Frame, HeaderRepr, ValuesPerFrame};

use crate::switch::{self, Rig, UP};

/// As the chip needs them: multiples of their length.
const BASES: [u32; 2] = [8, 4092];

thread_local! {
    static RIG: RefCell<Rig> = RefCell::new(rig());
}

fn rig() -> Rig {
    let variant = Variant { chip: Chip::Tofino1, values: ValuesPerFrame::N32 };
    let built = tofino_artifact(variant).expect("it is built in");
    let program = Program::compile(&built.json).expect("it compiles");
    Rig { switch: switch::loaded(program, BASES), bases: BASES, owner: "InArtIngress.slots.marks.mark" }
}

/// Checks output frames against the input frame.
struct Checked<'f>(&'f [u8]);

impl Sink for Checked<'_> {
    fn packet(&mut self, port: Port, bytes: &[u8]) {
        assert_eq!(port.0, UP, "nothing leads elsewhere");
        if bytes.get(12..14) == Some(&ETHER_TYPE.to_be_bytes()) {
            let frame = Frame::new_checked(bytes).expect("an output frame parses");
            HeaderRepr::parse(&frame).expect("an output frame is valid");
        } else {
            assert_eq!(bytes, self.0, "another's frame is changed");
        }
    }
}

/// See the module.
pub fn run(bytes: &[u8]) {
    RIG.with_borrow_mut(|rig| {
        match bytes.split_first() {
            Some((first, frame)) if *first >= 0xc0 => any_frame(rig, *first, frame),
            _ => switch::run_on(rig, bytes),
        }
        assert_eq!(rig.switch.statistics().touched_twice, 0, "a register was touched twice in a pass");
        assert_eq!(rig.switch.statistics().past_end, 0, "a register has every cell that is used");
    });
}

/// Any bytes, mostly of our kind, at any port.
fn any_frame(rig: &mut Rig, first: u8, bytes: &[u8]) {
    let mut frame = bytes.to_vec();
    if first & 1 == 1 {
        frame.resize(frame.len().max(ValuesPerFrame::N32.frame_bytes()), first);
        frame[12..14].copy_from_slice(&ETHER_TYPE.to_be_bytes());
    }
    let port = Port(u32::from(first >> 1 & 0xf));
    rig.switch.process(port, &frame, 0, &mut Checked(&frame));
}
