"""Every cell of a release is read: what no code reads is a note, and notes stand in docstrings."""

import ast
from functools import cache

import pytest

from kubeclassic.core import release
from kubeclassic.core.release import Release
from tests.support.house import sources, tree
from tests.test_layers import TABLES

GROUPS = {
    "Client": "client",
    "Configuration": "configuration",
    "Device": "devices",
    "Extender": "extenders",
    "Framework": "framework",
    "Live": "live",
    "Nomination": "nominations",
    "Policy": "policies",
    "Preemption": "preemption",
    "Queue": "queue",
    "Queueing": "queueing",
    "Volume": "volumes",
}
HOLDERS = {
    Release: {"release"},
    **{getattr(release, f"{name}Cells"): {"cells", held} for name, held in GROUPS.items()},
}
for group in (release.FrameworkCells, release.QueueingCells):
    HOLDERS[group].add("_cells")
"""Class of cells -> the names that code has for an object of it."""
NO_READERS = (
    "core/release/release.py",
    "core/release/framework.py",
    "framework/describe.py",
    "framework/describe.py",
    *TABLES,
)
"""Where cells are declared, filled in and shown."""


@cache
def code():
    """The code that makes decisions; code that only presents results is left out."""
    return frozenset(
        loads(tree(path) for path in sources() if path not in NO_READERS and not path.startswith("cli/"))
    )


def loads(modules):
    """(holder, name) of each attribute that is read: ``("release", "gates")`` for ``cycle.release.gates``."""
    for node in (node for module in modules for node in ast.walk(module)):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield (
                (node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")),
                node.attr,
            )


def unread(cells, holders, found):
    """The fields of *cells* that are not read off one of *holders*; *found*: all that is read, as of
    :func:`loads`."""
    read = {name for holder, name in found if holder in holders}
    return [name for name in cells.__struct_fields__ if name not in read]


@pytest.mark.parametrize("cells", HOLDERS, ids=lambda cells: cells.__name__)
def test_every_cell_is_read(cells):
    """No cell is there that makes no difference; a reader calls what it reads off ``release``, ``cells`` or
    by the group's name."""
    assert unread(cells, HOLDERS[cells], code()) == []


def test_every_class_of_cells_is_looked_at():
    """The classes above are the release and all groups of cells that there are."""
    groups = {made for name, made in vars(release).items() if name.endswith("Cells")}
    assert {Release, *groups} == HOLDERS.keys()
