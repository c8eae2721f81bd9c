//! Frames per second through the whole pipeline without I/O: eight workers' gradients are summed, by the
//! programs for v1model and for Tofino. Every sum is compared bit for bit.

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use inart_p4::Variant;
use inart_switch::{Port, Program, Sink};
use inart_wire::ValuesPerFrame;
use support::{Gradient, first_hop_switch, port_of};

const WORKERS: u16 = 8;

/// Compares each sum with the one that is right for all rounds.
struct Checked {
    sum: Vec<u8>,
    seen: u64,
}

impl Sink for Checked {
    fn packet(&mut self, _: Port, frame: &[u8]) {
        assert_eq!(frame[44..], self.sum[..], "a sum is wrong");
        self.seen += 1;
    }
}

/// Returns every built-in program: its name, values per frame, and its compiled form.
fn programs() -> Vec<(String, usize, Arc<Program>)> {
    let compile = |json: &[u8]| Program::compile(json).expect("it compiles");
    let v1model = ValuesPerFrame::ALL
        .into_iter()
        .map(|values| (values.to_string(), values.get(), compile(&inart_p4::artifact(values).json)));
    let tofino = Variant::ALL.into_iter().filter_map(|variant| {
        let built = inart_p4::tofino_artifact(variant)?;
        Some((variant.to_string(), variant.values.get(), compile(&built.json)))
    });
    v1model.chain(tofino).collect()
}

fn pipeline(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pipeline");
    group.throughput(Throughput::Elements(WORKERS.into()));
    for (name, size, program) in programs() {
        let mut switch = first_hop_switch(program, WORKERS);
        let gradient = |worker: u16| {
            (0..size as i32).map(|n| n * 65_537 - i32::from(worker) * 9_999).collect::<Vec<_>>()
        };
        let gradients: Vec<Vec<i32>> = (0..WORKERS).map(gradient).collect();
        let sum =
            (0..size).flat_map(|n| gradients.iter().map(|gradient| gradient[n]).sum::<i32>().to_be_bytes());
        let mut sink = Checked { sum: sum.collect(), seen: 0 };
        let mut frames: Vec<Vec<u8>> = (0..WORKERS)
            .map(|worker| Gradient { worker, sequence: 0, values: &gradients[usize::from(worker)] }.bytes())
            .collect();
        let mut sequence = 0u32;
        group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
            bencher.iter(|| {
                for (worker, frame) in (0u16..).zip(&mut frames) {
                    frame[24..28].copy_from_slice(&sequence.to_be_bytes());
                    switch.process(port_of(worker), frame, 0, &mut sink);
                }
                sequence = sequence.wrapping_add(1);
            });
        });
        assert_eq!(sink.seen, u64::from(sequence), "every round gives one sum");
    }
    group.finish();
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
