//! Chunks and messages as frames and as packets: only their receivers read them back.
#![allow(clippy::unwrap_used)]

use inart_protocol_peers::{
    Cut, FrameContent, FrameWriter, Members, Message, PacketContent, Ranges, Receivers, Transmission,
    chunk_packet, message_packet, notice_packet, read_frame, read_packet,
};
use inart_wire::{Frame, HeaderRepr, Incarnation, MacAddr, Rank, ValuesPerFrame};

const EVERYBODY: MacAddr = MacAddr([0x01, 0, 0, 0, 0, 9]);

fn rank(number: u16) -> Rank {
    Rank::try_from(number).unwrap()
}

/// Returns peer `me` of 100, each with its rank + 1 as its incarnation.
fn members(me: u16) -> Members {
    Members::new(rank(me), 4.into(), 2.into(), (1..=100).map(Incarnation::new).collect())
}

fn writer() -> FrameWriter {
    FrameWriter::new(MacAddr([2, 0, 0, 0, 0, 1]), EVERYBODY, ValuesPerFrame::try_from(32).unwrap())
}

/// Returns the frames of the last chunk of an update of 40 words, from peer 3 to peers 5, 6 and 80.
fn chunk_frames(is_repair: bool) -> Vec<Vec<u8>> {
    let words: Vec<u32> = (0..40).map(|at| 0xfff0_0000 | at).collect();
    let to: Receivers = [5, 6, 80].map(rank).into_iter().collect();
    let sent = Transmission { round: 0x1_0007, chunk: 1, to, is_repair };
    let mut write = |block| {
        let mut buffer = [0; 2000];
        let cut = Cut::new(40, 32).unwrap();
        let len = writer().chunk(&members(3), &sent, block, &words, cut, &mut buffer).unwrap();
        buffer[..len].to_vec()
    };
    sent.to.blocks().map(&mut write).collect()
}

fn read(me: &mut Members, bytes: &[u8]) -> Option<FrameContent<Vec<u32>>> {
    read_frame(me, bytes).map(|content| match content {
        FrameContent::Chunk { from, round, chunk, is_marked, words } => {
            FrameContent::Chunk { from, round, chunk, is_marked, words: words.collect() }
        }
        FrameContent::Message { from, message } => FrameContent::Message { from, message },
        FrameContent::Notice { from, words } => FrameContent::Notice { from, words: words.collect() },
    })
}

#[test]
fn a_chunk_is_a_frame_per_block_of_receivers() {
    let frames = chunk_frames(true);
    assert_eq!(frames.len(), 2);
    let header = |bytes: &Vec<u8>| HeaderRepr::parse(&Frame::new_checked(&bytes[..]).unwrap()).unwrap();
    let first = header(&frames[0]);
    assert_eq!((first.kind.code(), first.worker.get(), first.sequence.get(), first.length), (6, 3, 1, 8));
    assert_eq!(
        (first.shard.get(), first.incarnation.get(), first.flags.to_string()),
        (7, 4, "resend|last".into())
    );
    assert_eq!((first.contributors.bitmap, first.contributors.group.0), (0b110_0000, 0));
    assert_eq!(
        (header(&frames[1]).contributors.bitmap, header(&frames[1]).contributors.group.0),
        (1 << 16, 1)
    );
    assert_eq!(header(&chunk_frames(false)[0]).flags.to_string(), "last");
    let words: Vec<u32> = (32..40).map(|at| 0xfff0_0000 | at).collect();
    for (me, bytes) in [(5, &frames[0]), (6, &frames[0]), (80, &frames[1])] {
        let words = words.clone();
        let of = |is_marked| {
            let words = words.clone();
            FrameContent::Chunk { from: rank(3), round: 7, chunk: 1, is_marked, words }
        };
        assert_eq!(read(&mut members(me), bytes), Some(of(false)));
        let mut marked = bytes.clone();
        marked[15] |= 0x08;
        assert_eq!(read(&mut members(me), &marked), Some(of(true)));
    }
}

#[test]
fn arrivals_for_others_are_dropped_and_counted() {
    let frame = &chunk_frames(false)[0];
    let refused = |me: &mut Members, bytes: &[u8]| {
        assert_eq!(read(me, bytes), None);
        let of = me.refused();
        [
            of.other_job,
            of.other_plan_version,
            of.stale_incarnation,
            of.unknown_senders,
            of.misdelivered,
            of.malformed,
        ]
    };
    let mut other_job = Members::new(rank(5), 9.into(), 2.into(), vec![Incarnation::new(1); 100]);
    assert_eq!(refused(&mut other_job, frame), [1, 0, 0, 0, 0, 0]);
    let mut other_plan_version = Members::new(rank(5), 4.into(), 3.into(), vec![Incarnation::new(1); 100]);
    assert_eq!(refused(&mut other_plan_version, frame), [0, 1, 0, 0, 0, 0]);
    // Peer 3 was restarted; peer 3 is absent.
    for incarnation in [Incarnation::new(77), Incarnation::UNKNOWN] {
        let mut restarted = members(5);
        assert!(restarted.set_incarnation(rank(3), incarnation));
        assert_eq!(refused(&mut restarted, frame), [0, 0, 1, 0, 0, 0]);
    }
    // A job of three peers, and the sender itself.
    let mut small = Members::new(rank(0), 4.into(), 2.into(), vec![Incarnation::new(1); 3]);
    assert_eq!(refused(&mut small, frame), [0, 0, 0, 1, 0, 0]);
    assert_eq!(refused(&mut members(3), frame), [0, 0, 0, 1, 0, 0]);
    assert_eq!(refused(&mut members(7), frame), [0, 0, 0, 0, 1, 0]);
    assert_eq!(refused(&mut members(69), frame), [0, 0, 0, 0, 1, 0]);
    for broken in [&frame[..50], &[][..]] {
        assert_eq!(refused(&mut members(5), broken), [0, 0, 0, 0, 0, 1]);
    }
}

#[test]
fn messages_reach_the_peer_and_the_incarnation_that_they_are_for() {
    let message = Message::Missing { round: 9, chunks: Ranges::of(3..8) };
    let mut buffer = [0; 2000];
    let len = writer().message(&members(5), rank(3), MacAddr([2; 6]), &message, &mut buffer).unwrap();
    let frame = &buffer[..len];
    let expected = FrameContent::Message { from: rank(5), message: message.clone() };
    assert_eq!(read(&mut members(3), frame), Some(expected));
    let mut others = [members(6), members(3), members(3)];
    others[1].set_incarnation(rank(3), Incarnation::new(50));
    others[2].set_incarnation(rank(5), Incarnation::new(50));
    assert!(others.iter_mut().all(|me| read(me, frame).is_none()));
    assert_eq!(
        others.map(|me| (me.refused().misdelivered, me.refused().stale_incarnation)),
        [(1, 0), (0, 1), (0, 1)]
    );
    // The header names another sender than the message.
    let mut lying = buffer;
    lying[23] = 6;
    let mut me = members(3);
    assert_eq!((read(&mut me, &lying[..len]), me.refused().malformed), (None, 1));
    // A message as long as a frame, and a longer one.
    let most = Message::ranges_within(32) as u32;
    let mut chunks = Ranges::default();
    for (count, fits) in [(most, true), (most + 1, false)] {
        (0..count).for_each(|at| {
            chunks.insert(2 * at..2 * at + 1);
        });
        let message = Message::Missing { round: 9, chunks: chunks.clone() };
        let written = writer().message(&members(5), rank(3), MacAddr([2; 6]), &message, &mut buffer);
        assert_eq!(written.is_ok(), fits, "{count} ranges");
    }
}

#[test]
fn a_notice_is_one_frame_for_a_block_of_peers() {
    let mut buffer = [0; 2000];
    let to: Receivers = (4..60).map(rank).collect();
    let len = writer().notice(&members(3), to.blocks().next().unwrap(), &[8, 9], &mut buffer).unwrap();
    let expected = FrameContent::Notice { from: rank(3), words: vec![8, 9] };
    assert_eq!(read(&mut members(5), &buffer[..len]), Some(expected));
    let mut other = members(60);
    assert_eq!((read(&mut other, &buffer[..len]), other.refused().misdelivered), (None, 1));
}

#[test]
fn packets_are_from_the_peer_at_the_other_end() {
    let words = [7, 0xffff_ffff, 9];
    let chunk = chunk_packet(&members(3), 70_000, 12, &words);
    let read = |me: &mut Members, from, bytes: &[u8]| {
        read_packet(me, rank(from), bytes).map(|content| match content {
            PacketContent::Chunk { from, round, chunk, words } => {
                format!("{from} {round} {chunk} {:?}", words.collect::<Vec<_>>())
            }
            PacketContent::Message { from, message } => format!("{from} {message}"),
            PacketContent::Notice { from, words } => format!("{from} {:?}", words.collect::<Vec<_>>()),
        })
    };
    assert_eq!(read(&mut members(5), 3, &chunk), Some("3 70000 12 [7, 4294967295, 9]".into()));
    let message = message_packet(&members(3), rank(5), &Message::Poll { round: 8 });
    assert_eq!(read(&mut members(5), 3, &message), Some("3 poll for update 8".into()));
    let notice = notice_packet(&members(3), &[6, 7]);
    assert_eq!(read(&mut members(5), 3, &notice), Some("3 [6, 7]".into()));
    let mut me = members(5);
    assert!([&chunk, &message, &notice].iter().all(|bytes| read(&mut me, 4, bytes).is_none()));
    assert_eq!(me.refused().unknown_senders, 3);
    me.set_incarnation(rank(3), Incarnation::new(77));
    assert!([&chunk, &message, &notice].iter().all(|bytes| read(&mut me, 3, bytes).is_none()));
    assert_eq!(me.refused().stale_incarnation, 3);
    for cut in [0, 2, 10, 16, chunk.len() - 1] {
        assert_eq!(read(&mut me, 3, &chunk[..cut]), None);
    }
    let mut other = chunk.clone();
    other[2] = 5;
    assert_eq!(read(&mut me, 3, &other), None);
    assert_eq!((me.refused().malformed, me.refused().other_job), (5, 1));
}
