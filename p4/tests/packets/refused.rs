//! Every reason to drop, and everything that is not summed at all.

use inart_p4::Outcome::{Added, Completed, DuplicateIgnored, SlotClaimed};
use inart_p4::Reason::{self, *};
use inart_wire::ValuesPerFrame;

use super::case::{Case, Step, case, consumed, dropped, kept, leaves, switched};
use super::frame::{Inart, LAST, RESEND, TAGS, mac, ordinary, tagged};
use super::messages::{CONTROL, PROBE};
use super::network::{AT_PORT_2, REFUSED};
use super::rule::Rule;

const PARTIAL: u8 = 2;
const RESULT: u8 = 3;

#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub fn cases(n: ValuesPerFrame) -> Vec<Case> {
    let gradient = |worker| Inart::gradient(n, 0, worker, 5);
    let of_kind = |kind| Inart::gradient(n, 0, 0, 5).with(|f| f.kind = kind);
    let to = |dst, kind| of_kind(kind).with(|f| f.dst = dst);
    let result = of_kind(RESULT).with(|f| f.flags = LAST);

    vec![
        case("a frame that ends too early", too_short(n).map(|frame| dropped(1, frame, TooShort))),
        case("malformed frames of worker 1, between sound ones, are not summed", {
            let malformed = malformed(n).into_iter().map(|(reason, frame)| dropped(2, frame, reason));
            let third = gradient(2);
            // On Tofino the first of the frames that are too long is added, and others repeat it.
            let added_before = consumed(2, &gradient(1), Added)
                .unless(Rule::Size, consumed(2, &gradient(1), DuplicateIgnored));
            let whole = leaves(3, &third, Completed, 5, &third.completing(&[0, 1, 2]));
            let too_long = too_long(n).zip([Added, DuplicateIgnored]).map(|(frame, outcome)| {
                dropped(2, frame.clone(), WrongSize).unless(Rule::Size, kept(2, frame, outcome))
            });
            let begun = [consumed(1, &gradient(0), SlotClaimed)].into_iter().chain(malformed);
            begun.chain(too_long).chain([added_before, whole])
        }),
        case(
            "results, probes and control frames are checked too",
            [RESULT, PROBE, CONTROL]
                .into_iter()
                .flat_map(|kind| {
                    let frame = to(AT_PORT_2, kind).with(|f| f.flags = RESEND);
                    let long = frame.clone().with(|f| f.length += 1);
                    let flag = frame.clone().with(|f| f.flags |= 0x40);
                    let version = frame.clone().with(|f| f.version = 1);
                    let cut = frame.bytes()[..frame.bytes().len() - 4].to_vec();
                    let longer = [&frame.bytes()[..], &[0]].concat();
                    let sizes = [cut, longer].map(|frame| {
                        let size = dropped(1, frame.clone(), WrongSize);
                        // Workers send no results.
                        let no_way = |size: Step| size.unless(Rule::Size, dropped(1, frame, NoResultRoute));
                        if kind == RESULT { no_way(size) } else { size }
                    });
                    [(BadLength, long.bytes()), (UnknownFlag, flag.bytes()), (BadVersion, version.bytes())]
                        .map(|(reason, frame)| dropped(1, frame, reason))
                        .into_iter()
                        .chain(sizes)
                })
                .chain([
                    dropped(5, to(AT_PORT_2, RESULT).with(|f| f.length = 0).bytes(), BadLength),
                    switched(5, to(AT_PORT_2, CONTROL).with(|f| f.length = 0).bytes(), &[2]),
                ]),
        ),
        case(
            "frames that no entry of steer is for",
            [
                dropped(1, gradient(3).bytes(), NoRoute),
                dropped(2, gradient(0).bytes(), NoRoute),
                dropped(1, gradient(0).with(|f| f.plan_version = 3).bytes(), NoRoute),
                dropped(1, gradient(0).with(|f| f.job = 2).bytes(), NoRoute),
                dropped(1, gradient(0).with(|f| f.shard = 9).bytes(), NoRoute),
            ],
        ),
        case("contributors that the entry does not admit", {
            let stranger = |shard| {
                Inart::gradient(n, shard, 3, 5).with(|f| {
                    f.kind = PARTIAL;
                    f.contributors = 0b101000;
                })
            };
            [dropped(4, stranger(1).bytes(), NotMember), dropped(4, stranger(2).bytes(), NotMember)]
        }),
        case(
            "a result goes to all workers, from its server's port only",
            [
                switched(5, result.bytes(), &[1, 2, 3]),
                dropped(1, result.bytes(), NoResultRoute),
                dropped(5, result.clone().with(|f| f.plan_version = 2).bytes(), NoResultRoute),
                dropped(5, result.clone().with(|f| f.job = 2).bytes(), NoResultRoute),
                dropped(5, result.clone().with(|f| f.shard = 1).bytes(), NoResultRoute),
            ],
        ),
        case(
            "a result that is sent again goes to all workers, too",
            [
                switched(5, result.clone().with(|f| f.flags |= RESEND).bytes(), &[1, 2, 3]),
                dropped(1, result.clone().with(|f| f.flags |= RESEND).bytes(), NoResultRoute),
            ],
        ),
        case("probes, control frames and ordinary traffic go by MAC", by_mac(n)),
        case("ordinary traffic in VLANs goes by MAC, with its tags", in_vlans()),
        case(
            "INART frames have no tags, and other frames at most four",
            stacks().into_iter().flat_map(|tags| {
                let frames = [gradient(0), result.clone(), to(AT_PORT_2, PROBE), to(AT_PORT_2, CONTROL)];
                // The header alone, and an incomplete one: data behind the tags does not matter.
                let cut = [14, 30].map(|bytes| gradient(0).bytes()[..bytes].to_vec());
                let frames = frames.map(|frame| frame.bytes()).into_iter().chain(cut);
                let deeper = [&tags[..], &TAGS, &tags].concat();
                let many = dropped(1, tagged(&ordinary(AT_PORT_2), &deeper[..5]), Tagged);
                frames
                    .map(move |frame| dropped(1, tagged(&frame, &tags), Tagged))
                    .chain([many])
                    .collect::<Vec<_>>()
            }),
        ),
    ]
}

/// Cut within each header, and within the values.
fn too_short(n: ValuesPerFrame) -> impl Iterator<Item = Vec<u8>> {
    let frame = Inart::gradient(n, 0, 0, 5).bytes();
    let partial = Inart::gradient(n, 0, 0, 5).completing(&[0]).bytes();
    let runt = ordinary(AT_PORT_2)[..13].to_vec();
    let cut = [14, 20, 39, 40, 43, 44, 47, frame.len() - 1].map(|bytes| frame[..bytes].to_vec());
    cut.into_iter().chain([partial[..partial.len() - 4].to_vec(), runt])
}

/// Frames of worker 1 that are sound but for bytes behind them.
fn too_long(n: ValuesPerFrame) -> impl Iterator<Item = Vec<u8>> {
    [1, 1000].into_iter().map(move |more| [Inart::gradient(n, 0, 1, 5).bytes(), vec![0; more]].concat())
}

/// Frames of worker 1 that must not be summed, with the reason.
fn malformed(n: ValuesPerFrame) -> Vec<(Reason, Vec<u8>)> {
    let sound = || Inart::gradient(n, 0, 1, 5);
    let but = |change: &dyn Fn(&mut Inart)| sound().with(|f| change(f)).bytes();
    let mut frames = vec![
        (BadVersion, but(&|f| f.version = 0)),
        (BadVersion, but(&|f| f.version = 1)),
        (BadVersion, but(&|f| f.version = 2)),
        (BadVersion, but(&|f| f.version = 4)),
        (BadVersion, but(&|f| f.version = 15)),
        (UnknownKind, but(&|f| f.kind = 0)),
        (BadLength, but(&|f| f.length = 0)),
        (BadLength, but(&|f| f.length += 1)),
        (BadLength, but(&|f| f.length = u16::MAX)),
        (BadGroup, but(&|f| f.group = 1)),
        (BadGroup, but(&|f| f.worker += 64)),
        (BadGroup, but(&|f| f.worker += 1 << 14)),
        (BadContributors, but(&|f| f.contributors = 0)),
        (BadContributors, but(&|f| f.contributors = 0b1)),
        (BadContributors, but(&|f| f.contributors = 0b11)),
        (BadContributors, but(&|f| f.contributors = u64::MAX)),
        (BadContributors, but(&|f| (f.kind, f.contributors) = (PARTIAL, 0))),
        (BadContributors, but(&|f| (f.kind, f.contributors) = (PARTIAL, !0b10))),
        (NotMember, but(&|f| (f.kind, f.contributors) = (PARTIAL, 0b111))),
    ];
    frames.extend((7..16).map(|kind| (UnknownKind, but(&|f| f.kind = kind))));
    frames.extend([0x20, 0x40, 0x80].map(|flag| (UnknownFlag, but(&|f| f.flags = flag))));
    frames
}

/// Up to four tags, and more.
fn stacks() -> Vec<Vec<u16>> {
    let [q, ad, old] = TAGS;
    let mixed = [vec![ad, q], vec![old, q], vec![q, ad, old], vec![q, q, q, q], vec![ad, q, old, q]];
    TAGS.map(|tag| vec![tag]).into_iter().chain(mixed).chain([5, 8, 30].map(|count| vec![q; count])).collect()
}

fn in_vlans() -> Vec<Step> {
    let frame = ordinary(AT_PORT_2);
    let passing = stacks().into_iter().filter(|tags| tags.len() <= 4);
    let mut steps: Vec<Step> = passing
        .flat_map(|tags| {
            let whole = tagged(&frame, &tags);
            let headers = &whole[..14 + 4 * tags.len()];
            // Cut within the last tag.
            let cut = [1, 2, 3, 4].map(|bytes| &headers[..headers.len() - bytes]);
            [switched(1, &whole[..], &[2]), switched(1, headers, &[2])]
                .into_iter()
                .chain(cut.map(|frame| dropped(1, frame, TooShort)))
                .collect::<Vec<_>>()
        })
        .collect();
    // A length in place of an EtherType: the 802.2 header after it names INART's, which no kernel delivers to
    // a listener.
    let snap = [&AT_PORT_2[..], &mac(0x11), &[0, 40, 0xaa, 0xaa, 3, 0, 0, 0, 0x88, 0xb5], &[0; 32]].concat();
    steps.extend([switched(1, tagged(&snap, &TAGS), &[2]), switched(1, snap, &[2])]);
    steps
}

fn by_mac(n: ValuesPerFrame) -> Vec<Step> {
    let unknown = mac(0x77);
    let broadcast = [0xff; 6];
    let frames = |worker, dst| {
        let inart = |kind| Inart::gradient(n, 0, worker, 5).with(|f| (f.kind, f.dst) = (kind, dst)).bytes();
        [inart(PROBE), inart(CONTROL), ordinary(dst), ordinary(dst)[..14].to_vec()]
    };
    let mut steps = Vec::new();
    steps.extend(frames(0, AT_PORT_2).map(|frame| switched(1, frame, &[2])));
    // The ingress port is never an egress port.
    steps.extend(frames(1, AT_PORT_2).map(|frame| switched(2, frame, &[])));
    steps.extend(frames(0, unknown).map(|frame| switched(1, frame, &[2, 3, 4, 5, 6, 7, 8])));
    steps.extend(frames(0, broadcast).map(|frame| switched(5, frame, &[1, 2, 3, 4, 6, 7, 8])));
    steps.extend(frames(0, REFUSED).map(|frame| dropped(1, frame, NoMacRoute)));
    steps
}
