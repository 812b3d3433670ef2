# make demo    see it work: two algorithms on the same slow and fast phones
# make torch   the program with deep models: target/release/gruppetto
# make test    every test
# make check   what CI runs: formatting, lints, documentation, every test; reports are opened
#              in a browser, and exports read by the tools they are for, where these can be had
# make bench   the speed figures of this machine
# make paper   the experiments of the FedNova paper that fit a processor, and some beyond it, as one
#              page: runs/paper/index.html (17 minutes on two cores, once it is built)
#
# Deep models need libtorch: scripts/libtorch finds it, or fetches it once (540 MB). Without them:
# make test TORCH=0, make check TORCH=0. `make demo` and `make bench` never need it.

CARGO ?= cargo
export CARGO_TERM_COLOR ?= auto
# Property tests draw the same cases every time; another number searches elsewhere.
export PROPTEST_RNG_SEED ?= 1

TORCH ?= 1
ifeq ($(TORCH),0)
LIBTORCH_CARGO = $(CARGO)
else
LIBTORCH_CARGO = scripts/libtorch $(CARGO)
FEATURES = --features torch
endif

.PHONY: demo torch test check bench paper clean

demo:
	$(CARGO) build --release --locked
	./target/release/gruppetto run scenarios/demo.toml --force

torch:
	scripts/libtorch $(CARGO) build --release --locked --features torch

test:
	$(LIBTORCH_CARGO) test --locked $(FEATURES)

check:
	$(CARGO) fmt --check
	$(CARGO) check --locked --quiet
	$(LIBTORCH_CARGO) clippy --locked --all-targets $(FEATURES) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(LIBTORCH_CARGO) doc --locked --no-deps --document-private-items $(FEATURES)
	$(LIBTORCH_CARGO) test --locked $(FEATURES)
	scripts/check-report target/debug/gruppetto
	scripts/check-readers target/debug/gruppetto

bench:
	$(CARGO) build --release --locked --quiet
	./target/release/gruppetto bench

paper: torch
	scripts/get-data fashion-mnist
	scripts/get-data cifar10
	python3 scripts/paper target/release/gruppetto

clean:
	$(CARGO) clean
