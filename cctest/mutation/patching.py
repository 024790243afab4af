"""Loading one module of ours with its source changed, from outside: an import hook in a process of its own.

It imports nothing of ours, since whatever it imported couldn't be changed any more.
"""

import hashlib
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any


class PatchError(Exception):
    """The source is not the one that the change was made for."""


class _PatchedLoader(SourceFileLoader):
    """Compiles the changed source, and tells so; nothing of it is kept on disk."""

    def __init__(
        self, fullname: str, path: str, change: Callable[[str], str], told: Callable[[], None]
    ) -> None:
        super().__init__(fullname, path)
        self._change = change
        self._told = told

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        changed = self._change(self.get_data(path).decode())
        code: CodeType = compile(changed, path, "exec", dont_inherit=True)
        self._told()
        return code


class _Finder(MetaPathFinder):
    def __init__(self, module: str, change: Callable[[str], str], told: Callable[[], None]) -> None:
        self._module = module
        self._change = change
        self._told = told

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        spec.loader = _PatchedLoader(fullname, spec.origin, self._change, self._told)
        return spec


def install(change: dict[str, Any], told: Callable[[], None]) -> None:
    """Have `change["module"]` loaded with one edit made, and `told` called when it is.

    The other members are those of the edit, `start`, `end` and `text`, and `digest`, the SHA-256 of the
    source that it is for. Raises PatchError where the module is loaded already, and later, when it is
    loaded, for another source.
    """
    module = change["module"]
    if module in sys.modules:
        raise PatchError(f"{module} is loaded already")

    def edited(source: str) -> str:
        if hashlib.sha256(source.encode()).hexdigest() != change["digest"]:
            raise PatchError(f"the source of {module} is not the one that the mutant is for")
        return f"{source[: change['start']]}{change['text']}{source[change['end'] :]}"

    sys.meta_path.insert(0, _Finder(module, edited, told))
