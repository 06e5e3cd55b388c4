"""The number of places where the package reaches through an engine into its parts instead of calling the
engine."""

import ast

from tests.support.house import covers, sources, tree

PARTS = frozenset(
    (
        "algorithm",
        "binder",
        "cache",
        "flow",
        "listings",
        "nominations",
        "snapshot",
        "table",
        "templates",
        "ties",
    )
)
"""The parts of an engine."""
MOST = 50


def reaches(module):
    """The lines that read something of a part of an engine, such as ``run.engine.cache.infos``."""
    chains = (node.value for node in ast.walk(module) if isinstance(node, ast.Attribute))
    return sorted(
        part.lineno
        for part in chains
        if isinstance(part, ast.Attribute) and part.attr in PARTS and _is_engine(part.value)
    )


def _is_engine(node):
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.strip("_") == "engine"


def test_few_reach_into_an_engine():
    """Outside of core at most fifty places reach into an engine's parts: the others ask by a named method."""
    found = [
        f"{path}:{line}" for path in sources() if not covers("core", path) for line in reaches(tree(path))
    ]
    assert len(found) <= MOST, found
