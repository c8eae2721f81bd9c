//! Profile of the time: the loops over values, next to a copy of as many bytes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use inart_protocol_aggregation::TensorInput;
use inart_protocol_aggregation::completion_rule::{Reduction, Sum};
use inart_protocol_aggregation::scale::{dequantize_all, largest_size, quantize};
use inart_wire::{
    BitmapIndex, ChunkSeq, Contributors, Exponent, Flags, Frame, FrameRepr, HeaderRepr, Incarnation, Kind,
    MacAddr, ShardId, ValuesPerFrame,
};

/// Time of each loop; the quickest of the tries counts.
const TIME: Duration = Duration::from_millis(20);
const TRIES: usize = 5;

/// Prints the time of one chunk in each loop.
#[expect(clippy::print_stdout, reason = "a command's result")]
pub fn print(values_per_frame: ValuesPerFrame) {
    let values = values_per_frame.get();
    println!("\nwhere the time goes: loops over the values of a frame, warm in the cache");
    println!("{:<34}{:>10}{:>10}", "", "ns/frame", "GB/s");
    let row = |name: &str, mut run: Box<dyn FnMut()>| {
        let nanos = time(&mut run);
        println!("{name:<34}{nanos:>10.0}{:>10.1}", 4.0 * values as f64 / nanos);
    };
    let floats: Vec<f32> = (0..values).map(|place| (place as f32 - 100.0) * 0.37).collect();
    let step = -20;
    let mut quantized = Vec::new();
    quantize(&floats, step, &mut quantized);
    let (repr, bytes) = frame(values_per_frame, &quantized);

    let (from, mut to) = (bytes.clone(), bytes.clone());
    row("memcpy", Box::new(move || black_box(&mut to).copy_from_slice(black_box(&from))));
    let source = floats.clone();
    row("look for the largest", Box::new(move || _ = black_box(largest_size(black_box(&source)))));
    let (source, mut target) = (floats.clone(), TensorInput::default());
    row("copy, and look for the largest", Box::new(move || target.copy_from(black_box(&source))));
    let (source, mut target) = (floats.clone(), quantized.clone());
    row(
        "quantize",
        Box::new(move || {
            target.clear();
            quantize(black_box(&source), black_box(step), &mut target);
            black_box(&mut target);
        }),
    );
    let (source, mut target) = (quantized.clone(), bytes.clone());
    row(
        "byte order out, header included",
        Box::new(move || _ = black_box(repr.emit(black_box(&source), &mut target))),
    );
    let (source, mut target) = (bytes.clone(), quantized.clone());
    row(
        "byte order in",
        Box::new(move || {
            let frame = Frame::new_checked(black_box(&source[..])).expect("it is one");
            target.iter_mut().zip(frame.values()).for_each(|(number, value)| *number = value);
            black_box(&mut target);
        }),
    );
    let (source, mut target) = (quantized.clone(), floats);
    row(
        "dequantize",
        Box::new(move || {
            dequantize_all(black_box(&source).iter().copied(), black_box(step), &mut target);
            black_box(&mut target);
        }),
    );
    let (source, mut sum) = (bytes, Sum::new(values, Exponent::from(0)));
    row(
        "sum, byte order in included",
        Box::new(move || {
            sum.add(&Frame::new_checked(black_box(&source[..])).expect("it is one"), i32::MAX);
            black_box(&mut sum);
        }),
    );
    let mut sum = Sum::new(values, Exponent::from(0));
    sum.add(&Frame::new_checked(&frame(values_per_frame, &quantized).1[..]).expect("it is one"), i32::MAX);
    row("a sum's result, copy included", Box::new(move || _ = black_box(sum.clone().result())));
    let mut start = Instant::now();
    row("reading the clock", Box::new(move || start = black_box(start).max(Instant::now())));
}

/// Nanoseconds per call.
fn time(run: &mut dyn FnMut()) -> f64 {
    let tries = (0..TRIES).map(|_| {
        let (start, mut calls) = (Instant::now(), 0u32);
        while start.elapsed() < TIME {
            (0..100).for_each(|_| run());
            calls += 100;
        }
        start.elapsed().as_nanos() as f64 / f64::from(calls)
    });
    tries.fold(f64::INFINITY, f64::min)
}

fn frame(values_per_frame: ValuesPerFrame, values: &[i32]) -> (FrameRepr, Vec<u8>) {
    let worker = BitmapIndex::try_from(0u16).expect("the first bitmap index");
    let repr = FrameRepr {
        destination: MacAddr([2, 0, 0, 0, 0, 1]),
        source: MacAddr([2, 0, 0, 0, 0, 2]),
        values_per_frame,
        header: HeaderRepr {
            kind: Kind::Gradient,
            flags: Flags::NONE,
            plan_version: 1.into(),
            job: 1.into(),
            shard: ShardId::from(0),
            worker,
            sequence: ChunkSeq::default(),
            contributors: Contributors::one(worker),
            exponent: Exponent::from(0),
            length: values.len() as u16,
            incarnation: Incarnation::from(1),
        },
    };
    let mut bytes = vec![0; repr.buffer_len()];
    repr.emit(values, &mut bytes).expect("there is room");
    (repr, bytes)
}
