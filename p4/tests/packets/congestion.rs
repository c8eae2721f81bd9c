//! The congestion mark. On the embedded switch only: bmv2's queues are served by a thread of their own, so
//! how many frames one leaves behind there is a matter of chance. That sums keep a mark is a case that runs
//! on both (`slots.rs`).

use inart_wire::ValuesPerFrame;

use super::embedded::Embedded;
use super::frame::{BYPASS, CONGESTION, Inart, LAST, RESEND, ordinary};
use super::network::AT_PORT_2;
use super::program::Built;
use super::run::Switch;
use super::updates::update;

const RESULT: u8 = 3;
const PROBE: u8 = 4;
const CONTROL: u8 = 5;

/// As many frames as one may leave behind without a mark (`LONG_QUEUE`).
const LONG: u32 = 16;

fn marked(frame: &Inart) -> Inart {
    frame.clone().with(|f| f.flags |= CONGESTION)
}

/// Returns a switch with the given numbers of frames queued at these ports.
async fn switch(program: Built, queues: &[(u16, u32)]) -> Embedded {
    let mut switch = Embedded::new();
    switch.load(program).await;
    switch.queues = queues.iter().copied().collect();
    switch
}

#[tokio::test]
async fn a_frame_that_leaves_more_than_sixteen_behind_is_marked() {
    // Sixty switches each: of jumbo frames the largest.
    let sizes = [ValuesPerFrame::N32, ValuesPerFrame::N64, ValuesPerFrame::N256, ValuesPerFrame::N2048];
    for program in sizes.into_iter().map(Built::V1model).chain(Built::on_tofino()) {
        let n = program.values();
        let gradient = |shard, sequence| Inart::gradient(n, shard, 0, sequence);
        let to_2 = |kind| gradient(0, 5).with(|f| (f.kind, f.dst) = (kind, AT_PORT_2));
        // Ingress port, egress port, the frame, and its unmarked output.
        let frames = [
            (1, 5, gradient(2, 6), gradient(2, 6)),
            (1, 5, gradient(2, 7).with(|f| f.flags = LAST), gradient(2, 7).with(|f| f.flags = LAST)),
            (1, 5, gradient(0, 6).with(|f| f.flags = BYPASS | RESEND), {
                gradient(0, 6).with(|f| f.flags = BYPASS | RESEND)
            }),
            (1, 1, gradient(3, 6), gradient(3, 6).completing(&[0])),
            (1, 2, to_2(PROBE), to_2(PROBE)),
            (1, 2, to_2(CONTROL), to_2(CONTROL)),
        ];
        for (from, to, frame, leaves) in frames {
            for (depth, mark) in [(0, false), (1, false), (LONG, false), (LONG + 1, true), (1000, true)] {
                let expected = if mark { marked(&leaves) } else { leaves.clone() };
                // Only the queue that it leaves by counts.
                let others = (1..=9).filter(|port| *port != to).map(|port| (port, LONG + 1));
                let queues: Vec<_> = others.chain([(to, depth)]).collect();
                let out = switch(program, &queues).await.send(from, &frame.bytes()).await;
                assert!(out == [(to, expected.bytes())], "{program}, {depth} waiting, {frame:?}");
                // A mark stays.
                let out = switch(program, &[]).await.send(from, &marked(&frame).bytes()).await;
                assert!(out == [(to, marked(&leaves).bytes())], "{program}, {frame:?}");
            }
        }
        let other = ordinary(AT_PORT_2);
        let out = switch(program, &[(2, 1000)]).await.send(1, &other).await;
        assert!(out == [(2, other)], "{program}: other frames have no place for a mark");
    }
}

#[tokio::test]
async fn sums_have_the_marks_of_their_inputs_and_of_their_own_queue() {
    for program in Built::on_v1model().chain(Built::on_tofino()) {
        let n = program.values();
        let gradient = |worker| Inart::gradient(n, 0, worker, 5);
        let whole = gradient(2).completing(&[0, 1, 2]);
        // Which inputs are marked, how many frames wait where the sum leaves.
        for (inputs, depth) in
            [(0b000, LONG), (0b000, LONG + 1), (0b001, 0), (0b010, 0), (0b100, 0), (0b111, 99)]
        {
            let mut switch = switch(program, &[(5, depth)]).await;
            let mut out = Vec::new();
            for worker in 0..3 {
                let frame = gradient(worker);
                let frame = if inputs >> worker & 1 == 1 { marked(&frame) } else { frame };
                out.extend(switch.send(worker + 1, &frame.bytes()).await);
            }
            let expected = if inputs != 0 || depth > LONG { marked(&whole) } else { whole.clone() };
            assert!(out == [(5, expected.bytes())], "{program}, inputs {inputs:03b}, {depth} waiting");
            // A mark of the sum's own queue is not the slot's: sent again from a short queue, it has those of
            // the inputs.
            switch.queues.clear();
            let again = gradient(0).with(|f| f.flags = RESEND);
            let repeated = again.completing(&[0, 1, 2]);
            let expected = if inputs != 0 { marked(&repeated) } else { repeated };
            let out = switch.send(1, &again.bytes()).await;
            assert!(out == [(5, expected.bytes())], "{program}, inputs {inputs:03b}, again");
        }
    }
}

#[tokio::test]
async fn each_copy_of_a_result_has_the_mark_of_its_own_queue() {
    for program in Built::on_v1model().chain(Built::on_tofino()) {
        let n = program.values();
        let result = Inart::gradient(n, 0, 0, 5).with(|f| f.kind = RESULT);
        let mut switch = switch(program, &[(1, LONG), (2, LONG + 1), (3, 0)]).await;
        let mut out = switch.send(5, &result.bytes()).await;
        out.sort();
        let expected = [(1, result.bytes()), (2, marked(&result).bytes()), (3, result.bytes())];
        assert!(out == expected, "{program}");
    }
}

#[tokio::test]
async fn so_has_each_copy_of_an_update() {
    for program in Built::on_v1model() {
        let sent = update(program.values(), 0, 0b1110);
        let mut switch = switch(program, &[(2, LONG + 1), (3, LONG)]).await;
        let mut out = switch.send(1, &sent.bytes()).await;
        out.sort();
        let copy = |receivers| sent.clone().with(|f| f.contributors = receivers);
        let expected =
            [(2, marked(&copy(0b10)).bytes()), (3, copy(0b100).bytes()), (4, copy(0b1000).bytes())];
        assert!(out == expected, "{program}");
    }
}
