"""Who follows one pod through the code does not change files more often than this."""

from __future__ import annotations

import pytest

from tests.bench.walk import WAYS, switches, walk

LIMITS = {("1.16", False): 25, ("1.16", True): 68, ("1.27", True): 99}
"""(release, details) -> switches between files at most."""


@pytest.mark.parametrize(("release", "details"), LIMITS)
def test_the_walk_is_short(release: str, details: bool) -> None:
    """One pod's way through ``schedule``, with warm caches, changes files at most so often."""
    assert switches(walk(release, details)) <= LIMITS[release, details]


@pytest.mark.parametrize(("release", "details"), WAYS)
def test_the_walk_is_the_whole_way(release: str, details: bool) -> None:
    """Every way is walked from ``schedule`` on, through files of the package alone; with details it takes more calls."""
    steps = walk(release, details)
    assert steps[0][1].endswith(".schedule")
    assert {file.partition("/")[0] for file, _ in steps} <= {"algorithmprovider", "api", "core", "framework", "predicates", "priorities"}
    assert len(walk(release, True)) >= len(steps) > 10


def test_switches_are_counted() -> None:
    """A switch is a call in another file than the call before it."""
    assert switches([("a.py", "f"), ("a.py", "g"), ("b.py", "h"), ("a.py", "f")]) == 2
    assert switches([]) == 0
