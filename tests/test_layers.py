"""The house: imports run one way, only the release tables know releases, files and functions stay small, tests say what they test."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from kubeclassic.framework.releases import ALL_RELEASES
from tests.conftest import ROOT
from tests.support import house
from tests.support.house import sources, tree

CORE = "exceptions.py choices.py api/objects api/meaning api/view.py api/words.py api/record.py core"
CONFIG = f"{CORE} api/reading algorithmprovider framework"
BELOW_COMMANDS = "exceptions.py choices.py api core algorithmprovider framework simulation questions live"
RULES = (
    "exceptions.py api/objects api/meaning core/rule.py core/guard.py core/cycle.py core/failures.py core/binding.py core/pods core/arrays"
    " core/matching core/volumes core/devices core/release core/cluster/listings.py"
)
"""What a rule may know of core: never what is remembered, how a decision is made, or the queue."""

ROWS = {
    "exceptions.py choices.py": "",
    "api/garbage.py": "",
    "api/record.py": "api/garbage.py",
    "api/objects": "exceptions.py",
    "api/reading": "exceptions.py api",
    "api/meaning": "exceptions.py api",
    "api/wire": "exceptions.py api",
    "api/controlplane": "exceptions.py api",
    "api/load.py": "exceptions.py api",
    "api/inventory.py": "exceptions.py api",
    "api/words.py": "exceptions.py api",
    "api/view.py": "exceptions.py api",
    "api/cluster.py": "exceptions.py api",
    "core/release core/failures.py core/rebuilt.py core/bindingcycle.py": CORE,
    "core/pods": CORE,
    "core/arrays": CORE,
    "core/rule.py core/cluster core/binding.py": CORE,
    "core/guard.py core/savepoint.py": CORE,
    "core/cycle.py core/queue core/decision/ties.py": CORE,
    "core/matching core/incremental core/decision": CORE,
    "core/volumes core/devices core/preemption core/equivalence.py core/details.py": CORE,
    "core/engine.py": CORE,
    "core/feed.py": f"{CORE} api/garbage.py",
    "core/run.py core/router.py": CORE,
    "core/driver.py": CORE,
    "core/classic.py": CORE,
    "predicates priorities": RULES,
    "algorithmprovider": f"{CORE} api/reading predicates priorities",
    "extenders": "exceptions.py choices.py api core algorithmprovider",
    "framework/tables/versions.py": f"{CORE} framework",
    "framework/tables/withplugins.py": f"{CORE} algorithmprovider framework",
    "framework/releases.py": f"{CORE} algorithmprovider framework",
    "framework/status.py framework/queue/events.py": CORE,
    "framework/hints.py": f"{CORE} predicates",
    "framework/cycle/diagnosis.py framework/waitingpods.py": f"{CORE} framework",
    "framework/cycle/state.py": CORE,
    "framework/plugin.py framework/adapters.py": f"{CORE} framework",
    "framework/userplugins.py": f"{CORE} framework",
    "framework/config": CONFIG,
    "framework/profile.py": CONFIG,
    "framework/cycle/preemption.py": CONFIG,
    "framework/policy/validation.py": CONFIG,
    "framework/policy/policyrules.py": f"{CONFIG} predicates priorities",
    "framework/policy/profile.py": CONFIG,
    "framework/migrate": f"{CONFIG} predicates priorities",
    "framework/plugins": f"{RULES} core/queue/parked.py algorithmprovider predicates priorities framework",
    "framework/queue": CONFIG,
    "framework": f"{CONFIG} predicates priorities",
    "scheduler.py": "exceptions.py choices.py api core algorithmprovider framework extenders",
    "simulation": "exceptions.py choices.py api core predicates priorities algorithmprovider framework scheduler.py extenders",
    "questions": "exceptions.py choices.py api core predicates priorities algorithmprovider framework scheduler.py extenders simulation",
    "exports.py": "",
    "rules.py": "exports.py core predicates priorities algorithmprovider",
    "plugins.py": "exports.py framework",
    "traces.py": "exports.py questions",
    "results.py": "exports.py core questions simulation",
    "options.py": "exports.py questions",
    "__init__.py": "exports.py exceptions.py api framework scheduler.py questions rules.py plugins.py traces.py results.py options.py",
    "live/client": "exceptions.py choices.py api",
    "live/informers": "exceptions.py choices.py api core/release live/client",
    "live": "exceptions.py choices.py api core algorithmprovider framework extenders scheduler.py simulation questions live",
    "cli/report": BELOW_COMMANDS,
    "cli/console": "exceptions.py choices.py __init__.py",
    "cli": f"{BELOW_COMMANDS} __init__.py extenders cli/report cli/console",
    "__main__.py": "cli",
}
"""The order of the parts, one floor a line: what these files and folders may import of the lines above them, besides themselves.

A part within a folder that has a line of its own is not part of that folder's line; a name on the right stands for all that it holds.
"""

FLOORS = 10
TABLES = (
    "algorithmprovider/releases.py", "framework/releases.py", "framework/tables/withplugins.py", "choices.py",
)  # fmt: skip
"""Where the releases are, besides their texts: of predicates and priorities, of the framework, and the defaults for the help."""

MINORS = tuple(range(12, 37))
VERSIONS = {f"{prefix}1.{minor}" for prefix in ("", "v") for minor in MINORS}
CONSTANTS = {f"V1_{minor}" for minor in MINORS}
SOURCE_TOKENS, TEST_TOKENS = 632_438, 573_523
"""The size of the house, from above; ``python -m tests.support.house`` prints it. A change that makes it smaller lowers these."""
MAX_LINES, MAX_BODY = 700, 45
MAX_KINDS_ASKED, MAX_IGNORED = 2, 2
WHERE_TO_PUT = "## Where do I put ...?"
MIN_PLACES = 12


class TestEachFile:
    def test_it_imports_what_its_row_says(self) -> None:
        """Each file imports only what stands above its part in the table, and only what its row names."""
        assert house.strays(house.imports(), ROWS) == []

    def test_no_release_literal(self) -> None:
        """No code but the release tables names a release."""
        assert found(lambda module: house.literals(module, VERSIONS), but=TABLES) == []

    def test_no_comparison_on_a_release(self) -> None:
        """No code but the release tables compares a release or its version."""
        assert found(house.release_comparisons, but=TABLES) == []

    def test_no_import_of_a_single_release(self) -> None:
        """No code imports one release's table: releases are looked up by name."""
        assert found(lambda module: house.imports_of(module, CONSTANTS)) == []

    def test_no_file_is_long(self) -> None:
        """No file is longer than 700 lines."""
        assert [path for path in sources() if house.text(path).count("\n") > MAX_LINES] == []

    def test_no_function_is_long(self) -> None:
        """No function body is longer than 45 lines."""
        assert found(lambda module: [node.lineno for node in house.functions(module) if house.body_lines(node) > MAX_BODY]) == []


def found(lines_of: Callable[[ast.Module], Iterable[int]], but: Collection[str] = ()) -> list[str]:
    """Where *lines_of* finds something in the sources, all *but* some, as ``path:line``."""
    return [f"{path}:{line}" for path in sources() if path not in but for line in lines_of(tree(path))]


class TestTheOrder:
    def test_every_file_has_a_row(self) -> None:
        """Each file of the package belongs to a part; an ``__init__.py`` without one imports nothing."""
        homeless = [path for path in sources() if house.part_of(path, ROWS) is None]
        assert [path for path in homeless if not path.endswith("/__init__.py") or house.imports()[path]] == []

    def test_every_row_is_of_something(self) -> None:
        """The table names files and folders that are there, each part once."""
        parts = [part for row in ROWS for part in row.split()]
        assert len(parts) == len(set(parts))
        named = {*parts, *(part for allowed in ROWS.values() for part in allowed.split())}
        assert [part for part in named if not any(house.covers(part, path) for path in sources())] == []

    def test_core_has_ten_floors(self) -> None:
        """The longest chain of imports between the packages and root files of core has ten links at most."""
        units = {path: "/".join(path.split("/")[:2]) for path in sources() if path.startswith("core/") and path != "core/__init__.py"}
        chain = house.longest_chain(house.imports(), units)
        assert len(chain) <= FLOORS, chain

    def test_no_circles(self) -> None:
        """No modules import one another in a circle, types included."""
        assert house.circles(house.imports()) == []

    def test_no_arrow_upwards_between_rooms(self) -> None:
        """No two folders of the root import one another, not even by way of a third."""
        rooms: dict[str, dict[str, int]] = {path.split("/")[0]: {} for path in sources()}
        for path, imports in house.imports().items():
            room = path.split("/")[0]
            rooms[room].update({to.split("/")[0]: line for to, line in imports.items() if to.split("/")[0] != room})
        assert house.circles(rooms) == []


class TestTheWhole:
    def test_the_source_is_no_larger(self) -> None:
        """The source has at most as many tokens as the last step left."""
        assert house.code_tokens(sources()) <= SOURCE_TOKENS

    def test_the_tests_are_no_larger(self) -> None:
        """The tests have at most as many tokens as the last step left."""
        assert house.code_tokens(house.test_files()) <= TEST_TOKENS

    def test_kinds_are_hardly_asked_for(self) -> None:
        """The source asks at most twice of which kind an engine, a flow or a decision is: they answer for themselves."""
        asked = found(house.kinds_asked)
        assert len(asked) <= MAX_KINDS_ASKED, asked

    def test_the_framework_is_typed(self) -> None:
        """The type checker is told to look away at most twice in the framework."""
        files = [path for path in sources() if house.covers("framework", path)]
        ignored = [f"{path}:{line}" for path in files for line in house.ignored_lines(house.text(path))]
        assert len(ignored) <= MAX_IGNORED, ignored

    def test_every_test_says_what_it_tests(self) -> None:
        """Each test has a docstring of one sentence."""
        assert [f"{path.name}: {node.name}" for path, node in all_tests() if not ast.get_docstring(node)] == []

    def test_every_release_is_known_here(self) -> None:
        """The names that no code may use are those of all releases that there are."""
        assert set(ALL_RELEASES) <= VERSIONS
        assert len(MINORS) == len(ALL_RELEASES)

    def test_the_map_names_files_that_are_there(self) -> None:
        """ARCHITECTURE.md says of twelve changes at least in which one file each begins."""
        places = house.table_under(WHERE_TO_PUT, (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
        assert len(places) >= MIN_PLACES
        assert house.misplaced(places, ROOT) == []


def all_tests() -> Iterator[tuple[Path, house.Function]]:
    """Every test function, with its file."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    functions = ((file, node) for file in files for node in house.functions(ast.parse(file.read_text(encoding="utf-8"))))
    return ((file, node) for file, node in functions if node.name.startswith("test_"))


FILES = ("core/engine.py", "core/arrays/batch.py", "core/arrays/table.py", "api/objects/__init__.py", "cli/__init__.py", "__init__.py")


GRAPH: house.Graph = {"a": {"b": 1}, "b": {"c": 1}, "c": {"a": 1, "d": 2}, "d": {}}
"""A circle of a, b and c."""
FLOORED: house.Graph = {"x/1": {"x/2": 1, "y": 1}, "x/2": {"z": 1}, "y": {"z": 1, "elsewhere": 2}, "z": {}}
FUNCTION = 'def f(\n    a,\n):\n    """One.\n\n    Two.\n    """\n    b = a\n\n    return b\n'
FOR_TYPES = "if TYPE_CHECKING:\n    from .arrays.table import NodeTable\nfrom .arrays.batch import Batch"
MAP = (
    "# A\n\n## Where?\n\nText.\n\n| change | file |\n|---|---|\n| one | `README.md`, below |\n| none | somewhere |\n"
    "| lost | `nowhere.py` |\n| two | `README.md` or `LICENSE.md` |\n\n## Other\n\n| a | b |\n|---|---|\n| c | d |\n"
)


def imported(text: str, **how: bool) -> list[str]:
    """The files that a text imports as if it stood in ``core/engine.py`` among FILES."""
    return [to for _, to in house.imported(ast.parse(text), "core/engine.py", house.modules(FILES), **how)]


def compares(text: str) -> bool:
    """Whether an expression compares a release."""
    return house.compares_release(ast.parse(text, mode="eval").body)  # type: ignore[arg-type]  # each text is a comparison


CHECKS: Mapping[str, tuple[Callable[[], object], object]] = {
    "literals of releases, and no other numbers": (
        lambda: house.literals(ast.parse("a = '1.16'\nb = 'v1.27'\nc = '1.99'"), VERSIONS), [1, 2],
    ),
    "the lines of comparisons": (lambda: house.release_comparisons(ast.parse("a < b\nif release > c:\n    pass")), [2]),
    "imports of a release": (
        lambda: house.imports_of(ast.parse("from a import b\nfrom .releases import V1_16, other"), CONSTANTS), [2],
    ),
    "imports without those for types": (lambda: imported(FOR_TYPES, run=True), ["core/arrays/batch.py"]),
    "a circle": (lambda: house.circles(GRAPH), [["a", "b", "c"]]),
    "no circle without one import": (lambda: house.circles(house.without(GRAPH, {("c", "a")})), []),
    "chains of units, not of files": (
        lambda: house.longest_chain(FLOORED, {"x/1": "x", "x/2": "x", "y": "y", "z": "z"}), ["x", "y", "z"],
    ),
    "tokens of code, words of docstrings and comments": (
        lambda: dict(house.tokens(FUNCTION + "# why it is so\nc = 'd' + 1.5\n")), {"code": 17, "docstrings": 3, "comments": 5},
    ),
    "private functions with one caller": (
        lambda: house.called_once(ast.parse("def _a(): ...\ndef _b(): _a()\ndef c(): _b(); _b()")), ["_a"],
    ),
    "the body of a function": (lambda: list(map(house.body_lines, house.functions(ast.parse(FUNCTION)))), [3]),
    "comments to the type checker": (
        lambda: house.ignored_lines("a = b  # type: ignore[misc]\nc = 'type'\nd()  #type:ignore"), [1, 3],
    ),
    "the rows of the map": (lambda: [row for row, _ in house.table_under("## Where?", MAP)], ["one", "none", "lost", "two"]),
    "rows of the map that name no file, a missing one or two": (
        lambda: house.misplaced(house.table_under("## Where?", MAP), ROOT), ["none", "lost", "two"],
    ),
    "this test": (lambda: "test_it_sees" in {node.name for _, node in all_tests()}, True),
}  # fmt: skip
"""What a check sees -> the check of something that is wrong, and what it finds."""


class TestTheWatchers:
    """The checks above can fail."""

    @pytest.mark.parametrize("what", CHECKS)
    def test_it_sees(self, what: str) -> None:
        """Each check finds what is wrong, and nothing else."""
        check, wanted = CHECKS[what]
        assert check() == wanted

    @pytest.mark.parametrize("text", ["release == other", "cell.release.version > x", "release in newer", "version(x) < release"])
    def test_a_comparison_is_seen(self, text: str) -> None:
        """Comparisons on a release are found, whatever their form."""
        assert compares(text)

    @pytest.mark.parametrize("text", ["release is None", "algorithm.release is not None", "document.version == 2"])
    def test_other_comparisons_are_not(self, text: str) -> None:
        """Absence may be asked for, and other versions may be compared."""
        assert not compares(text)

    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            ("from .arrays.batch import Batch", "core/arrays/batch.py"),
            ("from .arrays import batch", "core/arrays/batch.py"),
            ("from ..api.objects import Pod", "api/objects/__init__.py"),
            ("from .. import cli", "cli/__init__.py"),
            ("from .. import Cluster", "__init__.py"),
            ("import kubeclassic.core.arrays.table", "core/arrays/table.py"),
            ("import kubeclassic.core.live as live", "__init__.py"),
            ("if TYPE_CHECKING:\n    from .arrays.table import NodeTable", "core/arrays/table.py"),
            ("def late():\n    from .arrays.table import NodeTable", "core/arrays/table.py"),
        ],
    )
    def test_an_import_is_seen(self, text: str, wanted: str) -> None:
        """The file that an import reaches is told, however it is written and wherever it stands."""
        assert imported(text) == [wanted]

    @pytest.mark.parametrize(
        ("path", "target", "is_stray"),
        [
            ("core/pods/terms.py", "core/arrays/batch.py", True),
            ("core/matching/owners.py", "core/decision/nodesearch.py", True),
            ("core/release", "api/reading/typed.py", True),
            ("predicates/podtoleratesnodetaints.py", "core/incremental/answers.py", True),
            ("priorities/equalpriority.py", "core/queue/backoff.py", True),
            ("framework/plugins/nodename.py", "core/engine.py", True),
            ("predicates/podtoleratesnodetaints.py", "core/cluster/cache.py", True),
            ("framework/plugins/nodename.py", "framework/queue/queue.py", True),
            ("framework/profile.py", "framework/flow.py", True),
            ("simulation/simulate.py", "cli/console/output.py", True),
            ("core/__init__.py", "core/engine.py", True),
            ("api/cluster.py", "core/pods/template.py", True),
            ("core/arrays/table.py", "core/arrays/columns.py", False),
            ("predicates/podtoleratesnodetaints.py", "core/cluster/listings.py", False),
            ("framework/plugins/nodename.py", "framework/queue/events.py", False),
            ("framework/queue/queue.py", "framework/profile.py", False),
        ],
    )
    def test_a_stray_import_is_seen(self, path: str, target: str, is_stray: bool) -> None:
        """An import of what stands above, beside, or not in the row is found; the part itself, and what its row names, may be imported."""
        assert house.strays({path: {target: 7}}, ROWS) == ([f"{path}, line 7: {target}"] if is_stray else [])

    @pytest.mark.parametrize(
        ("text", "count"),
        [
            ("isinstance(self.engine, FrameworkEngine)", 1),
            ("isinstance(flow, (int, flows.ClassicFlow))", 1),
            ("issubclass(kind, Profile | FrameworkDecision)", 1),
            ("match engine:\n    case FrameworkEngine():\n        pass", 1),
            ("isinstance(item, Pod)", 0),
            ("FrameworkEngine(release)", 0),
            ("match item:\n    case Pod():\n        pass", 0),
        ],
    )
    def test_asking_for_a_kind_is_seen(self, text: str, count: int) -> None:
        """Questions for the kind of an engine are found, whatever their form, and those for other classes are not."""
        assert len(house.kinds_asked(ast.parse(text))) == count
