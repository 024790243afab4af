"""Patch vLLM in this process: all of it or nothing."""

from collections.abc import Callable, Iterator
from typing import Any

from vllm_cache_regions import VERSION
from vllm_cache_regions.engine_core import STATUS_METHOD, observing_start, status
from vllm_cache_regions.hashing import with_regions
from vllm_cache_regions.intake import refusing_bad_regions
from vllm_cache_regions.rehearsal import rehearse
from vllm_cache_regions.reuse import as_reader, moving_ages, refusing_old, taking_note, writing_bounds
from vllm_cache_regions.sites import (
    CACHE_FULL_BLOCKS,
    CACHED_BLOCK,
    CALL_UTILITY,
    COMPUTED_BLOCKS,
    COMPUTED_FOR_CONNECTOR,
    ENGINE_CORE,
    EXTRA_KEYS,
    HASHER,
    KEY_OF,
    MOVE_HASHES,
    NEW_BLOCKS,
    PROBLEM,
    PROCESS_INPUTS,
    REQUEST,
    SCHEDULER,
    Patch,
    Site,
    UnsupportedVllmError,
    importers_of,
)

_installed: list[Patch] = []


def install() -> None:
    """Patch vLLM and check that the patches do what they should. A second call does nothing.

    Raises UnsupportedVllmError, with nothing patched, if this vLLM is not as expected.
    """
    if _installed:
        return
    try:
        patches = list(_patches())
        _apply(patches)
    except UnsupportedVllmError as error:
        where = f"vllm_cache_regions {VERSION} doesn't fit vLLM {_version()}"
        raise UnsupportedVllmError(f"{where}: {error}") from error
    _installed.extend(patches)


def uninstall() -> None:
    """Undo `install`."""
    while _installed:
        _installed.pop().undo()


def _apply(patches: list[Patch]) -> None:
    _, stock = EXTRA_KEYS.find()
    done: list[Patch] = []
    try:
        for patch in patches:
            patch.apply()
            done.append(patch)
        rehearse(stock)
    except BaseException as error:
        for patch in reversed(done):
            patch.undo()
        if isinstance(error, UnsupportedVllmError) or not isinstance(error, Exception):
            raise
        raise UnsupportedVllmError(f"the check of the patches failed: {error!r}") from error


def _patches() -> Iterator[Patch]:
    for needed in (CALL_UTILITY, REQUEST, HASHER):
        needed.find()
    _, key_of = KEY_OF.find()
    yield _patch(NEW_BLOCKS, taking_note)
    yield _patch(CACHE_FULL_BLOCKS, writing_bounds)
    yield _patch(MOVE_HASHES, moving_ages)
    yield _patch(CACHED_BLOCK, lambda stock: refusing_old(stock, key_of))
    yield _patch(COMPUTED_BLOCKS, as_reader)
    yield _patch(COMPUTED_FOR_CONNECTOR, as_reader)
    problem, _ = PROBLEM.find()
    yield _patch(PROCESS_INPUTS, lambda stock: refusing_bad_regions(stock, problem))
    yield _patch(SCHEDULER, observing_start)
    yield _new_method(ENGINE_CORE, STATUS_METHOD, status)
    # Last: finding the others has loaded the modules that import this one by name.
    yield from _everywhere(EXTRA_KEYS, with_regions)


def _patch(site: Site, wrapped: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Patch:
    holder, stock = site.find()
    return Patch(holder, site.name, wrapped(stock))


def _everywhere(site: Site, wrapped: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[Patch]:
    """Patch a function in its module and in those that have imported it by name."""
    _, stock = site.find()
    new = wrapped(stock)
    for module in importers_of(stock, site.name):
        yield Patch(module, site.name, new)


def _new_method(site: Site, name: str, method: Callable[..., Any]) -> Patch:
    holder, _ = site.find()
    if hasattr(holder, name):
        raise UnsupportedVllmError(f"{site.module}.{site.owner} has a {name} already")
    return Patch(holder, name, method)


def _version() -> str:
    import vllm  # noqa: PLC0415 - only to name it

    return str(getattr(vllm, "__version__", "of unknown version"))
