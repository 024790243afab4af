"""A pytest plugin: one test item per check of `cctest probe`.

    pytest --cctest-config target.yaml

pytest loads this module in every run. Without one of the options it does nothing; what it needs to do more
is in `cctest.pytest_items`, which is loaded only then.
"""

from typing import Final

import pytest

_OPTIONS: Final = (
    ("--cctest-target", "URL", "probe this server; wins over the target file"),
    ("--cctest-config", "FILE", "the target file (YAML or JSON) of `cctest probe`"),
    ("--cctest-model", "NAME", "the model to ask for; wins over the target file"),
    ("--cctest-engine", "URL", "the instrumented engine behind the target"),
)
_FILTERS: Final = (
    ("--cctest-case", "NAME", "only this case (or glob)"),
    ("--cctest-rule", "ID", "only what exercises this rule (or glob)"),
    ("--cctest-group", "NAME", "only cases of this group (or glob)"),
    ("--cctest-exclude", "NAME", "not this case or check (or glob)"),
)
_FLAGS: Final = (
    ("--cctest-full", "run every combination of a case's axes, not every pair of values"),
    (
        "--cctest-allow-inconclusive",
        "let an inconclusive check be an expected failure instead of a failed one",
    ),
)
_WORKER: Final = "cctest.pytest_items"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("cctest", "conformance to the cache-intent contract")
    for name, metavar, text in _OPTIONS:
        group.addoption(name, metavar=metavar, help=text)
    for name, metavar, text in _FILTERS:
        group.addoption(name, metavar=metavar, action="append", default=[], help=f"{text}; may be repeated")
    for name, text in _FLAGS:
        group.addoption(name, action="store_true", help=text)
    group.addoption("--cctest-seed", type=int, metavar="N", help="makes order and choices repeatable")
    group.addoption("--cctest-jobs", type=int, metavar="N", default=4, help="exchanges at a time (4)")


def pytest_configure(config: pytest.Config) -> None:
    """Bring in the items where there is a target for them."""
    if config.getoption("--cctest-target") is not None or config.getoption("--cctest-config") is not None:
        config.pluginmanager.import_plugin(_WORKER)
        return
    given = [name for name, *_ in (*_OPTIONS, *_FILTERS, *_FLAGS) if config.getoption(name)]
    if given:
        raise pytest.UsageError(f"{given[0]} needs --cctest-config FILE or --cctest-target URL")
