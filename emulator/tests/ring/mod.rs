//! The ring by Gloo prints the events of sites, like `inart host`. A module in place of PyTorch has what its
//! program calls.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use inart_emulator::machine::crew::{Crew, LOOK};
use inart_report::Line;

/// One site sums its own values.
const TORCH: &str = "
class Tensor:
    def __init__(self, value): self.value = value
    def __mul__(self, by): return Tensor(self.value * by)
    def __sub__(self, by): return Tensor(self.value - by)
    def __radd__(self, other): return self
    def double(self): return self
    def numpy(self): return self
    def tobytes(self): return b'abc'

class Generator:
    def manual_seed(self, seed): return self

def rand(values, generator): return Tensor(0.5)
def allclose(a, b, atol): return a.value == b.value
";
const DISTRIBUTED: &str = "
def init_process_group(backend, init_method, rank, world_size): pass
def barrier(): pass
def all_reduce(tensor): pass
";

#[test]
fn the_ring_prints_rounds_and_its_end() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ring-by-gloo");
    std::fs::create_dir_all(folder.join("torch")).unwrap();
    std::fs::write(folder.join("torch/__init__.py"), TORCH).unwrap();
    std::fs::write(folder.join("torch/distributed.py"), DISTRIBUTED).unwrap();
    let mut command = Command::new("python3");
    command.arg(Path::new(env!("INART_ROOT")).join("emulator/src/sites/gloo_ring.py"));
    command.args(["0", "1", "127.0.0.1", "4", "2", "7"]).env("PYTHONPATH", &folder);

    let (mut crew, mut rounds) = (Crew::new(), Vec::new());
    crew.start((), "n1", command).expect("python3 starts");
    crew.until(Duration::from_secs(60), "the end of the ring", &mut |crew| {
        let mut is_over = false;
        crew.listen(LOOK, &mut |printed| {
            match printed.line {
                Line::Round(round) => rounds.push(round),
                Line::SiteEnded(_) => is_over = true,
                line => return Err(printed.place.unexpected(&line)),
            }
            Ok(())
        })?;
        Ok(is_over)
    })
    .expect("two rounds");
    assert_eq!(rounds.iter().map(|round| round.round).collect::<Vec<_>>(), [1, 2]);
    // printf abc | sha256sum
    let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert!(rounds.iter().all(|round| round.sum == sum && round.ended_ns >= round.began_ns), "{rounds:?}");
}
