"""Everything that is wrong with a configuration, before anything is served."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from cctest.contract.vocabulary import OnUnenforceable
from reference_gateway.backend_options import LEAST_SECRET, BackendName, make_backend
from reference_gateway.callers.credentials_file import credential_problems
from reference_gateway.callers.secret_file import read_key, read_secret
from reference_gateway.problem import ConfigurationError


def problems_of(
    backend: BackendName, credentials: Path, options: Mapping[str, Any], on_unenforceable: OnUnenforceable
) -> list[str]:
    """Say in words all that would keep a gateway with these options from starting, each once."""
    found = [str(problem) for problem in credential_problems(credentials)]
    found += _secrets(options)
    # The key was read above; left out here, a bad one hides nothing that is wrong beside it.
    tried = {**options, "engine_key_file": None} if backend is BackendName.VLLM else options
    found += _problem(lambda: make_backend(backend, tried, on_unenforceable))
    return list(dict.fromkeys(found))


def _secrets(options: Mapping[str, Any]) -> Iterator[str]:
    salt = options.get("salt_secret_file")
    if salt is not None:
        yield from _problem(lambda: read_secret(salt, least=LEAST_SECRET))
    for name in ("engine_key_file", "metrics_key_file"):
        if (key := options.get(name)) is not None:
            yield from _problem(partial(read_key, key))


def _problem(attempt: Callable[[], object]) -> Iterator[str]:
    try:
        attempt()
    except ConfigurationError as problem:
        yield str(problem)
    except click.UsageError as problem:
        yield problem.format_message()
