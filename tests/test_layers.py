"""The house: imports run one way, only the release tables know releases, files and functions stay small,
tests say what they test."""

import ast

from kubeclassic.framework.releases import ALL_RELEASES
from tests.conftest import ROOT
from tests.support import house
from tests.support.house import sources, tree

CORE = "exceptions.py choices.py api/objects api/meaning api/view.py api/words.py api/record.py core"
CONFIG = f"{CORE} api/reading algorithmprovider framework"
BELOW_COMMANDS = "exceptions.py choices.py api core algorithmprovider framework simulation questions live"
RULES = (
    "exceptions.py api/objects api/meaning core/guard.py core/cycle.py core/binding.py core/pods core/arrays"
    " core/matching core/volumes core/devices core/release core/cluster/listings.py"
)
"""The parts of core that a rule may import: never caches, the making of a decision, or the queue."""

ROWS = {
    "exceptions.py choices.py": "",
    "api/garbage.py": "",
    "api/record.py": "api/garbage.py",
    "api/objects": "exceptions.py",
    "api/reading": "exceptions.py api",
    "api/meaning": "exceptions.py api",
    "api/ownfields.py": "exceptions.py api",
    "api/controlplane": "exceptions.py api",
    "api/load.py": "exceptions.py api",
    "api/words.py": "exceptions.py api",
    "api/view.py": "exceptions.py api",
    "api/cluster.py": "exceptions.py api",
    "core/release core/bindingcycle.py": CORE,
    "core/pods": CORE,
    "core/arrays": CORE,
    "core/cluster core/binding.py": CORE,
    "core/cycle.py": CORE,
    "core/guard.py core/savepoint.py": CORE,
    "core/queue": CORE,
    "core/matching core/decision": CORE,
    "core/incremental": CORE,
    "core/volumes core/devices core/preemption core/equivalence.py core/details.py": CORE,
    "core/engine.py": CORE,
    "core/run.py": f"{CORE} api/garbage.py",
    "core/router.py": CORE,
    "core/driver.py": CORE,
    "core/classic.py": CORE,
    "predicates priorities": RULES,
    "algorithmprovider": f"{CORE} api/reading predicates priorities",
    "extenders": "exceptions.py choices.py api core algorithmprovider",
    "framework/releases.py": f"{CORE} algorithmprovider framework",
    "framework/queue/events.py": CORE,
    "framework/hints.py": f"{CORE} predicates",
    "framework/plugin.py": f"{CORE} framework",
    "framework/config": f"{CONFIG} priorities",
    "framework/profile.py": CONFIG,
    "framework/cycle/feasible.py": f"{CORE} framework",
    "framework/cycle/preemption.py": CONFIG,
    "framework/registry.py": CONFIG,
    "framework/policy.py": f"{CONFIG} priorities",
    "framework/migrate": f"{CONFIG} predicates priorities",
    "framework/plugins": f"{RULES} core/queue/backoff.py algorithmprovider predicates priorities framework",
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
"""The order of the parts, one floor a line: what these files and folders may import of the lines above them,
besides themselves.

A part within a folder that has a line of its own is not part of that folder's line; a name on the right
stands for all that it holds.
"""

FLOORS = 10
TABLES = ("algorithmprovider/releases.py", "framework/releases.py", "choices.py")
"""Where the releases are, besides their texts: of predicates and priorities, of the framework, and the
defaults for the help."""

MINORS = tuple(range(12, 37))
VERSIONS = {f"{prefix}1.{minor}" for prefix in ("", "v") for minor in MINORS}
CONSTANTS = {f"V1_{minor}" for minor in MINORS}
SOURCE_TOKENS = 603_875
TEST_TOKENS = 509_018
"""The size of the house, from above; ``python -m tests.support.house`` prints it. A change that makes it
smaller lowers these."""
MAX_LINES = 700
MAX_BODY = 70
MAX_KINDS_ASKED = 2
MAX_IGNORED = 2
WHERE_TO_PUT = "## Where do I put ...?"
MIN_PLACES = 12


# --- Each file ----------------------------------------------------------------------------------------------


def test_it_imports_what_its_row_says():
    """Each file imports only what stands above its part in the table, and only what its row names."""
    assert house.strays(house.imports(), ROWS) == []


def test_no_release_literal():
    """No code but the release tables names a release."""
    assert found(lambda module: house.literals(module, VERSIONS), but=TABLES) == []


def test_no_comparison_on_a_release():
    """No code but the release tables compares a release or its version."""
    assert found(house.release_comparisons, but=TABLES) == []


def test_no_import_of_a_single_release():
    """No code imports one release's table: releases are looked up by name."""
    assert found(lambda module: house.imports_of(module, CONSTANTS)) == []


def test_no_file_is_long():
    """No file is longer than 700 lines."""
    assert [path for path in sources() if house.text(path).count("\n") > MAX_LINES] == []


def test_no_function_is_long():
    """No function body is longer than 70 lines."""
    assert (
        found(
            lambda module: [
                node.lineno for node in house.functions(module) if house.body_lines(node) > MAX_BODY
            ]
        )
        == []
    )


def found(lines_of, but=()):
    """Where *lines_of* finds something in the sources, all *but* some, as ``path:line``."""
    return [f"{path}:{line}" for path in sources() if path not in but for line in lines_of(tree(path))]


# --- The order ----------------------------------------------------------------------------------------------


def test_every_file_has_a_row():
    """Each file of the package belongs to a part; an ``__init__.py`` without one imports nothing."""
    homeless = [path for path in sources() if house.part_of(path, ROWS) is None]
    assert [path for path in homeless if not path.endswith("/__init__.py") or house.imports()[path]] == []


def test_every_row_is_of_something():
    """The table names files and folders that are there, each part once."""
    parts = [part for row in ROWS for part in row.split()]
    assert len(parts) == len(set(parts))
    named = {*parts, *(part for allowed in ROWS.values() for part in allowed.split())}
    assert [part for part in named if not any(house.covers(part, path) for path in sources())] == []


def test_core_has_ten_floors():
    """The longest chain of imports between the packages and root files of core has ten links at most."""
    units = {
        path: "/".join(path.split("/")[:2])
        for path in sources()
        if path.startswith("core/") and path != "core/__init__.py"
    }
    chain = house.longest_chain(house.imports(), units)
    assert len(chain) <= FLOORS, chain


def test_no_circles():
    """No modules import one another in a circle, types included."""
    assert house.circles(house.imports()) == []


def test_no_arrow_upwards_between_rooms():
    """No two folders of the root import one another, not even by way of a third."""
    rooms = {path.split("/")[0]: {} for path in sources()}
    for path, imports in house.imports().items():
        room = path.split("/")[0]
        rooms[room].update(
            {to.split("/")[0]: line for to, line in imports.items() if to.split("/")[0] != room}
        )
    assert house.circles(rooms) == []


# --- The whole ----------------------------------------------------------------------------------------------


def test_the_source_is_no_larger():
    """The source has at most as many tokens as the last step left."""
    assert house.code_tokens(sources()) <= SOURCE_TOKENS


def test_the_tests_are_no_larger():
    """The tests have at most as many tokens as the last step left."""
    assert house.code_tokens(house.test_files()) <= TEST_TOKENS


def test_kinds_are_hardly_asked_for():
    """The source asks at most twice of which kind an engine, a flow or a decision is: they answer for
    themselves."""
    asked = found(house.kinds_asked)
    assert len(asked) <= MAX_KINDS_ASKED, asked


def test_the_framework_is_typed():
    """The type checker is told to look away at most twice in the framework."""
    files = [path for path in sources() if house.covers("framework", path)]
    ignored = [f"{path}:{line}" for path in files for line in house.ignored_lines(house.text(path))]
    assert len(ignored) <= MAX_IGNORED, ignored


def test_every_test_says_what_it_tests():
    """Each test has a docstring of one sentence."""
    assert [f"{path.name}: {node.name}" for path, node in all_tests() if not ast.get_docstring(node)] == []


def test_every_release_is_known_here():
    """The names that no code may use are those of all releases that there are."""
    assert set(ALL_RELEASES) <= VERSIONS
    assert len(MINORS) == len(ALL_RELEASES)


def test_the_map_names_files_that_are_there():
    """ARCHITECTURE.md says of twelve changes at least in which one file each begins."""
    places = house.table_under(WHERE_TO_PUT, (ROOT / "ARCHITECTURE.md").read_text())
    assert len(places) >= MIN_PLACES
    assert house.misplaced(places, ROOT) == []


def all_tests():
    """Every test function, with its file."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    functions = ((file, node) for file in files for node in house.functions(ast.parse(file.read_text())))
    return ((file, node) for file, node in functions if node.name.startswith("test_"))
