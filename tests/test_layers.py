"""The house: imports run one way, only the release table knows releases, files and functions stay small, tests say what they test."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kubeclassic.framework.releases import ALL_RELEASES

ROOT = Path(__file__).resolve().parent.parent
TABLES = ("algorithmprovider/releases.py", "framework/releases.py")
"""Where the releases are: those of predicates and priorities, and those of the framework."""

ALLOWED = {
    "api": {"api", "exceptions"},
    "core": {"core", "api", "exceptions"},
    "predicates": {"predicates", "core", "api", "exceptions"},
    "priorities": {"priorities", "core", "api", "exceptions"},
    "algorithmprovider": {"algorithmprovider", "predicates", "priorities", "core", "api", "exceptions"},
}
ALLOWED["framework"] = ALLOWED["algorithmprovider"] | {"framework"}
ALLOWED["scheduler.py"] = ALLOWED["framework"] | {"scheduler"}
ALLOWED["simulation"] = ALLOWED["scheduler.py"] | {"simulation"}
ALLOWED["cli"] = ALLOWED["simulation"] | {"cli"}
ALLOWED["exceptions.py"] = {"exceptions"}
ALLOWED["__main__.py"] = {"cli"}
ALLOWED["__init__.py"] = ALLOWED["scheduler.py"]

MINORS = (*range(12, 17), 27)
VERSIONS = {f"{prefix}1.{minor}" for prefix in ("", "v") for minor in MINORS}
CONSTANTS = {f"V1_{minor}" for minor in MINORS}
MAX_LINES, MAX_BODY = 400, 60


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def sources() -> list[Path]:
    """Every Python file of the package."""
    parts = [ROOT / part for part in ALLOWED if (ROOT / part).is_dir()]
    return sorted([*ROOT.glob("*.py"), *(file for part in parts for file in part.rglob("*.py"))])


def relative(path: Path) -> str:
    """The path as the project sees it."""
    return path.relative_to(ROOT).as_posix()


def imported_parts(module: ast.Module, folders: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """(line, part) for each import of a part of the package by a module in *folders*."""
    package = ("kubeclassic", *folders)
    for node in ast.walk(module):
        for name in imported_names(node, package):
            if name[0] == "kubeclassic" and len(name) > 1:
                yield getattr(node, "lineno", 0), name[1]


def imported_names(node: ast.AST, package: tuple[str, ...]) -> list[list[str]]:
    """The dotted names that a statement imports, relative ones seen from *package*."""
    if isinstance(node, ast.Import):
        return [alias.name.split(".") for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = package[: len(package) - node.level + 1] if node.level else ()
    module = [*base, *(node.module.split(".") if node.module else [])]
    return [[*module, alias.name] for alias in node.names]


@pytest.mark.parametrize("path", sources(), ids=relative)
class TestEachFile:
    def test_imports_run_one_way(self, path: Path) -> None:
        """A part imports only the parts below it."""
        allowed = ALLOWED[path.relative_to(ROOT).parts[0]]
        folders = path.relative_to(ROOT).parts[:-1]
        strays = [f"line {line}: {part}" for line, part in imported_parts(tree(path), folders) if part not in allowed]
        assert not strays, f"{relative(path)} imports what is above it: {strays}"

    def test_no_release_literal(self, path: Path) -> None:
        """No code but the release tables names a release."""
        if relative(path) not in TABLES:
            found = literals(path)
            assert not found, f"{relative(path)}: release literals in lines {found}"

    def test_no_comparison_on_a_release(self, path: Path) -> None:
        """No code but the release tables compares a release or its version."""
        if relative(path) not in TABLES:
            found = [node.lineno for node in ast.walk(tree(path)) if isinstance(node, ast.Compare) and compares_release(node)]
            assert not found, f"{relative(path)}: comparisons in lines {found}"

    def test_no_import_of_a_single_release(self, path: Path) -> None:
        """No code imports one release's table: releases are looked up by name."""
        nodes = (node for node in ast.walk(tree(path)) if isinstance(node, ast.ImportFrom))
        found = [node.lineno for node in nodes if CONSTANTS & {alias.name for alias in node.names}]
        assert not found, f"{relative(path)}: imports in lines {found}"

    def test_is_small(self, path: Path) -> None:
        """No file is longer than 400 lines, no function body longer than 60."""
        lines = path.read_text(encoding="utf-8").count("\n")
        long = [node.name for node in functions(path) if body_lines(node) > MAX_BODY]
        assert lines <= MAX_LINES, f"{relative(path)} has {lines} lines"
        assert not long, f"{relative(path)}: too long: {long}"


def literals(path: Path) -> list[int]:
    """The lines of the strings that are a release's name."""
    constants = (node for node in ast.walk(tree(path)) if isinstance(node, ast.Constant))
    return [node.lineno for node in constants if isinstance(node.value, str) and node.value in VERSIONS]


def compares_release(node: ast.Compare) -> bool:
    """Whether a side of the comparison is a release or a version."""
    return any(is_release(side) for side in (node.left, *node.comparators)) and not is_absence(node)


def is_release(node: ast.expr) -> bool:
    """Whether the expression reads like a release: a name ``release``, or an attribute ``release`` or ``version`` of one."""
    if isinstance(node, ast.Attribute):
        return node.attr == "release" or (node.attr == "version" and is_release(node.value))
    return isinstance(node, ast.Name) and node.id == "release"


def is_absence(node: ast.Compare) -> bool:
    """Whether it is ``is None`` or ``is not None``."""
    nothing = all(isinstance(side, ast.Constant) and side.value is None for side in node.comparators)
    return nothing and all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a file."""
    return (node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function without signature and docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1


class TestTheWhole:
    def test_nine_functions_in_ten_are_short(self) -> None:
        """Nine function bodies in ten have fewer than 25 lines."""
        sizes = [body_lines(node) for path in sources() for node in functions(path)]
        assert sum(size < 25 for size in sizes) >= 0.9 * len(sizes)

    def test_every_test_says_what_it_tests(self) -> None:
        """Each test has a docstring of one sentence."""
        files = (path for path in (ROOT / "tests").rglob("test_*.py"))
        silent = [f"{relative(path)}: {node.name}" for path in files for node in functions(path) if is_silent_test(node)]
        assert not silent

    def test_every_release_is_known_here(self) -> None:
        """The names that no code may use are those of all releases that there are."""
        assert set(ALL_RELEASES) <= VERSIONS
        assert len(MINORS) == len(ALL_RELEASES)

    def test_every_part_is_known_here(self) -> None:
        """Each package of the project has its place in the order of imports."""
        packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "build"}
        assert packages <= ALLOWED.keys()


def is_silent_test(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it is a test without a docstring."""
    return node.name.startswith("test_") and not ast.get_docstring(node)


class TestTheWatchers:
    """The checks above can fail."""

    @pytest.mark.parametrize("text", ["release == other", "cell.release.version > x", "release in newer", "version(x) < release"])
    def test_a_comparison_is_seen(self, text: str) -> None:
        """Comparisons on a release are found, whatever their form."""
        assert compares_release(ast.parse(text, mode="eval").body)  # type: ignore[arg-type]  # each text is a comparison

    @pytest.mark.parametrize("text", ["release is None", "algorithm.release is not None", "document.version == 2"])
    def test_other_comparisons_are_not(self, text: str) -> None:
        """Absence may be asked for, and other versions may be compared."""
        assert not compares_release(ast.parse(text, mode="eval").body)  # type: ignore[arg-type]  # each text is a comparison

    def test_an_upward_import_is_seen(self) -> None:
        """The parts that a relative import reaches are told from its dots."""
        text = "from ..predicates.taints import x\nfrom .. import cli\nfrom .batch import Batch\nimport kubeclassic.live"
        assert [part for _, part in imported_parts(ast.parse(text), ("core",))] == ["predicates", "cli", "core", "live"]
