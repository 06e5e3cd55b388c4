"""Who follows one pod through the code does not change files more often than this."""

from __future__ import annotations

import pytest

from tests.bench.walk import WAYS, Way, switches, walk

LIMITS: dict[Way, int] = {
    ("basic", "1.16", True): 88, ("basic", "1.27", True): 133,
    ("basic", "1.16", False): 36, ("basic", "1.27", False): 43,
    ("affinity", "1.16", False): 50, ("affinity", "1.27", False): 59,
    ("antiaffinity", "1.16", False): 61, ("antiaffinity", "1.27", False): 69,
    ("spread", "1.16", False): 64, ("spread", "1.27", False): 74,
    ("mixed", "1.16", False): 224, ("mixed", "1.27", False): 294,
    ("preemption", "1.16", False): 294, ("preemption", "1.27", False): 329,
    ("manifest", "1.16", False): 101, ("manifest", "1.27", False): 112,
}  # fmt: skip
"""Way -> switches between files at most."""
ROOMS = {"algorithmprovider", "api", "core", "framework", "predicates", "priorities", "scheduler.py", "exceptions.py"}


@pytest.mark.parametrize("way", WAYS)
def test_the_walk_is_short(way: Way) -> None:
    """One pod's way through ``schedule``, with warm caches, changes files at most so often, and stays in the files of the package."""
    steps = walk(*way)
    assert switches(steps) <= LIMITS[way]
    assert steps[0][1].endswith(".schedule")
    assert {file.partition("/")[0] for file, _ in steps} <= ROOMS


@pytest.mark.parametrize("release", ["1.16", "1.27"])
def test_details_take_a_longer_walk(release: str) -> None:
    """With details a decision takes more calls."""
    assert len(walk("basic", release, True)) > len(walk("basic", release, False)) > 10


def test_switches_are_counted() -> None:
    """A switch is a call in another file than the call before it."""
    assert switches([("a.py", "f"), ("a.py", "g"), ("b.py", "h"), ("a.py", "f")]) == 2
    assert switches([]) == 0
