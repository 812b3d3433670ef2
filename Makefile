# make demo    see it work: two algorithms on the same slow and fast phones
# make test    every test
# make check   what CI runs: formatting, lints, documentation, every test
# make bench   the speed figures of this machine

CARGO ?= cargo
export CARGO_TERM_COLOR ?= auto
# Property tests draw the same cases every time; another number searches elsewhere.
export PROPTEST_RNG_SEED ?= 1

.PHONY: demo test check bench clean

demo:
	$(CARGO) build --release --locked
	./target/release/gruppetto run scenarios/demo.toml --force

test:
	$(CARGO) test --locked

check:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps --document-private-items
	$(CARGO) test --locked

bench:
	$(CARGO) build --release --locked --quiet
	./target/release/gruppetto bench

clean:
	$(CARGO) clean
