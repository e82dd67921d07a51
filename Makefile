# Everything runs in .venv at the root of the repository; the first call of any target sets it up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export HNSWLIB_NO_NATIVE = 1
SEED := $(shell date +%s)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# With LOCKED=1, as CI sets it, only what the locks in deploy/ name by hash is installed; but another index of torch's
# builds (PIP_EXTRA_INDEX_URL) has other hashes, and torch is then named by its version alone.
LOCKED ?=
BUILDERS := --no-deps --require-hashes -r deploy/build-requirements.lock
LOCK := $(PIP) install $(BUILDERS) && $(PIP) install --no-deps --no-build-isolation --require-hashes -r deploy/ci.lock
TORCH_LOCKED := $(if $(LOCKED),$(if $(PIP_EXTRA_INDEX_URL),,1))

.PHONY: demo serve test test-slow kills lint bench bench-engine docs models clean

demo: $(VENV)/demo.stamp  ## Run the main job: a proxy, an upstream, 66 prompts, a table.
	$(BIN)/python -m eval.demo $(ARGS)

serve: $(VENV)/base.stamp  ## Keep a proxy up: make serve ARGS="--upstream http://localhost:8000".
	$(BIN)/semcache serve $(ARGS)

# Two processes share the processors: threads that wait for one another must not keep them busy.
test test-slow: export OMP_WAIT_POLICY = PASSIVE

test: $(VENV)/test.stamp $(VENV)/torch.stamp  ## Run the fast tests, on two processes: make test ARGS="-k store".
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow" $(ARGS)

test-slow: $(VENV)/test.stamp $(VENV)/torch.stamp .venvs/litellm/stamp  ## Run the others, and what draws its examples with new ones: make test-slow SEED=7.
	KILLS_SEED=$(SEED) $(BIN)/python -m pytest -n 2 --dist loadfile -m "slow or hypothesis" --hypothesis-profile=new --hypothesis-seed=$(SEED) $(ARGS)

KILLS ?= 30
kills: $(VENV)/test.stamp  ## Kill a proxy under load so often, check its promises, and add to the counter: make kills KILLS=100 SEED=7.
	KILLS=$(KILLS) KILLS_SEED=$(SEED) KILLS_COUNTER=eval/results/kills.json $(BIN)/python -m pytest -q -p no:cacheprovider tests/stress/test_proxy_kill.py

lint: $(VENV)/lint.stamp  ## Format, lint, types, dependency direction, sizes and names.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m eval.structure --check

bench: $(VENV)/torch.stamp  ## Measure, against peers in environments of their own; needs wrk. Then stalls and leaks.
	$(BIN)/python -m eval.bench $(ARGS)
	$(if $(ARGS),,$(BIN)/python -m eval.stalls --page)
	$(if $(ARGS),,$(BIN)/python -m eval.timing --page)

bench-engine: $(VENV)/torch.stamp  ## Measure the local engine, beside transformers, OpenVINO GenAI and llama.cpp.
	$(BIN)/python -m eval.engine_bench $(ARGS)

models: $(VENV)/torch.stamp  ## Train the models that ship: make models ARGS="--data FOLDER --verifier-base FOLDER".
	$(BIN)/python -m semcache.train.recipe $(ARGS)

docs: $(VENV)/torch.stamp  ## Regenerate the generated parts of the documentation, and run its notebooks.
	$(BIN)/python -m eval.docs
	$(BIN)/python -m eval.notebooks

clean:  ## Remove everything that the targets made.
	rm -rf $(VENV) .venvs .demo .bench .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/base.stamp: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(if $(LOCKED),,$(PIP) install --upgrade pip)
	$(if $(LOCKED),$(LOCK) && $(PIP) install --no-deps --no-build-isolation --editable .,$(PIP) install --editable .)
	touch $@

$(VENV)/demo.stamp: $(VENV)/base.stamp
	$(if $(LOCKED),,$(PIP) install --group demo)
	touch $@

$(VENV)/test.stamp: $(VENV)/base.stamp
	$(if $(LOCKED),,$(PIP) install --group test)
	touch $@ $(VENV)/demo.stamp

# torch alone first: what depends on it must not choose another build.
$(VENV)/torch.stamp: $(VENV)/test.stamp
	$(PIP) install $(if $(TORCH_LOCKED),--no-deps --require-hashes -r deploy/torch.lock,torch==2.13.0)
	$(if $(LOCKED),,$(PIP) install --editable '.[train,engine]')
	touch $@

$(VENV)/lint.stamp: $(VENV)/test.stamp
	$(if $(LOCKED),,$(PIP) install --group lint)
	touch $@

LITELLM := .venvs/litellm/bin/python -m pip --disable-pip-version-check --quiet install
# LiteLLM pins other versions of shared packages, so it lives apart.
.venvs/litellm/stamp: pyproject.toml
	$(PYTHON) -m venv .venvs/litellm
	$(if $(LOCKED),$(LITELLM) $(BUILDERS),$(LITELLM) --upgrade pip)
	$(if $(LOCKED),$(LITELLM) --no-deps --require-hashes -r deploy/litellm.lock)
	$(LITELLM) $(if $(LOCKED),--no-deps --no-build-isolation --editable .,--editable '.[litellm]')
	touch $@
