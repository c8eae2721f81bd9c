//! Frames that are not of the job, or make no sense.

use inart_host_agent::{BatchedPort, Transport};
use inart_wire::{
    BitmapIndex, ChunkSeq, Contributors, Exponent, Flags, FrameRepr, HeaderRepr, Incarnation, JobId, Kind,
    MacAddr, PlanVersion, ShardId, ValuesPerFrame,
};

use super::cluster::{Cluster, address, in_namespace};
use crate::support::ps::{WORKERS, applied, sent};

/// A hello to the server, as this worker's of that job would be.
fn hello(source: MacAddr, bitmap_index: u16, job: u16, words: &[i32]) -> Vec<u8> {
    let header = HeaderRepr {
        kind: Kind::Control,
        flags: Flags::NONE,
        plan_version: PlanVersion::from(1),
        job: JobId::from(job),
        shard: ShardId::from(0),
        worker: BitmapIndex::try_from(i64::from(bitmap_index)).unwrap(),
        sequence: ChunkSeq::from(0),
        contributors: Contributors::default(),
        exponent: Exponent::from(0),
        length: words.len() as u16,
        incarnation: Incarnation::from(7),
    };
    let (destination, values_per_frame) = (address("s1").parse().unwrap(), ValuesPerFrame::N32);
    let frame = FrameRepr { destination, source, values_per_frame, header };
    let mut bytes = vec![0; frame.buffer_len()];
    frame.emit(words, &mut bytes).unwrap();
    bytes
}

#[test]
fn frames_of_strangers_and_frames_without_sense_are_dropped_and_counted() {
    in_namespace(1500, || {
        let cluster = Cluster::new();
        let server = cluster.start("s1", "--sync r2sp --iterations 40");
        let workers = WORKERS.map(|name| (name, cluster.start(name, "")));
        let mut said = vec![server.next()];
        while said.last().unwrap()["applied"].as_u64() < Some(10) {
            said.push(server.next());
        }
        let at = |name: &str| address(name).parse::<MacAddr>().unwrap();
        let is_new = [34, 7, 0, 0];
        let mut wrong = vec![
            // An unused address; a worker's with another bitmap index; with another job. Each would end a
            // connection.
            hello(at("x"), 0, 1, &is_new),
            hello(at("w1"), 1, 1, &is_new),
            hello(at("w1"), 0, 2, &is_new),
        ];
        // No such code; a part without its bytes.
        wrong.extend([[99, 7, 7, 0], [32, 7, 7, 0]].map(|words| hello(at("w1"), 0, 1, &words)));
        // Cut; of a later version.
        wrong.push(wrong[0][..100].to_vec());
        wrong.push(
            wrong[0].iter().enumerate().map(|(at, byte)| if at == 14 { 0x45 } else { *byte }).collect(),
        );
        let count = wrong.len();
        let mut port = BatchedPort::open("on-x").unwrap();
        port.prepare(ValuesPerFrame::N256.frame_bytes()).unwrap();
        let mut left = wrong.into_iter();
        port.transmit(&mut |buffer| {
            let frame = left.next()?;
            buffer[..frame.len()].copy_from_slice(&frame);
            Some(frame.len())
        })
        .unwrap();
        said.extend(server.until("accuracy"));
        let printed: Vec<_> =
            workers.iter().map(|(name, worker)| (*name, worker.until("iterations"))).collect();
        assert!(applied(&said, &sent(&printed)) >= 120);
        let connections = &said.last().unwrap()["connections"];
        assert_eq!(
            (&connections["unknown_senders"], &connections["malformed"]),
            (&3.into(), &4.into()),
            "{count}"
        );
        assert!(said.iter().all(|line| line.get("gone").is_none()), "a worker was evicted");
    });
}
