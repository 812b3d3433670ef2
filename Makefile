# make demo    see it work: two algorithms on the same slow and fast phones
# make torch   the program with deep models: target/release/gruppetto
# make mpi     the program for the ranks of an MPI job: target/release/gruppetto; `make mpi TORCH=1` has deep models
#              too. It needs Open MPI and libclang, and says which packages are missing
# make test    every test whose tools are here; it says which are left out
# make check   what CI runs: formatting, lints, documentation, every test; reports are opened in a
#              browser, and exports are read by the tools they are for. Fails if a tool is missing:
#              .ci/setup installs them
# make torture long tests: 2,000 random scenarios against the oracle of tests/oracle; 1,000 of the whole language
#              on 1, 2 and 7 threads, each twice, to the byte; 300 runs that are killed and go on; 20,000
#              broken scenarios and 20,000 broken files; every shipped scenario from Python, and all notebooks;
#              runs on 1, 2 and 4 ranks of an MPI job, of which each is killed; the job scripts of docs/cluster.md on a
#              Slurm of this machine; about 35 minutes on two cores, and some more for Slurm. SEED=9 for others
# make torture SLURM=0   without that Slurm (which needs root, and Debian's slurm-wlm and munge)
# make fuzz    coverage-guided fuzzing of everything that reads files, with cargo-fuzz, which is installed if it
#              is missing (and needs a C++ compiler); SECONDS=60 for each of the 14 targets in fuzz/
# make wheel   the Python package as a wheel, in target/wheels
# make python  installs it into .venv and runs its tests
# make bench   the speed figures of this machine
# make paper   the experiments of the FedNova paper that fit a processor, and some beyond it, as one
#              page: runs/paper/index.html (17 minutes on two cores, once it is built)
#
# What needs a tool can be left out of `make test` and `make check`, as in `make check BROWSER=0`:
#   TORCH=0      deep models (a C++ compiler, pip; scripts/libtorch finds libtorch, or fetches it
#                once: 540 MB). `make demo` and `make bench` never need it
#   PYTORCH=0    PyTorch reads models, exports one and replays a run (a Python with torch), and trains its own
#                models in the Python package (4 GB from PyPI, for `make check` alone); part of TORCH
#   TERMINAL=0   `gruppetto watch` in a real terminal (tmux)
#   MOUNT=0      disks that run full (Linux: root or user namespaces)
#   STRACE=0     power cuts at every instant of a run (Linux: strace); `make check` alone
#   PYTHON=0     the Python package (maturin, pytest and others, in .venv); `make check` alone
#   BROWSER=0    reports in a browser (Chromium, Playwright); `make check` alone
#   READERS=0    exports read by TensorBoard, Arrow and HdrHistogram; `make check` alone
#   MPI=0        training on the ranks of an MPI job (Open MPI, libclang)

CARGO ?= cargo
export CARGO_TERM_COLOR ?= auto
# Property tests draw the same cases every time; another number searches elsewhere.
export PROPTEST_RNG_SEED ?= 1

TORCH ?= 1
MPI ?= 1
WORKSPACE = --workspace
ifeq ($(TORCH),0)
LIBTORCH_CARGO = $(CARGO)
WORKSPACE += --exclude gruppetto-torch
else
LIBTORCH_CARGO = scripts/libtorch $(CARGO)
FEATURES += --features torch
endif
ifeq ($(MPI),0)
WORKSPACE += --exclude gruppetto-mpi
else
MPI_FEATURE = --features mpi
FEATURES += $(MPI_FEATURE)
endif

# Where `make torture` begins.
SEED ?= 1
# The Python that has PyTorch, for the tests of the package.
TORCH_PYTHON = $(shell scripts/check-tools where python-torch)/bin/python
# How long `make fuzz` searches, for each target.
SECONDS ?= 60
# What a reader may take for one file: seconds, and megabytes.
FUZZ_LIMITS = -timeout=10 -rss_limit_mb=2048 -max_len=65536

.PHONY: demo torch mpi test cargo-test check torture fuzz bench paper clean wheel python python-torture

demo:
	$(CARGO) build --release --locked
	./target/release/gruppetto run scenarios/demo.toml --force

torch:
	scripts/libtorch $(CARGO) build --release --locked --features torch

mpi:
	@scripts/check-tools MPI
ifeq ($(TORCH)$(filter file,$(origin TORCH)),1)
	scripts/libtorch $(CARGO) build --release --locked --features mpi,torch
else
	$(CARGO) build --release --locked --features mpi
endif

# With what is left out told before and, as much is printed in between, after.
test:
	@left_out=$$(scripts/check-tools test) && \
		$(MAKE) --no-print-directory cargo-test $$left_out && \
		scripts/check-tools test >/dev/null

cargo-test:
	$(LIBTORCH_CARGO) test --locked $(WORKSPACE) $(FEATURES)

check:
	@scripts/check-tools
	scripts/python-reference --check
	$(CARGO) fmt --all --check
	$(CARGO) check --locked --quiet --no-default-features
	$(CARGO) check --locked --quiet
	$(LIBTORCH_CARGO) clippy --locked $(WORKSPACE) --all-targets $(FEATURES) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(LIBTORCH_CARGO) doc --locked $(WORKSPACE) --no-deps --document-private-items $(FEATURES)
	$(LIBTORCH_CARGO) test --locked $(WORKSPACE) $(FEATURES)
	python3 tests/slurm/check.py --page
	python3 tests/oracle/check.py target/debug/gruppetto --self-test
	python3 tests/oracle/check.py target/debug/gruppetto --softmax
	python3 tests/oracle/check.py target/debug/gruppetto --count 100
ifneq ($(TORCH),0)
ifneq ($(PYTORCH),0)
	$$(scripts/check-tools where pytorch) tests/oracle/check.py target/debug/gruppetto --torch
endif
endif
ifneq ($(STRACE),0)
	python3 tests/power_cut/check.py target/debug/gruppetto
endif
ifneq ($(MPI),0)
	python3 tests/mpi/check.py target/debug/gruppetto
endif
ifneq ($(PYTHON),0)
	$(MAKE) --no-print-directory python
endif
ifneq ($(BROWSER),0)
	scripts/check-report target/debug/gruppetto
endif
ifneq ($(READERS),0)
	scripts/check-readers target/debug/gruppetto
endif

torture:
	$(CARGO) build --release --locked --quiet $(MPI_FEATURE)
ifneq ($(MPI),0)
	python3 tests/mpi/check.py target/release/gruppetto --long --seed $(SEED)
endif
	python3 tests/oracle/check.py target/release/gruppetto --count 2000 --from $$(($(SEED) * 10000))
	scripts/same-results threads target/release/gruppetto --seed $(SEED) --count 1000 --twice
	python3 tests/torture/kills.py target/release/gruppetto --seed $(SEED)
	python3 tests/torture/scenarios.py target/release/gruppetto --seed $(SEED)
	python3 tests/torture/files.py target/release/gruppetto --seed $(SEED)
ifneq ($(SLURM),0)
	python3 tests/slurm/check.py target/release/gruppetto $(if $(filter 0,$(MPI)),--without-mpi)
endif
ifneq ($(PYTHON),0)
	$(MAKE) --no-print-directory python-torture
endif

# Every shipped scenario from Python, and all notebooks.
python-torture: python
	.venv/bin/python -m pytest --quiet -p no:cacheprovider python/tests/test_run.py --all
	scripts/get-data fashion-mnist
	.venv/bin/python -m pip --python $(TORCH_PYTHON) install --quiet --disable-pip-version-check -r python/examples/requirements.txt
	$(TORCH_PYTHON) scripts/check-notebooks --here 0

# cargo-fuzz asks for flags of an unstable compiler; the stable one has them too.
fuzz: export RUSTC_BOOTSTRAP = 1
fuzz:
	@$(CARGO) fuzz --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-fuzz
	$(CARGO) build --release --locked --quiet
	python3 tests/torture/seeds.py target/release/gruppetto fuzz/corpus
	$(CARGO) fuzz build -s none
	@failed=; for target in $$($(CARGO) fuzz list); do \
		echo "fuzzing $$target for $(SECONDS) s"; \
		$(CARGO) fuzz run -s none $$target -- -max_total_time=$(SECONDS) $(FUZZ_LIMITS) -verbosity=0 \
			-print_final_stats=1 || failed="$$failed $$target"; \
	done; \
	test -z "$$failed" || { echo "inputs that failed are in fuzz/artifacts:$$failed"; exit 1; }

# What the package is built and tested with.
.venv/bin/maturin: python/tests/requirements.txt
	python3 -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r python/tests/requirements.txt
	touch $@

wheel: .venv/bin/maturin
	rm -f target/wheels/gruppetto-*.whl
	.venv/bin/maturin build --release --locked --quiet --out target/wheels

python: wheel
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps target/wheels/gruppetto-*.whl
	.venv/bin/python -m pytest --quiet -p no:cacheprovider --ignore python/tests/with_torch python/tests
	.venv/bin/python -m pytest --quiet -p no:cacheprovider --doctest-modules --pyargs gruppetto --ignore-glob '*/gruppetto/*torch*'
	scripts/check-notebooks --fresh target/wheels/gruppetto-*.whl 01 02
ifneq ($(TORCH),0)
ifneq ($(PYTORCH),0)
	@test -x $(TORCH_PYTHON) || { echo "error: there is no $(TORCH_PYTHON): .ci/setup installs PyTorch there; PYTORCH=0 does without" >&2; exit 1; }
	.venv/bin/python -m pip --python $(TORCH_PYTHON) install --quiet --disable-pip-version-check --force-reinstall --no-deps target/wheels/gruppetto-*.whl
	$(TORCH_PYTHON) -m pytest --quiet -p no:cacheprovider python/tests/with_torch
endif
endif

bench:
	$(CARGO) build --release --locked --quiet
	./target/release/gruppetto bench
	@echo "of the Python package: $(TORCH_PYTHON) python/benches/bench.py"

paper: torch
	scripts/get-data fashion-mnist
	scripts/get-data cifar10
	python3 scripts/paper target/release/gruppetto

clean:
	$(CARGO) clean
