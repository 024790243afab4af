"""One engine with the plugin for most tests; they use texts and salts of their own."""

import os
from collections.abc import Iterator

import pytest
from serving import Engine, running


@pytest.fixture(scope="session", autouse=True)
def model() -> None:
    pytest.importorskip("vllm")
    if "REGIONS_MODEL" not in os.environ:
        pytest.skip("unverified on a real vLLM: REGIONS_MODEL names no model's folder; see `make regions`")


@pytest.fixture(scope="module")
def engine(model: None) -> Iterator[Engine]:
    with running() as engine:
        yield engine
