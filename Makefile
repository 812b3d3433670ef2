# make demo    see it work: two algorithms on the same slow and fast phones
# make torch   the program with deep models: target/release/gruppetto
# make test    every test whose tools are here; it says which are left out
# make check   what CI runs: formatting, lints, documentation, every test; reports are opened in a
#              browser, and exports are read by the tools they are for. Fails if a tool is missing:
#              .ci/setup installs them
# make torture long tests: 2,000 random scenarios against the oracle of tests/oracle, random scenarios of the
#              whole language on 1, 2 and 7 threads, and 300 runs that are killed and go on; 5 minutes on two
#              cores. SEED=9 for others
# make bench   the speed figures of this machine
# make paper   the experiments of the FedNova paper that fit a processor, and some beyond it, as one
#              page: runs/paper/index.html (17 minutes on two cores, once it is built)
#
# What needs a tool can be left out of `make test` and `make check`, as in `make check BROWSER=0`:
#   TORCH=0      deep models (a C++ compiler, pip; scripts/libtorch finds libtorch, or fetches it
#                once: 540 MB). `make demo` and `make bench` never need it
#   PYTORCH=0    PyTorch reads models, exports one and replays a run (a Python with torch); part of TORCH
#   TERMINAL=0   `gruppetto watch` in a real terminal (tmux)
#   MOUNT=0      disks that run full (Linux: root or user namespaces)
#   BROWSER=0    reports in a browser (Chromium, Playwright); `make check` alone
#   READERS=0    exports read by TensorBoard, Arrow and HdrHistogram; `make check` alone

CARGO ?= cargo
export CARGO_TERM_COLOR ?= auto
# Property tests draw the same cases every time; another number searches elsewhere.
export PROPTEST_RNG_SEED ?= 1

TORCH ?= 1
ifeq ($(TORCH),0)
LIBTORCH_CARGO = $(CARGO)
WORKSPACE = --workspace --exclude gruppetto-torch
else
LIBTORCH_CARGO = scripts/libtorch $(CARGO)
FEATURES = --features torch
WORKSPACE = --workspace
endif

# Where `make torture` begins.
SEED ?= 1

.PHONY: demo torch test cargo-test check torture bench paper clean

demo:
	$(CARGO) build --release --locked
	./target/release/gruppetto run scenarios/demo.toml --force

torch:
	scripts/libtorch $(CARGO) build --release --locked --features torch

# With what is left out told before and, as much is printed in between, after.
test:
	@left_out=$$(scripts/check-tools test) && \
		$(MAKE) --no-print-directory cargo-test $$left_out && \
		scripts/check-tools test >/dev/null

cargo-test:
	$(LIBTORCH_CARGO) test --locked $(WORKSPACE) $(FEATURES)

check:
	@scripts/check-tools
	$(CARGO) fmt --all --check
	$(CARGO) check --locked --quiet --no-default-features
	$(CARGO) check --locked --quiet
	$(LIBTORCH_CARGO) clippy --locked $(WORKSPACE) --all-targets $(FEATURES) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(LIBTORCH_CARGO) doc --locked $(WORKSPACE) --no-deps --document-private-items $(FEATURES)
	$(LIBTORCH_CARGO) test --locked $(WORKSPACE) $(FEATURES)
	python3 tests/oracle/check.py target/debug/gruppetto --self-test
	python3 tests/oracle/check.py target/debug/gruppetto --softmax
	python3 tests/oracle/check.py target/debug/gruppetto --count 100
ifneq ($(TORCH),0)
ifneq ($(PYTORCH),0)
	$$(scripts/check-tools where pytorch) tests/oracle/check.py target/debug/gruppetto --torch
endif
endif
ifneq ($(BROWSER),0)
	scripts/check-report target/debug/gruppetto
endif
ifneq ($(READERS),0)
	scripts/check-readers target/debug/gruppetto
endif

torture:
	$(CARGO) build --release --locked --quiet
	python3 tests/oracle/check.py target/release/gruppetto --count 2000 --from $$(($(SEED) * 10000))
	scripts/same-results threads target/release/gruppetto --seed $(SEED)
	python3 tests/torture/kills.py target/release/gruppetto --seed $(SEED)

bench:
	$(CARGO) build --release --locked --quiet
	./target/release/gruppetto bench

paper: torch
	scripts/get-data fashion-mnist
	scripts/get-data cifar10
	python3 scripts/paper target/release/gruppetto

clean:
	$(CARGO) clean
