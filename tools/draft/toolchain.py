"""The programs that render and check drafts, and what to do where one is missing."""

import shutil
from dataclasses import dataclass
from pathlib import Path


class ToolsMissing(Exception):
    """Programs aren't there; the message says which, and how to get each."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Where the programs are. `css` is the stylesheet that xml2rfc brings along."""

    kramdown: Path
    xml2rfc: Path
    css: Path
    idnits: Path


def find_toolchain(folder: Path) -> Toolchain:
    """Find what `make draft` installed in `folder`, and kramdown-rfc on the path. Raises ToolsMissing."""
    kramdown = shutil.which("kramdown-rfc") or ""
    found = Toolchain(
        kramdown=Path(kramdown),
        xml2rfc=folder / "bin" / "xml2rfc",
        css=next(folder.glob("lib/python*/site-packages/xml2rfc/data/xml2rfc.css"), folder / "xml2rfc.css"),
        idnits=folder / "node_modules" / ".bin" / "idnits",
    )
    again = f"remove {folder} and run make draft"
    missing = {
        "kramdown-rfc (apt-get install ruby-kramdown-rfc2629, or gem install kramdown-rfc)": bool(kramdown),
        f"xml2rfc ({again})": found.xml2rfc.exists() and found.css.exists(),
        f"idnits (apt-get install npm, {again})": found.idnits.exists(),
        "node (apt-get install nodejs)": shutil.which("node") is not None,
    }
    lacking = [f"  {name}" for name, there in missing.items() if not there]
    if lacking:
        raise ToolsMissing("\n".join(["the drafts can't be rendered without", *lacking]))
    return found
