"""Tests in `live` start vLLM by the interpreter that runs them; all others need no server."""

from pathlib import Path

import pytest

LIVE = Path(__file__).parent / "live"
START_SECONDS = 400
"""A test may have to start an engine."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(LIVE):
            item.add_marker(pytest.mark.live)
            item.add_marker(pytest.mark.timeout(START_SECONDS))
