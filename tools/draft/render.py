"""From the source of a draft to XML of version 3, text and HTML. Nothing is fetched."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.draft.nits import Nit, nits_of
from tools.draft.toolchain import Toolchain

_NAME: Final = re.compile(r'docName="([^"]+)"')
_QUIET: Final = re.compile(r"^ Created file ")
_REMOTE: Final = re.compile(r"@import[^;]*;|<(?:link|script|img)\b[^>]*(?:href|src)=\"(?:https?:)?//[^>]*>")
_OFFLINE: Final = "--import=data:text/javascript,globalThis.fetch=()=>Promise.reject(new(Error)('offline'))"
"""Option of Node: idnits asks for the status of RFCs even with --offline."""


class RenderingFailed(Exception):
    """A program ended with an error; the message holds what it said."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What became of one draft: its files, and all that the tools had to say."""

    name: str
    files: tuple[Path, ...]
    nits: tuple[Nit, ...]


def render(source: Path, references: Path, folder: Path, tools: Toolchain) -> Rendered:
    """Render a draft into `folder`, its files called by its `docname`. Raises RenderingFailed."""
    local = {"KRAMDOWN_OFFLINE": "1", "KRAMDOWN_REFCACHEDIR": str(references)}
    made, said = _run([tools.kramdown, "-3", source], local)
    found = _NAME.search(made)
    if found is None:
        raise RenderingFailed(f"{source}: the front matter gives no docname")
    name = found[1]
    draft, css = folder / f"{name}.xml", folder / "draft.css"
    draft.write_text(made, "utf-8")
    css.write_text(re.sub(r"@import[^;]*;", "", tools.css.read_text("utf-8")), "utf-8")
    xml2rfc = [tools.xml2rfc, "--no-network"]
    _, converted = _run([*xml2rfc, "--v2v3", "--out", draft, draft])
    look = ["--css", css, "--no-rfc-local", "--path", folder]
    _, rendered = _run([*xml2rfc, "--text", "--html", *look, draft])
    checked, _ = _run(
        [tools.idnits, "--offline", "--no-progress", "--output", "json", draft], {"NODE_OPTIONS": _OFFLINE}
    )
    css.unlink()
    files = tuple(folder / f"{name}.{ending}" for ending in ("txt", "html", "xml"))
    nits = (
        *_warnings("kramdown-rfc", said),
        *_warnings("xml2rfc", converted + rendered),
        *(Nit("remote", match) for match in _REMOTE.findall(files[1].read_text("utf-8"))),
        *nits_of(checked),
    )
    return Rendered(name, files, nits)


def _run(command: Sequence[object], environment: Mapping[str, str] | None = None) -> tuple[str, str]:
    done = subprocess.run(  # noqa: S603 - programs that find_toolchain found
        [str(part) for part in command],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **(environment or {})},
        check=False,
    )
    if done.returncode != 0:
        raise RenderingFailed(f"{command[0]} ended in {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout, done.stderr


def _warnings(tool: str, said: str) -> Iterator[Nit]:
    """Take each line that a tool says beside its work for a warning."""
    for line in said.splitlines():
        if line.strip() and not _QUIET.match(line):
            yield Nit(tool, line.strip())
