# Two commands matter: `make demo` and `make test`. Both install what is missing (apt: see tests/scripts/install-deps.sh).
.PHONY: help demo demo-geo demo-live demo-multicast demo-order demo-torch test test-times soak soak-tests fuzz fuzz-smoke lint bench experiments measure deps build p4 clean

CARGO ?= cargo

# rust-toolchain.toml names a release. Where rustup has it only as "stable", that is as good.
PIN := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
ifeq (,$(shell rustup toolchain list 2>/dev/null | grep '^$(PIN)'))
ifeq (rustc $(PIN),$(wordlist 1,2,$(shell rustc +stable --version 2>/dev/null)))
export RUSTUP_TOOLCHAIN := stable
endif
endif

help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

deps:
	@tests/scripts/install-deps.sh

# One build of third-party crates for the demo, the tests and the fuzz targets: cargo chooses features by what is built together, so
# each of these builds is of the whole workspace. The example stands for the tests, whose dependencies it adds.
ONCE = --workspace --locked --example digits

build: deps ## Build the inart command (target/release/inart)
	$(CARGO) build --release --locked -p inart-cli

demo: deps ## Train a model on the paper's Fig. 1 network, every sum checked
	$(CARGO) build $(ONCE) --bin inart
	target/debug/inart emulate topologies/fig1.yaml --chart out/fig1.svg

demo-live: deps ## Two jobs train while other traffic comes, a switch dies and a worker is killed; the controller replans
	$(CARGO) build $(ONCE) --bin inart
	target/debug/inart emulate topologies/live.yaml --jobs 2 --schemes optimized --follow --faults topologies/live-schedule.yaml \
		--scale 1/400 --rounds 110 --peer-timeout 5s --timeline out/live-timeline.svg

demo-geo: deps ## Nine data centres train a model over links of 30 ms: NETSTORM's schemes and ours (two minutes after the build)
	$(CARGO) build $(ONCE) --bin inart
	target/debug/inart emulate topologies/geo9.yaml --knowledge static --duration 7s --chart out/geo9.svg

demo-multicast: deps ## Sixteen peers train without a server over unequal ports: ours, SELMCAST, Orpheus; copies by hosts, and by the switch (two minutes after the build)
	$(CARGO) build $(ONCE) --bin inart
	target/debug/inart emulate topologies/mesh16.yaml --multicast hosts,switch --rounds 8 --chart out/mesh16.svg

demo-order: deps ## Sixteen workers train at a parameter server: all together, by themselves, in turn (two minutes after the build)
	$(CARGO) build $(ONCE) --bin inart
	target/debug/inart emulate topologies/ps16.yaml --sync bsp,asp,r2sp --scale 1/300 --iterations 30 --chart out/ps16.svg

demo-torch: deps ## Train with PyTorch: gradients summed in the switch, and by Gloo on the same links
	@tests/scripts/torch-venv.sh
	$(CARGO) build $(ONCE) --bin inart
	@tests/scripts/demo_torch.py target/debug/inart target/torch/bin/python3

# The code behind the feature xdp, and the packages that test it.
XDP = --features inart-host-agent/xdp,inart-ethernet/xdp

test: deps ## Run all tests, side by side (tests/scripts/test.py)
	@tests/scripts/test.py
	@if tests/scripts/has-xdp.sh; then tests/scripts/test.py $(XDP) --program ethernet-root --program host-agent-root xdp:: each_port::; fi
	@$(MAKE) --no-print-directory fuzz-smoke
	@tests/scripts/say-skips.sh

test-times: deps ## Run all tests and write their times to docs/evidence/test-times.md
	@tests/scripts/test.py --times docs/evidence/test-times.md

SEEDS ?= 10000
FIRST ?= 1
SITES ?= 1000

soak: soak-tests build ## Run the long tests, then SEEDS random networks and SITES runs of nine sites in virtual time, from seed FIRST on
	target/release/inart simulate --trials $(SEEDS) --first-seed $(FIRST)
	target/release/inart simulate topologies/geo9.yaml --trials $(SITES) --seed $(FIRST) --rounds 5

soak-tests: deps ## Run the tests that are ignored by default: more seeds, larger explorations, longer studies
	@tests/scripts/test.py --soak

RUNS ?= 10000000
fuzz: deps ## Run every fuzz target RUNS times (10,000,000), or those of TARGETS="frame plan"
	@tests/scripts/fuzz.sh -runs=$(RUNS) $(TARGETS)

fuzz-smoke: deps
	@tests/scripts/fuzz.sh -runs=20000

lint: deps ## Formatting, clippy and rustdoc without warnings, no long lines; wire and core without std
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) clippy --workspace --locked $(XDP) --test ethernet-root --test host-agent-root -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items --locked
	@tests/scripts/long-lines.sh
	@tests/scripts/no-std.sh

bench: deps ## Run the benchmarks (see docs/evidence/benchmarks.md)
	$(CARGO) bench --locked -p inart-switch
	$(CARGO) build --release --locked -p inart-cli
	$(CARGO) run --release --locked -p inart-benches
	$(CARGO) run --release --locked -p inart-benches --bin planner

experiments: build ## Plan or simulate the papers' experiments again: experiments/results/, then summaries in docs/evidence/
	target/release/inart experiment all --out experiments/results
	INART_WRITE=1 $(CARGO) test --locked --workspace --test experiments evidence

measure: build ## Emulate the InArt paper's Figs. 7-10, 13, 14 and measure (root, 40 minutes; resumes where it stopped)
	target/release/inart experiment all --measure --out experiments/results
	INART_WRITE=1 $(CARGO) test --locked --workspace --test experiments evidence

clean: ## Remove everything that was built
	$(CARGO) clean
	rm -rf out
