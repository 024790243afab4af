"""Who may import whom (ARCHITECTURE.md)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def imported_by(folder: str) -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: relative imports hide the layer"
                names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in names:
                yield str(path.relative_to(ROOT)), name


def ours(name: str) -> bool:
    return name.partition(".")[0] in {"cctest", "reference_gateway"}


def within(name: str, *allowed: str) -> bool:
    return any(name == one or name.startswith(one + ".") for one in allowed)


@pytest.mark.parametrize(
    ("folder", "allowed"),
    [
        ("cctest/contract", ("cctest.contract",)),
        ("cctest/engine", ("cctest.engine", "cctest.contract")),
        ("reference_gateway", ("reference_gateway", "cctest.contract", "cctest.engine")),
    ],
)
def test_a_lower_layer_imports_nothing_above_it(folder: str, allowed: tuple[str, ...]) -> None:
    wrong = [
        (path, name)
        for path, name in imported_by(folder)
        if ours(name) and name != "cctest" and not within(name, *allowed)
    ]
    assert wrong == []


LAYERS = (
    ("cctest.contract",),
    ("cctest.engine", "cctest.verdict", "cctest.bundle", "cctest.markdown"),
    ("cctest.problem", "cctest.diagnosis", "cctest.baseline.entry"),
    ("cctest.bounded",),
    ("cctest.child", "cctest.datafile", "cctest.selection"),
    ("cctest.catalogue", "cctest.findings", "cctest.chat_intents"),
    ("cctest.documents",),
    ("cctest.coverage.model",),
    ("cctest.target", "cctest.vectors", "cctest.report"),
    ("cctest.instrument", "cctest.adapter"),
    ("cctest.probe",),
    (
        "cctest.baseline",
        "cctest.coverage",
        "cctest.doctor",
        "cctest.explain",
        "cctest.minimality",
        "cctest.mutation",
    ),
    ("cctest.traceability",),
    ("cctest.cli",),
    ("cctest.__main__", "cctest.pytest_items", "cctest.pytest_plugin"),
)
"""Packages and modules of the harness, lowest first; what stands side by side doesn't import one another."""

RANKS = {unit: rank for rank, layer in enumerate(LAYERS) for unit in layer}


def unit_of(name: str) -> str | None:
    return max((unit for unit in RANKS if within(name, unit)), key=len, default=None)


def test_imports_go_downwards() -> None:
    upwards = []
    for path, name in imported_by("cctest"):
        own = unit_of(path.removesuffix(".py").replace("/", "."))
        other = unit_of(name)
        if own is not None and other is not None and own != other and RANKS[other] >= RANKS[own]:
            upwards.append((path, name))
    assert upwards == []


def test_every_module_of_the_harness_has_its_layer() -> None:
    modules = (path.relative_to(ROOT).with_suffix("") for path in (ROOT / "cctest").rglob("*.py"))
    names = {".".join(module.parts) for module in modules} - {"cctest.__init__"}
    assert {name for name in names if unit_of(name) is None} == set()


@pytest.mark.parametrize(
    ("part", "unknown"),
    [
        ("request", ("backend", "engine", "in_process", "lowering", "plan", "app")),
        ("plan.py", ("backend", "engine", "in_process", "lowering", "callers", "app")),
        ("responses.py", ("backend", "engine", "in_process", "lowering", "plan", "request", "app")),
        ("lowering", ("backend", "engine", "in_process", "callers", "app")),
        ("rendering", ("backend", "engine", "in_process", "lowering", "plan", "callers", "app")),
        ("in_process", ("callers", "app")),
        ("engine", ("callers", "in_process", "app")),
        ("callers", ("backend", "engine", "in_process", "lowering", "app")),
        ("telemetry", ("backend", "engine", "in_process", "lowering", "plan", "callers", "app")),
    ],
)
def test_a_part_of_the_gateway_knows_only_what_it_needs(part: str, unknown: tuple[str, ...]) -> None:
    files = ROOT / "reference_gateway" / part
    assert files.exists()
    found = [
        (path, name)
        for path, name in imported_by("reference_gateway")
        if path.startswith(f"reference_gateway/{part}")
        and within(name, *(f"reference_gateway.{one}" for one in unknown))
    ]
    assert found == []


def test_the_harness_never_imports_the_gateway() -> None:
    assert [pair for pair in imported_by("cctest") if within(pair[1], "reference_gateway")] == []


def test_the_gateway_never_imports_the_plugin_of_the_engine() -> None:
    plugin = "reference_gateway/vllm_cache_regions"
    assert [
        pair
        for pair in imported_by("reference_gateway")
        if not pair[0].startswith(plugin) and within(pair[1], "vllm_cache_regions", plugin.replace("/", "."))
    ] == []


def test_what_judges_the_core_by_generated_vectors_shares_nothing_with_it() -> None:
    assert [
        pair for pair in imported_by("cctest/vectors") if pair[0].endswith("oracle.py") and ours(pair[1])
    ] == []


def test_the_contract_core_does_no_io() -> None:
    forbidden = ("requests", "urllib", "socket", "pathlib", "os", "io", "http", "subprocess")
    assert [pair for pair in imported_by("cctest/contract") if within(pair[1], *forbidden)] == []
