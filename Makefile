# make demo       install, load the example news, answer a few queries, serve the page, and enrich beside it
#                 (SERVE=no: do not serve, ENRICH=no: do not enrich, MEANING=no: rank by words alone and at once,
#                 ELASTICSEARCH=yes: with Docker instead)
# make quick      the tests of single parts: no node, no browser, no large corpus
# make test       install, check, and run all tests that need no Elasticsearch
#                 (ALL=yes: with those of make elasticsearch and make endurance, at once)
# make elasticsearch  the tests that need a node: both engines give the same answers, also on other servers
# make endurance  crashes, chaos, full disks, fuzzing by the thousand, foreign collections
# make simulation random histories of an index with crashes and full disks (SEED=1 HISTORIES=1000); then with planted faults
# make mutation PATHS="esr/plans esr/query"  how much the tests notice: changes the code at random (SINCE=commit: its lines)
# make fuzz       changes inputs by coverage until an answer fails (TARGETS="query pdf", SECONDS=60 for each, SEED=1)
# make advisories compares the packages that the image pins with the advisories of PyPI
# make coverage   make test under measurement: which lines and branches run, by folder
# make servers    all of what is tested on Elasticsearch 8.19 and OpenSearch 2.19 and 3
# make check      ruff, mypy, codespell and bandit
# make translations  brings the catalogues of the page in line with its messages, and says what is missing
# make docs       the site of the documentation, in build/docs; warnings and dead links are errors
# make links      the same, and dead links to other hosts
# make hooks      let git check each commit before it is made
# make containers build the image, and start, load, kill and search one node and three with Docker
# make lock       pins what the image installs by hash, anew (EXTRAS=enrich,formats: of these extras)
# make release    check and build the release VERSION=x.y.z, and try it in empty environments
# make image      the image for x86-64 and ARM, with SBOM and provenance (VERSION=x.y.z, IMAGE=name, PUSH=yes)
# make publish, make announce  what the workflow of a release does with dist: to PyPI with attestations; to GitHub
# make clean      remove what these made
#
# A second run skips what is done.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := .demo
PORT ?= 8080
SERVE ?= yes
ENRICH ?= yes
# The table of vectors, by which the first answers rank: it takes a minute.
MEANING ?= $(or $(ESR_MEANING),yes)
ELASTICSEARCH ?= no

# The tests start hundreds of processes. They need not compile each module again, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo quick test elasticsearch endurance simulation fuzz fuzz-targets mutation coverage servers check advisories references translations docs links containers hooks kernel compiled release image image-digest lock publish \
	announce system clean
.DELETE_ON_ERROR:

# The pip of Python 3.11 takes three times the processor time of a newer one. Python compiles the modules that are imported.
PIP_INSTALL := $(BIN)/pip install --quiet --no-compile --disable-pip-version-check
$(BIN)/python:
	$(PYTHON) -m venv --upgrade-deps $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) --editable '.[dev]'
	@touch $@ $(VENV)/installed $(VENV)/installed-docs

$(VENV)/installed-docs: pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) --editable '.[docs]'
	@touch $@ $(VENV)/installed

$(DEMO)/news.jsonl: | $(VENV)/installed
	@mkdir -p $(DEMO)
	$(BIN)/python -m esr.loaders.example_news $@

$(DEMO)/loaded: $(DEMO)/news.jsonl | $(VENV)/installed
	@$(BIN)/python -m tools.demo --newest $< > $(DEMO)/newest.jsonl
ifeq ($(MEANING),no)
	$(BIN)/esr load $(DEMO)/newest.jsonl --index $(DEMO)/index --if-exists replace --no-meaning
else
	@$(PIP_INSTALL) --editable '.[meaning]' || echo "== words alone rank"
	$(BIN)/esr load $(DEMO)/newest.jsonl --index $(DEMO)/index --if-exists replace --meaning || { \
		echo "== no vectors, so words alone rank: see above, and docs/encoders.md"; \
		$(BIN)/esr load $(DEMO)/newest.jsonl --index $(DEMO)/index --if-exists replace --no-meaning; }
endif
	@touch $@

# PORT if it is free, else any free one.
define FREE_PORT
import socket, sys
for port in (int(sys.argv[1]), 0):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        print(probe.getsockname()[1])
        break
endef
export FREE_PORT

ifeq ($(ELASTICSEARCH),yes)
demo:
	@$(PYTHON) -m tools.demo --docker $(if $(filter no,$(ENRICH)),--no-enrich)
else
demo: $(DEMO)/loaded
	@head -n 3 examples/topics.tsv | cut -f 2 | while read -r query; do \
		echo; echo "=== $$query"; $(BIN)/esr search "$$query" --index $(DEMO)/index -k 3 || exit 1; \
	done
ifneq ($(SERVE),no)
	@echo
	@port=$$($(BIN)/python -c "$$FREE_PORT" $(PORT)) && echo "Stop the page with Ctrl-C." && \
		exec $(BIN)/python -m tools.demo $(DEMO)/index --port $$port $(if $(filter no,$(ENRICH)),--no-enrich)
endif
endif

check: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m codespell_lib
	@$(BIN)/bandit -q -r -c pyproject.toml esr webui clients tools 2> $(VENV)/bandit || { cat $(VENV)/bandit; exit 1; }

# Each through another file: the generators import what the last one writes.
REFERENCES := commands:docs/reference.md api:docs/api.md python_api:docs/python-reference.md \
	assistants:docs/mcp-tools.md
references: $(VENV)/installed-dev
	@for pair in keywords:esr/library/keywords.py $(REFERENCES); do \
		$(BIN)/python -m tools.references.$${pair%%:*} > $(VENV)/reference && cp $(VENV)/reference $${pair#*:} || exit 1; \
	done

translations: $(VENV)/installed-dev
	$(BIN)/python -m tools.translations update
	$(BIN)/python -m tools.translations check

# Anew each time: an older build would hide what is gone.
docs: $(VENV)/installed-docs
	@rm -rf build/docs
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env -c docs -d build/doctrees . build/docs
	@echo "open build/docs/index.html"

links: docs
	$(BIN)/python -m sphinx --quiet -b linkcheck -c docs -d build/doctrees . build/links

# Compiles what searches a folder, once: each process of the tests would do so for itself. Likewise the tests.
kernel: $(VENV)/installed-dev system
	$(BIN)/python -c "from esr.folder.search.kernel_loader import LOADER; LOADER.load()"

compiled: kernel
	@found=$$($(BIN)/pytest -q --collect-only) || { echo "$$found" | tail -n 40; exit 1; }

quick: kernel
	$(BIN)/pytest -q -n 2 --dist worksteal \
		-m "not elasticsearch and not browser and not slow and not endurance" --hypothesis-profile quick

# A third of the generated examples; `make test LONG=yes` has all.
# Four processes on two processors: half of the time, each of them waits for a node, the browser or another process.
# tests/conftest.py orders the files: some that take minutes have one test.
TESTS := $(BIN)/pytest -q -n 4 --dist loadfile --no-loadscope-reorder
# All at once take less time: each process collects the tests once, and some compute while others wait for a node.
ALL ?= no
test: $(VENV)/installed-dev system
	@$(MAKE) --no-print-directory --jobs 2 check compiled
	ESR_TEST_LONG=$(LONG) $(TESTS) $(if $(filter yes,$(ALL)),,-m "not elasticsearch and not endurance")

# SEED repeats a sample. A folder ends after MINUTES. LEAST per cent have to be killed. SLOW=yes also runs slow tests.
MINUTES ?= 30
SAMPLE ?= 150
mutation: kernel
	$(BIN)/python -m tools.mutation $(PATHS) $(if $(SINCE),--since $(SINCE)) $(if $(filter command environment,$(origin SEED)),--seed $(SEED)) \
		--minutes $(MINUTES) --sample $(SAMPLE) $(if $(LEAST),--least $(LEAST)) $(if $(SLOW),--slow)

# Also the processes that the tests start. With a node (ESR_TEST_ELASTICSEARCH), also the tests that need it.
COVERED := $(BIN)/coverage run -m pytest -q -n 4 --dist loadfile --no-loadscope-reorder
coverage: compiled
	@rm -rf build/coverage && mkdir -p build/coverage
	ESR_TEST_LONG=$(LONG) $(COVERED) -m "$(if $(ESR_TEST_ELASTICSEARCH),,not elasticsearch and )not endurance"
	$(BIN)/coverage combine --quiet build/coverage
	$(BIN)/coverage json --quiet -o build/coverage.json
	$(BIN)/python -m tools.coverage_folders build/coverage.json --missing

# Three shards; `make elasticsearch LONG=yes` has one shard too.
elasticsearch: $(VENV)/installed-dev system
	ESR_TEST_LONG=$(LONG) $(TESTS) -m "elasticsearch and not endurance"

# A twentieth of what is repeated at random; `make endurance LONG=yes` repeats all.
endurance: $(VENV)/installed-dev system
	ESR_TEST_LONG=$(LONG) $(TESTS) -m endurance \
		$$(grep -rl --include='test_*.py' 'mark\.endurance' tests)

# A failing history is shrunk, and printed with the command that replays it.
SEED ?= 1
HISTORIES ?= 1000
simulation: $(VENV)/installed-dev
	$(BIN)/python -m tests.simulation --seed $(SEED) --histories $(HISTORIES) --processes 2
	$(BIN)/python -m tests.simulation --alerts --seed $(SEED) --histories $(HISTORIES) --processes 2
	$(BIN)/python -m tests.simulation --planted --histories 1000 --processes 2

# An input that fails is in build/fuzz/TARGET, with its traceback in what is printed.
SECONDS ?= 60
fuzz: kernel
	@$(BIN)/python -c "import atheris" 2>/dev/null || $(PIP_INSTALL) --group fuzz
	@targets="$(or $(TARGETS),$$($(BIN)/python -m tests.fuzz))" || exit 1; for target in $$targets; do \
		echo "== $$target"; $(BIN)/python -m tests.fuzz $$target --seconds $(SECONDS) --seed $(SEED) || exit 1; \
	done

# For the matrix of .github/workflows/nightly.yml.
fuzz-targets: $(VENV)/installed-dev
	@$(BIN)/python -c "import json; from tests.fuzz.targets import TARGETS; print('targets=' + json.dumps([*TARGETS]))"

advisories: | $(BIN)/python
	$(PIP_INSTALL) --group advisories
	@for lock in deploy/image/*.txt; do \
		$(BIN)/python -m pip_audit --disable-pip --require-hashes --strict --requirement "$$lock" || exit 1; \
	done

servers: $(VENV)/installed-dev
	ESR_TEST_LONG=yes $(BIN)/pytest -q -m elasticsearch tests/index/test_servers.py

containers:
	$(PYTHON) -m tools.containers

hooks: $(VENV)/installed-dev
	$(BIN)/pre-commit install

release: $(VENV)/installed-dev
	$(BIN)/python -m tools.release $(VERSION)

# What .github/workflows/release.yml runs after `make release`, once each.
IMAGE ?= esr
PUSH ?= no
PLATFORMS := linux/amd64,linux/arm64
image:
	@mkdir -p build
	docker buildx build --platform $(PLATFORMS) --sbom=true --provenance=mode=max --metadata-file build/image.json \
		--tag $(IMAGE):$(VERSION) --output type=$(if $(filter yes,$(PUSH)),registry,oci,dest=build/image.tar) .

# Of the newest versions that fit; what this machine has of its own (find-links) is left out.
LOCK := $(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links
comma := ,
lock: export PIP_FIND_LINKS :=
lock: $(VENV)/installed-dev
	$(LOCK) $(patsubst %,--extra=%,$(subst $(comma), ,$(EXTRAS))) \
		--output-file deploy/image/requirements$(if $(EXTRAS),-$(EXTRAS)).txt pyproject.toml
	$(LOCK) --only-build-deps --all-build-deps --output-file deploy/image/build.txt pyproject.toml

image-digest:
	@$(PYTHON) -c 'import json; print("digest=" + json.load(open("build/image.json"))["containerimage.digest"])'

DISTRIBUTIONS = dist/esr-$(VERSION).tar.gz dist/esr-$(VERSION)-py3-none-any.whl
publish: | $(BIN)/python
	$(PIP_INSTALL) --group publish
	$(BIN)/python -m pypi_attestations sign $(DISTRIBUTIONS)
	$(BIN)/python -m twine upload --non-interactive --attestations \
		$(DISTRIBUTIONS) $(DISTRIBUTIONS:=.publish.attestation)

announce:
	gh release create v$(VERSION) --verify-tag --title "esr $(VERSION)" --notes-file dist/esr-$(VERSION)-notes.md \
		$(DISTRIBUTIONS) dist/esr-$(VERSION).cdx.json dist/esr-$(VERSION)-licences.txt

# What the tests want of a Debian, by file: a browser, PostgreSQL, ps, and what LightGBM and the driver of the browser load.
WANTED := /usr/bin/chromium-headless-shell=chromium-headless-shell,fonts-liberation /usr/bin/ps=procps \
	/usr/lib/postgresql/*/bin/initdb=postgresql /usr/lib/*/libgomp.so.1=libgomp1 /usr/lib/*/libatomic.so.1=libatomic1
system:
	@! command -v apt-get >/dev/null || [ "$$(id -u)" != 0 ] || { \
		missing=$$(for each in $(WANTED); do ls $${each%=*} >/dev/null 2>&1 || echo $${each#*=} | tr , ' '; done); \
		[ -z "$$missing" ] || { apt-get update -qq && apt-get install -qq -y --no-install-recommends $$missing; }; }

clean:
	rm -rf $(VENV) $(DEMO) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
