"""The options that choose a backend, and the backend that they make."""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from cctest.contract.vocabulary import OnUnenforceable
from reference_gateway.notice import say

if TYPE_CHECKING:
    from reference_gateway.backend import Backend
    from reference_gateway.lowering.lowering import Lowering
    from reference_gateway.lowering.regions import RegionLowering
    from reference_gateway.lowering.salt import Salts

LEAST_SECRET: Final = 16
_DEADLINE: Final = 600.0
_MARGIN: Final = 5.0


class BackendName(StrEnum):
    """The engines that there are."""

    EMBEDDED = "embedded"
    SALT_ONLY = "salt-only"
    NULL = "null"
    VLLM = "vllm"


@dataclass(frozen=True, slots=True)
class _Option:
    """An option of some backends. Without a value it isn't given at all, so that a misplaced one shows."""

    flag: str
    backends: tuple[BackendName, ...]
    kind: "click.ParamType[Any]"
    text: str
    variable: str | None = None

    @property
    def name(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")

    def on_the_line(self, options: Mapping[str, Any]) -> bool:
        """Tell whether it was given as an option; the environment is there for whoever needs it."""
        value = options[self.name]
        return value is not None and (self.variable is None or value != os.environ.get(self.variable))

    def on(self, command: Any) -> Any:
        names = ", ".join(self.backends)
        return click.option(self.flag, type=self.kind, help=f"{names}: {self.text}", envvar=self.variable)(
            command
        )


_EMBEDDED, _SALTED, _VLLM = (
    (BackendName.EMBEDDED,),
    (BackendName.SALT_ONLY, BackendName.VLLM),
    (BackendName.VLLM,),
)
_PATH: Final = click.Path(path_type=Path)

_OPTIONS: Final = (
    _Option(
        "--block-size",
        (*_EMBEDDED, *_SALTED),
        click.IntRange(1, 4096),
        "tokens per block; the engine behind is asked for its own.  [default: 16]",
    ),
    _Option(
        "--capacity-blocks",
        (*_EMBEDDED, BackendName.SALT_ONLY),
        click.IntRange(0),
        "most blocks retained.  [default: 65536]",
    ),
    _Option(
        "--reuse-within-max",
        _EMBEDDED,
        click.IntRange(0),
        "seconds beyond which the hint reuse_within is clipped.  [default: 3600]",
    ),
    _Option(
        "--similar-but-for",
        _EMBEDDED,
        click.IntRange(0, 1000),
        "words at the beginning in which fragments may differ that count as similar.  [default: 8]",
    ),
    _Option(
        "--engine-url", _VLLM, click.STRING, "the engine's address, with or without /v1.", "VLLM_BASE_URL"
    ),
    _Option(
        "--engine-model",
        _VLLM,
        click.STRING,
        "the one model to serve, where the engine has several.",
        "VLLM_MODEL",
    ),
    _Option("--engine-key-file", _VLLM, _PATH, "file with the key that the engine asks for."),
    _Option(
        "--engine-deadline",
        _SALTED,
        click.FloatRange(0.001, 86_400),
        f"seconds for a whole exchange with the engine.  [default: {_DEADLINE:g}]",
    ),
    _Option(
        "--salt-secret-file",
        _SALTED,
        _PATH,
        "file with the secret behind the engine's partitions, of 16 bytes or more and the same"
        " for all replicas. Without it, a random one for this process.",
    ),
    _Option(
        "--without-intent",
        _SALTED,
        click.Choice(["tenant", "engine-default"]),
        "partition of requests without any intent.  [default: tenant]",
    ),
    _Option(
        "--max-age",
        _SALTED,
        click.Choice(["bypass", "generations"]),
        "what becomes of a bound on age: nothing is retained; or state becomes unaddressable in time, which"
        " takes bounds of more than --engine-deadline and --abort-margin together.  [default: bypass]",
    ),
    _Option(
        "--abort-margin",
        _SALTED,
        click.FloatRange(0, 86_400),
        f"seconds in which the engine drops a request that was called off.  [default: {_MARGIN:g}]",
    ),
    _Option(
        "--regions",
        _VLLM,
        click.Choice(["auto", "off"]),
        "a partition for each part of the input, and bounds on age kept by the engine, as long as the engine"
        " is seen to have the plugin vllm_cache_regions.  [default: auto]",
    ),
)


def backend_options(command: Any) -> Any:
    """Put the backends' options on a command, which gets them as keyword arguments."""
    for option in reversed(_OPTIONS):
        command = option.on(command)
    return command


def make_backend(
    name: BackendName, options: Mapping[str, Any], on_unenforceable: OnUnenforceable
) -> "Backend":
    """Make a backend of the options as given; those that are None weren't.

    Raises click.UsageError for an option that isn't this backend's, ConfigurationError for an unusable value.
    """
    _refuse_misplaced(name, options)
    given = {key: value for key, value in options.items() if value is not None}
    return _MAKERS[name](given, on_unenforceable=on_unenforceable)


def _refuse_misplaced(name: BackendName, options: Mapping[str, Any]) -> None:
    misplaced = [
        option.flag for option in _OPTIONS if name not in option.backends and option.on_the_line(options)
    ]
    if misplaced:
        raise click.UsageError(f"not for the backend {name}: {', '.join(misplaced)}")


def _embedded(given: Mapping[str, Any], **common: Any) -> "Backend":
    from reference_gateway.in_process.embedded import EmbeddedBackend  # noqa: PLC0415 - only where it is chosen
    from reference_gateway.in_process.similarity import but_for_first_words  # noqa: PLC0415

    own = _only(given, "block_size", "capacity_blocks", "reuse_within_max")
    if "similar_but_for" in given:
        own["similarity"] = but_for_first_words(given["similar_but_for"])
    return EmbeddedBackend(**own, **common)


def _salt_only(given: Mapping[str, Any], **common: Any) -> "Backend":
    from reference_gateway.in_process.salt_only import SaltOnlyBackend  # noqa: PLC0415 - only where it is chosen

    own = _only(given, "block_size", "capacity_blocks")
    return SaltOnlyBackend(_lowering(given), **own, **common)


def _null(_: Mapping[str, Any], **common: Any) -> "Backend":
    from reference_gateway.in_process.null import NullBackend  # noqa: PLC0415 - only where it is chosen

    return NullBackend(**common)


def _vllm(given: Mapping[str, Any], **common: Any) -> "Backend":
    from reference_gateway.callers.secret_file import read_key  # noqa: PLC0415 - only where it is chosen
    from reference_gateway.engine.upstream import Upstream  # noqa: PLC0415
    from reference_gateway.engine.vllm import VllmBackend  # noqa: PLC0415

    if "engine_url" not in given:
        raise click.UsageError("the backend vllm needs --engine-url, or VLLM_BASE_URL in the environment")
    key_file = given.get("engine_key_file")
    upstream = Upstream(
        given["engine_url"],
        key=None if key_file is None else read_key(key_file),
        deadline=given.get("engine_deadline", _DEADLINE),
    )
    own = _only(given, "block_size")
    lowering, own["regions"] = _lowerings(given)
    return VllmBackend(upstream, lowering, model=given.get("engine_model"), **own, **common)


def _lowering(given: Mapping[str, Any]) -> "Lowering":
    bounds_ages = given.get("max_age", "bypass") == "generations"
    if "abort_margin" in given and not bounds_ages:
        raise click.UsageError("--abort-margin is of use only with --max-age generations, or with regions")
    return _lowering_with(given, _salts(given), bounds_ages=bounds_ages)


def _lowerings(given: Mapping[str, Any]) -> "tuple[Lowering, RegionLowering | None]":
    """Make what lowers to one salt and, unless that is off, what lowers to regions with one salt beside them.

    The one beside them bounds ages in any case: bounds are offered with regions, which an engine may lose.
    """
    from reference_gateway.lowering.regions import RegionLowering  # noqa: PLC0415 - only where it is chosen

    if given.get("regions", "auto") == "off":
        return _lowering(given), None
    salts = _salts(given)
    beside = _lowering_with(given, salts, bounds_ages=True)
    bounds_ages = given.get("max_age", "bypass") == "generations"
    alone = beside if bounds_ages else _lowering_with(given, salts, bounds_ages=False)
    return alone, RegionLowering(salts, beside)


def _lowering_with(given: Mapping[str, Any], salts: "Salts", *, bounds_ages: bool) -> "Lowering":
    from reference_gateway.lowering.generations import Generations  # noqa: PLC0415 - only where it is chosen
    from reference_gateway.lowering.lowering import Lowering, WithoutIntent  # noqa: PLC0415

    deadline, margin = given.get("engine_deadline", _DEADLINE), given.get("abort_margin", _MARGIN)
    return Lowering(
        salts,
        without_intent=WithoutIntent(given.get("without_intent", WithoutIntent.TENANT)),
        generations=Generations(deadline, margin=margin) if bounds_ages else None,
    )


def _salts(given: Mapping[str, Any]) -> "Salts":
    from reference_gateway.lowering.salt import Salts  # noqa: PLC0415 - only where it is chosen

    return Salts(_secret(given))


def _secret(given: Mapping[str, Any]) -> bytes:
    from reference_gateway.callers.secret_file import read_secret  # noqa: PLC0415
    from reference_gateway.lowering.salt import SECRET_BYTES  # noqa: PLC0415 - only where it is needed

    if "salt_secret_file" in given:
        return read_secret(given["salt_secret_file"], least=LEAST_SECRET)
    say(
        "no --salt-secret-file: the secret is random, so no cached state is shared"
        " with another replica or kept over a restart"
    )
    return secrets.token_bytes(SECRET_BYTES)


def _only(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}


_MAKERS: Final[dict[BackendName, Callable[..., "Backend"]]] = {
    BackendName.EMBEDDED: _embedded,
    BackendName.SALT_ONLY: _salt_only,
    BackendName.NULL: _null,
    BackendName.VLLM: _vllm,
}
BACKEND_NAMES: Final[Sequence[str]] = [str(name) for name in BackendName]
