"""Generated mutants: every operator, at every place of the modules in scope."""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cctest.mutation.catalogue import source_change, source_of
from cctest.mutation.mutant import Edit, Family, Mutant, Setup
from cctest.mutation.operators import Replacement, replacements
from cctest.mutation.scope import LEFT_OUT, SCOPE

_FEW_NAMES: Final = 4


def generate(scope: Mapping[str, Sequence[Setup]] = SCOPE) -> tuple[Mutant, ...]:
    """Make the mutants of every module in scope, in the order of files and places.

    A mutant's name is made of its file, the function, the operator, and a digest of the statement that it
    changes and of what that becomes: it stays the same as long as only code elsewhere changes.
    """
    return tuple(mutant for path, setups in scope.items() for mutant in _of_file(path, tuple(setups)))


def _of_file(path: str, setups: tuple[Setup, ...]) -> Iterator[Mutant]:
    source = source_of(path)
    offsets = _Offsets(source)
    same: Counter[str] = Counter()
    for function, statement, one in _sites(ast.parse(source), ()):
        if f"{path}:{function}" in LEFT_OUT:
            continue
        start, end = offsets.span(one.node)
        edit = Edit(start, end, one.text)
        first, last = offsets.span(statement)
        was, becomes = source[start:end], one.text
        stated = " ".join(source[first:last].split())
        told = "\0".join((stated, str(start - first), one.operator, becomes))
        same[told] += 1
        digest = hashlib.sha256(f"{function}\0{told}\0{same[told]}".encode()).hexdigest()[:10]
        yield Mutant(
            id=f"{path}:{function}:{one.operator.replace(' ', '-')}:{digest}",
            family=Family.GENERATED,
            rules=(),
            inverts=f"line {offsets.line(start)}: {_in_a_line(was)} becomes {_in_a_line(becomes)}",
            change=source_change(path, edit),
            setups=setups,
            operator=one.operator,
            was=was,
            becomes=becomes,
        )


def _in_a_line(text: str) -> str:
    return " ".join(text.split())


def _sites(tree: ast.AST, inside: tuple[str, ...]) -> Iterator[tuple[str, ast.stmt, Replacement]]:
    """Yield every replacement with the function that it is in and the smallest statement around it."""
    for statement in ast.iter_child_nodes(tree):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _sites_of(statement, inside)
        elif isinstance(statement, ast.stmt):
            yield from _in_statement(statement, inside)
        elif isinstance(statement, ast.ExceptHandler | ast.match_case):
            yield from _sites(statement, inside)


def _sites_of(
    scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, inside: tuple[str, ...]
) -> Iterator[tuple[str, ast.stmt, Replacement]]:
    for statement in scope.body:
        if not _is_docstring(statement):
            holder = ast.Module(body=[statement], type_ignores=[])
            yield from _sites(holder, (*inside, scope.name))


def _in_statement(
    statement: ast.stmt, inside: tuple[str, ...]
) -> Iterator[tuple[str, ast.stmt, Replacement]]:
    if isinstance(statement, ast.Import | ast.ImportFrom) or _is_docstring(statement):
        return
    function = ".".join(inside) or "module"
    for replacement in replacements(statement):
        yield function, statement, replacement
    for node in _own_expressions(statement):
        for replacement in replacements(node):
            yield function, statement, replacement
    yield from _sites(statement, inside)


def _own_expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement that are in no statement within it, nor annotation or message."""
    pending = [
        child
        for name, value in ast.iter_fields(statement)
        if name not in ("annotation", "returns", "exc", "cause", "msg")
        for child in (value if isinstance(value, list) else [value])
        if isinstance(child, ast.AST) and not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
    ]
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.JoinedStr) or _is_list_of_names(node):
            continue
        yield node
        pending[:0] = ast.iter_child_nodes(node)


def _is_list_of_names(node: ast.AST) -> bool:
    """Whether a node is a long list of names: what each of them does is for tests of the gateway to say."""
    if not isinstance(node, ast.Tuple | ast.List | ast.Set) or len(node.elts) <= _FEW_NAMES:
        return False
    return all(isinstance(one, ast.Starred) or _is_name(one) for one in node.elts)


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


class _Offsets:
    """Places of a syntax tree as offsets in code points; the tree counts the bytes of each line."""

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Give where a node starts and ends."""
        if node.end_lineno is None or node.end_col_offset is None:
            raise ValueError("a parsed node has an end")
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)

    def line(self, offset: int) -> int:
        """Give the line of an offset, from 1."""
        return sum(start <= offset for start in self._starts)

    def _at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())
