//! The compiled P4 program in the embedded switch, on any sequence of frames: an output sum of some workers
//! is the sum of those workers' values for that chunk, plan version and run; and frames with a VLAN tag do
//! not leave.

use std::cell::RefCell;
use std::sync::Arc;

use arbitrary::{Result, Unstructured};
use inart_p4::artifact;
use inart_switch::{Port, Program, Sink, Switch};
use inart_tables::{Mac, MacAction, PortNo, Row, SlotRange, Steer, SteerAction, SteerKey, Table};
use inart_wire::{
    BitmapIndex, Contributors, ETHERNET_BYTES, Exponent, Flags, Frame, FrameRepr, Group, HEADER_BYTES,
    HeaderRepr, Kind, MacAddr, ShardId, ValuesPerFrame,
};

const JOB: u16 = 1;
const WINDOW: u32 = 4;
/// First slots of the two shards' ranges; the second goes beyond the last slot.
const BASES: [u32; 2] = [8, 4094];
/// The port to the server; workers' are numbered from 1.
pub(crate) const UP: u32 = 9;
/// The port to another switch, which in shard 1 sums workers 1 and 2.
const BELOW: u32 = 8;
const EXPECTED: u64 = 0b111;
const FRAME_BYTES: usize = ValuesPerFrame::N32.frame_bytes();
/// Bytes of the Ethernet and INART headers.
const HEADERS: usize = ETHERNET_BYTES + HEADER_BYTES;

thread_local! {
    static RIG: RefCell<Rig> = RefCell::new(Rig {
        switch: loaded(Program::compile(&artifact(ValuesPerFrame::N32).json).expect("it compiles"), BASES),
        bases: BASES,
        owner: "InArtIngress.aggregate.contributors",
    });
}

/// A switch with entries for the frames of this target.
pub(crate) struct Rig {
    pub switch: Switch,
    /// First slots of the two shards' ranges.
    pub bases: [u32; 2],
    /// Register that marks a used slot: 0 if unused.
    pub owner: &'static str,
}

/// Returns a switch that runs the program, with entries for three workers, two shards and two plan versions.
pub(crate) fn loaded(program: Arc<Program>, bases: [u32; 2]) -> Switch {
    let mut switch = Switch::new(0);
    switch.load(program).expect("the program loads");
    for (shard, plan_version, worker) in (0..2).flat_map(|shard| {
        (1..3).flat_map(move |plan_version| (0..3).map(move |worker| (shard, plan_version, worker)))
    }) {
        let below = shard == 1 && worker > 0;
        let members = if below { 0b110 } else { 1 << worker };
        let key = SteerKey {
            plan_version: plan_version.into(),
            job: JOB.into(),
            shard: shard.into(),
            worker: BitmapIndex::try_from(worker).expect("there are three workers"),
            ingress: port(if below { BELOW } else { of_worker(worker) }),
        };
        let ranks = |bitmap| Contributors { bitmap, group: Group(0) };
        let slots = SlotRange { base: bases[usize::from(shard)], len: WINDOW };
        let (members, expected) = (ranks(members), ranks(EXPECTED));
        put(&mut switch, Steer::row(&key, &SteerAction::Add { port: port(UP), slots, members, expected }));
    }
    // Frames that are not INART's leave, where they are checked like all output.
    put(&mut switch, Mac::default_row(&MacAction::Send { port: port(UP) }));
    switch
}

fn put(switch: &mut Switch, row: Row) {
    let put = switch.put_numbers(row.table.full_name, row.key.as_deref(), row.action.full_name, &row.params);
    put.expect("the table takes the entry");
}

fn port(number: u32) -> PortNo {
    PortNo::try_from(u64::from(number)).expect("ports count from 1")
}

/// Returns a worker's port.
fn of_worker(worker: u16) -> u32 {
    1 + u32::from(worker)
}

/// Returns a worker's value: differs in every lane, for every chunk, plan version and run, and for a last
/// chunk; no sum of three saturates.
fn value(header: &HeaderRepr, worker: u16, lane: usize) -> i32 {
    let chunk = header.sequence.get().wrapping_mul(0x9e37_79b9) ^ u32::from(header.plan_version.get()) << 7;
    let last = u32::from(header.flags.contains(Flags::LAST));
    let chunk = chunk ^ header.incarnation.get().wrapping_mul(0xc2b2_ae35) ^ last << 23;
    let mixed = (chunk ^ u32::from(worker) << 11 ^ lane as u32).wrapping_mul(0x85eb_ca6b);
    mixed as i32 >> 3
}

fn sums(header: &HeaderRepr) -> [i32; 32] {
    std::array::from_fn(|lane| {
        header.contributors.bitmap_indices().map(|worker| value(header, worker.get(), lane)).sum()
    })
}

/// Number of output frames, each checked.
struct Checked(usize);

impl Sink for Checked {
    fn packet(&mut self, port: Port, bytes: &[u8]) {
        assert_eq!(port.0, UP, "gradients and partials go up");
        let frame = Frame::new_checked(bytes).expect("an output frame parses");
        let header = HeaderRepr::parse(&frame).expect("an output frame is valid");
        assert!(frame.values().eq(sums(&header)), "not the sum of its contributors: {header}");
        self.0 += 1;
    }
}

/// See the module.
pub fn run(bytes: &[u8]) {
    RIG.with_borrow_mut(|rig| run_on(rig, bytes));
}

/// Runs the target on a switch whose slots are all free at first.
pub(crate) fn run_on(Rig { switch, bases, owner }: &mut Rig, bytes: &[u8]) {
    for (base, place) in bases.iter().flat_map(|base| (0..WINDOW).map(move |place| (base, place))) {
        let cell = ((base + place) % inart_p4::SLOTS) as usize;
        switch.set_register(owner, cell, &[0]).expect("the program has the register");
    }
    let mut input = Unstructured::new(bytes);
    while !input.is_empty() && step(switch, &mut input).is_ok() {}
}

fn step(switch: &mut Switch, input: &mut Unstructured) -> Result<()> {
    let [first, second] = input.arbitrary::<[u8; 2]>()?;
    let shard = first & 1;
    let worker = u16::from(first >> 1 & 3) % 3;
    let below = shard == 1 && worker > 0;
    let (kind, bitmap) =
        if below && first & 8 != 0 { (Kind::Partial, 0b110) } else { (Kind::Gradient, 1 << worker) };
    // Sequences that share slots, and that wrap.
    let sequence = u32::from(second & 15).wrapping_sub(6);
    let [last, other_run, other_plan_version] = [0x50, 0x60, 0x70].map(|bits| second & 0x70 == bits);
    let header = HeaderRepr {
        kind,
        flags: Flags(first >> 4 & 0x0b).with_if(Flags::LAST, last),
        plan_version: (if other_plan_version { 2 } else { 1 }).into(),
        job: JOB.into(),
        shard: ShardId::from(u16::from(shard)),
        worker: BitmapIndex::try_from(worker).expect("there are three workers"),
        sequence: sequence.into(),
        contributors: Contributors { bitmap, group: Group(0) },
        exponent: Exponent::from(if second & 0xf0 == 0x80 { 1 } else { 0 }),
        length: 32,
        incarnation: (if other_run { 0x0100_0000 } else { 7 }).into(),
    };
    let mut bytes = [0; FRAME_BYTES];
    let repr = FrameRepr {
        destination: MacAddr([2, 0, 0, 0, 0, 9]),
        source: MacAddr([2, 0, 0, 0, 0, 1]),
        values_per_frame: ValuesPerFrame::N32,
        header,
    };
    repr.emit(&sums(&header), &mut bytes).expect("the buffer is a frame long");
    let port = Port(if below { BELOW } else { of_worker(worker) });
    let mut out = Checked(0);
    if second & 0xf0 == 0xf0 {
        // Another job's, damaged: it may not leave.
        let [place, damage] = input.arbitrary::<[u8; 2]>()?;
        bytes[18] = 77;
        let place = usize::from(place);
        if !(12..14).contains(&(place % HEADERS)) && !(18..20).contains(&(place % HEADERS)) {
            bytes[place % HEADERS] ^= damage;
        }
        let length = if damage & 1 == 0 { FRAME_BYTES } else { place % FRAME_BYTES };
        switch.process(port, &bytes[..length], 0, &mut out);
        assert_eq!(out.0, 0, "a frame without an entry left");
    } else if second & 0xf0 == 0xe0 {
        // The same frame in VLANs, perhaps cut within them or behind.
        let [tags, cut] = input.arbitrary::<[u8; 2]>()?;
        let frame = in_vlans(&bytes, tags);
        let headers = frame.len() - FRAME_BYTES + ETHERNET_BYTES;
        let length = if cut & 1 == 0 { frame.len() } else { headers - usize::from(cut >> 1) % 4 };
        switch.process(port, &frame[..length], 0, &mut out);
        assert_eq!(out.0, 0, "a frame in a VLAN left");
    } else {
        switch.process(port, &bytes, 0, &mut out);
        assert!(out.0 <= 1, "one frame became {}", out.0);
    }
    Ok(())
}

/// Returns the frame behind one to eight tags.
fn in_vlans(frame: &[u8], tags: u8) -> Vec<u8> {
    let kinds: [u16; 3] = [0x8100, 0x88a8, 0x9100];
    let tag = |place| {
        [kinds[(usize::from(tags >> 3) + place) % kinds.len()], tags.into()].map(u16::to_be_bytes).concat()
    };
    let stack: Vec<u8> = (0..=usize::from(tags & 7)).flat_map(tag).collect();
    [&frame[..12], &stack, &frame[12..]].concat()
}
