"""Mutation operators: small changes of a syntax tree, each as new text for a part of the source.

What only makes messages (texts of several words, arguments of errors) is left alone: no rule is about it.
"""

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True)
class Replacement:
    """New text for one node, and the name of the operator that makes it."""

    operator: str
    node: ast.expr | ast.stmt
    text: str


Operator: TypeAlias = Callable[[ast.AST], Iterator[Replacement]]

_COMPARISONS: Final[Mapping[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: Final[Mapping[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
_FUNCTIONS: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "RetentionMode": ("ALLOW", "FORBID"),
    "Reuse": ("NONE", "EXACT", "APPROXIMATE"),
    "Scope": ("REQUEST", "SESSION", "PRINCIPAL", "TENANT", "PUBLIC"),
    "OnUnenforceable": ("REJECT", "BYPASS"),
    "Outcome": ("BYPASS", "MISS", "EXACT_HIT", "APPROXIMATE_HIT", "UNOBSERVED"),
    "RetentionReport": ("FORBIDDEN", "DECLINED", "RETAINED", "UNOBSERVED"),
    "HintReport": ("ACCEPTED", "CLIPPED", "IGNORED"),
    "ErrorCode": ("INVALID", "UNSUPPORTED_VERSION", "UNENFORCEABLE"),
    "Kind": ("TOOL", "MESSAGE"),
}
"""The vocabularies whose words are swapped: each for the next one."""


def replacements(node: ast.AST) -> Iterator[Replacement]:
    """Yield what every operator makes of one node."""
    for operator in _OPERATORS:
        yield from operator(node)


def _compare(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.Compare):
        for place, was in enumerate(node.ops):
            for becomes in _COMPARISONS[type(was)]:
                operators = [*node.ops[:place], becomes(), *node.ops[place + 1 :]]
                yield _expression("comparison", node, ast.Compare(node.left, operators, node.comparators))


def _junction(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _expression("and/or", node, ast.BoolOp(other, node.values))
        for place in range(len(node.values)):
            left = [*node.values[:place], *node.values[place + 1 :]]
            kept = left[0] if len(left) == 1 else ast.BoolOp(node.op, left)
            yield _expression("dropped condition", node, kept)


def _negation(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _expression("dropped not", node, node.operand)
    if isinstance(node, ast.If | ast.IfExp | ast.While) and not isinstance(
        node.test, ast.Compare | ast.BoolOp | ast.UnaryOp
    ):
        yield _expression("negated condition", node.test, ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield _expression("dropped filter", test, ast.Constant(value=True))


def _arithmetic(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC and not _is_text(node):
        yield _expression("arithmetic", node, ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right))


def _constant(node: ast.AST) -> Iterator[Replacement]:
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield _expression("constant", node, ast.Constant(value=not value))
    elif isinstance(value, int):
        yield _expression("constant", node, ast.Constant(value=value + 1))
    elif isinstance(value, str) and value.replace("_", "").isalnum():
        yield _expression("constant", node, ast.Constant(value=f"{value}x"))


def _word(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        words = _WORDS.get(node.value.id, ())
        if node.attr in words:
            following = words[(words.index(node.attr) + 1) % len(words)]
            yield _expression("another word", node, ast.Attribute(node.value, following, ast.Load()))


def _call(node: ast.AST) -> Iterator[Replacement]:
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        other = ast.Name(_FUNCTIONS[node.func.id], ast.Load())
        yield _expression("another function", node, ast.Call(other, node.args, node.keywords))
    if isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id):
        return  # with its arguments swapped it would only crash
    plain = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
    if len(plain) == len(node.args) == 2 and ast.dump(plain[0]) != ast.dump(plain[1]):
        yield _expression("swapped arguments", node, ast.Call(node.func, plain[::-1], node.keywords))


def _returned(node: ast.AST) -> Iterator[Replacement]:
    if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield Replacement("return value", node, "return None")


def _statement(node: ast.AST) -> Iterator[Replacement]:
    """Leave a statement out: a call for its effect, an assignment to a part of a thing, a jump, an error."""
    removable = ast.Raise | ast.AugAssign | ast.Delete | ast.Continue | ast.Break
    changes = (
        isinstance(node, ast.Assign)
        and all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    ) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    if isinstance(node, ast.stmt) and (changes or isinstance(node, removable)):
        yield Replacement("removed statement", node, "pass")


_OPERATORS: Final[tuple[Operator, ...]] = (
    _compare,
    _junction,
    _negation,
    _arithmetic,
    _constant,
    _word,
    _call,
    _returned,
    _statement,
)


def _expression(operator: str, node: ast.expr, becomes: ast.expr) -> Replacement:
    return Replacement(operator, node, f"({ast.unparse(ast.fix_missing_locations(becomes))})")


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in (node.left, node.right)
    )
