"""The options that say what is probed, and getting at it."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from cctest.probe.bundled import BY_ITSELF, EMBEDDED, Bundled, make_credentials, running_gateway
from cctest.probe.readiness import wait_until_ready
from cctest.report.destination import complain
from cctest.target.configuration import Configuration, Overrides, load_configuration

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ChosenTarget:
    """What the command line says about the target."""

    url: str | None
    file: str | None
    model: str | None
    bundled: bool
    insecure: bool

    def read(self) -> Configuration:
        """Give the configuration and send nothing; the bundled gateway isn't started.

        Raises UsageProblem and click's UsageError.
        """
        if self.bundled:
            if self.url is not None or self.file is not None:
                raise click.UsageError("--bundled brings its own target: leave out --target and --config")
            return Configuration("http://127.0.0.1", self.model or EMBEDDED, make_credentials())
        if self.url is None and self.file is None:
            raise click.UsageError("give --target URL, --config FILE or --bundled")
        overrides = Overrides(self.url, self.model, insecure=self.insecure)
        return load_configuration(Path(self.file) if self.file is not None else None, overrides)

    @contextmanager
    def opened(self, gateway: Bundled = BY_ITSELF) -> Iterator[Configuration]:
        """Give the configuration of a target that can be asked.

        The bundled gateway is started as `gateway` says. Warns on standard error of a target that may be
        anybody. Raises TargetProblem if the target had to be waited for and didn't come up.
        """
        configuration = self.read()
        if self.bundled:
            with running_gateway(configuration.credentials, gateway) as url:
                yield Configuration(url, self.model or gateway.model(), configuration.credentials)
            return
        if configuration.insecure:
            complain(_WARNING)
        if configuration.wait_ready:
            credential = next(iter(configuration.credentials), None)
            with configuration.connect() as target:
                wait_until_ready(target, credential, configuration.wait_ready)
        yield configuration


_WARNING = """\
****************************************************************************************
WARNING: the target's certificate is NOT CHECKED (--insecure, or tls.insecure in the file).
Anybody between here and the target can read the tokens and answer in the target's place.
Trust no result of this run, and replace the tokens afterwards if the network isn't yours.
****************************************************************************************
"""


def target_options(command: _F) -> Callable[..., Any]:
    """Add --target, --config, --bundled, --model and --insecure to a command, which gets `chosen`."""

    @functools.wraps(command)
    def gathered(
        *,
        target: str | None,
        config: str | None,
        model: str | None,
        bundled: bool,
        insecure: bool,
        **others: Any,
    ) -> Any:
        chosen = ChosenTarget(target, config, model, bundled=bundled, insecure=insecure)
        return command(chosen=chosen, **others)

    wrapped: Callable[..., Any] = gathered
    for option in (
        click.option("--insecure", is_flag=True, help="Don't check the target's certificate."),
        click.option("--model", metavar="NAME", help="The model to ask for; wins over the target file."),
        click.option("--bundled", is_flag=True, help="Start the reference gateway and take that."),
        click.option("--config", metavar="FILE", help="The target file (YAML or JSON); see cctest init."),
        click.option("--target", metavar="URL", help="The server; wins over the target file."),
    ):
        wrapped = option(wrapped)
    return wrapped
